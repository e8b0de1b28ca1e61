package threefc_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/sim/apigateway"
	"matchday/infra/testkit"
	"matchday/pkg/kit/account"
	kit "matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// signInApp signs an app in by a link, and returns its token.
func signInApp(w *threefctest.World, email string) (token string) {
	w.T.Helper()

	out := askApp(w, "", http.MethodPost, followLink, `{"client":"native","anotherBrowser":true,"token":"`+ask(w, email)+`"}`)
	if out.StatusCode != http.StatusOK || len(out.Cookies) > 0 || testkit.Header(out).Get("Set-Cookie") != "" ||
		testkit.Header(out).Get("Cache-Control") != "no-store" {
		w.T.Fatalf("the sign-in of an app: got %d %s with %v and %v", out.StatusCode, out.Body, out.Cookies, out.Headers)
	}

	return testkit.Decode[struct{ Token string }](w.World, out).Token
}

// event is a request of an app with a token, "" for none: without cookies and without an origin.
func event(token, method, target, body string) events.APIGatewayV2HTTPRequest {
	e := apigateway.Event(method, target, body, nil)
	delete(e.Headers, "origin")

	if token != "" {
		e.Headers["authorization"] = "Bearer " + token
	}

	return e
}

// functionOf returns the function of a route.
func functionOf(w *threefctest.World, method, pattern string) string {
	w.T.Helper()

	for _, f := range threefc.Room().Functions {
		if on, ok := f.On.(spec.Route); ok && on.Method == method && on.Path == pattern {
			return f.Name
		}
	}

	w.T.Fatalf("there is no route %s %s", method, pattern)

	return ""
}

// askApp calls a route without parameters as an app.
func askApp(w *threefctest.World, token, method, path, body string) events.APIGatewayV2HTTPResponse {
	w.T.Helper()
	return w.Routes[functionOf(w, method, path)](event(token, method, path, body))
}

// TestNativeAppSignsIn by a link, makes a league, and signs out: its token ends, and that of the browser stays.
func TestNativeAppSignsIn(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()

	browser := follow(w, "lena", ask(w, "lena@example.com"))
	token := signInApp(w, "lena@example.com")

	who := askApp(w, token, http.MethodGet, session, "")
	same(t, "the user", testkit.Decode[struct{ UserID, Email, Token string }](w.World, who),
		struct{ UserID, Email, Token string }{browser, "lena@example.com", ""})

	made := askApp(w, token, http.MethodPost, "/v1/leagues", `{"name":"Parkside"}`)
	same(t, "the league", made.StatusCode, http.StatusCreated)

	text := w.Do("lena", "GET", "/v1/leagues", nil).Body
	if !strings.Contains(text, "Parkside") {
		t.Errorf("the browser of the user sees %s", text)
	}

	if strings.Contains(fmt.Sprint(everything(w)), token) {
		t.Error("the table has the token of an app")
	}

	for _, line := range w.Logs.Lines() {
		if strings.Contains(line.Text, token) {
			t.Errorf("a log has the token of an app: %s", line.Text)
		}
	}

	out := askApp(w, token, http.MethodDelete, session, "")
	same(t, "the sign-out", [2]any{out.StatusCode, len(out.Cookies)}, [2]any{http.StatusNoContent, 0})
	refused(t, "afterwards", askApp(w, token, http.MethodGet, session, ""), 401, "invalid_token")
	refused(t, "a second sign-out", askApp(w, token, http.MethodDelete, session, ""), 401, "invalid_token")
	w.Do("lena", "GET", session, nil)
}

// TestPageGetsNoToken: what scripts can read, they can lose.
func TestPageGetsNoToken(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()

	link := ask(w, "lena@example.com")
	out := w.Ask("", "POST", followLink, map[string]any{"client": "native", "anotherBrowser": true, "token": link})
	refused(t, "a page", out, 422, "not_a_native_app")
	follow(w, "lena", link) // the link was not used
}

