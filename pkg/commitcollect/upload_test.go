package commitcollect_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/upload"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/idem"
)

// phoneRun is a run of a phone, as the app uploads it.
func phoneRun(id string, start time.Time, metres, revision int64) map[string]any {
	return map[string]any{
		"id":               id,
		"app":              "HEALTHKIT",
		"sport":            "Run",
		"startDateUtc":     start.Unix(),
		"utcOffsetSeconds": 7200,
		"distanceMeters":   metres,
		"elapsedSeconds":   metres/4 + 10,
		"movingSeconds":    metres / 4,
		"elevationMeters":  metres / 100,
		"indoor":           false,
		"manual":           false,
		"revision":         revision,
	}
}

// with returns a workout with other members.
func with(w map[string]any, change map[string]any) map[string]any {
	out := maps.Clone(w)
	maps.Copy(out, change)

	return out
}

// put uploads workouts, and returns what became of them: "A stored".
func put(w *commitcollecttest.World, user string, workouts ...map[string]any) (results []string) {
	w.T.Helper()

	out := w.Ask(user, http.MethodPut, "/workouts", map[string]any{"workouts": workouts})
	for _, o := range testkit.Decode[struct{ Workouts []struct{ ID, Result string } }](w.World, out).Workouts {
		results = append(results, o.ID+" "+o.Result)
	}

	return results
}

// remove removes an uploaded workout.
func remove(w *commitcollecttest.World, user, id string) {
	w.T.Helper()

	if out := w.Ask(user, http.MethodDelete, "/workouts/"+id, nil); out.StatusCode != http.StatusNoContent {
		w.T.Errorf("got %d %s", out.StatusCode, out.Body)
	}
}

// recent returns the ids of a page of workouts, and the next cursor.
func recent(w *commitcollecttest.World, user, query string) (ids []string, next string) {
	w.T.Helper()

	got := testkit.Decode[struct {
		Workouts []struct{ ActivityID string }
		Next     string
	}](w.World, w.Ask(user, http.MethodGet, "/activities/recent?"+query, nil))
	for _, o := range got.Workouts {
		ids = append(ids, o.ActivityID)
	}

	return ids, got.Next
}

// reasonsOf returns why workouts do not count for a milestone, by their ids.
func reasonsOf(w *commitcollecttest.World, user, id string) map[string]string {
	w.T.Helper()

	all := map[string]string{}
	got := testkit.Decode[struct {
		Workouts []struct {
			ActivityID string
			Reasons    []string
		}
	}](w.World, w.Ask(user, http.MethodGet, "/milestones/"+id+"/workouts", nil))

	for _, v := range got.Workouts {
		all[v.ActivityID] = strings.Join(v.Reasons, " ")
	}

	return all
}

// TestUploadsMintParts: a user without Strava collects with a phone. A milestone counts the workouts of
// its source only, which cannot be changed.
func TestUploadsMintParts(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.SignIn("bob")
	bobs := w.Start("bob", commitcollecttest.Goal{Source: "PHONE"})
	phone, other := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"}), w.Start("ann", commitcollecttest.Goal{})

	same(t, "the results", put(w, "bob", phoneRun("A", noon.Add(-5*time.Hour), 15_000, 1), phoneRun("B", noon.Add(-3*time.Hour), 7000, 1)),
		[]string{"A stored", "B stored"})
	put(w, "ann", phoneRun("A", noon.Add(-5*time.Hour), 31_000, 1))
	w.Upload(77, "Run", noon.Add(-5*time.Hour), 12_000)
	w.Pass(time.Minute)

	same(t, "a user without Strava", progress(w.Show("bob", bobs)), [3]int64{22_000, 22_000, 2})
	same(t, "the milestone of the phone", progress(w.Show("ann", phone)), [3]int64{31_000, 31_000, 3})
	same(t, "that of Strava", progress(w.Show("ann", other)), [3]int64{12_000, 12_000, 1})
	same(t, "the verdicts", []any{reasonsOf(w, "ann", phone), len(reasonsOf(w, "ann", other))}, []any{map[string]string{"A": ""}, 1})

	for id, source := range map[string]string{phone: "PHONE", other: "STRAVA"} {
		got := testkit.Decode[struct{ Source string }](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id, nil))
		same(t, "the source", got.Source, source)
		refused(t, "another source", w.Ask("ann", http.MethodPatch, "/milestones/"+id, map[string]any{"source": "PHONE"}), 422, "invalid")
	}

	out := w.Ask("bob", http.MethodPost, "/milestones/"+bobs+"/recompute", nil)
	got := testkit.Decode[commitcollecttest.Milestone](w.World, out)
	same(t, "computed from the workouts themselves", progress(got), [3]int64{22_000, 22_000, 2})

	why := testkit.Decode[struct {
		Counts bool
		Value  int64
	}](w.World, w.Ask("ann", http.MethodGet, "/activities/A/eligibility?milestoneId="+phone, nil))
	same(t, "eligibility", why, struct {
		Counts bool
		Value  int64
	}{true, 31_000})
	refused(t, "a workout of the other source", w.Ask("ann", http.MethodGet, "/activities/A/eligibility?milestoneId="+other, nil),
		404, "activity_not_found")
}

