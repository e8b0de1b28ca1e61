package commitcollect_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
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

// TestConnectIsRefused: each way to return from Strava without a connection.
func TestConnectIsRefused(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")
	w.SignIn("bob")

	all := []string{"activity:read", "activity:read_all"}
	ask := func(user, target string) func(what string, status int, code string) {
		out := w.Ask(user, http.MethodGet, target, nil)
		return func(what string, status int, code string) { t.Helper(); refused(t, what, out, status, code) }
	}
	ask("ann", w.Consent("ann", 77, "no").RequestURI())("cancelled", 400, "denied")
	ask("ann", "/oauth/strava/callback?code=x")("no state", 400, "missing_code_or_state")
	ask("ann", "/oauth/strava/callback?code=x&state=guessed")("a state of nobody", 400, "invalid_or_expired_state")
	ask("bob", w.Consent("ann", 77, "yes", all...).RequestURI())("another user's state", 400, "invalid_or_expired_state")
	ask("ann", w.Consent("ann", 77, "yes").RequestURI())("activities not granted", 400, "missing_scope")
	back := w.Consent("ann", 77, "yes", all...)
	q := back.Query()
	q.Set("code", "guessed")
	ask("ann", "/oauth/strava/callback?"+q.Encode())("a code of nobody", 400, "invalid_or_expired_code")

	back = w.Consent("ann", 77, "yes", all...)
	w.MoveClock(w.Clock.Now().Add(10 * time.Minute))
	ask("ann", back.RequestURI())("ten minutes later", 400, "invalid_or_expired_state")
	back = w.Consent("ann", 77, "yes", all...)
	ask("nobody", back.RequestURI())("not signed in", 401, "missing_session")

	if out := w.Ask("ann", http.MethodGet, back.RequestURI(), nil); out.StatusCode != 302 ||
		!strings.HasSuffix(testkit.Header(out).Get("Location"), "/app?athleteId=77&strava=connected") {
		t.Errorf("got %d %v", out.StatusCode, out.Headers)
	}

	ask("ann", back.RequestURI())("the same state again", 400, "invalid_or_expired_state")
	ask("bob", w.Consent("bob", 77, "yes", all...).RequestURI())("an athlete of another user", 409, "athlete_already_connected")

	if got := trailOf(w, "ann"); got[len(got)-1] != "STRAVA_AUTHORIZE failed" {
		t.Errorf("the trail of the user who has the athlete is %v, want the attempt of another", got)
	}
}

// TestAthleteHasOneUser: of two users who connect an athlete at once, one succeeds.
func TestAthleteHasOneUser(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})

	var targets []string

	users := []string{"ann", "bob", "cat", "dan"}
	for _, u := range users {
		w.SignIn(u)
		targets = append(targets, w.Consent(u, 77, "yes", "activity:read").RequestURI())
	}

	got := make([]int, len(users))

	var all sync.WaitGroup
	for i, u := range users {
		all.Go(func() { got[i] = w.Ask(u, http.MethodGet, targets[i], nil).StatusCode })
	}

	all.Wait()

	connected, owner := 0, row(w, "STRAVA#ATHLETE#77", "OWNER")["userId"]

	for i, u := range users {
		if got[i] == 302 {
			connected++

			if owner != u {
				t.Errorf("%s is connected, and the owner is %v", u, owner)
			}
		}
	}

	if connected != 1 {
		t.Errorf("the answers are %v, want one redirect", got)
	}
}

// TestAnotherAthleteFreesTheFirst: a user who connects another athlete gives the first up,
// and connecting the same again succeeds.
func TestAnotherAthleteFreesTheFirst(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Connect("ann", 77)
	w.Connect("ann", 99)

	if got := row(w, "STRAVA#ATHLETE#77", "OWNER"); len(got) != 0 {
		t.Errorf("the first athlete still is of %v", got["userId"])
	}

	w.SignIn("bob")
	w.Connect("bob", 77)

	if a, b := row(w, "STRAVA#ATHLETE#99", "OWNER")["userId"], row(w, "STRAVA#ATHLETE#77", "OWNER")["userId"]; a != "ann" || b != "bob" {
		t.Errorf("the owners are %v and %v", a, b)
	}
}

