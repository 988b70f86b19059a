package form

import "testing"

func TestAWrongNumberIsRefused(t *testing.T) {
	if Accept("3", "12x", "4") {
		t.Fatal("accepted")
	}
}