// TestOldMilestoneIsOfStrava: a row without a source counts what Strava has.
func TestOldMilestoneIsOfStrava(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	r := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
	delete(r, "source")
	testkit.PutRows(w.World, tables.Main, r)
	put(w, "ann", phoneRun("A", noon.Add(-5*time.Hour), 31_000, 1))
	w.Upload(77, "Run", noon.Add(-5*time.Hour), 12_000)
	w.Pass(time.Minute)

	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{12_000, 12_000, 1})
	got := testkit.Decode[struct{ Source string }](w.World, w.Ask("ann", http.MethodGet, "/milestones/"+id, nil))
	same(t, "its source", got.Source, "STRAVA")
}

// TestPhoneMilestoneIsNothingToCodeOfBefore: code that knows no sources, which runs beside this during a
// deployment, counts by sport and sports. It counts nothing of Strava's for a milestone of the phone.
func TestPhoneMilestoneIsNothingToCodeOfBefore(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})

	row := func() []any {
		r := testkit.Row[stored](w.World, tables.Main, "USER#ann", "MILESTONE#"+id)
		return []any{r["sport"], r["sports"], r["phoneSports"]}
	}
	same(t, "the row", row(), []any{"", nil, []any{"RUN"}})
	same(t, "what is shown", patch(w, id, map[string]any{"sports": []string{"WALK", "RUN"}}).Sports, []tally.Family{tally.Walk, tally.Run})
	same(t, "the row of several", row(), []any{"", nil, []any{"WALK", "RUN"}})
	same(t, "the first", patch(w, id, map[string]any{"sport": "RIDE"}).Sport, tally.Ride)
	same(t, "the row of another", row(), []any{"", nil, []any{"RIDE"}})

	refused(t, "no sport", w.Ask("ann", http.MethodPost, "/milestones", map[string]any{
		"modelId": "trike", "targetType": "WORKOUTS", "totalTarget": 10, "periodStartAtUtc": 1767225600, "source": "PHONE",
	}), 400, "missing_sport")
}

