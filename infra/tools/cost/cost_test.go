package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matchday/infra/tools/cost/price"
	"matchday/pkg/cricket"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// small is a model whose numbers can be worked out by hand.
func small() model {
	m := model{room: cricket.Room}
	m.Items.Fixture, m.Items.Cached, m.Items.Balls, m.Items.Subscription = 300, 1500, 3500, 200
	for _, matches := range []int{1, 10} {
		n := float64(matches)
		m.Tick = append(m.Tick,
			tick{matches, false, calls{map[string]float64{"Scan": 1, "UpdateItem": 1 + n}, 0}},
			tick{matches, true, calls{map[string]float64{"Scan": 1, "UpdateItem": 1 + 2*n, "GetItem": n, "DeleteItem": n, "PutItem": 10 * n}, 1.2 * n}},
		)
	}
	m.Push = []push{
		{1000, 1, calls{map[string]float64{"GetItem": 7}, 0}},
		{100_000, 65, calls{map[string]float64{"GetItem": 740}, 64}},
	}
	return m
}

// TestSeed: reading a million subscriptions in every tick costs what the seed's
// design was reckoned to cost.
func TestSeed(t *testing.T) {
	t.Parallel()
	s, m := scenario{1, hoursOfMonth, 1e6}, small()
	m.Items.Subscription = 120
	of := func(people float64) float64 {
		s.subscribers = people
		return m.seed(s).dollars(price.Listed())
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
	near(t, "its writes", u.writeUnits, 1440*(1+10*8))
	near(t, "its reads", u.readUnits, 1440*(0.5+10*1.5))
}

func TestDollars(t *testing.T) {
	t.Parallel()
	p := price.Listed()
	for what, c := range map[string]struct {
		u    usage
		want float64
	}{
		"nothing":              {usage{}, 0},
		"5 M invocations":      {usage{lambdaRequests: 5e6}, 1},
		"1 M GB-s":             {usage{lambdaGBSeconds: 1e6}, 13.3334},
		"2 M executions":       {usage{expressRequests: 2e6}, 2},
		"1,000 GB-h waiting":   {usage{expressGBSeconds: 3.6e6}, 60.012},
		"43,800 starts":        {usage{schedules: 43_800}, 0.0438},
		"8 M writes":           {usage{writeUnits: 8e6}, 5},
		"8 M reads":            {usage{readUnits: 8e6}, 1},
		"5 M requests of SQS":  {usage{sqsRequests: 5e6}, 2},
		"3 M requests":         {usage{apiRequests: 3e6}, 3},
		"100 GB of logs":       {usage{logGB: 100}, 53},
		"10 alarms, 10 names":  {usage{alarmMetrics: 10, customMetrics: 10}, 4},
		"2 secrets, a page":    {usage{secrets: 2, dashboards: 1}, 3.80},
		"1 M traces":           {usage{traces: 1e6}, 5},
		"100 GB out":           {usage{egressGB: 100}, 9},
		"10 TB out":            {usage{egressGB: 10_240}, 921.60},
		"11 TB out":            {usage{egressGB: 11_264}, 921.60 + 87.04},
		"10 rules":             {usage{insightRules: 10}, 5},
		"50,000 users":         {usage{users: 50e3}, 275},
		"1.5 M users":          {usage{users: 1.5e6}, 550 + 4140 + 1625},
		"60 TB out":            {usage{egressGB: 61_440}, 921.60 + 3481.60 + 716.80},
		"all of two of a kind": {usage{lambdaRequests: 5e6}.plus(usage{lambdaRequests: 5e6, secrets: 1}), 2.40},
	} {
		near(t, what, c.u.dollars(p), c.want)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	for on, want := range map[spec.Schedule]float64{
		"cron(* * * * ? *)": 43_800, "rate(1 minute)": 43_800, "rate(15 minutes)": 2920, "rate(1 hour)": 730, "cron(10 3 * * ? *)": 730.0 / 24,
	} {
		if got, err := runs(on); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s fires %v times a month, %v, want %v", on, got, err, want)
		}
	}
	if _, err := runs("now and then"); err == nil {
		t.Error("a schedule that is none is taken")
	}
}

// TestParts: an hour of each part, worked out by hand.
func TestParts(t *testing.T) {
	t.Parallel()
	m := small()
	one, ten := scenario{1, 1, 1000}, scenario{10, 1, 1e6}

	// A tick: the claim, and a match's row with its copy. A change adds: an update
	// of the row and its copy (2), a delete (1), 10 puts, of which the score has 2
	// units and a copy (+3) and the balls 4 (+3).
	near(t, "writes of one match", m.store(one).writeUnits, 1440*(1+2)+75*(2+1+10+3+3))
	near(t, "writes of ten", m.store(ten).writeUnits, 1440*(1+20)+750*(2+1+10+3+3))
	near(t, "reads of one match", m.store(one).readUnits, 1440*0.5+75)
	near(t, "messages of one match", m.store(one).sqsRequests, 3*75*1.2)

	loop := m.loop(one)
	near(t, "ticks", loop.lambdaRequests, 1440)
	near(t, "their time", loop.lambdaGBSeconds, 1440*0.45*0.5)
	near(t, "waiting", loop.expressGBSeconds, 60*120/16.0)
	near(t, "their logs", loop.logGB, (1440*1536+60*91*1024)/float64(1<<30))

	// 1,000 people: one message of 0.6 s, 7.4 rows, and 200,000 B of activities.
	few := m.tokens(one)
	near(t, "messages to few", few.lambdaRequests, 75)
	near(t, "their time", few.lambdaGBSeconds, 75*0.6*0.5)
	near(t, "their reads", few.readUnits, 75*(7.4+200_000/4096.0/2))
	near(t, "their requests", few.sqsRequests, 3*75*0.64)
	near(t, "what leaves AWS", few.egressGB, 75*1000*921.6/float64(1<<30))

	// A million among ten matches are 100,000 for each change.
	many := m.tokens(ten)
	near(t, "messages to many", many.lambdaRequests, 750*65)
	near(t, "their time", many.lambdaGBSeconds, 750*(6.5+50)*0.5)
	near(t, "their reads", many.readUnits, 750*(740+20e6/4096/2))

	near(t, "broadcasts", m.channels(ten).lambdaRequests, 750)
	near(t, "their time", m.channels(ten).lambdaGBSeconds, 750*0.2*0.5)
	if m.channels(ten) != m.channels(scenario{10, 1, 1}) {
		t.Error("a broadcast costs more when more listen")
	}
	near(t, "reads of alerts", m.alerts(ten).readUnits, 4.5*1e6*2.05)
	near(t, "requests", m.api(one).apiRequests, 1000*20*4)
	near(t, "their time", m.api(one).lambdaGBSeconds, 80_000*0.02*0.25)
	if m.loop(scenario{}).plus(m.store(scenario{})).plus(m.tokens(scenario{})).plus(m.channels(scenario{})).plus(m.seed(scenario{})) != (usage{}) {
		t.Error("something is used though no match is live")
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	m := small()
	u, err := m.fixed(cricket.Room, planReads)
	if err != nil {
		t.Fatal(err)
	}
	// Of each minute: the state machine, the toss, the reminder.
	near(t, "starts", u.schedules, 3*43_800+2920+730+2*730.0/24)
	near(t, "idle executions", u.expressGBSeconds, 43_800*0.2/16)
	near(t, "polls", u.sqsRequests, 3*15*43_800)
	near(t, "secrets", u.secrets, 2)
	// One for each of 16 tables and 3 indexes, and one for the sort keys of 7 and 3.
	near(t, "rules", u.insightRules, 16+3+7+3)
	if u.alarmMetrics < float64(2*len(m.room.Functions)) {
		t.Errorf("%v metrics are watched, fewer than the errors and throttles of every function", u.alarmMetrics)
	}
}

// TestFixedCountsMetrics: each metric of a room costs once. The metric of failures,
// which every function has, costs nothing while nothing fails.
func TestFixedCountsMetrics(t *testing.T) {
	t.Parallel()
	done := spec.Metric{Name: "Done", Unit: spec.Count}
	u, err := small().fixed(spec.Room{Functions: []spec.Function{
		{Emits: []spec.Metric{done, {Name: "Lag", Unit: spec.Milliseconds}}}, {Emits: []spec.Metric{done}}, {},
	}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "metrics", u.customMetrics, 2)
}

// TestPickem: a month of the room, worked out by hand.
func TestPickem(t *testing.T) {
	t.Parallel()
	m := model{room: pickem.Room}
	for _, what := range append([]string{saving, locking}, screens...) {
		m.Pickem.Uses = append(m.Pickem.Uses, use{what, 100, 1000, capacity{3, 0}}, use{what, 1100, 3000, capacity{13, 7}})
	}
	m.Pickem.Scores = []scoring{{1000, capacity{1500, 9000}}, {10_000, capacity{20_000, 110_000}}}
	near(t, "read units of 600", m.useOf(saving, 600).ReadUnits, 8)
	near(t, "write units of 2,100", m.useOf(saving, 2100).WriteUnits, 14)
	near(t, "the answer for 100", m.useOf(saving, 100).Answer, 1000)
	near(t, "read units of nobody", m.useOf(saving, 0).ReadUnits, 2)

	s, err := m.season(1100)
	if err != nil {
		t.Fatal(err)
	}
	// 730 hours are 4.345 weeks: 4 views of each screen a week, and 2 saves an event.
	const month = 730.0 / 168
	near(t, "views of an open event", s.cards.apiRequests, 1100*4*month)
	near(t, "what they read", s.cards.readUnits, 1100*4*month*13)
	near(t, "their time", s.cards.lambdaGBSeconds, 1100*4*month*(0.02+13*8192/1e6*0.1)/2)
	near(t, "what they answer", s.cards.egressGB, 1100*4*month*3000/(1<<30))
	near(t, "views of lists and profiles", s.lists.apiRequests, 2*1100*4*month)
	near(t, "what saves write", s.picks.writeUnits, 1100*2*month*7)
	near(t, "what scoring writes", s.scores.writeUnits, 1100*month*11)
	near(t, "what scoring reads", s.scores.readUnits, 1100*month*2)
	near(t, "its time", s.scores.lambdaGBSeconds, 1.1*month)
	near(t, "marks of notices", s.notices.writeUnits, 1100*month*0.75)
	// A lock every minute, a look for reminders every 15, and what each reads.
	near(t, "starts", s.fixed.schedules, 43_800+2920)
	near(t, "what jobs read", s.fixed.readUnits, (43_800+2920)*13)
	near(t, "secrets", s.fixed.secrets, 1)
	for _, u := range s.parts() {
		if u == (usage{}) {
			t.Error("a part of the month uses nothing")
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	const kept = "counters.json"
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, from, err := read(filepath.Join(dir, "none"), kept); err != nil || !strings.Contains(from, "counters.json, measured on 20") || !strings.Contains(from, "make bench") {
		t.Errorf("without a bench: %q, %v", from, err)
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	bench := file("bench.json", strings.Replace(string(text), `"subscriptions": 1000,`, `"subscriptions": 999,`, 1))
	c, from, err := read(bench, kept)
	if err != nil || !strings.HasPrefix(from, bench+", measured on 20") || c.Push[0].Subscriptions != 999 || c.Items.Fixture == 0 {
		t.Errorf("with a bench: %q, %v, %+v", from, err, c.Push)
	}
	half := func(without string) string { return strings.ReplaceAll(string(text), without, `"other"`) }
	for name, c := range map[string]struct{ bench, want string }{
		"half a file": {`{"tick":[`, "unexpected end of JSON input"},
		"no ticks":    {`{"push":[{"subscriptions":1}]}`, "the counters know no tick of 1 matches: run `make bench`"},
		"no screens":  {half(`"get-event"`), "the counters know no get-event of few members and of many: run `make bench`"},
		"no scores":   {half(`"scores"`), "the counters know no event that is scored: run `make bench`"},
		"no pushes":   {`{"tick":` + string(regexp.MustCompile(`(?s)"tick": (\[.*\])`).FindSubmatch(text)[1]) + `}`, "the counters know no pushes: run `make bench`"},
	} {
		if _, _, err := read(file(name, c.bench), kept); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, _, err := read(bench, filepath.Join(dir, "none")); err == nil {
		t.Error("counters that are not there are read")
	}
}

// TestTable: the table has a row for each scenario, its sums add up, and nothing
// in it is no number.
func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := command(&b, "none", "counters.json"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
		t.Errorf("it holds what is no number:\n%s", text)
	}
	rows, seasons := 0, 0
	for line := range strings.Lines(text) {
		cells := strings.Fields(line)
		if len(cells) == 11 && strings.HasSuffix(cells[0], "00") {
			seasons++
			sum := 0.0
			var v [11]float64
			for i, c := range cells {
				if _, err := fmt.Sscan(strings.ReplaceAll(c, ",", ""), &v[i]); err != nil {
					t.Fatalf("%s: %v", c, err)
				}
				if i >= 1 && i <= 8 {
					sum += v[i]
				}
			}
			if math.Abs(sum-v[9]) > 0.05+0.005*v[9] || math.Abs(v[9]/v[0]-v[10]) > 1e-4 {
				t.Errorf("it does not add up: %s", line)
			}
		}
		if len(cells) != 14 || cells[0] != "0" && cells[0] != "1" && cells[0] != "10" {
			continue
		}
		rows++
		var v [14]float64
		for i, c := range cells {
			if _, err := fmt.Sscan(strings.ReplaceAll(c, ",", ""), &v[i]); err != nil {
				t.Fatalf("%s: %v", c, err)
			}
		}
		sum := v[3] + v[4] + v[5] + v[6] + v[7]
		// Dollars are rounded from 100 on, and data that leaves AWS is cheaper together.
		if math.Abs(sum+v[8]-v[10]) > 3+0.005*v[10] || math.Abs(sum+v[9]-v[11]) > 3+0.005*v[11] {
			t.Errorf("it does not add up: %s", line)
		}
	}
	if rows != len(scenarios()) || seasons != 3 {
		t.Errorf("%d rows, want %d, and %d of pick'em, want 3", rows, len(scenarios()), seasons)
	}
}
