package threefc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/sim/cognito"
	"matchday/infra/testkit"
	"matchday/pkg/kit/account"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

const (
	startLink  = "/v1/auth/magic/start"
	followLink = "/v1/auth/magic/complete"
	session    = "/v1/auth/session"
)

// ask has a link mailed, and returns its token.
func ask(w *threefctest.World, email string) string {
	w.T.Helper()
	w.SetCookie("", w.Do("", "POST", startLink, map[string]any{"email": email}).Cookies[0])
	all := w.Mail.Mailbox(strings.ToLower(email))
	_, token, _ := strings.Cut(all[len(all)-1].Text, threefctest.API+"/sign-in?token=")
	token, _, _ = strings.Cut(token, "\n")

	return token
}

// follow signs a browser in by a token, and returns the user id.
func follow(w *threefctest.World, browser, token string) string {
	w.T.Helper()
	out := w.Do("", "POST", followLink, map[string]any{"token": token})
	w.SetCookie(browser, out.Cookies[0])

	return testkit.Decode[struct{ UserID string }](w.World, out).UserID
}

func TestSignInByMail(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	out := w.Do("", "POST", startLink, map[string]any{"email": "Lena@Example.com"})
	same(t, "the answer", [2]any{out.StatusCode, strings.Contains(out.Body, `"expiresInSeconds":900`)}, [2]any{202, true})

	token := ask(w, "lena@example.com")
	mail := w.Mail.Mailbox("lena@example.com")[1]
	same(t, "the mail", []string{mail.From, mail.Subject, mail.Text}, []string{"3fc@example.com", "Sign in to 3FC",
		"Follow this link to sign in to 3FC. It is valid for 15 minutes, and once.\n\n" + threefctest.API + "/sign-in?token=" + token +
			"\n\nIf you have not asked for it, ignore this mail.\n"})
	out = w.Do("", "POST", followLink, map[string]any{"token": token})

	cookie := out.Cookies[0]
	for _, part := range []string{"__Host-threefc_session=", "HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=2592000"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %s has no %s", cookie, part)
		}
	}

	w.SetCookie("lena", cookie)
	who := w.Do("lena", "GET", session, nil)

	first := testkit.Decode[struct{ UserID, Email string }](w.World, who)
	if first.Email != "lena@example.com" || testkit.Header(who).Get("Cache-Control") != "no-store" {
		t.Errorf("the session is %+v", first)
	}

	if id := follow(w, "phone", ask(w, "LENA@example.com")); id != first.UserID {
		t.Errorf("the second sign-in is of %s, want %s", id, first.UserID)
	}

	id, secret, _ := strings.Cut(token, ".")
	value, _, _ := strings.Cut(strings.TrimPrefix(cookie, "__Host-threefc_session="), ";")
	text, err := json.Marshal(everything(w))
	testkit.Must(t, err)

	for what, hidden := range map[string]string{"the secret of a link": secret, "the token of a session": value} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("the table has %s", what)
		}
	}

	if !strings.Contains(string(text), id) {
		t.Error("the table does not have the id of the link")
	}

	for _, line := range w.Logs.Lines() {
		if strings.Contains(line.Text, secret) || strings.Contains(line.Text, value) || strings.Contains(line.Text, "lena") {
			t.Errorf("a log has a secret or an address: %s", line.Text)
		}
	}
}

