package commitcollect_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/stage"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	sdk "matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// syncRow returns the row by which the sync of all users finds a user.
func syncRow(w *commitcollecttest.World, user string) link.Listed {
	w.T.Helper()
	return testkit.Row[link.Listed](w.World, tables.Main, item.Connected(item.Shard(user)), item.User(user))
}

// TestEventsWaitWhileStravaIsDown: an event whose activity cannot be fetched is no failed delivery. It
// is sent again with growing delays, and is handled once Strava answers.
func TestEventsWaitWhileStravaIsDown(t *testing.T) {
	t.Parallel()

	for name, status := range map[string]int{"500": 500, "503": 503, "a timeout of theirs": 408} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			run := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
			silence(w)
			calls := fail(w, "/api/v3/activities/", status, htmlType, "down")
			ingest(w, eventOf("create", run, noon))

			for i, minutes := range []int{1, 2, 4, 8, 15, 15} {
				want := time.Duration(minutes) * time.Minute
				same(t, fmt.Sprint("the event waits, time ", i), waiting(w, workout.EventQueue.Name), []time.Duration{want})
				same(t, "calls", *calls, i+1)
				w.Pass(want)
			}

			same(t, "calls of the user's", row(w, "USER#ann", "STRAVA#EVENTS")["used"], any(0.0))

			w.Outage = nil
			w.Pass(15 * time.Minute)
			same(t, "metres", workoutOf(w, "ann", run)["distanceMeters"], any(5000.0))
			same(t, "dead letters", len(w.Queues.Messages(workout.EventQueue.DeadLetter())), 0)
		})
	}
}

// TestEventWaitsForADay: then the next sync of all users fetches the whole history of the user, before
// it fetches those of others.
func TestEventWaitsForADay(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	old := w.Upload(77, "Run", noon.AddDate(0, -2, 0), 5000)
	silence(w)

	calls := fail(w, "/api/v3/activities/", http.StatusServiceUnavailable, htmlType, "down")

	e := eventOf("update", old, noon)
	e.Wait = sdk.Wait{Waits: 99, Since: w.Clock.Now().Add(-24*time.Hour + time.Second).Unix()}
	ingest(w, e)
	same(t, "the event waits", waiting(w, workout.EventQueue.Name), []time.Duration{15 * time.Minute})
	w.Pass(15 * time.Minute)
	same(t, "calls", *calls, 2)
	same(t, "messages after a day", len(w.Queues.Messages(workout.EventQueue.Name)), 0)
	same(t, "an event was given up", syncRow(w, "ann").SuspectAt, w.Clock.Now().Unix())
	same(t, "warnings", w.Logs.TakeWarnings(),
		[]string{"Strava is unavailable", "Strava is unavailable", "an event has waited too long for Strava"})

	w.Outage = nil
	testkit.Must(t, testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler).Reconcile(w.NewContext()))
	same(t, "who is asked for", testkit.Messages[link.Backfill](w.World, link.BackfillQueue),
		[]link.Backfill{{UserID: "ann", Whole: true, Asked: w.Clock.Now().Truncate(time.Hour).Unix(), Seen: syncRow(w, "ann").FetchedAt}})
	w.Work()
	same(t, "metres", workoutOf(w, "ann", old)["distanceMeters"], any(5000.0))
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	testkit.Must(t, testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler).Reconcile(w.NewContext()))
	same(t, "who is asked for again", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// hanging is a provider that does not answer for some seconds, and then not at all.
type hanging struct {
	next  http.RoundTripper
	w     *commitcollecttest.World
	wait  time.Duration
	fails bool
	calls int
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.calls++
	h.w.MoveClock(h.w.Clock.Now().Add(h.wait))

	if h.fails {
		return nil, context.DeadlineExceeded
	}

	return h.next.RoundTrip(r)
}

// TestHangingStravaCostsNoDeliveries: after a call without an answer, or a slow one, the other events of
// a batch wait without a call of their own. So all are handled within the function's timeout.
func TestHangingStravaCostsNoDeliveries(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		wait  time.Duration
		fails bool
		calls int
		waits int
	}{
		"no answer":          {15 * time.Second, true, 1, 10},
		"a slow answer":      {3 * time.Second, false, 1, 9},
		"refused at once":    {0, true, 1, 10},
		"answers of 1.9 s":   {1900 * time.Millisecond, false, 10, 0},
		"answers as always ": {0, false, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)

			var events []workout.Event
			for n := range 10 {
				events = append(events, eventOf("create", w.Upload(77, "Run", noon.Add(-time.Duration(n+1)*time.Hour), 1000), noon))
			}

			silence(w)

			h := &hanging{next: w.Provider, w: w, wait: c.wait, fails: c.fails}
			w.Provider = h
			began := w.Clock.Now()

			ingest(w, events...)
			same(t, "calls", h.calls, c.calls)
			same(t, "events that wait", len(w.Queues.Messages(workout.EventQueue.Name)), c.waits)

			if took, most := w.Clock.Now().Sub(began), workout.IngestEventsFunction().Timeout; took > most {
				t.Errorf("the batch took %v, longer than %v", took, most)
			}

			w.Provider = h.next

			for range 3 {
				w.Pass(2 * time.Minute)
			}

			same(t, "workouts", w.Count(tables.Main, "USER#ann", item.Workouts), 10)
		})
	}
}

