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

// eventStates are those of the items of events, by id.
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

// TestLockEvents: events are locked when their time has come, and not before; a
// second run has nothing to do.
func TestLockEvents(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	job := testkit.Open(w.World, event.LockEventsFunction, event.OpenEvents)
	run := func() map[string]int {
		return w.Count(func() { testkit.Must(t, job.LockEvents(w.Ctx())) })
	}
	one, two := w.Announce(pickemtest.Noon.Add(2*time.Hour), "one", 0), w.Announce(pickemtest.Noon.Add(3*time.Hour), "two", 0)
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
		w.To(pickemtest.Noon.Add(step.at))
		if calls := run(); calls["UpdateItem"] != step.writes || calls["Query"] != 1 {
			t.Errorf("at %v it calls %v", step.at, calls)
		}
		if got := eventStates(w); got[one] != step.one || got[two] != step.two {
			t.Errorf("at %v the events are %v", step.at, got)
		}
	}
}

// TestLockEventsMeanwhile: an event that is moved, or called off, while the job runs
// stays as it was made.
func TestLockEventsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*pickemtest.Room)
		want string
	}{
		"moved": {func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"state":"upcoming","startsAt":"2026-03-15T12:00:00Z"}`)
		}, item.Upcoming},
		"locked": {func(w *pickemtest.Room) {
			w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"state":"broadcast"}`)
		}, item.Broadcast},
		"called off": {func(w *pickemtest.Room) {
			w.MustAdmin(event.DeleteEventFunction, pickemtest.AdminEvent(pickemtest.Show), "")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.New(t)
			w.AnnounceClash(1)
			w.To(pickemtest.ShowLocks)
			env := w.InterruptEach(event.LockEventsFunction, "UpdateItem", func() { c.do(w) })
			if err := testkit.OpenWith(w.World, env, event.OpenEvents).LockEvents(w.Ctx()); err != nil || eventStates(w)[pickemtest.Show] != c.want {
				t.Errorf("%v, and the event is %q, want %q", err, eventStates(w)[pickemtest.Show], c.want)
			}
		})
	}
}

// TestLostScore: an event that waits for its points is asked for again after two
// minutes, for an hour, and somebody is called after ten.
func TestLostScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(*pickemtest.Room) // at noon and an hour
		wait   time.Duration
		asks   int
		behind float64
	}{
		{"not yet", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 2 * time.Minute, 0, 0},
		{"a correction", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 2*time.Minute + time.Second, 1, 0},
		{"for ten minutes", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 10 * time.Minute, 1, 0},
		{"for longer", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, 10*time.Minute + time.Second, 1, 1},
		{"for an hour", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1) }, time.Hour, 0, 1},
		{"a first time", func(w *pickemtest.Room) {
			w.EnterResults(pickemtest.LockedShow, 0, 0)
			w.MustAdmin(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.LockedShow)+"/score", "")
		}, 3 * time.Minute, 1, 0},
		{"nobody has asked", func(w *pickemtest.Room) { w.EnterResults(pickemtest.LockedShow, 0, 0) }, 3 * time.Minute, 0, 0},
		{"it is scored", func(*pickemtest.Room) {}, 3 * time.Minute, 0, 0},
		{"it is scored again", func(w *pickemtest.Room) { w.EnterResults(pickemtest.ScoredShow, 1); w.ScoreQueued() }, 3 * time.Minute, 0, 0},
		{"it is corrected again", func(w *pickemtest.Room) {
			w.EnterResults(pickemtest.ScoredShow, 1)
			w.To(pickemtest.Noon.Add(time.Hour + 2*time.Minute))
			w.EnterResults(pickemtest.ScoredShow, 0)
		}, 3 * time.Minute, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := pickemtest.NewSeason(t)
			c.before(w)
			w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(score.Queue.Name)}, nil) // the message is lost
			w.To(pickemtest.Noon.Add(time.Hour + c.wait))
			job := testkit.Open(w.World, event.LockEventsFunction, event.OpenEvents)
			testkit.Must(t, job.LockEvents(w.Ctx()))
			if got := len(testkit.Messages[score.Request](w.World, score.Queue)); got != c.asks || w.Logs.Sum(event.ScoresBehind) != c.behind {
				t.Errorf("asked for %d times, %v behind, want %d and %v", got, w.Logs.Sum(event.ScoresBehind), c.asks, c.behind)
			}
			if w.ScoreQueued(); c.asks > 0 {
				if testkit.Must(t, job.LockEvents(w.Ctx())); len(testkit.Messages[score.Request](w.World, score.Queue)) != 0 {
					t.Error("it is scored, and asked for again")
				}
			}
		})
	}
}

func TestLockEventsCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := pickemtest.NewSeason(t)
		w.Announce(pickemtest.Noon.Add(2*time.Hour+time.Minute), "another", 1)
		w.EnterResults(pickemtest.ScoredShow, 1)
		w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(score.Queue.Name)}, nil) // the message is lost
		w.To(pickemtest.Noon.Add(time.Hour + 3*time.Minute))
		testkit.OpenWith(w.World, w.Crashing(event.LockEventsFunction, p), event.OpenEvents).LockEvents(w.Ctx())
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction, event.OpenEvents).LockEvents(w.Ctx()))
		w.ScoreQueued()
		return w.Rows()
	})
}
