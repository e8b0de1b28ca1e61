package commitcollect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/dynamo"
)

// patch changes a milestone of ann.
func patch(w *commitcollecttest.World, id string, body map[string]any) milestone.Milestone {
	w.T.Helper()
	return testkit.Decode[milestone.Milestone](w.World, w.Ask("ann", http.MethodPatch, "/milestones/"+id, body))
}

// listedOf returns the ids of ann's milestones, as the list of open ones has them.
func listedOf(w *commitcollecttest.World) []string {
	return testkit.Row[dynamo.List](w.World, tables.Main, "USER#ann", "LIST#MILESTONES").IDs
}

// TestMilestoneEnds: workouts may arrive for a week after the last day is over everywhere; then the
// milestone is closed, and later workouts do not read it.
func TestMilestoneEnds(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-08"})
	year := w.Start("ann", commitcollecttest.Goal{})

	got := patch(w, id, map[string]any{"status": "ACTIVE"})
	same(t, "the end", []any{*got.EndsAt, *got.EndsInDays, got.CreatedAt.Truncate(time.Minute)},
		[]any{time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC), 2, noon})

	w.MoveClock(time.Date(2026, 6, 15, 15, 0, 0, 0, time.UTC))
	reconcile(w)
	w.MoveClock(time.Date(2026, 6, 16, 11, 0, 0, 0, time.UTC))
	w.Upload(77, "Run", time.Date(2026, 6, 8, 18, 0, 0, 0, time.UTC), 25_000)
	w.Pass(30 * time.Minute)
	same(t, "a run of the last day that is late", progress(w.Show("ann", id)), [3]int64{25_000, 25_000, 2})

	w.MoveClock(time.Date(2026, 6, 16, 12, 0, 0, 0, time.UTC))
	w.Upload(77, "Run", time.Date(2026, 6, 7, 18, 0, 0, 0, time.UTC), 10_000)
	w.Pass(30 * time.Minute)

	is := w.Show("ann", id)
	same(t, "one that is later still", []any{is.Status, is.State, progress(is)}, []any{"PAUSED", "ENDED", [3]int64{25_000, 25_000, 2}})
	same(t, "the other milestone", progress(w.Show("ann", year)), [3]int64{35_000, 35_000, 3})
	same(t, "the open ones", listedOf(w), []string{year})

	for user, list := range map[string]string{
		"ann":           w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts", nil).Body,
		"administrator": w.AskAdmin(http.MethodGet, "/admin/users/ann/milestones/"+id+"/workouts", nil).Body,
	} {
		var is verdicts
		testkit.Must(t, json.Unmarshal([]byte(list), &is))
		same(t, "why the first of them counts, and the later one does not, for "+user,
			[]any{is.Workouts[0].Counts, is.Workouts[0].Reasons, is.Workouts[1].Counts, is.Workouts[1].Reasons},
			[]any{true, []tally.Reason{}, false, []tally.Reason{"milestone_ended"}})
		same(t, "what they add up to, for "+user, is.RawProgress, map[string]int{"ann": 25_000}[user])

		path := "/activities/" + is.Workouts[1].ActivityID + "/eligibility?milestoneId=" + id
		same(t, "why the later one does not count",
			testkit.Decode[struct{ Reasons []string }](w.World, w.Ask("ann", http.MethodGet, path, nil)).Reasons, []string{"milestone_ended"})
	}

	for _, body := range []map[string]any{{"status": "PAUSED"}, {"periodEndDay": "2026-12-31"}} {
		refused(t, "a change", w.Ask("ann", http.MethodPatch, "/milestones/"+id, body), 409, "milestone_closed")
	}

	if got := patch(w, id, map[string]any{"status": "ABANDONED"}); got.State != "ABANDONED" || got.EndsInDays != nil {
		t.Errorf("it is %+v, want it abandoned", got)
	}
}