// TestInactiveApplication: Strava refuses every call. Everything waits, nobody is disconnected or marked
// broken, an operator is told, the user sees the reason, and it ends by itself.
func TestInactiveApplication(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.MoveClock(noon.Add(7 * time.Hour)) // the access token has expired

	type status struct {
		Connected, Broken, Unavailable bool
		UnavailableReason              string
	}

	get := func() status {
		return testkit.Decode[status](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil))
	}
	same(t, "the status before", get(), status{Connected: true})
	w.Strava.SetInactive(true)

	calls := 0
	w.Outage = func(http.ResponseWriter, *http.Request) bool { calls++; return false }
	first, second := w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5000), w.Upload(77, "Run", w.Clock.Now().Add(-3*time.Hour), 3000)
	silence(w)
	ingest(w, eventOf("create", first, w.Clock.Now()), eventOf("create", second, w.Clock.Now()))
	backfill(w, false)
	same(t, "calls", calls, 1)
	same(t, "the events wait", waiting(w, workout.EventQueue.Name), []time.Duration{15 * time.Minute, 15 * time.Minute})
	same(t, "the backfill waits", waiting(w, link.BackfillQueue.Name), []time.Duration{15 * time.Minute})
	same(t, "the status", get(), status{true, false, true, "application_inactive"})
	same(t, "the alarm", w.Logs.SumMetric(link.StravaInactive), 1.0)
	same(t, "the connection", row(w, "USER#ann", "STRAVA#CONNECTION")["status"], any(link.Connected))

	w.Pass(15 * time.Minute)
	same(t, "calls in a quarter of an hour", calls, 2)
	same(t, "the alarm", w.Logs.SumMetric(link.StravaInactive), 2.0)

	w.Strava.SetInactive(false)
	w.Pass(15 * time.Minute)
	same(t, "the status after", get(), status{Connected: true})

	for _, id := range []int64{first, second} {
		same(t, "a workout is stored", workoutOf(w, "ann", id) != nil, true)
	}

	same(t, "backfills that wait", len(w.Queues.Messages(link.BackfillQueue.Name)), 0)
	w.Logs.TakeWarnings()
}

// TestInactiveAlarmStaysOn until Strava is called again, so that it goes on and off once in an outage.
func TestInactiveAlarmStaysOn(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Strava.SetInactive(true)
	ingest(w, eventOf("create", w.Upload(77, "Run", noon.Add(-time.Hour), 5000), noon))

	wait := waiting(w, workout.EventQueue.Name)[0]

	for _, a := range (stage.Stage{Name: stage.Prod}).Alarms(commitcollect.Room().Spec) {
		if looks := time.Duration(a.Of) * a.Period; a.Name == "commitcollect-strava-inactive-urgent" && looks < wait+10*time.Minute {
			t.Errorf("the alarm looks at the last %v, and Strava is called every %v", looks, wait)
		}
	}

	w.Logs.TakeWarnings()
}

