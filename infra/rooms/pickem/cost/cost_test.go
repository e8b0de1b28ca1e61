package cost

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"matchday/infra/tools/cost/price"
	"matchday/infra/tools/cost/usage"
	"matchday/pkg/pickem"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()

	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestMonth: a month of the room, worked out by hand.
func TestMonth(t *testing.T) {
	t.Parallel()

	m := model{room: pickem.Room().Spec}
	for _, what := range append([]string{saving, locking}, screens...) {
		m.Uses = append(m.Uses, use{what, 100, 1000, capacity{3, 0}}, use{what, 1100, 3000, capacity{13, 7}})
	}

	m.Scores = []scoring{{1000, capacity{1500, 9000}}, {10_000, capacity{20_000, 110_000}}}
	near(t, "read units of 600", m.useOf(saving, 600).ReadUnits, 8)
	near(t, "write units of more than are measured", m.useOf(saving, 2100).WriteUnits, 7)
	near(t, "the answer for 100", m.useOf(saving, 100).Answer, 1000)
	near(t, "read units of nobody", m.useOf(saving, 0).ReadUnits, 2)

	s, err := m.month(1100)
	if err != nil {
		t.Fatal(err)
	}
	// 730 hours are 4.345 weeks: 4 views of each screen a week, and 2 saves an event.
	const weeks = 730.0 / 168
	near(t, "views of an open event", s.cards.APIRequests, 1100*4*weeks)
	near(t, "what they read", s.cards.ReadUnits, 1100*4*weeks*13)
	near(t, "their time", s.cards.LambdaGBSeconds, 1100*4*weeks*(0.02+13*8192/1e6*0.1)/4)
	near(t, "what they answer", s.cards.EgressGB, 1100*4*weeks*3000/(1<<30))
	near(t, "views of lists and profiles", s.lists.APIRequests, 2*1100*4*weeks)
	near(t, "what saves write", s.picks.WriteUnits, 1100*2*weeks*7)
	near(t, "what scoring writes", s.scores.WriteUnits, 1100*weeks*11)
	near(t, "what scoring reads", s.scores.ReadUnits, 1100*weeks*2)
	near(t, "its time", s.scores.LambdaGBSeconds, 1100/360.0*weeks)
	near(t, "traces of scoring", s.scores.Traces, weeks)
	near(t, "traces of notices", s.notices.Traces, 1100*weeks*0.75/100)
	near(t, "cold starts of notices", s.notices.InitGBSeconds, 1100*weeks*0.75/100*0.01*0.1/4)
	near(t, "marks of notices", s.notices.WriteUnits, 1100*weeks*0.75*4)
	// A lock every minute, a look for reminders every 15, and what each reads.
	near(t, "starts", s.fixed.Schedules, 43_800+2920)
	near(t, "what jobs read", s.fixed.ReadUnits, (43_800+2920)*13)
	near(t, "secrets", s.fixed.Secrets, 2)

	for _, u := range s.parts() {
		if u == (usage.Usage{}) {
			t.Error("a part of the month uses nothing")
		}
	}
}

// TestCountersAreChecked: the error of a missing counter names the command that counts it.
func TestCountersAreChecked(t *testing.T) {
	t.Parallel()

	if _, err := parse(kept); err != nil {
		t.Errorf("the counters of the repository: %v", err)
	}

	for without, want := range map[string]string{
		`"get-event"`: "the counters lack get-event with few members or with many: run `make bench`",
		`"scores"`:    "the counters lack an event that is scored: run `make bench`",
	} {
		text := strings.ReplaceAll(string(kept), without, `"other"`)
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("without %s: got %v, want %q", without, err, want)
		}
	}
}

// TestTotals: the report has a row for each number of members, and its columns add
// up.
func TestTotals(t *testing.T) {
	t.Parallel()

	r, err := report(usage.Input{Counters: kept, Prices: price.Listed()})
	if err != nil {
		t.Fatal(err)
	}

	rows := r.Rows[1:]
	if len(rows) != 4 {
		t.Errorf("got %d rows, want 4", len(rows))
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

		sum := 0.0
		for _, part := range v[1:10] {
			sum += part
		}

		if math.Abs(sum-v[10]) > 0.05+0.005*v[10] || math.Abs(v[10]/v[0]-v[11]) > 1e-4 {
			t.Errorf("the columns of %q do not add up", row)
		}
	}
}
