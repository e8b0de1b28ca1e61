package scorer_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// TestDisplayOfEachSituation lists situations of a match and their displays.
func TestDisplayOfEachSituation(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name string
		s    *scoretest.Scene
		want string // status | headline: neutral | for Home | for Away | score of Home | of Away
	}{
		{"before the toss", scoretest.NewScene("T20I").SetStatus("NS"), "Not started | Not started | Not started | Not started |  | "},
		{"after the toss", scoretest.NewScene("T20I").SetStatus("NS").Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "bowling" }),
			"Not started | Away won the toss and chose to field | Away won the toss and chose to field | Away won the toss and chose to " +
				"field |  | "},
		{"delayed", scoretest.NewScene("T20I").SetStatus("Delayed"), "Start delayed | Start delayed | Start delayed | Start delayed |  | "},
		{"put in to bat", scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "bowling" }),
			"1st innings | HOM batting | Batting | Bowling | 0/0 | "},
		{"chose to bat", scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "batting" }),
			"1st innings | AWY batting | Bowling | Batting |  | 0/0"},
		{"first innings", scoretest.NewScene("T20I").AddInnings(1, "1 4 W"), "1st innings | HOM batting | Batting | Bowling | 5/1 | "},
		{"break", scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").SetStatus("Innings Break"),
			"Innings break | AWY need 183 from 120 | Defending 183 off 120 | Need 183 from 120 | 182/8 | "},
		{"chase not begun", scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").SetStatus("2nd Innings"),
			"2nd innings | AWY need 183 from 120 | Defending 183 off 120 | Need 183 from 120 | 182/8 | 0/0"},
		{"chase", scoretest.NewScene("ODI").AddTotal(2, 300, 10, "49.4").AddTotal(1, 255, 3, "44.5"),
			"2nd innings | HOM need 46 from 31 | Need 46 from 31 | Defending 46 off 31 | 255/3 | 300"},
		{"overs scheduled", scoretest.NewScene("T20").Set(func(f *sportmonks.Fixture) { f.Overs = 12 }).AddTotal(1, 90, 4, "12").AddTotal(2,
			80, 4, "11"),
			"2nd innings | AWY need 11 from 6 | Defending 11 off 6 | Need 11 from 6 | 90/4 | 80/4"},
		{"ten overs", scoretest.NewScene("T10").AddTotal(1, 90, 4, "10").AddTotal(2, 80, 4, "9"),
			"2nd innings | AWY need 11 from 6 | Defending 11 off 6 | Need 11 from 6 | 90/4 | 80/4"},
		{"The Hundred", scoretest.NewScene("The Hundred").AddTotal(1, 145, 8, "20").AddTotal(2, 100, 4, "15.2"),
			"2nd innings | AWY need 46 from 23 | Defending 46 off 23 | Need 46 from 23 | 145/8 | 100/4"},
		{"rain rule", scoretest.NewScene("ODI").Set(func(f *sportmonks.Fixture) {
			f.RPCTarget, f.RPCOvers = 155, sportmonks.Overs{Overs: 33}
		}).AddTotal(1, 168, 7, "35").AddTotal(2, 100, 2, "20.3"),
			"2nd innings | AWY need 55 from 75 (DLS) | Defending 55 off 75 (DLS) | Need 55 from 75 (DLS) | 168/7 | 100/2"},
		{"target in the note", scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, 10, 0, "1.2").Set(func(f *sportmonks.Fixture) {
			f.Note = "Target 170 runs"
		}),
			"2nd innings | AWY need 160 from 112 (DLS) | Defending 160 off 112 (DLS) | Need 160 from 112 (DLS) | 182/8 | 10/0"},
		{"innings cut short", scoretest.NewScene("ODI").AddTotal(1, 168, 7, "35").SetStatus("Innings Break"),
			"Innings break | HOM made 168/7 | HOM made 168/7 | HOM made 168/7 | 168/7 | "},
		{"target reached", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 101, 2, "15"),
			"2nd innings | Target reached | Target reached | Target reached | 100/8 | 101/2"},
		{"level at the end", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 100, 2, "20"),
			"2nd innings | Scores level | Scores level | Scores level | 100/8 | 100/2"},
		{"short at the end", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 90, 2, "20"),
			"2nd innings | Awaiting result | Awaiting result | Awaiting result | 100/8 | 90/2"},
		{"interrupted", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 50, 2, "10").SetStatus("Int."),
			"Play interrupted | AWY need 51 from 60 | Defending 51 off 60 | Need 51 from 60 | 100/8 | 50/2"},
		{"super over", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 100, 2, "20").AddTotal(2, 10, 1, "1").AddTotal(1,
			6, 2, "0.5"),
			"Super Over | Awaiting result | Awaiting result | Awaiting result | 100/8 | 100/2"},
		{"super over chase", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 100, 2, "20").AddTotal(2, 10, 1, "1").AddTotal(1,
			6, 1, "0.4"),
			"Super Over | HOM need 5 from 2 | Need 5 from 2 | Defending 5 off 2 | 100/8 | 100/2"},

		{"trail", scoretest.NewScene("Test/5day").AddTotal(1, 364, 10, "126.1").AddTotal(2, 119, 2, "45"),
			"2nd innings | AWY trail by 245 | Lead by 245 | Trail by 245 | 364 | 119/2"},
		{"lead", scoretest.NewScene("Test").AddTotal(1, 364, 10, "126.1").AddTotal(2, 391, 10, "128").AddTotal(1, 56, 3, "20"),
			"3rd innings | HOM lead by 29 | Lead by 29 | Trail by 29 | 364 & 56/3 | 391"},
		{"level", scoretest.NewScene("4day").AddTotal(1, 100, 10, "40").AddTotal(2, 100, 2, "30"),
			"2nd innings | Scores level | Scores level | Scores level | 100 | 100/2"},
		{"declared", scoretest.NewScene("Test").AddTotal(1, 391, 9, "128").AddTotal(2, 3, 0, "1"),
			"2nd innings | AWY trail by 388 | Lead by 388 | Trail by 388 | 391/9d | 3/0"},
		{"declared in the break", scoretest.NewScene("4day").AddTotal(1, 391, 6, "128").SetStatus("Innings Break"),
			"Innings break | HOM declared at 391/6 | HOM declared at 391/6 | HOM declared at 391/6 | 391/6d | "},
		{"all out in the break", scoretest.NewScene("4day").AddTotal(1, 91, 10, "28").SetStatus("Innings Break"),
			"Innings break | HOM all out for 91 | HOM all out for 91 | HOM all out for 91 | 91 | "},
		{"follow-on", scoretest.NewScene("Test").AddTotal(1, 435, 8, "87.1").AddTotal(2, 209, 10, "53.2").AddTotal(2, 300, 4, "90"),
			"3rd innings | AWY lead by 74 | Trail by 74 | Lead by 74 | 435/8d | 209 & 300/4 f/o"},
		{"fourth innings", scoretest.NewScene("Test").AddTotal(1, 435, 8, "87.1").AddTotal(2, 209, 10, "53.2").AddTotal(2, 483, 10,
			"162.3").AddTotal(1, 80, 5, "21"),
			"4th innings | HOM need 178 to win | Need 178 to win | Defending 178 | 435/8d & 80/5 | 209 & 483 f/o"},
		{"before the fourth", scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").AddTotal(1, 100, 10,
			"40").SetStatus("Innings Break"),
			"Innings break | AWY need 201 to win | Defending 201 | Need 201 to win | 300 & 100 | 200"},
		{"stumps", scoretest.NewScene("Test").AddTotal(1, 300, 4, "90").SetStatus("Stump Day 1"),
			"Stumps, day 1 | HOM batting | Batting | Bowling | 300/4 | "},
		{"lunch", scoretest.NewScene("Test").AddTotal(1, 80, 1, "27").SetStatus("Lunch"), "Lunch | HOM batting | Batting | Bowling | 80/1 | "},

		{"won by runs", scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1, "Home won by 78 runs"),
			"Finished | HOM won by 78 runs | Won by 78 runs | Lost by 78 runs | 170/6 | 92/9"},
		{"won by wickets", scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 5, "19").Finish(2,
			"Away won by 5 wickets (with 6 balls remaining)"),
			"Finished | AWY won by 5 wickets | Lost by 5 wickets | Won by 5 wickets | 137/8 | 138/5"},
		{"won by one", scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 9, "19").Finish(2, "away WON by 1 wicket"),
			"Finished | AWY won by 1 wicket | Lost by 1 wicket | Won by 1 wicket | 137/8 | 138/9"},
		{"won by an innings", scoretest.NewScene("Test").AddTotal(1, 500, 10, "150").AddTotal(2, 200, 10, "70").AddTotal(2, 247, 10,
			"80").Finish(1, "Home won by an innings and 53 runs"),
			"Finished | HOM won by an innings and 53 runs | Won by an innings and 53 runs | Lost by an innings and 53 runs | 500 | 200 & 247 f/o"},
		{"won ahead of par", scoretest.NewScene("ODI").Set(func(f *sportmonks.Fixture) {
			f.RPCTarget, f.RPCOvers = 155, sportmonks.Overs{Overs: 33}
		}).AddTotal(1, 168, 7, "35").AddTotal(2, 159, 5, "33").Finish(2, "Away won by 5 runs (D/L method)"),
			"Finished | AWY won by 5 runs (DLS) | Lost by 5 runs (DLS) | Won by 5 runs (DLS) | 168/7 | 159/5"},
		{"VJD", scoretest.NewScene("T20").Set(func(f *sportmonks.Fixture) { f.RPCTarget = 90 }).AddTotal(1, 168, 7, "20").AddTotal(2, 80, 5,
			"12").Finish(1, "Home won by 9 runs (VJD method)"),
			"Finished | HOM won by 9 runs (VJD) | Won by 9 runs (VJD) | Lost by 9 runs (VJD) | 168/7 | 80/5"},
		{"awarded", scoretest.NewScene("Test").AddTotal(1, 173, 10, "50").AddTotal(2, 504, 10, "129").AddTotal(1, 298, 4, "72").Finish(1,
			"Home won (awarded)"),
			"Finished | HOM won (awarded) | Won (awarded) | Lost (awarded) | 173 & 298/4 | 504"},
		{"tied", scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(0, "Match tied"),
			"Finished | Match tied | Match tied | Match tied | 141/9 | 141/7"},
		{"bowl-out", scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(1,
			"Match tied (Home won the bowl-out)"),
			"Finished | HOM won the bowl-out | Won the bowl-out | Lost the bowl-out | 141/9 | 141/7"},
		{"won the super over", scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 10, 1, "1").AddTotal(1,
			6, 2, "0.5").Finish(2, "Match tied (Away won the Super Over)"),
			"Finished | AWY won the Super Over | Lost the Super Over | Won the Super Over | 141/9 | 141/7"},
		{"drawn", scoretest.NewScene("Test").AddTotal(1, 500, 9, "150").AddTotal(2, 200, 3, "70").Finish(0,
			"Match drawn").Set(func(f *sportmonks.Fixture) {
			f.DrawNoResult = "draw"
		}),
			"Finished | Match drawn | Match drawn | Match drawn | 500/9d | 200/3"},
		{"no result", scoretest.NewScene("T20I").AddTotal(1, 132, 7, "19").Finish(0, "No result"),
			"Finished | No result | No result | No result | 132/7 | "},
		{"no result by draw_noresult", scoretest.NewScene("T20I").AddTotal(1, 132, 7, "19").Finish(0, "").Set(func(f *sportmonks.Fixture) {
			f.DrawNoResult = "no result"
		}),
			"Finished | No result | No result | No result | 132/7 | "},
		{"abandoned in play", scoretest.NewScene("T20I").AddTotal(1, 132, 7, "19").SetStatus("Aban."),
			"Abandoned | No result | No result | No result | 132/7 | "},
		{"abandoned in play over several days", scoretest.NewScene("Test").AddTotal(1, 300, 5, "90").SetStatus("Aban."),
			"Abandoned | Match drawn | Match drawn | Match drawn | 300/5 | "},
		{"abandoned", scoretest.NewScene("T20I").SetStatus("Aban."), "Abandoned | Match abandoned | Match abandoned | Match abandoned |  | "},
		{"cancelled", scoretest.NewScene("T20I").SetStatus("Cancl."), "Cancelled | Match cancelled | Match cancelled | Match cancelled |  | "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := c.s.Read(t)
			d := st.For("")

			got := strings.Join([]string{d.Status, d.Headline, st.For("1").Headline, st.For("2").Headline, d.Local.Score, d.Visitor.Score}, " | ")
			if got != c.want {
				t.Fatalf("display\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestOutcomeDependsOnThePerspective: only followers of the loser see a loss.
func TestOutcomeDependsOnThePerspective(t *testing.T) {
	t.Parallel()
	won := scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1, "Home won by 78 runs").Read(t)

	tied := scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(0, "Match tied").Read(t)
	for team, want := range map[string][2]score.Outcome{
		"1": {score.Won, score.Tied}, "2": {score.Lost, score.Tied}, "": {score.Won, score.Tied}, "another team": {score.Won, score.Tied},
	} {
		if got := [2]score.Outcome{won.For(team).Outcome, tied.For(team).Outcome}; got != want {
			t.Errorf("followers of %q see the outcomes %q, want %q", team, got, want)
		}
	}
}

func TestRateHasTwoDecimalsHalfUp(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		runs             int
		overs, rate, req string // in a chase of 183 in 20 overs
	}{
		{10, "1.2", "7.50", "9.27"}, {0, "0", "", "9.15"}, {158, "19.4", "8.03", "75.00"}, {1, "13.2", "0.08", "27.30"},
		{182, "20", "9.10", ""}, {183, "18", "10.17", ""}, {181, "3.6", "45.25", "0.13"},
	} {
		st := scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, c.runs, 0, c.overs).Read(t)
		if st.RunRate != c.rate || st.NeedRate != c.req {
			t.Errorf("%d in %s: rate %q, required %q; want %q, %q", c.runs, c.overs, st.RunRate, st.NeedRate, c.rate, c.req)
		}
	}

	if got := scoretest.NewScene("T20I").AddTotal(1, 10, 0, "3.6").Read(t).Innings[0]; got.Overs != "4" || got.Balls != 24 {
		t.Errorf("3.6 overs are read as %+v, want 4 overs and 24 balls", got)
	}
}