// TestConnectingCrashes: after a crash anywhere the user begins again, and is connected
// once.
func TestConnectingCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []any {
		w := commitcollecttest.New(t, strava.Faults{})
		w.SignIn("ann")
		q := w.Consent("ann", 77, "yes", "activity:read").Query()
		s := testkit.OpenWith(w.World, w.CrashingEnv(link.FinishConnectFunction(), p), link.Open)
		_, err := s.FinishConnect(w.NewContext(),
			&link.FinishConnect{User: user("ann"), Code: q.Get("code"), State: q.Get("state"), Scope: q.Get("scope")})
		p.Ended(err, "TransactWriteItems *CommitCollectAudit")
		w.Connect("ann", 77)
		c := row(w, "USER#ann", "STRAVA#CONNECTION")

		return []any{c["athleteId"], c["status"], row(w, "STRAVA#ATHLETE#77", "OWNER")["userId"],
			len(testkit.Messages[link.Backfill](w.World, link.BackfillQueue)) > 0}
	})
}

// TestTwoWorkersRenewOnce: while one worker renews the tokens, the other waits and takes
// what the first has stored.
func TestTwoWorkersRenewOnce(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.MoveClock(noon.Add(7 * time.Hour))

	var mu sync.Mutex

	renewals := 0
	w.Outage = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/oauth/token" {
			mu.Lock()
			renewals++
			mu.Unlock()
		}

		return false
	}
	v, err := link.OpenVault(t.Context(), w.Env(workout.IngestEventsFunction()))
	testkit.Must(t, err)

	var (
		tokens [2]string
		errs   [2]error
		all    sync.WaitGroup
	)

	for i := range tokens {
		done := w.Clock.Work() // time passes only while both wait

		all.Go(func() {
			defer done()

			tokens[i], errs[i] = v.Token(w.NewContext(), "ann", "")
		})
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))
	all.Wait()

	if renewals != 1 || tokens[0] != tokens[1] || tokens[0] == "" || errs != [2]error{} {
		t.Errorf("%d renewals, the tokens are equal: %v, the errors %v", renewals, tokens[0] == tokens[1], errs)
	}
}

// TestRenewalCrashes: a worker that dies while it renews leaves a connection that the next
// renews, unless Strava's answer is lost: then the user has to connect again.
func TestRenewalCrashes(t *testing.T) {
	t.Parallel()

	for k := 1; k <= 5; k++ {
		for _, after := range []bool{false, true} {
			w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
			w.MoveClock(noon.Add(7 * time.Hour))
			v, err := link.OpenVault(t.Context(), w.CrashingEnv(workout.IngestEventsFunction(), dynamotest.CrashAt(k, after)))
			testkit.Must(t, err)
			v.Token(w.NewContext(), "ann", "")
			w.MoveClock(w.Clock.Now().Add(time.Minute))
			whole, err := link.OpenVault(t.Context(), w.Env(workout.IngestEventsFunction()))
			testkit.Must(t, err)
			token, err := whole.Token(w.NewContext(), "ann", "")

			lost := k == 3 && after || k == 4 && !after // Strava has replaced the refresh token, and the new one is not stored
			if (err != nil) != lost || (token == "") != lost {
				t.Errorf("call %d after=%v: %v, want the connection broken: %v", k, after, err, lost)
			}
		}
	}
}

