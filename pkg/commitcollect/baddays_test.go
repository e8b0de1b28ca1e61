package commitcollect_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
)

const hook = "/webhooks/strava/" + commitcollecttest.Secret

// event returns the body of a webhook of the subscription.
func event(w *commitcollecttest.World, change map[string]any) map[string]any {
	w.T.Helper()

	e := map[string]any{
		"object_type": "activity", "object_id": 1, "aspect_type": "create", "updates": map[string]any{}, "owner_id": 77,
		"subscription_id": int64(row(w, "STRAVA#SUBSCRIPTION", "META")["subscriptionId"].(float64)), "event_time": w.Clock.Now().Unix(),
	}
	for name, value := range change {
		e[name] = value
	}

	return e
}

// TestWebhookIsAHint: what is forged changes nothing.
func TestWebhookIsAHint(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	others := w.Upload(78, "Run", noon.Add(-time.Hour), 5000)
	w.Work()
	before := w.Count(tables.Main, "USER#ann", "")
	refused(t, "a guessed address", w.Ask("", http.MethodPost, "/webhooks/strava/guessed", event(w, nil)), 401, "invalid_secret")
	refused(t, "a question with a guessed token",
		w.Ask("", http.MethodGet, hook+"?hub.mode=subscribe&hub.challenge=a&hub.verify_token=guessed", nil), 401, "invalid_secret")
	refused(t, "another subscription", w.Ask("", http.MethodPost, hook, event(w, map[string]any{"subscription_id": 1})),
		403, "unknown_subscription")

	for what, change := range map[string]map[string]any{
		"an unknown owner":               {"owner_id": 4},
		"an activity of another athlete": {"object_id": others},
		"a deletion that did not happen": {"aspect_type": "delete", "object_id": others},
		"a revocation that did not happen": {
			"object_type": "athlete",
			"object_id":   77,
			"aspect_type": "update",
			"updates":     map[string]any{"authorized": "false"},
		},
		"a change of the athlete's name": {
			"object_type": "athlete",
			"object_id":   77,
			"aspect_type": "update",
			"updates":     map[string]any{"name": "x"},
		},
		"a thing that is not known":  {"object_type": "segment"},
		"a change that is not known": {"aspect_type": "praise"},
	} {
		if out := w.Ask("", http.MethodPost, hook, event(w, change)); out.StatusCode != 200 {
			t.Errorf("%s: got %d %s", what, out.StatusCode, out.Body)
		}
	}

	w.Pass(15 * time.Minute)

	if !w.Strava.Connected(77) || row(w, "USER#ann", "STRAVA#CONNECTION")["status"] != link.Connected {
		t.Error("the connection has ended")
	}

	for _, r := range testkit.Rows[struct{ PK, SK string }](w.World, tables.Main) {
		if strings.HasPrefix(r.SK, "WORKOUT#") && r.SK != fmt.Sprint("WORKOUT#STRAVA#", others) {
			t.Errorf("there is a workout %s %s", r.PK, r.SK)
		}
	}
	// A deletion is believed: the activity that is said to be gone was never stored. Calls to Strava
	// are counted.
	if n := w.Count(tables.Main, "USER#ann", ""); n > before+2 {
		t.Errorf("the user had %d items, and has %d", before, n)
	}

	if got := testkit.Decode[struct{ WorkoutCount int }](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil)); got.WorkoutCount != 0 {
		t.Errorf("the user has %d workouts", got.WorkoutCount)
	}
}

// TestWebhookIsRepeatedUnlessItIsQueued: an answer other than 200 has Strava send the event
// again.
func TestWebhookIsRepeatedUnlessItIsQueued(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	s := testkit.Open(w.World, workout.ReceiveWebhookFunction(), workout.OpenHooks)
	in := &workout.ReceiveWebhook{Secret: commitcollecttest.Secret}
	in.Body.ObjectType, in.Body.AspectType, in.Body.ObjectID, in.Body.OwnerID, in.Body.EventTime = "activity", "create", 1, 77, 1
	in.Body.SubscriptionID = int64(row(w, "STRAVA#SUBSCRIPTION", "META")["subscriptionId"].(float64))
	dynamotest.CheckFailures(t, &w.IO, func() error {
		_, err := s.ReceiveWebhook(w.NewContext(), in)
		return err
	})
}