func TestTextsOfOversWicketsAndResults(t *testing.T) {
	t.Parallel()

	st := scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, 182, 0, "19.5").Read(t)
	if st.NeedText != "Away need 1 run from 1 ball" || st.Target != (score.Target{Runs: 183, Overs: "20"}) {
		t.Errorf("need %q and target %+v, want 1 run from 1 ball and 183 in 20", st.NeedText, st.Target)
	}

	st = scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, 183, 0, "19.5").Read(t) // the status is still that of play
	if st.Need != (score.Need{}) || st.NeedText != "" {
		t.Errorf("a chase at its target needs %+v, %q, want nothing", st.Need, st.NeedText)
	}

	st = scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 301, 10, "90").Read(t)
	if st.LeadText != "Away lead by 1 run" || st.Lead != 1 {
		t.Errorf("lead %q, want Away lead by 1 run", st.LeadText)
	}

	st = scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 10, 1, "1").AddTotal(1,
		6, 2, "0.5").Read(t)
	if d := st.For(""); d.SuperOver != "SO 10/1 v 6/2" || d.Local.SuperOver != "6/2" || d.Visitor.SuperOver != "10/1" {
		t.Errorf("display of a super over: %+v, want SO 10/1 v 6/2", d)
	}

	st = scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 5, 1, "1").AddTotal(1, 5, 0,
		"1").AddTotal(1, 3, 0, "0.4").Read(t)
	if d := st.For(""); d.SuperOver != "SO 3/0" || st.Current != 5 {
		t.Errorf("display of a second super over: %+v, want SO 3/0", d)
	}
}

// TestNoteOfSuperOverKeepsTheChaseTarget reads a note with the target of a super over.
func TestNoteOfSuperOverKeepsTheChaseTarget(t *testing.T) {
	t.Parallel()
	tied := scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Read(t)
	reduced := scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20")
	reduced.Note = "Target 120 runs"
	shortened := reduced.AddTotal(2, 119, 7, "17").Read(t)
	super := scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 5, 1, "1").AddTotal(1, 2, 0, "0.2")
	super.Note = "Target 6 runs"

	chase := score.State{ID: "5", Innings: []score.Innings{{Number: 2}}}
	for name, c := range map[string]struct {
		before score.State
		want   int
	}{
		"after a tie":                    {tied, 142},
		"after a reduced target":         {shortened, 120},
		"first poll":                     {score.State{}, 142},
		"after a chase without a target": {chase, 142},
	} {
		st, _ := scorer.Read(super.Fixture, c.before)
		if st.Innings[1].Target != c.want || st.Target.Runs != 6 {
			t.Errorf("%s: target of the chase %d, want %d; of the super over %d, want 6", name, st.Innings[1].Target, c.want, st.Target.Runs)
		}

		for _, e := range event.List(super.Fixture, st) {
			if want := fmt.Sprint("target:2:", c.want); e.Kind == event.Target && e.Key != want {
				t.Errorf("%s: event %s, want %s", name, e.Key, want)
			}
		}
	}
}

// TestRevisedTargetStaysInTheChase has the feed drop a revised target.
func TestRevisedTargetStaysInTheChase(t *testing.T) {
	t.Parallel()

	chase := func(note string) *scoretest.Scene {
		s := scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, 10, 0, "1.2")
		s.Note = note

		return s
	}

	revised := chase("Target 170 runs").Read(t)
	for note, want := range map[string]score.Target{
		"":                {Runs: 170, Overs: "20", Revised: true},
		"Target 160 runs": {Runs: 160, Overs: "20", Revised: true},
	} {
		st, _ := scorer.Read(chase(note).Fixture, revised)
		if diff := cmp.Diff(want, st.Target); diff != "" {
			t.Errorf("after the note %q (-want +got):\n%s", note, diff)
		}
	}
}

// TestFinalComputesTheMargin reads matches whose note does not name the winner.
func TestFinalComputesTheMargin(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		s    *scoretest.Scene
		text string
	}{
		{scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 10, "19.2").Finish(1, ""), "Home won by 78 runs"},
		{scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 5, "19.5").Finish(2, ""),
			"Away won by 5 wickets (with 1 ball remaining)"},
		{scoretest.NewScene("ODI").Set(func(f *sportmonks.Fixture) { f.RPCTarget, f.RPCOvers = 171, sportmonks.Overs{Overs: 15} }).AddTotal(1,
			214, 4, "50").AddTotal(2, 171, 5, "15").Finish(2, ""),
			"Away won by 5 wickets (DLS method)"},
		{scoretest.NewScene("ODI").Set(func(f *sportmonks.Fixture) { f.RPCTarget, f.RPCOvers = 171, sportmonks.Overs{Overs: 15} }).AddTotal(1,
			214, 4, "50").AddTotal(2, 171, 5, "15").Finish(2, "VJD"),
			"Away won by 5 wickets (VJD method)"},
		{scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").Finish(1, "Target 61 runs"), "Home won by 100 runs"},
		{scoretest.NewScene("Test").AddTotal(1, 100, 10, "40").AddTotal(2, 90, 10, "40").AddTotal(1, 50, 10, "20").AddTotal(2, 61, 7,
			"20").Finish(2, "Target 61 runs"), "Away won by 3 wickets"},
		{scoretest.NewScene("Test").AddTotal(1, 500, 10, "150").AddTotal(2, 200, 10, "70").AddTotal(2, 247, 10, "80").Finish(1, ""),
			"Home won by an innings and 53 runs"},
		{scoretest.NewScene("Test").AddTotal(1, 364, 10, "126").AddTotal(2, 391, 10, "128").AddTotal(1, 298, 8, "109").AddTotal(2, 120, 10,
			"51").Finish(1, ""), "Home won by 151 runs"},
		{scoretest.NewScene("Test").AddTotal(1, 100, 10, "40").AddTotal(2, 90, 10, "40").AddTotal(1, 50, 10, "20").AddTotal(2, 61, 7,
			"20").Finish(2, ""), "Away won by 3 wickets"},
		{scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").Finish(1, ""), "Match tied (Home won)"},
		{scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 1, 1, "1").AddTotal(1, 2, 0, "0.5").Finish(1,
			""), "Match tied (Home won the Super Over)"},
		{scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 142, 7, "20").Finish(0, ""), "Result unknown"},
		{scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 10, "19.2").Finish(2, ""), "Result unknown"}, // against the scores
		{scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 10, "19.2").Finish(2, "Home won by 78 runs"),
			"Home won by 78 runs"},
		// no margin of what is not confirmed
		{scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(0, "Away won"), "Away won"},
	} {
		st, _ := scorer.Final(c.s.Fixture, score.State{})
		if st.Phase != sportmonks.Result || st.Result.Text != c.text {
			t.Errorf("result %q in phase %s, want %q", st.Result.Text, st.Phase, c.text)
		}
	}
}