// TestCopiesOfAWaitingEventEnd: a worker that dies after it has sent an event again leaves two messages of it. One of them
// ends, whether it comes first or with the other. An administrator need not wait.
func TestCopiesOfAWaitingEventEnd(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Strava.SetInactive(true)

	run := w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5000)
	silence(w)

	e := eventOf("create", run, w.Clock.Now())
	ingest(w, e, e)
	same(t, "a copy comes first", waiting(w, workout.EventQueue.Name), []time.Duration{15 * time.Minute})

	w.MoveClock(w.Clock.Now().Add(15 * time.Minute))
	ingest(w, e)
	w.Work()
	same(t, "a copy comes with the other", waiting(w, workout.EventQueue.Name), []time.Duration{15 * time.Minute})

	w.Strava.SetInactive(false)
	testkit.Must(t, w.DeleteRow(tables.Main, "STRAVA#BUDGET", "META")) // Strava may be called at once
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	ingest(w, e)
	same(t, "the event waits", workoutOf(w, "ann", run) == nil, true)

	if out := w.AskAdmin(http.MethodPost, "/admin/replay/"+e.Key(), nil); out.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", out.StatusCode, out.Body)
	}

	w.Work()
	same(t, "an administrator has it handled", workoutOf(w, "ann", run) != nil, true)
	w.Pass(15 * time.Minute)
	same(t, "messages that wait", len(w.Queues.Messages(workout.EventQueue.Name)), 0)
	w.Logs.TakeWarnings()
}

// TestLimitsAreThoseOfTheSetting, unless Strava's answers name others.
func TestLimitsAreThoseOfTheSetting(t *testing.T) {
	t.Parallel()

	headers := []string{
		"X-RateLimit-Limit", "400,4000", "X-RateLimit-Usage", "1,2", "X-ReadRateLimit-Limit", "200,2000", "X-ReadRateLimit-Usage", "1,2",
	}
	for name, c := range map[string]struct {
		setting string
		stored  stored
		calls   int
		want    []any // limitQuarter, limitDay, used, usedDay
	}{
		"the default":                      {"", stored{"used": 100}, 0, []any{nil, nil, 100.0, 100.0}},
		"a setting":                        {"400,4000,200,2000", stored{"used": 100}, 1, []any{nil, nil, 101.0, 101.0}},
		"a setting that is used up":        {"400,4000,200,2000", stored{"used": 200}, 0, []any{nil, nil, 200.0, 200.0}},
		"the overall limit is the smaller": {"50,4000,200,2000", stored{"used": 50}, 0, []any{nil, nil, 50.0, 50.0}},
		"Strava names another":             {"", stored{"used": 5}, 1, []any{200.0, 2000.0, 6.0, 6.0}},
		"the other is used":                {"", stored{"used": 100, "limitQuarter": 200}, 1, []any{200.0, 2000.0, 101.0, 101.0}},
		"the other is smaller": {
			"800,8000,400,4000",
			stored{"used": 200, "limitQuarter": 200, "limitDay": 2000},
			0,
			[]any{200.0, 2000.0, 200.0, 200.0},
		},
		"Strava names that of the setting": {
			"400,4000,200,2000",
			stored{"used": 5, "limitQuarter": 300, "limitDay": 3000},
			1,
			[]any{nil, nil, 6.0, 6.0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			w.Settings[workout.Limits] = c.setting
			w.MoveClock(noon.Add(5 * time.Minute))
			c.stored["PK"], c.stored["SK"], c.stored["usedDay"] = "STRAVA#BUDGET", "META", c.stored["used"]
			c.stored["quarter"], c.stored["day"] = noon.Unix(), noon.Truncate(24*time.Hour).Unix()
			testkit.PutRows(w.World, tables.Main, c.stored)
			calls := fail(w, "/api/v3/activities/", http.StatusNotFound, jsonType, `{}`, headers...)
			ingest(w, eventOf("update", 1, noon))
			same(t, "calls", *calls, c.calls)

			is := row(w, "STRAVA#BUDGET", "META")
			same(t, "the row", []any{is["limitQuarter"], is["limitDay"], is["used"], is["usedDay"]}, c.want)
		})
	}
}

// TestReadsOfOtherProgramsCount: what Strava has counted is more than what the room has.
func TestReadsOfOtherProgramsCount(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		after time.Duration // of the quarter's begin
		usage [2]string     // overall, and of reads
		want  []any         // used, usedDay
	}{
		"other reads":           {2 * time.Minute, [2]string{"60,400", "60,400"}, []any{60.0, 400.0}},
		"other writes":          {2 * time.Minute, [2]string{"170,1500", "10,10"}, []any{70.0, 500.0}},
		"fewer than ours":       {2 * time.Minute, [2]string{"3,3", "3,3"}, []any{11.0, 11.0}},
		"a window that is over": {30 * time.Second, [2]string{"60,400", "60,400"}, []any{11.0, 400.0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			w.MoveClock(noon.Add(c.after))
			testkit.PutRows(w.World, tables.Main, stored{
				"PK": "STRAVA#BUDGET", "SK": "META", "quarter": noon.Unix(), "day": noon.Truncate(24 * time.Hour).Unix(), "used": 10, "usedDay": 10,
			})
			fail(w, "/api/v3/activities/", http.StatusNotFound, jsonType, `{}`, "X-RateLimit-Limit", "200,2000", "X-RateLimit-Usage", c.usage[0],
				"X-ReadRateLimit-Limit", "100,1000", "X-ReadRateLimit-Usage", c.usage[1])
			ingest(w, eventOf("update", 1, noon))

			is := row(w, "STRAVA#BUDGET", "META")
			same(t, "used", []any{is["used"], is["usedDay"]}, c.want)
		})
	}
}

