package commitcollect_test

import (
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

// crashes calls run with a process that crashes before each of its calls, and after each,
// until the run makes fewer calls. run reports whether it crashed.
func crashes(run func(*dynamotest.Process) (crashed bool)) (n int) {
	for n = 1; ; n++ {
		before, after := run(dynamotest.CrashAt(n, false)), run(dynamotest.CrashAt(n, true))
		if !before && !after {
			return n - 1
		}
	}
}

// TestMintedPartIsInTheTrailOnce: wherever a worker dies, each part has one entry, of the
// time at which it was minted.
func TestMintedPartIsInTheTrailOnce(t *testing.T) {
	t.Parallel()

	calls := crashes(func(p *dynamotest.Process) bool {
		w := small(t)
		reached(w)
		err := evaluate(w, w.CrashingEnv(milestone.EvaluateMilestonesFunction(), p))
		again(w)
		testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
		same(t, "entries of minted parts", entriesOf(w, "ann")["MILESTONE_PART_MINTED success"], 2)

		minted := map[string]bool{}

		for _, r := range testkit.Rows[stored](w.World, tables.Main) {
			if r["entityType"] == "Award" {
				minted[time.Unix(int64(r["awardedAtUtc"].(float64)), 0).UTC().Format(time.RFC3339)] = true
			}
		}

		for _, r := range testkit.Rows[stored](w.World, tables.Audit) {
			if r["eventType"] == "MILESTONE_PART_MINTED" && !minted[r["occurredAtUtc"].(string)] {
				t.Errorf("an entry has that a part was minted at %v", r["occurredAtUtc"])
			}
		}

		w.Logs.TakeWarnings()

		return err != nil
	})
	if calls < 8 {
		t.Errorf("the job made %d calls", calls)
	}
}

// TestSyncIsRepeatedAfterACrash: a request that died before its message can be repeated at
// once, one that was sent after 15 minutes.
func TestSyncIsRepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	crashes(func(p *dynamotest.Process) bool {
		w := small(t)
		s := testkit.OpenWith(w.World, w.CrashingEnv(workout.SyncActivitiesFunction(), p), workout.Open)

		_, err := s.SyncActivities(w.NewContext(), &workout.SyncActivities{User: user("ann")})
		if err != nil && len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)) == 0 {
			w.MoveClock(w.Clock.Now().Add(workout.SyncActivitiesFunction().Timeout))

			whole := testkit.Open(w.World, workout.SyncActivitiesFunction(), workout.Open)
			if _, err := whole.SyncActivities(w.NewContext(), &workout.SyncActivities{User: user("ann")}); err != nil {
				t.Errorf("the second request: %v", err)
			}
		}

		same(t, "messages", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 1)
		w.Logs.TakeWarnings()

		return err != nil
	})
}

// TestEvaluationReadsFromTheStart: workouts before the earliest start of an active milestone
// are not read, and a user without one has none read.
func TestEvaluationReadsFromTheStart(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	seedWorkouts(w, "ann", 3000) // of 125 days
	s := testkit.Open(w.World, milestone.EvaluateMilestonesFunction(), milestone.Open)

	units := func() float64 {
		return w.CountUnits(func() { testkit.Must(t, s.EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"})) }).Reads
	}
	if n := units(); n > 1 {
		t.Errorf("without a milestone %.1f units are read, want 1", n)
	}

	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, 0, -2)})
	testkit.Must(t, s.EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"}))
	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{48_000, 48_000, 4})

	if n := units(); n > 8 {
		t.Errorf("with a milestone of two days %.1f units are read, want 8", n)
	}

	got := testkit.Decode[commitcollecttest.Milestone](w.World, w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil))
	same(t, "workouts before the start", got.ExcludedBeforeStartCount, 3000-48)
}

// TestSecretOfTheWebhook: only the functions that compare or register it may read it.
func TestSecretOfTheWebhook(t *testing.T) {
	t.Parallel()

	var got []string

	for _, f := range []app.Function{
		workout.VerifyWebhookFunction(), workout.ReceiveWebhookFunction(), workout.GetSubscriptionFunction(),
		workout.CreateSubscriptionFunction(),
		workout.DeleteSubscriptionFunction(), workout.ReplayEventFunction(),
	} {
		for _, secret := range f.Secrets {
			if secret == workout.Webhook {
				got = append(got, f.Name)
			}
		}
	}

	same(t, "the functions", got, []string{workout.VerifyWebhookFunction().Name, workout.ReceiveWebhookFunction().Name,
		workout.CreateSubscriptionFunction().Name})
}
