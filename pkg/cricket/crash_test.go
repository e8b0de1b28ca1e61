package cricket

import (
	"context"
	"testing"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// The processes of these tests crash at every call of AWS and of the provider.
// Pushes are no calls of these, and need no crash of their own: a crash before
// them is one after the call that precedes them, and a crash after them is one
// before the call that follows.

// crashTick has slot n ticked by the process p, and then by one that works, when
// the lease of the first has run out, for as long as an event may be held back.
func (w *world) crashTick(p *dynamotest.Process, n int) outcome {
	w.T.Helper()
	tk := testkit.OpenWith(w.World, w.Crashing(TickFunction, p), OpenTicker)
	tk.Tick(w.Ctx(), slotNo(n))
	again := w.ticker()
	w.tickAt(again, n+1)
	for i := range believed + 1 {
		w.tickAt(again, n+2+int(lease/slotLength)+i)
	}
	return w.outcome()
}

func TestTickCrashesAtFirstSight(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := newWorld(t)
		f := w.scripted("7")
		w.says(saidOf(f, "1st Innings", ballSaid{id: 1, runs: 1}, ballSaid{id: 2}))
		return w.crashTick(p, 0)
	})
}

func TestTickCrashesAtBall(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := newWorld(t)
		f := w.scripted("7")
		balls := []ballSaid{{id: 1, runs: 1}, {id: 2, runs: 4}, {id: 3, out: true}}
		w.says(saidOf(f, "1st Innings", balls[:2]...))
		w.tickAt(w.ticker(), 0)
		w.says(saidOf(f, "1st Innings", balls...))
		return w.crashTick(p, 1)
	})
}

func TestTickCrashesAtArchive(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := newWorld(t)
		w.says(saidOf(w.scripted("7"), "1st Innings"), saidOf(w.scripted("8"), "1st Innings"))
		before := w.ticker()
		w.tickAt(before, 0)
		w.says()
		w.tickAt(before, 1)
		return w.crashTick(p, 10)
	})
}

func TestFinishCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w, again, m := left(t, func() (int, string) { return 200, pageOf("Finished", tied) })
		testkit.Drain(w.World, finishQueue, 0, func(context.Context, MatchLeft) error { return nil })
		s := testkit.OpenWith(w.World, w.Crashing(FinishMatchFunction, p), OpenFinisher)
		s.FinishMatch(w.Ctx(), m)
		w.To(w.Clock.Now().Add(FinishMatchFunction.VisibilityTimeout())) // until it is delivered again
		testkit.Must(t, again.FinishMatch(w.Ctx(), m))
		testkit.Drain(w.World, finishQueue, 10*time.Minute, again.FinishMatch)
		return w.outcome()
	})
}

func TestPushCrashes(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]int64{"an update": 0, "an end": at(50).Unix()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
				w, _, _ := watched(t)
				w.subscribe("7", "dead", "")
				w.phones.Answer(token("dead"), apns.Refuse(apns2.ReasonUnregistered))
				busy := apns.Refuse(apns2.ReasonServiceUnavailable)
				busy.Times = 8 // all tries of one run
				w.phones.Answer(token("local"), busy)
				m := testkit.Messages[MatchChanged](w.World, activityQueue)[0]
				testkit.Drain(w.World, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
				if ended != 0 {
					m = MatchChanged{MatchID: "7", Ended: ended}
				}
				w.pusher(w.Crashing(PushActivitiesFunction, p)).PushActivities(w.Ctx(), m)
				again := w.pusher(w.Env(PushActivitiesFunction))
				testkit.Must(t, again.PushActivities(w.Ctx(), m))
				testkit.Drain(w.World, activityQueue, time.Minute, again.PushActivities)
				o := w.outcome()
				o.Untold = nil // the messages are handled
				return o
			})
		})
	}
}

func TestStartActivityCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w, _, _ := watched(t)
		testkit.Drain(w.World, activityQueue, 0, func(context.Context, MatchChanged) error { return nil })
		a := testkit.OpenWith(w.World, w.Crashing(StartActivityFunction, p), OpenActivities)
		in := starting("7", "fan", "11")
		a.StartActivity(w.Ctx(), in)
		_, err := testkit.Open(w.World, StartActivityFunction, OpenActivities).StartActivity(w.Ctx(), in)
		testkit.Must(t, err)
		testkit.Drain(w.World, activityQueue, time.Minute, w.pusher(w.Env(PushActivitiesFunction)).PushActivities)
		o := w.outcome()
		o.Untold = nil
		return o
	})
}

func TestSyncsCrash(t *testing.T) {
	t.Parallel()
	for _, s := range syncs {
		t.Run(s.fn.Name, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) reference {
				w := newWorld(t)
				w.feed.Announce(kickOff, script.Generate(1, cricsheet.T20).Fixture)
				for _, before := range syncs {
					if before.fn.Name == s.fn.Name {
						break
					}
					testkit.Must(t, before.do(w.World))
				}
				w.feed.AnnounceMore(1, 3, kickOff)
				w.stale()
				s.run(w.Ctx(), w.World, w.Crashing(s.fn, p))
				w.To(w.Clock.Now().Add(2 * jobTimeout)) // until its lease has run out
				testkit.Must(t, s.do(w.World))
				return w.reference()
			})
		})
	}
}