// TestLinkIsRefused: each token that does not sign in.
func TestLinkIsRefused(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	good := ask(w, "lena@example.com")
	id, secret, _ := strings.Cut(good, ".")
	other := ask(w, "otto@example.com")

	otherID, _, _ := strings.Cut(other, ".")
	for name, token := range map[string]string{
		"a wrong secret":             id + "." + strings.Repeat("A", len(secret)),
		"no secret":                  id + ".",
		"no point":                   id,
		"no id":                      "." + secret,
		"the secret of another link": otherID + "." + secret,
		"an unknown link":            strings.Repeat("B", len(id)) + "." + secret,
		"anything":                   "x",
		"more":                       good + "x",
		"a key":                      "../" + good,
	} {
		refused(t, name, w.Ask("", "POST", followLink, map[string]any{"token": token}), 401, "invalid_or_expired_magic_link")
	}

	for _, token := range []string{"", strings.Repeat("x", 129)} {
		if err := testkit.CheckProblemField(w.Ask("", "POST", followLink, map[string]any{"token": token}), 422, "body.token"); err != nil {
			t.Error(err)
		}
	}

	follow(w, "lena", good)
	refused(t, "the link a second time", w.Ask("", "POST", followLink, map[string]any{"token": good}), 401, "invalid_or_expired_magic_link")
	w.MoveClock(w.Clock.Now().Add(15*time.Minute - time.Second))
	follow(w, "otto", other)
	late := ask(w, "una@example.com")
	w.MoveClock(w.Clock.Now().Add(15 * time.Minute))
	refused(t, "after 15 minutes", w.Ask("", "POST", followLink, map[string]any{"token": late}), 401, "invalid_or_expired_magic_link")

	for _, email := range []string{"", "lena", "lena@", "@example.com", "a@b@c", "lena@example.com\nBcc: x@example.com"} {
		if err := testkit.CheckProblemField(w.Ask("", "POST", startLink, map[string]any{"email": email}), 422, "body.email"); err != nil {
			t.Errorf("%q: %v", email, err)
		}
	}
}

// TestLinkIsFollowedTwiceAtOnce: one browser is signed in.
func TestLinkIsFollowedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	token := ask(w, "lena@example.com")

	var all sync.WaitGroup

	got := make([]string, 4)
	for i := range got {
		all.Go(func() { got[i] = code(w.Ask("", "POST", followLink, map[string]any{"token": token})) })
	}

	all.Wait()

	in, sessions := 0, 0

	for _, g := range got {
		if g == "200" {
			in++
		} else if g != "401 invalid_or_expired_magic_link" {
			t.Errorf("a browser got %s", g)
		}
	}

	for _, r := range everything(w) {
		if r["entityType"] == "AuthSession" && r["sk"] == item.Metadata {
			sessions++
		}
	}

	if in != 1 || sessions != 1 {
		t.Errorf("%d browsers are signed in, with %d sessions, want 1", in, sessions)
	}
}

// TestMailsAreLimited: five links in an hour to an address, also if they are asked for at
// once.
func TestMailsAreLimited(t *testing.T) {
	t.Parallel()

	w := threefctest.New(t)
	for range 5 {
		ask(w, "lena@example.com")
		w.MoveClock(w.Clock.Now().Add(time.Minute))
	}

	again := map[string]any{"email": "LENA@example.com"}
	refused(t, "the sixth", w.Ask("", "POST", startLink, again), 429, "too_many_links")
	ask(w, "otto@example.com")
	w.MoveClock(threefctest.Noon.Add(time.Hour - time.Second))
	refused(t, "the sixth before an hour is over", w.Ask("", "POST", startLink, again), 429, "too_many_links")
	w.MoveClock(threefctest.Noon.Add(time.Hour))
	w.Do("", "POST", startLink, again) // after an hour

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { w.Ask("", "POST", startLink, map[string]any{"email": "una@example.com"}) })
	}

	all.Wait()

	if n := len(w.Mail.Mailbox("una@example.com")); n > 5 {
		t.Errorf("eight requests at once sent %d mails, want at most 5", n)
	}
}

// TestLinkOfAnotherBrowser: a browser that has not asked for the link signs in only after its user has
// confirmed. The one that has asked signs in by each of its links. One that was stored before the
// browser was known signs in any.
func TestLinkOfAnotherBrowser(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	first := ask(w, "lena@example.com")
	second := ask(w, "lena@example.com")
	complete := func(browser, token string, confirmed bool) string {
		return code(w.Ask(browser, "POST", followLink, map[string]any{"token": token, "anotherBrowser": confirmed}))
	}

	w.SetCookie("eve", signin.Asked.Set(first)) // any token but that of the browser
	same(t, "another browser", []string{complete("none", first, false), complete("eve", first, false)},
		[]string{"409 another_browser", "409 another_browser"})
	same(t, "a wrong token", complete("none", strings.Repeat("A", 43)+"."+strings.Repeat("A", 43), false), "401 invalid_or_expired_magic_link")
	same(t, "the browser that has asked", []string{complete("", first, false), complete("", second, false)}, []string{"200", "200"})
	same(t, "another, after its user has confirmed", complete("none", ask(w, "lena@example.com"), true), "200")

	old := ask(w, "lena@example.com")
	id, _, _ := strings.Cut(old, ".")
	row := testkit.Row[item.Row[map[string]any]](w.World, tables.App, item.LinkKey(id), item.Metadata)
	delete(*row.V(), "asked")
	testkit.PutRows(w.World, tables.App, row)
	same(t, "a link of before", complete("none", old, false), "200")
}

