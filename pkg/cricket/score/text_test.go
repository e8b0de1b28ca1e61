package score_test

import (
	"strings"
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

// TestTextsOfTies: a tie names who won afterwards, and how.
func TestTextsOfTies(t *testing.T) {
	t.Parallel()

	s := score.State{Local: score.Team{ID: "1", Name: "Home"}, Visitor: score.Team{ID: "2", Name: "Away"}}

	for text, r := range map[string]score.Result{
		"Match tied":                           {},
		"Match tied (DLS method)":              {Method: "DLS"},
		"Match tied (Home won)":                {WinnerID: "1"},
		"Match tied (Away won the Super Over)": {WinnerID: "2", Decider: score.SuperOver},
		"Match tied (Away won the bowl-out)":   {WinnerID: "2", Decider: score.BowlOut},
	} {
		r.Kind = score.Tied
		if diff := cmp.Diff(text, s.ResultText(r)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", r, diff)
		}
	}

	for text, r := range map[string]score.Result{
		"Home won by an innings and 1 run": {Innings: true, Runs: 1},
		"Home won":                         {Innings: true},
		"Home won by 2 wickets":            {Wickets: 2},
		"Home won by 5 runs":               {Runs: 5, BallsLeft: 3}, // balls are left of a chase only
	} {
		r.Kind, r.WinnerID = score.Won, "1"
		if diff := cmp.Diff(text, s.ResultText(r)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", r, diff)
		}
	}
}

// TestRenameFitsTheNames: a name has up to 80 bytes, a code up to 16; an empty one replaces
// nothing.
func TestRenameFitsTheNames(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 81)
	s := score.State{Local: score.Team{ID: "1", Name: "Home", Code: "HOM"}, Visitor: score.Team{ID: "2", Name: "Away", Code: "AWY"}}
	s.Rename(score.Title{Name: long[:80], Code: long[:16]}, score.Title{Name: long, Code: long[:17]})

	want := [2]score.Team{{ID: "1", Name: long[:80], Code: long[:16]}, {ID: "2", Name: long[:77] + "…", Code: long[:13] + "…"}}
	if diff := cmp.Diff(want, [2]score.Team{s.Local, s.Visitor}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	s.Rename(score.Title{}, score.Title{})

	if diff := cmp.Diff(want, [2]score.Team{s.Local, s.Visitor}); diff != "" {
		t.Errorf("empty titles changed the names (-want +got):\n%s", diff)
	}
}
