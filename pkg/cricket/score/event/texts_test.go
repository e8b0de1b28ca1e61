package event_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/words"
)

// withoutSays compares the English texts only. CheckTexts compares them with the others.
var withoutSays = cmpopts.IgnoreFields(event.Event{}, "Says")

// state returns a match of Home and Away with these innings, the last of which is the current one.
func state(format score.Format, phase sportmonks.Phase, innings ...score.Innings) score.State {
	for i := range innings {
		if innings[i].Number == 0 {
			innings[i].Number = i + 1
		}

		if innings[i].TeamID == "" {
			innings[i].TeamID = []string{"1", "2"}[i%2]
		}

		if innings[i].Overs == "" {
			innings[i].Overs = "20"
		}
	}

	s := score.State{
		Format:  format,
		Phase:   phase,
		PerOver: 6,
		Local:   score.Team{ID: "1", Name: "Home"},
		Visitor: score.Team{ID: "2", Name: "Away"},
		Innings: innings,
	}
	if n := len(innings); n > 0 {
		s.Current = innings[n-1].Number
	}

	return s
}

// TestEventsHaveAllTexts: each member of the events that no wicket, fifty or hundred is.
func TestEventsHaveAllTexts(t *testing.T) {
	t.Parallel()

	s := state(score.T20, sportmonks.Result, score.Innings{Runs: 150, Wickets: 4, Over: true, Limit: 120},
		score.Innings{Runs: 150, Wickets: 7, Over: true, Limit: 120, Target: 151})
	s.Toss, s.Stops, s.Resumes = score.Toss{WinnerID: "2", Elected: "field"}, 2, 1
	s.Target, s.Result = score.Target{Runs: 151}, score.Result{Kind: score.Tied, Text: "Match tied"}

	const match, scores = "Home v Away", "Home 150/4 (20), Away 150/7 (20)"

	toss := "Toss: Away chose to field"

	want := []event.Event{
		{Kind: event.Toss, Key: "toss:2:field", Match: match, Title: toss, Body: match, Plain: toss},
		{Kind: event.Start, Key: "start", Match: match, Title: "Play has begun", Body: match, Plain: "Play has begun.", Score: words.Verbatim(scores)},
		{Kind: event.Innings, Key: "S1:end", Match: match, Title: "End of innings: Home 150/4 (20)", Body: match},
		{Kind: event.Target, Key: "target:2:151", Match: match, Title: "Target: 151", Body: "Away need 151 runs to win"},
		{Kind: event.Rain, Key: "rain:1:stop", Match: match, Title: "Play stopped", Body: scores, Plain: "Play has stopped."},
		{
			Kind:  event.Rain,
			Key:   "rain:1:resume",
			After: "rain:1:stop",
			Match: match,
			Title: "Play resumes",
			Body:  scores,
			Plain: "Play has resumed.",
		},
		{Kind: event.Rain, Key: "rain:2:stop", Match: match, Title: "Play stopped", Body: scores, Plain: "Play has stopped."},
		{
			Kind:        event.Result,
			Key:         "result:tied:",
			Match:       match,
			Title:       "Match tied",
			Body:        scores,
			Plain:       "The match is over.",
			Provisional: true,
		},
	}
	if diff := cmp.Diff(want, event.List(sportmonks.Fixture{}, s), withoutSays); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	day := state(score.Test, sportmonks.Live, score.Innings{Runs: 150, Wickets: 4})
	day.Day = 2

	want = []event.Event{
		{Kind: event.Start, Key: "start", Match: match, Title: "Play has begun", Body: match, Plain: "Play has begun.", Score: words.Verbatim("Home 150/4")},
		{
			Kind:  event.Start,
			Key:   "start:2",
			Match: match,
			Title: "Play has begun on day 2",
			Body:  "Home 150/4",
			Plain: "Play has begun for the day.",
			Score: words.Verbatim("Home 150/4"),
		},
	}
	if diff := cmp.Diff(want, event.List(sportmonks.Fixture{}, day), withoutSays); diff != "" {
		t.Errorf("events of day 2 (-want +got):\n%s", diff)
	}

	for key, want := range map[string]bool{"start": true, "start:2": true, "started": false, "starting:2": false, "toss": false, "": false} {
		if got := event.IsStart(key); got != want {
			t.Errorf("%q is the start: %t, want %t", key, got, want)
		}
	}
}