// TestHighestRevisionWins: the order in which revisions arrive does not matter, and a removed workout
// stays removed.
func TestHighestRevisionWins(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.AddModel("trike", 12)
	w.SignIn("ann")
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})

	for _, c := range []struct {
		what     string
		run      map[string]any
		want     string
		progress int64
	}{
		{"the first", phoneRun("A", noon.Add(-time.Hour), 3000, 2), "stored", 3000},
		{"the same once more", phoneRun("A", noon.Add(-time.Hour), 3000, 2), "unchanged", 3000},
		{"one of before", phoneRun("A", noon.Add(-time.Hour), 9000, 1), "older", 3000},
		{"one more, in another month", phoneRun("A", noon.AddDate(0, -2, 0), 5000, 7), "stored", 5000},
		{"another of the same revision", phoneRun("A", noon.Add(-time.Hour), 6000, 7), "unchanged", 5000},
		{"one that is shorter", phoneRun("A", noon.Add(-time.Hour), 4000, 8), "stored", 4000},
	} {
		same(t, c.what, put(w, "ann", c.run), []string{"A " + c.want})
		w.Pass(time.Minute)
		same(t, c.what, w.Show("ann", id).RawProgress, c.progress)
	}

	same(t, "ledgers", w.Count(tables.Main, "USER#ann", "PHONE#LEDGER#"), 1)

	for range 2 {
		remove(w, "ann", "A")
		remove(w, "ann", "unknown")
		w.Pass(time.Minute)
		same(t, "after the removal", w.Show("ann", id).RawProgress, int64(0))
	}

	same(t, "a request that was in the phone's queue", put(w, "ann", phoneRun("A", noon.Add(-time.Hour), 4000, 9), phoneRun("B", noon, 5, 0)),
		[]string{"A removed", "B stored"})
	same(t, "ledgers", w.Count(tables.Main, "USER#ann", "PHONE#LEDGER#"), 1)

	ids, _ := recent(w, "ann", "source=PHONE")
	same(t, "the list", ids, []string{"B"})

	gone := testkit.Row[stored](w.World, tables.Main, "USER#ann", "PHONE#WORKOUT#A")
	same(t, "what is kept of a removed one", []any{gone["sportType"], gone["distanceMeters"], gone["ttl"]},
		[]any{nil, 0.0, float64(w.Clock.Now().Add(90*24*time.Hour - 2*time.Minute).Unix())})
	same(t, "the count", testkit.Row[stored](w.World, tables.Main, "USER#ann", "PHONE#UPLOADS")["kept"], 1.0)
}

// TestUploadIsRefused: each way in which an upload is wrong. Nothing of the request is stored.
func TestUploadIsRefused(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	run := phoneRun("B", noon.Add(-time.Hour), 5000, 1)

	many := make([]map[string]any, 101)
	for i := range many {
		many[i] = phoneRun(fmt.Sprint("M", i), noon.Add(-time.Hour), 5, 1)
	}

	for what, c := range map[string]struct {
		workouts []map[string]any
		status   int
		code     string
		field    string
	}{
		"none":                {[]map[string]any{}, 422, "invalid", "body.workouts"},
		"too many":            {many, 422, "invalid", "body.workouts"},
		"an id twice":         {[]map[string]any{run, run}, 400, "repeated_workout", "body.workouts[1].id"},
		"another app":         {[]map[string]any{with(run, map[string]any{"app": "SHOE"})}, 422, "invalid", "body.workouts[0].app"},
		"an id with a key":    {[]map[string]any{with(run, map[string]any{"id": "A#B"})}, 422, "invalid", "body.workouts[0].id"},
		"a long id":           {[]map[string]any{with(run, map[string]any{"id": strings.Repeat("a", 65)})}, 422, "invalid", "body.workouts[0].id"},
		"no sport":            {[]map[string]any{with(run, map[string]any{"sport": ""})}, 422, "invalid", "body.workouts[0].sport"},
		"a distance below 0":  {[]map[string]any{with(run, map[string]any{"distanceMeters": -1})}, 422, "invalid", "body.workouts[0].distanceMeters"},
		"round the world":     {[]map[string]any{with(run, map[string]any{"distanceMeters": 40_000_000})}, 422, "invalid", "body.workouts[0].distanceMeters"},
		"half a metre":        {[]map[string]any{with(run, map[string]any{"distanceMeters": 0.5})}, 422, "invalid", "body.workouts[0].distanceMeters"},
		"three days":          {[]map[string]any{with(run, map[string]any{"elapsedSeconds": 259_200})}, 422, "invalid", "body.workouts[0].elapsedSeconds"},
		"longer than it took": {[]map[string]any{with(run, map[string]any{"movingSeconds": 9000})}, 400, "invalid_workout", "body.workouts[0].movingSeconds"},
		"a revision below 0":  {[]map[string]any{with(run, map[string]any{"revision": -1})}, 422, "invalid", "body.workouts[0].revision"},
		"something unknown":   {[]map[string]any{with(run, map[string]any{"heartRate": 150})}, 422, "invalid", "body.workouts[0].heartRate"},
		"the future": {[]map[string]any{phoneRun("A", noon.Add(-time.Hour), 5, 1), with(run, map[string]any{"startDateUtc": noon.Unix()})},
			400, "workout_in_future", "body.workouts[1].startDateUtc"},
	} {
		out := w.Ask("ann", http.MethodPut, "/workouts", map[string]any{"workouts": c.workouts})
		refused(t, what, out, c.status, c.code)

		if !strings.Contains(out.Body, `"location":"`+c.field) {
			t.Errorf("%s: %s does not name %s", what, out.Body, c.field)
		}
	}

	same(t, "rows", w.Count(tables.Main, "USER#ann", "PHONE#"), 0)
	refused(t, "a browser without a session", w.Ask("eve", http.MethodPut, "/workouts", map[string]any{"workouts": []any{run}}),
		401, "missing_session")
}

