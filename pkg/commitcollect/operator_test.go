package commitcollect_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
)

// TestOperatorSeesNoDistances: an administrator sees ids, verdicts and times of a user.
func TestOperatorSeesNoDistances(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Total: 123_456})
	run, ride := w.Upload(77, "Run", noon.Add(-time.Hour), 34_567), w.Upload(77, "Ride", noon.Add(-5*time.Hour), 34_567)
	w.Pass(time.Minute)

	user := w.AskAdmin(http.MethodGet, "/admin/users/ann", nil)
	why := w.AskAdmin(http.MethodGet, "/admin/users/ann/milestones/"+id+"/workouts", nil)

	type milestone struct {
		MilestoneID, Status                  string
		PartsAwardedCount, PartsNoticedCount int
	}

	got := testkit.Decode[struct {
		Connection string
		Milestones []milestone
	}](w.World, user)
	same(t, "the user", []any{got.Connection, got.Milestones}, []any{"CONNECTED", []milestone{{id, "ACTIVE", 3, 3}}})

	type verdict struct {
		Counts  bool
		Reasons []string
	}

	same(t, "the verdicts", testkit.Decode[struct{ Workouts []verdict }](w.World, why).Workouts,
		[]verdict{{true, []string{}}, {false, []string{"other_sport"}}})

	if !strings.Contains(why.Body, fmt.Sprint(run)) || !strings.Contains(why.Body, fmt.Sprint(ride)) {
		t.Errorf("the verdicts lack an id: %s", why.Body)
	}

	for _, out := range []string{user.Body, why.Body} {
		if found := regexp.MustCompile(`@|34567|123456|Ride|Workout"|RUN`).FindString(out); found != "" {
			t.Errorf("the answer has %s: %s", found, out)
		}
	}

	refused(t, "a user who does not exist", w.AskAdmin(http.MethodGet, "/admin/users/bob", nil), 404, "user_not_found")
}

// TestOperatorReplaysAUser: what webhooks have lost is fetched, and the parts are minted.
func TestOperatorReplaysAUser(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{Lost: 1}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Hour)
	same(t, "before", progress(w.Show("ann", id)), [3]int64{})

	for range 2 {
		same(t, "the answer", w.AskAdmin(http.MethodPost, "/admin/users/ann/replay", nil).StatusCode, 202)
		w.Work()
		same(t, "after it", progress(w.Show("ann", id)), [3]int64{25_000, 25_000, 2})
	}
}
