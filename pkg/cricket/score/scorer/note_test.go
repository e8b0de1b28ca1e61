package scorer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// totals returns a match with innings of these runs, by turns of the local and the visiting
// team, without balls.
func totals(kind string, runs ...int) *scoretest.Scene {
	s := scoretest.NewScene(kind)
	for i, n := range runs {
		s.AddTotal(1+i%2, n, 3, "20")
	}

	return s
}

// TestEachWordOfANote: the words by which a note names a method, a decider and an outcome.
func TestEachWordOfANote(t *testing.T) {
	t.Parallel()

	level := func(note string, winner int) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(winner, note)
	}
	short := func(note string) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 60, 3, "10").Finish(0, note)
	}
	outcome := func(kind, text string, runs ...int) *scoretest.Scene {
		return totals(kind, runs...).Finish(0, "").Set(func(f *sportmonks.Fixture) { f.DrawNoResult = text })
	}

	super := func(f *sportmonks.Fixture) { f.SuperOver = true }
	for _, c := range []struct {
		scene *scoretest.Scene
		want  string // kind, winner, decider, method; or the problem
	}{
		{level("Match tied", 0), "tied"},
		{level("Match Tie", 0), "tied"},
		{level("It is a tie", 0), "tied"},
		{level("MATCH TIED", 0), "tied"},
		{level("Match tied (Home won the Super Over)", 1), "tied 1 superOver"},
		{level("Match tied (Home won the super-over)", 1), "tied 1 superOver"},
		{level("Home won in the eliminator", 1), "tied 1 superOver"},
		{level("Home won the Super Five", 1), "tied 1 superOver"},
		{level("Match tied (Home won the bowl-out)", 1), "tied 1 bowlOut"},
		{level("Home won a bowl out", 1), "tied 1 bowlOut"},
		{level("Home won by bowlout", 1), "tied 1 bowlOut"},
		{level("Home won (D/L method)", 1), "won 1 DLS"},
		{level("Home won (DLS)", 1), "won 1 DLS"},
		{level("Home won by Duckworth-Lewis", 1), "won 1 DLS"},
		{level("Home won (VJD method)", 1), "won 1 VJD"},
		{level("Home awarded the match: Home won", 1), "won 1 awarded"},
		{level("Away conceded, Home win", 1), "won 1 awarded"},
		{level("Home won, Away forfeit", 1), "won 1 awarded"},
		{level("Home won by walkover", 1), "won 1 awarded"},
		{level("Home won by default", 1), "won 1 awarded"},
		{level("Home won (fewer wickets)", 1), "won 1 fewer wickets lost"},
		{level("Home won on 1st innings", 1), "won 1 first innings score"},
		{level("Home won on first innings", 1), "won 1 first innings score"},
		{level("Home beat Away (higher rate)", 1), "won 1 higher rate"},
		{level("Home defeated Away (higher rate)", 1), "won 1 higher rate"},
		{level("HOM won (higher rate)", 1), "won 1 higher rate"},
		{level("Match tied (Home won)", 1), "tied 1"},
		{level("Home won (with 6 balls remaining)", 1), "resultConflict"},
		{level("Home won ("+strings.Repeat("x", 40)+")", 1), "won 1 " + strings.Repeat("x", 40)},
		{level("Home won ("+strings.Repeat("x", 41)+")", 1), "won 1 " + strings.Repeat("x", 37) + "…"},
		{level("Home won (higher rate", 1), "resultConflict"},
		{level("Home won)", 1), "resultConflict"},
		{level("(Drawn on run rate)", 0), "tied Drawn on run rate"},
		{level("Match tied", 1), "tied 1"},
		{level("Match abandoned: Home won (D/L method)", 1), "won 1 DLS"},
		{scoretest.NewScene("T20I").AddTotal(1, 137, 3, "20").AddTotal(2, 130, 3, "20").Finish(1, "Match tied by D/L (Home won)"), "tied 1 DLS"},
		{scoretest.NewScene("T20I").AddTotal(1, 137, 3, "20").AddTotal(2, 130, 3, "20").Finish(1, "Home won by 7 runs").Set(super), "won 1"},
		{level("Match tied (Home won the bowl-out)", 1).Set(super), "tied 1 bowlOut"},
		{level("Match tied (Home won)", 1).Set(super), "tied 1 superOver"},
		{scoretest.NewScene("T20I").Finish(1, "Home won (VJD method)"), "won 1 VJD"},
		{scoretest.NewScene("T20I").Finish(1, "Home won"), "won 1 awarded"},
		{scoretest.NewScene("Test").AddTotal(1, 100, 3, "20").Finish(0, "No result"), "noResult"},
		{scoretest.NewScene("Test").AddTotal(1, 500, 10, "150").AddTotal(2, 200, 10, "70").AddTotal(2, 247, 10, "80").Finish(1,
			"Home won by an innings and 53 runs"), "won 1"},
		{scoretest.NewScene("Test").AddTotal(1, 500, 10, "150").AddTotal(2, 200, 10, "70").AddTotal(2, 247, 10, "80").Finish(1,
			"Home won by an innings and 54 runs"), "resultConflict"},
		{scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").Finish(1, "Home won by 99 runs, target 9"),
			"resultConflict"},
		{scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 300, 10, "70").Finish(0, "Match tied, target 9"), "tied"},
		{scoretest.NewScene("T20I").AddTotal(1, 100, 3, "20").Finish(0, "Match tied, target 9"), "resultConflict"},
		{short("No result"), "noResult"},
		{short("Match abandoned due to rain"), "noResult"},
		{short("Washed out"), "noResult"},
		{short("Match drawn"), "drawn"},
		{short("Match draw"), "drawn"},
		{short(""), "noWinner"},
		{short("Rain"), "noWinner"},
		{outcome("T20I", "tie", 100, 100), "tied"},
		{outcome("T20I", "No Result", 100, 90), "noResult"},
		{outcome("T20I", "abandoned", 100, 90), "noResult"},
		{outcome("T20I", "abandoned"), "abandoned"},
		{outcome("T20I", "no result"), "abandoned"},
		{outcome("T20I", "draw", 100, 90), "noResult"},
		{outcome("T20I", "draw", 100, 100), "tied"},
		{outcome("T20I", "true", 100, 90), "noResult"},
		{outcome("T20I", "true", 100, 100), "tied"},
		{outcome("Test", "draw", 100, 90), "drawn"},
		{outcome("Test", "true", 100, 90), "drawn"},
		{outcome("Test", "no result", 100, 90), "drawn"},
		{outcome("Test", "abandoned", 100, 90), "drawn"},
		{outcome("Test", "no result"), "abandoned"},
	} {
		st, problems := scorer.Read(c.scene.Fixture, score.State{})
		r := st.Result

		got := strings.Join(strings.Fields(fmt.Sprint(r.Kind, " ", r.WinnerID, " ", r.Decider, " ", r.Method)), " ")
		if len(problems) > 0 {
			got = string(problems[0].Kind)
		}

		if got != c.want {
			t.Errorf("note %q, outcome %q, %d innings: got %q, want %q", c.scene.Note, c.scene.DrawNoResult, len(c.scene.Runs), got, c.want)
		}
	}
}

