package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/bench/measure"
)

func queries(n float64) measure.Counters {
	c := measure.NewCounters()
	c.Dynamo["Query"] = n

	return c
}

// scoringOf returns the calls of a scoring of so many members, at most.
func scoringOf(members float64) measure.Counters {
	_, most := transactions(int(members))
	n := float64(most)
	c := queries(n + 50 + 7*members/50)
	c.Dynamo["TransactWriteItems"] = n

	return c
}

func cost(wall, cpu time.Duration) measure.Usage {
	return measure.Usage{Wall: wall, CPU: cpu, Allocs: 9}
}

// good are figures that meet every target, with little or nothing to spare.
func good() figures {
	ms := time.Millisecond

	return figures{
		uses: []useCost{
			{measure.Cost{What: "get-health"}, 100, false},
			{measure.Cost{What: "list-events"}, 100, false},
			{measure.Cost{What: "get-health", Usage: cost(ms, ms)}, 1000, false},
			{measure.Cost{What: "get-event", Counters: queries(2), Capacity: measure.Capacity{Reads: 4}, Usage: cost(80*ms, ms)}, 1000, true},
		},
		scores: []scoreCost{
			{Members: 1000, Counters: scoringOf(1000), Usage: cost(2*ms, 200*ms)},
			{Members: 10_000, Counters: scoringOf(10_000), Usage: cost(20*ms, 3000*ms)},
		},
	}
}

// TestTargets changes one figure at a time and expects exactly the row of that
// figure to miss its target.
func TestTargets(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		change func(*figures)
		missed string // the row, or "" for none
	}{
		{"all met", func(*figures) {}, ""},
		{"a screen that costs more than 4 units", func(f *figures) { f.uses[3].Reads = 4.5 }, "pick'em, 1,000 members, get-event"},
		{"a screen of few members, which has no target", func(f *figures) { f.uses[1].Counters = queries(2) }, ""},
		{"three calls for a member", func(f *figures) { f.scores[1].Counters = queries(2_097) }, "pick'em, 10,000 members, an event scored"},
		{"a read too many", func(f *figures) { f.scores[0].Dynamo["GetItem"]++ }, "pick'em, 1,000 members, an event scored"},
		{"a member who costs more among many", func(f *figures) { f.scores[0].CPU -= time.Microsecond }, "  CPU of one among 10,000 v. 1,000"},
		{"a member who costs too much", func(f *figures) {
			f.scores[0].CPU += 100 * time.Millisecond
			f.scores[1].CPU += time.Millisecond
		}, "  CPU of a member"},
	} {
		f := good()
		c.change(&f)

		var want []string
		if c.missed != "" {
			want = []string{c.missed}
		}

		if diff := cmp.Diff(want, measure.Missed(f.rows())); diff != "" {
			t.Errorf("%s: missed targets (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestTransactionsOfAScoring: a scoring may take one transaction more than its members fill for each read of
// the index, which has 1,056 rows, and meets no row more than twice.
func TestTransactionsOfAScoring(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		transactions float64
		members      int
		want         string
	}{
		{304, 10_000, ""}, // all members in order
		{310, 10_000, ""}, // some moved to where they are read again
		{323, 10_000, ""}, // all of them
		{303, 10_000, "303 transactions scored 10000 members, want 304 to 323"},
		{324, 10_000, "324 transactions scored 10000 members, want 304 to 323"},
		{1, 33, ""},
		{2, 34, ""},
		{1, 34, "1 transactions scored 34 members, want 2 to 3"},
	} {
		got := ""
		if err := checkTransactions(c.transactions, c.members); err != nil {
			got = err.Error()
		}

		if got != c.want {
			t.Errorf("%v transactions of %d members: got %q, want %q", c.transactions, c.members, got, c.want)
		}
	}
}

// TestGrowthTargets changes one figure at a time and expects exactly the row of that figure to miss
// its target.
func TestGrowthTargets(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func([]grown)
		missed []string
	}{
		"all met":                       {func([]grown) {}, nil},
		"CPU that grows faster":         {func(g []grown) { g[1].CPU = 16 * time.Second }, []string{"  CPU of one among 10,000 v. 1,000"}},
		"calls that grow faster":        {func(g []grown) { g[1].Counters = queries(1600) }, []string{"  calls for one among 10,000 v. 1,000"}},
		"a heap that grows":             {func(g []grown) { g[1].heap = 201e6 }, []string{"  heap among 10,000 v. 1,000"}},
		"a screen of more than 4 units": {func(g []grown) { g[1].screens[0].Reads = 4.5 }, []string{"pick'em, 10,000 members, get-me"}},
	} {
		var all []grown
		for _, n := range []int{1, 10} {
			all = append(all, grown{
				members: 1000 * n, messages: n, heap: 50e6, Counters: queries(float64(100 * n)),
				Usage:   measure.Usage{Wall: time.Duration(10*n) * time.Second, CPU: time.Duration(n) * time.Second},
				screens: []measure.Cost{{What: "get-me", Counters: queries(2), Capacity: measure.Capacity{Reads: 4}}},
			})
		}

		c.change(all)

		if diff := cmp.Diff(c.missed, measure.Missed(growthRows(all))); diff != "" {
			t.Errorf("%s: missed targets (-want +got):\n%s", name, diff)
		}
	}
}
