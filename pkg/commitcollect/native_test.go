package commitcollect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// TestNativeAppCompletesAWorkout: a phone signs up, connects Strava, starts a milestone, and gets a part, without a
// cookie and without an origin.
func TestNativeAppCompletesAWorkout(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.AddModel("trike", 4)
	w.Subscribe()

	token := w.SignInApp("ann").Access
	ask := func(method, target, body string, status int) events.APIGatewayV2HTTPResponse {
		t.Helper()

		out := w.AskApp(token, method, target, body)
		if out.StatusCode != status {
			t.Fatalf("%s %s: got %d %s, want %d", method, target, out.StatusCode, out.Body, status)
		}

		return out
	}

	ask(http.MethodGet, "/milestones", "", http.StatusOK)
	same(t, "the trail", trailOf(w, "ann"), []string{"AUTH_SIGNUP success"})
	same(t, "the address", row(w, "USER#ann", "PROFILE")["email"], any("ann@example.com"))

	if got := ask(http.MethodGet, "/session", "", http.StatusOK); !strings.Contains(got.Body, `"email":"ann@example.com"`) {
		t.Errorf("the session is %s", got.Body)
	}

	if got := ask(http.MethodGet, "/viewer", "", http.StatusOK); !strings.Contains(got.Body, `"signedIn":true`) {
		t.Errorf("the viewer is %s", got.Body)
	}

	// The app opens the page of Strava in the system's browser, and gets the address to which it returns.
	consent := testkit.Header(ask(http.MethodGet, "/strava/connect", "", http.StatusFound)).Get("Location")
	back := w.Answer(consent, 77)
	ask(http.MethodGet, back.RequestURI(), "", http.StatusFound)

	out := ask(http.MethodPost, "/milestones", fmt.Sprintf(
		`{"modelId":"trike","sport":"RUN","targetType":"DISTANCE_METERS","totalTarget":40000,"periodStartAtUtc":%d}`,
		noon.Add(-time.Hour).Unix()), http.StatusOK)
	_, id, _ := strings.Cut(out.Body, `"milestoneId":"`)
	id, _, _ = strings.Cut(id, `"`)

	w.Upload(77, "Run", noon.Add(-30*time.Minute), 11000)
	w.Pass(2 * time.Minute)

	if got := ask(http.MethodGet, "/milestones/"+id+"/awards", "", http.StatusOK); !strings.Contains(got.Body, `"partIndex":1`) {
		t.Errorf("the awards are %s", got.Body)
	}

	ask(http.MethodPatch, "/preferences", `{"units":"mi"}`, http.StatusOK)
	same(t, "the units", row(w, "USER#ann", "PROFILE")["units"], any("mi"))

	for _, line := range w.Logs.Lines() {
		if strings.Contains(line.Text, "eyJ") {
			t.Errorf("a log has a token: %s", line.Text)
		}
	}
}

// TestEveryRouteOfUsersTakesBothKinds, and refuses what is neither: the token of another client, of another pool or
// key, an expired one, an ID token, a session's token in the header, an access token in the cookie, and both.
func TestEveryRouteOfUsersTakesBothKinds(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	token := func(kind string) string {
		switch now := w.Clock.Now(); kind {
		case "another client":
			got, failed := w.Pool.ClientToken("client", "ann", nil, now)
			return must(t, got.Access, failed)
		case "expired":
			got, failed := w.Pool.ClientToken(commitcollecttest.Native, "ann", nil, now.Add(-time.Hour))
			return must(t, got.Access, failed)
		case "an ID token":
			return w.SignInApp("ann").ID
		case "a session":
			_, value, _ := strings.Cut(w.Cookies("ann"), signin.Cookie.FullName()+"=")
			value, _, _ = strings.Cut(value, ";")

			return value
		}

		t.Fatal(kind)

		return ""
	}

	access := w.SignInApp("ann").Access
	cookie := signin.Cookie.FullName() + "=" + token("a session")

	for _, f := range commitcollect.Room().Functions {
		on, ok := f.On.(spec.Route)
		if !ok || on.Auth != spec.Session || on.Path == "/account" {
			continue
		}

		path := strings.NewReplacer("{activityId}", "1", "{modelId}", "none", "{milestoneId}", "none", "{deviceId}", "none").Replace(on.Path)

		// The first request of a user may be any: the function may create the profile.
		user := strings.ReplaceAll(f.Name, "/", "-")
		w.AskApp(w.SignInApp(user).Access, on.Method, path, "")

		if row(w, "USER#"+user, "PROFILE")["email"] != user+"@example.com" {
			t.Errorf("%s creates no profile", f.Name)
		}

		for _, c := range []struct {
			what, bearer, cookie, origin string
			refused                      string // the problem's code, "" if the caller is known
		}{
			{"nobody", "", "", "", "missing_session"},
			{"a cookie", "", cookie, commitcollecttest.App, ""},
			{"a cookie, page of another site", "", cookie, "https://evil.example", "wrong_origin"},
			{"a token", access, "", "", ""},
			{"a token, page of another site", access, "", "https://evil.example", ""},
			{"both", access, cookie, commitcollecttest.App, "two_credentials"},
			{"an expired token", token("expired"), "", "", "invalid_token"},
			{"a token of the web client", token("another client"), "", "", "invalid_token"},
			{"an ID token", token("an ID token"), "", "", "invalid_token"},
			{"the token of a session", token("a session"), "", "", "invalid_token"},
			{"a token as a cookie", "", signin.Cookie.FullName() + "=" + access, commitcollecttest.App, "missing_session"},
			{"a token that is not signed", strings.Join(strings.Split(access, ".")[:2], ".") + ".", "", "", "invalid_token"},
		} {
			e := w.Event(on.Method, path)

			if c.bearer != "" {
				e.Headers["authorization"] = "Bearer " + c.bearer
			}

			if c.cookie != "" {
				e.Cookies = []string{c.cookie}
			}

			if c.origin != "" {
				e.Headers["origin"] = c.origin
			}

			out := w.Routes[f.Name](e)

			_, code, _ := strings.Cut(out.Body, `"urn:problem-type:matchday:`)
			code, _, _ = strings.Cut(code, `"`)

			if isRefusal := out.StatusCode == 401 || out.StatusCode == 403; isRefusal != (c.refused != "") || isRefusal && code != c.refused ||
				out.StatusCode >= 500 {
				t.Errorf("%s as %s: got %d %s, want %q", f.Name, c.what, out.StatusCode, out.Body, c.refused)
			}
		}

		w.Logs.TakeWarnings()
	}
}