// TestEventsInAnyOrder: events that come twice, late and in another order leave the same
// workouts as Strava has.
func TestEventsInAnyOrder(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{Seed: seed, Doubled: 0.5, Late: 0.5, NotYet: 0.3, Unavailable: 0.05}, "ann")

			id := w.Start("ann", commitcollecttest.Goal{})
			for n := range 20 {
				a := w.Upload(77, "Run", noon.Add(-time.Duration(n+1)*time.Hour), 1000)
				switch n % 4 {
				case 1:
					w.Strava.Edit(a, map[string]any{"title": "Long"}, func(a *strava.Activity) { a.Distance = 2000 })
				case 2:
					w.Strava.Delete(a)
				case 3:
					w.Strava.Edit(a, map[string]any{"type": "Ride"}, func(a *strava.Activity) { a.SportType = "Ride" })
					w.Strava.Delete(a)
				}

				w.MoveClock(w.Clock.Now().Add(time.Minute))
			}

			w.Pass(2 * time.Hour)
			w.Pass(time.Hour)

			if m := w.Show("ann", id); m.RawProgress != 5*1000+5*2000 {
				t.Errorf("the milestone is %+v, want 15,000 m", m)
			}

			w.Logs.TakeWarnings()
		})
	}
}

// TestLateEventChangesNothing: an update that comes after the deletion, and is older, does
// not bring the workout back.
func TestLateEventChangesNothing(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	at := w.Clock.Now().Unix()
	w.Pass(time.Minute)
	w.Ask("", http.MethodPost, hook, event(w, map[string]any{"object_id": a, "aspect_type": "delete"}))
	w.Work()
	w.Ask("", http.MethodPost, hook, event(w, map[string]any{"object_id": a, "aspect_type": "update", "event_time": at}))
	w.Work()

	if got := workoutOf(w, "ann", a); got["isDeleted"] != true {
		t.Errorf("the workout is %v, want it deleted", got)
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))
	w.Ask("", http.MethodPost, hook, event(w, map[string]any{"object_id": a, "aspect_type": "update"}))
	w.Work()

	if got := workoutOf(w, "ann", a); got["isDeleted"] != false || got["deletedAtUtc"] != nil {
		t.Errorf("the workout is %v: Strava has it", got)
	}
}

// TestActivityThatIsNotFound is looked for three times more, and is then taken for deleted.
func TestActivityThatIsNotFound(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{NotYet: 1}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Work()
	a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(10 * time.Second)
	w.Pass(5 * time.Minute)

	if m := w.Show("ann", id); m.ProgressValue != 5000 {
		t.Errorf("an activity that Strava shows later: %+v", m)
	}

	w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/v3/activities/") {
			return false
		}

		out.WriteHeader(404)

		return true
	}
	w.Strava.Edit(a, map[string]any{"private": "true"}, func(*strava.Activity) {})
	w.Pass(3 * time.Minute)

	if workoutOf(w, "ann", a)["isDeleted"] != false {
		t.Error("a workout is taken for deleted at once")
	}

	w.Pass(10 * time.Minute)
	w.Pass(10 * time.Minute)

	if workoutOf(w, "ann", a)["isDeleted"] != true {
		t.Error("a workout that nobody finds still counts")
	}
}

// TestStravaOnBadDays: an event is handled whatever Strava answers meanwhile.
func TestStravaOnBadDays(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		until  time.Duration // of the outage; the event is handled at once afterwards
		after  time.Duration
	}{
		"401 once": {401, nil, `{}`, time.Second, 0},
		"429 with headers": {429, map[string]string{"X-RateLimit-Limit": "200,2000", "X-RateLimit-Usage": "201,400"}, `{}`,
			time.Minute, 15 * time.Minute},
		"429 without headers": {429, nil, ``, time.Minute, 15 * time.Minute},
		"429 for the day": {429, map[string]string{"X-ReadRateLimit-Limit": "100,1000", "X-ReadRateLimit-Usage": "20,1001"}, `{}`,
			time.Minute, 8 * time.Hour},
		"500": {500, nil, ``, 10 * time.Minute, 15 * time.Minute},
		"503": {503, nil, `{"message":"busy"}`, 10 * time.Minute, 15 * time.Minute},
		"HTML": {200, map[string]string{"Content-Type": "text/html"}, "<html>down</html>",
			10 * time.Minute, 15 * time.Minute},
		"half an answer":            {200, nil, `{"id": 1`, 10 * time.Minute, 15 * time.Minute},
		"an answer of another kind": {200, nil, `[]`, 10 * time.Minute, 15 * time.Minute},
		"a redirect":                {302, map[string]string{"Location": "https://evil.example/"}, ``, 10 * time.Minute, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			id := w.Start("ann", commitcollecttest.Goal{})
			w.Work()
			end, calls := w.Clock.Now().Add(c.until), 0
			w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, "/api/v3/activities/") || !w.Clock.Now().Before(end) || c.status == 401 && calls > 0 {
					return false
				}

				calls++

				for name, value := range c.header {
					out.Header().Set(name, value)
				}

				out.WriteHeader(c.status)
				io.WriteString(out, c.body)

				return true
			}

			if c.status == 401 {
				end = end.Add(time.Hour)
			}

			w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
			w.Pass(15 * time.Second)

			for range 8 {
				w.Pass(c.after / 4)
			}

			if m := w.Show("ann", id); m.ProgressValue != 5000 || calls == 0 {
				t.Errorf("after %d bad answers: %+v, want 5,000 m", calls, m)
			}

			for _, line := range w.Logs.Lines() {
				if strings.Contains(fmt.Sprint(line), "app-s3cret") || strings.Contains(fmt.Sprint(line), commitcollecttest.Secret) {
					t.Errorf("a log has a secret: %v", line)
				}
			}

			w.Logs.TakeWarnings()
		})
	}
}

