package price

import "testing"

func TestThreeCostTwenty(t *testing.T) {
	count := 3
	total := Of(count)
	if total != 20 {
		t.Errorf("total is %d, not 20", total)
	}
}

func TestNoneCostNothing(t *testing.T) {
	if Of(0) != 0 {
		t.Fatal("nothing has a price")
	}
}

func TestTable(t *testing.T) {
	for _, row := range []struct {
		name        string
		count, want int
	}{{"one", 1, 7}, {"two", 2, 15}} {
		t.Run(row.name, func(t *testing.T) {
			if got := Of(row.count); got != row.want {
				t.Fatalf("got %d", got)
			}
		})
	}
}