// TestSessionOfAnAppSlides as that of a browser does, and ends with the account.
func TestSessionOfAnAppSlides(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	token := signInApp(w, "lena@example.com")
	begun := w.Clock.Now().Truncate(time.Second)

	for _, after := range []time.Duration{7 * day, 14 * day, 21 * day, 28 * day} {
		w.MoveClock(begun.Add(after))
		same(t, "the session", askApp(w, token, http.MethodGet, session, "").StatusCode, http.StatusOK)
	}

	w.MoveClock(begun.Add(30*day - time.Second))
	same(t, "a second before 30 days", askApp(w, token, http.MethodGet, "/v1/leagues", "").StatusCode, http.StatusOK)
	w.MoveClock(begun.Add(30 * day))
	refused(t, "after 30 days", askApp(w, token, http.MethodGet, "/v1/leagues", ""), 401, "invalid_token")

	token = signInApp(w, "lena@example.com")
	user := testkit.Decode[struct{ UserID string }](w.World, askApp(w, token, http.MethodGet, session, "")).UserID
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: user, DeletedAt: "2026-06-06T12:00:00Z"})
	refused(t, "a write of a deleted user", askApp(w, token, http.MethodPost, "/v1/leagues", `{"name":"Parkside"}`), 401, "account_deleted")
}

// TestEveryRouteOfUsersTakesBothKinds, and refuses a token as a cookie, a cookie as a token, and both.
func TestEveryRouteOfUsersTakesBothKinds(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()

	var cookie, token string

	signIn := func() { // anew for each route: some of them end the session, or the account
		web, webID := kit.New()
		app, appID := kit.New()

		for id, client := range map[string]string{webID: "", appID: "native"} {
			login := item.New(item.LoginKey(id), item.Metadata, "AuthSession",
				map[string]string{"userId": "ann", "email": "ann@example.com", "client": client}, w.Clock.Now())
			login.TTL = w.Clock.Now().Add(day).Unix()
			testkit.PutRows(w.World, tables.App, login)
		}

		cookie, token = signin.Cookie.FullName()+"="+web, app
	}

	for _, f := range threefc.Room().Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Auth != spec.Session || on.Path == "/v1/account" {
			continue
		}

		signIn()

		_, web, _ := strings.Cut(cookie, "=")
		unknown, _ := kit.New()

		for _, c := range []struct {
			what, bearer, cookie, origin string
			refused                      string // the problem's code, "" if the caller is known
		}{
			{"nobody", "", "", "", "missing_session"},
			{"a cookie, page of another site", "", cookie, "https://evil.example", "wrong_origin"},
			{"both", token, cookie, threefctest.App, "two_credentials"},
			{"the token of a cookie", web, "", "", "invalid_token"},
			{"a token as a cookie", "", signin.Cookie.FullName() + "=" + token, threefctest.App, "invalid_session"},
			{"an unknown token", unknown, "", "", "invalid_token"},
			{"an access token of the pool", "eyJhbGciOiJub25lIn0.e30.", "", "", "invalid_token"},
			{"a token", token, "", "", ""},
			{"a cookie", "", cookie, threefctest.App, ""},
		} {
			e := event(c.bearer, on.Method, parameter.Replace(on.Path), "")
			if c.cookie != "" {
				e.Cookies = []string{c.cookie}
			}

			if c.origin != "" {
				e.Headers["origin"] = c.origin
			}

			out := w.Routes[f.Name](e)

			_, code, _ := strings.Cut(out.Body, `"urn:problem-type:matchday:`)
			code, _, _ = strings.Cut(code, `"`)

			known := code != "missing_session" && code != "wrong_origin" && code != "two_credentials" && code != "invalid_token" &&
				code != "invalid_session"
			if known != (c.refused == "") || !known && code != c.refused || out.StatusCode >= 500 {
				t.Errorf("%s as %s: got %d %s, want %q", f.Name, c.what, out.StatusCode, out.Body, c.refused)
			}
		}
	}

	w.Logs.TakeWarnings()
}

// parameter has a value for each parameter of a path.
var parameter = strings.NewReplacer("{leagueId}", "none", "{seasonId}", "none", "{sessionId}", "none", "{gameId}", "none",
	"{playerId}", "none", "{teamId}", "none", "{eventId}", "none", "{third}", "1", "{step}", "start", "{userId}", "none")
