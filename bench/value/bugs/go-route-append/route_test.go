package route

import "testing"

func TestTwoWaysFromOneBase(t *testing.T) {
	one, _ := Fork(New(8, "a", "b"), "c", "d")
	if !one.Ends("c") {
		t.Fatal("the first route does not end at c")
	}
}
