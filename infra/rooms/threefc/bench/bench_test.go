package bench

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/bench/measure"
)

// TestTargets: a figure over its target misses it, and no other does.
func TestTargets(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		reads, writes float64
		missed        []string
	}{
		"all met":     {20, 12, nil},
		"more reads":  {20.5, 12, []string{"3FC, 1,000 players, create-goal"}},
		"more writes": {20, 13, []string{"3FC, 1,000 players, create-goal"}},
	} {
		all := []useCost{
			{measure.Cost{What: getHealth}, target{}, many},
			{measure.Cost{What: "create-goal", Capacity: measure.Capacity{Reads: c.reads, Writes: c.writes}}, target{20, 12}, many},
		}
		if diff := cmp.Diff(c.missed, measure.Missed(rows(all))); diff != "" {
			t.Errorf("%s: missed targets (-want +got):\n%s", name, diff)
		}
	}
}

// TestPlayersDoNotMatter: no function reads more in a season with 120 players than with 10,
// but for the list of the leaders, which has at most 100.
func TestPlayersDoNotMatter(t *testing.T) {
	t.Parallel()

	of := map[int][]useCost{}

	for _, players := range []int{few, 120} {
		all, err := benchUses(context.WithoutCancel(t.Context()), players)
		if err != nil {
			t.Fatal(err)
		}

		for _, u := range all {
			t.Logf("%d players, %s: %s; %s; %d allocations", players, u.What, u.Capacity, u.Counters, u.Allocs)
		}

		if missed := measure.Missed(rows(all)); missed != nil {
			t.Errorf("missed targets: %q", missed)
		}

		of[players] = all
	}

	for i, u := range of[few] {
		if v := of[120][i]; u.What != "show-season-page" && (v.Reads != u.Reads || v.Writes != u.Writes) {
			t.Errorf("%s costs %s with 10 players, and %s with 120", u.What, u.Capacity, v.Capacity)
		}
	}
}

// TestTables: a finished game changes the tables of its season.
func TestTables(t *testing.T) {
	t.Parallel()

	all, err := benchTables(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}

	for _, u := range all {
		t.Logf("%s: %s; %s", u.What, u.Capacity, u.Counters)

		if u.Reads == 0 || u.Writes == 0 {
			t.Errorf("%s reads or writes nothing", u.What)
		}
	}
}