// TestNoteGivesTheResult also has notes that only resemble a result.
func TestNoteGivesTheResult(t *testing.T) {
	t.Parallel()

	level := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 8, 0, "20").AddTotal(2, 8, 0, "20")
	}
	won := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 8, 0, "20").AddTotal(2, 9, 0, "19")
	}
	reduced := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) {
			f.Overs, f.RPCTarget, f.RPCOvers = 20, 6, sportmonks.Overs{Overs: 10}
		}).AddTotal(1, 8, 0, "20")
	}

	named := func(s *scoretest.Scene, home, away string) *scoretest.Scene {
		return s.Set(func(f *sportmonks.Fixture) { f.Localteam.Name, f.Visitorteam.Name = home, away })
	}
	for name, c := range map[string]struct {
		s    *scoretest.Scene
		want score.Result
	}{
		"a reason": {level().Finish(2, "Away won (Higher run rate)"),
			score.Result{Kind: score.Won, WinnerID: "2", Method: "Higher run rate"}},
		"a reason and a margin": {won().Finish(2, "Away won by 10 wickets (with 6 balls remaining) (Parabola)"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10, BallsLeft: 6, Method: "Parabola"}},
		"no reason": {won().Finish(2, "Away won by 10 wickets (with 6 balls remaining)"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10, BallsLeft: 6}},
		"a walkover": {scoretest.NewScene("T20I").Finish(1, "Home won"),
			score.Result{Kind: score.Won, WinnerID: "1", Method: "awarded"}},
		"one name, the first side": {named(scoretest.NewScene("T20I").AddTotal(1, 9, 0, "20").AddTotal(2, 8, 10, "19"), "Home", "Home").Finish(1,
			"Home won by 1 run"), score.Result{
			Kind:     score.Won,
			WinnerID: "1",
			Runs:     1,
		}},
		"a tie of a revised chase": {reduced().AddTotal(2, 5, 0, "10").Finish(0, "Match tied"), score.Result{Kind: score.Tied}},
		"a tie by a rain rule": {reduced().AddTotal(2, 5, 0, "10").Finish(0, "Match tied (D/L method)"),
			score.Result{Kind: score.Tied, Method: "DLS"}},
		"a tie by a rain rule, decided": {reduced().AddTotal(2, 5, 0, "10").AddTotal(2, 7, 0, "1").AddTotal(1, 6, 0, "1").Finish(2,
			"Match tied (D/L method) (Away won the Super Over)"),
			score.Result{Kind: score.Tied, WinnerID: "2", Method: "DLS", Decider: score.SuperOver}},
		"reduced without a rain rule": {reduced().AddTotal(2, 6, 0, "9").Finish(2, "Away won by 10 wickets (with 6 balls remaining)"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10, BallsLeft: 6}},
		"fewer wickets": {level().Finish(2, "Away won (fewer wickets lost)"),
			score.Result{Kind: score.Won, WinnerID: "2", Method: "fewer wickets lost"}},
		"awarded": {level().Finish(2, "Away won, as Home conceded"),
			score.Result{Kind: score.Won, WinnerID: "2", Method: "awarded"}},
		"drawn over a day": {scoretest.NewScene("ODI").AddTotal(1, 8, 0, "50").AddTotal(2, 7, 0, "40").Finish(0, "Match drawn"),
			score.Result{Kind: score.Drawn}},
		"reason of a draw": {scoretest.NewScene("4day").AddTotal(1, 8, 0, "50").AddTotal(2, 9, 0, "40").Finish(0,
			"Match drawn (1st innings score)"), score.Result{
			Kind:   score.Drawn,
			Method: "first innings score",
		}},
		"names of outcomes": {named(won(), "Tied House", "No Result CC").Finish(2, "No Result CC won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"names of methods": {named(won(), "Drawn & Abandoned", "Defaulters (Awarded)").Finish(2, "Defaulters (Awarded) won by 10 wickets"),
			score.Result{
				Kind:     score.Won,
				WinnerID: "2",
				Wickets:  10,
			}},
		"names with verbs": {named(won(), "Winners Won", "Team Wonders").Finish(2, "Team Wonders won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"name in a name": {named(won(), "Team AB", "Team A").Finish(2, "Team A won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"name in a name, with an outcome": {named(won(), "House", "House Tied").Finish(2, "House Tied won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"outcome in the name of the loser": {named(won(), "House Tied", "House").Finish(2, "House beat House Tied by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"names of digits": {named(won(), "10", "Team 10").Finish(2, "Team 10 won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"one name": {named(won(), "Home", "Home").Finish(2, "Home won by 10 wickets"), score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
		"long names": {named(won(), strings.Repeat("Home & ", 40), strings.Repeat("Away & ", 40)).Finish(2,
			strings.Repeat("Away & ", 40)+" won by 10 wickets"),
			score.Result{Kind: score.Won, WinnerID: "2", Wickets: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.s.Read(t).Result

			c.want.Text, c.want.Confirmed = got.Text, true
			if got != c.want {
				t.Errorf("result of the note %q (-want +got):\n%s", c.s.Note, cmp.Diff(c.want, got))
			}
		})
	}
}

// TestSuperOverWinnerIsChecked reads finishes with a winner and no note after super overs. About one finish
// in twenty first has the wrong winner.
func TestSuperOverWinnerIsChecked(t *testing.T) {
	t.Parallel()

	level := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 164, 6, "20").AddTotal(2, 164, 8, "20")
	}
	first := func() *scoretest.Scene { return level().AddTotal(2, 5, 1, "1").AddTotal(1, 9, 0, "0.3") }

	drawn := func() *scoretest.Scene { return level().AddTotal(2, 9, 1, "1").AddTotal(1, 9, 0, "1") }
	for _, c := range []struct {
		name    string
		s       *scoretest.Scene
		problem scorer.ProblemKind
	}{
		{"the winner of the super over", first().Finish(1, ""), ""},
		{"the loser of the super over", first().Finish(2, ""), scorer.ResultConflict},
		{"the loser of the super over, as a tie", first().Finish(2, "Match tied"), scorer.ResultConflict},
		{"the loser of the super over, with a note", first().Finish(2, "Match tied (Away won the Super Over)"), ""},
		{"a level super over", drawn().Finish(1, ""), scorer.NoWinner},
		{"a level super over, with a note", drawn().Finish(1, "Match tied (Home won the Super Over)"), ""},
		{"the winner of the second super over", drawn().AddTotal(1, 4, 1, "1").AddTotal(2, 5, 0, "0.4").Finish(2, ""), ""},
		{"the loser of the second super over", drawn().AddTotal(1, 4, 1, "1").AddTotal(2, 5, 0, "0.4").Finish(1, ""), scorer.ResultConflict},
		{"half a super over", level().AddTotal(2, 5, 1, "1").Finish(2, ""), ""},
		{"half a super over, the other side", level().AddTotal(2, 5, 1, "1").Finish(1, ""), scorer.ResultConflict},
		{"before the super over", level().Finish(1, ""), scorer.NoWinner},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			st, problems := scorer.Read(c.s.Fixture, score.State{})

			var got scorer.ProblemKind
			if len(problems) > 0 {
				got = problems[0].Kind
			}

			if got != c.problem || st.Pending != (c.problem != "") || st.Result.IsZero() != st.Pending {
				t.Errorf("problem %q, pending %t, result %+v; want problem %q and a result only without one", got, st.Pending, st.Result, c.problem)
			}
		})
	}
}

// TestContradictoryFinishIsPending reads finishes whose winner, note and scores disagree.
func TestContradictoryFinishIsPending(t *testing.T) {
	t.Parallel()

	chase := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 5, "19")
	}

	live := chase().Read(t)
	for _, c := range []struct {
		name string
		s    *scoretest.Scene
		kind scorer.ProblemKind
	}{
		{"no winner, no note", chase().Finish(0, ""), scorer.NoWinner},
		{"only a note", chase().Finish(0, "Away won by 5 wickets"), scorer.NoWinner},
		{"only a winner", chase().Finish(2, ""), scorer.NoWinner},
		{"the wrong winner", chase().Finish(1, ""), scorer.NoWinner},
		{"a note of the toss", chase().Finish(2, "Away won the toss and elected to field"), scorer.NoWinner},
		{"winner contradicts note", chase().Finish(1, "Away won by 5 wickets"), scorer.ResultConflict},
		{"both contradict the scores", chase().Finish(1, "Home won by 5 runs"), scorer.ResultConflict},
		{"winner is another team", chase().Finish(9, "Away won by 5 wickets"), scorer.ResultConflict},
		{"tie with different scores", chase().Finish(0, "Match tied"), scorer.ResultConflict},
		{"winner without a result", chase().Finish(2, "No result"), scorer.ResultConflict},
		{"win by wickets with level scores", scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 137, 5, "20").Finish(2,
			"Away won by 5 wickets"), scorer.ResultConflict},
		{"wrong margin", scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 130, 5, "20").Finish(1, "Home won by 9 runs"),
			scorer.ResultConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			st, problems := scorer.Read(c.s.Fixture, live)
			if st.Phase != sportmonks.Live || !st.Pending || !st.Result.IsZero() || st.For("").Headline != "Awaiting result" ||
				len(problems) != 1 || problems[0].Kind != c.kind {
				t.Fatalf("phase %s, pending %t, result %+v, problems %+v; want a pending live match with one problem", st.Phase,
					st.Pending, st.Result, problems)
			}

			st, problems = scorer.Read(chase().Finish(2, "Away won by 5 wickets (with 6 balls remaining)").Fixture, st)
			scoretest.NoProblems(t, problems)

			if st.Phase != sportmonks.Result || st.Pending || !st.Result.Confirmed {
				t.Fatalf("after a consistent finish: %+v, want a confirmed result", st)
			}
			// A result remains when the feed contradicts it later.
			st, problems = scorer.Read(c.s.Fixture, st)
			if st.Phase != sportmonks.Result || st.Result.WinnerID != "2" || len(problems) != 1 || problems[0].Kind != c.kind {
				t.Fatalf("after another contradictory finish: %+v with the problems %+v, want the result and one problem", st, problems)
			}
		})
	}
}

// TestInningsContinuesAfterAWithdrawnFinish has the provider finish a chase too early and
// take it back before the next ball.
func TestInningsContinuesAfterAWithdrawnFinish(t *testing.T) {
	t.Parallel()

	chase := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 130, 5, "19")
	}
	want := chase().Read(t)

	pending, _ := scorer.Read(chase().Finish(2, "").Fixture, want)
	if !pending.Pending {
		t.Fatalf("state %+v, want it pending", pending)
	}

	got, problems := scorer.Read(chase().Fixture, pending)
	scoretest.NoProblems(t, problems)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state after the finish was taken back (-want +got):\n%s", diff)
	}
}

