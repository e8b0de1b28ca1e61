package commitcollect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	sdk "matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
)

// backfill fetches the history of ann.
func backfill(w *commitcollecttest.World, whole bool) {
	w.T.Helper()
	s := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)
	testkit.Must(w.T, s.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: whole}))
}

// TestMissingActivities: what Strava's list lacks is looked for one by one, at most 50 in a
// fetch; the next sync looks for the others. What began less than an hour ago may not be in the list yet.
func TestMissingActivities(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		stored int           // one an hour before noon
		now    time.Duration // after noon
		want   int
		warned bool
	}{
		"an hour old":       {1, 0, 1, false},
		"a second younger":  {1, -time.Second, 0, false},
		"fifty":             {50, 0, 50, false},
		"fifty-one":         {51, 0, 50, true},
		"and the youngest":  {51, -time.Second, 50, false},
		"nothing is stored": {0, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			seedWorkouts(w, "ann", c.stored)
			env := w.Env(workout.BackfillFunction())
			env.Clock.Now = func() time.Time { return noon.Add(c.now) }
			testkit.Must(t, testkit.OpenWith(w.World, env, workout.OpenIngester).Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true}))
			got := testkit.Messages[workout.Event](w.World, workout.EventQueue)
			same(t, "activities that are looked for", len(got), c.want)

			for _, e := range got {
				want := workout.Event{}
				want.ObjectType, want.AspectType, want.ObjectID, want.OwnerID, want.EventTime = "activity", "update",
					e.ObjectID, 77, noon.Add(c.now).Unix()
				same(t, "the event", e, want)
				same(t, "the workout is stored", workoutOf(w, "ann", e.ObjectID) != nil, true)
			}

			l := syncRow(w, "ann")
			same(t, "the next sync fetches all", l.SuspectAt > l.WholeAt, c.warned)

			warnings := w.Logs.TakeWarnings()
			if c.warned != slices.ContainsFunc(warnings, func(s string) bool { return strings.Contains(s, "Strava's list lacks many activities") }) {
				t.Errorf("the warnings are %q, want one: %v", warnings, c.warned)
			}
		})
	}
}

// TestBackfillThatContinuesLooksForMissing: a backfill that waits between two pages looks on each side for what is gone at
// Strava. Where it goes on, it lists one activity again, and makes no more calls than without a wait.
func TestBackfillThatContinuesLooksForMissing(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		old  bool     // the message that continues is one of before
		want []string // the activities that are looked for
	}{
		"now":    {false, []string{"on the first page", "on the second page"}},
		"before": {true, []string{"on the first page"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			begin := noon.AddDate(0, 0, -30)
			gone := map[int64]string{
				w.Upload(77, "Run", begin.Add(30*time.Minute), 1000): "on the first page",
				w.Upload(77, "Run", begin.Add(200*time.Hour), 1000):  "on the second page",
				w.Upload(77, "Run", noon.Add(-30*time.Minute), 1000): "less than an hour ago",
			}

			for id := range gone {
				ingest(w, eventOf("create", id, noon))
				w.Strava.Delete(id)
			}

			ids := make([]int64, sdk.PageSize+1)
			for n := range ids {
				ids[n] = w.Upload(77, "Run", begin.Add(time.Duration(n)*time.Hour+time.Minute), 1000)
			}

			silence(w)
			testkit.PutRows(w.World, tables.Main, stored{"PK": "STRAVA#BUDGET", "SK": "META", "quarter": noon.Unix(), "used": 84,
				"day": noon.Truncate(24 * time.Hour).Unix(), "usedDay": 200})

			var lists []string

			w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
				lists = append(lists, r.URL.Query().Get("page"))
				return false
			}

			backfill(w, true)

			next := testkit.Messages[link.Backfill](w.World, link.BackfillQueue)[0]
			if c.old {
				next.After, next.Page, next.Stored = workout.HistoryFrom(noon), 2, false
			}

			w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(link.BackfillQueue.Name)}, nil)
			w.MoveClock(noon.Add(15 * time.Minute))
			testkit.Must(t, testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester).Backfill(w.NewContext(), next))

			var looked []string
			for _, e := range testkit.Messages[workout.Event](w.World, workout.EventQueue) {
				looked = append(looked, gone[e.ObjectID])
			}

			slices.Sort(looked)
			same(t, "what is looked for", looked, c.want)
			same(t, "calls", len(lists), 3)
			same(t, "the last activity is stored", workoutOf(w, "ann", ids[sdk.PageSize]) != nil, true)
			same(t, "backfills that wait", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
			same(t, "the whole history is known", connection(w, "ann")["wholeAtUtc"], any(float64(next.Began)))
		})
	}
}

