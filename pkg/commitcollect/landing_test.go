package commitcollect_test

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/apigateway"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/kit/telemetry"
)

// browser is what the browser of a person accepts.
const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"

// visit is a request of a user's browser that follows a link, or a redirect of another site.
func visit(w *commitcollecttest.World, user, fn, target, accept string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()

	e := apigateway.Event(http.MethodGet, target, "", nil)
	e.Cookies = strings.Split(w.Cookies(user), "; ")
	e.Headers["accept"] = accept

	return w.Routes[fn](e)
}

// TestFailuresEndOnAPageOfTheApp: a browser that comes back from the sign-in page or from Strava without
// success, or that cannot be sent to Strava, gets the app's page with the reason. A program gets the problem document.
func TestFailuresEndOnAPageOfTheApp(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")
	w.SetCookie("eve", signin.Cookie.FullName(), strings.Repeat("A", 43))

	for name, c := range map[string]struct {
		fn, path, reason string
		flow             string
		status           int    // of the problem document
		user             string // whose browser it is; ann's if empty
	}{
		"a cancelled sign-in":   {"commitcollect/finish-login", "/auth/callback?error=access_denied", "denied", "login", 400, ""},
		"a sign-in of old":      {"commitcollect/finish-login", "/auth/callback?code=x&state=x", "invalid_or_expired_state", "login", 400, ""},
		"a refused consent":     {"commitcollect/finish-connect", "/oauth/strava/callback?error=access_denied", "denied", "strava", 400, ""},
		"a consent without one": {"commitcollect/finish-connect", "/oauth/strava/callback?code=x", "missing_code_or_state", "strava", 400, ""},
		"a consent of old":      {"commitcollect/connect-strava", "/strava/connect?consent=99", "consent_outdated", "strava", 409, ""},
		"a consent of nobody":   {"commitcollect/finish-connect", "/oauth/strava/callback?code=x", "missing_session", "strava", 401, "bob"},
		"nobody connects":       {"commitcollect/connect-strava", "/strava/connect?consent=1", "missing_session", "strava", 401, "bob"},
		"a session has ended":   {"commitcollect/connect-strava", "/strava/connect?consent=1", "invalid_session", "strava", 401, "eve"},
	} {
		for accept, page := range map[string]bool{browser: true, "": false, "application/json": false, "*/*": false} {
			out := visit(w, cmp.Or(c.user, "ann"), c.fn, c.path, accept)
			if !page {
				refused(t, name+", accepting "+accept, out, c.status, c.reason)
				continue
			}

			to := commitcollecttest.App + "/app?" + url.Values{c.flow: {"failed"}, "reason": {c.reason}}.Encode()
			same(t, name, []any{out.StatusCode, testkit.Header(out).Get("Location"), len(out.Cookies)}, []any{302, to, 0})
		}
	}
}

// TestFailureOfTheApplicationIsCounted: an operator learns of a page that says that we, or what we depend on, have
// failed, and not of one that says what the user has done.
func TestFailureOfTheApplicationIsCounted(t *testing.T) {
	t.Parallel()

	const secret = `{"errors":[{"resource":"Application","field":"client_secret","code":"invalid"}]}`

	connecting := func(w *commitcollecttest.World) string { return w.Consent("ann", 77, "yes", allScopes...).RequestURI() }

	for name, c := range map[string]struct {
		fn, flow, reason string
		begin            func(*commitcollecttest.World) (target string)
		failed, inactive float64
	}{
		"the application is inactive": {"commitcollect/finish-connect", "strava", "strava_inactive", func(w *commitcollecttest.World) string {
			w.Strava.SetInactive(true)
			return connecting(w)
		}, 1, 1},
		"our secret is wrong": {"commitcollect/finish-connect", "strava", "token_exchange_failed", func(w *commitcollecttest.World) string {
			fail(w, "/oauth/token", 401, jsonType, secret)
			return connecting(w)
		}, 1, 0},
		"Strava is down": {"commitcollect/finish-connect", "strava", "token_exchange_failed", func(w *commitcollecttest.World) string {
			fail(w, "/oauth/token", 503, htmlType, "")
			return connecting(w)
		}, 1, 0},
		"the user says no": {"commitcollect/finish-connect", "strava", "denied", func(w *commitcollecttest.World) string {
			return w.Consent("ann", 77, "no").RequestURI()
		}, 0, 0},
		"the sign-in page is down": {"commitcollect/finish-login", "login", "token_exchange_failed", func(w *commitcollecttest.World) string {
			target := w.Begin("ann", "ann").RequestURI()
			w.PoolIsDown = true

			return target
		}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := commitcollecttest.New(t, strava.Faults{})
			w.SignIn("ann")

			out := visit(w, "ann", c.fn, c.begin(w), browser)
			to := commitcollecttest.App + "/app?" + url.Values{c.flow: {"failed"}, "reason": {c.reason}}.Encode()
			same(t, "the page", []any{out.StatusCode, testkit.Header(out).Get("Location")}, []any{302, to})
			same(t, "failures, and calls while inactive",
				[]float64{w.Logs.SumMetric(telemetry.Failed), w.Logs.SumMetric(link.StravaInactive)}, []float64{c.failed, c.inactive})
			same(t, "errors in the log", len(w.Logs.TakeWarnings()), int(c.failed))
		})
	}
}
