package bench

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/bench/measure"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == measure.APNsCommand {
		if err := measure.ServeAPNs(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}

		return
	}

	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// calls returns the counters of a tick that makes so many calls of each kind.
func calls(scans, updates, gets float64) measure.Counters {
	c := measure.NewCounters()

	c.Dynamo["Scan"], c.Dynamo["UpdateItem"], c.Provider = scans, updates, 1
	if gets > 0 {
		c.Dynamo["GetItem"] = gets
	}

	return c
}

func cost(wall, cpu time.Duration, allocs uint64) measure.Usage {
	return measure.Usage{Wall: wall, CPU: cpu, Allocs: allocs}
}

// good are figures that meet every target, with little or nothing to spare.
func good() figures {
	tick := func(matches int, changed bool, cpu, wall time.Duration, c measure.Counters) tickCost {
		return tickCost{Matches: matches, Changed: changed, Counters: c, Usage: cost(wall, cpu, 1090)}
	}
	ms := time.Millisecond

	return figures{
		ticks: []tickCost{
			tick(1, false, ms, ms, calls(1, 2, 0)),
			tick(10, false, 2*ms, 2*ms, calls(1, 11, 9)),
			tick(50, false, 15*ms, 9*ms, calls(1, 51, 0)),
			tick(10, true, 10*ms, 100*ms, calls(1, 71, 10)),
			tick(50, true, 25*ms, 500*ms, calls(1, 99, 99)),
			tick(100, true, 50*ms, 1000*ms, calls(1, 701, 100)),
		},
		young:  tickCost{Matches: 1, Usage: cost(ms, ms, 1000)},
		parses: []parseCost{{"T20: split", 2 * ms, 3, 4_000_000}},
		push: pushCosts{
			sends: []sendCost{
				{tokens: few, ours: cost(20*ms, 20*ms, few), apns2: cost(40*ms, 60*ms, few)},
				{tokens: many, ours: cost(2500*ms, 3000*ms, many), apns2: cost(5000*ms, 6000*ms, many)},
			},
			sink: cost(600*ms, 440*ms, many-1),
			pushers: []pusherCost{
				{Subscriptions: few, Counters: calls(0, 0, 4), Usage: cost(30*ms, 6*ms, few)},
				{Subscriptions: many, Counters: calls(0, 0, 4), Usage: cost(2500*ms, 800*ms, 4*many)},
			},
			channels: []channelCost{
				{Listeners: 1, Pushes: 1, Usage: cost(ms, ms, 20)},
				{Listeners: many, Pushes: 1, Usage: cost(40*ms, 9*ms, 21)},
			},
		},
		alerts: []alertCost{{Members: many, Counters: calls(0, 0, 0)}},
		delays: []delayCost{{matches: 50, followers: few, p50: 100 * ms, p99: delayTarget}},
		beside: besideCost{tokens: million, delayCost: delayCost{p50: 100 * ms, p99: besideTarget}},
		uses: []useCost{
			{measure.Cost{What: "unfollow-match", Counters: calls(0, 2, 1), Capacity: measure.Capacity{Reads: 1, Writes: 3}}, 10},
			{measure.Cost{What: "unfollow-match", Counters: calls(0, 2, 1), Capacity: measure.Capacity{Reads: 1, Writes: 3}}, 10_000},
		},
	}
}