// TestUploadsAreJudged: uploads count as entries by hand, once each, at most one at a time, and none that
// nobody can have done.
func TestUploadsAreJudged(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.AddModel("trike", 12)
	w.SignIn("ann")
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})

	at := func(minutes int) time.Time { return noon.Add(-10*time.Hour + time.Duration(minutes)*time.Minute) }
	put(w, "ann",
		phoneRun("A1", at(0), 10_000, 1), // 42 minutes
		phoneRun("A2", at(1), 10_100, 1), // by another app
		phoneRun("A3", at(40), 4000, 1),  // in its last two minutes
		phoneRun("A4", at(60), 4000, 1),
		with(phoneRun("A5", at(100), 50_000, 1), map[string]any{"movingSeconds": 1800, "elapsedSeconds": 1800}),
		with(phoneRun("A6", at(200), 5000, 1), map[string]any{"elevationMeters": 4000}),
		with(phoneRun("A7", at(300), 5000, 1), map[string]any{"sport": "Yoga"}),
		with(phoneRun("A8", at(400), 5000, 1), map[string]any{"sport": "Ride", "movingSeconds": 0}),
	)
	w.Pass(time.Minute)

	want := map[string]string{
		"A1": "", "A2": "duplicate", "A3": "", "A4": "", "A5": "flagged", "A6": "flagged", "A7": "other_sport", "A8": "other_sport",
	}
	same(t, "the verdicts", reasonsOf(w, "ann", id), want)
	same(t, "the progress", w.Show("ann", id).RawProgress, int64(18_000))

	put(w, "ann", phoneRun("A3", at(30), 4000, 2)) // earlier
	w.Pass(time.Minute)

	want["A3"] = "overlap"
	same(t, "the verdicts with an overlap", reasonsOf(w, "ann", id), want)
	same(t, "the progress with an overlap", w.Show("ann", id).RawProgress, int64(14_000))

	remove(w, "ann", "A1")
	w.Pass(time.Minute)
	same(t, "the verdicts without the first", reasonsOf(w, "ann", id)["A2"], "")

	w.Ask("ann", http.MethodPatch, "/preferences",
		map[string]any{"counts": map[string]any{"virtual": true, "eBike": true, "handcycle": true, "manual": false, "private": true}})
	w.Pass(time.Minute)
	same(t, "no entries by hand", reasonsOf(w, "ann", id)["A4"], "manual_not_chosen")
	same(t, "the progress without them", w.Show("ann", id).RawProgress, int64(0))
}