func TestUnknownStatusKeepsThePhase(t *testing.T) {
	t.Parallel()

	before := scoretest.NewScene("T20I").AddInnings(1, "1 2").Read(t)
	for _, from := range []sportmonks.Phase{sportmonks.Live, sportmonks.Stumps, sportmonks.Upcoming} {
		before.Phase, before.Status = from, "as before"

		st, problems := scorer.Read(scoretest.NewScene("T20I").AddInnings(1, "1 2 4").SetStatus("Review").Fixture, before)
		if st.Phase != from || st.Status != "as before" || st.Innings[0].Runs != 7 || len(problems) != 1 ||
			problems[0].Kind != scorer.UnknownStatus {
			t.Errorf("phase %s became %s, status %q with the problems %+v, want the same phase and status and an unknown status", from,
				st.Phase, st.Status, problems)
		}
	}

	result := scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1, "Home won by 78 runs")

	before = result.Read(t)
	for _, s := range []*scoretest.Scene{result.SetStatus("Review"), result.Finish(2, "").SetStatus("Review")} {
		if st, problems := scorer.Read(s.Fixture, before); st.Result != before.Result || st.Phase != sportmonks.Result || len(problems) != 1 {
			t.Errorf("after an unknown status: %+v with the problems %+v, want the same result and one problem", st, problems)
		}
	}
}

// TestUnknownStatusOfAFirstSnapshot: a match with an innings is live, any other is to come.
func TestUnknownStatusOfAFirstSnapshot(t *testing.T) {
	t.Parallel()

	for want, c := range map[sportmonks.Phase]struct {
		scene  *scoretest.Scene
		status string
	}{
		sportmonks.Upcoming: {scoretest.NewScene("T20I").SetStatus("Review"), "Not started"},
		sportmonks.Live:     {scoretest.NewScene("T20I").AddInnings(1, "1 2").SetStatus("Review"), "1st innings"},
	} {
		if st, problems := scorer.Read(c.scene.Fixture, score.State{}); st.Phase != want || st.Status != c.status || len(problems) != 1 ||
			problems[0].Kind != scorer.UnknownStatus {
			t.Errorf("phase %q, status %q with the problems %+v, want %s, %q and an unknown status", st.Phase, st.Status, problems, want, c.status)
		}
	}
}

// TestPartialSnapshotIsRefused drops balls with and without their part of the totals.
func TestPartialSnapshotIsRefused(t *testing.T) {
	t.Parallel()

	whole := scoretest.NewScene("T20I").AddInnings(1, "1 4 W . 2 6 1 .")
	before := whole.Read(t)
	short := whole.Fixture
	short.Balls = short.Balls[:3]

	st, problems := scorer.Read(short, before)
	if st.Held != 1 || st.Innings[0].Listed != 8 || len(st.LastSix) != 6 || len(problems) != 2 || problems[1].Kind != scorer.PartialBalls {
		t.Fatalf("state %+v with problems %+v, want the previous balls and a partial snapshot", st, problems)
	}

	held := st
	for range 7 {
		held, _ = scorer.Read(short, held)
	}

	if held, _ = scorer.Read(short, held); held.Held != 0 || held.Innings[0].Listed != 3 || held.Innings[0].Runs != 14 {
		t.Errorf("the ninth equal snapshot is still refused: %+v", held)
	}

	if st, problems = scorer.Read(whole.Fixture, st); st.Held != 0 || len(problems) > 0 {
		t.Errorf("a whole snapshot after a partial one: %+v with problems %+v", st, problems)
	}
	// A dot ball is missing, so that the runs still add up.
	gap := whole.Fixture

	gap.Balls = slices.Delete(slices.Clone(gap.Balls), 3, 4)
	if st, problems := scorer.Read(gap, before); st.Held != 1 || st.Innings[0].Listed != 8 ||
		problems[len(problems)-1].Kind != scorer.PartialBalls {
		t.Errorf("a list without a dot ball: %+v with problems %+v, want the previous balls and a partial snapshot", st.Innings[0], problems)
	}
	// The provider deletes a ball and its runs.
	deleted := scoretest.NewScene("T20I").AddInnings(1, "1 4 W . 2 6 1")
	if st, problems = scorer.Read(deleted.Fixture, before); len(problems) > 0 || st.Innings[0].Overs != "1.1" {
		t.Errorf("a deleted ball: %+v with problems %+v", st, problems)
	}
	// The provider corrects a ball under the same id.
	fixed := scoretest.NewScene("T20I").AddInnings(1, "1 5wd W . 2 6 1 .")
	if st, problems = scorer.Read(fixed.Fixture, before); len(problems) > 0 || st.Innings[0].Runs != 15 || st.Innings[0].Overs != "1.1" {
		t.Errorf("a corrected ball: %+v with problems %+v", st, problems)
	}
	// Runs and balls are missing.
	bare := whole.Fixture

	bare.Runs, bare.Balls = nil, nil
	if st, _ = scorer.Read(bare, before); st.Innings[0].Runs != 14 || st.Held != 1 {
		t.Errorf("a snapshot without runs and balls: %+v, want the previous score", st)
	}

	bare.Status, bare.WinnerID, bare.Note = "Finished", 1, "Home won (conceded)"
	if st, _ = scorer.Final(bare, before); st.Phase != sportmonks.Result || st.Innings[0].Runs != 14 || st.Result.Method != "awarded" {
		t.Errorf("a finish without runs and balls: %+v, want the previous score and an awarded win", st)
	}

	kept := slices.Clone(before.Innings)

	kept[0].Over = true
	if diff := cmp.Diff(kept, st.Innings); diff != "" {
		t.Errorf("innings of a finish without runs and balls (-want +got):\n%s", diff)
	}
	// After eight refusals the innings before are kept, as they were.
	bare.Status, bare.WinnerID, bare.Note = "Int.", 0, ""

	for _, over := range []bool{false, true} {
		was := before
		was.Innings = slices.Clone(before.Innings)

		was.Innings[0].Over, was.Innings[0].AllOut, was.Held = over, over, 8
		if st, _ = scorer.Read(bare, was); st.Held != 0 || !slices.Equal(st.Innings, was.Innings) {
			t.Errorf("the ninth snapshot without runs and balls, over %v: %+v, want the innings before", over, st)
		}
	}
	// The total is ahead of the balls, or they never added up.
	ahead := whole.Fixture
	ahead.Runs = []sportmonks.Runs{whole.Runs[0]}
	ahead.Runs[0].Score += 4
	unexplained, _ := scorer.Read(ahead, score.State{})
	fewer, other := ahead, ahead
	fewer.Runs, other.Runs = slices.Clone(ahead.Runs), slices.Clone(ahead.Runs)
	fewer.Balls, other.Balls = ahead.Balls[:7], ahead.Balls[:7]
	other.Runs[0].Score++
	more := scoretest.NewScene("T20I").AddInnings(1, "1 4 W . 2 6 1 . 1").Fixture

	more.Runs[0].Score += 4
	for name, c := range map[string]struct {
		f      sportmonks.Fixture
		before score.State
		held   int
	}{
		"as many balls":                {ahead, before, 0},
		"more balls":                   {more, before, 0},
		"fewer, as far from the total": {fewer, unexplained, 0},
		"fewer, and farther from it":   {other, unexplained, 1},
		"fewer than added up":          {fewer, before, 1},
	} {
		if st, _ := scorer.Read(c.f, c.before); st.Held != c.held {
			t.Errorf("%s: refused %d times, want %d", name, st.Held, c.held)
		}
	}
}

// TestMissingInningsIsPartial: a snapshot without an innings that had a ball is refused. One
// without a ball was announced too early, and may disappear.
func TestMissingInningsIsPartial(t *testing.T) {
	t.Parallel()

	first := func() *scoretest.Scene { return scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20") }
	for name, c := range map[string]struct {
		before *scoretest.Scene
		want   int // innings after the snapshot
	}{
		"with a ball":    {first().AddTotal(2, 0, 0, "0.1"), 2},
		"with a wide":    {first().AddTotal(2, 1, 0, "0"), 2},
		"without a ball": {first().AddTotal(2, 0, 0, "0"), 1},
	} {
		st, _ := scorer.Read(first().Fixture, c.before.Read(t))
		if len(st.Innings) != c.want || (st.Held == 1) != (c.want == 2) {
			t.Errorf("%s: %d innings, refused %d times; want %d", name, len(st.Innings), st.Held, c.want)
		}
	}
	// So may the first innings, which the toss announces.
	toss := func(status string) *scoretest.Scene {
		return scoretest.NewScene("T20I").SetStatus(status).Set(func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 1, "batting" })
	}
	before := toss("1st Innings").Read(t)

	st, problems := scorer.Read(toss("Int.").Fixture, before)
	if len(before.Innings) != 1 || len(st.Innings) != 0 || st.Phase != sportmonks.Interrupted || st.Held != 0 || len(problems) > 0 {
		t.Errorf("rain before the first ball: innings %+v after %+v, phase %s, refused %d times, problems %+v; want an interruption without "+
			"an innings", st.Innings, before.Innings, st.Phase, st.Held, problems)
	}
}

// TestOnlyARevisedTargetNamesItsOvers: all others have those of the format.
func TestOnlyARevisedTargetNamesItsOvers(t *testing.T) {
	t.Parallel()

	for note, want := range map[string]string{"": "Target 138", "Target 120 runs": "Target 120 in 20 overs"} {
		s := scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 20, 0, "4")

		s.Note = note
		if got := s.Read(t).For("").Detail; got != want {
			t.Errorf("with the note %q the display has %q, want %q", note, got, want)
		}
	}
}

// TestUnknownLengthHasNoOvers: the target of a match whose length is unknown names no overs.
func TestUnknownLengthHasNoOvers(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("Club").AddTotal(1, 137, 8, "30").AddTotal(2, 20, 0, "4")
	s.Note = "Target 120 runs"

	st, _ := scorer.Read(s.Fixture, score.State{})
	if diff := cmp.Diff(score.Target{Runs: 120, Revised: true}, st.Target); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}

	if d := st.For(""); d.Detail != "Target 120" || d.NeedBalls != 0 {
		t.Errorf("the display has %q and %d balls, want the runs only", d.Detail, d.NeedBalls)
	}
}

// TestTextsOfTheFeedAreShortened: the longest names and notes that a state keeps, in bytes. A
// row of a state is read with each poll.
func TestTextsOfTheFeedAreShortened(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 1000)
	s := scoretest.NewScene("T20I")
	s.Round, s.Note, s.Localteam = long, long, sportmonks.Team{ID: 1, Name: long, Code: long, Image: long}
	st, _ := scorer.Read(s.Fixture, score.State{})

	got := []int{len(st.Round), len(st.Note), len(st.Local.Name), len(st.Local.Code), len(st.Local.Image)}
	if diff := cmp.Diff([]int{80, 240, 80, 16, 240}, got); diff != "" {
		t.Errorf("bytes of round, note, name, code and image (-want +got):\n%s", diff)
	}

	s.Localteam.Name = "" // the code is its name
	if st, _ = scorer.Read(s.Fixture, score.State{}); len(st.Local.Name) != 16 {
		t.Errorf("a team without a name is %q, want the 16 bytes of its code", st.Local.Name)
	}
}

