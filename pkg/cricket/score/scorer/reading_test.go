package scorer_test

import (
	"strings"
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
		return sportmonks.Batting{
			Innings:   1,
			PlayerID:  id,
			Sort:      id,
			Out:       true,
			FallScore: runs,
			FallAt:    sportmonks.Overs{Overs: over, Balls: ball},
		}
	}

	type crease struct {
		Batters     int
		Partnership score.Partnership
		LastOut     string // the id of the batter
	}

	for name, c := range map[string]struct {
		s    *scoretest.Scene
		rows []sportmonks.Batting
		want crease
	}{
		"two, no wicket": {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11), in(12)},
			crease{2, score.Partnership{Runs: 30, Balls: 30}, ""}},
		"one is listed": {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11)},
			crease{1, score.Partnership{Runs: 30, Balls: 30}, ""}},
		"the last three": {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), []sportmonks.Batting{in(11), in(12), in(13)},
			crease{2, score.Partnership{Runs: 30, Balls: 30}, ""}},
		"wickets in order": {scoretest.NewScene("T20I").AddTotal(1, 100, 2, "20"),
			[]sportmonks.Batting{out(11, 30, 5, 0), out(12, 80, 15, 2), in(13), in(14)}, crease{2, score.Partnership{Runs: 20, Balls: 28}, "12"}},
		"the latest wicket first": {scoretest.NewScene("T20I").AddTotal(1, 100, 2, "20"),
			[]sportmonks.Batting{out(11, 80, 15, 2), out(12, 30, 5, 0), in(13), in(14)}, crease{2, score.Partnership{Runs: 20, Balls: 28}, "11"}},
		"a fall above the total": {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "10"),
			[]sportmonks.Batting{out(11, 101, 10, 1), in(13), in(14)}, crease{2, score.Partnership{}, "11"}},
		"a row without a wicket": {scoretest.NewScene("T20I").AddTotal(1, 100, 0, "10"),
			[]sportmonks.Batting{out(11, 30, 5, 0), in(13), in(14)}, crease{2, score.Partnership{Runs: 100, Balls: 60}, ""}},
		"a wicket that has no row": {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "10"), []sportmonks.Batting{in(13), in(14)},
			crease{2, score.Partnership{}, ""}},
		"rows of the first innings": {scoretest.NewScene("T20I").AddTotal(1, 100, 1, "20").AddTotal(2, 7, 0, "1"),
			[]sportmonks.Batting{in(13), in(14)}, crease{0, score.Partnership{}, ""}},
	} {
		c.s.Batting = c.rows

		st, _ := scorer.Read(c.s.Fixture, score.State{})
		if c.want.LastOut == "" && st.LastWicket != (score.Wicket{}) {
			t.Errorf("%s: the last wicket is %+v, want none", name, st.LastWicket)
		}

		if diff := cmp.Diff(c.want, crease{len(st.Batters), st.Partnership, st.LastWicket.BatterID}); diff != "" {
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

// TestStumpsMeanSeveralDays: a match with stumps is one of several days, also if its type is unknown.
func TestStumpsMeanSeveralDays(t *testing.T) {
	t.Parallel()

	for status, want := range map[string]score.Format{
		"Stump Day 1": score.FirstClass,
		"STUMPS":      score.FirstClass,
		"Lunch":       score.Other,
		"1st Innings": score.Other,
	} {
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
		"none":  {scoretest.NewScene("T20I"), 0, ""},
		"one":   {scoretest.NewScene("T20I").AddInnings(1, "1"), 1000, ""},
		"three": {scoretest.NewScene("T20I").AddInnings(1, "1 1 1"), 1002, ""},
		"without id": {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.ID = 0 }),
			1000, scorer.UnplacedBall},
		"a negative id": {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.ID = -1 }),
			1000, scorer.UnplacedBall},
		"without innings": {scoretest.NewScene("T20I").AddInnings(1, "1 1").ChangeBall(1, func(b *sportmonks.Ball) { b.Innings = 0 }),
			1000, scorer.UnplacedBall},
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

