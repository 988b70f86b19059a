package orders

import "testing"

func TestEachOrderIsHandled(t *testing.T) {
	list := []Order{{"mug", 100}, {"pen", 20}, {"lamp", 30}}
	if got := Run(list); got != 15 {
		t.Fatalf("got %d, want 15", got)
	}
}
