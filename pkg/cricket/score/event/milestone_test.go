package event_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// bowledBy has the balls from one index to another bowled by a player.
func bowledBy(id, from, to int) func(*sportmonks.Fixture) {
	return func(f *sportmonks.Fixture) {
		for i := from; i < to; i++ {
			f.Balls[i].BowlerID, f.Balls[i].Bowler = id, sportmonks.Player{ID: id, Name: "Bowler " + score.IDText(id)}
		}
	}
}

func named(name string) func(*sportmonks.Ball) {
	return func(b *sportmonks.Ball) { b.Score.Name = name }
}

// elevens names so many players of each side.
func elevens(local, visitor int) func(*sportmonks.Fixture) {
	return func(f *sportmonks.Fixture) {
		for n := range local {
			f.Lineup = append(f.Lineup, sportmonks.Member{ID: 1 + n, Name: "L", TeamID: 1})
		}

		for n := range visitor {
			f.Lineup = append(f.Lineup, sportmonks.Member{ID: 21 + n, Name: "V", TeamID: 2})
		}
	}
}

// TestMilestonesOfBowlersAndSides lists situations and their events of one kind.
func TestMilestonesOfBowlersAndSides(t *testing.T) {
	t.Parallel()

	scene := func(balls string) *scoretest.Scene { return scoretest.NewScene("T20I").AddInnings(1, balls) }
	const named11 = "lineup | The playing XIs are named | Home v Away"

	for _, c := range []struct {
		name string
		kind event.Kind
		s    *scoretest.Scene
		want []string
	}{
		{"three in three", event.HatTrick, scene("1 W W W"), []string{"S1:hatTrick:900 | Hat-trick for Bowler 0 | 3-1 · Home 1/3 (0.4)"}},
		{"four in four is one", event.HatTrick, scene("W W W W"), []string{"S1:hatTrick:900 | Hat-trick for Bowler 0 | 3-0 · Home 0/3 (0.3)"}},
		{"across overs of two bowlers", event.HatTrick, scene(". . . . W W . . . . . . W"),
			[]string{"S1:hatTrick:900 | Hat-trick for Bowler 0 | 3-0 · Home 0/3 (2.1)"}},
		{"of two bowlers", event.HatTrick, scene(". . . . W W W"), nil},
		{"with a run out", event.HatTrick, scene("W W W").ChangeBall(1, named("Run Out")), nil},
		{"with a wide", event.HatTrick, scene("W W wd W"), nil},
		{"stumped off a wide", event.HatTrick, scene("W W wd").ChangeBall(2, func(b *sportmonks.Ball) {
			b.Score.Name, b.Score.Wicket, b.OutID = "1 Wide + Stump Out", true, b.BatterID
		}).Set(func(f *sportmonks.Fixture) { f.Runs[0].Wickets = 3 }), []string{"S1:hatTrick:900 | Hat-trick for Bowler 0 | 3-1 · Home 1/3 (0.2)"}},
		{"balls that do not add up", event.HatTrick, scene("W W W").Set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 40 }), nil},

		{"five", event.FiveWickets, scene("W 1 W W W 2 W").Set(bowledBy(900, 0, 7)),
			[]string{"S1:fiveWickets:900 | Five wickets for Bowler 900 | 5-3 · Home 3/5 (1.1)"}},
		{"four and a run out", event.FiveWickets, scene("W 1 W W W 2 W").Set(bowledBy(900, 0, 7)).ChangeBall(6, named("Run Out")), nil},
		{"five by the row", event.FiveWickets, scene("W 1").Set(func(f *sportmonks.Fixture) {
			f.Runs[0].Score, f.Runs[0].Wickets = 90, 6
			f.Bowling = []sportmonks.Bowling{{Innings: 1, PlayerID: 900, Wickets: 5, Runs: 31}, {Innings: 1, PlayerID: 901, Wickets: 1, Runs: 9}}
		}), []string{"S1:fiveWickets:900 | Five wickets for Bowler 0 | 5-31 · Home 90/6 (0.2)"}},

		{"elevens", event.Lineup, scoretest.NewScene("T20I").SetStatus("NS").Set(elevens(11, 11)), []string{named11}},
		{"elevens and substitutes", event.Lineup, scoretest.NewScene("T20I").SetStatus("NS").Set(elevens(16, 11)), []string{named11}},
		{"one eleven", event.Lineup, scoretest.NewScene("T20I").SetStatus("NS").Set(elevens(11, 10)), nil},
		{"ten and a substitute", event.Lineup, scoretest.NewScene("T20I").SetStatus("NS").Set(elevens(11, 11)).Set(func(f *sportmonks.Fixture) {
			f.Lineup[0].Substitute = true
		}), nil},

		{"stumps", event.Stumps, scoretest.NewScene("Test").AddTotal(1, 312, 4, "90").SetStatus("Stump Day 1"),
			[]string{"stumps:1 | Stumps, day 1: Home 312/4 | Home 312/4"}},
		{"stumps in the second innings", event.Stumps, scoretest.NewScene("Test").AddTotal(1, 312, 10, "90").AddTotal(2, 40, 1, "12").
			SetStatus("Stump Day 2"), []string{"stumps:2 | Stumps, day 2: Away 40/1 | Home 312, Away 40/1 · Away trail by 272 runs"}},
		{"lunch", event.Stumps, scoretest.NewScene("Test").AddTotal(1, 312, 4, "90").SetStatus("Lunch"), nil},
		{"stumps before the first ball", event.Stumps, scoretest.NewScene("Test").SetStatus("Stump Day 1"), nil},

		{"player of the match", event.Award, scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").
			Finish(1, "Home won by 78 runs").Set(func(f *sportmonks.Fixture) { f.ManOfMatch = sportmonks.Player{ID: 7, Name: "A Best"} }),
			[]string{"award | Player of the match: A Best | Home won by 78 runs"}},
		{"player of the match with the result", event.Result, scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").
			Finish(1, "Home won by 78 runs").Set(func(f *sportmonks.Fixture) { f.ManOfMatch = sportmonks.Player{ID: 7, Name: "A Best"} }),
			[]string{"result:won:1 | Home won by 78 runs | Home 170/6 (20), Away 92/9 (20) · Player of the match: A Best"}},
		{"player of a match that is not over", event.Award, scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").
			Set(func(f *sportmonks.Fixture) { f.ManOfMatchID = 7 }), nil},
	} {
		st, _ := scorer.Read(c.s.Fixture, score.State{})
		events := event.List(c.s.Fixture, st)
		scoretest.CheckTexts(t, events)

		if diff := cmp.Diff(c.want, scoretest.EventLines(events, c.kind)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestCloseFinish: the last two overs of a chase, with 20 runs to win or one wicket left.
func TestCloseFinish(t *testing.T) {
	t.Parallel()

	chase := func(kind string, runs, wickets int, overs string) *scoretest.Scene {
		return scoretest.NewScene(kind).AddTotal(1, 170, 6, "20").AddTotal(2, runs, wickets, overs)
	}
	line := func(score, need string) []string {
		return []string{"closeFinish | Close finish: Away " + score + " | Away need " + need}
	}

	for name, c := range map[string]struct {
		s    *scoretest.Scene
		want []string
	}{
		"20 runs from 12 balls":         {chase("T20I", 151, 6, "18"), line("151/6 (18)", "20 runs from 12 balls")},
		"1 run from 1 ball":             {chase("T20I", 170, 6, "19.5"), line("170/6 (19.5)", "1 run from 1 ball")},
		"21 runs from 12 balls":         {chase("T20I", 150, 6, "18"), nil},
		"20 runs from 13 balls":         {chase("T20I", 151, 6, "17.5"), nil},
		"40 runs, the last wicket":      {chase("T20I", 131, 9, "18"), line("131/9 (18)", "40 runs from 12 balls")},
		"40 runs, the last two wickets": {chase("T20I", 131, 8, "18"), nil},
		"in an interruption":            {chase("T20I", 151, 6, "18").SetStatus("Int."), nil},
		"chased":                        {chase("T20I", 171, 6, "18"), nil},
		"a Test":                        {chase("Test", 151, 6, "18"), nil},
		"the first innings":             {scoretest.NewScene("T20I").AddTotal(1, 170, 9, "19"), nil},
		"a super over":                  {chase("T20I", 170, 9, "20").AddTotal(2, 12, 1, "1").AddTotal(1, 3, 0, "0.2"), nil},
	} {
		st := c.s.Read(t)
		if diff := cmp.Diff(c.want, scoretest.EventLines(event.List(c.s.Fixture, st), event.CloseFinish)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEventsOfTheFirstEdition: each kind says since when it is listed.
func TestEventsOfTheFirstEdition(t *testing.T) {
	t.Parallel()

	first := "toss start wicket fifty hundred innings target rain superOver result"
	for _, k := range strings.Fields(first + " lineup fiveWickets hatTrick stumps closeFinish award") {
		want := 2
		if slices.Contains(strings.Fields(first), k) {
			want = 1
		}

		if got := (event.Event{Kind: event.Kind(k), Key: "S1:5:100"}).Since(); got != want {
			t.Errorf("%s is listed since edition %d, want %d", k, got, want)
		}
	}

	for key, want := range map[string]int{"S1:5:100": 1, "S1:5:150": 2, "S1:5:200": 2} {
		if got := (event.Event{Kind: event.Hundred, Key: key}).Since(); got != want {
			t.Errorf("%s is listed since edition %d, want %d", key, got, want)
		}
	}
}