// TestPagesOfOtherSitesAskForNoLink: nor do they sign in, or join.
func TestPagesOfOtherSitesAskForNoLink(t *testing.T) {
	t.Parallel()
	m := club(t)
	joined := m.code()
	token := ask(m.World, "lena@example.com")
	m.Origin = "https://evil.example"

	for path, body := range map[string]map[string]any{
		startLink: {"email": "lena@example.com"}, followLink: {"token": token}, "/v1/join/" + joined: {"nickname": "Evie"},
	} {
		refused(t, path, m.Ask("", "POST", path, body), 403, "wrong_origin")
	}

	refused(t, "a read with the session", m.Ask("ann", "GET", session, nil), 403, "wrong_origin")
}

// TestNobodyLocksAnAddressOut: five links by one caller leave the owner of the address the way in. All
// callers together send forty an hour.
func TestNobodyLocksAnAddressOut(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	start := func(caller int) string {
		w.Caller = fmt.Sprintf("203.0.113.%d", caller)
		return code(w.Ask("", "POST", startLink, map[string]any{"email": "lena@example.com"}))
	}

	for range signin.MaxLinks.Max {
		same(t, "a link", start(1), "202")
	}

	same(t, "one more, and the owner", []string{start(1), start(2)}, []string{"429 too_many_links", "202"})

	for n := signin.MaxLinks.Max + 1; n < signin.MaxAddressLinks.Max; n++ {
		same(t, "of many callers", start(n), "202")
	}

	w.Caller = "203.0.113.100"
	refused(t, "too many mails", w.Ask("", "POST", startLink, map[string]any{"email": "lena@example.com"}), 429, "too_many_links_of_address")
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	same(t, "an hour later", start(1), "202")
}

// TestSignInMailsOfACallerAreLimited: thirty in an hour, whatever the addresses, and whether or not
// they have accounts. Others are not affected.
func TestSignInMailsOfACallerAreLimited(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	w.Caller = "203.0.113.7"
	follow(w, "lena", ask(w, "lena@example.com"))

	start := func(email string) events.APIGatewayV2HTTPResponse {
		return w.Ask("", "POST", startLink, map[string]any{"email": email})
	}
	for i := range signin.MaxCallerLinks.Max - 2 {
		same(t, "a sign-in", code(start(fmt.Sprintf("lena+%d@example.com", i))), "202")
	}

	w.MoveClock(w.Clock.Now().Add(20 * time.Minute))
	same(t, "two at once, with one mail left", atOnce(2, func(i int) string { return code(start(fmt.Sprintf("una+%d@example.com", i))) }),
		map[string]int{"202": 1, "429 too_many_sign_ins": 1})

	sent := len(w.Mail.Sent())

	for _, email := range []string{"lena@example.com", "nobody@example.com"} {
		out := start(email)
		refused(t, email, out, 429, "too_many_sign_ins")
		same(t, "Retry-After for "+email, testkit.Header(out).Get("Retry-After"), "2400")
	}

	same(t, "the mails afterwards", len(w.Mail.Sent()), sent)
	w.Caller = "203.0.113.8"

	same(t, "another caller", code(start("otto@example.com")), "202")

	w.Caller = "203.0.113.7"
	w.MoveClock(w.Clock.Now().Add(40 * time.Minute))
	same(t, "an hour later", code(start("otto@example.com")), "202")
}

// create creates an account by the API of the user pool.
func create(w *threefctest.World, email string, attributes ...map[string]string) {
	w.T.Helper()

	body, err := json.Marshal(map[string]any{
		"UserPoolId":     cognito.ID,
		"Username":       email,
		"MessageAction":  "SUPPRESS",
		"UserAttributes": append(attributes, map[string]string{"Name": "email", "Value": email}),
	})
	testkit.Must(w.T, err)

	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	r.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService.AdminCreateUser")

	out := httptest.NewRecorder()
	w.Users.ServeHTTP(out, r)

	if out.Code != http.StatusOK {
		w.T.Fatalf("create an account: %d %s", out.Code, out.Body)
	}
}