// TestRefusedRenewalBreaksTheConnection: the app asks the user to connect again, and that
// heals it.
func TestRefusedRenewalBreaksTheConnection(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Outage = func(out http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth/token" {
			return false
		}

		out.WriteHeader(http.StatusBadRequest)
		io.WriteString(out, `{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}`)

		return true
	}
	w.Pass(7 * time.Hour)
	a := w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	if out := w.Ask("ann", http.MethodGet, "/viewer", nil); !strings.Contains(out.Body, `"broken":true`) {
		t.Errorf("the viewer is %s", out.Body)
	}

	refused(t, "a sync", w.Ask("ann", http.MethodPost, "/activities/sync", nil), 409, "reconnect_required")

	if got := trailOf(w, "ann"); got[len(got)-1] != "STRAVA_REFRESH failed" {
		t.Errorf("the trail is %v", got)
	}

	w.Outage = nil
	w.Connect("ann", 77)
	w.Pass(time.Minute)

	if workoutOf(w, "ann", a)["distanceMeters"] != 5000.0 {
		t.Error("the workout of the time between is not stored")
	}
}

// TestDisconnect: the access at Strava ends even if Strava is down, and a second run
// succeeds. The workouts are deleted, also of a user who had chosen to keep them when that was possible;
// milestones keep what they have. What Strava did not revoke is revoked when it is up again.
func TestDisconnect(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		keep, down bool
		trail      string
	}{
		"workouts go":     {false, false, "STRAVA_DEAUTHORIZE success"},
		"an older choice": {true, false, "STRAVA_DEAUTHORIZE success"},
		"Strava is down":  {false, true, "STRAVA_DEAUTHORIZE partial"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t, "ann")

			if c.keep {
				keepWorkouts(w)
			}

			if c.down {
				w.Outage = func(out http.ResponseWriter, _ *http.Request) bool { out.WriteHeader(503); return true }
			}

			w.End("ann")
			w.End("ann")
			w.Pass(5 * time.Minute)

			if w.Strava.Connected(77) != c.down || len(row(w, "USER#ann", "STRAVA#CONNECTION"))+len(row(w, "STRAVA#ATHLETE#77", "OWNER")) > 0 {
				t.Error("there still is a connection")
			}

			if w.Count(tables.Main, "USER#ann", "WORKOUT#")+w.Count(tables.Main, "USER#ann", "LEDGER#") > 0 {
				t.Error("there are workouts or ledgers")
			}

			if w.Count(tables.Main, "USER#ann", "MILESTONE#") != 3 {
				t.Error("the milestone and its two parts are gone")
			}

			for _, m := range testkit.Rows[map[string]any](w.World, tables.Main) {
				if m["entityType"] == "Milestone" && (m["progressValue"] != 25_000.0 || m["rawProgress"] != 0.0) {
					t.Errorf("the milestone has %v m, and %v m now, want 25,000 and 0", m["progressValue"], m["rawProgress"])
				}
			}

			if got := trailOf(w, "ann"); !strings.Contains(strings.Join(got, "; "), c.trail) {
				t.Errorf("the trail is %v", got)
			}

			if out := w.Ask("ann", http.MethodGet, "/strava/status", nil); !strings.Contains(out.Body, `"connected":false`) {
				t.Errorf("the status is %s", out.Body)
			}

			w.Outage = nil
			w.Pass(link.RevokeDelay)
			same(t, "the access at Strava in the end", w.Strava.Connected(77), false)
			w.Logs.TakeWarnings()
		})
	}
}

// TestRefusedConnectionLeavesTheOtherWorking: Strava gives new tokens to whoever signs in to
// it, and may refuse the old ones. The user who has the athlete gets the new ones.
func TestRefusedConnectionLeavesTheOtherWorking(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.SignIn("bob")
	refused(t, "ann's athlete", w.Ask("bob", http.MethodGet, w.Consent("bob", 77, "yes", "activity:read").RequestURI(), nil),
		409, "athlete_already_connected")
	a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	if workoutOf(w, "ann", a)["distanceMeters"] != 5000.0 {
		t.Error("the workout of the user who has the athlete is not stored")
	}

	w.Pass(7 * time.Hour)
	w.Upload(77, "Run", w.Clock.Now().Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	if c := row(w, "USER#ann", "STRAVA#CONNECTION"); c["status"] != link.Connected || w.Count(tables.Main, "USER#ann", "WORKOUT#") != 2 {
		t.Errorf("after a renewal the connection is %v", c["status"])
	}
}
