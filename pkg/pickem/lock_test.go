package pickem

import (
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// states are those of the items of events, by id.
func (w *world) states() map[string]string {
	w.T.Helper()
	states := map[string]string{}
	for _, e := range testkit.Rows[event](w.World, table) {
		if e.Type == eventType {
			states[e.ID] = e.State
		}
	}
	return states
}

// TestLockEvents: events are locked when their time has come, and not before; a
// second run has nothing to do.
func TestLockEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := testkit.Open(w.World, LockEventsFunction, OpenEvents)
	run := func() map[string]int {
		return w.Count(func() { testkit.Must(t, job.LockEvents(w.Ctx())) })
	}
	one, two := w.announce(noon.Add(2*time.Hour), "one", 0), w.announce(noon.Add(3*time.Hour), "two", 0)
	for _, step := range []struct {
		at       time.Duration
		one, two string
		writes   int
	}{
		{0, upcoming, upcoming, 0},
		{time.Hour - time.Second, upcoming, upcoming, 0},
		{time.Hour, broadcast, upcoming, 1},
		{time.Hour, broadcast, upcoming, 0},
		{2*time.Hour + time.Second/2, broadcast, broadcast, 1},
		{9 * time.Hour, broadcast, broadcast, 0},
	} {
		w.To(noon.Add(step.at))
		if calls := run(); calls["UpdateItem"] != step.writes || calls["Query"] != 1 {
			t.Errorf("at %v it calls %v", step.at, calls)
		}
		if got := w.states(); got[one] != step.one || got[two] != step.two {
			t.Errorf("at %v the events are %v", step.at, got)
		}
	}
}

// TestLockEventsMeanwhile: an event that is moved, or called off, while the job runs
// stays as it was made.
func TestLockEventsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*world)
		want string
	}{
		"moved": {func(w *world) {
			w.admin(UpdateEventFunction, adminEvent(show), `{"state":"upcoming","startsAt":"2026-03-15T12:00:00Z"}`)
		}, upcoming},
		"locked":     {func(w *world) { w.admin(UpdateEventFunction, adminEvent(show), `{"state":"broadcast"}`) }, broadcast},
		"called off": {func(w *world) { w.admin(DeleteEventFunction, adminEvent(show), "") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.clash(1)
			w.To(showLocks)
			env := w.inTheWay(LockEventsFunction, "UpdateItem", func() { c.do(w) })
			if err := testkit.OpenWith(w.World, env, OpenEvents).LockEvents(w.Ctx()); err != nil || w.states()[show] != c.want {
				t.Errorf("%v, and the event is %q, want %q", err, w.states()[show], c.want)
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
		before func(*world) // at noon and an hour
		wait   time.Duration
		asks   int
		behind float64
	}{
		{"not yet", func(w *world) { w.results(scoredShow, 1) }, 2 * time.Minute, 0, 0},
		{"a correction", func(w *world) { w.results(scoredShow, 1) }, 2*time.Minute + time.Second, 1, 0},
		{"for ten minutes", func(w *world) { w.results(scoredShow, 1) }, 10 * time.Minute, 1, 0},
		{"for longer", func(w *world) { w.results(scoredShow, 1) }, 10*time.Minute + time.Second, 1, 1},
		{"for an hour", func(w *world) { w.results(scoredShow, 1) }, time.Hour, 0, 1},
		{"a first time", func(w *world) {
			w.results(lockedShow, 0, 0)
			w.admin(RequestScoreFunction, adminEvent(lockedShow)+"/score", "")
		}, 3 * time.Minute, 1, 0},
		{"nobody has asked", func(w *world) { w.results(lockedShow, 0, 0) }, 3 * time.Minute, 0, 0},
		{"it is scored", func(*world) {}, 3 * time.Minute, 0, 0},
		{"it is scored again", func(w *world) { w.results(scoredShow, 1); w.work() }, 3 * time.Minute, 0, 0},
		{"it is corrected again", func(w *world) {
			w.results(scoredShow, 1)
			w.To(noon.Add(time.Hour + 2*time.Minute))
			w.results(scoredShow, 0)
		}, 3 * time.Minute, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := season(t)
			c.before(w)
			w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(scoreQueue.Name)}, nil) // the message is lost
			w.To(noon.Add(time.Hour + c.wait))
			job := testkit.Open(w.World, LockEventsFunction, OpenEvents)
			testkit.Must(t, job.LockEvents(w.Ctx()))
			if got := len(testkit.Messages[ScoreEvent](w.World, scoreQueue)); got != c.asks || w.Logs.Sum(scoresBehind) != c.behind {
				t.Errorf("asked for %d times, %v behind, want %d and %v", got, w.Logs.Sum(scoresBehind), c.asks, c.behind)
			}
			if w.work(); c.asks > 0 {
				if testkit.Must(t, job.LockEvents(w.Ctx())); len(testkit.Messages[ScoreEvent](w.World, scoreQueue)) != 0 {
					t.Error("it is scored, and asked for again")
				}
			}
		})
	}
}

func TestLockEventsCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) map[string]map[string]any {
		w := season(t)
		w.announce(noon.Add(2*time.Hour+time.Minute), "another", 1)
		w.results(scoredShow, 1)
		w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(scoreQueue.Name)}, nil) // the message is lost
		w.To(noon.Add(time.Hour + 3*time.Minute))
		testkit.OpenWith(w.World, w.Crashing(LockEventsFunction, p), OpenEvents).LockEvents(w.Ctx())
		testkit.Must(t, testkit.Open(w.World, LockEventsFunction, OpenEvents).LockEvents(w.Ctx()))
		w.work()
		return w.rows()
	})
}