// TestBackfillLooksAWeekBack: a phone may upload a workout a week late. Once a week the whole
// history is fetched: from the begin of the year, or of the first milestone.
func TestBackfillLooksAWeekBack(t *testing.T) {
	t.Parallel()
	w := small(t)
	fetched := noon.AddDate(0, 0, -1)
	c := connection(w, "ann")
	c["fetchedAtUtc"] = fetched.Unix()
	testkit.PutRows(w.World, tables.Main, c)
	late, later := w.Upload(77, "Run", fetched.AddDate(0, 0, -7).Add(time.Second), 1000), w.Upload(77, "Run", fetched.AddDate(0, 0, -7), 2000)
	year := time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC) // a day before the year: it was earlier in the east
	first, last := w.Upload(77, "Run", year.Add(time.Second), 3000), w.Upload(77, "Run", year, 4000)
	silence(w)

	known := func() (all []bool) {
		for _, id := range []int64{late, later, first, last} {
			all = append(all, workoutOf(w, "ann", id) != nil)
		}

		return all
	}

	backfill(w, false)
	same(t, "stored in a night", known(), []bool{true, false, false, false})
	backfill(w, true)
	same(t, "stored once a week", known(), []bool{true, true, true, false})
	testkit.PutRows(w.World, tables.Main, map[string]any{
		"PK":               "USER#ann",
		"SK":               "MILESTONE#x",
		"entityType":       "Milestone",
		"status":           "ACTIVE",
		"periodStartAtUtc": year.Unix() - 1,
	}, map[string]any{"PK": "USER#ann", "SK": "LIST#MILESTONES", "ids": []string{"x"}})
	backfill(w, true)
	same(t, "stored with an earlier milestone", known(), []bool{true, true, true, true})
}

// TestBackfillsOfAUserHaveAShareOfTheCalls: 30 in a quarter of an hour and 100 in a day, also of
// a user who connects again. The backfills of others do not wait for them, and each comes to
// its end.
func TestBackfillsOfAUserHaveAShareOfTheCalls(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	w.Upload(77, "Run", noon.Add(-time.Hour), 1000)
	run := w.Upload(78, "Run", noon.Add(-time.Hour), 1000)
	silence(w)
	w.MoveClock(noon.Add(15 * time.Minute))

	calls := 0
	w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/v3/athlete/activities" {
			calls++
		}

		return false
	}
	s := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)

	for n := range 60 { // two calls each
		if n == 30 {
			w.End("ann")
			w.Connect("ann", 77)
			silence(w) // Strava's own event of the end
		}

		testkit.Must(t, s.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true}))
	}

	same(t, "calls in a quarter of an hour", calls, 30)
	testkit.Must(t, s.Backfill(w.NewContext(), link.Backfill{UserID: "bob", Whole: true}))
	same(t, "calls with those of another user", calls, 32)
	same(t, "the workout of another user is stored", workoutOf(w, "bob", run) != nil, true)

	for range 12 {
		w.Pass(15 * time.Minute)
	}

	same(t, "calls in a day", calls, 2+99) // and one when ann connected
	w.MoveClock(noon.Truncate(24 * time.Hour).Add(24 * time.Hour))

	for range 4 {
		w.Pass(15 * time.Minute)
	}

	same(t, "backfills that wait the next day", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// TestMilestonesOfOneSitting: all of them are right in the end, also those whose backfills
// wait because the user has no calls left.
func TestMilestonesOfOneSitting(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	for years := range 4 {
		w.Upload(77, "Run", noon.AddDate(-years, 0, -1), 1000)
	}

	testkit.PutRows(w.World, tables.Main, stored{
		"PK":      "USER#ann",
		"SK":      "STRAVA#CALLS",
		"quarter": noon.Unix(),
		"day":     noon.Truncate(24 * time.Hour).Unix(),
		"used":    26,
		"usedDay": 26,
	})

	ids := map[int]string{}
	for years := range 4 {
		ids[years] = w.Start("ann", commitcollecttest.Goal{Start: noon.AddDate(-years, 0, -2)})
	}

	w.Work()

	if n := len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)); n == 0 {
		t.Error("no backfill waits")
	}

	w.Pass(15 * time.Minute)

	for years, id := range ids {
		same(t, fmt.Sprintf("metres of a milestone %d years back", years), w.Show("ann", id).RawProgress, int64(years+1)*1000)
	}

	same(t, "backfills that wait", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// TestBackfillOfADeletedUserEnds without a call to Strava.
func TestBackfillOfADeletedUserEnds(t *testing.T) {
	t.Parallel()
	w := small(t)
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})
	calls := fail(w, "/", http.StatusServiceUnavailable, htmlType, "")
	backfill(w, true)
	same(t, "calls to Strava", *calls, 0)
	same(t, "calls that are counted", row(w, "USER#ann", "STRAVA#CALLS") == nil && row(w, "STRAVA#BUDGET", "META") == nil, true)
	same(t, "messages", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue))+
		len(testkit.Messages[workout.Changed](w.World, workout.ChangeQueue)), 0)
}

