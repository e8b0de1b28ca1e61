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
)

// verdicts is the answer with verdicts.
type verdicts struct {
	MilestoneStatus                          string
	RawProgress, CountedTotal, WorkoutsTotal int
	Workouts                                 []milestone.Verdict
	Next                                     string
}

// TestWhatCounted: the pages have each workout once, the latest first, with what it adds, and the sums
// are of all pages. Other users see nothing of it.
func TestWhatCounted(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-30"})

	first := w.Upload(77, "Run", noon.Add(-5*time.Hour), 5_000)
	ride := w.Upload(77, "Ride", noon.Add(-4*time.Hour), 30_000)
	twin := w.Upload(77, "Run", noon.Add(-5*time.Hour+time.Minute), 5_010)
	early := w.Upload(77, "Run", noon.AddDate(0, 0, -6), 7_000)
	w.Upload(77, "Run", noon.AddDate(0, -1, 0), 7_000) // of another month
	w.Pass(time.Minute)

	get := func(query string) verdicts {
		return testkit.Decode[verdicts](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts?"+query, nil))
	}

	var lines []string

	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		query := "limit=2"
		if next != "" {
			query += "&cursor=" + next
		}

		page := get(query)
		same(t, "the sums", page.line(), "ACTIVE 5000 m, 1 of 4")

		for _, v := range page.Workouts {
			lines = append(lines, fmt.Sprint(v.ActivityID, " ", v.Name, " ", v.Counts, " ", v.Value, " ", v.Reasons, " ", len(v.Texts), v.DuplicateOf))
		}

		if next = page.Next; pages > 2 {
			t.Fatal("the pages do not end")
		}
	}

	same(t, "the verdicts", lines, []string{
		fmt.Sprint(ride, " Workout false 30000 [other_sport] 1"),
		fmt.Sprint(twin, " Workout false 5010 [duplicate] 1", first),
		fmt.Sprint(first, " Workout true 5000 [] 0"),
		fmt.Sprint(early, " Workout false 7000 [before_start] 1"),
	})

	refused(t, "of another user", w.Ask("bob", http.MethodGet, "/milestones/"+id+"/workouts", nil), 404, "milestone_not_found")
	patch(w, id, map[string]any{"status": "PAUSED"})
	same(t, "the newest of a paused one", fmt.Sprint(get("limit=1").Workouts[0].Reasons), "[other_sport milestone_paused]")
	same(t, "after the last", len(get("cursor=0000000001-1").Workouts), 0)
}

// line describes the sums of an answer.
func (v verdicts) line() string {
	return fmt.Sprintf("%s %d m, %d of %d", v.MilestoneStatus, v.RawProgress, v.CountedTotal, v.WorkoutsTotal)
}
