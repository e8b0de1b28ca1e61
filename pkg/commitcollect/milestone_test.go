package commitcollect_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/idem"
)

// TestMilestoneIsRefused: each way in which a request to start one is wrong.
func TestMilestoneIsRefused(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.AskAdmin(http.MethodPut, "/admin/models/draft", map[string]any{"name": "Draft", "year": 2026, "partsTotal": 3})

	for what, c := range map[string]struct {
		change map[string]any
		status int
		code   string
	}{
		"an unknown model":             {map[string]any{"modelId": "boat"}, 404, "model_not_found"},
		"a model that is not active":   {map[string]any{"modelId": "draft"}, 400, "model_not_active"},
		"another number of parts":      {map[string]any{"partsTotal": 11}, 400, "parts_total_must_match_model"},
		"an end before the start":      {map[string]any{"periodEndDay": "2025-12-30"}, 400, "invalid_period"},
		"an end before the first day":  {map[string]any{"periodStartDay": "2026-05-01", "periodEndDay": "2026-04-30"}, 400, "invalid_period"},
		"a first day long ago":         {map[string]any{"periodStartDay": "0001-01-01"}, 400, "invalid_period"},
		"no metres":                    {map[string]any{"totalTarget": 0}, 422, "invalid"},
		"no start":                     {map[string]any{"periodStartAtUtc": 0}, 422, "invalid"},
		"a sport that is not counted":  {map[string]any{"sport": "CHESS"}, 422, "invalid"},
		"a target that is not counted": {map[string]any{"targetType": "HOURS"}, 422, "invalid"},
		"a day that does not exist":    {map[string]any{"periodEndDay": "2026-02-30"}, 422, "invalid"},
	} {
		body := map[string]any{
			"modelId":          "trike",
			"sport":            "RUN",
			"targetType":       "DISTANCE_METERS",
			"totalTarget":      1000,
			"periodStartAtUtc": 1767225600,
		}
		maps.Copy(body, c.change)
		refused(t, what, w.Ask("ann", http.MethodPost, "/milestones", body), c.status, c.code)
	}

	for _, path := range []string{"", "/awards"} {
		refused(t, "an unknown milestone", w.Ask("ann", http.MethodGet, "/milestones/01JZ0000000000000000000001"+path, nil),
			404, "milestone_not_found")
	}
}

// TestLimitsOfAUser: 50 milestones, 10 phones, and a sync in 15 minutes.
func TestLimitsOfAUser(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	for range 50 {
		w.Start("ann", commitcollecttest.Goal{})
	}

	body := map[string]any{
		"modelId":          "trike",
		"sport":            "RUN",
		"targetType":       "DISTANCE_METERS",
		"totalTarget":      1000,
		"periodStartAtUtc": 1767225600,
	}
	refused(t, "one milestone more", w.Ask("ann", http.MethodPost, "/milestones", body), 409, "too_many_milestones")

	if got := testkit.Decode[struct{ Milestones []any }](w.World,
		w.Ask("ann", http.MethodGet, "/milestones", nil)); len(got.Milestones) != 50 {
		t.Errorf("%d milestones are listed", len(got.Milestones))
	}

	phone := func(n int) map[string]any { return map[string]any{"deviceToken": fmt.Sprintf("%064x", n)} }
	for n := range 10 {
		if out := w.Ask("ann", http.MethodPost, "/devices", phone(n)); out.StatusCode != 201 {
			t.Fatalf("phone %d: %d %s", n, out.StatusCode, out.Body)
		}
	}

	refused(t, "one phone more", w.Ask("ann", http.MethodPost, "/devices", phone(10)), 409, "too_many_devices")

	if out := w.Ask("ann", http.MethodPost, "/devices", phone(3)); out.StatusCode != 201 {
		t.Errorf("a phone again: %d %s", out.StatusCode, out.Body)
	}

	if out := w.Ask("ann", http.MethodPost, "/activities/sync", nil); out.StatusCode != 202 {
		t.Errorf("a sync: %d %s", out.StatusCode, out.Body)
	}

	w.MoveClock(w.Clock.Now().Add(15*time.Minute - time.Second))
	out := w.Ask("ann", http.MethodPost, "/activities/sync", nil)
	refused(t, "another", out, 429, "sync_too_soon")

	if got := testkit.Header(out).Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %s, want 1", got)
	}

	w.MoveClock(w.Clock.Now().Add(time.Second))

	if out := w.Ask("ann", http.MethodPost, "/activities/sync", nil); out.StatusCode != 202 {
		t.Errorf("15 minutes later: %d %s", out.StatusCode, out.Body)
	}

	w.SignIn("bob")
	refused(t, "without Strava", w.Ask("bob", http.MethodPost, "/activities/sync", nil), 409, "not_connected")
}