// TestMatchesThatAreClosed: the outcome of a match that was abandoned or cancelled.
func TestMatchesThatAreClosed(t *testing.T) {
	t.Parallel()

	scene := func(kind, status string, runs ...int) *scoretest.Scene {
		return totals(kind, runs...).SetStatus(status)
	}
	for _, c := range []struct {
		scene *scoretest.Scene
		want  score.Result
	}{
		{scene("T20I", "Cancl."), score.Result{Kind: score.Cancelled}},
		{scene("T20I", " CANCL. ", 50), score.Result{Kind: score.Cancelled}},
		{scene("T20I", "Aban."), score.Result{Kind: score.Abandoned}},
		{scoretest.NewScene("T20I").AddTotal(1, 0, 0, "0").SetStatus("Aban."), score.Result{Kind: score.Abandoned}}, // began, without a ball
		{scoretest.NewScene("T20I").AddTotal(1, 1, 0, "0").SetStatus("Aban."), score.Result{Kind: score.NoResult}},  // a wide
		{scoretest.NewScene("T20I").AddTotal(1, 0, 0, "0.1").SetStatus("Aban."), score.Result{Kind: score.NoResult}},
		{scene("T20I", "Aban.", 50), score.Result{Kind: score.NoResult}},
		{scene("Test", "Aban.", 50), score.Result{Kind: score.Drawn}},
		{scene("Test", "Aban."), score.Result{Kind: score.Abandoned}},
		{scene("T20I", "Aban.", 50, 51).Set(func(f *sportmonks.Fixture) { f.WinnerID, f.Note = 2, "Away won (awarded)" }),
			score.Result{Kind: score.Won, WinnerID: "2", Method: "awarded"}},
		{scene("T20I", "Aban.", 50, 51).Set(func(f *sportmonks.Fixture) { f.WinnerID, f.Note = 1, "Away won" }),
			score.Result{Kind: score.NoResult}},
	} {
		st, _ := scorer.Read(c.scene.Fixture, score.State{})

		c.want.Text, c.want.Confirmed = st.Result.Text, true
		if diff := cmp.Diff(c.want, st.Result); diff != "" {
			t.Errorf("%s %q of %d innings (-want +got):\n%s", c.scene.Type, c.scene.Status, len(c.scene.Runs), diff)
		}
	}
}

