package commitcollect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/session"
)

// TestSignUpHappensOnce: the first sign-in creates the profile, later ones find it.
func TestSignUpHappensOnce(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")
	w.SignInAgain("ann", "ann's phone")
	same(t, "the trail", trailOf(w, "ann"), []string{"AUTH_SIGNUP success", "AUTH_LOGIN success"})

	profile := row(w, "USER#ann", "PROFILE")
	if profile["email"] != "ann@example.com" || profile["role"] != "user" || profile["plan"] != "free" {
		t.Errorf("the profile is %v", profile)
	}

	for _, browser := range []string{"ann", "ann's phone"} {
		out := w.Ask(browser, http.MethodGet, "/session", nil)
		if !strings.Contains(out.Body, `"userId":"ann"`) || testkit.Header(out).Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", browser, out.StatusCode, out.Body)
		}

		token := (&http.Request{Header: http.Header{"Cookie": {w.Cookies(browser)}}}).CookiesNamed(signin.Cookie.FullName())[0].Value
		for _, r := range testkit.Rows[map[string]any](w.World, tables.Sessions) {
			if strings.Contains(r["PK"].(string), token) {
				t.Error("the table has the token of a cookie")
			}
		}

		if testkit.Row[map[string]any](w.World, tables.Sessions, "SESSION#"+session.ID(token), "META")["userId"] != "ann" {
			t.Error("the session is not of the user")
		}
	}
}

// TestSignInIsRefused: each way to return from the sign-in page without a session.
func TestSignInIsRefused(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	back := func() url.Values { return w.Begin("ann", "ann").Query() }
	ask := func(browser string, q url.Values) (out [2]any) {
		got := w.Ask(browser, http.MethodGet, "/auth/callback?"+q.Encode(), nil)
		return [2]any{got.StatusCode, got.Body}
	}
	check := func(what string, got [2]any, status int, code string) {
		t.Helper()

		if got[0] != status || !strings.Contains(got[1].(string), ":"+code+`"`) {
			t.Errorf("%s: got %v, want %d %s", what, got, status, code)
		}
	}
	with := func(q url.Values, name, value string) url.Values { q.Set(name, value); return q }

	check("the user has cancelled", ask("ann", url.Values{"error": {"access_denied"}, "state": {"x"}}), 400, "denied")
	check("no code", ask("ann", with(back(), "code", "")), 400, "missing_code")
	check("a state of nobody", ask("ann", with(back(), "state", "guessed")), 400, "invalid_or_expired_state")
	check("another browser's state", ask("eve", back()), 400, "invalid_or_expired_state")
	check("a code of nobody", ask("ann", with(back(), "code", "guessed")), 400, "invalid_or_expired_code")
	q := back()

	w.MoveClock(w.Clock.Now().Add(10 * time.Minute))
	check("ten minutes later", ask("ann", q), 400, "invalid_or_expired_state")

	q = back()
	if got := ask("ann", q); got[0] != 302 {
		t.Fatalf("the sign-in: %v", got)
	}

	check("the same state again", ask("ann", q), 400, "invalid_or_expired_state")

	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	check("a deleted user", ask("ann", back()), 401, "account_deleted")

	for _, line := range w.Logs.Lines() {
		if strings.Contains(line.Text, q.Get("code")) || strings.Contains(line.Text, "eyJ") {
			t.Errorf("a log has a code or a token: %s", line.Text)
		}
	}
}

// TestStatesOfFlowsAreNotExchanged: the state of a link to Strava finishes no sign-in, that of a sign-in
// no link, and a state without verifier or nonce nothing.
func TestStatesOfFlowsAreNotExchanged(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	login := w.Begin("ann", "ann").Query()
	link := w.Consent("ann", 77, "yes", "activity:read", "activity:read_all").Query()
	ask := func(path string, code, state url.Values) events.APIGatewayV2HTTPResponse {
		return w.Ask("ann", http.MethodGet, path+"?"+url.Values{"code": code["code"], "state": state["state"], "scope": link["scope"]}.Encode(), nil)
	}

	refused(t, "the state of a sign-in in a link", ask("/oauth/strava/callback", link, login), 400, "invalid_or_expired_state")
	same(t, "which is valid afterwards", ask("/auth/callback", login, login).StatusCode, 302)

	login = w.Begin("ann", "ann").Query()
	w.SetCookie("ann", "__Host-commitcollect_state", link.Get("state"))
	refused(t, "the state of a link in a sign-in", ask("/auth/callback", login, link), 400, "invalid_or_expired_state")
	same(t, "which is valid afterwards", ask("/oauth/strava/callback", link, link).StatusCode, 302)

	for _, lacks := range []string{"verifier", "nonce"} {
		login = w.Begin("ann", "ann").Query()
		for _, r := range testkit.Rows[map[string]any](w.World, tables.Sessions) {
			if _, ok := r[lacks]; ok {
				delete(r, lacks)
				testkit.PutRows(w.World, tables.Sessions, r)
			}
		}

		refused(t, "a row without "+lacks, ask("/auth/callback", login, login), 400, "invalid_or_expired_state")
	}
}