func TestLabelsGiveTheLengthOfAnOver(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		kind        string
		per         int
		list, overs string
		balls       int
		format      score.Format
	}{
		{"Test", 8, strings.Repeat("1 ", 19), "2.3", 19, score.Test},
		{"Test", 4, strings.Repeat("1 ", 11), "2.3", 11, score.Test},
		{"T20", 5, strings.Repeat("1 ", 12), "2.2", 12, score.Hundred},
		{"T20", 6, strings.Repeat("1 ", 20), "3.2", 20, score.T20},
		{"The Hundred", 5, "1 1 1 1 1", "1", 5, score.Hundred},
		{"The Hundred", 6, strings.Repeat("1 ", 14), "2.2", 14, score.Hundred},
		{"Test", 5, strings.Repeat("1 ", 12), "2.2", 12, score.Test},
		{"Club", 5, strings.Repeat("1 ", 12), "2.2", 12, score.Hundred},
		{"T20I", 6, "wd 1 1 1 1 1 nb 1", "1", 6, score.T20},
	} {
		st := scoretest.NewScene(c.kind).AddInningsOf(1, c.per, c.list).Read(t)

		n := st.Innings[0]
		if st.PerOver != c.per || n.Overs != c.overs || n.Balls != c.balls || st.Format != c.format {
			t.Errorf("%s in overs of %d: overs of %d, format %s, innings %+v", c.kind, c.per, st.PerOver, st.Format, n)
		}
	}
	// One over of five balls may be a miscount.
	if st, _ := scorer.Read(scoretest.NewScene("T20I").AddInningsOf(1, 5, strings.Repeat("1 ", 7)).Fixture,
		score.State{}); st.PerOver != 6 || st.Format != score.T20 {
		t.Errorf("after one over of five balls: overs of %d and format %s, want 6 and %s", st.PerOver, st.Format, score.T20)
	}
	// Most of the overs decide: more than half of two or more, each before another of its innings.
	for _, c := range []struct {
		sizes  [][]int // of the overs of each innings; 0 is of a wide only
		before int
		want   int
	}{
		{[][]int{{5, 5, 1}}, 0, 5},
		{[][]int{{5, 5, 6, 1}}, 0, 5},
		{[][]int{{5, 8, 1}}, 0, 6},
		{[][]int{{5, 5, 8, 8, 1}}, 0, 6},
		{[][]int{{5, 5, 8, 8, 1}}, 8, 8},
		{[][]int{{5, 5, 0, 0, 1}}, 0, 5},
		{[][]int{{5}, {5, 1}}, 0, 6},
		{[][]int{{5, 5}, {5, 1}}, 0, 5},
		{[][]int{{12, 6, 6, 1}}, 0, 6},
		{[][]int{{12, 12, 1}}, 0, 6},
		{nil, 8, 8},
		{nil, 0, 6},
	} {
		s := scoretest.NewScene("T20I")

		for i, overs := range c.sizes {
			for over, size := range overs {
				if size == 0 {
					s.Balls = append(s.Balls, sportmonks.Ball{
						ID:      len(s.Balls) + 1,
						Innings: i + 1,
						TeamID:  1 + i,
						At:      sportmonks.Overs{Overs: over},
						Score:   sportmonks.Score{Name: "1 Wide", Runs: 1},
					})
				}

				for ball := range size {
					s.Balls = append(s.Balls, sportmonks.Ball{
						ID:      len(s.Balls) + 1,
						Innings: i + 1,
						TeamID:  1 + i,
						At:      sportmonks.Overs{Overs: over, Balls: ball + 1},
					})
				}
			}
		}

		if st, _ := scorer.Read(s.Fixture, score.State{ID: "5", PerOver: c.before}); st.PerOver != c.want {
			t.Errorf("overs of %v balls after overs of %d: %d, want %d", c.sizes, c.before, st.PerOver, c.want)
		}
	}
	// An over of seven balls and one of five do not change the others.
	s := scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("1 ", 30))
	for i := range s.Balls {
		switch b := &s.Balls[i]; {
		case i == 6:
			b.At = sportmonks.Overs{Overs: 0, Balls: 7}
		case i > 6 && i < 12:
			b.At = sportmonks.Overs{Overs: 1, Balls: i - 6}
		}
	}

	if st := s.Read(t); st.PerOver != 6 || st.Innings[0].Overs != "5" || st.Innings[0].Balls != 30 {
		t.Errorf("innings with an over of seven balls: %+v, want 5 overs and 30 balls", st.Innings[0])
	}
	// The provider counts an over of five as one of six: the balls are counted as listed.
	s = scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("1 ", 29))
	for i := 11; i < len(s.Balls); i++ {
		s.Balls[i].At = sportmonks.Overs{Overs: 2 + (i-11)/6, Balls: 1 + (i-11)%6}
	}

	s.Runs[0].Overs = sportmonks.Overs{Overs: 5}
	if n := s.Read(t).Innings[0]; n.Overs != "5" || n.Balls != 29 {
		t.Errorf("innings with an over of five balls: %+v, want 5 overs and 29 balls", n)
	}
}

// TestProviderMayCountInSixes: the total of an innings in overs of five has balls of five
// or of six to an over. Whichever agrees with the list counts.
func TestProviderMayCountInSixes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		listed int
		given  sportmonks.Overs
		overs  string
		balls  int
	}{
		{14, sportmonks.Overs{Overs: 2, Balls: 4}, "2.4", 14},
		{14, sportmonks.Overs{Overs: 2, Balls: 2}, "2.4", 14}, // 14 in sixes
		{10, sportmonks.Overs{Overs: 1, Balls: 4}, "2", 10},   // 10 in sixes
		{14, sportmonks.Overs{Overs: 2, Balls: 1}, "2.1", 11}, // 13 in sixes: the list is not trusted
	} {
		st := scoretest.NewScene("The Hundred").AddInningsOf(1, 5, strings.Repeat("1 ", c.listed)).Set(func(f *sportmonks.Fixture) {
			f.Runs[0].Overs = c.given
		})

		got, _ := scorer.Read(st.Fixture, score.State{})
		if n := got.Innings[0]; n.Overs != c.overs || n.Balls != c.balls {
			t.Errorf("%d balls and the total %v give %s overs and %d balls, want %s and %d", c.listed, c.given, n.Overs, n.Balls, c.overs, c.balls)
		}
	}
}

// TestTargetOfOneIsReached: a super over without a run leaves a target of one.
func TestTargetOfOneIsReached(t *testing.T) {
	t.Parallel()

	st, _ := scorer.Read(scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20").AddTotal(2, 0, 2, "0.3").AddTotal(1,
		1, 0, "0.1").Fixture, score.State{})
	if n := st.Innings[3]; n.Target != 1 || !n.Over {
		t.Errorf("the chase has the target %d, over %v, want 1 and true", n.Target, n.Over)
	}
}

// TestInterruptionCountsOncePlayHasBegun: play has begun with an innings, or when the match
// was live.
func TestInterruptionCountsOncePlayHasBegun(t *testing.T) {
	t.Parallel()

	before, begun := func() *scoretest.Scene { return scoretest.NewScene("T20I") }, func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddInnings(1, "1 4")
	}
	for name, c := range map[string]struct {
		snapshots      []*scoretest.Scene
		stops, resumes int
	}{
		"before play, then an innings": {[]*scoretest.Scene{before().SetStatus("Int."), begun().SetStatus("Int.")}, 0, 0},
		"before play":                  {[]*scoretest.Scene{before().SetStatus("NS"), before().SetStatus("Int.")}, 0, 0},
		"live, before a ball":          {[]*scoretest.Scene{before(), before().SetStatus("Int.")}, 1, 0},
		"in an innings":                {[]*scoretest.Scene{begun(), begun().SetStatus("Int.")}, 1, 0},
		"in an innings, first seen":    {[]*scoretest.Scene{begun().SetStatus("Int.")}, 1, 0},
		"seen twice":                   {[]*scoretest.Scene{begun(), begun().SetStatus("Int."), begun().SetStatus("Int.")}, 1, 0},
		"resumed":                      {[]*scoretest.Scene{begun(), begun().SetStatus("Int."), begun()}, 1, 1},
		"resumed after an interval": {
			[]*scoretest.Scene{begun(), begun().SetStatus("Int."), begun().SetStatus("Tea Break"), begun().SetStatus("Int."), begun()},
			1,
			1,
		},
		"interrupted again":          {[]*scoretest.Scene{begun(), begun().SetStatus("Int."), begun(), begun().SetStatus("Int.")}, 2, 1},
		"live after a delayed start": {[]*scoretest.Scene{before().SetStatus("Int."), begun()}, 0, 0},
	} {
		var st score.State
		for _, s := range c.snapshots {
			st, _ = scorer.Read(s.Fixture, st)
		}

		if st.Stops != c.stops || st.Resumes != c.resumes {
			t.Errorf("%s: %d stops and %d resumes, want %d and %d", name, st.Stops, st.Resumes, c.stops, c.resumes)
		}
	}
}

