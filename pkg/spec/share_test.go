package spec_test

import (
	"testing"
	"time"

	"matchday/pkg/spec"
)

// TestShareOfAnotherLimit: a share is the same part of a limit that a setting names.
func TestShareOfAnotherLimit(t *testing.T) {
	t.Parallel()

	reads := spec.Budget{Name: "reads", Max: 100, Per: time.Hour, Setting: "READS"}
	for _, c := range []struct{ upTo, most, want int }{
		{70, 100, 70}, {70, 200, 140}, {70, 10, 7}, {70, 1, 1}, {1, 10, 1}, {100, 300, 300}, {33, 10, 3},
	} {
		got := spec.Share{Budget: reads, UpTo: c.upTo}.Of(c.most)
		if got.UpTo != c.want || got.Budget.Max != c.most {
			t.Errorf("%d of 100 is %d of %d, want %d of %d", c.upTo, got.UpTo, got.Budget.Max, c.want, c.most)
		}
	}

	want := "70 of 100 requests in 1h0m0s, reads; the same part of what READS sets"
	if got := (spec.Share{Budget: reads, UpTo: 70}).String(); got != want {
		t.Errorf("the share is %q, want %q", got, want)
	}
}
