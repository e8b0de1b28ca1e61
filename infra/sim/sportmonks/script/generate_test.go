package script_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
)

// generated checks the rules that every invented match must satisfy.
func generated(t *rapid.T) {
	format := cricsheet.Format(rapid.IntRange(0, len(cricsheet.Formats)-1).Draw(t, "format"))
	m := script.Generate(rapid.Int64().Draw(t, "seed"), format)
	final := m.Frames[len(m.Frames)-1]
	cards := m.Cards(final, nil, nil)
	limits := map[cricsheet.Format]struct{ overs, perBowler int }{
		cricsheet.T20:     {20, 4},
		cricsheet.ODI:     {50, 10},
		cricsheet.Hundred: {20, 4},
	}[format]

	var total [2]int

	for i, c := range cards {
		inn := m.Innings[i]

		limit := 10
		if inn.Super {
			limit = 2
		} else {
			total[inn.Side] += c.Runs
		}

		if c.Wickets > limit {
			t.Fatalf("innings %d lost %d wickets", i+1, c.Wickets)
		}

		if limits.overs > 0 && !inn.Super && c.Overs > limits.overs*10 {
			t.Fatalf("innings %d has %d tenths of an over", i+1, c.Overs)
		}

		bat, bowl := 0, 0
		for _, b := range c.Batters {
			bat += b.Runs
		}

		for _, b := range c.Bowlers {
			bowl += b.Runs
			if limits.overs > 0 && b.Overs > limits.perBowler {
				t.Fatalf("a bowler bowled %d overs", b.Overs)
			}
		}

		if bat+c.Wides+c.NoBallRuns+c.Byes+c.LegByes != c.Runs || bowl+c.Byes+c.LegByes != c.Runs {
			t.Fatalf("innings %d: %d runs, batters %d, bowlers %d", i+1, c.Runs, bat, bowl)
		}
	}

	for i, d := range m.Deliveries {
		if d.Score.ID == 0 || d.Striker == d.Crease[0] == (d.Striker == d.Crease[1]) {
			t.Fatalf("delivery %d: %+v", i, d)
		}
	}

	o := m.Outcome
	winner := m.SideOf(o.WinnerID)
	margin := max(total[0], total[1]) - min(total[0], total[1])
	last := cards[len(cards)-1]

	switch {
	case final.SuperOver:
		a, b := cards[len(cards)-2], last
		if total[0] != total[1] || a.Runs == b.Runs || b.Runs > a.Runs != (winner == m.Innings[len(cards)-1].Side) {
			t.Fatalf("super over %d, %d: %+v", a.Runs, b.Runs, o)
		}
	case o.Wickets > 0:
		if o.Wickets != 10-last.Wickets || winner != m.Innings[len(cards)-1].Side || total[winner] <= total[1-winner] {
			t.Fatalf("%+v after %v", o, total)
		}

		before := total[winner] - m.Deliveries[len(m.Deliveries)-1].Score.Total()
		if before > total[1-winner] {
			t.Fatal("the chase continued after it was won")
		}
	case o.Runs > 0:
		if o.Runs != margin || total[winner] <= total[1-winner] {
			t.Fatalf("%+v after %v", o, total)
		}
	case o.Draw == "draw":
		if format != cricsheet.Test || len(m.Deliveries) < 5*90*6 {
			t.Fatalf("a draw after %d deliveries", len(m.Deliveries))
		}
	case o.Note == "Match tied":
		if margin != 0 {
			t.Fatalf("a tie on %v", total)
		}
	default:
		t.Fatalf("no result: %+v", o)
	}
}

func TestGeneratedMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, generated)
}

func TestGenerateIsDeterministic(t *testing.T) {
	t.Parallel()

	for _, f := range cricsheet.Formats {
		a, b := script.Generate(9, f), script.Generate(9, f)
		if a.ID != b.ID || !slices.EqualFunc(a.Deliveries, b.Deliveries,
			func(x, y script.Delivery) bool { return fmt.Sprint(x) == fmt.Sprint(y) }) {
			t.Errorf("%v: two matches with the same seed differ", f)
		}
	}
}

// BenchmarkLivescoresOfATest is a poll of /livescores with a whole Test match.
