package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score"
)

// TestResultText: the sentence has the winner, the margin and the method.
func TestResultText(t *testing.T) {
	t.Parallel()
	s := score.State{Local: score.Team{ID: "1", Name: "Home"}, Visitor: score.Team{ID: "2", Name: "Away"}}
	won := func(r score.Result) score.Result { r.Kind, r.WinnerID = score.Won, "1"; return r }
	for text, r := range map[string]score.Result{
		"Home won":              won(score.Result{}),
		"Home won by 1 run":     won(score.Result{Runs: 1}),
		"Home won by 5 wickets": won(score.Result{Wickets: 5}),
		"Home won by 1 wicket (with 1 ball remaining)":                won(score.Result{Wickets: 1, BallsLeft: 1}),
		"Home won by 5 wickets (with 6 balls remaining) (DLS method)": won(score.Result{Wickets: 5, BallsLeft: 6, Method: "DLS"}),
		"Home won by 9 runs (VJD method)":                             won(score.Result{Runs: 9, Method: "VJD"}),
		"Home won (awarded)":                                          won(score.Result{Method: "awarded"}),
		"Home won (Higher run rate)":                                  won(score.Result{Method: "Higher run rate"}),
		"Match drawn":                                                 {Kind: score.Drawn},
		"No result":                                                   {Kind: score.NoResult},
		"Match abandoned without a ball bowled":                       {Kind: score.Abandoned},
		"Match cancelled":                                             {Kind: score.Cancelled},
		"Result unknown":                                              {},
	} {
		if diff := cmp.Diff(text, s.ResultText(r)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", r, diff)
		}
	}
}
