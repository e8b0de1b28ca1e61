package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/bench/measure"
)

// TestFunctionTargets changes one figure at a time and expects exactly the row of
// that figure to miss its target.
func TestFunctionTargets(t *testing.T) {
	t.Parallel()

	const ms = time.Millisecond

	warm := []requestCost{{hello, ms}, {"get-thing", 4 * ms}}
	for name, c := range map[string]struct {
		cost   functionCost
		missed []string
	}{
		"all met":        {functionCost{"lab/get-thing", 15 * ms, 12_000_000}, nil},
		"a slow start":   {functionCost{"lab/get-thing", 15*ms + 1, 12_000_000}, []string{"cold start, lab/get-thing"}},
		"a large binary": {functionCost{"lab/get-thing", 15 * ms, 12_000_001}, []string{"binary for arm64, lab/get-thing"}},
		"no binary":      {functionCost{"lab/get-thing", 15 * ms, 0}, []string{"binary for arm64, lab/get-thing"}},
	} {
		rows := functionRows(warm, []functionCost{{hello, 5 * ms, 6_000_000}, c.cost})
		if diff := cmp.Diff(c.missed, measure.Missed(rows)); diff != "" {
			t.Errorf("%s: missed targets (-want +got):\n%s", name, diff)
		}
	}
}
