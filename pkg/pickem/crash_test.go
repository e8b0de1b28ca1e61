package pickem

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// outcome is what a world looks like to whoever comes next.
type outcome struct {
	Rows     []string            // but for how often members were changed
	Messages map[string][]string // by queue, each once: whoever handles one does so once
}

func (w *world) outcome() outcome {
	w.T.Helper()
	o := outcome{Messages: map[string][]string{}}
	for _, row := range testkit.Rows[map[string]any](w.World, table) {
		delete(row, "rev")
		text, err := json.Marshal(row)
		testkit.Must(w.T, err)
		o.Rows = append(o.Rows, string(text))
	}
	slices.Sort(o.Rows)
	for _, q := range []spec.Queue{scoreQueue, noticeQueue} {
		bodies := map[string]bool{}
		for _, m := range w.Queues.Messages(q.Name) {
			bodies[m.Body] = true
		}
		o.Messages[q.Name] = slices.Sorted(maps.Keys(bodies))
	}
	return o
}

// TestCrashes has each use case die at every call, and run again.
func TestCrashes(t *testing.T) {
	t.Parallel()
	scored := func(w *world) {
		w.asked("clash-of-tides")
		w.work()
	}
	open := func(w *world) {
		w.join("ann", "bob", "cat")
		w.clash(3)
		w.pick("ann", show, 0, 1, 0)
		w.pick("bob", show, 1, 1)
	}
	for _, c := range []struct {
		name   string
		fn     spec.Function
		before func(*world)
		run    func(*world, app.Env) error
		gone   string // the code of the second run's error if the first has done everything
	}{
		{"an event is scored", ScoreEventFunction, func(w *world) { w.asked("clash-of-tides") }, scoring(show), ""},
		{"an event is scored anew", ScoreEventFunction, func(w *world) {
			scored(w)
			w.results(show, 1, 0)
		}, scoring(show), ""},
		{"a second event is scored", ScoreEventFunction, func(w *world) {
			w.asked("clash-of-tides", "dawn-of-tides")
			testkit.Must(t, scoring(show)(w, w.Env(ScoreEventFunction)))
		}, scoring("2026-03-08-dawn-of-tides"), ""},
		{"a first result", PutResultFunction, func(w *world) { open(w); w.lock(show) }, resulting(0), ""},
		{"a result is corrected", PutResultFunction, scored, resulting(1), ""},
		{"points are asked for", RequestScoreFunction, func(w *world) { open(w); w.lock(show); w.results(show, 0, 1, void) }, func(w *world, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, OpenEvents).RequestScore(w.Ctx(), &RequestScore{Admin: byRoot, EventID: show})
			return err
		}, ""},
		{"standings are rebuilt", RebuildStandingsFunction, func(w *world) {
			scored(w)
			w.spoil()
		}, func(w *world, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, OpenScorer).RebuildStandings(w.Ctx(), RebuildStandings{2026})
			return err
		}, ""},
		{"events are locked", LockEventsFunction, func(w *world) {
			w.asked("clash-of-tides")
			w.announce(w.Clock.Now().Add(time.Hour+time.Minute), "dawn", 1)
			w.announce(w.Clock.Now().Add(time.Hour+2*time.Minute), "dusk", 1)
			w.announce(w.Clock.Now().Add(2*time.Hour), "night", 1)
			w.To(w.Clock.Now().Add(scorePatience + time.Minute))
		}, func(w *world, env app.Env) error {
			return testkit.OpenWith(w.World, env, OpenEvents).LockEvents(w.Ctx())
		}, ""},
		{"the teams of a match change", UpdateMatchFunction, open, func(w *world, env app.Env) error {
			in := &UpdateMatch{Admin: byRoot, EventID: show, MatchID: matchID(1), Body: MatchFields{Name: "Match 1", Points: 10, Teams: []Team{{Members: []string{"Left 1"}}, {Members: []string{"Replacement"}}}}}
			_, err := testkit.OpenWith(w.World, env, OpenEvents).UpdateMatch(w.Ctx(), in)
			return err
		}, ""},
		{"the points of a match change", UpdateMatchFunction, scored, func(w *world, env app.Env) error {
			in := &UpdateMatch{Admin: byRoot, EventID: show, MatchID: matchID(1), Body: MatchFields{Name: "Match 1", Points: 99, Teams: []Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}}}}
			_, err := testkit.OpenWith(w.World, env, OpenEvents).UpdateMatch(w.Ctx(), in)
			return err
		}, ""},
		{"a bonus changes", UpdateEventFunction, scored, func(w *world, env app.Env) error {
			in := &UpdateEvent{Admin: byRoot, EventID: show}
			bonus := 50
			in.Body.Bonus = &bonus
			_, err := testkit.OpenWith(w.World, env, OpenEvents).UpdateEvent(w.Ctx(), in)
			return err
		}, ""},
		{"a match is off", DeleteMatchFunction, open, func(w *world, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, OpenEvents).DeleteMatch(w.Ctx(), &DeleteMatch{Admin: byRoot, EventID: show, MatchID: matchID(1)})
			return err
		}, ""},
		{"an event is called off", DeleteEventFunction, open, func(w *world, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, OpenEvents).DeleteEvent(w.Ctx(), &DeleteEvent{Admin: byRoot, EventID: show})
			return err
		}, "event_not_found"},
		{"picks are saved", PutPredictionsFunction, open, func(w *world, env app.Env) error {
			in := &PutPredictions{EventID: show}
			in.UserID, in.Body.Predictions = "ann", map[string]int{matchID(2): 0}
			_, err := testkit.OpenWith(w.World, env, OpenEvents).PutPredictions(w.Ctx(), in)
			return err
		}, ""},
		{"an event is announced", CreateEventFunction, func(*world) {}, func(w *world, env app.Env) error {
			in := &CreateEvent{Admin: byRoot}
			in.Body.Name, in.Body.Date, in.Body.Slug, in.Body.StartsAt = "Clash of Tides", "2026-03-08", "clash-of-tides", noon.AddDate(0, 0, 7)
			_, err := testkit.OpenWith(w.World, env, OpenEvents).CreateEvent(w.Ctx(), in)
			return err
		}, ""},
		{"a match is added", AddMatchFunction, open, func(w *world, env app.Env) error {
			in := &AddMatch{Admin: byRoot, EventID: show}
			in.Body.ID, in.Body.MatchFields = matchID(9), MatchFields{Name: "Match 9", Points: 10, Teams: []Team{{Members: []string{"Left 9"}}, {Members: []string{"Right 9"}}}}
			_, err := testkit.OpenWith(w.World, env, OpenEvents).AddMatch(w.Ctx(), in)
			return err
		}, ""},
		{"a member is renamed", UpdateMeFunction, scored, func(w *world, env app.Env) error {
			in := &UpdateMe{}
			in.UserID, in.Body.Name = "ann", "Anna"
			_, err := testkit.OpenWith(w.World, env, OpenMembers).UpdateMe(w.Ctx(), in)
			return err
		}, ""},
		{"somebody signs up", OnUserConfirmedFunction, func(*world) {}, func(w *world, env app.Env) error {
			in := events.CognitoEventUserPoolsPostConfirmation{Request: events.CognitoEventUserPoolsPostConfirmationRequest{
				UserAttributes: map[string]string{"sub": "eve", "name": "Eve"},
			}}
			_, err := testkit.OpenWith(w.World, env, OpenMembers).OnUserConfirmed(w.Ctx(), in)
			return err
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := newWorld(t)
				c.before(w)
				c.run(w, w.Crashing(c.fn, p))
				if err := c.run(w, w.Env(c.fn)); err != nil && (c.gone == "" || code(err) != c.gone) {
					t.Errorf("the second run: %v", err)
				}
				return w.outcome()
			})
		})
	}
}

// scoring scores an event.
func scoring(id string) func(*world, app.Env) error {
	return func(w *world, env app.Env) error {
		return testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{id})
	}
}

// resulting enters a result of the first match of the show.
func resulting(result Result) func(*world, app.Env) error {
	return func(w *world, env app.Env) error {
		in := &PutResult{Admin: byRoot, EventID: show, MatchID: matchID(1)}
		in.Body.Result = result
		_, err := testkit.OpenWith(w.World, env, OpenEvents).PutResult(w.Ctx(), in)
		return err
	}
}