// TestWrongLimitsAreRefused when the function starts.
func TestWrongLimitsAreRefused(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"0,1,1,1", "1,2,3", "1,2,3,4,5", "a,b,c,d", " 1,2,3,4", "200"} {
		if got, err := workout.ParseLimits(text); err == nil {
			t.Errorf("%q is %+v, want an error", text, got)
		}

		w := small(t)
		w.Settings[workout.Limits] = text

		if _, err := workout.OpenIngester(w.NewContext(), w.Env(workout.IngestEventsFunction())); err == nil {
			t.Errorf("a function starts with the limits %q", text)
		}
	}
}

// TestOrderOfWhoWaits: webhooks use all of the limits, first imports leave some of them, the sync of
// all users leaves more, and who looks at what counted leaves most.
func TestOrderOfWhoWaits(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		used, usedDay                    int
		event, imported, fetched, viewed bool
	}{
		"all are served":                  {59, 499, true, true, true, true},
		"a quarter is used up for views":  {60, 400, true, true, true, false},
		"a day is used up for views":      {10, 500, true, true, true, false},
		"the last for a sync":             {69, 599, true, true, true, false},
		"a quarter is used up for a sync": {70, 500, true, true, false, false},
		"a day is used up for a sync":     {10, 600, true, true, false, false},
		"an import waits":                 {85, 500, true, false, false, false},
		"an import waits for the day":     {10, 850, true, false, false, false},
		"a webhook waits":                 {100, 500, false, false, false, false},
		"a webhook waits for the day":     {10, 1000, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			counted := func(w *commitcollecttest.World) {
				testkit.PutRows(w.World, tables.Main, stored{
					"PK": "STRAVA#BUDGET", "SK": "META", "quarter": w.Clock.Now().Truncate(15 * time.Minute).Unix(),
					"day": noon.Truncate(24 * time.Hour).Unix(), "used": c.used, "usedDay": c.usedDay,
				})
			}
			w := small(t)
			run := w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000)
			silence(w)

			calls := 0
			w.Outage = func(http.ResponseWriter, *http.Request) bool { calls++; return false }
			served := func(do func()) bool {
				counted(w)

				before := calls
				do()

				return calls > before
			}
			s := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)
			same(t, "webhook", served(func() { ingest(w, eventOf("create", run, noon)) }), c.event)
			same(t, "import", served(func() { testkit.Must(t, s.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true})) }), c.imported)
			same(t, "sync", served(func() {
				w.MoveClock(w.Clock.Now().Add(time.Second))
				testkit.Must(t, s.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true, Asked: w.Clock.Now().Unix()}))
			}), c.fetched)

			viewer := testkit.Open(w.World, milestone.ListVerdictsFunction(), workout.OpenIngester)
			same(t, "view", served(func() {
				if _, err := viewer.History(w.NewContext(), "ann", 0, noon.Unix()); err != nil && !workout.IsPassing(err) {
					t.Error(err)
				}
			}), c.viewed)

			w.Logs.TakeWarnings()
		})
	}
}