func TestNineWicketsAreAllOutWithoutAnotherBatter(t *testing.T) {
	t.Parallel()

	nine := strings.Repeat("W ", 9)

	rows := func(n int) func(*sportmonks.Fixture) {
		return func(f *sportmonks.Fixture) {
			for i := range n {
				f.Batting = append(f.Batting, sportmonks.Batting{Innings: 1, PlayerID: i + 1, Sort: i},
					sportmonks.Batting{Innings: 2, PlayerID: i + 50, Sort: i})
			}
		}
	}
	for _, c := range []struct {
		name             string
		s                *scoretest.Scene
		allOut, declared bool
	}{
		{"absent batter", scoretest.NewScene("T20I").AddInnings(1, nine).AddInnings(2, "1"), true, false},
		{"last pair still in", scoretest.NewScene("T20I").AddInnings(1, nine+"1").AddInnings(2, "1"), false, false},
		{"absent batter in a Test", scoretest.NewScene("Test").AddInnings(1, nine).AddInnings(2, "1"), true, false},
		{"declared at the fall of a wicket", scoretest.NewScene("Test").AddInnings(1, strings.Repeat("6 ", 60)+nine).AddInnings(2, "1"),
			false, true},
		{"declared with the last pair in", scoretest.NewScene("Test").AddInnings(1, nine+"1 1").AddInnings(2, "1"), false, true},
		{"last pair still in, by the rows and not the balls",
			scoretest.NewScene("T20I").AddInnings(1, nine).Set(rows(11)).Set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 50 }).AddInnings(2,
				"1"), false, false},
		{"hurt batter", scoretest.NewScene("T20I").AddInnings(1, nine+"1").ChangeBall(9,
			func(b *sportmonks.Ball) { b.Score.Name, b.Score.Runs, b.OutID = "Retired Hurt", 0, b.BatterID }).Set(func(f *sportmonks.Fixture) {
			f.Runs[0].Score = 0
		}).AddInnings(2, "1"), true, false},
		{"absent batter, all balls bowled", scoretest.NewScene("T20I").AddTotal(1, 100, 9, "20").Set(rows(10)).AddInnings(2, "1"), false, false},
		{"absent batter, by the rows", scoretest.NewScene("T20I").AddTotal(1, 100, 9, "15").Set(rows(10)).AddInnings(2, "1"), true, false},
		{"last pair still in, by the rows", scoretest.NewScene("T20I").AddTotal(1, 100, 9, "15").Set(rows(11)).AddInnings(2, "1"), false, false},
		{"eight wickets and one batter", scoretest.NewScene("T20I").AddTotal(1, 100, 8, "15").Set(rows(9)).AddInnings(2, "1"), false, false},
		{"absent batter, cut short by rain", scoretest.NewScene("T20I").AddTotal(1, 100, 9, "15").Set(rows(10)).Set(func(f *sportmonks.Fixture) {
			f.RPCTarget = 90
		}).AddInnings(2, "1"), false, false},
		{"declared by the note", scoretest.NewScene("Test").AddInnings(1, nine).SetStatus("Innings Break").Set(func(f *sportmonks.Fixture) {
			f.Note = "Home declared at 0/9"
		}), false, true},
	} {
		st, _ := scorer.Read(c.s.Fixture, score.State{})

		n := st.Innings[0]
		if n.AllOut != c.allOut || n.Declared != c.declared {
			t.Errorf("%s: innings %+v, want all out %t, declared %t", c.name, n, c.allOut, c.declared)
		}
	}
}

func TestBallsGiveBattersAndBowler(t *testing.T) {
	t.Parallel()
	st := scoretest.NewScene("T20I").AddInnings(1, "1 4 wd 6 nb W . 2lb").Read(t)
	// Batter 3 came in for batter 1, who made 11 off 4 and a no-ball.
	want := []score.Batter{{ID: "103", Name: "Batter 3", Balls: 2}, {ID: "102", Name: "Player 102", OnStrike: true}}
	if diff := cmp.Diff(want, st.Batters); diff != "" {
		t.Errorf("batters (-want +got):\n%s", diff)
	}

	if w := st.LastWicket; w.Text() != "Batter 1 b Bowler 0 11 (5)" || w.Number != 1 || w.BallID != 1005 {
		t.Errorf("wicket %+v with the text %q", w, w.Text())
	}

	if b := st.Bowler; b != (score.Bowler{ID: "900", Name: "Bowler 0", Overs: "1", Runs: 13, Wickets: 1}) {
		t.Errorf("bowler %+v", b)
	}

	if st.Partnership != (score.Partnership{Runs: 2, Balls: 2}) {
		t.Errorf("partnership %+v", st.Partnership)
	}

	if got := strings.Join(st.ThisOver, " "); got != "1 4 wd 6 nb W . 2lb" {
		t.Errorf("this over %q", got)
	}

	if got := strings.Join(st.LastSix, " "); got != "wd 6 nb W . 2lb" {
		t.Errorf("last six %q", got)
	}

	if e := st.Innings[0].Extras; e != (score.Extras{Wides: 1, NoBalls: 1, LegByes: 2}) || e.Total() != 4 {
		t.Errorf("extras %+v", e)
	}
	// Byes do not count for the bowler: an over of byes is a maiden. A wide does.
	for over, want := range map[string]score.Bowler{
		". . 1b . . 4lb":  {Overs: "1", Maidens: 1},
		". . 1 . . .":     {Overs: "1", Runs: 1},
		". . wd . . . .":  {Overs: "1", Runs: 1},
		". . . . .":       {Overs: "0.5"},
		". wd . . nb . .": {Overs: "0.5", Runs: 2}, // neither is a ball of the over
	} {
		want.ID, want.Name = "900", "Bowler 0"
		if diff := cmp.Diff(want, scoretest.NewScene("T20I").AddInnings(1, over).Read(t).Bowler); diff != "" {
			t.Errorf("bowler of the balls %q (-want +got):\n%s", over, diff)
		}
	}
}

// TestOversOfABowler: an over counts if the bowler alone bowled it and it is complete, with however
// many balls. Of all others the balls count.
func TestOversOfABowler(t *testing.T) {
	t.Parallel()

	whole := "1 1 1 2 2 2 . . . . . . "
	for name, c := range map[string]struct {
		balls string
		other []int // the balls of another bowler
		at    []sportmonks.Overs
		want  string // overs, maidens and runs
	}{
		"one over":                       {whole[:12], nil, nil, "1 0 9"},
		"and a ball":                     {whole + "4", nil, nil, "1.1 0 13"},
		"another began the over":         {whole[:12], []int{0, 1, 2}, nil, "0.3 0 6"},
		"another ended it":               {whole + "4", []int{3, 4, 5}, nil, "0.4 0 7"},
		"parts of two overs are an over": {whole + ". . .", []int{3, 4, 5}, nil, "1 0 3"},
		"of too few balls": {whole, nil,
			[]sportmonks.Overs{
				{Overs: 0, Balls: 1},
				{Overs: 0, Balls: 2},
				{Overs: 0, Balls: 3},
				{Overs: 0, Balls: 4},
				{Overs: 0, Balls: 5},
				{Overs: 1, Balls: 1},
				{Overs: 1, Balls: 2},
				{Overs: 1, Balls: 3},
				{Overs: 1, Balls: 4},
				{Overs: 1, Balls: 5},
				{Overs: 1, Balls: 6},
				{Overs: 2, Balls: 1},
			}, "1.1 0 7"},
	} {
		s := scoretest.NewScene("T20I").AddInnings(1, c.balls)
		for i := range s.Balls {
			b := &s.Balls[i]
			if c.at != nil {
				b.At = c.at[i]
			}

			b.BowlerID = 900 + b.At.Overs%2
			if slices.Contains(c.other, i) {
				b.BowlerID = 950
			}
		}

		st, _ := scorer.Read(s.Fixture, score.State{})
		if got := fmt.Sprintf("%s %d %d", st.Bowler.Overs, st.Bowler.Maidens, st.Bowler.Runs); got != c.want || st.Bowler.ID != "900" {
			t.Errorf("%s: bowler %s has %q, want 900 with %q", name, st.Bowler.ID, got, c.want)
		}
	}
}

// TestWicketsOfEachDismissal lists the dismissals of laws 32 to 40: whether the bowler has the
// wicket, and who faces next. The new batter does, unless the batters may have crossed.
func TestWicketsOfEachDismissal(t *testing.T) {
	t.Parallel()

	type after struct {
		Wickets int
		Striker string
	}

	for name, want := range map[string]after{
		"Clean Bowled":          {1, "103"},
		"Catch Out":             {1, "103"},
		"LBW Out":               {1, "103"},
		"Stump Out":             {1, "103"},
		"Hit Wicket":            {1, "103"},
		"Run Out":               {0, ""},
		"Retired Out":           {0, "103"},
		"Obstructing the Field": {0, ""},
		"Timed Out":             {0, "103"},
		"Handled the Ball":      {0, "103"},
		"Hit the Ball Twice":    {0, "103"},
	} {
		for _, ball := range []string{"W", "1W"} {
			s := scoretest.NewScene("T20I").AddInnings(1, ball).ChangeBall(0, func(b *sportmonks.Ball) { b.Score.Name = name })
			s.Batting = []sportmonks.Batting{
				{Innings: 1, PlayerID: 101, Sort: 1, Out: true}, {Innings: 1, PlayerID: 103, Sort: 3},
				{Innings: 1, PlayerID: 104, Sort: 4, Out: true}, // never at the crease
				{Innings: 1, PlayerID: 102, Sort: 5},
			}
			st := s.Read(t)

			got := after{Wickets: st.Bowler.Wickets}
			for _, b := range st.Batters {
				if b.OnStrike {
					got.Striker = b.ID
				}
			}

			if diff := cmp.Diff(want, got); diff != "" || st.Innings[0].Wickets != 1 {
				t.Errorf("%s of %s: %d wickets of the innings, want 1; of the bowler and the striker (-want +got):\n%s", name,
					ball, st.Innings[0].Wickets, diff)
			}
		}
	}
}