func must(t *testing.T, text string, err error) string {
	t.Helper()
	testkit.Must(t, err)

	return text
}

// TestFirstRequestOfAnAppSurvivesACrash: whichever call fails, the next request creates the profile, once.
func TestFirstRequestOfAnAppSurvivesACrash(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	users := 0

	dynamotest.CheckFailures(t, &w.IO, func() error {
		users++ // each runs as another user: the first request is that of a new one
		user := fmt.Sprint("user-", users)
		token := w.SignInApp(user).Access

		failed := testkit.Failed(w.AskApp(token, http.MethodGet, "/audit", ""))
		if failed != nil {
			again := w.AskApp(token, http.MethodGet, "/audit", "")
			if again.StatusCode != http.StatusOK {
				t.Errorf("after %v: got %d %s", failed, again.StatusCode, again.Body)
			}
		}

		if got := row(w, "USER#"+user, "PROFILE")["email"]; got != user+"@example.com" {
			t.Errorf("the address is %v", got)
		}

		return failed
	}, "TransactWriteItems *CommitCollectAudit")

	w.Logs.TakeWarnings()
}

// TestOldUserNeedsNoCallOfThePool: the user of a browser is the user of the phone.
func TestOldUserNeedsNoCallOfThePool(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	created := row(w, "USER#ann", "PROFILE")
	token := w.SignInApp("ann").Access

	w.Pass(time.Minute)
	same(t, "the answer", w.AskApp(token, http.MethodGet, "/session", "").StatusCode, http.StatusOK)
	same(t, "the profile", row(w, "USER#ann", "PROFILE"), created)
	same(t, "the trail", trailOf(w, "ann"), []string{"AUTH_SIGNUP success"})
}

// TestDeletedUserOfAnApp: the token is valid for some minutes, and writes nothing. Once the profile is gone, it reads
// nothing, and no profile appears.
func TestDeletedUserOfAnApp(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	token := w.SignInApp("ann").Access
	same(t, "the deletion", w.AskApp(token, http.MethodDelete, "/account", "").StatusCode, http.StatusAccepted)
	refused(t, "a write", w.AskApp(token, http.MethodPatch, "/preferences", `{"units":"mi"}`), 401, "account_deleted")

	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "bob", DeletedAt: "2026-06-06T12:00:00Z"})

	bob := w.SignInApp("bob").Access
	for _, path := range []string{"/session", "/milestones", "/audit"} {
		refused(t, "a read without a profile", w.AskApp(bob, http.MethodGet, path, ""), 401, "account_deleted")
	}

	if rows := testkit.Rows[stored](w.World, tables.Main); len(rows) != 1 {
		t.Errorf("the rows are %v, want the profile of ann only", rows)
	}
}

// TestDeletedUserDropsNoPhone: the job that forgets the user does.
func TestDeletedUserDropsNoPhone(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	token, phone := w.SignInApp("ann").Access, push.Token(strings.Repeat("a1", 32))

	registered := w.AskApp(token, http.MethodPost, "/devices", `{"deviceToken":"`+string(phone)+`"}`)
	same(t, "the registration", registered.StatusCode, http.StatusCreated)

	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	refused(t, "the removal", w.AskApp(token, http.MethodDelete, "/devices/"+string(phone.ID()), ""), 401, "account_deleted")
	same(t, "the owner of the phone", row(w, "DEVICE#"+string(phone), "DEVICE")["userId"], any("ann"))
}

// TestAppStaysSignedIn by rotating refresh tokens. After a revocation the access token is valid until it expires.
func TestAppStaysSignedIn(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	first := w.SignInApp("ann")

	w.Pass(16 * time.Minute)
	refused(t, "an expired token", w.AskApp(first.Access, http.MethodGet, "/session", ""), 401, "invalid_token")

	second := w.Tokens(url.Values{
		"grant_type": {"refresh_token"}, "client_id": {commitcollecttest.Native}, "refresh_token": {first.Refresh},
	})
	same(t, "the new token", w.AskApp(second.Access, http.MethodGet, "/session", "").StatusCode, http.StatusOK)

	if second.Refresh == first.Refresh || second.Refresh == "" {
		t.Errorf("the refresh token does not rotate: %q", second.Refresh)
	}
}

// TestPoolIsDownForAnApp: nobody is taken for signed out.
func TestPoolIsDownForAnApp(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	token := w.SignInApp("ann").Access
	w.PoolIsDown = true

	same(t, "the answer", w.AskApp(token, http.MethodGet, "/session", "").StatusCode, http.StatusServiceUnavailable)
	w.Logs.TakeWarnings()

	w.PoolIsDown = false
	same(t, "the answer", w.AskApp(token, http.MethodGet, "/session", "").StatusCode, http.StatusOK)
}