// TestWinnerOfANote: the team before the first verb that names one. Its name or code ends the
// text before the verb, or else no other team is named there, in full or by the first words.
func TestWinnerOfANote(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ home, away, note, want string }{
		{"Home", "Away", "Home won (higher rate)", "1"},
		{"Home", "Away", "Away won (higher rate)", "2"},
		{"Home", "Away", "HOM won (higher rate)", "1"},
		{"Home", "Away", "AWY won (higher rate)", "2"},
		{"Home", "Away", "Home have won (higher rate)", "1"},
		{"Home", "Away", "Away have won (higher rate)", "2"},
		{"Home Town Club", "Away", "Home Town won (higher rate)", "1"},
		{"Home", "Away Town Club", "Away Town won (higher rate)", "2"},
		{"Home", "Away", "Nobody won, until Away beat Home (higher rate)", "2"},
		{"Home", "Away", "Nobody won, until Home beat Away (higher rate)", "1"},
		{"Home", "Away", "Home won the toss, and Away beat Home (higher rate)", "2"},
		{"Home", "Away", "Home and Away have won (higher rate)", ""},
		{"Home", "Away", "The hosts won (higher rate)", ""},
		{"Home", "Away", "won (higher rate)", ""},
		{"Shawm", "Away", "Shawm won (higher rate)", "1"}, // ends with the code of no team
		{"Away HOM", "HOM", "Away HOM won (higher rate)", "1"},
		{"HOM", "Away HOM", "Away HOM won (higher rate)", "2"}, // the longer name
		{"Sawy Ever", "Away", "Sawy won (higher rate)", "1"},
		{"Home", "Whom Ever", "Whom won (higher rate)", "2"}, // a code within a word
		{"Home", "Away", "HOM  won (higher rate)", "1"},
	} {
		for team, id := range map[string]int{"1": 1, "2": 2} {
			f := scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(id, c.note).
				Set(func(f *sportmonks.Fixture) { f.Localteam.Name, f.Visitorteam.Name = c.home, c.away }).Fixture

			want := ""
			if c.want == team {
				want = team
			}

			if st, _ := scorer.Read(f, score.State{}); st.Result.WinnerID != want || st.Pending != (want == "") {
				t.Errorf("%s and %s, note %q, winner %s: got the winner %q, pending %t; want %q", c.home, c.away, c.note, team,
					st.Result.WinnerID, st.Pending, want)
			}
		}
	}
}

// TestNameIsNoOutcome: words of an outcome that are the name of a team do not count, wherever
// the note has the name. A name within a word is not a name.
func TestNameIsNoOutcome(t *testing.T) {
	t.Parallel()

	won := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 8, 0, "20").AddTotal(2, 9, 0, "19")
	}

	level := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 8, 0, "20").AddTotal(2, 8, 0, "20")
	}
	for _, c := range []struct {
		scene *scoretest.Scene
		home  string
		want  score.Outcome
	}{
		{won().Finish(2, "Away beat Tied House by 10 wickets"), "Tied House", score.Won},
		{won().Finish(2, "Away beat Tied House"), "Tied House", score.Won},
		{won().Finish(2, "(Tied House) Away won by 10 wickets"), "Tied House", score.Won},
		{level().Finish(0, "Match tied"), "Tie", score.Tied},
		{level().Finish(0, "Match tied"), "Ied", score.Tied},
		{level().Finish(0, "Match tied"), "Tied", ""},
		{level().Finish(0, "Tied: Tied, and Tied"), "Tied", ""},
		{level().Finish(0, "Untied, tied"), "Untied", score.Tied},
		{level().Finish(0, "Atied"), "Tied", score.Tied},
		{level().Finish(0, "Ztied"), "Tied", score.Tied},
		{level().Finish(0, "\u00c9tied"), "Tied", score.Tied},
		{level().Finish(0, "{tied"), "Tied", ""},
		{level().Finish(0, "`tied"), "Tied", ""},
	} {
		st, _ := scorer.Read(c.scene.Set(func(f *sportmonks.Fixture) { f.Localteam.Name = c.home }).Fixture, score.State{})
		if st.Result.Kind != c.want {
			t.Errorf("%s against Away, note %q: got %q, want %q", c.home, c.scene.Note, st.Result.Kind, c.want)
		}
	}
}

