package commitcollect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

// TestNewAgeOfStrava: with the API at its new place the room works as before, after the day on which Strava
// closes the old ways; without, an activity of which the path is gone is not taken for deleted.
func TestNewAgeOfStrava(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		api  string
		want [3]int64
	}{
		"the new place": {"https://127.0.0.4", [3]int64{25_000, 25_000, 2}},
		"the old place": {"", [3]int64{5_000, 5_000, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.New(t, strava.Faults{})
			w.AddModel("trike", 12)
			w.MoveClock(time.Date(2027, 5, 31, 23, 0, 0, 0, time.UTC))
			w.Subscribe()
			w.SignIn("ann")
			w.Connect("ann", 77)
			w.Work()

			id := w.Start("ann", commitcollecttest.Goal{Start: w.Clock.Now().AddDate(0, 0, -2)})
			run := w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5_000)
			w.Pass(time.Minute)

			w.Settings[link.StravaAPI] = c.api
			w.MoveClock(time.Date(2027, 6, 1, 1, 0, 0, 0, time.UTC))
			w.Strava.Edit(run, map[string]any{"title": "Run"}, func(a *strava.Activity) { a.Distance = 25_000 })

			for range 5 {
				w.Pass(5 * time.Minute)
			}

			same(t, "the milestone", progress(w.Show("ann", id)), c.want)
			w.End("ann")
			same(t, "the access at Strava", w.Strava.Connected(77), false)
			w.Logs.TakeWarnings()
		})
	}
}

// TestCapacityOfStrava: a user whom Strava does not let connect gets a page with the reason, an operator an
// alarm, and everybody else stays connected.
func TestCapacityOfStrava(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Strava.Admit(1)
	w.SignIn("bob")
	refused(t, "bob", w.Ask("bob", http.MethodGet, w.Consent("bob", 78, "yes", "activity:read").RequestURI(), nil), 409, "strava_capacity")
	same(t, "rows of bob's connection", w.Count(tables.Main, "USER#bob", "STRAVA#"), 0)
	same(t, "the alarm's metric", w.Logs.SumMetric(link.AthletesRefused), 1.0)
	w.Connect("ann", 77)

	run := w.Upload(77, "Run", noon.Add(-time.Hour), 5_000)
	w.Pass(time.Minute)

	if workoutOf(w, "ann", run)["distanceMeters"] != 5000.0 || connection(w, "ann")["status"] != link.Connected {
		t.Error("the user who is connected is not any more")
	}

	w.Strava.Admit(2)
	w.Connect("bob", 78)
	w.Logs.TakeWarnings()
}

// TestRevocationIsTriedAgain for a week, unless somebody has connected the athlete again.
func TestRevocationIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	calls := fail(w, "/oauth/revoke", 503, htmlType, "")
	w.End("ann")

	for range 4 {
		w.Pass(link.RevokeDelay)
	}

	same(t, "tries within an hour", *calls, 5)

	w.Outage = nil
	w.Connect("ann", 77)

	for range 2 {
		w.Pass(link.RevokeDelay)
	}

	same(t, "the access after the user has connected again", w.Strava.Connected(77), true)
	same(t, "messages", len(testkit.Messages[link.Purge](w.World, link.PurgeQueue)), 0)

	c := connection(w, "ann")
	calls = fail(w, "/oauth/revoke", 503, htmlType, "")
	w.End("ann")
	w.MoveClock(w.Clock.Now().Add(link.RevokeFor + time.Hour))

	err := testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger).PurgeWorkouts(w.NewContext(),
		link.Purge{UserID: "ann", Token: c["refreshToken"].(string), AthleteID: 77, Since: w.Clock.Now().Add(-link.RevokeFor - time.Hour).Unix()})
	if err == nil || !strings.Contains(err.Error(), "503") || *calls != 2 {
		t.Errorf("after a week: %v after %d calls, want the answer of Strava", err, *calls)
	}

	w.Logs.TakeWarnings()
}