// TestWhoBatsNext: the side that bats in an innings that only the status has.
func TestWhoBatsNext(t *testing.T) {
	t.Parallel()

	toss := func(kind, elected string) *scoretest.Scene {
		return scoretest.NewScene(kind).Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, elected })
	}
	tied := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Set(func(f *sportmonks.Fixture) {
			f.SuperOver = true
		})
	}

	test := func() *scoretest.Scene {
		return scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70")
	}
	for name, c := range map[string]struct {
		s      *scoretest.Scene
		status string
		want   string // the team of the last innings; "" if it has not begun
		n      int
	}{
		"chose to bat":                {toss("T20I", "batting"), "1st Innings", "2", 1},
		"chose to field":              {toss("T20I", "bowling"), "1st Innings", "1", 1},
		"no toss":                     {scoretest.NewScene("T20I"), "1st Innings", "", 0},
		"the second":                  {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "2nd Innings", "2", 2},
		"the third of a test":         {test(), "3rd Innings", "2", 2}, // either side may bat
		"the super over":              {tied(), "3rd Innings", "2", 3}, // who batted second bats first
		"its second innings":          {tied().AddTotal(2, 10, 1, "1"), "4th Innings", "1", 4},
		"the fourth of a test":        {test().AddTotal(1, 100, 10, "40"), "4th Innings", "2", 4},
		"after a follow-on":           {test().AddTotal(2, 300, 10, "80"), "4th Innings", "1", 4},
		"a break":                     {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "Innings Break", "1", 1},
		"no choice":                   {toss("T20I", ""), "1st Innings", "", 0},
		"a toss, the third of a test": {test().Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "batting" }), "3rd Innings", "2", 2},
		"a toss to field, the third":  {test().Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "bowling" }), "3rd Innings", "2", 2},
		"the first is not listed": {scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) {
			f.Runs = []sportmonks.Runs{{TeamID: 2, Innings: 2, Score: 9}}
		}), "3rd Innings", "2", 1},
		"not the next": {scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20"), "3rd Innings", "1", 1},
	} {
		st, _ := scorer.Read(c.s.SetStatus(c.status).Fixture, score.State{})

		got := ""
		if len(st.Innings) > 0 {
			got = st.Innings[len(st.Innings)-1].TeamID
		}

		if got != c.want || len(st.Innings) != c.n {
			t.Errorf("%s: team %q bats in innings %d, want %q in %d", name, got, len(st.Innings), c.want, c.n)
		}

		for _, n := range st.Innings {
			if want := n.Number > 2 && st.Format != score.Test; n.SuperOver != want {
				t.Errorf("%s: innings %d is a super over: %v, want %v", name, n.Number, n.SuperOver, want)
			}
		}
	}
}

// TestInningsThatIsOverStaysOver: rain or lunch after its end does not open it again. A ball
// does, and a status of play in it: its end was a wrong status.
func TestInningsThatIsOverStaysOver(t *testing.T) {
	t.Parallel()

	scene := func(runs, wickets int, overs, status string) sportmonks.Fixture {
		return scoretest.NewScene("ODI").AddTotal(1, runs, wickets, overs).SetStatus(status).Fixture
	}

	before, _ := scorer.Read(scene(150, 5, "36", "Innings Break"), score.State{})
	if !before.Innings[0].Over {
		t.Fatal("the innings is not over in its break")
	}

	open, _ := scorer.Read(scene(150, 5, "36", "1st Innings"), score.State{})
	pending, _ := scorer.Read(scene(150, 5, "36", "Finished"), open)

	closed, _ := scorer.Read(scene(150, 5, "36", "Aban."), open)
	if !pending.Pending || closed.Result.IsZero() {
		t.Fatalf("pending %v, result %+v, want both", pending.Pending, closed.Result)
	}

	for name, c := range map[string]struct {
		before score.State
		f      sportmonks.Fixture
		over   bool
	}{
		"rain":                  {before, scene(150, 5, "36", "Int."), true},
		"lunch":                 {before, scene(150, 5, "36", "Lunch"), true},
		"still its break":       {before, scene(150, 5, "36", "Innings Break"), true},
		"the next":              {before, scene(150, 5, "36", "2nd Innings"), true},
		"another score":         {before, scene(151, 5, "36", "Int."), false},
		"another wicket":        {before, scene(150, 6, "36", "Int."), false},
		"another ball":          {before, scene(150, 5, "36.1", "Int."), false},
		"play":                  {before, scene(150, 5, "36", "1st Innings"), false},
		"it was open":           {open, scene(150, 5, "36", "Int."), false},
		"a finish taken back":   {pending, scene(150, 5, "36", "Int."), false},
		"a result taken back":   {closed, scene(150, 5, "36", "Int."), false},
		"the end of the match":  {open, scene(150, 5, "36", "Aban."), true},
		"a finish of the match": {open, scene(150, 5, "36", "Finished"), true},
	} {
		if st, _ := scorer.Read(c.f, c.before); st.Innings[0].Over != c.over {
			t.Errorf("%s: over %v, want %v", name, st.Innings[0].Over, c.over)
		}
	}
}

