package commitcollect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
)

// TestFailuresEndOnAPageOfTheApp: a browser that comes back from the sign-in page or from Strava without
// success gets the app's page with the reason. A program gets the problem document.
func TestFailuresEndOnAPageOfTheApp(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"

	for name, c := range map[string]struct {
		fn, path, reason string
		flow             string
		status           int // of the problem document
	}{
		"a cancelled sign-in":   {"commitcollect/finish-login", "/auth/callback?error=access_denied", "denied", "login", 400},
		"a sign-in of old":      {"commitcollect/finish-login", "/auth/callback?code=x&state=x", "invalid_or_expired_state", "login", 400},
		"a refused consent":     {"commitcollect/finish-connect", "/oauth/strava/callback?error=access_denied", "denied", "strava", 400},
		"a consent without one": {"commitcollect/finish-connect", "/oauth/strava/callback?code=x", "missing_code_or_state", "strava", 400},
	} {
		for accept, page := range map[string]bool{browser: true, "": false, "application/json": false, "*/*": false} {
			e := apigateway.Event(http.MethodGet, c.path, "", nil)
			e.Cookies = strings.Split(w.Cookies("ann"), "; ")
			e.Headers["accept"] = accept

			out := w.Routes[c.fn](e)
			if !page {
				refused(t, name+", accepting "+accept, out, c.status, c.reason)
				continue
			}

			to := commitcollecttest.App + "/app?" + url.Values{c.flow: {"failed"}, "reason": {c.reason}}.Encode()
			same(t, name, []any{out.StatusCode, testkit.Header(out).Get("Location"), len(out.Cookies)}, []any{302, to, 0})
		}
	}
}