// TestTargets changes one figure at a time and expects exactly the row of that
// figure to miss its target.
func TestTargets(t *testing.T) {
	t.Parallel()

	const more, ms = time.Microsecond, time.Millisecond

	for _, c := range []struct {
		name   string
		change func(*figures)
		missed string // the row, or "" for none
	}{
		{"all met", func(*figures) {}, ""},
		{"two writes of an unchanged match", func(f *figures) { f.ticks[0].Counters = calls(1, 3, 0) }, "tick, 1 match, unchanged"},
		{"two reads of an unchanged match", func(f *figures) { f.ticks[1].Counters = calls(1, 11, 10) }, "tick, 10 matches, unchanged"},
		{"nine calls of a changed match", func(f *figures) { f.ticks[3].Counters = calls(1, 72, 10) }, "tick, 10 matches, a ball in each"},
		{"an unchanged body that is parsed", func(f *figures) { f.ticks[0].Allocs = 1110 }, "  its allocs, 0.00 v. 0.00 MB of body"},
		{"a match that costs more among many", func(f *figures) { f.ticks[2].CPU += more }, "  CPU of a match among 50 v. 10"},
		{"a match that costs less among many", func(f *figures) { f.ticks[4].CPU -= more }, "  CPU of a match among 50 v. 10"},
		{"100 matches in over 1 s", func(f *figures) { f.ticks[5].Wall += more }, "tick, 100 matches, a ball in each"},
		{"50 matches in over 500 ms", func(f *figures) { f.ticks[4].Wall += more }, "tick, 50 matches, a ball in each"},
		{"pushes in over a slot", func(f *figures) { f.push.sends[1].ours.Wall += more }, "100,000 pushes by push.Sender"},
		{"a push that costs more among many", func(f *figures) { f.push.sends[1].ours.CPU += more }, "  CPU of a push among 100,000 v. 1,000"},
		{"a push of over 4.4 µs", func(f *figures) { f.push.sink.CPU += more }, "100,000 pushes, accepted at once"},
		{"an allocation for each push", func(f *figures) { f.push.sink.Allocs++ }, "100,000 pushes, accepted at once"},
		{"another call for each member", func(f *figures) { f.alerts[0].Counters = calls(0, 0, 1.1*many) }, "100,000 members told by send-alerts"},
		{"apns2 in over a slot", func(f *figures) { f.push.sends[1].apns2.Wall *= 9 }, ""},
		{"subscriptions in over a slot", func(f *figures) { f.push.pushers[1].Wall += more }, "100,000 subscriptions by the Pusher"},
		{"a subscription of over 8 µs", func(f *figures) { f.push.pushers[1].CPU += more }, "100,000 subscriptions by the Pusher"},
		{"a subscription of over 4 allocations", func(f *figures) { f.push.pushers[1].Allocs++ }, "100,000 subscriptions by the Pusher"},
		{"a subscription that costs less among few", func(f *figures) { f.push.pushers[0].CPU -= ms }, "  CPU of one among 100,000 v. 1,000"},
		{"a read of all activities", func(f *figures) { f.uses[1].Reads = 60 }, "unfollow-match, beside 10,000 phones"},
		{"a call more among many", func(f *figures) { f.uses[1].Dynamo["Scan"]++ }, "unfollow-match, beside 10,000 phones"},
		{"a ball that takes over 1 s", func(f *figures) { f.delays[0].p99 += more }, "ball to Apple, 50 matches of 1,000 followers"},
		{"a ball that waits for another match", func(f *figures) { f.beside.p99 += more },
			"ball to Apple beside 1,000,000 tokens of another match"},
		{"a push for each listener", func(f *figures) { f.push.channels[1].Pushes = many }, "  its pushes and allocs, 100,000 v. 1"},
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

// TestTickCalls runs the benchmark of the smallest tick and checks the calls that
// its targets are about.
func TestTickCalls(t *testing.T) {
	t.Parallel()

	costs, err := benchTick(t.Context(), 2, justBegun, 2)
	if err != nil {
		t.Fatal(err)
	}

	unchanged, changed := costs[0], costs[1]
	if unchanged.Changed || unchanged.Counters.String() != "3 UpdateItem + 1 Scan" || unchanged.Provider != 1 || unchanged.SQS != 0 {
		t.Errorf("an unchanged tick of two matches makes %+v", unchanged)
	}

	if !changed.Changed || changed.SQS != 2 || changed.Sum() > 2+2*8 || changed.Writes <= unchanged.Writes || unchanged.Writes != 3 {
		t.Errorf("a changed tick of two matches makes %+v", changed)
	}

	for _, c := range costs {
		if c.engine <= 0 || c.Wall <= 0 || c.Sent["UpdateItem"] == 0 || c.Received["UpdateItem"] == 0 {
			t.Errorf("measured %+v", c)
		}
	}
}

// TestDelayOfPushes runs the benchmark of the delays with one match. It replaces the default
// logger, so it does not run beside other tests.
func TestDelayOfPushes(t *testing.T) {
	apns, err := measure.StartAPNs()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(apns.Close)

	got, err := benchDelay(t.Context(), apns, 1, 30, 4)
	if err != nil {
		t.Fatal(err)
	}

	if got.pushes < 60 || got.p50 <= 0 || got.p99 < got.p50 || got.provider <= 0 {
		t.Errorf("measured %+v, want 30 pushes of each of most balls, with delays above 0", got)
	}
}

// TestDelayBesideAnotherMatch runs the benchmark of a ball beside a match with many tokens. It
// replaces the default logger, so it does not run beside other tests.
func TestDelayBesideAnotherMatch(t *testing.T) {
	apns, err := measure.StartAPNs()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(apns.Close)

	got, err := benchBeside(t.Context(), apns, 10_000, 3)
	if err != nil {
		t.Fatal(err)
	}

	if got.pushes < few || got.p50 <= 0 || got.p99 < got.p50 || got.waiting == 0 {
		t.Errorf("measured %+v, want %d pushes of most balls, with delays above 0, and parts that waited", got, few)
	}
}

// TestRequestsOfUsers runs the benchmark of what a user does about a match. Its units do not
// depend on the audience.
func TestRequestsOfUsers(t *testing.T) {
	t.Parallel()

	apns, err := measure.StartAPNs()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(apns.Close)

	var all []useCost

	for _, audience := range []int{1, 400} {
		costs, err := benchUses(t.Context(), apns, audience, 1)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, costs...)
	}

	if diff := cmp.Diff([]string(nil), measure.Missed(useRows(all))); diff != "" {
		t.Errorf("missed targets (-want +got):\n%s", diff)
	}

	for _, u := range all {
		if u.Writes == 0 || u.Sum() == 0 {
			t.Errorf("%s writes nothing: %+v", u.What, u)
		}
	}
}

// TestDelayToAndroidPhones runs the benchmark of a ball to few Android phones.
func TestDelayToAndroidPhones(t *testing.T) {
	t.Parallel()

	got, err := benchAndroidDelay(t.Context(), 1_000, 3)
	if err != nil {
		t.Fatal(err)
	}

	if got.accepted <= 0 || got.at < got.accepted || got.balls == 0 {
		t.Errorf("measured %+v, want delays above 0", got)
	}
}

// TestMessagesToAndroidPhones runs the benchmark of Android phones with few of them. It replaces the default transport, so
// it does not run beside other tests.
func TestMessagesToAndroidPhones(t *testing.T) {
	apns, err := measure.StartAPNs()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(apns.Close)

	got, err := benchAndroid(t.Context(), apns, 2_000, measure.Usage{CPU: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}

	if got.each.CPU <= got.topic.CPU || got.topic.Wall <= 0 || len(got.rows()) != 2 {
		t.Errorf("measured %+v, want a topic that costs less than 2,000 messages", got)
	}
}