// TestRevocationPurges: when the user revokes the access at Strava, the connection ends,
// the workouts are deleted, and what they have earned stays.
func TestRevocationPurges(t *testing.T) {
	t.Parallel()

	for _, keep := range []bool{false, true} {
		w := busy(t, "ann")

		if keep { // an older choice
			keepWorkouts(w)
		}

		w.Strava.Revoke(77)
		w.Pass(time.Minute)
		w.Pass(5 * time.Minute)

		if row(w, "USER#ann", "STRAVA#CONNECTION") != nil || row(w, "STRAVA#ATHLETE#77", "OWNER") != nil {
			t.Error("there still is a connection, with tokens")
		}

		same(t, "workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 0)

		if w.Count(tables.Main, "USER#ann", "MILESTONE#") != 3 {
			t.Error("the milestone and its two parts are gone")
		}

		w.Logs.TakeWarnings()
	}
}

// TestReplayedEvent: an administrator has an event handled again, which changes nothing if
// it was handled.
func TestReplayedEvent(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	id := w.Start("ann", commitcollecttest.Goal{})
	w.Upload(77, "Run", noon.Add(-time.Hour), 15_000)
	w.Pass(time.Minute)
	before := w.Show("ann", id)

	key := testkit.Rows[struct{ IdempotencyKey string }](w.World, tables.Idempotency)[0].IdempotencyKey
	for range 2 {
		if out := w.AskAdmin(http.MethodPost, "/admin/replay/"+key, nil); out.StatusCode != 202 {
			t.Errorf("got %d %s", out.StatusCode, out.Body)
		}

		w.Work()
	}

	same(t, "the milestone", w.Show("ann", id), before)
	refused(t, "an unknown event", w.AskAdmin(http.MethodPost, "/admin/replay/STRAVA#EVT#x", nil), 404, "event_not_found")
}

// TestSubscription: an administrator subscribes once, may repeat it, and ends it.
func TestSubscription(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})

	const path = "/admin/strava/subscription"

	get := func() string { return w.AskAdmin(http.MethodGet, path, nil).Body }
	if got := get(); !strings.Contains(got, `"subscribed":false`) {
		t.Errorf("at first: %s", got)
	}

	for range 2 {
		w.Subscribe()
	}

	if got := get(); !strings.Contains(got, `"ours":true`) || strings.Contains(got, commitcollecttest.Secret) {
		t.Errorf("subscribed: %s", got)
	}

	for range 2 {
		if out := w.AskAdmin(http.MethodDelete, path, nil); out.StatusCode != 204 {
			t.Errorf("the end: %d %s", out.StatusCode, out.Body)
		}
	}

	w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}

		io.WriteString(out, `[{"id": 9, "callback_url": "https://other.example"}]`)

		return true
	}
	refused(t, "a subscription to another address", w.AskAdmin(http.MethodPost, path, nil), 409, "already_exists")
	w.Outage = func(out http.ResponseWriter, _ *http.Request) bool { out.WriteHeader(500); return true }
	refused(t, "Strava is down", w.AskAdmin(http.MethodPost, path, nil), 502, "subscription_failed")
}