// TestViewGivesItsCallBack if Strava, or the limits of all users, refuse it: the user's own import needs it.
func TestViewGivesItsCallBack(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status, used int
	}{"Strava is down": {503, 0}, "all reads are used": {200, 100}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			testkit.PutRows(w.World, tables.Main, stored{
				"PK": "STRAVA#BUDGET", "SK": "META", "quarter": noon.Unix(), "day": noon.Truncate(24 * time.Hour).Unix(),
				"used": c.used, "usedDay": c.used,
			}, stored{
				"PK": "USER#ann", "SK": item.Calls, "quarter": noon.Unix(), "day": noon.Truncate(24 * time.Hour).Unix(), "used": 3, "usedDay": 4,
			})
			fail(w, "/api/v3/", c.status, jsonType, `[]`)

			viewer := testkit.Open(w.World, milestone.ListVerdictsFunction(), workout.OpenIngester)
			if _, err := viewer.History(w.NewContext(), "ann", 0, noon.Unix()); !workout.IsPassing(err) {
				t.Errorf("got %v", err)
			}

			is := row(w, "USER#ann", item.Calls)
			same(t, "calls of the user", []any{is["used"], is["usedDay"]}, []any{3.0, 4.0})
			w.Logs.TakeWarnings()
		})
	}
}

// TestBackfillsWaitForADay: a first import that has waited for a day is left to the sync of all users; one
// of that sync ends with the day's part, or before the next sync.
func TestBackfillsWaitForADay(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		m         link.Backfill // its times are seconds before the run
		status    int           // of Strava
		waits     []time.Duration
		suspected bool
		changed   int
	}{
		"an import": {link.Backfill{UserID: "ann", Whole: true}, 503, []time.Duration{time.Minute}, false, 0},
		"an import, after hours": {
			link.Backfill{UserID: "ann", Whole: true, Wait: sdk.Wait{Waits: 9, Since: 86_399}},
			503,
			[]time.Duration{15 * time.Minute},
			false,
			0,
		},
		"an import, after a day":       {link.Backfill{UserID: "ann", Whole: true, Wait: sdk.Wait{Waits: 9, Since: 86_400}}, 503, nil, true, 1},
		"a sync":                       {link.Backfill{UserID: "ann", Asked: 60}, 503, []time.Duration{time.Minute}, false, 0},
		"a sync, before the next":      {link.Backfill{UserID: "ann", Asked: 11 * 3600}, 200, nil, false, 0},
		"a sync, a page before":        {link.Backfill{UserID: "ann", Asked: 11 * 3600, Page: 2}, 200, nil, false, 1},
		"a sync, a page before a wait": {link.Backfill{UserID: "ann", Asked: 11 * 3600, Page: 1, Stored: true}, 200, nil, false, 1},
		"a sync that was done since":   {link.Backfill{UserID: "ann", Asked: 60, Seen: 1}, 200, nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			now := noon.Add(13 * time.Hour)
			w.MoveClock(now)

			at := connection(w, "ann")
			at["fetchedAtUtc"] = now.Add(-time.Hour).Unix()

			if c.status != 200 {
				at["fetchedAtUtc"] = now.AddDate(0, 0, -2).Unix()
			}

			testkit.PutRows(w.World, tables.Main, at)
			calls := fail(w, "/api/v3/athlete/", c.status, jsonType, "[]")

			for _, at := range []*int64{&c.m.Asked, &c.m.Since} {
				if *at != 0 {
					*at = now.Unix() - *at
				}
			}

			testkit.Must(t, testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester).Backfill(w.NewContext(), c.m))
			same(t, "it waits", waiting(w, link.BackfillQueue.Name), c.waits)
			same(t, "it is left to the next sync", syncRow(w, "ann").SuspectAt == now.Unix(), c.suspected)
			same(t, "evaluations", len(testkit.Messages[workout.Changed](w.World, workout.ChangeQueue)), c.changed)
			same(t, "calls", *calls > 0, c.status != 200)
			w.Logs.TakeWarnings()
		})
	}
}

// TestSyncFetchesEachUserOnce: two runs of one moment cause the calls of one.
func TestSyncFetchesEachUserOnce(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	w.Upload(77, "Run", noon.Add(-time.Hour), 1000)
	silence(w)
	w.MoveClock(noon.Add(36 * time.Hour))

	calls := 0
	w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/v3/athlete/activities" {
			calls++
		}

		return false
	}
	s := testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler)

	for range 2 {
		testkit.Must(t, s.Reconcile(w.NewContext()))
	}

	same(t, "messages", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 4)
	w.Work()
	same(t, "calls", calls, 2+1) // ann's page and the empty one, and bob's empty one

	at := w.Clock.Now().Unix()
	for _, user := range []string{"ann", "bob"} {
		l := syncRow(w, user)
		same(t, "the list", []int64{l.FetchedAt, l.SuspectAt}, []int64{at, 0})
	}

	w.MoveClock(w.Clock.Now().Add(34*time.Hour + 59*time.Minute))
	testkit.Must(t, s.Reconcile(w.NewContext()))
	same(t, "messages before users are due", len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)), 0)
}