// TestStrikeAfterEachKindOfBall bowls one ball to 101, with 102 at the other end.
func TestStrikeAfterEachKindOfBall(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		ball string
		last bool // ball of the over
		want string
	}{
		{".", false, "101"}, {"1", false, "102"}, {"2", false, "101"}, {"3", false, "102"}, {"4", false, "101"},
		{"1b", false, "102"}, {"2lb", false, "101"}, {"wd", false, "101"}, {"2wd", false, "102"}, {"5wd", false, "101"},
		{"nb", false, "101"}, {"2nb", false, "102"}, {"3nb", false, "101"},
		{".", true, "102"}, {"1", true, "101"}, {"wd", true, "101"},
		{"W", false, ""}, {"W", true, "102"},
	} {
		balls := c.ball
		if c.last {
			balls = ". . . . . " + c.ball
		}

		facing := ""

		for _, b := range scoretest.NewScene("T20I").AddInnings(1, balls).Read(t).Batters {
			if b.OnStrike {
				facing = b.ID
			}
		}

		if facing != c.want {
			t.Errorf("%s (last ball of the over: %t): on strike is %q, want %q", c.ball, c.last, facing, c.want)
		}
	}
	// A no-ball of The Hundred is two runs, of which the feed may list one as a bye.
	for _, c := range []struct {
		kind                  string
		runs, noBallRuns, bye int
		want                  string
	}{
		{"T20I", 1, 1, 1, "102"},
		{"T20I", 1, 1, 0, "101"},
		{"The Hundred", 1, 1, 0, "101"},
		{"The Hundred", 1, 1, 1, "101"},
		{"The Hundred", 1, 1, 2, "102"},
		{"The Hundred", 2, 1, 1, "102"},
		{"The Hundred", 2, 2, 1, "102"},
		{"The Hundred", 2, 2, 0, "101"},
	} {
		s := scoretest.NewScene(c.kind).AddInnings(1, "nb").ChangeBall(0,
			func(b *sportmonks.Ball) { b.Score.Runs, b.Score.NoBallRuns, b.Score.Bye = c.runs, c.noBallRuns, c.bye })

		st, _ := scorer.Read(s.Fixture, score.State{})
		if i := slices.IndexFunc(st.Batters, func(b score.Batter) bool { return b.OnStrike }); i < 0 || st.Batters[i].ID != c.want {
			t.Errorf("%s, a no-ball of %d runs and %d byes, %d for the no-ball: batters %+v, want %s on strike", c.kind, c.runs, c.bye,
				c.noBallRuns, st.Batters, c.want)
		}
	}
	// The Hundred changes ends after every ten balls.
	for balls, want := range map[int]string{4: "101", 5: "101", 9: "101", 10: "102", 15: "101", 20: "102"} {
		i := slices.IndexFunc(scoretest.NewScene("The Hundred").AddInningsOf(1, 5, strings.Repeat(". ", balls)).Read(t).Batters,
			func(b score.Batter) bool { return b.ID == want && b.OnStrike })
		if i < 0 {
			t.Errorf("after %d balls of The Hundred %s is not on strike", balls, want)
		}
	}
	// After a run out the striker is unknown. The batting rows have the new batter.
	s := scoretest.NewScene("T20I").AddInnings(1, "1W")
	s.Balls[0].Score.Name = "Run Out + 1 Run"
	s.Batting = []sportmonks.Batting{
		{Innings: 1, PlayerID: 101, Sort: 1, Out: true},
		{Innings: 1, PlayerID: 102, Sort: 2},
		{Innings: 1, PlayerID: 103, Sort: 3},
	}

	st := s.Read(t)
	if len(st.Batters) != 2 || st.Batters[0].ID != "103" || st.Batters[0].OnStrike || st.Batters[1].OnStrike || st.Bowler.Wickets != 0 {
		t.Errorf("after a run out: batters %+v and bowler %+v, want no striker and no wicket of the bowler", st.Batters, st.Bowler)
	}

	if st.LastSix[0] != "1W" {
		t.Errorf("the ball is displayed as %q, want 1W", st.LastSix[0])
	}
}

func TestTimelineListsEachBallOnce(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("T20I").AddInnings(1, "1 4 W").AddInnings(2, "wd 2nb 1lb 3b 1b")
	out := &s.Balls[2]
	out.Score.Name, out.CatchID = "Catch Out", 77
	s.Lineup = []sportmonks.Member{
		{ID: 77, Name: "Keen Fielder"},
		{ID: 101, Name: "Listed"},
		{ID: 900, Name: "Listed"},
		{ID: 201, Name: "Opener"},
		{ID: 901, Name: "Seamer"},
	}
	again := s.Balls[1]
	again.Score.Runs = 2
	s.Balls = append([]sportmonks.Ball{s.Balls[6], again, {ID: 0, Innings: 1}, {ID: 9}}, s.Balls...)
	s.Balls[len(s.Balls)-1].Batter.Name, s.Balls[len(s.Balls)-1].Bowler.Name = "", ""

	var got, names []string
	for _, b := range scorer.Balls(s.Fixture) {
		got = append(got, fmt.Sprint(b.ID, " ", b.At, " ", b.Glyph, " ", b.Runs, b.Bat, " ", b.Extra, b.Wicket))

		names = append(names, b.Batter+" of "+b.Bowler)
		if want := b.ID / 1000; b.Innings != want {
			t.Errorf("ball %d is of innings %d, want %d", b.ID, b.Innings, want)
		}
	}

	want := []string{
		"1000 0.1 1 1 1 ", "1001 0.2 4 4 4 ", "1002 0.3 W 0 0 Listed c Keen Fielder b Bowler 0",
		"2000 0.1 wd 1 0 wide", "2001 0.1 2nb 2 1 noBall", "2002 0.1 1lb 1 0 legBye", "2003 0.2 3b 3 0 bye", "2004 0.3 1b 1 0 bye",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("balls (-want +got):\n%s", diff)
	}
	// A player has the name of the ball, or else of the lineup.
	want = []string{
		"Batter 1 of Bowler 0", "Batter 1 of Bowler 0", "Batter 1 of Bowler 0",
		"Batter 1 of Bowler 0", "Batter 1 of Bowler 0", "Batter 1 of Bowler 0", "Batter 1 of Bowler 0", "Opener of Listed",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestStatusesGiveDayAndSession follows a Test match through its statuses.
func TestStatusesGiveDayAndSession(t *testing.T) {
	t.Parallel()

	st := score.State{}

	for _, step := range [][2]string{
		{"NS", "Not started"},
		{"1st Innings", "Day 1, session 1"},
		{"Lunch", "Lunch"},
		{"Lunch", "Lunch"},
		{"Lunch", "Lunch"},
		{"1st Innings", "Day 1, session 2"},
		{"Int.", "Play interrupted"},
		{"1st Innings", "Day 1, session 2"},
		{"Tea Break", "Tea"},
		{"1st Innings", "Day 1, session 3"},
		{"Dinner", "Dinner"},
		{"1st Innings", "Day 1, session 3"},
		{"Stump Day 1", "Stumps, day 1"},
		{"Int.", "Play interrupted"},
		{"1st Innings", "Day 2, session 1"},
		{"Stump Day 2", "Stumps, day 2"},
	} {
		s := scoretest.NewScene("Test").SetStatus(step[0])
		if step[0] != "NS" {
			s = scoretest.NewScene("Test").AddTotal(1, 10, 0, "4").SetStatus(step[0])
		}

		st, _ = scorer.Read(s.Fixture, st)
		if st.Status != step[1] {
			t.Fatalf("status %s is displayed as %q, want %q", step[0], st.Status, step[1])
		}
	}
}

// TestMatchOfADayResumesOnItsReserveDay: after a night, not after rain or an interval.
func TestMatchOfADayResumesOnItsReserveDay(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status string
		pause  time.Duration
		want   int
	}{
		"rain for seven hours":     {"Int.", 7 * time.Hour, 0},
		"a break between innings":  {"Innings Break", 45 * time.Minute, 0},
		"rain, and a night":        {"Int.", 18 * time.Hour, 2},
		"stumps, as a Test has":    {"Stump Day 1", 18 * time.Hour, 2},
		"a night without a status": {"NS", 18 * time.Hour, 2},
	} {
		st, now := score.State{}, time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		read := func(status string, after time.Duration) {
			now = now.Add(after)
			f := scoretest.NewScene("ODI").AddTotal(1, 10, 0, "4").SetStatus(status).Fixture
			f.AskedAt = now
			st, _ = scorer.Read(f, st)
		}

		read("1st Innings", 0)
		read(c.status, time.Hour)
		read(c.status, c.pause/2)
		read("1st Innings", c.pause/2)

		if st.Day != c.want || st.Status != "1st innings" || st.Pause != (score.Pause{}) {
			t.Errorf("%s: day %d, status %q, pause %+v; want day %d of a 1st innings", name, st.Day, st.Status, st.Pause, c.want)
		}

		read("Int.", time.Hour)
		read("2nd Innings", time.Hour)

		if st.Day != c.want {
			t.Errorf("%s: after another hour of rain it is day %d, want %d", name, st.Day, c.want)
		}
	}
}

func TestFiveRunsWithoutABallArePenaltyRuns(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		balls   string
		more    int // runs of the total that no ball has
		wickets int
		penalty int // -1 if the balls do not add up
	}{
		{"1 4 W", 0, 1, 0},
		{"1 4 W", 5, 1, 5},
		{"1 4 W", 10, 1, 10},
		{"1", 0, 0, 0},
		{"1", 5, 0, 5},
		{"1 4 W", 4, 1, -1},
		{"1 4 W", 6, 1, -1},
		{"1 4 W", 11, 1, -1},
		{"1 4 W", -5, 1, -1},
		{"1 4 W", 0, 2, -1},
		{"1 4 W", 0, 0, -1},
		{"1", 1, 0, -1},
	} {
		s := scoretest.NewScene("T20I").AddInnings(1, c.balls)
		s.Runs[0].Score += c.more
		s.Runs[0].Wickets = c.wickets
		st, problems := scorer.Read(s.Fixture, score.State{})

		n := st.Innings[0]
		if want := s.Runs[0].Score; n.Runs != want || n.Extras.Penalty != max(c.penalty, 0) || n.Explained != (c.penalty >= 0) {
			t.Errorf("%q and %d runs, %d wickets: %+v, want %d runs with the penalty %d", c.balls, c.more, c.wickets, n, want, c.penalty)
		}

		if kinds := fmt.Sprint(problems); len(problems) != 1 && c.penalty < 0 || len(problems) != 0 && c.penalty >= 0 ||
			len(problems) == 1 && problems[0].Kind != scorer.Disagreement {
			t.Errorf("%q and %d runs, %d wickets: problems %s, want a disagreement only if the balls do not add up",
				c.balls, c.more, c.wickets, kinds)
		}
	}
}