// TestEndedMilestoneListsWhatIsFetchedAgain: once the user has connected again, the workouts that counted do so in the
// list, although they have arrived after the end.
func TestEndedMilestoneListsWhatIsFetchedAgain(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-08"})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)
	w.MoveClock(noon.AddDate(0, 0, 20))
	w.End("ann")
	w.Work()
	w.Connect("ann", 77)
	w.Pass(time.Minute)

	is := testkit.Decode[verdicts](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id+"/workouts", nil))
	same(t, "the list", is.line(), "ENDED 25000 m, 1 of 1")
}

// TestMilestoneCountsAPauseThatIsLongerThanItsPeriod, and ends a week after it was resumed.
func TestMilestoneCountsAPauseThatIsLongerThanItsPeriod(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", EndDay: "2026-06-08"})
	patch(w, id, map[string]any{"status": "PAUSED"})

	w.MoveClock(time.Date(2026, 6, 20, 12, 0, 0, 0, time.UTC))
	w.Upload(77, "Run", time.Date(2026, 6, 8, 18, 0, 0, 0, time.UTC), 25_000)
	w.Pass(30 * time.Minute)
	same(t, "the pause", []any{w.Show("ann", id).State, progress(w.Show("ann", id))}, []any{"PAUSED", [3]int64{0, 0, 0}})

	same(t, "the resumption", patch(w, id, map[string]any{"status": "ACTIVE"}).State, "ACTIVE")
	w.Pass(30 * time.Minute)
	same(t, "the workouts", []any{w.Show("ann", id).State, progress(w.Show("ann", id))}, []any{"ACTIVE", [3]int64{25_000, 25_000, 2}})

	w.MoveClock(time.Date(2026, 6, 27, 13, 0, 0, 0, time.UTC))
	same(t, "a week later", w.Show("ann", id).State, "ENDED")
}

// TestMilestoneWhoseEndMovesIntoThePastCounts: it is open for a week, in which the workouts of the new period count.
func TestMilestoneWhoseEndMovesIntoThePastCounts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-06-01", Total: 1_000_000})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)
	w.MoveClock(noon.AddDate(0, 0, 20))

	same(t, "the change", patch(w, id, map[string]any{"periodEndDay": "2026-06-08"}).State, "ACTIVE")
	w.Work()

	is := w.Show("ann", id)
	same(t, "the milestone", []any{is.State, progress(is)}, []any{"ACTIVE", [3]int64{25_000, 25_000, 0}})

	w.MoveClock(noon.AddDate(0, 0, 27).Add(time.Hour))
	same(t, "a week later", w.Show("ann", id).State, "ENDED")
}

// TestMilestoneOfAPastYearCounts: one that is started after its last day is open for a week.
func TestMilestoneOfAPastYearCounts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Upload(77, "Run", time.Date(2025, 5, 5, 9, 0, 0, 0, time.UTC), 25_000)
	id := w.Start("ann", commitcollecttest.Goal{StartDay: "2025-05-01", EndDay: "2025-05-31"})
	w.Pass(time.Minute)

	is := w.Show("ann", id)
	same(t, "the milestone", []any{is.Status, progress(is)}, []any{"ACTIVE", [3]int64{25_000, 25_000, 2}})
}

// TestAbandonedMilestoneKeepsItsParts, counts no workouts, and cannot be resumed.
func TestAbandonedMilestoneKeepsItsParts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)

	for range 2 { // the second changes nothing
		same(t, "the status", patch(w, id, map[string]any{"status": "ABANDONED"}).State, "ABANDONED")
	}

	w.Upload(77, "Run", noon.Add(time.Hour), 25_000)
	w.Pass(2 * time.Hour)
	w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)

	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{25_000, 25_000, 2})
	same(t, "the open ones", len(listedOf(w)), 0)
	refused(t, "a resumption", w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"status": "ACTIVE"}), 409, "milestone_closed")
}

