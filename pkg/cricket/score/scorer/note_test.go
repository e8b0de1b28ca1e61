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
		s := scoretest.NewScene(kind)
		for i, n := range runs {
			s.AddTotal(1+i%2, n, 3, "20")
		}
		return s.Finish(0, "").Set(func(f *sportmonks.Fixture) { f.DrawNoResult = text })
	}
	for _, c := range []struct {
		scene *scoretest.Scene
		want  string // kind, winner, decider, method; or the problem
	}{
		{level("Match tied", 0), "tied"}, {level("Match Tie", 0), "tied"}, {level("It is a tie", 0), "tied"}, {level("MATCH TIED", 0), "tied"},
		{level("Match tied (Home won the Super Over)", 1), "tied 1 superOver"}, {level("Match tied (Home won the super-over)", 1), "tied 1 superOver"},
		{level("Home won in the eliminator", 1), "tied 1 superOver"}, {level("Home won the Super Five", 1), "tied 1 superOver"},
		{level("Match tied (Home won the bowl-out)", 1), "tied 1 bowlOut"}, {level("Home won a bowl out", 1), "tied 1 bowlOut"}, {level("Home won by bowlout", 1), "tied 1 bowlOut"},
		{level("Home won (D/L method)", 1), "won 1 DLS"}, {level("Home won (DLS)", 1), "won 1 DLS"}, {level("Home won by Duckworth-Lewis", 1), "won 1 DLS"}, {level("Home won (VJD method)", 1), "won 1 VJD"},
		{level("Home awarded the match: Home won", 1), "won 1 awarded"}, {level("Away conceded, Home win", 1), "won 1 awarded"}, {level("Home won, Away forfeit", 1), "won 1 awarded"}, {level("Home won by walkover", 1), "won 1 awarded"}, {level("Home won by default", 1), "won 1 awarded"},
		{level("Home won (fewer wickets)", 1), "won 1 fewer wickets lost"}, {level("Home won on 1st innings", 1), "won 1 first innings score"}, {level("Home won on first innings", 1), "won 1 first innings score"},
		{level("Home beat Away (higher rate)", 1), "won 1 higher rate"}, {level("Home defeated Away (higher rate)", 1), "won 1 higher rate"}, {level("HOM won (higher rate)", 1), "won 1 higher rate"},
		{level("Match tied (Home won)", 1), "tied 1"}, {level("Home won (with 6 balls remaining)", 1), "resultConflict"},
		{level("Home won ("+strings.Repeat("x", 40)+")", 1), "won 1 " + strings.Repeat("x", 40)}, {level("Home won ("+strings.Repeat("x", 41)+")", 1), "won 1 " + strings.Repeat("x", 37) + "…"},
		{short("No result"), "noResult"}, {short("Match abandoned due to rain"), "noResult"}, {short("Washed out"), "noResult"}, {short("Match drawn"), "drawn"}, {short("Match draw"), "drawn"}, {short(""), "noWinner"}, {short("Rain"), "noWinner"},
		{outcome("T20I", "tie", 100, 100), "tied"}, {outcome("T20I", "No Result", 100, 90), "noResult"}, {outcome("T20I", "abandoned", 100, 90), "noResult"}, {outcome("T20I", "abandoned"), "abandoned"}, {outcome("T20I", "no result"), "abandoned"},
		{outcome("T20I", "draw", 100, 90), "noResult"}, {outcome("T20I", "draw", 100, 100), "tied"}, {outcome("T20I", "true", 100, 90), "noResult"}, {outcome("T20I", "true", 100, 100), "tied"},
		{outcome("Test", "draw", 100, 90), "drawn"}, {outcome("Test", "true", 100, 90), "drawn"}, {outcome("Test", "no result", 100, 90), "drawn"}, {outcome("Test", "abandoned", 100, 90), "drawn"}, {outcome("Test", "no result"), "abandoned"},
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
		s := scoretest.NewScene(kind)
		for i, n := range runs {
			s.AddTotal(1+i%2, n, 3, "10")
		}
		return s.SetStatus(status)
	}
	for _, c := range []struct {
		scene *scoretest.Scene
		want  score.Result
	}{
		{scene("T20I", "Cancl."), score.Result{Kind: score.Cancelled}},
		{scene("T20I", " CANCL. ", 50), score.Result{Kind: score.Cancelled}},
		{scene("T20I", "Aban."), score.Result{Kind: score.Abandoned}},
		{scene("T20I", "Aban.", 50), score.Result{Kind: score.NoResult}},
		{scene("Test", "Aban.", 50), score.Result{Kind: score.Drawn}},
		{scene("Test", "Aban."), score.Result{Kind: score.Abandoned}},
		{scene("T20I", "Aban.", 50, 51).Set(func(f *sportmonks.Fixture) { f.WinnerID, f.Note = 2, "Away won (awarded)" }), score.Result{Kind: score.Won, WinnerID: "2", Method: "awarded"}},
		{scene("T20I", "Aban.", 50, 51).Set(func(f *sportmonks.Fixture) { f.WinnerID, f.Note = 1, "Away won" }), score.Result{Kind: score.NoResult}},
	} {
		st, _ := scorer.Read(c.scene.Fixture, score.State{})
		c.want.Text, c.want.Confirmed = st.Result.Text, true
		if diff := cmp.Diff(c.want, st.Result); diff != "" {
			t.Errorf("%s %q of %d innings (-want +got):\n%s", c.scene.Type, c.scene.Status, len(c.scene.Runs), diff)
		}
	}
}
