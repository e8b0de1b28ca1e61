package commitcollect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
)

var allScopes = []string{"read", "activity:read", "activity:read_all"}

// begin begins to connect Strava, and returns the state.
func begin(w *commitcollecttest.World, user string) string {
	w.T.Helper()
	to, err := url.Parse(testkit.Header(w.Ask(user, http.MethodGet, "/strava/connect", nil)).Get("Location"))
	testkit.Must(w.T, err)

	return to.Query().Get("state")
}

// comeBack is the request of a browser that returns from Strava.
func comeBack(w *commitcollecttest.World, user, state, code, scope string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	return w.Ask(user, http.MethodGet, "/oauth/strava/callback?"+url.Values{"state": {state}, "code": {code}, "scope": {scope}}.Encode(), nil)
}

// TestTokenIsRefreshedOnce: of two workers that need a new token one renews it; the other
// waits, or finds it.
func TestTokenIsRefreshedOnce(t *testing.T) {
	t.Parallel()

	for name, overlap := range map[string]func(t *testing.T, w *commitcollecttest.World, e workout.Event){
		// The other begins while Strava answers the first: it finds the lock.
		"during the refresh": func(t *testing.T, w *commitcollecttest.World, e workout.Event) {
			worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)

			var second error

			n := 0
			w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/oauth/token" {
					if n++; n == 1 {
						second = worker.IngestEvent(w.NewContext(), e)
					}
				}

				return false
			}
			ingest(w, eventOf("create", 1, noon))

			if second != nil || n != 1 {
				w.T.Errorf("the token was renewed %d times, and the other worker got %v", n, second)
			}

			// Strava has no activity 1, so that of the first waits, too.
			same(t, "events that wait", len(w.Queues.Messages(workout.EventQueue.Name)), 2)

			w.Outage = nil
			w.MoveClock(w.Clock.Now().Add(workout.IngestEventsFunction().VisibilityTimeout()))
			testkit.Must(w.T, worker.IngestEvent(w.NewContext(), e))
		},
		// The other has read the old tokens, and then the first replaces them.
		"after the other has read the tokens": func(t *testing.T, w *commitcollecttest.World, e workout.Event) {
			renewals := 0
			w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/oauth/token" {
					renewals++
				}

				return false
			}
			env, asked := w.Env(workout.IngestEventsFunction()), 0
			now := env.Clock.Now
			env.Clock.Now = func() time.Time {
				if asked++; asked == 2 { // for the claim, and for the age of the token
					ingest(w, eventOf("create", 1, noon))
				}

				return now()
			}
			testkit.Must(w.T, testkit.OpenWith(w.World, env, workout.OpenIngester).IngestEvent(w.NewContext(), e))
			w.Outage = nil

			same(t, "renewals", renewals, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(noon.Add(7 * time.Hour))
			run := w.Upload(77, "Run", noon, 5_000)
			silence(w)
			overlap(t, w, eventOf("create", run, noon))
			same(t, "the workout", workoutOf(w, "ann", run)["distanceMeters"], any(5_000.0))
			is := connection(w, "ann")
			same(t, "the connection", []any{is["status"], is["refreshLock"]}, []any{"CONNECTED", nil})
			w.MoveClock(w.Clock.Now().Add(7 * time.Hour)) // the stored refresh token is the valid one
			ingest(w, eventOf("update", run, noon.Add(time.Minute)))
			same(t, "the connection", connection(w, "ann")["status"], any("CONNECTED"))
		})
	}
}

