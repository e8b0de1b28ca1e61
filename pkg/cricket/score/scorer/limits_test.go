package scorer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// TestStatusAsShown: the words for each status of the provider.
func TestStatusAsShown(t *testing.T) {
	t.Parallel()

	t20 := func() *scoretest.Scene { return scoretest.NewScene("T20I") }
	tied := func() *scoretest.Scene { return t20().AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20") }

	test := func() *scoretest.Scene { return scoretest.NewScene("Test").AddTotal(1, 30, 0, "10") }
	for _, c := range []struct {
		scene  *scoretest.Scene
		before score.State
		want   string
	}{
		{t20().SetStatus("NS"), score.State{}, "Not started"},
		{t20().SetStatus("Delayed"), score.State{}, "Start delayed"},
		{t20().SetStatus(" Postp. "), score.State{}, "Postponed"},
		{t20(), score.State{}, "1st Innings"},
		{t20().AddTotal(1, 1, 0, "1"), score.State{}, "1st innings"},
		{t20().AddTotal(1, 1, 0, "20").AddTotal(2, 1, 0, "1"), score.State{}, "2nd innings"},
		{test().AddTotal(2, 1, 10, "1").AddTotal(1, 1, 0, "1"), score.State{}, "3rd innings"},
		{test().AddTotal(2, 1, 10, "1").AddTotal(1, 1, 10, "1").AddTotal(2, 0, 0, "1"), score.State{}, "4th innings"},
		// of five
		{test().AddTotal(2, 1, 10, "1").AddTotal(1, 1, 10, "1").AddTotal(2, 1, 10, "1").AddTotal(1, 0, 0, "1"), score.State{}, "4th innings"},
		{tied().AddTotal(2, 1, 0, "0.1"), score.State{}, "Super Over"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Innings Break"), score.State{}, "Innings break"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Lunch"), score.State{}, "Lunch"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Tea"), score.State{}, "Tea"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Tea Break"), score.State{}, "Tea"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Dinner"), score.State{}, "Dinner"},
		{t20().AddTotal(1, 1, 0, "1").SetStatus("Int."), score.State{}, "Play interrupted"},
		{test().SetStatus("Stump Day 2"), score.State{}, "Stumps, day 2"},
		{test().SetStatus("Stump Day 0"), score.State{}, "Stumps"},
		{test(), score.State{ID: "5", Format: score.Test, Phase: sportmonks.Live, Day: 1}, "Day 1"},
		{test(), score.State{ID: "5", Format: score.Test, Phase: sportmonks.Live, Day: 1, Session: 2}, "Day 1, session 2"},
		{t20().SetStatus("Aban."), score.State{}, "Abandoned"},
		{t20().SetStatus("Cancl."), score.State{}, "Cancelled"},
		{t20().AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1, "Home won by 78 runs"), score.State{}, "Finished"},
		{t20().AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(2, "Home won by 78 runs"), score.State{}, "Awaiting result"},
	} {
		st, _ := scorer.Read(c.scene.Fixture, c.before)
		if diff := cmp.Diff(c.want, st.Status); diff != "" {
			t.Errorf("status %q of %d innings (-want +got):\n%s", c.scene.Status, len(c.scene.Runs), diff)
		}
	}
}

// TestNoteHasATarget: the number after the word, if at most six other characters are between them.
func TestNoteHasATarget(t *testing.T) {
	t.Parallel()

	for note, want := range map[string]int{
		"Target 183 runs":                183,
		"TARGET: 99":                     99,
		"Revised target 150 in 16 overs": 150,
		"target12345":                    12345,
		"target set: 150":                150,
		"target is now 150":              101,
		"target      150":                150,
		"target       150":               101,
		"183":                            101,
		"target":                         101,
		"":                               101,
		"target 0":                       101,
		"target 1":                       1,
		"target 999999999":               999999999,
		"target 1234567891":              123456789,
	} {
		st, _ := scorer.Read(scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) { f.Note = note }).AddTotal(1, 100, 8, "20").AddTotal(2,
			0, 0, "1").Fixture, score.State{})
		if st.Target.Runs != want || st.Target.Revised != (want != 101) {
			t.Errorf("%q: the target is %+v, want %d", note, st.Target, want)
		}
	}
}