// TestDeletedMilestoneIsGone, with its parts; a second request, or one of another user, changes nothing.
func TestDeletedMilestoneIsGone(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)

	for _, c := range []struct {
		user string
		left int // the milestone and its parts
	}{{"bob", 3}, {"ann", 0}, {"ann", 0}} {
		if out := w.Ask(c.user, http.MethodDelete, "/milestones/"+id, nil); out.StatusCode != 204 {
			t.Errorf("%s: got %d %s", c.user, out.StatusCode, out.Body)
		}

		same(t, "rows after the request of "+c.user, w.Count(tables.Main, "USER#ann", "MILESTONE#"), c.left)
	}

	w.Upload(77, "Run", noon.Add(time.Hour), 25_000)
	w.Pass(2 * time.Hour)
	same(t, "what is left", w.Count(tables.Main, "USER#ann", "MILESTONE#"), 0)
	same(t, "the open ones", len(listedOf(w)), 0)
}

// TestGoalChangesUntilAPartIsMinted: the progress is that of the new goal.
func TestGoalChangesUntilAPartIsMinted(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Total: 1_200_000})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Upload(77, "Ride", noon.Add(-3*time.Hour), 40_000)
	w.Pass(time.Minute)
	same(t, "before", progress(w.Show("ann", id)), [3]int64{25_000, 25_000, 0})

	got := patch(w, id, map[string]any{"sport": "RIDE", "totalTarget": 600_001, "periodStartDay": "2026-06-01", "periodEndDay": "2026-06-30"})
	same(t, "the change", []any{got.Sport, got.TotalTarget, got.PartTarget, got.StartDay, got.EndDay, got.Progress, got.Version},
		[]any{got.Sport, int64(600_001), int64(50_001), "2026-06-01", "2026-06-30", int64(0), got.Version})
	w.Work()
	same(t, "after", progress(w.Show("ann", id)), [3]int64{40_000, 40_000, 0})

	refused(t, "an end before the start", w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"periodEndDay": "2026-05-01"}),
		400, "invalid_period")
	same(t, "without an end", patch(w, id, map[string]any{"noEnd": true, "totalTarget": 120_000}).EndDay, "")
	w.Work()
	same(t, "parts", w.Show("ann", id).PartsAwardedCount, 4)
	refused(t, "once a part is minted", w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"totalTarget": 1}), 409,
		"milestone_minted")
	same(t, "the same goal", patch(w, id, map[string]any{"totalTarget": 120_000, "status": "PAUSED"}).Status, "PAUSED")
}

// TestOnlyOpenMilestonesAreLimited: 50 are open, and about 200 are kept.
func TestOnlyOpenMilestonesAreLimited(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

	var first string
	for range 50 {
		first = w.Start("ann", commitcollecttest.Goal{})
	}

	body := map[string]any{"modelId": "trike", "sport": "RUN", "targetType": "DISTANCE_METERS", "totalTarget": 9, "periodStartDay": "2026-06-01"}
	refused(t, "another", w.Ask("ann", http.MethodPost, "/milestones", body), 409, "too_many_milestones")
	patch(w, first, map[string]any{"status": "ABANDONED"})
	w.MoveClock(noon.Add(time.Hour))

	next := testkit.Decode[struct{ MilestoneID string }](w.World, w.Ask("ann", http.MethodPost, "/milestones", body)).MilestoneID
	all := testkit.Decode[struct{ Milestones []milestone.Milestone }](w.World, w.Ask("ann", http.MethodGet, "/milestones", nil)).Milestones
	same(t, "the list, its first and its last", []any{len(all), all[0].MilestoneID, all[50].MilestoneID}, []any{51, next, first})

	var more []any
	for range 149 {
		r := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+first)
		r.SK += string(rune('A'+len(more)%26)) + string(rune('A'+len(more)/26))
		more = append(more, r)
	}

	testkit.PutRows(w.World, tables.Main, more...)
	patch(w, next, map[string]any{"status": "ABANDONED"})
	refused(t, "one of more than 200", w.Ask("ann", http.MethodPost, "/milestones", body), 409, "too_many_milestones_kept")
}

