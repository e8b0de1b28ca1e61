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
	sdk "matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

// eventOf is the event of an activity of the athlete 77 at a time.
func eventOf(aspect string, id int64, at time.Time) workout.Event {
	return workout.Event{Event: sdk.Event{ObjectType: "activity", ObjectID: id, AspectType: aspect, OwnerID: 77, EventTime: at.Unix()}}
}

// ingest handles events, each as a message of its own, and fails the test if one fails.
func ingest(w *commitcollecttest.World, events ...workout.Event) {
	w.T.Helper()

	worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	for _, e := range events {
		testkit.Must(w.T, worker.IngestEvent(w.NewContext(), e))
	}
}

// silence has Strava send no webhooks, and forgets those that it has sent.
func silence(w *commitcollecttest.World) {
	w.T.Helper()
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(workout.EventQueue.Name)}, nil)
}

// waiting returns how long the messages of a queue are invisible.
func waiting(w *commitcollecttest.World, queue string) (all []time.Duration) {
	for _, m := range w.Queues.Messages(queue) {
		all = append(all, m.Visible.Sub(w.Clock.Now()))
	}

	return all
}

// TestForgedWebhookIsRefused: who does not know the secret, or names another subscription,
// puts nothing into the queue. Events that nothing is done with are accepted, so that Strava
// does not repeat them.
func TestForgedWebhookIsRefused(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	for name, c := range map[string]struct {
		path   string
		change map[string]any
		status int
		code   string
		queued int
	}{
		"an event":               {path: hook, status: 200, queued: 1},
		"a wrong secret":         {path: hook + "x", status: 401, code: "invalid_secret"},
		"another subscription":   {path: hook, change: map[string]any{"subscription_id": 1}, status: 403, code: "unknown_subscription"},
		"another kind of object": {path: hook, change: map[string]any{"object_type": "club"}, status: 200},
		"another aspect":         {path: hook, change: map[string]any{"aspect_type": "like"}, status: 200},
		"a new athlete":          {path: hook, change: map[string]any{"object_type": "athlete"}, status: 200},
		"a revocation": {
			path:   hook,
			change: map[string]any{"object_type": "athlete", "aspect_type": "update", "updates": map[string]any{"authorized": "false"}},
			status: 200,
			queued: 1,
		},
		"attributes that Strava added": {
			path:   hook,
			change: map[string]any{"new": []int{1}, "updates": map[string]any{"title": "x", "depth": 3}},
			status: 200,
			queued: 1,
		},
	} {
		before := len(w.Queues.Messages(workout.EventQueue.Name))

		out := w.Ask("", http.MethodPost, c.path, event(w, c.change))
		if c.code != "" {
			refused(t, name, out, c.status, c.code)
		} else if out.StatusCode != c.status {
			t.Errorf("%s: got %d %s, want %d", name, out.StatusCode, out.Body, c.status)
		}

		same(t, name+": messages", len(w.Queues.Messages(workout.EventQueue.Name))-before, c.queued)
	}

	for name, path := range map[string]string{
		"a wrong token":  hook + "?hub.mode=subscribe&hub.challenge=abc&hub.verify_token=x",
		"a wrong secret": hook + "x?hub.mode=subscribe&hub.challenge=abc&hub.verify_token=" + commitcollecttest.Secret,
	} {
		refused(t, name, w.Ask("", http.MethodGet, path, nil), 401, "invalid_secret")
	}

	out := w.Ask("", http.MethodGet, hook+"?hub.mode=subscribe&hub.challenge=abc&hub.verify_token="+commitcollecttest.Secret, nil)
	same(t, "the challenge", []any{out.StatusCode, strings.TrimSpace(out.Body)}, []any{200, `{"hub.challenge":"abc"}`})

	before := event(w, nil)
	w.AskAdmin(http.MethodDelete, "/admin/strava/subscription", nil)
	refused(t, "without a subscription", w.Ask("", http.MethodPost, hook, before), 403, "unknown_subscription")
}

// TestSubscriptionIsStoredWithoutItsSecret: there is one at Strava, which an administrator creates once, sees, and
// deletes.
func TestSubscriptionIsStoredWithoutItsSecret(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{})

	const path = "/admin/strava/subscription"

	ask := func(method string) string { return strings.TrimSpace(w.AskAdmin(method, path, nil).Body) }
	id := int64(row(w, "STRAVA#SUBSCRIPTION", "META")["subscriptionId"].(float64))
	ours := fmt.Sprintf(`{"subscribed":true,"ours":true,"subscriptionId":%d}`, id)
	same(t, "the subscription", ask(http.MethodGet), ours)
	same(t, "created again", ask(http.MethodPost), ours)

	for _, text := range []string{ours, fmt.Sprint(testkit.Rows[stored](w.World, tables.Main))} {
		if strings.Contains(text, commitcollecttest.Secret) {
			t.Errorf("the secret of the webhook is in %s", text)
		}
	}

	testkit.Must(t, w.DeleteRow(tables.Main, "STRAVA#SUBSCRIPTION", "META"))
	same(t, "not stored", ask(http.MethodGet), fmt.Sprintf(`{"subscribed":true,"ours":false,"subscriptionId":%d}`, id))
	same(t, "stored again", ask(http.MethodPost), ours)

	for range 2 {
		same(t, "deleted", w.AskAdmin(http.MethodDelete, path, nil).StatusCode, 204)
	}

	same(t, "none", ask(http.MethodGet), `{"subscribed":false,"ours":false}`)
	fail(w, "/api/v3/push_subscriptions", 200, jsonType, `[{"id":5,"callback_url":"https://other.example/hook"}]`)
	refused(t, "of another stage", w.AskAdmin(http.MethodPost, path, nil), 409, "already_exists")
	fail(w, "/api/v3/push_subscriptions", 503, jsonType, `{}`)

	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		refused(t, method+" while Strava is down", w.AskAdmin(method, path, nil), 502, "subscription_failed")
	}
}

