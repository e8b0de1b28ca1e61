package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// calls are those of a tick that makes so many of each.
func calls(scans, updates, gets float64) counters {
	c := newCounters()
	c.Dynamo["Scan"], c.Dynamo["UpdateItem"], c.Provider = scans, updates, 1
	if gets > 0 {
		c.Dynamo["GetItem"] = gets
	}
	return c
}

func queries(n float64) counters {
	c := newCounters()
	c.Dynamo["Query"] = n
	return c
}

// scoringOf are the calls of a scoring of so many.
func scoringOf(members float64) counters {
	c := queries(members + 30)
	c.Dynamo["TransactWriteItems"] = members
	return c
}

func cost(wall, cpu time.Duration, allocs uint64) usage {
	return usage{wall: wall, cpu: cpu, allocs: allocs}
}

// good are figures that meet every target, with little or nothing to spare.
func good() figures {
	tick := func(matches int, changed bool, cpu, wall time.Duration, c counters) tickCost {
		return tickCost{Matches: matches, Changed: changed, counters: c, usage: cost(wall, cpu, 1090)}
	}
	ms := time.Millisecond
	return figures{
		ticks: []tickCost{
			tick(1, false, ms, ms, calls(1, 2, 0)),
			tick(10, false, 2*ms, 2*ms, calls(1, 11, 9)),
			tick(50, false, 15*ms, 9*ms, calls(1, 51, 0)),
			tick(10, true, 10*ms, 100*ms, calls(1, 99, 99)),
			tick(50, true, 25*ms, 500*ms, calls(1, 99, 99)),
		},
		young:  tickCost{Matches: 1, usage: cost(ms, ms, 1000)},
		parses: []parseCost{{"T20: split", 2 * ms, 3, 4_000_000}},
		push: pushCosts{
			sends: []sendCost{
				{tokens: few, ours: cost(20*ms, 20*ms, few), apns2: cost(40*ms, 60*ms, few)},
				{tokens: many, ours: cost(2500*ms, 3000*ms, many), apns2: cost(5000*ms, 6000*ms, many)},
			},
			pushers: []pusherCost{
				{Subscriptions: few, counters: calls(0, 0, 4), usage: cost(30*ms, 30*ms, few)},
				{Subscriptions: many, counters: calls(0, 0, 4), usage: cost(2500*ms, 4500*ms, many)},
			},
			channels: []channelCost{
				{Listeners: 1, Pushes: 1, usage: cost(ms, ms, 20)},
				{Listeners: many, Pushes: 1, usage: cost(40*ms, 9*ms, 21)},
			},
		},
		pickem: pickemCosts{
			uses: []useCost{
				{What: "get-health", Members: 100}, {What: "get-event", Members: 100, screen: true},
				{What: "get-health", Members: 1000, usage: cost(ms, ms, 9)},
				{What: "get-event", Members: 1000, screen: true, counters: queries(1), usage: cost(80*ms, ms, 9)},
			},
			scores: []scoreCost{
				{Members: 1000, counters: scoringOf(1000), usage: cost(2*ms, 20*ms, 9)},
				{Members: 10_000, counters: scoringOf(10_000), usage: cost(20*ms, 300*ms, 9)},
			},
		},
		warm: []requestCost{{"hello", ms}, {"get-match", 4 * ms}},
		cold: []functionCost{{"hello", 5 * ms, 6_000_000}, {"cricket/tick", 15 * ms, 12_000_000}},
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const more = time.Microsecond
	for _, c := range []struct {
		name   string
		change func(*figures)
		missed string // the row, or "" for none
	}{
		{"all met", func(*figures) {}, ""},
		{"two writes of an unchanged match", func(f *figures) { f.ticks[0].counters = calls(1, 3, 0) }, "tick, 1 match, unchanged"},
		{"two reads of an unchanged match", func(f *figures) { f.ticks[1].counters = calls(1, 11, 10) }, "tick, 10 matches, unchanged"},
		{"calls that no target is for", func(f *figures) { f.ticks[3].counters = calls(9, 999, 999) }, ""},
		{"an unchanged body that is parsed", func(f *figures) { f.ticks[0].allocs = 1110 }, "  its allocs, 0.00 v. 0.00 MB of body"},
		{"a match that costs more among many", func(f *figures) { f.ticks[2].cpu += more }, "  CPU of a match among 50 v. 10"},
		{"a match that costs less among many", func(f *figures) { f.ticks[4].cpu -= more }, "  CPU of a match among 50 v. 10"},
		{"50 matches in over 500 ms", func(f *figures) { f.ticks[4].wall += more }, "tick, 50 matches, a ball in each"},
		{"pushes in over a slot", func(f *figures) { f.push.sends[1].ours.wall += more }, "100,000 pushes by push.Sender"},
		{"a push that costs more among many", func(f *figures) { f.push.sends[1].ours.cpu += more }, "  CPU of a push among 100,000 v. 1,000"},
		{"apns2 in over a slot", func(f *figures) { f.push.sends[1].apns2.wall *= 9 }, ""},
		{"subscriptions in over a slot", func(f *figures) { f.push.pushers[1].wall += more }, "100,000 subscriptions by the Pusher"},
		{"a subscription that costs more among many", func(f *figures) { f.push.pushers[1].cpu += more }, "  CPU of one among 100,000 v. 1,000"},
		{"a push for each listener", func(f *figures) { f.push.channels[1].Pushes = many }, "  its pushes and allocs, 100,000 v. 1"},
		{"a screen of two queries", func(f *figures) { f.pickem.uses[3].counters = queries(2) }, "pick'em, 1,000 members, get-event"},
		{"a screen of few that no target is for", func(f *figures) { f.pickem.uses[1].counters = queries(2) }, ""},
		{"three calls for a member", func(f *figures) { f.pickem.scores[1].counters = queries(20_031) }, "pick'em, 10,000 members, an event scored"},
		{"a read too many", func(f *figures) { f.pickem.scores[0].Dynamo["GetItem"]++ }, "pick'em, 1,000 members, an event scored"},
		{"a member who costs more among many", func(f *figures) { f.pickem.scores[1].cpu += more }, "  CPU of one among 10,000 v. 1,000"},
		{"a slow start", func(f *figures) { f.cold[1].cold += more }, "cold start, cricket/tick"},
		{"a large binary", func(f *figures) { f.cold[1].bytes++ }, "binary for arm64, cricket/tick"},
		{"no binary", func(f *figures) { f.cold[1].bytes = 0 }, "binary for arm64, cricket/tick"},
	} {
		f := good()
		c.change(&f)
		var want, missed []string
		if c.missed != "" {
			want = []string{c.missed}
		}
		for _, r := range f.rows() {
			if r.target != "" && !r.met {
				missed = append(missed, r.what)
			}
		}
		if !slices.Equal(missed, want) {
			t.Errorf("%s: missed %q, want %q", c.name, missed, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := write(&out, []row{
		{what: "a tick", time: "1.5µs", cpu: "12ms", allocs: "1,234", calls: "3", beside: "× 2", target: "≤ 1s", met: true, more: "2 GetItem"},
		{what: "another", time: "900ms", target: "≥ 10 µs"},
		{what: "a third", beside: "no target"},
	})
	want := `
          TIME  OWN CPU  ALLOCS  I/O CALLS  BESIDE     TARGET
a tick   1.5µs     12ms   1,234          3  × 2        ≤ 1s     ok
    2 GetItem
another  900ms                                         ≥ 10 µs  MISS
a third                                     no target
`
	if got := "\n" + out.String(); got != want || err != nil {
		t.Errorf("got %v%s\nwant%s", err, got, want)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		short(0):                                   "0s",
		short(1234567 * time.Nanosecond):           "1.23ms",
		short(999999 * time.Microsecond):           "1s",
		short(pushTarget):                          "2.5s",
		grouped(0):                                 "0",
		grouped(999):                               "999",
		grouped(1.236):                             "1.24",
		grouped(100_000):                           "100,000",
		grouped(1234567.8):                         "1,234,568",
		counted(1, "match"):                        "1 match",
		counted(1000, "match"):                     "1,000 matches",
		counted(0, "listener"):                     "0 listeners",
		calls(1, 51, 0).String():                   "51 UpdateItem + 1 Scan",
		grouped(calls(2, 4, 1).per(2).sum()):       "3.5",
		grouped(calls(2, 4, 1).sum("Scan", "Get")): "2",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestTick runs the benchmark of the smallest tick: what it counts is what the
// targets are about.
func TestTick(t *testing.T) {
	t.Parallel()
	costs, err := benchTick(t.Context(), 2, justBegun, 2)
	if err != nil {
		t.Fatal(err)
	}
	still, moving := costs[0], costs[1]
	if still.Changed || still.String() != "3 UpdateItem + 1 Scan" || still.Provider != 1 || still.SQS != 0 {
		t.Errorf("an unchanged tick of two matches makes %+v", still)
	}
	if !moving.Changed || moving.SQS != 2 || moving.Dynamo["PutItem"] <= still.sum() {
		t.Errorf("a changed tick of two matches makes %+v", moving)
	}
	for _, c := range costs {
		if c.engine <= 0 || c.wall <= 0 || c.Sent["UpdateItem"] == 0 || c.Received["UpdateItem"] == 0 {
			t.Errorf("measured %+v", c)
		}
	}
}

// TestApple has the push service answer orders until there are no more.
func TestApple(t *testing.T) {
	t.Parallel()
	orders, in := io.Pipe()
	out, reports := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serveApple(orders, reports) }()
	told := json.NewEncoder(in)
	key, der, err := signingKey()
	if err != nil || key == nil {
		t.Fatal(err)
	}
	if err := told.Encode(order{Key: der}); err != nil {
		t.Fatal(err)
	}
	var heard report
	if err := json.NewDecoder(out).Decode(&heard); err != nil || !strings.HasPrefix(heard.URL, "https://127.0.0.1:") || len(heard.CA) == 0 {
		t.Errorf("heard %+v, %v", heard, err)
	}
	in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
