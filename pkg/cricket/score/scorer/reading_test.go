package scorer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// TestRowsGiveTheCreaseWithoutBalls: the batters, and the partnership since the latest wicket,
// in whatever order the feed lists the rows.
func TestRowsGiveTheCreaseWithoutBalls(t *testing.T) {
	t.Parallel()
	in := func(id int) sportmonks.Batting { return sportmonks.Batting{Innings: 1, PlayerID: id, Sort: id} }
	out := func(id, runs, over, ball int) sportmonks.Batting {
		return sportmonks.Batting{Innings: 1, PlayerID: id, Sort: id, Out: true, FallScore: runs, FallAt: sportmonks.Overs{Overs: over, Balls: ball}}
	}
	type crease struct {
		Batters     int
		Partnership score.Partnership
	}
	for name, c := range map[string]struct {
		s    *scoretest.Scene
		rows []sportmonks.Batting
		want crease
	}{
		"two, no wicket":            {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11), in(12)}, crease{2, score.Partnership{Runs: 30, Balls: 30}}},
		"one is listed":             {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11)}, crease{1, score.Partnership{Runs: 30, Balls: 30}}},
		"the last three":            {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11), in(12), in(13)}, crease{2, score.Partnership{Runs: 30, Balls: 30}}},
		"wickets in order":          {scoretest.NewScene("T20I").AddTotal(1, 100, 2, "20"), []sportmonks.Batting{out(11, 30, 5, 0), out(12, 80, 15, 2), in(13), in(14)}, crease{2, score.Partnership{Runs: 20, Balls: 28}}},
		"the latest wicket first":   {scoretest.NewScene("T20I").AddTotal(1, 100, 2, "20"), []sportmonks.Batting{out(11, 80, 15, 2), out(12, 30, 5, 0), in(13), in(14)}, crease{2, score.Partnership{Runs: 20, Balls: 28}}},
		"a fall above the total":    {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "10"), []sportmonks.Batting{out(11, 101, 10, 1), in(13), in(14)}, crease{2, score.Partnership{}}},
		"a wicket that has no row":  {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "10"), []sportmonks.Batting{in(13), in(14)}, crease{2, score.Partnership{}}},
		"rows of the first innings": {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "20").AddTotal(2, 7, 0, "1"), []sportmonks.Batting{in(13), in(14)}, crease{0, score.Partnership{}}},
	} {
		c.s.Batting = c.rows
		st, _ := scorer.Read(c.s.Fixture, score.State{})
		if diff := cmp.Diff(c.want, crease{len(st.Batters), st.Partnership}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStateOfAnotherMatchIsIgnored: nothing of it remains.
func TestStateOfAnotherMatchIsIgnored(t *testing.T) {
	t.Parallel()
	scene := func() sportmonks.Fixture { return scoretest.NewScene("").AddTotal(1, 30, 4, "5").Fixture }
	want, _ := scorer.Read(scene(), score.State{})
	got, _ := scorer.Read(scene(), score.State{ID: "6", Format: score.Test, PerOver: 8, Overs: 12, Day: 3, Phase: sportmonks.Stumps, Held: 4})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-without +with another match):\n%s", diff)
	}
}

// TestStumpsTellAMatchOfSeveralDays of which the feed has no known type.
func TestStumpsTellAMatchOfSeveralDays(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]score.Format{"Stump Day 1": score.FirstClass, "STUMPS": score.FirstClass, "Lunch": score.Other, "1st Innings": score.Other} {
		st, _ := scorer.Read(scoretest.NewScene("Friendly").AddTotal(1, 30, 4, "5").SetStatus(status).Fixture, score.State{})
		if st.Format != want {
			t.Errorf("%q: the format is %q, want %q", status, st.Format, want)
		}
	}
}