// TestRepeatedRequestStartsOneMilestone: the same Idempotency-Key is the same milestone,
// and another body with it is refused.
func TestRepeatedRequestStartsOneMilestone(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	s := testkit.Open(w.World, milestone.CreateMilestoneFunction(), milestone.Open)
	ask := func(total int64) (string, error) {
		in := &milestone.CreateMilestone{User: user("ann"), Key: idem.Key{IdempotencyKey: "k"}}
		in.Body.ModelID, in.Body.Sport, in.Body.TargetType, in.Body.TotalTarget, in.Body.Start = "trike", "RUN",
			"DISTANCE_METERS", total, 1767225600

		out, err := s.CreateMilestone(w.NewContext(), in)
		if err != nil {
			return "", err
		}

		return out.Body.MilestoneID, nil
	}
	first, err := ask(1000)
	testkit.Must(t, err)

	if again, err := ask(1000); err != nil || again != first {
		t.Errorf("the second request: %s, %v, want %s", again, err, first)
	}

	if _, err := ask(2000); !errors.Is(err, idem.ErrConflict) {
		t.Errorf("another body: %v", err)
	}
}

// TestRepeatedRequestFetchesTheHistoryOnce: a milestone of an earlier year has the history
// fetched once, however often the request comes again. If the message of the first could not
// be sent, the next one sends it.
func TestRepeatedRequestFetchesTheHistoryOnce(t *testing.T) {
	t.Parallel()
	w := small(t)
	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "STRAVA#CONNECTION"))
	s := testkit.Open(w.World, milestone.CreateMilestoneFunction(), milestone.Open)

	var last error

	ask := func() error {
		last = earlier(w, s)
		return last
	}
	dynamotest.CheckFailures(t, &w.IO, ask)
	testkit.Must(t, last)

	sent := len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue))
	if sent < 1 || sent > 2 { // twice if the mark fails after it
		t.Errorf("%d messages are sent, want 1 or 2", sent)
	}

	for range 100 {
		testkit.Must(t, ask())
	}

	same(t, "messages after 100 requests more", testkit.Messages[link.Backfill](w.World, link.BackfillQueue),
		slices.Repeat([]link.Backfill{{UserID: "ann", Whole: true}}, sent))
	w.Work()
	testkit.Must(t, ask())
	same(t, "messages once it is fetched", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// earlier starts a milestone of ann that begins a year before noon, always with the same key.
func earlier(w *commitcollecttest.World, s *milestone.Service) error {
	in := &milestone.CreateMilestone{User: user("ann"), Key: idem.Key{IdempotencyKey: "earlier"}}
	in.Body.ModelID, in.Body.Sport, in.Body.TargetType, in.Body.TotalTarget, in.Body.Start = "trike", tally.Run, tally.Distance,
		30_000, noon.AddDate(-1, 0, 0).Unix()
	_, err := s.CreateMilestone(w.NewContext(), in)

	return err
}

// TestWhyAWorkoutDoesNotCount: the answer names each reason.
func TestWhyAWorkoutDoesNotCount(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Ask("ann", http.MethodPatch, "/preferences",
		map[string]any{"counts": map[string]any{"virtual": false, "eBike": false, "handcycle": false, "manual": false, "private": false}})
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(0, -1, 0), EndDay: "2026-06-30"})
	run := func(change func(*strava.Activity)) int64 {
		a := strava.Activity{SportType: "Run", StartDate: noon.Add(-time.Hour), Distance: 5000}
		change(&a)

		return w.Strava.Upload(77, a)
	}
	cases := map[string]int64{
		"counts":             run(func(a *strava.Activity) {}),
		"duplicate":          run(func(a *strava.Activity) { a.StartDate, a.Distance = a.StartDate.Add(time.Minute), 5060 }),
		"other_sport":        run(func(a *strava.Activity) { a.SportType = "Walk" }),
		"before_start":       run(func(a *strava.Activity) { a.StartDate = noon.AddDate(0, -2, 0) }),
		"after_end":          run(func(a *strava.Activity) { a.StartDate = noon.AddDate(0, 1, 0) }),
		"virtual_not_chosen": run(func(a *strava.Activity) { a.SportType, a.StartDate = "VirtualRun", noon.Add(-2*time.Hour) }),
		"manual_not_chosen":  run(func(a *strava.Activity) { a.Manual, a.StartDate = true, noon.Add(-3*time.Hour) }),
		"private_not_chosen": run(func(a *strava.Activity) { a.Visibility, a.StartDate = "only_me", noon.Add(-4*time.Hour) }),
		"flagged":            run(func(a *strava.Activity) { a.Flagged, a.StartDate = true, noon.Add(-5*time.Hour) }),
		"no_value":           run(func(a *strava.Activity) { a.Distance, a.StartDate = 0, noon.Add(-6*time.Hour) }),
		"deleted":            run(func(a *strava.Activity) { a.StartDate = noon.Add(-7 * time.Hour) }),
	}

	w.Pass(time.Minute)
	w.Strava.Delete(cases["deleted"])
	w.Pass(time.Minute)

	for want, a := range cases {
		got := testkit.Decode[struct {
			Counts         bool
			Reasons, Texts []string
			DuplicateOf    string
		}](w.World, w.Ask("ann", http.MethodGet, fmt.Sprintf("/activities/%d/eligibility?milestoneId=%s", a, id), nil))
		if want == "counts" {
			if !got.Counts || len(got.Reasons) > 0 {
				t.Errorf("a workout that counts: %+v", got)
			}

			continue
		}

		if got.Counts || len(got.Reasons) != 1 || got.Reasons[0] != want || len(got.Texts) != 1 || got.Texts[0] == "" ||
			(got.DuplicateOf != "") != (want == "duplicate") {
			t.Errorf("%s: got %+v", want, got)
		}
	}

	if m := w.Show("ann", id); m.RawProgress != 5000 {
		t.Errorf("the milestone is %+v, want 5,000 m, and one workout before the start", m)
	}

	refused(t, "an unknown activity", w.Ask("ann", http.MethodGet, "/activities/4/eligibility?milestoneId="+id, nil),
		404, "activity_not_found")
	w.Ask("ann", http.MethodPatch, "/preferences",
		map[string]any{"counts": map[string]any{"virtual": true, "eBike": true, "handcycle": true, "manual": true, "private": true}})
	w.Work()

	if m := w.Show("ann", id); m.RawProgress != 20_000 {
		t.Errorf("once everything is chosen: %+v, want 20,000 m", m)
	}
}