// TestEventsOfOneActivityInAnyOrder: whatever the order in which events arrive, and however often, the
// workout is what Strava shows.
func TestEventsOfOneActivityInAnyOrder(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		aspects []string // one a minute
		deleted bool
	}{
		"created, changed, deleted": {[]string{"create", "update", "delete"}, true},
		"hidden, shown":             {[]string{"create", "delete", "create"}, false},
	} {
		for _, order := range permutations(len(c.aspects)) {
			t.Run(fmt.Sprint(name, order), func(t *testing.T) {
				t.Parallel()
				w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
				run := w.Upload(77, "Run", noon, 12_345)
				id := w.Start("ann", commitcollecttest.Goal{})
				silence(w)

				if c.deleted {
					w.Strava.Delete(run)
					silence(w)
				}

				for _, i := range order {
					e := eventOf(c.aspects[i], run, noon.Add(time.Duration(i)*time.Minute))
					ingest(w, e, e)
					w.Pass(10 * time.Minute)
				}

				row := workoutOf(w, "ann", run)

				raw := int64(12_345)
				if c.deleted {
					raw = 0
				}

				same(t, "deleted, progress", []any{row["isDeleted"], w.Show("ann", id).RawProgress}, []any{c.deleted, raw})
			})
		}
	}
}

// permutations returns the orders of the numbers below n.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}

	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}

	return all
}

// TestLimitOfStrava: an event waits for the next window, at most 15 minutes at a time, and
// is not lost however long it takes.
func TestLimitOfStrava(t *testing.T) {
	t.Parallel()

	const over = "100,1000"
	for name, c := range map[string]struct {
		headers []string
		body    string
		want    time.Duration // at 12:02
		day     bool
	}{
		"no headers": {nil, "", 13 * time.Minute, false},
		"of a quarter": {
			[]string{"X-RateLimit-Limit", "200,2000", "X-RateLimit-Usage", "200,900", "X-ReadRateLimit-Limit", over,
				"X-ReadRateLimit-Usage", "101,900"},
			`{}`,
			13 * time.Minute,
			false,
		},
		"of the day": {
			[]string{"X-ReadRateLimit-Limit", over, "X-ReadRateLimit-Usage", "2,1001"},
			`{"message":"Rate Limit Exceeded"}`,
			15 * time.Minute,
			true,
		},
		"headers without sense": {
			[]string{"X-RateLimit-Limit", "many", "X-RateLimit-Usage", "1,2,3", "X-ReadRateLimit-Limit", "-", "X-ReadRateLimit-Usage", ","},
			"<html>",
			13 * time.Minute,
			false,
		},
		"headers with one value": {[]string{"X-RateLimit-Limit", "200", "X-RateLimit-Usage", "201"}, "", 13 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			run := w.Upload(77, "Run", noon, 10_000)
			silence(w)
			w.MoveClock(noon.Add(2 * time.Minute))
			n := fail(w, "/api/v3/activities/", 429, jsonType, c.body, c.headers...)
			e := eventOf("create", run, noon)
			ingest(w, e)
			same(t, "the message waits", waiting(w, workout.EventQueue.Name), []time.Duration{c.want})

			for range 7 { // more than the queue redelivers a message that fails
				w.Pass(15 * time.Minute)
			}

			switch {
			case c.day: // nobody asks again before the next one
				same(t, "calls", *n, 1)
				w.MoveClock(noon.Add(12 * time.Hour))
			case *n < 7:
				t.Errorf("the event was handled %d times", *n)
			}

			w.Outage = nil
			w.Pass(15 * time.Minute)
			same(t, "the workout", workoutOf(w, "ann", run)["distanceMeters"], any(10_000.0))
			same(t, "messages that are given up", len(w.Queues.Messages(workout.EventQueue.DeadLetter())), 0)
		})
	}
}

// TestEventOfNobody: an athlete whom nobody has connected, and an activity of another
// athlete, leave nothing.
func TestEventOfNobody(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann", "bob")
	run := w.Upload(78, "Run", noon, 10_000)
	silence(w)

	e := eventOf("create", run, noon)
	e.OwnerID = 99
	calls := fail(w, "/api/v3/activities/", 200, jsonType, fmt.Sprintf(`{"id":%d,"athlete":{"id":78},"sport_type":"Run","distance":5}`, run))
	ingest(w, e)
	same(t, "calls to Strava for an unknown athlete", *calls, 0)
	ingest(w, eventOf("update", run, noon))

	for _, user := range []string{"ann", "bob"} {
		same(t, "workouts of "+user, w.Count(tables.Main, "USER#"+user, "WORKOUT#"), 0)
	}

	same(t, "events that are repeated", len(w.Queues.Messages(workout.EventQueue.Name)), 0)

	for _, r := range testkit.Rows[stored](w.World, tables.Idempotency) {
		same(t, "the state of "+r["IdempotencyKey"].(string), r["state"], any("DONE"))
	}
}

// TestStrangeNumbers: what Strava sends and is no length is 0; metres are rounded.
func TestStrangeNumbers(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})

	at := noon.Add(-24 * time.Hour)
	for i, metres := range []float64{1000.4, 1000.5, 0, -5, 1e300} {
		w.Upload(77, "Run", at.Add(time.Duration(i)*time.Hour), metres)
	}

	w.Pass(time.Minute)
	same(t, "the milestone", progress(w.Show("ann", id)), [3]int64{2001, 2001, 0})
}