// TestUploadLimits: so many workouts a day, and so many that are kept. What is known costs nothing.
func TestUploadLimits(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	count := func(kept, ofDay int) {
		r := testkit.Row[stored](w.World, tables.Main, "USER#ann", "PHONE#UPLOADS")
		r["kept"], r["storedOfDay"] = kept, ofDay
		testkit.PutRows(w.World, tables.Main, r)
	}

	first := phoneRun("A", noon.Add(-time.Hour), 5, 1)
	put(w, "ann", first)
	count(1, 999)
	w.MoveClock(noon.Add(23 * time.Hour))

	two := map[string]any{"workouts": []any{first, phoneRun("B", noon, 5, 1), phoneRun("C", noon, 5, 1)}}
	out := w.Ask("ann", http.MethodPut, "/workouts", two)
	refused(t, "the 1,001st of a day", out, 429, "too_many_uploads")
	same(t, "when it is over", testkit.Header(out).Get("Retry-After"), "3600")
	same(t, "what is known and one more", put(w, "ann", first, phoneRun("B", noon, 5, 1)), []string{"A unchanged", "B stored"})
	w.MoveClock(noon.Add(24 * time.Hour))
	same(t, "the next day", put(w, "ann", phoneRun("C", noon, 5, 1)), []string{"C stored"})

	count(10_000, 1)
	refused(t, "one more", w.Ask("ann", http.MethodPut, "/workouts", map[string]any{"workouts": []any{phoneRun("D", noon, 5, 1)}}),
		409, "too_many_workouts")
	same(t, "a change", put(w, "ann", phoneRun("C", noon, 6, 2)), []string{"C stored"})
	remove(w, "ann", "C")
	same(t, "one in its place", put(w, "ann", phoneRun("D", noon, 5, 1)), []string{"D stored"})
}

// TestLargeUpload: a request of a hundred is several transactions. What was stored before a limit is
// counted.
func TestLargeUpload(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.AddModel("trike", 12)
	w.SignIn("ann")
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})

	all, want := make([]map[string]any, 100), make([]string, 100)
	for i := range all {
		all[i] = phoneRun(fmt.Sprintf("W%02d", i), noon.Add(-time.Duration(i+1)*24*time.Hour), 1000, 1)
		want[i] = fmt.Sprintf("W%02d stored", i)
	}

	testkit.PutRows(w.World, tables.Main,
		stored{"PK": "USER#ann", "SK": "PHONE#UPLOADS", "kept": 0, "storedOfDay": 950, "dayBeginsUtc": noon.Unix(), "rev": 1})
	refused(t, "too many", w.Ask("ann", http.MethodPut, "/workouts", map[string]any{"workouts": all}), 429, "too_many_uploads")
	w.Pass(time.Minute)
	same(t, "what was stored", w.Show("ann", id).RawProgress, int64(30_000))

	w.MoveClock(noon.Add(25 * time.Hour))

	for i := range 30 {
		want[i] = fmt.Sprintf("W%02d unchanged", i)
	}

	same(t, "the next day", put(w, "ann", all...), want)
	w.Pass(time.Minute)
	same(t, "all of them", w.Show("ann", id).RawProgress, int64(100_000))

	var ids []string

	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		query := "source=PHONE&limit=30"
		if next != "" {
			query += "&cursor=" + next
		}

		page, cursor := recent(w, "ann", query)
		if next = cursor; len(page) > 30 || pages > 4 {
			t.Fatalf("page %d has %d workouts", pages, len(page))
		}

		ids = append(ids, page...)
	}

	for i := range want {
		want[i] = fmt.Sprintf("W%02d", i)
	}

	same(t, "the list, page by page", ids, want)
}

// TestStravaAndPhoneAreApart: the end of the connection to Strava leaves uploads, and what is said of
// Strava does not contain them.
func TestStravaAndPhoneAreApart(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{Source: "PHONE"})
	run := w.Upload(77, "Run", noon.Add(-3*time.Hour), 12_000)
	put(w, "ann", phoneRun("A", noon.Add(-5*time.Hour), 31_000, 1))
	w.Pass(time.Minute)

	ids, next := recent(w, "ann", "")
	same(t, "the list of Strava", []any{ids, next}, []any{[]string{fmt.Sprint(run)}, ""})

	got := testkit.Decode[struct{ WorkoutCount int }](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil))
	same(t, "the count of Strava", got.WorkoutCount, 1)

	before := w.Count(tables.Main, "USER#ann", "PHONE#")
	w.End("ann")
	w.Pass(time.Hour)

	same(t, "rows of Strava and of the phone", []int{
		w.Count(tables.Main, "USER#ann", "WORKOUT#"), w.Count(tables.Main, "USER#ann", "LEDGER#"), w.Count(tables.Main, "USER#ann", "PHONE#"),
	}, []int{0, 0, before})

	put(w, "ann", phoneRun("B", noon.Add(-2*time.Hour), 10_000, 1))
	w.Pass(time.Minute)
	same(t, "the milestone goes on", progress(w.Show("ann", id)), [3]int64{41_000, 41_000, 4})
}