// TestDeclarationOutlivesTheMatch: the last innings of a match that ends was declared if it was
// before, at the same score.
func TestDeclarationOutlivesTheMatch(t *testing.T) {
	t.Parallel()

	scene := func(runs int, status string) sportmonks.Fixture {
		return scoretest.NewScene("Test").AddTotal(1, runs, 5, "90").SetStatus(status).Fixture
	}
	declared, _ := scorer.Read(scene(300, "Innings Break"), score.State{})

	open, _ := scorer.Read(scene(300, "1st Innings"), score.State{})
	for name, c := range map[string]struct {
		before score.State
		runs   int
		want   bool
	}{
		"declared":      {declared, 300, true},
		"another score": {declared, 301, false},
		"open":          {open, 300, false},
		"first seen":    {score.State{}, 300, false},
	} {
		if st, _ := scorer.Read(scene(c.runs, "Aban."), c.before); st.Innings[0].Declared != c.want || !st.Innings[0].Over {
			t.Errorf("%s: innings %+v, want it over, declared %v", name, st.Innings[0], c.want)
		}
	}
}

// TestSideThatLostEarlyIsAllOut: a side that lost by runs before its last ball had no batter
// left, whatever the number of wickets, unless a rain rule or another method decided.
func TestSideThatLostEarlyIsAllOut(t *testing.T) {
	t.Parallel()

	t20 := func(runs int, overs string) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, runs, 9, overs)
	}

	test := func() *scoretest.Scene {
		return scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").AddTotal(1, 100, 10, "40").AddTotal(2,
			150, 8, "60")
	}
	for name, c := range map[string]struct {
		s      *scoretest.Scene
		allOut bool
	}{
		"after 18 overs":     {t20(92, "18").Finish(1, "Home won by 78 runs"), true},
		"with one ball left": {t20(92, "19.5").Finish(1, "Home won by 78 runs"), true},
		"after all overs":    {t20(92, "20").Finish(1, "Home won by 78 runs"), false},
		"no margin":          {t20(92, "18").Finish(1, "Home won"), true},
		"won":                {t20(171, "18").Finish(2, "Away won by 1 wicket"), false},
		"tied":               {t20(170, "18").Finish(0, "Match tied"), false},
		"by a rain rule":     {t20(92, "18").Finish(1, "Home won by 9 runs (D/L method)"), false},
		"awarded":            {t20(92, "18").Finish(1, "Home won (awarded)"), false},
		"a revised target":   {t20(92, "18").Set(func(f *sportmonks.Fixture) { f.RPCTarget = 150 }).Finish(1, "Home won by 57 runs"), false},
		"without a limit":    {test().Finish(1, "Home won by 50 runs"), true},
		"a draw":             {test().Finish(0, "Match drawn"), false},
		"conceded": {scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").AddTotal(1, 50, 2,
			"20").Finish(1, "Home won by 150 runs"), false},
	} {
		st := c.s.Read(t)
		if n := st.Innings[len(st.Innings)-1]; n.AllOut != c.allOut || n.Declared {
			t.Errorf("%s: all out %v, declared %v; want %v and false", name, n.AllOut, n.Declared, c.allOut)
		}
	}

	guess, _ := scorer.Final(t20(92, "18").Finish(0, "Home won").Fixture, score.State{})
	if n := guess.Innings[1]; guess.Result.WinnerID != "1" || n.AllOut {
		t.Errorf("after the guess %+v the innings is %+v, want it not all out", guess.Result, n)
	}
}