// TestNonceBindsTheToken: an ID token of another sign-in is refused.
func TestNonceBindsTheToken(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})

	q := w.Begin("ann", "ann").Query()
	for _, r := range testkit.Rows[map[string]any](w.World, tables.Sessions) {
		r["nonce"] = "of another sign-in"
		testkit.PutRows(w.World, tables.Sessions, r)
	}

	refused(t, "another nonce", w.Ask("ann", http.MethodGet, "/auth/callback?"+q.Encode(), nil), 502, "token_exchange_failed")
}

// TestLogoutAlwaysSucceeds: without a session, twice, and while the table fails.
func TestLogoutAlwaysSucceeds(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	cookies := w.Cookies("ann")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPost} {
		out := w.Ask("ann", method, "/logout", nil)

		to := testkit.Header(out).Get("Location")
		if out.StatusCode != 302 || !strings.Contains(to, "/logout?client_id=client&logout_uri=") ||
			!strings.Contains(out.Cookies[0], "__Host-commitcollect_session=; Path=/; Max-Age=0") {
			t.Errorf("%s: got %d to %s, %v", method, out.StatusCode, to, out.Cookies)
		}
	}

	refused(t, "the session afterwards", w.Ask("ann", http.MethodGet, "/session", nil), 401, "invalid_session")
	same(t, "the trail", trailOf(w, "ann"), []string{"AUTH_SIGNUP success", "AUTH_LOGOUT success"})

	if w.Ask("nobody", http.MethodPost, "/logout", nil).StatusCode != 302 {
		t.Error("a browser without a cookie is not signed out")
	}

	for k := 1; k <= 3; k++ {
		s := testkit.OpenWith(w.World, w.CrashingEnv(signin.LogoutFunction(), dynamotest.CrashAt(k, false)), signin.Open)

		in := &signin.Logout{}
		if out, err := s.Logout(w.NewContext(), in); err != nil || out.Status != 302 {
			t.Errorf("while call %d fails: %v", k, err)
		}
	}

	if cookies == "" {
		t.Error("the browser had no cookie")
	}
}

// TestChangesNeedTheOriginOfTheApp: a page of another site reads nothing by being refused
// CORS, and changes nothing by the check of its origin.
func TestChangesNeedTheOriginOfTheApp(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	for _, origin := range []string{"https://evil.example", "https://app.test.evil.example", "null", ""} {
		w.Origin = origin
		refused(t, "a page of "+origin, w.Ask("ann", http.MethodPatch, "/preferences", map[string]any{"units": "mi"}), 403, "wrong_origin")
		refused(t, "a page of "+origin, w.Ask("ann", http.MethodDelete, "/account", nil), 403, "wrong_origin")
	}

	if got := row(w, "USER#ann", "PROFILE")["units"]; got != "km" {
		t.Errorf("the units are %v", got)
	}
}

// TestTrailNeverFailsItsCaller: a sign-in succeeds while the table of the trail fails.
func TestTrailNeverFailsItsCaller(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	q := w.Begin("ann", "ann")
	_, err := dynamodb.NewFromConfig(w.AWS).DeleteTable(t.Context(),
		&dynamodb.DeleteTableInput{TableName: aws.String(w.Prefix + tables.Audit.Name)})
	testkit.Must(t, err)

	back := w.Ask("ann", http.MethodGet, "/auth/callback?"+q.Query().Encode(), nil)
	if back.StatusCode != 302 {
		t.Errorf("got %d %s", back.StatusCode, back.Body)
	}

	if lost := w.Logs.TakeWarnings(); len(lost) != 1 || !strings.Contains(lost[0], "lost") {
		t.Errorf("the logs have %v, want one lost entry", lost)
	}
}

// TestCallbacksIgnoreWhatTheyDoNotKnow: Cognito and Strava may add parameters to the URLs to
// which they send browsers, and to the question of the webhook. Others may not.
func TestCallbacksIgnoreWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})

	const more = "&iss=https%3A%2F%2Fpool.example&session_state=1"

	finish := w.Ask("ann", http.MethodGet, w.Begin("ann", "ann").RequestURI()+more, nil)
	same(t, "the sign-in", finish.StatusCode, http.StatusFound)
	w.SignIn("ann")
	back := w.Consent("ann", 77, "yes", "activity:read").RequestURI() + more
	same(t, "the link to Strava", w.Ask("ann", http.MethodGet, back, nil).StatusCode, http.StatusFound)

	question := hook + "?hub.mode=subscribe&hub.challenge=a&hub.verify_token=" + commitcollecttest.Secret + more
	same(t, "the webhook", w.Ask("", http.MethodGet, question, nil).StatusCode, http.StatusOK)
	same(t, "a route of the app", w.Ask("ann", http.MethodGet, "/session?x=1", nil).StatusCode, http.StatusUnprocessableEntity)
}