// TestPhoneMilestoneFetchesNothing: a milestone of the phone that begins in an earlier year asks Strava for
// nothing.
func TestPhoneMilestoneFetchesNothing(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	calls := fail(w, "/api/v3/athlete/activities", http.StatusOK, jsonType, "[]")
	w.Start("ann", commitcollecttest.Goal{Source: "PHONE", Start: noon.AddDate(-3, 0, 0)})
	w.Work()
	same(t, "calls to Strava", *calls, 0)
}

// TestMilestoneStartsAgain: a goal can be started again once the first was abandoned or deleted, also with the
// key of the deleted one. A key of another source is refused.
func TestMilestoneStartsAgain(t *testing.T) {
	t.Parallel()
	w := small(t)
	s := testkit.Open(w.World, milestone.CreateMilestoneFunction(), milestone.Open)

	start := func(key string, source item.Source) (string, error) {
		in := &milestone.CreateMilestone{User: user("ann"), Key: idem.Key{IdempotencyKey: key}}
		in.Body.ModelID, in.Body.Sport, in.Body.TargetType, in.Body.TotalTarget, in.Body.Start = "trike", tally.Run, tally.Distance,
			30_000, noon.AddDate(0, -1, 0).Unix()
		in.Body.Source = source

		out, err := s.CreateMilestone(w.NewContext(), in)
		if err != nil {
			return "", err
		}

		return out.Body.MilestoneID, nil
	}

	first, err := start("first", "")
	testkit.Must(t, err)
	ran(w)
	w.Work()
	testkit.Must(t, set("ABANDONED")(w, w.Env(milestone.UpdateMilestoneFunction())))

	second, err := start("second", "")
	testkit.Must(t, err)
	w.Work()

	parts := func(id string) int { return w.Count(tables.Main, "USER#ann", "MILESTONE#"+id+"#AWARD#") }
	same(t, "the parts of both", []int{parts(first), parts(second)}, []int{2, 2})

	_, err = testkit.Open(w.World, milestone.DeleteMilestoneFunction(), milestone.Open).
		DeleteMilestone(w.NewContext(), &milestone.DeleteMilestone{User: user("ann"), ID: second})
	testkit.Must(t, err)
	same(t, "the parts of a deleted one", parts(second), 0)

	again, err := start("second", "")
	testkit.Must(t, err)
	w.Work()
	same(t, "started again", []any{again == second, parts(again)}, []any{true, 2})

	if _, err := start("second", "PHONE"); err == nil {
		t.Error("the key of another source is taken")
	}
}

// uploading uploads workouts.
func uploading(in upload.PutWorkouts) func(*commitcollecttest.World, app.Env) error {
	return func(w *commitcollecttest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, upload.Open).PutWorkouts(w.NewContext(), &in)
		return err
	}
}

// uploads are some workouts of ann's phone: n of every second day, of a revision.
func uploads(n int, revision int64) upload.PutWorkouts {
	in := upload.PutWorkouts{User: user("ann")}

	for i := range n {
		in.Body.Workouts = append(in.Body.Workouts, upload.Workout{
			ID:        fmt.Sprint("W", i),
			App:       "HEALTHKIT",
			Sport:     "Run",
			StartedAt: noon.AddDate(0, 0, -2*i-1).Unix(),
			Distance:  5000,
			Elapsed:   1500,
			Revision:  revision,
		})
	}

	return in
}

// removing removes one of them.
func removing(w *commitcollecttest.World, env app.Env) error {
	_, err := testkit.OpenWith(w.World, env, upload.Open).DeleteWorkout(w.NewContext(), &upload.DeleteWorkout{User: user("ann"), ID: "W1"})
	return err
}