// TestOversOfASide: those of the feed, from 1 to 1,000, or those before, or those of the format; at most
// a hundred balls in The Hundred.
func TestOversOfASide(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		kind          string
		overs, before int
		want          int
	}{
		{"T20I", 0, 0, 20},
		{"T20I", -1, 0, 20},
		{"T20I", 1, 0, 1},
		{"T20I", 1000, 0, 1000},
		{"T20I", 1001, 0, 1000},
		{"T20I", 0, 16, 16},
		{"T20I", 17, 16, 17},
		{"ODI", 0, 0, 50},
		{"Test", 90, 0, 0},
		{"Other", 0, 0, 0},
		{"The Hundred", 0, 0, 20},
		{"The Hundred", 19, 0, 19},
		{"The Hundred", 25, 0, 20},
	} {
		st, _ := scorer.Read(scoretest.NewScene(c.kind).Set(func(f *sportmonks.Fixture) { f.Overs = c.overs }).Fixture,
			score.State{ID: "5", Overs: c.before})
		if st.Overs != c.want {
			t.Errorf("%s, %d overs after %d: got %d, want %d", c.kind, c.overs, c.before, st.Overs, c.want)
		}
	}
}

// TestNineWicketsMayBeADeclaration: a side of nine wickets without another batter may have declared
// a first innings from 300 runs on, a second with a lead, a later one with a lead of 200.
func TestNineWicketsMayBeADeclaration(t *testing.T) {
	t.Parallel()

	rows := func(s *scoretest.Scene, innings, n int) *scoretest.Scene {
		for i := range n {
			s.AddBatting(sportmonks.Batting{
				Innings:   innings,
				PlayerID:  i + 1,
				Sort:      i + 1,
				Out:       i < 9,
				FallScore: 10 * i,
				FallAt:    sportmonks.Overs{Overs: i + 1},
			})
		}

		return s
	}

	type end struct{ AllOut, Declared bool }

	for name, c := range map[string]struct {
		runs []int // of each innings, of Home and Away in turn; the last has nine wickets
		rows int   // of batters, of whom nine are out
		want end
	}{
		"first of 299":             {[]int{299}, 10, end{true, false}},
		"first of 300":             {[]int{300}, 10, end{false, true}},
		"second, level":            {[]int{150, 150}, 10, end{true, false}},
		"second, leads by one":     {[]int{150, 151}, 10, end{false, true}},
		"third, leads by 199":      {[]int{300, 200, 99}, 10, end{true, false}},
		"third, leads by 200":      {[]int{300, 200, 100}, 10, end{false, true}},
		"second, behind by most":   {[]int{300, 99}, 10, end{true, false}},
		"two batters are left":     {[]int{299}, 11, end{false, true}},
		"no batter left is listed": {[]int{299}, 9, end{false, true}}, // the rows are not complete
		"no batter is listed":      {[]int{299}, 0, end{false, true}},
	} {
		s := scoretest.NewScene("Test")

		for i, runs := range c.runs {
			wickets := 10
			if i == len(c.runs)-1 {
				wickets = 9
			}

			s.AddTotal(1+i%2, runs, wickets, "60")
		}

		rows(s, len(c.runs), c.rows).SetStatus("Innings Break")
		st, _ := scorer.Read(s.Fixture, score.State{})

		n := st.Innings[len(st.Innings)-1]
		if diff := cmp.Diff(end{true, true}, end{n.Over, true}); diff != "" {
			t.Errorf("%s is not over", name)
		}

		if diff := cmp.Diff(c.want, end{n.AllOut, n.Declared}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestInningsHaveNumbers: rows of innings 1 to 99 count.
func TestInningsHaveNumbers(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("T20I")
	for _, n := range []int{-1, 0, 1, 4, 99, 100} {
		s.Runs = append(s.Runs, sportmonks.Runs{TeamID: 1, Innings: n, Score: 1})
	}

	st, _ := scorer.Read(s.Fixture, score.State{})

	var got []int
	for _, n := range st.Innings {
		got = append(got, n.Number)
	}

	if diff := cmp.Diff([]int{1, 4, 99}, got); diff != "" {
		t.Errorf("innings (-want +got):\n%s", diff)
	}
}

// TestDaysAndSessionsAreFewEnough: a match has at most nine days of three sessions.
func TestDaysAndSessionsAreFewEnough(t *testing.T) {
	t.Parallel()

	type at struct{ Day, Session int }
	for name, c := range map[string]struct {
		status string
		before score.State
		want   at
	}{
		"stumps of day 9":        {"Stump Day 9", score.State{}, at{9, 0}},
		"stumps of day 10":       {"Stump Day 10", score.State{}, at{9, 0}},
		"the first ball":         {"1st Innings", score.State{}, at{1, 1}},
		"the first ball, before": {"1st Innings", score.State{Phase: sportmonks.Upcoming}, at{1, 1}},
		"first seen in play":     {"1st Innings", score.State{Phase: sportmonks.Live}, at{0, 0}},
		"the next day":           {"1st Innings", score.State{Phase: sportmonks.Stumps, Day: 1, Session: 3}, at{2, 1}},
		"after day 8":            {"1st Innings", score.State{Phase: sportmonks.Stumps, Day: 8}, at{9, 1}},
		"after day 9":            {"1st Innings", score.State{Phase: sportmonks.Stumps, Day: 9}, at{9, 1}},
		"after an unknown day":   {"1st Innings", score.State{Phase: sportmonks.Stumps}, at{0, 0}},
		"after lunch":            {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Lunch", Day: 1, Session: 1}, at{1, 2}},
		"after tea":              {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Tea", Day: 1, Session: 2}, at{1, 3}},
		"after dinner":           {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Dinner", Day: 1, Session: 3}, at{1, 3}},
		"after an early dinner":  {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Dinner", Day: 1, Session: 1}, at{1, 2}},
		"rain after lunch":       {"Int.", score.State{Phase: sportmonks.Break, Status: "Lunch", Day: 1, Session: 1}, at{1, 2}},
		"still lunch":            {"Lunch", score.State{Phase: sportmonks.Break, Status: "Lunch", Day: 1, Session: 1}, at{1, 1}},
		"between innings":        {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Innings break", Day: 1, Session: 1}, at{1, 1}},
		"an unknown session":     {"1st Innings", score.State{Phase: sportmonks.Break, Status: "Lunch", Day: 1}, at{1, 0}},
		"finished":               {"Finished", score.State{Phase: sportmonks.Stumps, Day: 4, Session: 2}, at{4, 2}},
	} {
		c.before.ID, c.before.Format = "5", score.Test

		st, _ := scorer.Read(scoretest.NewScene("Test").AddTotal(1, 10, 0, "9.5").SetStatus(c.status).Fixture, c.before)
		if diff := cmp.Diff(c.want, at{st.Day, st.Session}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWrongStatusesEndNoSession: play that goes on soon after stumps or a meal was never over.
func TestWrongStatusesEndNoSession(t *testing.T) {
	t.Parallel()

	type at struct{ Day, Session int }

	type poll struct {
		status string
		after  time.Duration // since the poll before
	}

	second, night := 3*time.Second, 17*time.Hour
	for name, c := range map[string]struct {
		polls []poll
		want  at
	}{
		"stumps for one poll":   {[]poll{{"Stump Day 1", second}, {"1st Innings", second}}, at{1, 2}},
		"stumps of another day": {[]poll{{"Stump Day 3", second}, {"1st Innings", second}}, at{1, 2}},
		"stumps for many polls": {
			[]poll{{"Stump Day 1", second}, {"Stump Day 1", 30 * time.Minute}, {"Stump Day 1", 29 * time.Minute}, {"1st Innings", second}},
			at{1, 2},
		},
		"a status that nobody knows": {[]poll{{"Stump Day 1", second}, {"Stumps?", second}, {"1st Innings", second}}, at{1, 2}},
		"an hour of stumps":          {[]poll{{"Stump Day 1", second}, {"1st Innings", time.Hour}}, at{2, 1}},
		"a night":                    {[]poll{{"Stump Day 1", second}, {"Stump Day 1", second}, {"1st Innings", night}}, at{2, 1}},
		"a night, and a wrong status": {
			[]poll{{"Stump Day 1", second}, {"1st Innings", second}, {"Stump Day 1", second}, {"1st Innings", night}},
			at{2, 1},
		},
		"a night, and rain until lunch": {
			[]poll{{"Stump Day 1", second}, {"Int.", night}, {"Lunch", time.Hour}, {"1st Innings", time.Hour}},
			at{2, 2},
		},
		"a night, and lunch": {[]poll{{"Stump Day 1", second}, {"Lunch", night}, {"1st Innings", time.Hour}}, at{2, 2}},
		"tea for one poll":   {[]poll{{"Tea Break", second}, {"1st Innings", second}}, at{1, 2}},
		"tea":                {[]poll{{"Tea Break", second}, {"1st Innings", 20 * time.Minute}}, at{1, 3}},
		"tea, and stumps for one poll": {
			[]poll{{"Tea Break", second}, {"Stump Day 1", 10 * time.Minute}, {"Tea Break", second}, {"1st Innings", 10 * time.Minute}},
			at{1, 3},
		},
		"tea for one poll between others": {
			[]poll{{"Innings Break", second}, {"Tea Break", second}, {"Innings Break", second}, {"2nd Innings", second}},
			at{1, 2},
		},
	} {
		now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		st := score.State{ID: "5", Format: score.Test, Phase: sportmonks.Live, Status: "Day 1, session 2", Day: 1, Session: 2, Current: 1}

		for _, p := range c.polls {
			now = now.Add(p.after)
			f := scoretest.NewScene("Test").AddTotal(1, 10, 0, "9.5").SetStatus(p.status).Fixture
			f.AskedAt = now
			st, _ = scorer.Read(f, st)
		}

		if diff := cmp.Diff(c.want, at{st.Day, st.Session}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestChaseOfEachKind: the target, what is needed of whom, and the rate.
func TestChaseOfEachKind(t *testing.T) {
	t.Parallel()

	t20 := func(runs, wickets int, overs string) *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, runs, wickets, overs)
	}
	rain := func(f *sportmonks.Fixture) { f.RPCTarget, f.RPCOvers = 50, sportmonks.Overs{Overs: 5} }
	tied := func() *scoretest.Scene { return t20(141, 9, "20").AddTotal(2, 141, 7, "20") }

	test := func(third int) *scoretest.Scene {
		return scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").AddTotal(1, third, 10, "30")
	}
	for name, c := range map[string]struct {
		scene *scoretest.Scene
		want  string
	}{
		"in play":       {t20(100, 3, "15"), "0   0 0  | 6.67"},
		"complete":      {t20(182, 8, "20"), "183 20  2 183 120 9.15 | 9.10"},
		"all out early": {t20(99, 10, "15"), "100 20  2 100 120 5.00 | 6.60"},
		"cut short":     {t20(99, 3, "15").SetStatus("Innings Break"), "0   0 0  | 6.60"},
		"cut short, target noted": {t20(99, 3, "15").SetStatus("Innings Break").Set(func(f *sportmonks.Fixture) {
			f.Note = "Target 100 runs"
		}), "100 20  2 100 120 5.00 | 6.60"},
		"cut short, rain rule":      {t20(99, 3, "15").SetStatus("Innings Break").Set(rain), "50 5 revised 2 50 30 10.00 | 6.60"},
		"second innings":            {t20(182, 8, "20").AddTotal(2, 10, 0, "1.2"), "183 20  2 173 112 9.27 | 7.50"},
		"rain rule":                 {t20(182, 8, "20").Set(rain).AddTotal(2, 10, 0, "1.2"), "50 5 revised 2 40 22 10.91 | 7.50"},
		"target reached":            {t20(182, 8, "20").AddTotal(2, 183, 0, "19"), "183 20   0 0  | 9.63"},
		"all balls gone":            {t20(182, 8, "20").AddTotal(2, 180, 0, "20"), "183 20   0 0  | 9.00"},
		"super over, first":         {tied().AddTotal(2, 3, 0, "0.2"), "0   0 0  | 9.00"},
		"super over, first is over": {tied().AddTotal(2, 10, 1, "1"), "11   1 11 6  | 10.00"},
		"super over, second":        {tied().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 0, "0.2"), "11   1 5 4 7.50 | 18.00"},
		"abandoned in the break":    {t20(182, 8, "20").SetStatus("Aban."), "0   0 0  | 9.10"},
		"abandoned in the chase":    {t20(182, 8, "20").AddTotal(2, 10, 0, "1.2").SetStatus("Aban."), "183 20   0 0  | 7.50"},
		"unknown length, over":      {scoretest.NewScene("Club").AddTotal(1, 99, 3, "15").SetStatus("Innings Break"), "100   2 100 0  | 6.60"},
		"rain rule, part of an over": {t20(182, 8, "20").Set(func(f *sportmonks.Fixture) {
			f.RPCTarget, f.RPCOvers = 50, sportmonks.Overs{Overs: 5, Balls: 3}
		}).AddTotal(2, 10, 0, "1.2"), "50 5.3 revised 2 40 25 9.60 | 7.50"},
		"rain rule, fewer overs only": {t20(182, 8, "20").Set(func(f *sportmonks.Fixture) {
			f.RPCOvers = sportmonks.Overs{Overs: 19}
		}).AddTotal(2, 10, 0, "1.2"), "183 19 revised 2 173 106 9.79 | 7.50"},
		"test, first innings":     {scoretest.NewScene("Test").AddTotal(1, 10, 0, "3"), "0   0 0  | 3.33"},
		"unknown length, in play": {scoretest.NewScene("Club").AddTotal(1, 99, 3, "15"), "0   0 0  | 6.60"},
		"three innings, level": {scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 400, 10, "90").AddTotal(1, 100,
			10, "30"), "1   2 1 0  | 3.33"},
		"three innings, one behind": {scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 401, 10, "90").AddTotal(1, 100,
			10, "30"), "0   0 0  | 3.33"},
		"three innings, ahead": {test(100), "201   2 201 0  | 3.33"},
		"three innings, in play": {scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70").AddTotal(1, 10, 0, "3"),
			"0   0 0  | 3.33"},
		"fourth innings": {test(100).AddTotal(2, 1, 0, "1"), "201   2 200 0  | 1.00"},
	} {
		st, _ := scorer.Read(c.scene.Fixture, score.State{})

		revised := ""
		if st.Target.Revised {
			revised = "revised"
		}

		got := fmt.Sprintf("%d %s %s %s %d %d %s | %s", st.Target.Runs, st.Target.Overs, revised, st.Need.TeamID, st.Need.Runs,
			st.Need.Balls, st.NeedRate, st.RunRate)
		if diff := cmp.Diff(strings.Join(strings.Fields(c.want), " "), strings.Join(strings.Fields(got), " ")); diff != "" {
			t.Errorf("%s: target overs revised | team runs balls rate | run rate (-want +got):\n%s", name, diff)
		}

		// of several days only
		leads := map[string]int{
			"three innings, ahead":      200,
			"three innings, in play":    110,
			"three innings, one behind": -1,
			"fourth innings":            -199,
		}
		if st.Lead != leads[name] {
			t.Errorf("%s: the lead is %d, want %d", name, st.Lead, leads[name])
		}
	}
}

// TestTargetOfARainRule: a target of one run or more replaces that of the scores.
func TestTargetOfARainRule(t *testing.T) {
	t.Parallel()

	for given, want := range map[int]int{-1: 101, 0: 101, 1: 1, 90: 90, 120: 120} {
		s := scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 0, 0, "1").Set(func(f *sportmonks.Fixture) { f.RPCTarget = given })
		if st, _ := scorer.Read(s.Fixture, score.State{}); st.Target.Runs != want || st.Target.Revised != (want != 101) {
			t.Errorf("target %d of the feed: got %+v, want %d", given, st.Target, want)
		}
	}
}

// TestOnlyMatchesOfSeveralDaysHaveSessions: a meal of a day's match begins no day.
func TestOnlyMatchesOfSeveralDaysHaveSessions(t *testing.T) {
	t.Parallel()

	for kind, want := range map[string]int{"ODI": 0, "4day": 1} {
		st, _ := scorer.Read(scoretest.NewScene(kind).AddTotal(1, 10, 0, "4").SetStatus("Lunch").Fixture, score.State{ID: "5", Current: 1})
		if st.Day != want || st.Session != want {
			t.Errorf("%s: day %d, session %d, want %d", kind, st.Day, st.Session, want)
		}
	}
}

// TestPauseBeginsWithItsFirstSnapshot: a meal or stumps of a match that has begun, at the time at
// which the provider was asked. A break between innings is no pause. Without a time, a meal was a
// whole one.
func TestPauseBeginsWithItsFirstSnapshot(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	begun := score.State{ID: "5", Format: score.Test, Phase: sportmonks.Live, Current: 1, Day: 2, Session: 1}
	before, lunch := begun, begun
	before.Current = 0

	lunch.Phase, lunch.Status, lunch.Pause = sportmonks.Break, "Lunch", score.Pause{Since: noon.Unix() - 60, Day: 2, Session: 1}
	for name, c := range map[string]struct {
		status  string
		before  score.State
		asked   time.Time
		want    score.Pause
		session int
	}{
		"lunch":                     {"Lunch", begun, noon, score.Pause{Since: noon.Unix(), Day: 2, Session: 1}, 1},
		"stumps":                    {"Stump Day 2", begun, noon, score.Pause{Since: noon.Unix(), Day: 2, Session: 1}, 1},
		"between innings":           {"Innings Break", begun, noon, score.Pause{}, 1},
		"rain":                      {"Int.", begun, noon, score.Pause{}, 1},
		"before an innings":         {"Lunch", before, noon, score.Pause{}, 1},
		"at an unknown time":        {"Lunch", begun, time.Time{}, score.Pause{}, 1},
		"still lunch":               {"Lunch", lunch, noon, lunch.Pause, 1},
		"stumps at once":            {"Stump Day 2", lunch, noon, score.Pause{Since: noon.Unix(), Day: 2, Session: 1}, 1},
		"play after a minute":       {"1st Innings", lunch, noon, score.Pause{}, 1},
		"play at an unknown time":   {"1st Innings", lunch, time.Time{}, score.Pause{}, 2},
		"play after an hour":        {"1st Innings", lunch, noon.Add(time.Hour), score.Pause{}, 2},
		"play after five minutes":   {"1st Innings", lunch, noon.Add(4 * time.Minute), score.Pause{}, 2},
		"play a second before that": {"1st Innings", lunch, noon.Add(4*time.Minute - time.Second), score.Pause{}, 1},
	} {
		f := scoretest.NewScene("Test").AddTotal(1, 10, 0, "4").SetStatus(c.status).Fixture
		f.AskedAt = c.asked

		st, _ := scorer.Read(f, c.before)
		if diff := cmp.Diff(c.want, st.Pause); diff != "" || st.Session != c.session {
			t.Errorf("%s: session %d, want %d; pause (-want +got):\n%s", name, st.Session, c.session, diff)
		}
	}
}
