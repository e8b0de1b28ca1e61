package bench

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/bench/measure"
)

// good are figures that meet every target, with nothing to spare.
func good() []useCost {
	ms := measure.Usage{Wall: time.Millisecond, CPU: time.Millisecond, Allocs: 9}

	return []useCost{
		{measure.Cost{What: getHealth, Usage: ms}, many, 0},
		{measure.Cost{What: "get-viewer", Capacity: measure.Capacity{Reads: 4}, Usage: ms}, many, 4},
		{measure.Cost{What: ingest, Capacity: measure.Capacity{Reads: mostReads, Writes: mostWrites}, Usage: ms}, many, 0},
	}
}

// TestTargets changes one figure at a time and expects exactly the row of that
// figure to miss its target.
func TestTargets(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		change func([]useCost)
		missed string // the row, or "" for none
	}{
		{"all met", func([]useCost) {}, ""},
		{"a screen that costs more than 4 units", func(all []useCost) { all[1].Reads++ }, "CommitCollect, 3,000 workouts, get-viewer"},
		{"a workout that costs more reads", func(all []useCost) { all[2].Reads++ }, "CommitCollect, 3,000 workouts, ingest-events"},
		{"a workout that costs more writes", func(all []useCost) { all[2].Writes++ }, "CommitCollect, 3,000 workouts, ingest-events"},
		{"health, which has no target", func(all []useCost) { all[0].Reads = 1000 }, ""},
	} {
		all := good()
		c.change(all)

		var want []string
		if c.missed != "" {
			want = []string{c.missed}
		}

		if diff := cmp.Diff(want, measure.Missed(rows(all))); diff != "" {
			t.Errorf("%s: missed targets (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestFewWorkouts measures a user with few workouts: a workout is ingested and counted.
func TestFewWorkouts(t *testing.T) {
	t.Parallel()

	all, err := benchUses(context.WithoutCancel(t.Context()), 10)
	if err != nil {
		t.Fatal(err)
	}

	for _, u := range all {
		t.Logf("%s: %s; %s", u.What, u.Capacity, u.Counters)

		if u.What == ingest && (u.Writes == 0 || u.Provider != 1) || u.What == evaluate && u.Writes == 0 {
			t.Errorf("%s: %s; %s, want writes, and of a workout one call to Strava", u.What, u.Capacity, u.Counters)
		}
	}

	if missed := measure.Missed(rows(all)); missed != nil {
		t.Errorf("missed targets: %q", missed)
	}
}