// TestDaysAreThoseOfTheWorkout: a milestone with days counts a workout by the day where it
// began, at the turn of the year, too.
func TestDaysAreThoseOfTheWorkout(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	days := w.Start("ann", commitcollecttest.Goal{StartDay: "2026-01-01", EndDay: "2026-12-31"})
	utc := w.Start("ann", commitcollecttest.Goal{})
	run := func(start string, offset float64) {
		at, err := time.Parse(time.RFC3339, start)
		testkit.Must(t, err)
		w.Strava.Upload(77, strava.Activity{SportType: "Run", StartDate: at, UTCOffset: offset, Distance: 1000})
	}
	run("2025-12-31T12:30:00Z", 13*3600) // 01:30 on New Year's Day in Auckland
	run("2026-01-01T05:00:00Z", -8*3600) // 21:00 on New Year's Eve in Los Angeles
	run("2026-12-31T23:30:00Z", -5*3600)
	run("2027-01-01T04:30:00Z", -5*3600) // 23:30 on New Year's Eve in New York
	run("2027-01-01T05:30:00Z", -5*3600)
	w.Pass(time.Minute)

	if got := w.Show("ann", days).ProgressValue; got != 3000 {
		t.Errorf("by days %d m count, want 3,000", got)
	}

	if got := w.Show("ann", utc).ProgressValue; got != 4000 {
		t.Errorf("by the time of the start %d m count, want 4,000", got)
	}
}

// TestActivityMovedBeforeThePeriod: a workout whose date is corrected leaves the period and
// its month's ledger, and the progress stays.
func TestActivityMovedBeforeThePeriod(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	a := w.Upload(77, "Run", noon.Add(-time.Hour), 12_000)
	w.Pass(time.Minute)
	w.Strava.Edit(a, map[string]any{}, func(a *strava.Activity) { a.StartDate = noon.AddDate(-1, 0, 0) })
	w.Pass(time.Minute)

	if m := w.Show("ann", id); m.ProgressValue != 12_000 || m.RawProgress != 0 || m.PartsAwardedCount != 1 {
		t.Errorf("the milestone is %+v", m)
	}

	for month, want := range map[string]int{"2026-06": 0, "2025-06": 1} {
		if entries, _ := row(w, "USER#ann", "LEDGER#"+month)["entries"].([]any); len(entries) != want {
			t.Errorf("the ledger of %s has %d entries, want %d", month, len(entries), want)
		}
	}
}