// TestRefreshThatFails: the connection is broken only if Strava refuses the user's token.
func TestRefreshThatFails(t *testing.T) {
	t.Parallel()

	const refusal = `{"message":"Bad Request","errors":[{"resource":"%s","field":"%s","code":"invalid"}]}`
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want       string
		waits      bool
	}{
		"the token":                 {400, jsonType, fmt.Sprintf(refusal, "RefreshToken", "refresh_token"), "BROKEN", false},
		"our id":                    {400, jsonType, fmt.Sprintf(refusal, "Application", "client_id"), "CONNECTED", false},
		"our secret":                {401, jsonType, fmt.Sprintf(refusal, "Application", "client_secret"), "CONNECTED", false},
		"a firewall":                {403, htmlType, "<html>", "CONNECTED", false},
		"the limit":                 {429, jsonType, `{}`, "CONNECTED", true},
		"Strava is down":            {503, htmlType, "<html>", "CONNECTED", true},
		"HTML":                      {200, htmlType, "<html>", "CONNECTED", true},
		"an answer without a token": {200, jsonType, `{"access_token":"a"}`, "CONNECTED", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(noon.Add(7 * time.Hour))
			run := w.Upload(77, "Run", noon, 5_000)
			silence(w)
			before := connection(w, "ann")
			fail(w, "/oauth/token", c.status, c.kind, c.body)
			worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)

			err := worker.IngestEvent(w.NewContext(), eventOf("create", run, noon))
			if (err == nil) != (c.want == "BROKEN" || c.waits) {
				t.Errorf("got the error %v", err)
			}

			same(t, "the event waits", len(w.Queues.Messages(workout.EventQueue.Name)) > 0, c.waits)

			after := connection(w, "ann")
			same(t, "status, lock, token", []any{after["status"], after["refreshLock"], after["refreshToken"]},
				[]any{c.want, nil, before["refreshToken"]})
			same(t, "entries of the trail", entriesOf(w, "ann")["STRAVA_REFRESH failed"], map[string]int{"BROKEN": 1}[c.want])
			w.Outage = nil

			type status struct{ Connected, Broken bool }

			same(t, "what the user sees", testkit.Decode[status](w.World, w.Ask("ann", http.MethodGet, "/strava/status", nil)),
				status{true, c.want == "BROKEN"})

			if c.want != "BROKEN" {
				w.Pass(20 * time.Minute)
				testkit.Must(t, worker.IngestEvent(w.NewContext(), eventOf("update", run, noon)))
				same(t, "the workout", workoutOf(w, "ann", run)["distanceMeters"], any(5_000.0))

				return
			}

			refused(t, "a sync", w.Ask("ann", http.MethodPost, "/activities/sync", nil), 409, "reconnect_required")
			w.Connect("ann", 77)
			w.Work()
			same(t, "the workout, once connected again", workoutOf(w, "ann", run)["distanceMeters"], any(5_000.0))
		})
	}
}

// TestRefusedAccessTokenIsRenewedOnce: Strava may end an access token early.
func TestRefusedAccessTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	run := w.Upload(77, "Run", noon, 5_000)
	silence(w)
	w.Strava.Expire(77)
	ingest(w, eventOf("create", run, noon))
	same(t, "the workout", workoutOf(w, "ann", run)["distanceMeters"], any(5_000.0))
	calls := fail(w, "/api/v3/activities/", 401, jsonType, `{"message":"Authorization Error"}`)

	worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	if err := worker.IngestEvent(w.NewContext(), eventOf("update", run, noon.Add(time.Minute))); err == nil {
		t.Error("an event succeeds whose token Strava refuses")
	}

	if *calls > 2 {
		t.Errorf("the activity was asked for %d times, want twice at most", *calls)
	}

	same(t, "the workout stays", workoutOf(w, "ann", run)["isDeleted"], any(false))
}

// TestRevocationWhileStravaIsDown is repeated, and not taken for true.
func TestRevocationWhileStravaIsDown(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	e := eventOf("update", 77, noon)
	e.ObjectType, e.Updates = "athlete", map[string]string{"authorized": "false"}
	worker := testkit.Open(w.World, workout.IngestEventsFunction(), workout.OpenIngester)
	fail(w, "/api/v3/", 503, htmlType, "<html>")

	testkit.Must(t, worker.IngestEvent(w.NewContext(), e))
	same(t, "the message waits while Strava is down", waiting(w, workout.EventQueue.Name), []time.Duration{time.Minute})
	silence(w)
	w.MoveClock(noon.Add(10 * time.Minute))
	fail(w, "/api/v3/", 429, jsonType, "")
	testkit.Must(t, worker.IngestEvent(w.NewContext(), e))
	same(t, "the message waits", waiting(w, workout.EventQueue.Name), []time.Duration{5 * time.Minute})
	same(t, "the connection", connection(w, "ann")["status"], any("CONNECTED"))
}