// TestClosedMilestonesDoNotBoundTheHistory: the weekly fetch begins with the earliest open milestone,
// or with the year.
func TestClosedMilestonesDoNotBoundTheHistory(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	long := w.Start("ann", commitcollecttest.Goal{StartDay: "2020-01-01"})
	w.Pass(time.Minute)

	after := func() int64 {
		t.Helper()

		var all []string
		w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
			if at := r.URL.Query().Get("after"); at != "" && !slices.Contains(all, at) {
				all = append(all, at)
			}

			return false
		}
		s := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)
		testkit.Must(t, s.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true}))

		if len(all) != 1 {
			t.Fatalf("the history is fetched after %v", all)
		}

		var at int64
		for _, c := range all[0] {
			at = at*10 + int64(c-'0')
		}

		return at
	}

	same(t, "with a milestone of 2020", time.Unix(after(), 0).UTC().Year(), 2019)
	patch(w, long, map[string]any{"status": "ABANDONED"})
	same(t, "without it", time.Unix(after(), 0).UTC().Format(time.DateOnly), "2025-12-31")
}

// TestEligibilityOfAMilestoneThatDoesNotCount: the milestone's state is a reason, too.
func TestEligibilityOfAMilestoneThatDoesNotCount(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id, full := w.Start("ann", commitcollecttest.Goal{}), w.Start("ann", commitcollecttest.Goal{Total: 10_000})
	run := w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Hour)
	later := w.Upload(77, "Run", w.Clock.Now().Add(time.Minute), 25_000)
	w.Pass(time.Hour)

	why := func(activity int64, milestone string) []string {
		path := fmt.Sprintf("/activities/%d/eligibility?milestoneId=%s", activity, milestone)

		out := testkit.Decode[struct {
			Counts  bool
			Reasons []string
		}](w.World, w.Ask("ann", http.MethodGet, path, nil))
		if out.Counts != (len(out.Reasons) == 0) {
			t.Errorf("%s: it counts: %v, and the reasons are %v", path, out.Counts, out.Reasons)
		}

		return out.Reasons
	}

	same(t, "what completed it", why(run, full), []string{})
	same(t, "what came after", why(later, full), []string{"milestone_completed"})

	for _, state := range []string{"PAUSED", "ABANDONED"} {
		patch(w, id, map[string]any{"status": state})
		same(t, "of one that is "+state, why(run, id), []string{"milestone_" + strings.ToLower(state)})
	}
}

// TestRecomputationsAreLimited: ten of a milestone in an hour.
func TestRecomputationsAreLimited(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	ask := func() int { return w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil).StatusCode }

	for n := range 10 {
		same(t, fmt.Sprint("recomputation ", n), ask(), 200)
	}

	refused(t, "one more", w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil), 429, "recompute_too_soon")
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	same(t, "an hour later", ask(), 200)
}

// TestGoalOfSeveralSports: walks and hikes of three days, by their time and as a streak.
func TestGoalOfSeveralSports(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	start := func(target string, total int64) string {
		out := w.Ask("ann", http.MethodPost, "/milestones", map[string]any{
			"modelId": "trike", "sports": []string{"WALK", "HIKE"}, "targetType": target, "totalTarget": total, "periodStartDay": "2026-06-01",
		})

		return testkit.Decode[struct{ MilestoneID string }](w.World, out).MilestoneID
	}
	seconds, streak := start("MOVING_SECONDS", 3600), start("STREAK_DAYS", 12)

	for n, sport := range []string{"Walk", "Hike", "Run", "Walk"} {
		w.Upload(77, sport, noon.AddDate(0, 0, -n), 5_000)
	}

	w.Pass(time.Minute)
	same(t, "by time", progress(w.Show("ann", seconds)), [3]int64{1800, 1800, 6})
	same(t, "by days", progress(w.Show("ann", streak)), [3]int64{2, 2, 2})

	got := patch(w, seconds, map[string]any{"status": "PAUSED"})
	same(t, "the sports", fmt.Sprint(got.Sport, got.Sports), "WALK[WALK HIKE]")

	body := map[string]any{"modelId": "trike", "targetType": "WORKOUTS", "totalTarget": 9, "periodStartDay": "2026-06-01"}
	refused(t, "no sport", w.Ask("ann", http.MethodPost, "/milestones", body), 400, "missing_sport")
}