// TestPause: a paused milestone mints nothing, and counts everything when it goes on. A
// completed one stays completed.
func TestPause(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Total: 12_000})
	set := func(status string) {
		w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"status": status})
		w.Work()
	}
	set("PAUSED")

	a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	if m := w.Show("ann", id); m.Status != "PAUSED" || m.PartsAwardedCount != 0 {
		t.Errorf("while it is paused: %+v", m)
	}

	set("PAUSED")
	set("ACTIVE")

	if m := w.Show("ann", id); m.Status != "ACTIVE" || m.PartsAwardedCount != 5 {
		t.Errorf("when it goes on: %+v", m)
	}

	w.Upload(77, "Run", noon.Add(-3*time.Hour), 7000)
	w.Pass(time.Minute)
	w.Strava.Delete(a)
	w.Pass(time.Minute)

	if m := w.Show("ann", id); m.Status != "COMPLETED" || m.PartsAwardedCount != 12 {
		t.Errorf("when it is complete, and a workout is deleted: %+v", m)
	}

	refused(t, "a pause of a completed one",
		w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"status": "PAUSED"}), 409, "milestone_completed")
}

// TestPartsAreMintedOnce: many evaluations and recomputations at once mint each part once,
// under the version of the milestone.
func TestPartsAreMintedOnce(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 45_000)
	w.Strava.Expire(0)
	w.MoveClock(noon.Add(time.Minute))
	ingester := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	testkit.Drain(w.World, workout.EventQueue, time.Minute, ingester.IngestEvent)
	s := testkit.Open(w.World, milestone.EvaluateMilestonesFunction(), milestone.Open)

	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			if n%2 == 0 {
				s.EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"})
			} else if out := w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil); out.StatusCode != 200 &&
				!strings.Contains(out.Body, "milestone_version_conflict") {
				t.Errorf("a recomputation: %d %s", out.StatusCode, out.Body)
			}
		})
	}

	all.Wait()
	w.Work()

	if m := w.Show("ann", id); m.PartsAwardedCount != 4 || len(m.Awards) != 4 || m.ProgressValue != 45_000 {
		t.Errorf("the milestone is %+v, want 4 parts", m)
	}

	minted := 0

	for _, e := range trailOf(w, "ann") {
		if e == "MILESTONE_PART_MINTED success" {
			minted++
		}
	}

	if minted != 4 {
		t.Errorf("the trail has %d minted parts, want 4", minted)
	}

	noticed := map[int]bool{}
	for _, m := range testkit.Messages[workout.Notice](w.World, workout.NoticeQueue) {
		for n := cmp.Or(m.From, m.PartIndex); n <= m.PartIndex; n++ {
			noticed[n] = true
		}
	}

	if len(noticed) != 4 {
		t.Errorf("notices of the parts %v, want 4", noticed)
	}
}

// TestMissingPartMintsNothing: a model without a part that is to be minted is an error, and
// neither the milestone nor another part is written.
func TestMissingPartMintsNothing(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Work()
	testkit.Must(t, w.DeleteRow(tables.Main, "MODEL#trike", "PART#02"))
	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.MoveClock(noon.Add(time.Minute))
	ingester := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	testkit.Drain(w.World, workout.EventQueue, time.Minute, ingester.IngestEvent)

	s := testkit.Open(w.World, milestone.EvaluateMilestonesFunction(), milestone.Open)
	if err := s.EvaluateMilestones(w.NewContext(), workout.Changed{UserID: "ann"}); err == nil ||
		!strings.Contains(err.Error(), "model_part_missing") {
		t.Errorf("the evaluation: %v", err)
	}

	if m := w.Show("ann", id); m.ProgressValue != 0 || len(m.Awards) != 0 {
		t.Errorf("the milestone is %+v, want nothing written", m)
	}
}

