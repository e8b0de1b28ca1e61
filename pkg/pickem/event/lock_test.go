package event_test

import (
	"testing"
	"time"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// eventStates returns the stored states of the events by id.
func eventStates(w *pickemtest.Room) map[string]string {
	w.T.Helper()

	states := map[string]string{}

	for _, e := range testkit.Rows[item.Event](w.World, tables.Pickem) {
		if e.Type == item.EventType {
			states[e.ID] = e.State
		}
	}

	return states
}

// TestEventsAreLockedAtLockAt: a second run writes nothing.
func TestEventsAreLockedAtLockAt(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	job := testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents)
	run := func() map[string]int {
		return w.CountCalls(func() { testkit.Must(t, job.LockEvents(w.NewContext())) })
	}

	one, two := w.CreateEvent(pickemtest.Noon.Add(2*time.Hour), "one", 0), w.CreateEvent(pickemtest.Noon.Add(3*time.Hour), "two", 0)
	for _, step := range []struct {
		at       time.Duration
		one, two string
		writes   int
	}{
		{0, item.Upcoming, item.Upcoming, 0},
		{time.Hour - time.Second, item.Upcoming, item.Upcoming, 0},
		{time.Hour, item.Broadcast, item.Upcoming, 1},
		{time.Hour, item.Broadcast, item.Upcoming, 0},
		{2*time.Hour + time.Second/2, item.Broadcast, item.Broadcast, 1},
		{9 * time.Hour, item.Broadcast, item.Broadcast, 0},
	} {
		w.MoveClock(pickemtest.Noon.Add(step.at))

		if calls := run(); calls["UpdateItem"] != step.writes || calls["Query"] != 2 { // the events, and the changed leagues
			t.Errorf("after %v: calls %v, want %d of UpdateItem and two of Query", step.at, calls, step.writes)
		}

		if got := eventStates(w); got[one] != step.one || got[two] != step.two {
			t.Errorf("after %v: states %v, want %s and %s", step.at, got, step.one, step.two)
		}
	}
}