// TestSyncThatDiesIsRepeated: a fetch of a sync that dies at any of its calls leaves the same time of the last fetch
// in the list of connected users as at the connection. Otherwise each later sync would take it for one that another
// message of the same run has done, and would fetch nothing.
func TestSyncThatDiesIsRepeated(t *testing.T) {
	t.Parallel()

	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) (listed bool) {
		w := small(t)
		w.MoveClock(noon.Add(36 * time.Hour))

		l, c := syncRow(w, "ann"), connection(w, "ann")
		l.FetchedAt, l.WholeAt = noon.Unix(), noon.Unix()
		c["fetchedAtUtc"], c["wholeAtUtc"] = l.FetchedAt, l.WholeAt
		testkit.PutRows(w.World, tables.Main, l)
		testkit.PutRows(w.World, tables.Main, c)

		fn, m := workout.BackfillFunction(), link.Backfill{UserID: "ann", Whole: true, Asked: w.Clock.Now().Unix(), Seen: l.FetchedAt}
		if p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(fn, p), workout.OpenIngester).Backfill(w.NewContext(), m), callsOfStrava...) {
			again(w)
			testkit.Must(t, testkit.Open(w.World, fn, workout.OpenIngester).Backfill(w.NewContext(), m))
		}

		w.Logs.TakeWarnings()

		l, c = syncRow(w, "ann"), connection(w, "ann")

		return float64(l.FetchedAt) == c["fetchedAtUtc"] && float64(l.WholeAt) == c["wholeAtUtc"]
	})
}

// TestOperatorIsToldThatFetchesAreLate on the third day on which the limits do not suffice, and not
// after a day on which they do. While the application is inactive another alarm tells of it, and the limits have
// two days to suffice afterwards.
func TestOperatorIsToldThatFetchesAreLate(t *testing.T) {
	t.Parallel()

	type day struct {
		used     int // calls
		inactive bool
	}

	enough, tooFew, inactive := day{}, day{used: 600}, day{600, true}
	for name, c := range map[string]struct {
		days []day
		want []float64 // what is counted on each day
	}{
		"limits": {
			[]day{tooFew, tooFew, tooFew, tooFew, enough, tooFew, tooFew, tooFew},
			[]float64{0, 0, 1, 1, 0, 0, 0, 1},
		},
		"inactive": {
			[]day{tooFew, inactive, inactive, inactive, inactive, tooFew, tooFew, tooFew},
			[]float64{0, 0, 0, 0, 0, 0, 0, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			s := testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler)

			var got []float64

			for n, is := range c.days {
				w.MoveClock(noon.AddDate(0, 0, n))
				testkit.PutRows(w.World, tables.Main, stored{"PK": item.Connected(item.Shard("ann")), "SK": "USER#ann", "userId": "ann",
					"fetchedAtUtc": noon.AddDate(0, 0, n-3).Unix()})

				b := row(w, "STRAVA#BUDGET", "META")
				if b == nil {
					b = stored{"PK": "STRAVA#BUDGET", "SK": "META"}
				}

				b["day"], b["usedDay"], b["inactiveAtUtc"] = w.Clock.Now().Truncate(24*time.Hour).Unix(), is.used, 0
				if is.inactive {
					b["inactiveAtUtc"] = w.Clock.Now().Add(-time.Minute).Unix()
				}

				testkit.PutRows(w.World, tables.Main, b)

				before := w.Logs.SumMetric(workout.FetchesLate)
				testkit.Must(t, s.Reconcile(w.NewContext()))
				w.Logs.TakeWarnings()

				got = append(got, w.Logs.SumMetric(workout.FetchesLate)-before)
			}

			same(t, "what is counted on each day", got, c.want)
		})
	}
}