// TestModelIsActivatedOnceItIsComplete, and then keeps its number of parts.
func TestModelIsActivatedOnceItIsComplete(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	part := map[string]any{"partName": "Wheel", "meshFile": "a.glb", "attachPoint": "a", "displayOrder": 1}
	model := map[string]any{"name": "Kite", "year": 2026, "partsTotal": 2}
	put := func(path string, body map[string]any) string {
		return w.AskAdmin(http.MethodPut, "/admin/models/kite"+path, body).Body
	}
	put("", model)
	put("/parts/1", part)
	refused(t, "a model that lacks a part", w.AskAdmin(http.MethodPost, "/admin/models/kite/activate", nil), 409, "model_incomplete")
	refused(t, "a part beyond", w.AskAdmin(http.MethodPut, "/admin/models/kite/parts/3", part), 400, "bad_request")
	put("/parts/2", part)

	for range 2 {
		if out := w.AskAdmin(http.MethodPost, "/admin/models/kite/activate", nil); !strings.Contains(out.Body, `"isActive":true`) {
			t.Errorf("got %d %s", out.StatusCode, out.Body)
		}
	}

	model["partsTotal"] = 3
	refused(t, "another part of an active model", w.AskAdmin(http.MethodPut, "/admin/models/kite", model), 409, "model_frozen")
	refused(t, "a part of no model", w.AskAdmin(http.MethodPut, "/admin/models/boat/parts/1", part), 404, "model_not_found")
}

// TestHistoryIsFetched: what was uploaded before the connection counts, to the last page,
// and what webhooks have lost is found in the night, deletions included.
func TestHistoryIsFetched(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{Lost: 1})
	w.SignIn("ann")
	id := w.Start("ann", commitcollecttest.Goal{Total: 1_000_000})

	var all []int64
	for n := range 450 {
		all = append(all, w.Upload(77, "Run", noon.Add(-time.Duration(n+2)*4*time.Hour), 1000))
	}

	w.Upload(77, "Run", noon.AddDate(-1, 0, 0), 1000)
	w.Connect("ann", 77)
	w.Work()

	if got := w.Show("ann", id).RawProgress; got != 450_000 {
		t.Errorf("the history has %d m, want 450,000", got)
	}

	w.Upload(77, "Run", noon.Add(-time.Hour), 1000)
	w.Strava.Delete(all[3])
	w.Strava.Edit(all[400], nil, func(a *strava.Activity) { a.Distance = 3000 })

	reconcile := func() {
		s := testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler)
		testkit.Must(t, s.Reconcile(w.NewContext()))
		w.Work()
		w.Pass(10 * time.Minute)
		w.Pass(10 * time.Minute)
	}

	w.Pass(39 * time.Hour)
	reconcile()

	if m := w.Show("ann", id); m.RawProgress != 450_000 {
		t.Errorf("after two nights: %+v, want the new workout counted, and the deleted one not", m)
	}

	for range 7 { // once a week the whole history
		w.Pass(24 * time.Hour)
		reconcile()
	}

	if m := w.Show("ann", id); m.RawProgress != 452_000 {
		t.Errorf("after a week: %+v, want the old workout corrected", m)
	}

	w.Logs.TakeWarnings()
}

// TestBackfillWaitsForTheLimit: a backfill that has used its share of Strava's reads goes
// on with the same page in the next quarter of an hour, and leaves the rest to webhooks.
func TestBackfillWaitsForTheLimit(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Work()
	testkit.PutRows(w.World, tables.Main, map[string]any{
		"PK":      "STRAVA#BUDGET",
		"SK":      "META",
		"quarter": noon.Unix(),
		"day":     noon.Truncate(24 * time.Hour).Unix(),
		"used":    85,
		"usedDay": 200,
	})
	id := w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(-2, 0, 0)})
	w.Work()

	if n := len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)); n != 1 {
		t.Errorf("%d backfills wait, want 1", n)
	}

	w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	if m := w.Show("ann", id); m.ProgressValue != 5000 {
		t.Errorf("a webhook meanwhile: %+v", m)
	}

	w.Pass(15 * time.Minute)

	if n := len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)); n != 0 {
		t.Errorf("%d backfills still wait", n)
	}
}

// TestRecomputationReadsAtMost3000: beyond, it is refused, and what workouts do is not.
func TestRecomputationReadsAtMost3000(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Total: 100_000_000})
	seedWorkouts(w, "ann", 3000)

	if m := testkit.Decode[commitcollecttest.Milestone](w.World,
		w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil)); m.RawProgress != 3_000_000 {
		t.Errorf("3,000 workouts: %+v", m)
	}

	w.Upload(77, "Run", noon.Add(-time.Minute), 1000)
	w.Pass(time.Minute)
	refused(t, "3,001 workouts", w.Ask("ann", http.MethodPost, "/milestones/"+id+"/recompute", nil), 409,
		"too_many_workouts_for_mvp_recompute")

	if m := w.Show("ann", id); m.RawProgress != 3_001_000 {
		t.Errorf("the workout beyond: %+v, want it counted", m)
	}
}
