package strava_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/strava"
)

// call is a request to the simulator.
type call struct {
	method, path string
	header       string // Authorization
	form         url.Values
}

// open returns a simulator at a time, with an athlete who has granted access, and the athlete's tokens.
func open(t *testing.T, at time.Time, athletes int) (sim *strava.Sim, access, refresh string) {
	t.Helper()

	sim = strava.New(strava.Config{Clock: clock.New(at, clock.Free), ID: "4711", Secret: "s3cret", Athletes: athletes})

	var token struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}

	status, body := send(sim, exchange(sim, 77))
	if err := json.Unmarshal(body, &token); err != nil || status != http.StatusOK {
		t.Fatalf("got %d %s, want tokens", status, body)
	}

	return sim, token.Access, token.Refresh
}

// exchange is the request with the code of an athlete.
func exchange(sim *strava.Sim, athlete int64) call {
	return call{"POST", "/oauth/token", "", url.Values{
		"client_id": {"4711"}, "client_secret": {"s3cret"}, "grant_type": {"authorization_code"},
		"code": {sim.Grant(athlete, "read", "activity:read")},
	}}
}

func send(sim *strava.Sim, c call) (status int, body []byte) {
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.form.Encode()))
	if c.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	if c.header != "" {
		r.Header.Set("Authorization", c.header)
	}

	out := httptest.NewRecorder()
	sim.ServeHTTP(out, r)

	body, _ = io.ReadAll(out.Result().Body)

	return out.Code, body
}

// TestAges: which ways of Strava's programme are open on which day.
func TestAges(t *testing.T) {
	t.Parallel()

	const basic = "Basic NDcxMTpzM2NyZXQ="

	second := time.Second

	for name, c := range map[string]struct {
		call func(access, refresh string) call
		want [4]int // in May 2026, from 1 June 2026, in May 2027, from 1 June 2027
	}{
		"the API at its old place": {func(access, _ string) call {
			return call{"GET", "/api/v3/athlete", "Bearer " + access, nil}
		}, [4]int{200, 200, 200, 404}},
		"the API at its new place": {func(access, _ string) call {
			return call{"GET", "/athlete", "Bearer " + access, nil}
		}, [4]int{200, 200, 200, 200}},
		"a token in the query": {func(access, _ string) call {
			return call{"GET", "/athlete?access_token=" + access, "", nil}
		}, [4]int{200, 200, 200, 401}},
		"a token in the form": {func(access, _ string) call {
			return call{"POST", "/oauth/deauthorize", "", url.Values{"access_token": {access}}}
		}, [4]int{200, 200, 200, 404}},
		"no token": {func(string, string) call { return call{"GET", "/athlete", "", nil} }, [4]int{401, 401, 401, 401}},
		"deauthorize": {func(access, _ string) call {
			return call{"POST", "/oauth/deauthorize", "Bearer " + access, nil}
		}, [4]int{200, 200, 200, 404}},
		"revoke": {func(_, refresh string) call {
			return call{"POST", "/oauth/revoke", basic, url.Values{"token": {refresh}}}
		}, [4]int{404, 200, 200, 200}},
		"the subscription": {func(string, string) call {
			return call{"GET", "/api/v3/push_subscriptions?client_id=4711&client_secret=s3cret", "", nil}
		}, [4]int{200, 200, 200, 404}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			first, last := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)

			var got [4]int

			for i, at := range []time.Time{first.Add(-second), first, last.Add(-second), last} {
				sim, access, refresh := open(t, at, 0)

				var body []byte
				if got[i], body = send(sim, c.call(access, refresh)); got[i] == 404 && !strings.Contains(string(body), `"resource":"resource"`) {
					t.Errorf("the refusal is %s, want that of a path", body)
				}
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the answers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRevoke: either token ends both, a second call changes nothing, and only the application may.
func TestRevoke(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		header string
		token  func(access, refresh string) string
		status int
		ends   bool
	}{
		"the refresh token": {"Basic NDcxMTpzM2NyZXQ=", func(_, refresh string) string { return refresh }, 200, true},
		"the access token":  {"Basic NDcxMTpzM2NyZXQ=", func(access, _ string) string { return access }, 200, true},
		"an unknown token":  {"Basic NDcxMTpzM2NyZXQ=", func(string, string) string { return "x" }, 200, false},
		"no token":          {"Basic NDcxMTpzM2NyZXQ=", func(string, string) string { return "" }, 400, false},
		"another secret":    {"Basic NDcxMTp4", func(_, refresh string) string { return refresh }, 401, false},
		"no secret":         {"", func(_, refresh string) string { return refresh }, 401, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, access, refresh := open(t, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), 0)

			for range 2 {
				status, body := send(sim, call{"POST", "/oauth/revoke", c.header, url.Values{"token": {c.token(access, refresh)}}})
				if status != c.status || sim.Connected(77) == c.ends {
					t.Errorf("got %d %s, connected: %v", status, body, sim.Connected(77))
				}
			}
		})
	}
}

// TestCapacity: an athlete beyond the limit gets no token; who is connected may connect again.
func TestCapacity(t *testing.T) {
	t.Parallel()

	sim, _, _ := open(t, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), 1)
	got := func(athlete int64) string {
		status, body := send(sim, exchange(sim, athlete))
		return fmt.Sprint(status, strings.Contains(strings.ToLower(string(body)), "connected athletes"))
	}

	all := []string{got(78), got(77)}
	sim.Admit(2)
	all = append(all, got(78), got(79))
	sim.Admit(0)
	all = append(all, got(79))

	if diff := cmp.Diff([]string{"403 true", "200 false", "200 false", "403 true", "200 false"}, all); diff != "" {
		t.Errorf("the answers (-want +got):\n%s", diff)
	}
}