// TestLockEventsKeepsConcurrentChanges: an event that is rescheduled, locked or deleted after
// the job has read it is not changed.
func TestLockEventsKeepsConcurrentChanges(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		do   func(*pickemtest.Room)
		want string
	}{
		"rescheduled": {func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show),
				`{"state":"upcoming","startsAt":"2026-03-15T12:00:00Z"}`)
		}, item.Upcoming},
		"locked": {func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"state":"broadcast"}`)
		}, item.Broadcast},
		"deleted": {func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(pickemtest.Show), "")
		}, item.Deleting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			w.CreateShow(1)
			w.MoveClock(pickemtest.ShowLockAt)

			env := w.InterruptEach(event.LockEventsFunction(), "UpdateItem", func() { c.do(w) })
			if err := testkit.OpenWith(w.World, env, event.OpenEvents).LockEvents(w.NewContext()); err != nil ||
				eventStates(w)[pickemtest.Show] != c.want {
				t.Errorf("error %v and state %q, want none and %q", err, eventStates(w)[pickemtest.Show], c.want)
			}
		})
	}
}

// TestNewEventWithTheIdOfADeletedOneIsKept: a run that has read the deleted event deletes the
// mark only.
func TestNewEventWithTheIdOfADeletedOneIsKept(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(0)
	w.MustAdmin(event.DeleteEventFunction(), pickemtest.AdminEvent(pickemtest.Show), "")
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	env := pickemtest.InterruptBefore(w.Env(event.LockEventsFunction()), "DeleteItem", 1, func() {
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
		w.CreateShow(0)
	})
	testkit.Must(t, testkit.OpenWith(w.World, env, event.OpenEvents).LockEvents(w.NewContext()))

	if got := eventStates(w)[pickemtest.Show]; got != item.Upcoming {
		t.Errorf("the new event has the state %q, want %q", got, item.Upcoming)
	}
}

// TestLostScoringIsQueuedAgain: from two minutes after the request, for an hour. After ten
// minutes the event counts as ScoresBehind, which raises an alarm.
func TestLostScoringIsQueuedAgain(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		before func(*pickemtest.Room) // an hour after Noon
		wait   time.Duration
		queued int
		behind float64
	}{
		{"two minutes", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 2 * time.Minute, 0, 0},
		{"more than two minutes", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 2*time.Minute + time.Second, 1, 0},
		{"ten minutes", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 10 * time.Minute, 1, 0},
		{"more than ten minutes", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 10*time.Minute + time.Second, 1, 1},
		{"an hour", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, time.Hour, 0, 1},
		{"first scoring", func(w *pickemtest.Room) {
			w.EnterResults(pickemtest.LockedShow, 0, 0)
			w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.LockedShow)+"/score", "")
		}, 3 * time.Minute, 1, 0},
		{"scoring not requested", func(w *pickemtest.Room) { w.EnterResults(pickemtest.LockedShow, 0, 0) }, 3 * time.Minute, 0, 0},
		{"scored", func(*pickemtest.Room) {}, 3 * time.Minute, 0, 0},
		{"scored again", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1); w.ScoreQueued() }, 3 * time.Minute, 0, 0},
		{"corrected again", func(w *pickemtest.Room) {
			w.EnterResults(pickemtest.ScoredShow, 1)
			w.MoveClock(pickemtest.Noon.Add(time.Hour + 2*time.Minute))
			w.EnterResults(pickemtest.ScoredShow, 0)
		}, 3 * time.Minute, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			c.before(w)
			w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(score.Queue.Name)}, nil) // the message is lost
			w.MoveClock(pickemtest.Noon.Add(time.Hour + c.wait))
			job := testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents)
			testkit.Must(t, job.LockEvents(w.NewContext()))

			if got := len(testkit.Messages[score.Request](w.World, score.Queue)); got != c.queued ||
				w.Logs.SumMetric(event.ScoresBehind) != c.behind || len(w.Logs.EmittedMetrics()) > 0 && c.behind == 0 {
				t.Errorf("%d messages queued and %v events behind, want %d and %v", got, w.Logs.SumMetric(event.ScoresBehind), c.queued, c.behind)
			}

			if w.ScoreQueued(); c.queued > 0 {
				if testkit.Must(t, job.LockEvents(w.NewContext())); len(testkit.Messages[score.Request](w.World, score.Queue)) != 0 {
					t.Error("the scoring of a scored event was queued again")
				}
			}
		})
	}
}

// TestScoringIsRepeatedForTheIndex: an event is scored again from a quarter of an hour after
// the request, when the index shows all predictions, until an hour after it.
func TestScoringIsRepeatedForTheIndex(t *testing.T) {
	t.Parallel()

	for wait, want := range map[time.Duration]int{
		15*time.Minute - time.Second: 0,
		15 * time.Minute:             1,
		time.Hour - time.Second:      1,
		time.Hour:                    0,
	} {
		w := pickemtest.NewSeason(t)
		w.EnterResults(pickemtest.ScoredShow, 1)
		w.ScoreQueued()
		w.MoveClock(pickemtest.Noon.Add(time.Hour + wait))
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))

		if got := len(testkit.Messages[score.Request](w.World, score.Queue)); got != want {
			t.Errorf("%s after the request: %d messages, want %d", wait, got, want)
		}
	}
}

func TestLockEventsCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.NewSeason(t)
		w.CreateEvent(pickemtest.Noon.Add(2*time.Hour+time.Minute), "another", 1)
		w.EnterResults(pickemtest.ScoredShow, 1)
		w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(score.Queue.Name)}, nil) // the message is lost
		w.MoveClock(pickemtest.Noon.Add(time.Hour + 3*time.Minute))
		p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(event.LockEventsFunction(), p), event.OpenEvents).LockEvents(w.NewContext()))
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
		w.ScoreQueued()

		return w.Rows()
	})
}
