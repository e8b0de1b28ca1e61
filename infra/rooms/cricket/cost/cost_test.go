package cost

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
	"matchday/pkg/cricket"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()

	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// small is a model whose numbers can be worked out by hand.
func small() model {
	m := model{room: cricket.Room().Spec}
	m.Items.Fixture, m.Items.Cached, m.Items.Subscription = 300, 1500, 200

	for _, matches := range []int{1, 10} {
		n := float64(matches)
		m.Tick = append(m.Tick,
			tick{matches, false, calls{units: units{0.5, 1 + n}}},
			tick{matches, true, calls{SQS: 1.2 * n, units: units{0.5 + n, 1 + 16*n}}},
		)
	}

	m.Push = []push{
		{1000, 1, calls{Dynamo: map[string]float64{"GetItem": 7}}},
		{100_000, 65, calls{Dynamo: map[string]float64{"GetItem": 740}, SQS: 64}},
	}
	for _, a := range actions {
		m.Uses = append(m.Uses, use{a.what, units{2, 6}})
	}

	return m
}

// TestSeed: reading a million subscriptions in every tick has the estimated cost of the seed's
// design.
func TestSeed(t *testing.T) {
	t.Parallel()

	s, m := scenario{1, usage.HoursOfMonth, 1e6}, small()
	m.Items.Subscription = 120
	of := func(people float64) float64 {
		s.people = people
		return m.seed(s).Dollars(price.Listed())
	}
	// 120 MB are 29,296.875 reads of 4 KB, half a unit each: 14,648.4375 units.
	// A tick every 2.5 s is 1,051,200 in 730 h; a million units cost $0.125.
	near(t, "its subscriptions", of(1e6)-of(0), 14648.4375*1_051_200*0.125/1e6)

	if got := math.Round(of(1e6) - of(0)); got != 1925 {
		t.Errorf("a month of it costs $%v, want $1925", got)
	}
	// In each tick: the claim (1 write), a scan of the index (½), and for a match
	// get fixture, get hash, get cached (½ each), update fixture (1, and 1 in an
	// index), put cached (2, and 2), acquire and release (1 each).
	u := m.seed(scenario{10, 1, 0})
	near(t, "its writes", u.WriteUnits, 1440*(1+10*8))
	near(t, "its reads", u.ReadUnits, 1440*(0.5+10*1.5))
}

