package load

import "testing"

func TestABusyNodeIsFound(t *testing.T) {
	nodes := []Node{{"east", 90, 100}, {"west", 10, 80}}
	if got := Busy(nodes, 0.8); len(got) != 1 {
		t.Fatalf("got %v, want one node", got)
	}
}