// TestFiguresOfRowsReplaceBallsThatAreMissing: while the balls do not add up to the total,
// batters and bowler have the figures of their rows of the innings.
func TestFiguresOfRowsReplaceBallsThatAreMissing(t *testing.T) {
	t.Parallel()

	scene := func(total int) *scoretest.Scene {
		s := scoretest.NewScene("T20I").AddInnings(1, "1 1 4").AddBatting(sportmonks.Batting{
			Innings:  1,
			PlayerID: 101,
			Sort:     1,
			Score:    31,
			Balls:    20,
			Fours:    3,
			Sixes:    1,
		})
		s.Bowling = []sportmonks.Bowling{
			{Innings: 2, PlayerID: 900, Overs: sportmonks.Overs{Overs: 1}, Runs: 1},
			{Innings: 1, PlayerID: 901, Overs: sportmonks.Overs{Overs: 2}, Runs: 2},
			{Innings: 1, PlayerID: 900, Overs: sportmonks.Overs{Overs: 3, Balls: 1}, Maidens: 1, Runs: 20, Wickets: 2},
		}
		s.Runs[0].Score = total

		return s
	}

	type figures struct {
		Overs                  string
		Maidens, Runs, Wickets int
	}

	bare := scene(60)

	bare.Batting, bare.Bowling = nil, nil
	if st, _ := scorer.Read(bare.Fixture, score.State{}); len(st.Batters) == 0 || st.Batters[0].Runs != 6 || st.Bowler.Overs != "0.3" {
		t.Errorf("without rows: batters %+v and bowler %+v, want those of the balls", st.Batters, st.Bowler)
	}

	for total, want := range map[int]figures{6: {"0.3", 0, 6, 0}, 60: {"3.1", 1, 20, 2}} {
		st, _ := scorer.Read(scene(total).Fixture, score.State{})
		if diff := cmp.Diff(want, figures{st.Bowler.Overs, st.Bowler.Maidens, st.Bowler.Runs, st.Bowler.Wickets}); diff != "" {
			t.Errorf("bowler at a total of %d (-want +got):\n%s", total, diff)
		}

		runs := map[int]int{6: 6, 60: 31}[total]
		if len(st.Batters) == 0 || st.Batters[0].Runs != runs {
			t.Errorf("batters at a total of %d: %+v, want the first with %d", total, st.Batters, runs)
		}
	}
}

// TestOverShowsItsLastTwelveBalls, and the last six balls are of any over.
func TestOverShowsItsLastTwelveBalls(t *testing.T) {
	t.Parallel()

	for balls, want := range map[string][2]int{
		"1":                             {1, 1},
		strings.Repeat("wd ", 12):       {12, 6},
		strings.Repeat("wd ", 14) + "4": {12, 6},
		"1 1 1 1 1 1 4":                 {1, 6},
	} {
		st, _ := scorer.Read(scoretest.NewScene("T20I").AddInnings(1, balls).Fixture, score.State{})
		if got := [2]int{len(st.ThisOver), len(st.LastSix)}; got != want {
			t.Errorf("%q: %d balls of the over and %d last, want %v", balls, got[0], got[1], want)
		}

		if last := st.ThisOver[len(st.ThisOver)-1]; last != st.LastSix[len(st.LastSix)-1] {
			t.Errorf("%q: the last ball is %q and %q", balls, last, st.LastSix[len(st.LastSix)-1])
		}
	}
}