// TestMonthHasAtMost2500Workouts: more are stored and not counted, and an operator sees it.
// One that is counted can change.
func TestMonthHasAtMost2500Workouts(t *testing.T) {
	t.Parallel()
	w := small(t)
	run := ran(w)

	entries := testkit.Row[struct {
		Entries []tally.Entry `dynamodbav:"entries"`
	}](w.World, tables.Main, "USER#ann", item.Ledger("2026-06")).Entries
	for len(entries) < 2499 {
		entries = append(entries, tally.Entry{ActivityID: fmt.Sprint(len(entries))})
	}

	testkit.PutRows(w.World, tables.Main, map[string]any{
		"PK":         "USER#ann",
		"SK":         "LEDGER#2026-06",
		"entityType": "Ledger",
		"rev":        9,
		"entries":    entries,
	})

	size := func() int { return len(row(w, "USER#ann", "LEDGER#2026-06")["entries"].([]any)) }

	ingest(w, eventOf("create", w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000), noon))
	same(t, "entries", size(), 2500)
	same(t, "warnings", len(w.Logs.TakeWarnings()), 0)
	more := w.Upload(77, "Run", noon.Add(-3*time.Hour), 1000)
	ingest(w, eventOf("create", more, noon))
	same(t, "entries", size(), 2500)
	same(t, "the workout beyond", workoutOf(w, "ann", more)["distanceMeters"], any(1000.0))
	same(t, "warnings", w.Logs.TakeWarnings(), []string{"a workout is not counted: the month has too many"})
	w.Strava.Edit(run, nil, func(a *strava.Activity) { a.Distance = 7777 })
	ingest(w, eventOf("update", run, noon.Add(time.Minute)))
	same(t, "entries", size(), 2500)
	same(t, "warnings", len(w.Logs.TakeWarnings()), 0)
	first := row(w, "USER#ann", "LEDGER#2026-06")["entries"].([]any)[0].(stored)
	same(t, "the entry that has changed", first["d"], any(7777.0))
}

// TestPurgeOfADeletedUser succeeds: all rows are deleted anyway.
func TestPurgeOfADeletedUser(t *testing.T) {
	t.Parallel()
	w := small(t)
	seedWorkouts(w, "ann", 2)
	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "STRAVA#CONNECTION"))
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})
	testkit.Must(t, testkit.Open(w.World, workout.PurgeWorkoutsFunction(), workout.OpenPurger).PurgeWorkouts(w.NewContext(),
		link.Purge{UserID: "ann", Fetch: true}))
	same(t, "workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 2)
	same(t, "messages", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// TestChangeOfAnAthlete: a webhook of an athlete is a revocation only if it is named so; one that
// comes after the connection has ended has the workouts purged.
func TestChangeOfAnAthlete(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		updates map[string]string
		ended   bool
		want    []link.Purge
	}{
		"a name":                    {map[string]string{"authorized": ""}, false, nil},
		"a permission":              {map[string]string{"authorized": "true"}, false, nil},
		"a permission, ended":       {map[string]string{"authorized": "true"}, true, nil},
		"a revocation, which ended": {map[string]string{"authorized": "false"}, true, []link.Purge{{UserID: "ann"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := small(t)
			if c.ended {
				testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", "STRAVA#CONNECTION"))
			}

			e := eventOf("update", 77, noon)
			e.ObjectType, e.Updates = "athlete", c.updates
			calls := fail(w, "/", http.StatusServiceUnavailable, htmlType, "")
			ingest(w, e)
			same(t, "calls to Strava", *calls, 0)
			same(t, "purges", testkit.Messages[link.Purge](w.World, link.PurgeQueue), c.want)
			same(t, "the connection has ended", row(w, "USER#ann", "STRAVA#CONNECTION") == nil, c.ended)
		})
	}
}

// TestSyncCanBeRepeated: one that died before its message was sent can be repeated once
// the function's timeout is over; another one 15 minutes later.
func TestSyncCanBeRepeated(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	for unsent, want := range map[bool]string{true: "4", false: "899"} {
		c := connection(w, "ann")
		c["lastSyncAtUtc"], c["syncUnsent"] = w.Clock.Now().Unix()-1, unsent
		testkit.PutRows(w.World, tables.Main, c)
		out := w.Ask("ann", http.MethodPost, "/activities/sync", nil)
		refused(t, "a second later", out, 429, "sync_too_soon")
		same(t, fmt.Sprint("Retry-After, unsent ", unsent), testkit.Header(out).Get("Retry-After"), want)
	}
}

// TestSyncOfDeletedUserIsUnauthenticated: also too soon after another.
func TestSyncOfDeletedUserIsUnauthenticated(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	if out := w.Ask("ann", http.MethodPost, "/activities/sync", nil); out.StatusCode != http.StatusAccepted {
		t.Fatalf("a sync: %d %s", out.StatusCode, out.Body)
	}

	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})
	refused(t, "another", w.Ask("ann", http.MethodPost, "/activities/sync", nil), 401, "account_deleted")
}