// TestParts: an hour of each part, worked out by hand.
func TestParts(t *testing.T) {
	t.Parallel()

	m := small()
	one, ten := scenario{1, 1, 1000}, scenario{10, 1, 1e6}

	// A tick: the claim, and a match's row. A change adds 15.
	near(t, "writes of one match", m.store(one).WriteUnits, 1440*(1+1)+75*15)
	near(t, "writes of ten", m.store(ten).WriteUnits, 1440*(1+10)+750*15)
	near(t, "reads of one match", m.store(one).ReadUnits, 1440*0.5+75)
	near(t, "messages of one match", m.store(one).SQSRequests, 3*75*1.2)

	loop := m.loop(one)
	near(t, "ticks", loop.LambdaRequests, 1440)
	near(t, "their time", loop.LambdaGBSeconds, 1440*0.45*0.5)
	near(t, "cold ticks", loop.InitGBSeconds, 1440*0.01*0.1*0.5)
	near(t, "waiting", loop.ExpressGBSeconds, 60*120/16.0)
	near(t, "their logs", loop.LogGB, (1440*1536+60*91*1024)/float64(1<<30))

	// 1,000 people: one message of 0.6 s, 7.4 rows, and 200,000 B of activities.
	few := m.tokens(one)
	near(t, "messages to few", few.LambdaRequests, 75)
	near(t, "their time", few.LambdaGBSeconds, 75*0.6*0.5)
	near(t, "their reads", few.ReadUnits, 75*(7.4+200_000/4096.0/2))
	near(t, "their requests", few.SQSRequests, 3*75*0.64)
	near(t, "their cold starts", few.InitGBSeconds, 75*0.01*0.1*0.5)
	near(t, "their traces", few.Traces, 75)
	near(t, "what leaves AWS", few.EgressGB, 75*1000*921.6/float64(1<<30))

	// A million among ten matches are 100,000 for each change.
	many := m.tokens(ten)
	near(t, "messages to many", many.LambdaRequests, 750*65)
	near(t, "their time", many.LambdaGBSeconds, 750*(6.5+50)*0.5)
	near(t, "their reads", many.ReadUnits, 750*(740+20e6/4096/2))

	near(t, "broadcasts", m.channels(ten).LambdaRequests, 750)
	near(t, "their time", m.channels(ten).LambdaGBSeconds, 750*0.2*0.5)

	if m.channels(ten) != m.channels(scenario{10, 1, 1}) {
		t.Error("a broadcast costs more when more listen")
	}

	near(t, "reads of alerts", m.alerts(ten).ReadUnits, 4.5*1e6*1.05)
	near(t, "reads of a season's alerts", m.alerts(season()).ReadUnits, 200*15*1e6*1.05)
	near(t, "requests", m.api(one).APIRequests, 1000*20*4)
	near(t, "their time", m.api(one).LambdaGBSeconds, 80_000*0.02*0.25)
	// 20 registrations, and 8 times three requests about a match.
	users := m.users(one)
	near(t, "requests that write", users.APIRequests, 1000*(20+3*8))
	near(t, "what they write", users.WriteUnits, 1000*44*6)
	near(t, "what they read", users.ReadUnits, 1000*44*2)
	near(t, "their traces", users.Traces, 1000*44)
	near(t, "their cold starts", users.InitGBSeconds, 1000*44*0.01*0.1*0.25)
	near(t, "people", users.Users, 1000)

	if m.loop(scenario{}).Plus(m.store(scenario{})).Plus(m.tokens(scenario{})).Plus(m.channels(scenario{})).Plus(m.seed(scenario{})) != (usage.Usage{}) {
		t.Error("something is used though no match is live")
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()

	u, err := usage.Fixed(cricket.Room().Spec, usage.JobReads)
	if err != nil {
		t.Fatal(err)
	}
	// Of each minute: the state machine, the toss, the reminder. Of each hour: the sweep of channels, the standings.
	near(t, "starts", u.Schedules, 3*43_800+2920+2*730+2*730.0/24)
	near(t, "idle executions", u.ExpressGBSeconds, 43_800*0.2/16)
	near(t, "polls", u.SQSRequests, 7*15*43_800)
	near(t, "secrets", u.Secrets, 3)
	// One for each of 16 tables and 3 indexes, and one for the sort keys of 7 and 3.
	if u.AlarmMetrics < float64(len(cricket.Room().Spec.Alarms)) || u.AlarmMetrics > 60 {
		t.Errorf("%v metrics are watched, fewer than the room's own or more than 60, of six dollars", u.AlarmMetrics)
	}
}

// TestCountersAreChecked: the error of a missing counter names the command that counts it.
func TestCountersAreChecked(t *testing.T) {
	t.Parallel()

	if c, err := parse(kept); err != nil || c.Items.Fixture == 0 {
		t.Errorf("the counters of the repository: %v, %+v", err, c.Items)
	}

	ticks := string(regexp.MustCompile(`(?s)"tick": (\[.*\])`).FindSubmatch(kept)[1])
	for text, want := range map[string]string{
		`{"tick":[`:                      "unexpected end of JSON input",
		`{"push":[{"subscriptions":1}]}`: "the counters lack ticks of 1 matches: run `make bench`",
		`{"tick":` + ticks + `}`:         "the counters lack pushes: run `make bench`",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("counters %.40s…: got %v, want %q", text, err, want)
		}
	}
}

// TestTotals: the report has a row for each scenario, and its columns add up.
func TestTotals(t *testing.T) {
	t.Parallel()

	in := usage.Input{Counters: kept, Prices: price.Listed()}

	var err error
	if in.Fixed, err = usage.Fixed(cricket.Room().Spec, usage.JobReads); err != nil {
		t.Fatal(err)
	}

	r, err := report(in)
	if err != nil {
		t.Fatal(err)
	}

	rows := r.Rows[2:]
	if len(rows) != len(scenarios()) {
		t.Errorf("got %d rows, want %d", len(rows), len(scenarios()))
	}

	for _, row := range rows {
		var v []float64

		for _, cell := range row {
			n, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				t.Fatalf("the cell %q of %q is not a number", cell, row)
			}

			v = append(v, n)
		}
		// Dollars are rounded from 100 on, and data that leaves AWS is cheaper together.
		sum := v[3] + v[4] + v[5] + v[6] + v[7] + v[8]
		if math.Abs(sum+v[9]-v[11]) > 3+0.005*v[11] || math.Abs(sum+v[10]-v[12]) > 3+0.005*v[12] {
			t.Errorf("the columns of %q do not add up", row)
		}
	}
}