// TestEventsOfRareStates: what is listed of states that few matches reach.
func TestEventsOfRareStates(t *testing.T) {
	t.Parallel()

	first := score.Innings{Runs: 150, Wickets: 4, Over: true, Limit: 120}
	over := func(number, runs int, ended bool) score.Innings {
		return score.Innings{Number: number, Runs: runs, Wickets: 1, SuperOver: true, Over: ended, Overs: "1", Limit: 6}
	}
	with := func(s score.State, change func(*score.State)) score.State {
		change(&s)
		return s
	}

	test := []score.Innings{{Runs: 300, AllOut: true, Over: true}, {Runs: 200, AllOut: true, Over: true}}
	for name, c := range map[string]struct {
		state score.State
		kind  event.Kind
		want  []string
	}{
		"a choice without a winner of the toss": {with(state(score.T20, sportmonks.Upcoming), func(s *score.State) { s.Toss.Elected = "bat" }),
			"", nil},
		"innings of a match that is upcoming": {with(state(score.T20, sportmonks.Upcoming, first), func(s *score.State) { s.Stops = 1 }),
			event.Start, nil},
		"stopped before the first ball": {with(state(score.T20, sportmonks.Interrupted), func(s *score.State) { s.Stops = 1 }),
			event.Start, []string{"start | Play has begun | Home v Away"}},
		"the reserve day of limited overs": {with(state(score.ODI, sportmonks.Live, first), func(s *score.State) { s.Day = 2 }),
			event.Start, []string{"start | Play has begun | Home v Away", "start:2 | Play resumes on the reserve day | Home 150/4 (20)"}},
		"day 2 in an interval": {with(state(score.Test, sportmonks.Break, first), func(s *score.State) { s.Day = 2 }),
			event.Start, []string{"start | Play has begun | Home v Away"}},
		"the second innings of a super over only": {state(score.T20, sportmonks.Live, over(4, 3, false)), event.SuperOver,
			[]string{"superOver:3 | Super Over | Home v Away"}},
		"a super over after another innings": {state(score.T20, sportmonks.Live, first, over(4, 3, false)), event.SuperOver,
			[]string{"superOver:3 | Super Over | Home 150/4 (20)"}},
		"a super over behind by the first": {state(score.T20, sportmonks.Live, first,
			score.Innings{Runs: 160, Over: true, Limit: 120, Target: 151}, over(3, 1, true)), event.Innings,
			[]string{"S1:end | End of innings: Home 150/4 (20) | Home v Away", "S2:end | End of innings: Away 160/0 (20) | Home v Away",
				"S3:end | Super Over: Home 1/1 (1) | Home v Away"}},
		"no limit, ended by the match": {state(score.Test, sportmonks.Result, score.Innings{Runs: 150, Wickets: 4, Over: true}),
			event.Innings, nil},
		"a target of a run reached": {state(score.T20, sportmonks.Live, score.Innings{Over: true, Limit: 120},
			score.Innings{Runs: 1, Over: true, Limit: 120, Target: 1}), event.Innings,
			[]string{"S1:end | End of innings: Home 0/0 (20) | Home v Away"}},
		"all out at the end of the match": {state(score.T20, sportmonks.Result,
			score.Innings{Runs: 99, Wickets: 10, AllOut: true, Over: true, Limit: 120, Overs: "15"}), event.Innings,
			[]string{"S1:end | All out: Home 99 (15) | Home v Away"}},
		"declared at the end of the match": {state(score.Test, sportmonks.Result,
			score.Innings{Runs: 99, Wickets: 3, Declared: true, Over: true}), event.Innings,
			[]string{"S1:end | Declared: Home 99/3d (20) | Home v Away"}},
		"all balls bowled, without confirmation": {with(state(score.T20, sportmonks.Live, first), func(s *score.State) { s.Pending = true }),
			event.Innings, []string{"S1:end | End of innings: Home 150/4 (20) | Home v Away"}},
		"cut short, without confirmation": {with(state(score.T20, sportmonks.Live,
			score.Innings{Runs: 150, Wickets: 4, Over: true, Limit: 120, Overs: "19.5"}), func(s *score.State) {
			s.Pending = true
		}), event.Innings, nil},
		"a target of one run": {with(state(score.T20, sportmonks.Break, first), func(s *score.State) { s.Target.Runs = 1 }),
			event.Target, []string{"target:2:1 | Target: 1 | Away need 1 run to win"}},
		"a chase by the side that batted": {with(state(score.T20, sportmonks.Live, first, score.Innings{TeamID: "1", Target: 151}),
			func(s *score.State) { s.Target.Runs = 151 }), event.Target, []string{"target:2:151 | Target: 151 | Home need 151 runs to win"}},
		"a target before the last innings": {with(state(score.Test, sportmonks.Live, test...), func(s *score.State) { s.Target.Runs = 151 }),
			event.Target, nil},
		"a result in play": {with(state(score.T20, sportmonks.Live, first),
			func(s *score.State) { s.Result = score.Result{Kind: score.Drawn, Text: "x"} }), event.Result, nil},
		"over without a result": {state(score.T20, sportmonks.Result, first), event.Result, nil},
	} {
		if diff := cmp.Diff(c.want, scoretest.EventLines(event.List(sportmonks.Fixture{}, c.state), c.kind)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLengthsOfEvents: the longest texts of an event, in bytes, and what is cut beyond them.
func TestLengthsOfEvents(t *testing.T) {
	t.Parallel()

	x := func(n int) string { return strings.Repeat("x", n) }
	named := func(home, away string, innings ...score.Innings) score.State {
		s := state(score.T20, sportmonks.Result, innings...)
		s.Local.Name, s.Visitor.Name = home, away

		return s
	}
	texts := func(s score.State, kind event.Kind) [3]string {
		for _, e := range event.List(sportmonks.Fixture{}, s) {
			if e.Kind == kind {
				return [3]string{e.Match, e.Title, e.Body}
			}
		}

		return [3]string{}
	}
	innings := func(runs int, overs string) score.Innings {
		return score.Innings{Runs: runs, Wickets: 1, Over: true, Limit: 6, Overs: overs}
	}
	long := func(text string) score.State {
		s := named("Home", "Away")
		s.Result = score.Result{Kind: score.Won, WinnerID: "1", Wickets: 5, BallsLeft: 1, Text: text}

		return s
	}
	body := func(away string) score.State {
		s := named(x(28), away, score.Innings{Runs: 1e15, Overs: "12345678"}, score.Innings{Runs: 1e15, Overs: "12345678"},
			score.Innings{Runs: 1e15, SuperOver: true}, score.Innings{Runs: 1e15, SuperOver: true})
		s.Result = score.Result{Kind: score.Tied, Text: "Match tied"}

		return s
	}

	whole := func(away string) string {
		return x(28) + " 1000000000000000/0 (12345678), " + away + " 1000000000000000/0 (12345678) · SO 1000000000000000/0 v 1000000000000000/0"
	}
	for name, c := range map[string]struct {
		got  [3]string
		want [3]string
	}{
		"names of 30": {texts(named(x(30), x(30), innings(1, "20")), event.Innings),
			[3]string{x(30) + " v " + x(30), "End of innings: " + x(25) + "… 1/1 (20)", x(30) + " v " + x(30)}},
		"names of 31": {texts(named(x(31), x(31), innings(1, "20")), event.Innings),
			[3]string{x(27) + "… v " + x(27) + "…", "End of innings: " + x(25) + "… 1/1 (20)", x(27) + "… v " + x(27) + "…"}},
		"a side of 28": {texts(named(x(28), "Away", innings(1, "20")), event.Innings),
			[3]string{x(28) + " v Away", "End of innings: " + x(28) + " 1/1 (20)", x(28) + " v Away"}},
		"a side of 29": {texts(named(x(29), "Away", innings(1, "20")), event.Innings),
			[3]string{x(29) + " v Away", "End of innings: " + x(25) + "… 1/1 (20)", x(29) + " v Away"}},
		"a score of 12": {texts(named("Home", "Away", innings(1e9, "20")), event.Innings),
			[3]string{"Home v Away", "End of innings: Home 1000000000/1 (20)", "Home v Away"}},
		"a score of 13": {texts(named("Home", "Away", innings(1e10, "20")), event.Innings),
			[3]string{"Home v Away", "End of innings: Home 100000000… (20)", "Home v Away"}},
		"overs of 8": {texts(named("Home", "Away", innings(1, "12345678")), event.Innings),
			[3]string{"Home v Away", "End of innings: Home 1/1 (12345678)", "Home v Away"}},
		"overs of 9": {texts(named("Home", "Away", innings(1, "123456789")), event.Innings),
			[3]string{"Home v Away", "End of innings: Home 1/1 (12345…)", "Home v Away"}},
		"a title of 64": {texts(named(x(28), "Away", innings(1e8, "12345")), event.Innings),
			[3]string{x(28) + " v Away", "End of innings: " + x(28) + " 100000000/1 (12345)", x(28) + " v Away"}},
		"a title of 65": {texts(named(x(28), "Away", innings(1e8, "123456")), event.Innings),
			[3]string{x(28) + " v Away", "End of innings: " + x(28) + " 100000000/1 (123…", x(28) + " v Away"}},
		"a result of 64": {texts(long(x(64)), event.Result), [3]string{"Home v Away", x(64), "Home v Away"}},
		"a result of 65": {texts(long(x(65)), event.Result), [3]string{"Home v Away", "Home won by 5 wickets", "Home v Away"}},
		"a body of 160":  {texts(body(x(24)), event.Result), [3]string{x(28) + " v " + x(24), "Match tied", whole(x(24))}},
		"a body of 161":  {texts(body(x(25)), event.Result), [3]string{x(28) + " v " + x(25), "Match tied", whole(x(25))[:157] + "…"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
