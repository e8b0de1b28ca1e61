package commitcollect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
)

// TestOvertakenEvaluationCountsAnew: a computation that another gets ahead of counts the
// workouts that were stored meanwhile, too.
func TestOvertakenEvaluationCountsAnew(t *testing.T) {
	t.Parallel()

	for name, run := range map[string]func(*commitcollecttest.World, app.Env) error{
		"a worker":  evaluate,
		"a request": jobs["parts are minted on request"].run,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			reached(w)
			second := w.Upload(77, "Run", noon.Add(-72*time.Hour), 4_000)

			env := w.Env(milestone.EvaluateMilestonesFunction())
			if name == "a request" {
				env = w.Env(milestone.RecomputeMilestoneFunction())
			}

			asked, now := 0, env.Clock.Now
			env.Clock.Now = func() time.Time {
				if asked++; asked == 1 { // the workouts are read, and nothing is written
					ingest(w, eventOf("create", second, noon))
					testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
				}

				return now()
			}
			testkit.Must(t, run(w, env))
			m := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w))
			same(t, "progress, raw progress, parts", []int64{m.Progress, m.Raw, int64(m.Awarded)}, []int64{29_000, 29_000, 2})
			same(t, "awards", w.Count(tables.Main, "USER#ann", m.SK+"#AWARD#"), 2)
		})
	}
}

// TestPauseOvertakesAnEvaluation: a milestone that is paused while its workouts are counted
// mints nothing.
func TestPauseOvertakesAnEvaluation(t *testing.T) {
	t.Parallel()
	w := small(t)
	reached(w)
	env := w.Env(milestone.EvaluateMilestonesFunction())
	asked, now := 0, env.Clock.Now
	env.Clock.Now = func() time.Time {
		if asked++; asked == 1 {
			testkit.Must(t, set("PAUSED")(w, w.Env(milestone.UpdateMilestoneFunction())))
		}

		return now()
	}
	testkit.Must(t, evaluate(w, env))
	m := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w))
	same(t, "status, parts", []any{m.Status, m.Awarded, w.Count(tables.Main, "USER#ann", m.SK+"#AWARD#")}, []any{"PAUSED", 0, 0})
}

// TestRecomputationAnswersWhatItWrote: the same as the milestone's page, and the number of
// new parts once.
func TestRecomputationAnswersWhatItWrote(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	run := w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	silence(w)
	ingest(w, eventOf("create", run, noon))

	recompute := func() map[string]any {
		return testkit.Decode[map[string]any](w.World, w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil))
	}
	for _, delta := range []float64{2, 0} {
		got := recompute()
		same(t, "partsDelta", got["partsDelta"], any(delta))
		delete(got, "partsDelta")
		delete(got, "excludedBeforeStartCount")

		page := testkit.Decode[map[string]any](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id, nil))
		delete(page, "awards")
		same(t, "the milestone", got, page)
	}
}

// TestDuplicateCountsWhenItsOriginalIsDeleted.
func TestDuplicateCountsWhenItsOriginalIsDeleted(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	watch := w.Upload(77, "Run", noon.Add(-time.Hour), 10_000)
	w.Upload(77, "Run", noon.Add(-time.Hour+30*time.Second), 10_200) // the phone
	w.Pass(time.Minute)
	same(t, "with both", progress(w.Show("ann", id)), [3]int64{10_000, 10_000, 1})
	w.Strava.Delete(watch)
	w.Pass(time.Minute)
	same(t, "without the watch's", progress(w.Show("ann", id)), [3]int64{10_200, 10_200, 1})
}

// TestOneWorkoutCountsForSeveralMilestones, and for each in its own period.
func TestOneWorkoutCountsForSeveralMilestones(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	year, week := w.Start("ann", commitcollecttest.Goal{}), w.Start("ann",
		commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-05", Total: 12_000})
	ascent, rides := w.Start("ann", commitcollecttest.Goal{Target: "ELEVATION_METERS", Total: 1200}), w.Start("ann",
		commitcollecttest.Goal{Sport: "RIDE"})
	w.Upload(77, "Run", noon.Add(-30*time.Hour), 10_000) // on the 5th, with 100 m of ascent
	w.Upload(77, "Run", noon.Add(-6*time.Hour), 10_000)
	w.Pass(time.Minute)

	for id, want := range map[string][3]int64{year: {20_000, 20_000, 2}, week: {10_000, 10_000, 10}, ascent: {200, 200, 2}, rides: {}} {
		same(t, "a milestone", progress(w.Show("ann", id)), want)
	}
}

// TestLedgerOfAMonth has each workout once, whatever happens to it.
func TestLedgerOfAMonth(t *testing.T) {
	t.Parallel()
	w := small(t)

	run := ran(w)
	for n, change := range []func(*strava.Activity){
		func(a *strava.Activity) { a.Name = "Another title" },
		func(a *strava.Activity) { a.Distance = 26_000 },
		func(a *strava.Activity) { a.StartDate = noon.AddDate(0, -1, 0) },
		func(a *strava.Activity) { a.StartDate = noon.Add(-24 * time.Hour) },
	} {
		w.Strava.Edit(run, nil, change)
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		ingest(w, eventOf("update", run, noon.Add(time.Duration(n+1)*time.Minute)))
	}

	type ledger struct {
		Entries []struct {
			ID     string `dynamodbav:"i"`
			Metres int64  `dynamodbav:"d"`
		} `dynamodbav:"entries"`
		Rev int `dynamodbav:"rev"`
	}

	june := testkit.Row[ledger](w.World, tables.Main, "USER#ann", "LEDGER#2026-06")
	same(t, "June", fmt.Sprint(june), fmt.Sprintf("{[{%d 26000}] 4}", run)) // a title writes no ledger
	same(t, "May", len(testkit.Row[ledger](w.World, tables.Main, "USER#ann", "LEDGER#2026-05").Entries), 0)
}

// TestQueuesOutliveTheClaim: SQS delivers an event again only when the claim of a worker that
// died is over, and often enough.
func TestQueuesOutliveTheClaim(t *testing.T) {
	t.Parallel()
	w := small(t)
	fail(w, "/api/v3/", 400, htmlType, "")

	e := eventOf("create", 5, noon)

	worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	if worker.IngestEvent(w.NewContext(), e) == nil {
		t.Error("the event succeeds, though Strava refuses the request")
	}

	lease := int64(testkit.Rows[stored](w.World, tables.Idempotency)[0]["leaseUntil"].(float64)) - w.Clock.Now().UnixMilli()
	if visible, timeout := workout.IngestEventsFunction().VisibilityTimeout().Milliseconds(),
		workout.IngestEventsFunction().Timeout.Milliseconds(); lease <= timeout || lease > visible {
		t.Errorf("a claim lasts %d ms, want more than the timeout of %d and at most the %d after which the event is delivered again",
			lease, timeout, visible)
	}
}