func init() {
	moved := uploads(3, 2)
	moved.Body.Workouts[1].StartedAt -= 60 * 24 * 60 * 60

	uploaded := func(w *commitcollecttest.World) {
		testkit.Must(w.T, uploading(uploads(3, 1))(w, w.Env(upload.PutWorkoutsFunction())))
	}
	jobs["workouts are uploaded"] = job{upload.PutWorkoutsFunction(), nothing, uploading(uploads(35, 1))}
	jobs["uploads move to another month"] = job{upload.PutWorkoutsFunction(), uploaded, uploading(moved)}
	jobs["an upload is removed"] = job{upload.DeleteWorkoutFunction(), uploaded, removing}
}

// TestUploadOfADeletedUser: who has deleted the account stores nothing, by no request.
func TestUploadOfADeletedUser(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	put(w, "ann", phoneRun("A", noon.Add(-time.Hour), 5000, 1))
	w.SignInAgain("ann", "other")
	w.Ask("ann", http.MethodDelete, "/account", nil)

	before := testkit.Rows[stored](w.World, tables.Main)
	body := map[string]any{"workouts": []any{phoneRun("B", noon.Add(-time.Hour), 5000, 1)}}
	refused(t, "an upload", w.Ask("other", http.MethodPut, "/workouts", body), 401, "account_deleted")
	refused(t, "a removal", w.Ask("other", http.MethodDelete, "/workouts/A", nil), 401, "account_deleted")
	same(t, "the rows", testkit.Rows[stored](w.World, tables.Main), before)
}

// TestUploadsAreInTurn: two requests at once leave the workouts, ledgers and counts of both.
func TestUploadsAreInTurn(t *testing.T) {
	t.Parallel()
	w := small(t)

	errs := make(chan error)

	for i := range 4 {
		in := uploads(3, 1)
		for n := range in.Body.Workouts {
			in.Body.Workouts[n].ID += fmt.Sprint("-", i)
			in.Body.Workouts[n].StartedAt -= int64(i) * 7200
		}

		go func() { errs <- uploading(in)(w, w.Env(upload.PutWorkoutsFunction())) }()
	}

	for range 4 {
		testkit.Must(t, <-errs)
	}

	entries, err := workout.EntriesOf(w.NewContext(), w.DB(), item.Phone, "ann", 1, workout.EndOfTime)
	testkit.Must(t, err)

	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ActivityID
	}

	slices.Sort(ids)
	same(t, "the entries", len(slices.Compact(ids)), 12)
	same(t, "the count", testkit.Row[stored](w.World, tables.Main, "USER#ann", "PHONE#UPLOADS")["kept"], 12.0)
}

// TestUploadUnits counts what an upload, its page of a list and its milestone cost, with few workouts and with
// 3,000 of 125 days.
func TestUploadUnits(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ kept, reads, writes int }{{10, 40, 60}, {3000, 120, 260}} {
		w := commitcollecttest.New(t, strava.Faults{})
		w.AddModel("trike", 12)
		w.SignIn("ann")
		w.Start("ann", commitcollecttest.Goal{Source: "PHONE", Total: 100_000_000})
		w.Work()

		months := map[string][]tally.Entry{}

		for i := range c.kept {
			e := tally.Entry{
				ActivityID: fmt.Sprintf("%036d", i), SportType: "Run", StartedAt: noon.Add(-time.Duration(i+2) * time.Hour).Unix(),
				Distance: 1000, Elevation: 5, Moving: 300, Elapsed: 310, Manual: true, StoredAt: noon.Unix(),
			}
			months[item.Month(e.StartedAt)] = append(months[item.Month(e.StartedAt)], e)
		}

		for month, entries := range months {
			testkit.PutRows(w.World, tables.Main, stored{"PK": "USER#ann", "SK": item.Phone.Ledger(month), "rev": 1, "entries": entries})
		}

		units := w.CountUnits(func() {
			put(w, "ann", phoneRun("A", noon.Add(-time.Hour), 1000, 1))
			w.Work()
			recent(w, "ann", "source=PHONE")
		})
		t.Logf("%5.1f reads %5.1f writes with %d workouts", units.Reads, units.Writes, c.kept)

		if units.Reads > float64(c.reads) || units.Writes > float64(c.writes) {
			t.Errorf("%.1f reads and %.1f writes with %d workouts, more than %d and %d", units.Reads, units.Writes, c.kept, c.reads, c.writes)
		}
	}
}