// TestStrikeIsUnknownIfTheBallDoesNotNameIt: a ball that does not name both batters has its
// own alone, and one whose batter is neither of the two leaves the strike open.
func TestStrikeIsUnknownIfTheBallDoesNotNameIt(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*sportmonks.Ball)
		want   []string // ids, with a star for who is on strike
	}{
		"complete":                   {func(*sportmonks.Ball) {}, []string{"101*", "102"}},
		"without the batters":        {func(b *sportmonks.Ball) { b.OneID, b.TwoID = 0, 0 }, []string{"101*"}},
		"another batter":             {func(b *sportmonks.Ball) { b.BatterID = 777 }, []string{"101", "102"}},
		"the same twice":             {func(b *sportmonks.Ball) { b.TwoID = b.OneID }, []string{"101*"}},
		"the other batter, one run":  {func(b *sportmonks.Ball) { b.BatterID, b.Score.Runs = 102, 1 }, []string{"101*", "102"}},
		"the other batter, two runs": {func(b *sportmonks.Ball) { b.BatterID, b.Score.Runs = 102, 2 }, []string{"101", "102*"}},
		"another is out":             {func(b *sportmonks.Ball) { b.OutID = 777 }, []string{"101*", "102"}},
		"a run out that failed":      {func(b *sportmonks.Ball) { b.Score.Name = "Run Out?" }, []string{"101*", "102"}},
		"without batters":            {func(b *sportmonks.Ball) { b.OneID, b.TwoID, b.BatterID = 0, 0, 0 }, nil},
	} {
		st, _ := scorer.Read(scoretest.NewScene("T20I").AddInnings(1, "4").ChangeBall(0, c.change).Fixture, score.State{})

		var got []string

		for _, b := range st.Batters {
			if b.OnStrike {
				b.ID += "*"
			}

			got = append(got, b.ID)
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWhatTheFeedDropsRemains: the format, the toss and the names of the teams.
func TestWhatTheFeedDropsRemains(t *testing.T) {
	t.Parallel()

	whole := scoretest.NewScene("ODI").SetStatus("NS").Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 1, "batting" })

	before, _ := scorer.Read(whole.Fixture, score.State{})
	if want := (score.Toss{WinnerID: "1", Elected: "bat", Text: "Home won the toss and chose to bat"}); before.Toss != want {
		t.Errorf("the toss is %+v, want %+v", before.Toss, want)
	}

	if st, _ := scorer.Read(whole.SetStatus("1st Innings").Fixture, before); len(st.Innings) != 1 || st.Innings[0].Overs != "0" {
		t.Errorf("innings after the toss: %+v, want one of 0 overs", st.Innings)
	}

	dropped := scoretest.NewScene("").SetStatus("NS").Set(func(f *sportmonks.Fixture) {
		f.Localteam, f.Visitorteam = sportmonks.Team{}, sportmonks.Team{}
	})

	got, _ := scorer.Read(dropped.Fixture, before)
	if got.Format != before.Format || got.Toss != before.Toss || got.Local != before.Local || got.Visitor != before.Visitor {
		t.Errorf("got %v, %+v, %+v and %+v; want those of before", got.Format, got.Toss, got.Local, got.Visitor)
	}

	renamed := scoretest.NewScene("T20I").SetStatus("NS").Set(func(f *sportmonks.Fixture) {
		f.Localteam, f.Visitorteam = sportmonks.Team{ID: 1, Name: "New"}, sportmonks.Team{Name: "Newer"}
		f.TossWonID, f.Elected = 2, ""
	})

	got, _ = scorer.Read(renamed.Fixture, before)
	if got.Format != score.FormatOf("T20I") || got.Local.Name != "New" || got.Visitor.Name != "Newer" || got.Toss.WinnerID != "2" ||
		got.Toss.Elected != "" {
		t.Errorf("got %v, %+v, %+v and %+v; want what the feed has now", got.Format, got.Local, got.Visitor, got.Toss)
	}

	unnamed := scoretest.NewScene("T20I").SetStatus("NS").Set(func(f *sportmonks.Fixture) {
		f.Localteam = sportmonks.Team{ID: 1, Code: "NEW"}
	})
	if got, _ = scorer.Read(unnamed.Fixture, before); got.Local.Name != "NEW" {
		t.Errorf("a team with a code only is %+v, want NEW", got.Local)
	}

	for _, want := range []bool{false, true} {
		s := scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 90, 10, "40").Set(func(f *sportmonks.Fixture) {
			f.FollowOn = want
		})
		if got, _ = scorer.Read(s.Fixture, score.State{}); got.FollowOn != want {
			t.Errorf("follow-on %v, want %v", got.FollowOn, want)
		}
	}

	other := scoretest.NewScene("").SetStatus("NS").Set(func(f *sportmonks.Fixture) { f.LocalID, f.Localteam = 9, sportmonks.Team{} })
	if got, _ = scorer.Read(other.Fixture, before); got.Local.Name != "Team 9" {
		t.Errorf("another team without a name is %+v, want Team 9", got.Local)
	}
}

// TestLastWicketOfBallsOrRows: the balls name the batter if they add up to the total, the rows
// otherwise. How he was out is known only if his ball is listed.
func TestLastWicketOfBallsOrRows(t *testing.T) {
	t.Parallel()

	for total, want := range map[int]string{0: "101 b Bowler 0", 50: "104 "} {
		s := scoretest.NewScene("T20I").AddInnings(1, "W .").AddBatting(sportmonks.Batting{
			Innings:  1,
			PlayerID: 104,
			Sort:     4,
			Out:      true,
			FallAt:   sportmonks.Overs{Overs: 3},
		})
		s.Runs[0].Score = total

		st, _ := scorer.Read(s.Fixture, score.State{})
		if got := st.LastWicket.BatterID + " " + st.LastWicket.How; got != want {
			t.Errorf("at a total of %d: %q, want %q", total, got, want)
		}
	}
}