// TestMarginOfANoteCounts: the margin of the note replaces that of the scores where a rain rule
// decided, and must agree with it otherwise.
func TestMarginOfANoteCounts(t *testing.T) {
	t.Parallel()

	chase := func(runs, wickets int, overs string) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, runs, wickets, overs)
	}

	type margin struct {
		Kind                     score.Outcome
		Runs, Wickets, BallsLeft int
	}

	for _, c := range []struct {
		scene *scoretest.Scene
		want  margin
	}{
		{chase(80, 2, "10").Finish(2, "Away won by 12 runs (D/L method)"), margin{score.Won, 12, 0, 0}},
		{chase(80, 2, "10").Finish(2, "Away won by 7 wickets (D/L method)"), margin{score.Won, 0, 7, 0}},
		{chase(80, 2, "10").Finish(2, "Away won by 1 wicket (D/L method)"), margin{score.Won, 0, 1, 0}},
		{chase(80, 2, "10").Finish(2, "Away won by 1 run (D/L method)"), margin{score.Won, 1, 0, 0}},
		{chase(80, 2, "10").Finish(2, "Away won (D/L method)"), margin{score.Won, 0, 8, 60}},
		{chase(80, 2, "10").Finish(2, "Away won (VJD method)"), margin{score.Won, 0, 8, 60}},
		{chase(80, 2, "10").Finish(2, "Away won (awarded)"), margin{score.Won, 0, 0, 0}},
		{chase(138, 2, "10").Finish(2, "Away won"), margin{score.Won, 0, 8, 60}},
		{chase(138, 9, "19").Finish(2, "Away won by 1 wicket with 6 balls remaining"), margin{score.Won, 0, 1, 6}},
		{chase(137, 9, "20").Finish(2, "Match tied (Away won the Super Over by 5 runs)"), margin{score.Tied, 0, 0, 0}},
		{scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").Finish(1, "Home won (D/L method)"), margin{score.Won, 0, 0, 0}},
		{chase(138, 11, "21").Finish(2, "Away won"), margin{score.Won, 0, 0, 0}},
		{chase(136, 2, "20").Finish(1, "Home won by 1 run"), margin{score.Won, 1, 0, 0}},
		{chase(135, 2, "20").Finish(1, "Home won by 1 run"), margin{}},
		{chase(136, 2, "20").Finish(1, "Home won by 2 runs"), margin{}},
		{chase(138, 2, "10").Finish(2, "Away won by 8 wickets with 60 balls remaining"), margin{score.Won, 0, 8, 60}},
		{chase(138, 2, "10").Finish(2, "Away won by 8 wickets with 60 minutes remaining"), margin{score.Won, 0, 8, 0}},
		{chase(80, 2, "10").Finish(2, "Away won by 12 runs with 60 balls remaining (D/L method)"), margin{score.Won, 12, 0, 0}},
	} {
		st, _ := scorer.Read(c.scene.Fixture, score.State{})

		r := st.Result
		if diff := cmp.Diff(c.want, margin{r.Kind, r.Runs, r.Wickets, r.BallsLeft}); diff != "" {
			t.Errorf("note %q (-want +got):\n%s", c.scene.Note, diff)
		}
	}
}

