package pickem_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// outcome is the state that a use case leaves: the rows and the queued messages.
type outcome struct {
	Rows     []string            // as JSON, without rev
	Messages map[string][]string // bodies by queue, without repetitions: the receivers are idempotent
}

func outcomeOf(w *pickemtest.Room) outcome {
	w.T.Helper()

	o := outcome{Messages: map[string][]string{}}

	for _, row := range testkit.Rows[map[string]any](w.World, tables.Pickem) {
		delete(row, "rev")
		text, err := json.Marshal(row)
		testkit.Must(w.T, err)

		o.Rows = append(o.Rows, string(text))
	}

	slices.Sort(o.Rows)

	for _, q := range []spec.Queue{score.Queue, notice.Queue} {
		bodies := map[string]bool{}
		for _, m := range w.Queues.Messages(q.Name) {
			bodies[m.Body] = true
		}

		o.Messages[q.Name] = slices.Sorted(maps.Keys(bodies))
	}

	return o
}

// A jobCase is a use case in a world that before has prepared.
type jobCase struct {
	name   string
	fn     app.Function
	before func(*pickemtest.Room)
	run    func(*pickemtest.Room, app.Env) error
	gone   string // the error code of a second run after a complete first one
}

// jobCases returns the use cases that write more than one item.
func jobCases(t *testing.T) []jobCase {
	scored := func(w *pickemtest.Room) {
		w.RequestScores("clash-of-tides")
		w.ScoreQueued()
	}
	open := func(w *pickemtest.Room) {
		w.AddMembers("ann", "bob", "cat")
		w.CreateShow(3)
		w.Pick("ann", pickemtest.Show, 0, 1, 0)
		w.Pick("bob", pickemtest.Show, 1, 1)
	}

	return []jobCase{
		{"an event is scored", score.ScoreEventFunction(), func(w *pickemtest.Room) { w.RequestScores("clash-of-tides") },
			scoring(pickemtest.Show), ""},
		{"an event is scored anew", score.ScoreEventFunction(), func(w *pickemtest.Room) {
			scored(w)
			w.EnterResults(pickemtest.Show, 1, 0)
		}, scoring(pickemtest.Show), ""},
		{"a second event is scored", score.ScoreEventFunction(), func(w *pickemtest.Room) {
			w.RequestScores("clash-of-tides", "dawn-of-tides")
			testkit.Must(t, scoring(pickemtest.Show)(w, w.Env(score.ScoreEventFunction())))
		}, scoring("2026-03-08-dawn-of-tides"), ""},
		{"a first result", event.PutResultFunction(), func(w *pickemtest.Room) { open(w); w.LockEvent(pickemtest.Show) }, resulting(0), ""},
		{"a result is corrected", event.PutResultFunction(), scored, resulting(1), ""},
		{"a result is cleared", event.PutResultFunction(), scored, resulting(event.NoResult), ""},
		{"points are withdrawn", score.ScoreEventFunction(), func(w *pickemtest.Room) {
			scored(w)
			testkit.Must(w.T, resulting(event.NoResult)(w, w.Env(event.PutResultFunction())))
		}, scoring(pickemtest.Show), ""},
		{"picks are revealed", score.ScoreEventFunction(), func(w *pickemtest.Room) {
			open(w)
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"revealAtLock":true}`)
			w.LockEvent(pickemtest.Show)
		}, scoring(pickemtest.Show), ""},
		{"scoring is requested", event.RequestScoreFunction(), func(w *pickemtest.Room) {
			open(w)
			w.LockEvent(pickemtest.Show)
			w.EnterResults(pickemtest.Show, 0, 1, item.Void)
		}, func(w *pickemtest.Room, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).RequestScore(w.NewContext(),
				&event.RequestScore{Admin: byRoot, EventID: pickemtest.Show})
			return err
		}, ""},
		{"standings are rebuilt", score.RebuildStandingsFunction(), func(w *pickemtest.Room) {
			scored(w)
			w.CorruptStandings()
		}, func(w *pickemtest.Room, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, score.OpenScorer).RebuildStandings(w.NewContext(), score.RebuildStandings{Year: 2026})
			return err
		}, ""},
		{"events are locked", event.LockEventsFunction(), func(w *pickemtest.Room) {
			w.RequestScores("clash-of-tides")
			w.CreateEvent(w.Clock.Now().Add(time.Hour+time.Minute), "dawn", 1)
			w.CreateEvent(w.Clock.Now().Add(time.Hour+2*time.Minute), "dusk", 1)
			w.CreateEvent(w.Clock.Now().Add(2*time.Hour), "night", 1)

			for _, slug := range []string{"gone", "going"} {
				id := w.CreateEvent(w.Clock.Now().Add(2*time.Hour), slug, 1)
				w.Pick("ann", id, 0)
				e := testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(id))

				e.State, e.DeletedAt = item.Deleting, item.FormatTime(w.Clock.Now())
				if slug == "gone" {
					e.DeletedAt = item.FormatTime(w.Clock.Now().Add(-time.Hour))
				}

				testkit.PutRows(w.World, tables.Pickem, e)
			}

			w.MoveClock(w.Clock.Now().Add(3 * time.Minute))
		}, func(w *pickemtest.Room, env app.Env) error {
			return testkit.OpenWith(w.World, env, event.OpenEvents).LockEvents(w.NewContext())
		}, ""},
		{"the teams of a match change", event.UpdateMatchFunction(), open, func(w *pickemtest.Room, env app.Env) error {
			in := &event.UpdateMatch{
				Admin:   byRoot,
				EventID: pickemtest.Show,
				MatchID: pickemtest.MatchID(1),
				Body: event.MatchFields{
					Name:   "Match 1",
					Points: 10,
					Teams:  []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Replacement"}}},
				},
			}
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).UpdateMatch(w.NewContext(), in)

			return err
		}, ""},
		{"the points of a match change", event.UpdateMatchFunction(), scored, func(w *pickemtest.Room, env app.Env) error {
			in := &event.UpdateMatch{
				Admin:   byRoot,
				EventID: pickemtest.Show,
				MatchID: pickemtest.MatchID(1),
				Body: event.MatchFields{
					Name:   "Match 1",
					Points: 99,
					Teams:  []item.Team{{Members: []string{"Left 1"}}, {Members: []string{"Right 1"}}},
				},
			}
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).UpdateMatch(w.NewContext(), in)

			return err
		}, ""},
		{"a bonus changes", event.UpdateEventFunction(), scored, func(w *pickemtest.Room, env app.Env) error {
			in := &event.UpdateEvent{Admin: byRoot, EventID: pickemtest.Show}
			bonus := 50
			in.Body.Bonus = &bonus
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).UpdateEvent(w.NewContext(), in)

			return err
		}, ""},
		{"a match is removed", event.DeleteMatchFunction(), open, func(w *pickemtest.Room, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).DeleteMatch(w.NewContext(),
				&event.DeleteMatch{Admin: byRoot, EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)})
			return err
		}, ""},
		{"an event is deleted", event.DeleteEventFunction(), open, func(w *pickemtest.Room, env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).DeleteEvent(w.NewContext(),
				&event.DeleteEvent{Admin: byRoot, EventID: pickemtest.Show})
			return err
		}, "event_not_found"},
		{"picks are saved", event.PutPredictionsFunction(), open, func(w *pickemtest.Room, env app.Env) error {
			in := &event.PutPredictions{EventID: pickemtest.Show}
			in.UserID, in.Body.Predictions = "ann", map[string]string{pickemtest.MatchID(2): "t1"}
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutPredictions(w.NewContext(), in)

			return err
		}, ""},
		{"an event is created", event.CreateEventFunction(), func(*pickemtest.Room) {}, func(w *pickemtest.Room, env app.Env) error {
			in := &event.CreateEvent{Admin: byRoot}
			in.Body.Name, in.Body.Date, in.Body.Slug, in.Body.StartsAt = "Clash of Tides", "2026-03-08", "clash-of-tides",
				pickemtest.Noon.AddDate(0, 0, 7)
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).CreateEvent(w.NewContext(), in)

			return err
		}, ""},
		{"a match is added", event.AddMatchFunction(), open, func(w *pickemtest.Room, env app.Env) error {
			in := &event.AddMatch{Admin: byRoot, EventID: pickemtest.Show}
			in.Body.ID, in.Body.MatchFields = pickemtest.MatchID(9), event.MatchFields{
				Name:   "Match 9",
				Points: 10,
				Teams:  []item.Team{{Members: []string{"Left 9"}}, {Members: []string{"Right 9"}}},
			}
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).AddMatch(w.NewContext(), in)

			return err
		}, ""},
		{"a member is renamed", member.UpdateMeFunction(), scored, func(w *pickemtest.Room, env app.Env) error {
			in := &member.UpdateMe{}
			in.UserID, in.Body.Name = "ann", "Anna"
			_, err := testkit.OpenWith(w.World, env, member.OpenMembers).UpdateMe(w.NewContext(), in)

			return err
		}, ""},
	}
}

// TestCrashes: a use case that crashes at any of its calls, and then runs again, leaves
// the same state as one that does not crash. A call that fails is reported.
func TestCrashes(t *testing.T) {
	t.Parallel()

	for _, c := range jobCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w := pickemtest.New(t)
				c.before(w)
				p.Ended(c.run(w, w.CrashingEnv(c.fn, p)))

				if err := c.run(w, w.Env(c.fn)); err != nil && (c.gone == "" || code(err) != c.gone) {
					t.Errorf("the second run returned %v, want success or %q", err, c.gone)
				}

				return outcomeOf(w)
			})
		})
	}
}

// swept are the use cases whose messages LockEvents sends again if the request is not repeated.
var swept = []string{
	"a result is corrected", "a result is cleared", "the points of a match change", "a bonus changes", "an event is deleted",
}

// times are those of rows, which depend on when a job has run.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// TestRequestIsNotRepeated: wherever a use case dies, the jobs alone leave the rows that they leave without a crash, or
// those that they leave if there was no request.
func TestRequestIsNotRepeated(t *testing.T) {
	t.Parallel()

	cases := slices.DeleteFunc(jobCases(t), func(c jobCase) bool { return !slices.Contains(swept, c.name) })
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			end := func(t *testing.T, run func(w *pickemtest.Room)) (rows []string) {
				w := pickemtest.New(t)
				c.before(w)
				run(w)
				settle(w)

				for _, r := range outcomeOf(w).Rows {
					rows = append(rows, times.ReplaceAllString(r, "*"))
				}

				return rows
			}
			none := end(t, func(*pickemtest.Room) {})
			whole := end(t, func(w *pickemtest.Room) { testkit.Must(t, c.run(w, w.Env(c.fn))) })

			dynamotest.CheckDeaths(t, func(t *testing.T, p *dynamotest.Process) []string {
				rows := end(t, func(w *pickemtest.Room) { p.Ended(c.run(w, w.CrashingEnv(c.fn, p))) })
				if cmp.Equal(rows, none) {
					return whole
				}

				return rows
			})
		})
	}
}

// TestInterruptedImportOfResults: wherever it dies, a second run and the jobs leave what they leave without a crash.
func TestInterruptedImportOfResults(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []league.Standing {
		w := pickemtest.New(t)
		w.RequestScores("clash-of-tides")
		w.ScoreQueued()

		in := &event.Import{Admin: byRoot, EventID: pickemtest.Show}
		in.Body.Kind, in.Body.Format, in.Body.Text = "results", "csv", "match,result\nMatch 1,1\nMatch 2,void\n"

		run := func(env app.Env) error {
			_, err := testkit.OpenWith(w.World, env, event.OpenEvents).Import(w.NewContext(), in)
			return err
		}
		p.Ended(run(w.CrashingEnv(event.ImportFunction(), p)))
		testkit.Must(t, run(w.Env(event.ImportFunction())))
		settle(w)

		return w.Standings("2026")
	})
}

// settle lets time pass, and runs the jobs that complete what is left.
func settle(w *pickemtest.Room) {
	w.T.Helper()

	s := testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents)
	for _, d := range []time.Duration{0, 3 * time.Minute, 16 * time.Minute} {
		w.MoveClock(w.Clock.Now().Add(d))
		testkit.Must(w.T, s.LockEvents(w.NewContext()))
		w.ScoreQueued()
	}
}

// scoring scores an event.
func scoring(id string) func(*pickemtest.Room, app.Env) error {
	return func(w *pickemtest.Room, env app.Env) error {
		return testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id})
	}
}

// resulting enters a result of the first match of the show.
func resulting(result event.NewResult) func(*pickemtest.Room, app.Env) error {
	return func(w *pickemtest.Room, env app.Env) error {
		in := &event.PutResult{Admin: byRoot, EventID: pickemtest.Show, MatchID: pickemtest.MatchID(1)}
		in.Body.Result = result
		_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutResult(w.NewContext(), in)

		return err
	}
}