// TestUnitsOfASync: a run reads the list of connected users once, and sends at most one message for two
// calls of its part, whatever their number.
func TestUnitsOfASync(t *testing.T) {
	t.Parallel()

	type cost struct {
		reads, writes float64
		messages      int
	}

	measure := func(users int) cost {
		w := small(t)
		w.MoveClock(noon.Add(36 * time.Hour))

		var rows []any

		for n := range users {
			id := fmt.Sprintf("user-%05d", n)
			rows = append(rows, link.Listed{
				PK: item.Connected(item.Shard(id)), SK: item.User(id), UserID: id, FetchedAt: noon.Unix(), WholeAt: noon.Unix(),
			})
		}

		testkit.PutRows(w.World, tables.Main, rows...)

		s := testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler)
		u := w.CountUnits(func() { testkit.Must(t, s.Reconcile(w.NewContext())) })

		return cost{u.Reads, u.Writes, len(w.Queues.Messages(link.BackfillQueue.Name))}
	}

	few, many := measure(200), measure(4000)
	t.Logf("a sync of 200 users: %+v, of 4,000: %+v", few, many)

	if few.messages != 201 || many.messages > 300 {
		t.Errorf("%d and %d messages, want 201, and at most 300", few.messages, many.messages)
	}

	if many.reads > 20*few.reads || many.reads > 150 || few.writes != 0 || many.writes > 1 {
		t.Errorf("a sync of 200 users costs %+v, one of 4,000 %+v, want at most 20 times the reads, 150 in all, and one write", few, many)
	}
}

// TestOldMessagesAndRows: what an earlier version has written is understood.
func TestOldMessagesAndRows(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.MoveClock(noon.Add(time.Hour))

	for _, r := range []stored{
		{"PK": "STRAVA#BUDGET", "SK": "META", "quarter": noon.Unix(), "day": noon.Truncate(24 * time.Hour).Unix(), "used": 5, "usedDay": 5},
		{"PK": item.Connected(item.Shard("ann")), "SK": "USER#ann", "userId": "ann"},
	} {
		testkit.PutRows(w.World, tables.Main, r)
	}

	run := w.Upload(77, "Run", noon.Add(-2*time.Hour), 1000)
	silence(w)
	testkit.Must(t, testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler).Reconcile(w.NewContext()))
	same(t, "a user without a fetch is due", testkit.Messages[link.Backfill](w.World, link.BackfillQueue),
		[]link.Backfill{{UserID: "ann", Whole: true, Asked: w.Clock.Now().Truncate(time.Hour).Unix()}})
	w.Work()
	same(t, "a workout is stored", workoutOf(w, "ann", run) != nil, true)

	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", fmt.Sprint("WORKOUT#STRAVA#", run)))
	testkit.Must(t, w.DeleteRow(tables.Main, "USER#ann", item.Ledger("2026-06")))
	testkit.Must(t, testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester).Backfill(w.NewContext(),
		link.Backfill{UserID: "ann", Page: 1, After: noon.AddDate(0, 0, -7).Unix(), Began: noon.Unix()}))
	same(t, "an old message continues", workoutOf(w, "ann", run) != nil, true)
}

// failing handles an event of which Strava refuses the activity.
func failing(status int, body string, since time.Time) job {
	return handling(func(w *commitcollecttest.World) workout.Event {
		next := uploaded(w)
		next.Since = since.Unix()
		fail(w, "/api/v3/activities/", status, jsonType, body)

		return next
	})
}

// uploaded uploads a run, and returns its event.
func uploaded(w *commitcollecttest.World) workout.Event {
	return eventOf("create", w.Upload(77, "Run", noon.Add(-time.Hour), 1000), noon)
}

// givenUp is a backfill that has waited for two days.
var givenUp = job{workout.BackfillFunction(), func(w *commitcollecttest.World) {
	fail(w, "/api/v3/athlete/", http.StatusServiceUnavailable, jsonType, `{}`)
}, func(w *commitcollecttest.World, env app.Env) error {
	return testkit.OpenWith(w.World, env, workout.OpenIngester).Backfill(w.NewContext(),
		link.Backfill{UserID: "ann", Whole: true, Wait: sdk.Wait{Since: noon.AddDate(0, 0, -2).Unix()}})
}}

// inactiveBody is the answer to every call of an inactive application.
const inactiveBody = `{"errors":[{"resource":"Application","field":"Status","code":"Inactive"}]}`

// callsOfStrava are the calls after whose failure a message waits.
var callsOfStrava = []string{"/api/v3/activities/*", "/api/v3/athlete/activities", "/oauth/token"}

func isMatch(pattern, call string) bool {
	ok, err := path.Match(pattern, call)
	return ok && err == nil
}

// dropWaiting deletes the messages that wait for Strava.
func dropWaiting(w *commitcollecttest.World) {
	w.T.Helper()

	for _, q := range []spec.Queue{workout.EventQueue, link.BackfillQueue} {
		w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(q.Name)}, nil)
	}
}