// TestNothingIsStoredOfADeletedUser: a worker that is late writes nothing.
func TestNothingIsStoredOfADeletedUser(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	run := w.Upload(77, "Run", noon, 25_000)
	silence(w)
	backfiller := testkit.Open(w.World, workout.BackfillFunction(), workout.OpenIngester)

	forgetter := testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.OpenForgetter)
	for name, late := range map[string]func(){
		"a webhook": func() { ingest(w, eventOf("create", run, noon)) },
		"a backfill": func() {
			testkit.Must(t, backfiller.Backfill(w.NewContext(), link.Backfill{UserID: "ann", Whole: true}))
		},
	} {
		w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/oauth/revoke" {
				w.Outage = nil
				testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})
			}

			return false
		}

		late()
		same(t, name+": workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#")+w.Count(tables.Main, "USER#ann", "LEDGER#"), 0)
	}

	testkit.Must(t, forgetter.ForgetUser(w.NewContext(), account.Request{Job: "job", UserID: "ann"}))

	for _, r := range testkit.Rows[stored](w.World, tables.Main) {
		if r["PK"] == "USER#ann" || r["userId"] == "ann" {
			t.Errorf("%v %v is left", r["PK"], r["SK"])
		}
	}
}

// TestConnectWhileStravaIsDown fails, and leaves nothing; the user begins again. Activities
// that only the user can see need not be shared.
func TestConnectWhileStravaIsDown(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	grant := func() string { return w.Strava.Grant(77, allScopes...) }

	for name, status := range map[string]int{"401": 401, "429": 429, "500": 500, "HTML": 200} {
		fail(w, "/oauth/token", status, htmlType, "<html>")
		refused(t, name, comeBack(w, "ann", begin(w, "ann"), grant(), "activity:read"), 502, "token_exchange_failed")
	}

	refused(t, "without a code", comeBack(w, "ann", begin(w, "ann"), "", "activity:read"), 400, "missing_code_or_state")
	same(t, "connections", w.Count(tables.Main, "USER#ann", "STRAVA#"), 0)

	w.Outage = nil
	if out := comeBack(w, "ann", begin(w, "ann"), grant(), "read,activity:read"); out.StatusCode != http.StatusFound {
		t.Errorf("got %d %s", out.StatusCode, out.Body)
	}
}

// TestConnectAgainAtOnce: who disconnects and connects again within a minute keeps the
// workouts.
func TestConnectAgainAtOnce(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann")
	w.End("ann")
	w.Connect("ann", 77)
	w.Pass(5 * time.Minute)
	same(t, "workouts", w.Count(tables.Main, "USER#ann", "WORKOUT#"), 1)
}

// TestConnectAnotherAtOnce: who disconnects and connects another athlete within a minute loses the workouts of the first,
// with what milestones have carried forward of them, and the deletion is proven.
func TestConnectAnotherAtOnce(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(w *commitcollecttest.World){
		"here": func(w *commitcollecttest.World) { w.End("ann") },
		"at Strava": func(w *commitcollecttest.World) {
			w.Strava.Revoke(77)

			e := eventOf("update", 77, noon.Add(time.Minute))
			e.ObjectType, e.Updates = "athlete", map[string]string{"authorized": "false"}
			ingest(w, e)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := small(t)
			inCarried(w)
			w.SignIn("ann")
			w.Upload(99, "Run", noon.AddDate(0, 0, -9), 5000)
			end(w)
			w.Connect("ann", 99)

			for range 3 {
				w.Pass(link.PurgeDelay)
			}

			same(t, "what is stored", athletes(w, "ann"), map[string]int{"workouts of 99": 1, "entries of 99": 1, "ledgers": 1})
			same(t, "proofs of a deletion", len(proofs(w)), 1)

			m := testkit.Row[milestone.Row](w.World, tables.Main, "USER#ann", "MILESTONE#"+theMilestone(w))
			same(t, "the sum", m.Raw, int64(5000))
		})
	}
}

