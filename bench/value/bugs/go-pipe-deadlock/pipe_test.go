package pipe

import "testing"

func TestMoreJobsThanRoom(t *testing.T) {
	if got := Average(5); got != 4 {
		t.Fatalf("got %v, want 4", got)
	}
}