// TestAccountsThatExist: who has proved the address gets its account, unless that account
// has not; a sign-up that nobody has confirmed counts for nothing.
func TestAccountsThatExist(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	pool := w.Accounts()
	begun, err := pool.SignUp("lena@example.com", "Mallory")
	testkit.Must(t, err)

	if id := follow(w, "lena", ask(w, "lena@example.com")); id == begun {
		t.Error("the sign-in got an account that somebody else has begun")
	}

	create(w, "otto@example.com")
	refused(t, "an account that is not verified",
		w.Ask("", "POST", followLink, map[string]any{"token": ask(w, "otto@example.com")}), 409, "account_unverified")
	id := follow(w, "una", ask(w, "una@example.com"))
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: id, DeletedAt: "2026-06-06T12:00:00Z"})
	refused(t, "a deleted account", w.Ask("", "POST", followLink, map[string]any{"token": ask(w, "una@example.com")}), 401, "account_deleted")
	refused(t, "a league of a deleted account",
		w.Ask("una", "POST", "/v1/leagues", map[string]any{"name": "Parkside"}), 401, "account_deleted")
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.Accounts()
	id := follow(w, "lena", ask(w, "lena@example.com"))
	follow(w, "phone", ask(w, "lena@example.com"))

	out := w.Do("lena", "DELETE", session, nil)
	if cookie := out.Cookies[0]; out.StatusCode != http.StatusNoContent || !strings.HasPrefix(cookie, "__Host-threefc_session=;") ||
		!strings.Contains(cookie, "Max-Age=0") {
		t.Errorf("got %d and the cookie %s", out.StatusCode, cookie)
	}

	refused(t, "the session afterwards", w.Ask("lena", "GET", session, nil), 401, "invalid_session")
	refused(t, "a second sign-out", w.Ask("lena", "DELETE", session, nil), 401, "invalid_session")
	w.Do("phone", "GET", session, nil)

	left := 0

	for _, r := range everything(w) {
		if r["entityType"] == "AuthSession" && r["pk"] == item.UserKey(id) {
			left++
		}
	}

	if left != 1 {
		t.Errorf("the user has %d sessions, want that of the phone", left)
	}
}

// TestSessionIsRefused: without a cookie, with one that is none of ours, after 30 days; and a
// page of another origin changes nothing.
func TestSessionIsRefused(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.SignIn("ann")
	refused(t, "no cookie", w.Ask("", "GET", session, nil), 401, "missing_session")

	for name, cookie := range map[string]string{
		"another cookie": "session=x",
		"an empty one":   "__Host-threefc_session=",
		"a short one":    "__Host-threefc_session=abc",
		"a long one":     "__Host-threefc_session=" + strings.Repeat("A", 200),
		"nonsense":       "__Host-threefc_session=%%%;;=",
	} {
		w.SetCookie("eve", cookie)
		refused(t, name, w.Ask("eve", "GET", session, nil), 401, "missing_session")
	}

	w.SetCookie("eve", "__Host-threefc_session="+strings.Repeat("A", 43))
	refused(t, "a guess", w.Ask("eve", "GET", session, nil), 401, "invalid_session")

	for _, origin := range []string{"https://evil.test", "", "null", threefctest.App + ".evil.test", "http://app.test"} {
		w.Origin = origin
		refused(t, fmt.Sprintf("a change from %q", origin),
			w.Ask("ann", "POST", "/v1/leagues", map[string]any{"name": "Parkside"}), 403, "wrong_origin")
		refused(t, fmt.Sprintf("a read from %q", origin), w.Ask("ann", "GET", "/v1/leagues", nil), 403, "wrong_origin")
	}

	w.Origin = threefctest.App
	w.MoveClock(w.Clock.Now().Add(30*24*time.Hour - time.Second))
	w.Do("ann", "GET", session, nil)
	w.MoveClock(w.Clock.Now().Add(time.Second))
	refused(t, "after 30 days", w.Ask("ann", "GET", session, nil), 401, "invalid_session")
}