// TestFinishThatNeverAgreed: the last snapshot gives the most probable result. It is confirmed
// unless it is based on the note alone or the feed also has an outcome without a winner.
func TestFinishThatNeverAgreed(t *testing.T) {
	t.Parallel()

	scene := func(runs ...int) *scoretest.Scene { return totals("T20I", runs...) }

	super := func(f *sportmonks.Fixture) { f.SuperOver = true }
	for name, c := range map[string]struct {
		scene *scoretest.Scene
		want  string // kind, winner, decider, method, confirmed
	}{
		"only the note names the winner":    {scene(137, 130).Finish(0, "Home won by 7 runs"), "won 1"},
		"and the scores are level":          {scene(137, 137).Finish(0, "Home won"), "tied 1"},
		"and the scores are level, method":  {scene(137, 137).Finish(0, "Home won (higher rate)"), "won 1 higher rate"},
		"and the note has a tie":            {scene(137, 130).Finish(0, "Match tied (Home won)"), "tied 1"},
		"and it has a super over":           {scene(137, 130).Finish(0, "Home won the Super Over"), "tied 1 superOver"},
		"and one innings without a run":     {scene(0).Finish(0, "Home won"), "won 1"},
		"the note names another winner":     {scene(137, 130).Finish(2, "Home won by 7 runs"), "won 1"},
		"the scores agree":                  {scene(137, 130).Finish(1, ""), "won 1 true"},
		"the scores disagree":               {scene(137, 130).Finish(2, ""), "unknown"},
		"level":                             {scene(137, 137).Finish(2, ""), "tied 2 true"},
		"level, with a super over":          {scene(137, 137).Set(super).Finish(2, ""), "tied 2 superOver true"},
		"level, with innings of one":        {scene(137, 137, 9, 9).Finish(2, ""), "tied 2 superOver true"},
		"level, and the super over is lost": {scene(137, 137, 9, 8).Finish(2, ""), "tied 2 superOver true"},
		"ahead, and called no result":       {scene(137, 130).Finish(1, "No result"), "won 1"},
		"level, tied, super over lost":      {scene(137, 137, 9, 8).Finish(2, "Match tied"), "tied 2 superOver true"},
		"behind, and called no result":      {scene(137, 130).Finish(2, "No result"), "unknown"},
		"another winner":                    {scene(137, 130).Finish(9, ""), "unknown"},
		"another winner, no result":         {scene(137, 130).Finish(9, "No result"), "noResult true"},
		"another winner, tied":              {scene(137, 137).Finish(9, "Match tied"), "tied true"},
		"another winner, tied, not level":   {scene(137, 130).Finish(9, "Match tied"), "unknown"},
		"tied, not level":                   {scene(137, 130).Finish(0, "Match tied"), "unknown"},
		"tied, without an innings":          {scene().Finish(0, "Match tied"), "unknown"},
		"tied after a super over":           {scene(137, 137).Set(super).Finish(0, "Match tied"), "tied true"},
		"one innings of no run, a winner":   {scene(0).Finish(1, ""), "unknown"},
		"level, half a super over":          {scene(137, 137, 9).Finish(2, ""), "tied 2 superOver true"},
		"neither winner nor note":           {scene(137, 130).Finish(0, ""), "unknown"},
	} {
		st, _ := scorer.Final(c.scene.Fixture, score.State{})
		r := st.Result

		got := fmt.Sprint(r.Kind, " ", r.WinnerID, " ", r.Decider, " ", r.Method)
		if r.Confirmed {
			got += " true"
		}

		if got = strings.Join(strings.Fields(got), " "); got != c.want || st.Pending {
			t.Errorf("%s: got %q, pending %t; want %q", name, got, st.Pending, c.want)
		}
	}
}

// TestLevelSuperOverNeedsAWinner: a finish level after a super over without a winner is pending.
// A note that names the super over, or an outcome other than a tie, is a result.
func TestLevelSuperOverNeedsAWinner(t *testing.T) {
	t.Parallel()

	super := func(f *sportmonks.Fixture) { f.SuperOver = true }
	for name, c := range map[string]struct {
		scene *scoretest.Scene
		want  string
	}{
		"no super over":            {totals("T20I", 137, 137).Finish(0, "Match tied"), "tied"},
		"flagged":                  {totals("T20I", 137, 137).Set(super).Finish(0, "Match tied"), "noWinner"},
		"with an innings":          {totals("T20I", 137, 137, 9).Finish(0, "Match tied"), "noWinner"},
		"four innings of a test":   {totals("Test", 137, 137, 9, 9).Finish(0, "Match tied"), "tied"},
		"named by the note":        {totals("T20I", 137, 137).Set(super).Finish(0, "Match tied (Super Over also tied)"), "tied"},
		"then washed out":          {totals("T20I", 137, 137, 9).Finish(0, "No result"), "noResult"},
		"tied, without an innings": {totals("T20I").Finish(0, "Match tied"), "resultConflict"},
	} {
		st, problems := scorer.Read(c.scene.Fixture, score.State{})

		got := string(st.Result.Kind)
		if len(problems) > 0 {
			got = string(problems[0].Kind)
		}

		if got != c.want || st.Pending != (len(problems) > 0) {
			t.Errorf("%s: got %q, pending %t; want %q", name, got, st.Pending, c.want)
		}
	}
}