// TestLastBallHasTheHighestID, also if it is the only one. A ball without id or innings is
// left out and reported.
func TestLastBallHasTheHighestID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    *scoretest.Scene
		last int
		kind scorer.ProblemKind
	}{
		"none":            {scoretest.NewScene("T20I"), 0, ""},
		"one":             {scoretest.NewScene("T20I").AddInnings(1, "1"), 1000, ""},
		"three":           {scoretest.NewScene("T20I").AddInnings(1, "1 1 1"), 1002, ""},
		"without id":      {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.ID = 0 }), 1000, scorer.UnplacedBall},
		"a negative id":   {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.ID = -1 }), 1000, scorer.UnplacedBall},
		"without innings": {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.Innings = 0 }), 1000, scorer.UnplacedBall},
	} {
		st, problems := scorer.Read(c.s.Fixture, score.State{})
		var kind scorer.ProblemKind
		for _, p := range problems {
			if p.Kind == scorer.UnplacedBall {
				kind = p.Kind
			}
		}
		if st.LastBall != c.last || kind != c.kind {
			t.Errorf("%s: last ball %d and problem %q, want %d and %q", name, st.LastBall, kind, c.last, c.kind)
		}
	}
}

// TestWhoBatsNext: the side that bats in an innings of which only the status tells.
func TestWhoBatsNext(t *testing.T) {
	t.Parallel()
	toss := func(kind, elected string) *scoretest.Scene {
		return scoretest.NewScene(kind).Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, elected })
	}
	tied := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Set(func(f *sportmonks.Fixture) { f.SuperOver = true })
	}
	test := func() *scoretest.Scene { return scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70") }
	for name, c := range map[string]struct {
		s      *scoretest.Scene
		status string
		want   string // the team of the last innings; "" if it has not begun
		n      int
	}{
		"chose to bat":         {toss("T20I", "batting"), "1st Innings", "2", 1},
		"chose to field":       {toss("T20I", "bowling"), "1st Innings", "1", 1},
		"no toss":              {scoretest.NewScene("T20I"), "1st Innings", "", 0},
		"the second":           {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "2nd Innings", "2", 2},
		"the third of a test":  {test(), "3rd Innings", "2", 2}, // either side may bat
		"the super over":       {tied(), "3rd Innings", "2", 3}, // who batted second bats first
		"its second innings":   {tied().AddTotal(2, 10, 1, "1"), "4th Innings", "1", 4},
		"the fourth of a test": {test().AddTotal(1, 100, 10, "40"), "4th Innings", "2", 4},
		"after a follow-on":    {test().AddTotal(2, 300, 10, "80"), "4th Innings", "1", 4},
		"a break":              {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "Innings Break", "1", 1},
		"not the next":         {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "3rd Innings", "1", 1},
	} {
		st, _ := scorer.Read(c.s.SetStatus(c.status).Fixture, score.State{})
		got := ""
		if len(st.Innings) > 0 {
			got = st.Innings[len(st.Innings)-1].TeamID
		}
		if got != c.want || len(st.Innings) != c.n {
			t.Errorf("%s: team %q bats in innings %d, want %q in %d", name, got, len(st.Innings), c.want, c.n)
		}
	}
}

// TestInningsThatIsOverStaysOver: rain or lunch after its end does not open it again. A ball
// does.
func TestInningsThatIsOverStaysOver(t *testing.T) {
	t.Parallel()
	scene := func(runs int, status string) sportmonks.Fixture {
		return scoretest.NewScene("ODI").AddTotal(1, runs, 5, "36").SetStatus(status).Fixture
	}
	before, _ := scorer.Read(scene(150, "Innings Break"), score.State{})
	if !before.Innings[0].Over {
		t.Fatal("the innings is not over in its break")
	}
	for name, c := range map[string]struct {
		runs int
		over bool
	}{"the same score": {150, true}, "another score": {151, false}} {
		if st, _ := scorer.Read(scene(c.runs, "Int."), before); st.Innings[0].Over != c.over {
			t.Errorf("%s in the rain: over %v, want %v", name, st.Innings[0].Over, c.over)
		}
	}
}

// TestSideThatLostEarlyIsAllOut: a side that lost by runs before its last ball had no batter
// left, whatever the number of wickets.
func TestSideThatLostEarlyIsAllOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		overs  string
		allOut bool
	}{"after 18 overs": {"18", true}, "with one ball left": {"19.5", true}, "after all overs": {"20", false}} {
		st := scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, c.overs).Finish(1, "Home won by 78 runs").Read(t)
		if n := st.Innings[1]; n.AllOut != c.allOut || n.Declared {
			t.Errorf("%s: all out %v, declared %v; want %v and false", name, n.AllOut, n.Declared, c.allOut)
		}
	}
}