// TestRowsOfBefore: milestones as they were stored before they could end have their meaning, and a list
// that is full of completed ones leaves room for another.
func TestRowsOfBefore(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")

	var ids []string

	for n := range 50 {
		id := fmt.Sprintf("01JZ00000000000000000000%02d", n)
		ids = append(ids, id)

		row := stored{
			"PK": "USER#ann", "SK": "MILESTONE#" + id, "entityType": "Milestone", "milestoneId": id, "userId": "ann", "modelId": "trike",
			"sport": "RUN", "targetType": "DISTANCE_METERS", "totalTarget": 120_000, "partTarget": 10_000, "partsTotal": 12, "period": "YEAR",
			"periodStartAtUtc": noon.AddDate(0, -5, 0).Unix(), "status": "COMPLETED", "progressValue": 120_000, "rawProgress": 120_000,
			"partsAwardedCount": 12, "partsNoticedCount": 12, "version": 3, "createdAtUtc": noon.AddDate(0, -5, 0).Unix(),
			"lastAwardedAtUtc": noon.Unix(), "completedAtUtc": noon.Unix(),
		}

		switch n {
		case 0: // it has never ended
			row["status"], row["partsAwardedCount"], row["partsNoticedCount"], row["periodEndDay"] = "ACTIVE", 3, 3, "2026-05-20"
		case 1:
			row["status"], row["progressValue"], row["partsAwardedCount"], row["partsNoticedCount"] = "ACTIVE", 0, 0, 0
		}

		testkit.PutRows(w.World, tables.Main, row)
	}

	testkit.PutRows(w.World, tables.Main, stored{
		"PK": "USER#ann", "SK": "LIST#MILESTONES", "ids": ids, "expiresAt": noon.AddDate(50, 0, 0).Unix(), "ttl": noon.AddDate(50, 0, 0).Unix(),
	})

	same(t, "one that was over", w.Show("ann", ids[0]).State, "ENDED")

	next := w.Start("ann", commitcollecttest.Goal{})
	same(t, "the open ones", listedOf(w), []string{ids[1], next})
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)
	same(t, "the one that is open", progress(w.Show("ann", ids[1])), [3]int64{25_000, 25_000, 2})
	same(t, "the one that is over", progress(w.Show("ann", ids[0])), [3]int64{120_000, 120_000, 3})
}

// TestClosedMilestoneSendsItsNotices: a worker has died after it minted the last parts. The next one
// sends their notice, and only then is the milestone taken off the list.
func TestClosedMilestoneSendsItsNotices(t *testing.T) {
	t.Parallel()

	for _, status := range []string{"COMPLETED", "ABANDONED"} {
		w := small(t)
		id := reached(w)
		testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
		w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(workout.NoticeQueue.Name)}, nil)

		m := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
		m["status"], m["partsNoticedCount"] = status, 1
		testkit.PutRows(w.World, tables.Main, m)

		for _, left := range []int{1, 0} {
			testkit.Must(t, evaluate(w, w.Env(milestone.EvaluateMilestonesFunction())))
			same(t, status+": the list", len(listedOf(w)), left)
		}

		same(t, status+": the notices", testkit.Messages[workout.Notice](w.World, workout.NoticeQueue),
			[]workout.Notice{{UserID: "ann", MilestoneID: id, PartIndex: 2}})
	}
}
