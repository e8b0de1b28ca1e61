package match_test

import (
	"strings"
	"testing"

	"matchday/pkg/cricket/match"
)

// TestValidID: an id is 1 to 19 digits.
func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"": false, "7": true, "0": true, strings.Repeat("9", 19): true, strings.Repeat("9", 20): false,
		"x": false, "7x": false, "7x7": false, "-7": false, "7 ": false, "٧": false, "7#names": false, strings.Repeat("x", 20): false,
	} {
		if got := match.ValidID(id); got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}