// TestScoreboardsGiveExtrasWithoutBalls: those of the row "extra" of the innings, unless the balls
// add up to the total.
func TestScoreboardsGiveExtrasWithoutBalls(t *testing.T) {
	t.Parallel()

	want := score.Extras{Wides: 1, NoBalls: 2, Byes: 3, LegByes: 4, Penalty: 5}
	for name, c := range map[string]struct {
		s    *scoretest.Scene
		want score.Extras
	}{
		"a total": {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), want},
		"balls that do not do": {scoretest.NewScene("T20I").AddInnings(1, "wd 1").Set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 30 }),
			want},
		"balls":                  {scoretest.NewScene("T20I").AddInnings(1, "wd 1"), score.Extras{Wides: 1}},
		"those of other innings": {scoretest.NewScene("T20I").AddTotal(1, 30, 0, "5"), score.Extras{}},
	} {
		boards := []sportmonks.Scoreboard{
			{Innings: 1, Type: "extra", Wide: 1, NoBall: 2, Bye: 3, LegBye: 4, Penalty: 5},
			{Innings: 1, Type: "total", Wide: 9, NoBall: 9, Bye: 9, LegBye: 9, Penalty: 9},
			{Innings: 2, Type: "extra", Wide: 8, NoBall: 8, Bye: 8, LegBye: 8, Penalty: 8},
		}
		if c.s.Scoreboards = boards; name == "those of other innings" {
			c.s.Scoreboards = boards[1:]
		}

		st, _ := scorer.Read(c.s.Fixture, score.State{})
		if diff := cmp.Diff(c.want, st.Innings[0].Extras); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBallsGiveAnInningsWithoutARow: its team, score and overs.
func TestBallsGiveAnInningsWithoutARow(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("T20I").AddInnings(2, "1 4 W")
	s.Runs = nil

	n := s.Read(t).Innings
	if len(n) != 1 || n[0].Number != 1 || n[0].TeamID != "2" || n[0].Runs != 5 || n[0].Wickets != 1 || n[0].Overs != "0.3" || n[0].Balls != 3 {
		t.Errorf("innings %+v, want one of team 2 with 5/1 in 0.3", n)
	}
}

// TestCapturedMatches reads two live matches that were recorded from the provider.
func TestCapturedMatches(t *testing.T) {
	t.Parallel()

	entries, err := sportmonks.Split(samples.Read(t, "sportmonks/livescores-71344-71010.assembled.json"))
	if err != nil {
		t.Fatal(err)
	}

	var got []string

	for _, e := range entries {
		f, err := sportmonks.Decode(e.Raw)
		if err != nil {
			t.Fatal(err)
		}

		st, _ := scorer.Read(f, score.State{})

		b, err := v2.Marshal(st.For(""))
		if err != nil {
			t.Fatal(err)
		}

		got = append(got, string(b))
	}

	want := []string{
		`{"phase":"live","format":"t20","status":"2nd innings","headline":"PAK need 173 from 112","detail":"Target 183",` +
			`"local":{"name":"Pakistan","code":"PAK","score":"10/0","overs":"1.2","batting":true},"visitor":{"name":"Sri Lanka","code":"SL","score":"182/8","overs":"20"},` +
			`"batters":[{"name":"Sahibzada Farhan","runs":5,"balls":5,"fours":1},{"name":"Fakhar Zaman","runs":4,"balls":3,"fours":1,"strike":true}],` +
			`"bowler":{"name":"Dushmantha Chameera","figures":"0-4 (0.2)"},"lastSix":["1","1lb","4",".",".","4"],"runRate":"7.50","requiredRate":"9.27","target":183,"needRuns":173,"needBalls":112,"partnership":"10 (8)","spoken":"Pakistan 10 for 0 after 1.2 overs. Pakistan need 173 runs from 112 balls."}`,
		`{"phase":"live","format":"t20","status":"1st innings","headline":"IND batting","detail":"West Indies won the toss and chose to field",` +
			`"local":{"name":"India","code":"IND","score":"226/4","overs":"18.4","batting":true},"visitor":{"name":"West Indies","code":"WI"},` +
			`"batters":[{"name":"Player 2813","runs":42,"balls":16,"fours":4,"sixes":3},{"name":"Player 8370","runs":24,"balls":13,"fours":3}],` +
			`"runRate":"12.11","partnership":"64 (25)","lastWicket":"Player 2900 82 (41)","spoken":"India 226 for 4 after 18.4 overs."}`,
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("display %d\ngot  %s\nwant %s", i, got[i], want[i])
		}
	}
}

// anyState draws a state.
func anyState(t *rapid.T) score.State {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>&"\\]{0,300}`),
		rapid.SampledFrom([]string{"", "1", "2", strings.Repeat("é😀", 200)}))
	num := rapid.OneOf(rapid.IntRange(-3, 400), rapid.Int())

	s := score.State{
		Format: score.Format(rapid.SampledFrom([]string{"t20", "test", "hundred", ""}).Draw(t, "format")),
		Phase:  sportmonks.Phase(rapid.SampledFrom([]string{"upcoming", "live", "break", "stumps", "result", "closed"}).Draw(t, "phase")),
		Status: text.Draw(t, "status"), Round: text.Draw(t, "round"), Pending: rapid.Bool().Draw(t, "pending"),
		Local:   score.Team{ID: "1", Name: text.Draw(t, "name"), Code: text.Draw(t, "code")},
		Visitor: score.Team{ID: "2", Name: text.Draw(t, "name"), Code: text.Draw(t, "code")},
		Toss:    score.Toss{WinnerID: text.Draw(t, "toss"), Text: text.Draw(t, "tossText")},
		Bowler:  score.Bowler{Name: text.Draw(t, "bowler"), Overs: text.Draw(t, "overs"), Runs: num.Draw(t, "n"), Wickets: num.Draw(t, "n")},
		RunRate: text.Draw(t, "rate"), NeedRate: text.Draw(t, "rate"),
		Target:     score.Target{Runs: num.Draw(t, "target"), Overs: text.Draw(t, "overs"), Revised: rapid.Bool().Draw(t, "revised")},
		Need:       score.Need{TeamID: text.Draw(t, "team"), Runs: num.Draw(t, "need"), Balls: num.Draw(t, "need")},
		Lead:       num.Draw(t, "lead"),
		LastWicket: score.Wicket{Name: text.Draw(t, "out"), Runs: num.Draw(t, "n"), Balls: num.Draw(t, "n")},
		LastSix:    rapid.SliceOfN(text, 0, 9).Draw(t, "six"),
	}
	for n := range rapid.IntRange(0, 6).Draw(t, "innings") {
		s.Innings = append(s.Innings, score.Innings{
			Number:    n + 1,
			TeamID:    rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "side"),
			Runs:      num.Draw(t, "runs"),
			Wickets:   num.Draw(t, "wickets"),
			Overs:     text.Draw(t, "overs"),
			Target:    num.Draw(t, "target"),
			AllOut:    rapid.Bool().Draw(t, "allOut"),
			Declared:  rapid.Bool().Draw(t, "declared"),
			SuperOver: rapid.Bool().Draw(t, "superOver"),
			Over:      rapid.Bool().Draw(t, "over"),
		})
		s.Current = n + 1
	}

	for range rapid.IntRange(0, 3).Draw(t, "batters") {
		s.Batters = append(s.Batters, score.Batter{
			Name:     text.Draw(t, "batter"),
			Runs:     num.Draw(t, "n"),
			Balls:    num.Draw(t, "n"),
			Fours:    num.Draw(t, "n"),
			Sixes:    num.Draw(t, "n"),
			OnStrike: rapid.Bool().Draw(t, "strike"),
		})
	}

	if rapid.Bool().Draw(t, "over") {
		s.Result = score.Result{
			Kind:     score.Outcome(rapid.SampledFrom([]string{"won", "tied", "drawn", "noResult", "unknown", "?"}).Draw(t, "kind")),
			WinnerID: rapid.SampledFrom([]string{"1", "2", "3", ""}).Draw(t, "winner"), Runs: num.Draw(t, "n"), Wickets: num.Draw(t, "n"),
			Method: text.Draw(t, "method"), Text: text.Draw(t, "text"),
		}
	}

	return s
}

// TestDisplayIsUnder2KB also checks that no JSON member is null, and that two displays have
// the same hash if and only if they are equal.
func TestDisplayIsUnder2KB(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyState(t), anyState(t)
		if rapid.Bool().Draw(t, "same") {
			b = a
			b.LastBall, b.Held, b.Note = 7, 3, "not displayed"
		}

		for _, id := range []string{"1", "2", "", "9"} {
			x, y := a.For(id), b.For(id)
			if (x.Hash() == y.Hash()) != reflect.DeepEqual(x, y) {
				t.Fatalf("hashes %s and %s of displays that differ by (-first +second):\n%s", x.Hash(), y.Hash(), cmp.Diff(x, y))
			}

			one, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}

			two, err := v2.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}

			if len(one) >= 2048 || len(two) >= 2048 || strings.Contains(string(two), "null") && !strings.Contains(fmt.Sprint(a), "null") {
				t.Fatalf("the display has %d and %d bytes, want less than 2048, and no null: %s", len(one), len(two), two)
			}

			var back score.Display
			if err := json.Unmarshal(two, &back); err != nil || !reflect.DeepEqual(back, x) {
				t.Fatalf("the display after JSON: error %v (-want +got):\n%s", err, cmp.Diff(x, back))
			}
		}

		if a.For("9").Hash() != a.For("").Hash() {
			t.Fatal("the display for a team that does not play is not neutral")
		}
	})
}

// TestAnySequenceOfSnapshots checks that Read does not panic, that the score is the
// provider's total, that only a status ends a match, and that a state survives JSON.
func TestAnySequenceOfSnapshots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := score.State{}

		for range rapid.IntRange(1, 4).Draw(t, "polls") {
			f := scoretest.DrawFixture(t)
			was := st

			final := rapid.Bool().Draw(t, "final")
			if final {
				st, _ = scorer.Final(f, was)
			} else {
				st, _ = scorer.Read(f, was)
			}

			if st.Held == 0 {
				rows := map[int]sportmonks.Runs{}
				for _, row := range f.Runs {
					rows[row.Innings] = row
				}

				for _, n := range st.Innings {
					if row, ok := rows[n.Number]; ok && (n.Runs != row.Score || n.Wickets != row.Wickets) {
						t.Fatalf("innings %+v, want the runs and wickets of %+v", n, row)
					}
				}
			}

			phase, known := f.Phase()

			over := st.Phase == sportmonks.Result || st.Phase == sportmonks.Closed
			if over && st.Held == 0 && phase != sportmonks.Result && phase != sportmonks.Closed && (known || was.Phase != st.Phase) {
				t.Fatalf("status %q ended the match: %+v", f.Status, st)
			}

			if over != !st.Result.IsZero() && known && st.Held == 0 {
				t.Fatalf("phase %s has the result %+v", st.Phase, st.Result)
			}

			b, err := v2.Marshal(st)
			if err != nil {
				t.Fatal(err)
			}

			var back score.State
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(st, back); diff != "" {
				t.Fatalf("the state after JSON (-want +got):\n%s", diff)
			}

			for _, id := range []string{"", "1", "2"} {
				if st.For(id).Headline == "" && f.Status != "" && f.Status != "?" {
					t.Fatalf("the display has no headline: %+v", st)
				}
			}

			scorer.Balls(f)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":1,"type":"T20I","status":"2nd Innings","localteam_id":1,"visitorteam_id":2,"runs":[{"inning":1,"team_id":1,"score":182,"overs":20}],"balls":[{"id":1,"scoreboard":"S2","ball":0.1,"score":{"name":"1 Wide","runs":1}}]}`))
	f.Add(body("Test/5day", 2, 13)[9:])
	f.Fuzz(func(t *testing.T, raw []byte) {
		fx, err := sportmonks.Decode(raw)
		if err != nil {
			return
		}

		st, _ := scorer.Read(fx, score.State{})
		again, _ := scorer.Read(fx, st)
		scorer.Final(fx, again)
		scorer.Balls(fx)
		scoretest.CheckTexts(t, event.List(fx, again))

		for _, id := range []string{"", "1", "2"} {
			if b, err := v2.Marshal(again.For(id)); err != nil || len(b) >= 2048 {
				t.Fatalf("the display has %d bytes, error %v; want less than 2048", len(b), err)
			}
		}
	})
}