// TestLastSnapshotOfALevelSuperOverIsATie without a problem: no winner can follow.
func TestLastSnapshotOfALevelSuperOverIsATie(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("T20I").AddTotal(1, 137, 3, "20").AddTotal(2, 137, 3, "20").Finish(0,
		"Match tied").Set(func(f *sportmonks.Fixture) {
		f.SuperOver = true
	})
	st, problems := scorer.Final(s.Fixture, score.State{})
	scoretest.NoProblems(t, problems)

	if st.Result.Kind != score.Tied || !st.Result.Confirmed {
		t.Errorf("result %+v, want a confirmed tie", st.Result)
	}
}

// TestNoteIsTheTextOfItsResult: the note, in at most 160 bytes, if it has winner and margin of the
// result, otherwise a text of the result.
func TestNoteIsTheTextOfItsResult(t *testing.T) {
	t.Parallel()

	chase := func(runs int) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, runs, 5, "19")
	}

	long := "Home won by 7 runs" + strings.Repeat("!", 142)
	for _, c := range []struct {
		scene *scoretest.Scene
		want  string
	}{
		{chase(130).Finish(1, " HOME won by 7 runs! "), "HOME won by 7 runs!"},
		{chase(138).Finish(2, "AWAY won by 5 wickets!"), "AWAY won by 5 wickets!"},
		{chase(130).Finish(1, "HOME won!"), "Home won by 7 runs"},
		{chase(138).Finish(2, "AWAY won!"), "Away won by 5 wickets (with 6 balls remaining)"},
		{chase(130).Finish(1, long), long},
		{chase(130).Finish(1, long+"!"), long[:157] + "…"},
		{chase(137).Finish(0, "It is a tie!"), "Match tied"},
	} {
		if got := c.scene.Read(t).Result.Text; got != c.want {
			t.Errorf("note %q: got %q, want %q", c.scene.Note, got, c.want)
		}
	}
}

// TestOnlyAConfirmedResultOutlivesAContradiction: after any other state the match is pending, in
// the phase before or, if that was of a match that is over or unknown, in a break.
func TestOnlyAConfirmedResultOutlivesAContradiction(t *testing.T) {
	t.Parallel()

	won := score.Result{Kind: score.Won, WinnerID: "2", Confirmed: true}
	guess := won

	guess.Confirmed = false
	for name, c := range map[string]struct {
		phase  sportmonks.Phase
		result score.Result
		want   sportmonks.Phase
	}{
		"confirmed":     {sportmonks.Result, won, sportmonks.Result},
		"not confirmed": {sportmonks.Result, guess, sportmonks.Break},
		"closed":        {sportmonks.Closed, score.Result{Kind: score.NoResult, Confirmed: true}, sportmonks.Break},
		"first seen":    {"", score.Result{}, sportmonks.Break},
		"interrupted":   {sportmonks.Interrupted, score.Result{}, sportmonks.Interrupted},
		"live":          {sportmonks.Live, score.Result{}, sportmonks.Live},
	} {
		f := scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 5, "19").Finish(1, "").Fixture
		st, problems := scorer.Read(f, score.State{ID: "5", Phase: c.phase, Result: c.result})

		kept := c.want == sportmonks.Result
		if st.Phase != c.want || st.Pending == kept || st.Result.IsZero() == kept || len(problems) != 1 {
			t.Errorf("%s: phase %q, pending %v, result %+v, problems %+v; want %q", name, st.Phase, st.Pending, st.Result, problems, c.want)
		}
	}
}

// TestChaseBeyondItsTargetIsWonByRuns: a rain rule stopped it ahead of the par score. A chase that
// reached the target with its last ball is won by wickets.
func TestChaseBeyondItsTargetIsWonByRuns(t *testing.T) {
	t.Parallel()

	for balls, want := range map[string]string{
		"6 6 1 1": "Away won by 5 runs (DLS method)",
		"6 4 . 1": "Away won by 2 runs (DLS method)",
		"6 4 . .": "Away won by 1 run (DLS method)",
		"6 . . 4": "Away won by 10 wickets (with 56 balls remaining) (DLS method)",
		"4 4 1 2": "Away won by 10 wickets (with 56 balls remaining) (DLS method)",
	} {
		rain := func(f *sportmonks.Fixture) { f.RPCTarget, f.RPCOvers = 10, sportmonks.Overs{Overs: 10} }

		st, _ := scorer.Final(scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddInnings(2, balls).Set(rain).Finish(2, "").Fixture,
			score.State{})
		if st.Result.Text != want {
			t.Errorf("balls %q: got %q, want %q", balls, st.Result.Text, want)
		}
	}
}
