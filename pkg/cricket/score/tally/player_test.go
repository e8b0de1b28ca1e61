package tally_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// TestPlayerHasAName: the name of the lineup, or else that of a ball, or else a number.
func TestPlayerHasAName(t *testing.T) {
	t.Parallel()

	f := sportmonks.Fixture{
		Lineup: []sportmonks.Member{{ID: 1, Name: "Listed"}, {ID: 2}, {ID: 3}, {ID: 4}},
		Balls: []sportmonks.Ball{
			{BatterID: 1, Batter: sportmonks.Player{Name: "Another name"}, BowlerID: 3},
			{BatterID: 2, BowlerID: 3, Bowler: sportmonks.Player{Name: "Bowler"}},
			{BatterID: 2, Batter: sportmonks.Player{Name: "Batter"}},
		},
	}
	for id, want := range map[int]string{0: "", 1: "Listed", 2: "Batter", 3: "Bowler", 4: "Player 4", 5: "Player 5"} {
		if got := tally.PlayerName(&f, id); got != want {
			t.Errorf("player %d is %q, want %q", id, got, want)
		}
	}
}

// TestDismissalAsOnAScorecard: the words for each kind of dismissal, with and without the
// names of the fielders.
func TestDismissalAsOnAScorecard(t *testing.T) {
	t.Parallel()

	f := sportmonks.Fixture{Lineup: []sportmonks.Member{{ID: 1, Name: "Smith"}, {ID: 2, Name: "Jones"}}}

	for kind, want := range map[string][2]string{ // without and with a fielder
		"Run Out":                  {"run out", "run out (Jones)"},
		"1 Leg Bye + Run Out":      {"run out", "run out (Jones)"},
		"Catch Out":                {"c b Smith", "c Jones b Smith"},
		"Caught":                   {"c b Smith", "c Jones b Smith"},
		"Caught and Bowled":        {"c & b Smith", "c & b Smith"},
		"Caught & Bowled":          {"c & b Smith", "c & b Smith"},
		"Stump Out":                {"st b Smith", "st Jones b Smith"},
		"LBW OUT":                  {"lbw b Smith", "lbw b Smith"},
		"Hit Wicket":               {"hit wicket b Smith", "hit wicket b Smith"},
		"Clean Bowled":             {"b Smith", "b Smith"},
		"Retired Out":              {"retired out", "retired out"},
		"Obstructing the field":    {"obstructing the field", "obstructing the field"},
		"Timed Out":                {"timed out", "timed out"},
		"Handled the ball":         {"handled the ball", "handled the ball"},
		"Hit the ball twice":       {"hit the ball twice", "hit the ball twice"},
		"a kind that is not known": {"out", "out"},
	} {
		for i, fielder := range []int{0, 2} {
			b := sportmonks.Ball{BowlerID: 1, CatchID: fielder, RunOutID: fielder, Score: sportmonks.Score{Name: kind}}
			if got := tally.Dismissal(&f, &b); got != want[i] {
				t.Errorf("%s, fielder %d: %q, want %q", kind, fielder, got, want[i])
			}
		}
	}

	nobody := sportmonks.Ball{Bowler: sportmonks.Player{Name: "Smith"}, Score: sportmonks.Score{Name: "Catch Out"}}
	if got := tally.Dismissal(&f, &nobody); got != "c b Smith" {
		t.Errorf("a catch by nobody, of a bowler without an id: %q", got)
	}

	own := sportmonks.Ball{BowlerID: 1, CatchID: 1, Score: sportmonks.Score{Name: "Catch Out"}}
	if got := tally.Dismissal(&f, &own); got != "c & b Smith" {
		t.Errorf("a catch of the bowler: %q", got)
	}
}

// TestRowOfAnInningsWithoutOne: the balls give the total, the side and the overs.
func TestRowOfAnInningsWithoutOne(t *testing.T) {
	t.Parallel()

	ball := func(over, label, runs int, s sportmonks.Score) *sportmonks.Ball {
		s.Runs = runs
		return &sportmonks.Ball{TeamID: 7, At: sportmonks.Overs{Overs: over, Balls: label}, BatterID: 1, BowlerID: 2, Score: s}
	}

	var balls []*sportmonks.Ball
	for i := range 6 {
		balls = append(balls, ball(0, i+1, 1, sportmonks.Score{}))
	}

	balls[0].TeamID = 8 // the side of the last ball bats
	balls = append(balls, ball(1, 1, 4, sportmonks.Score{Four: true}), ball(1, 2, 0, sportmonks.Score{}))
	sum := tally.Tally{Balls: balls, Runs: 10, Wickets: 1}

	want := sportmonks.Runs{TeamID: 7, Score: 10, Wickets: 1, Overs: sportmonks.Overs{Overs: 1, Balls: 2}}
	if diff := cmp.Diff(want, sum.Row(6)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}

	first := tally.Tally{Balls: []*sportmonks.Ball{ball(0, 1, 4, sportmonks.Score{})}, Runs: 4}
	if diff := cmp.Diff(sportmonks.Runs{TeamID: 7, Score: 4, Overs: sportmonks.Overs{Balls: 1}}, first.Row(6)); diff != "" {
		t.Errorf("row of one ball (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(sportmonks.Runs{}, new(tally.Tally).Row(6)); diff != "" {
		t.Errorf("row without a ball (-want +got):\n%s", diff)
	}
}

// TestBoundariesAreOfTheBat: a four or a six counts for the batter if the ball went off the
// bat to the boundary: not if it was run, or went there as byes.
func TestBoundariesAreOfTheBat(t *testing.T) {
	t.Parallel()

	var balls []*sportmonks.Ball
	for i, s := range []sportmonks.Score{
		{Runs: 4, Four: true}, {Runs: 4}, {Bye: 4, Four: true}, {Runs: 6, Six: true}, {Runs: 6}, {Bye: 6, Six: true},
	} {
		balls = append(balls, &sportmonks.Ball{ID: i + 1, Innings: 1, At: sportmonks.Overs{Balls: i + 1}, BatterID: 1, BowlerID: 2, Score: s})
	}

	sum := tally.New(balls)
	if diff := cmp.Diff(tally.Line{Runs: 20, Balls: 6, Fours: 1, Sixes: 1}, *sum.Line(1)); diff != "" {
		t.Errorf("line of the batter (-want +got):\n%s", diff)
	}
}