// TestAnotherAthleteEndsTheAccessToTheFirst at Strava, also if its access token has expired. If
// Strava does not answer, the user is connected all the same.
func TestAnotherAthleteEndsTheAccessToTheFirst(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		later time.Duration
		down  bool
	}{"at once": {0, false}, "the next day": {24 * time.Hour, false}, "Strava does not answer": {0, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(w.Clock.Now().Add(c.later))

			if c.down {
				fail(w, "/oauth/revoke", 503, htmlType, "")
			}

			w.Connect("ann", 99)
			w.Pass(link.PurgeDelay)
			same(t, "access to the first, to the other", []bool{w.Strava.Connected(77), w.Strava.Connected(99)}, []bool{c.down, true})
			w.Connect("ann", 99)
			w.Outage = nil
			w.Pass(link.RevokeDelay)
			same(t, "access, connected again", []bool{w.Strava.Connected(77), w.Strava.Connected(99)}, []bool{false, true})
			w.Logs.TakeWarnings()
		})
	}
}

// TestAnotherAthleteDuringARenewal: the access to the first athlete ends also if a worker renews its tokens at the time,
// which only that worker then has.
func TestAnotherAthleteDuringARenewal(t *testing.T) {
	t.Parallel()

	for name, connect := range map[string]func(t *testing.T, w *commitcollecttest.World, back *url.URL){
		"Strava has not answered": func(t *testing.T, w *commitcollecttest.World, back *url.URL) {
			run := w.Upload(77, "Run", noon, 5_000)
			silence(w)

			n := 0
			w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/oauth/token" {
					if n++; n == 1 {
						refused(t, "meanwhile", w.Ask("ann", http.MethodGet, back.RequestURI(), nil), 503, "strava_busy")
					}
				}

				return false
			}
			ingest(w, eventOf("create", run, noon))
			w.Outage = nil
			same(t, "the tokens are renewed", connection(w, "ann")["refreshLock"], nil)
			w.Connect("ann", 99)
		},
		"the tokens are stored before the connection": func(t *testing.T, w *commitcollecttest.World, back *url.URL) {
			env := before(w.Env(link.FinishConnectFunction()), "TransactWriteItems", 1, func() {
				v, err := link.OpenVault(t.Context(), w.Env(workout.IngestEventsFunction()))
				testkit.Must(t, err)
				_, err = v.Token(w.NewContext(), "ann", "")
				testkit.Must(t, err)
			})
			q := back.Query()
			_, err := testkit.OpenWith(w.World, env, link.Open).FinishConnect(w.NewContext(),
				&link.FinishConnect{User: user("ann"), Code: q.Get("code"), State: q.Get("state"), Scope: q.Get("scope")})
			testkit.Must(t, err)
		},
		"the worker has died": func(t *testing.T, w *commitcollecttest.World, back *url.URL) {
			change(w, "STRAVA#CONNECTION", stored{"refreshLock": w.Clock.Now().Add(5 * time.Second).UnixMilli()})
			same(t, "the answer", w.Ask("ann", http.MethodGet, back.RequestURI(), nil).StatusCode, http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(noon.Add(7 * time.Hour))
			connect(t, w, w.Consent("ann", 99, "yes", "activity:read"))
			w.Pass(link.PurgeDelay)
			same(t, "access to the first, to the other", []bool{w.Strava.Connected(77), w.Strava.Connected(99)}, []bool{false, true})
			w.Logs.TakeWarnings()
		})
	}
}
