package commitcollect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

// TestCallsAreCountedInWindows: webhooks may use all calls of a quarter of an hour and of a
// day, which begin anew, at the turn of the year, too.
func TestCallsAreCountedInWindows(t *testing.T) {
	t.Parallel()

	eve := time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC)
	for name, c := range map[string]struct {
		at, counted   time.Time // of the call, and of the last one before
		used, usedDay int
		waits         []time.Duration
	}{
		"the last of a quarter":         {noon, noon, 99, 500, nil},
		"a quarter is used up":          {noon.Add(14*time.Minute + 59*time.Second), noon, 100, 500, []time.Duration{time.Second}},
		"the next quarter":              {noon.Add(15 * time.Minute), noon, 100, 500, nil},
		"the last of a day":             {noon, noon, 10, 999, nil},
		"a day is used up":              {noon, noon.Add(-time.Hour), 10, 1000, []time.Duration{15 * time.Minute}},
		"a year's last day is used up":  {eve, eve.Add(-time.Hour), 10, 1000, []time.Duration{time.Second}},
		"the first second of the year":  {eve.Add(time.Second), eve, 100, 1000, nil},
		"nothing was counted for weeks": {noon, noon.AddDate(0, -1, 0), 100, 1000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			w.MoveClock(c.at)
			testkit.PutRows(w.World, tables.Main, stored{
				"PK": "STRAVA#BUDGET", "SK": "META", "used": c.used, "usedDay": c.usedDay,
				"quarter": c.counted.Truncate(15 * time.Minute).Unix(), "day": c.counted.Truncate(24 * time.Hour).Unix(),
			})

			calls := 0
			w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/oauth/token" {
					calls++
				}

				return false
			}
			ingest(w, eventOf("create", w.Upload(77, "Run", noon.Add(-time.Hour), 1000), noon))
			same(t, "the event waits", waiting(w, workout.EventQueue.Name), c.waits)
			same(t, "calls", calls, 1-len(c.waits))
			same(t, "calls of the user's", row(w, "USER#ann", "STRAVA#EVENTS")["used"], any(float64(1-len(c.waits))))
		})
	}
}

// TestEventsOfAUserHaveAShareOfTheCalls: 20 in a quarter of an hour and 100 in a day, whatever a
// user has Strava report. The events of others do not wait for them. What is beyond those of the
// day comes with the history, in the night; a deletion needs no call.
func TestEventsOfAUserHaveAShareOfTheCalls(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	old := w.Upload(77, "Run", noon.AddDate(0, -2, 0), 1000)
	gone := w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000)
	run := w.Upload(78, "Run", noon.Add(-time.Hour), 1000)
	w.Pass(time.Minute)
	silence(w)
	w.MoveClock(noon.Add(time.Hour))

	calls := 0
	w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/api/v3/activities/") {
			calls++
		}

		return false
	}
	w.Strava.Edit(old, nil, func(a *strava.Activity) { a.Distance = 2000 })
	silence(w)

	for i := range 120 {
		ingest(w, eventOf("update", old, noon.Add(time.Duration(i)*time.Second)))
	}

	same(t, "calls in a quarter of an hour", calls, 20)

	e := eventOf("create", run, noon)
	e.OwnerID = 78
	ingest(w, e)
	same(t, "the workout of another user is stored", workoutOf(w, "bob", run) != nil, true)

	for range 12 {
		w.Pass(15 * time.Minute)
	}

	same(t, "calls in a day", calls, 1+98) // and two when ann's runs were uploaded
	same(t, "events that wait", len(testkit.Messages[workout.Event](w.World, workout.EventQueue)), 0)
	ingest(w, eventOf("delete", gone, noon.Add(time.Hour)))
	same(t, "a workout is deleted", workoutOf(w, "ann", gone)["isDeleted"], any(true))
	w.Strava.Edit(old, nil, func(a *strava.Activity) { a.Distance = 3000 })
	silence(w)
	ingest(w, eventOf("update", old, noon.Add(4*time.Hour)))
	same(t, "metres before the night", workoutOf(w, "ann", old)["distanceMeters"], any(2000.0))
	reconcile(w)
	same(t, "metres after the night", workoutOf(w, "ann", old)["distanceMeters"], any(3000.0))
}

// TestEventOfTheFuture: an event whose time is wrong does not hide the later ones for ever.
func TestEventOfTheFuture(t *testing.T) {
	t.Parallel()
	w := small(t)
	run := ran(w)
	ingest(w, eventOf("delete", run, noon.AddDate(10, 0, 0)))
	same(t, "deleted", workoutOf(w, "ann", run)["isDeleted"], any(true))
	w.MoveClock(noon.Add(time.Hour))
	ingest(w, eventOf("create", run, noon.Add(time.Hour)))
	same(t, "deleted, after it was shown again", workoutOf(w, "ann", run)["isDeleted"], any(false))
}

// TestBrokenModelBlocksNoOtherMilestone: the evaluation fails, and has counted the others.
func TestBrokenModelBlocksNoOtherMilestone(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.AddModel("kite", 12)
	ids := []string{w.Start("ann", commitcollecttest.Goal{}), w.Start("ann", commitcollecttest.Goal{Model: "kite"}),
		w.Start("ann", commitcollecttest.Goal{})}
	w.Work()
	testkit.Must(t, w.DeleteRow(tables.Main, "MODEL#kite", "PART#02"))
	run := w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	silence(w)
	ingest(w, eventOf("create", run, noon))

	s := testkit.Open(w.World, milestone.EvaluateMilestonesFunction(), milestone.Open)
	if s.EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"}) == nil {
		t.Error("an evaluation succeeds that lacks a part")
	}

	if n := w.Logs.SumMetric(milestone.PartsMissing); n != 1 {
		t.Errorf("%v missing parts are counted, want 1", n)
	}

	for i, want := range []int{2, 0, 2} {
		same(t, "parts", w.Show("ann", ids[i]).PartsAwardedCount, want)
	}
}

// TestStatusIsFreshForAWeek after the begin of the latest workout.
func TestStatusIsFreshForAWeek(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

	type status struct {
		WorkoutCount     int
		IsFresh          bool
		LatestActivityAt *time.Time
	}

	get := func() status {
		return testkit.Decode[status](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil))
	}
	same(t, "without workouts", get(), status{})
	w.Upload(77, "Run", noon, 1000)
	w.Strava.Delete(w.Upload(77, "Yoga", noon.Add(time.Minute), 0))
	w.Pass(time.Minute)

	for i, fresh := range []bool{true, false} {
		w.MoveClock(noon.AddDate(0, 0, 7).Add(time.Duration(i) * time.Second))
		same(t, "in a week", get(), status{1, fresh, &noon})
	}
}
