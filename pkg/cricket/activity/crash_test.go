package activity_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

func TestPushIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()

	for name, ended := range map[string]int64{"an update": 0, "an end": crickettest.At(50).Unix()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
				w, _, _ := worldWithActivities(t)
				w.Subscribe("7", "dead", "")
				w.Phones.Answer(crickettest.Token("dead"), apns.Refuse(apns2.ReasonUnregistered))
				busy := apns.Refuse(apns2.ReasonServiceUnavailable)
				busy.Times = 8 // all attempts of one run
				w.Phones.Answer(crickettest.Token("local"), busy)
				m := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[0]
				testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })

				if ended != 0 {
					m = activity.MatchChanged{MatchID: "7", Ended: ended}
				}

				again := w.Pusher(w.Env(activity.PushActivitiesFunction()))
				if p.Ended(w.Pusher(w.CrashingEnv(activity.PushActivitiesFunction(), p)).PushActivities(w.NewContext(), m)) {
					testkit.Must(t, again.PushActivities(w.NewContext(), m))
				}

				w.DrainPushes(time.Minute, again)
				o := w.Outcome()
				o.Unqueued = nil // the queue is empty

				return o
			})
		})
	}
}

// TestPartsAreCompletedAfterACrash: a message for more activities than one message pushes to, and
// a part of it that is divided again, crash before and after each call. Every activity gets the
// state, and at the end all are removed.
func TestPartsAreCompletedAfterACrash(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		part  activity.IDRange
		ended int64
	}{
		"a change":         {},
		"an end":           {ended: crickettest.At(50).Unix()},
		"a part":           {part: activity.IDRange{From: "0", Until: "g"}},
		"a part of an end": {part: activity.IDRange{From: "0", Until: "g"}, ended: crickettest.At(50).Unix()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
				w, _, _ := worldWithActivities(t)
				discardMessages(w)

				for i := range 4 {
					w.Subscribe("7", fmt.Sprint("fan ", i), "")
				}

				fn, do := activity.PushActivitiesFunction(), (*activity.Pusher).PushActivities
				if c.part != (activity.IDRange{}) {
					fn, do = activity.PushPartsFunction(), (*activity.Pusher).PushParts
				}

				open := func(env app.Env) *activity.Pusher {
					x := w.Pusher(env)
					*x.PerMessage() = 3

					return x
				}

				m := activity.MatchChanged{MatchID: "7", Ended: c.ended, IDRange: c.part}
				if p.Ended(do(open(w.CrashingEnv(fn, p)), w.NewContext(), m)) {
					testkit.Must(t, do(open(w.Env(fn)), w.NewContext(), m))
				}

				w.DrainPushes(time.Minute, w.Pusher(w.Env(activity.PushActivitiesFunction())))
				o := w.Outcome()
				o.Unqueued = nil // the queue is empty

				return o
			})
		})
	}
}

func TestStartActivityIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w, _, _ := worldWithActivities(t)
		testkit.Drain(w.World, tables.ActivityQueue, 0, func(context.Context, activity.MatchChanged) error { return nil })
		a := testkit.OpenWith(w.World, w.CrashingEnv(activity.StartActivityFunction(), p), activity.OpenActivities)

		in := crickettest.StartRequest("7", "fan", "11")
		if _, err := a.StartActivity(w.NewContext(), in); p.Ended(err) {
			_, err := testkit.Open(w.World, activity.StartActivityFunction(), activity.OpenActivities).StartActivity(w.NewContext(), in)
			testkit.Must(t, err)
		}

		w.DrainPushes(time.Minute, w.Pusher(w.Env(activity.PushActivitiesFunction())))
		o := w.Outcome()
		o.Unqueued = nil

		return o
	})
}
