package cognito

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/clock"
)

// The client of a native app, its redirect, and a verifier with its challenge (RFC 7636, appendix B).
const (
	phone     = "phone"
	redirect  = "com.example.app:/signed-in"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func newNative(t *testing.T) *Pool {
	t.Helper()

	p := newPool(t, "")
	p.AllowRedirects("https://app.example/in")
	p.AddNative(phone, redirect)

	return p
}

// post sends a form below the issuer.
func post(t *testing.T, p *Pool, path string, form url.Values) (status int, location *url.URL, got Tokens) {
	t.Helper()

	r := httptest.NewRequest(http.MethodPost, issuer+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)

	location, _ = w.Result().Location()
	json.Unmarshal(w.Body.Bytes(), &got)

	return w.Code, location, got
}

// formWith is the form of the sign-in page with changes, and without what is changed to "".
func formWith(change map[string]string) url.Values {
	form := url.Values{
		"client_id": {phone}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"openid email"}, "user": {"una"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
	for name, value := range change {
		if form.Set(name, value); value == "" {
			form.Del(name)
		}
	}

	return form
}

// signedIn signs the app in.
func signedIn(t *testing.T, p *Pool) Tokens {
	t.Helper()

	_, to, _ := post(t, p, "/oauth2/authorize", formWith(nil))

	status, _, got := post(t, p, "/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {phone}, "redirect_uri": {redirect}, "code": to.Query()["code"],
		"code_verifier": {verifier},
	})
	if status != http.StatusOK || got.Access == "" || got.Refresh == "" {
		t.Fatalf("the sign-in: got %d %+v", status, got)
	}

	return got
}

// refreshed uses a refresh token.
func refreshed(t *testing.T, p *Pool, client, token string) (status int, got Tokens) {
	t.Helper()

	status, _, got = post(t, p, "/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {token}})

	return status, got
}

// TestNativeAppNeedsAProof: without PKCE by S256, or with a code, a verifier or a redirect of another, nobody signs in.
func TestNativeAppNeedsAProof(t *testing.T) {
	t.Parallel()
	p := newNative(t)

	for name, change := range map[string]map[string]string{
		"no challenge":              {"code_challenge": "", "code_challenge_method": ""},
		"a plain challenge":         {"code_challenge": verifier, "code_challenge_method": "plain"},
		"a challenge of any length": {"code_challenge": "short"},
		"no method":                 {"code_challenge_method": ""},
	} {
		if status, to, _ := post(t, p, "/oauth2/authorize", formWith(change)); status != http.StatusFound || to.Query().Get("error") != "invalid_request" {
			t.Errorf("%s: got %d to %v", name, status, to)
		}
	}

	for name, change := range map[string]map[string]string{
		"a redirect of the web's client": {"redirect_uri": "https://app.example/in"},
		"a part of its own":              {"redirect_uri": redirect + "/more"},
		"an unknown client":              {"client_id": "other"},
		"the web's client":               {"client_id": "client"},
	} {
		if status, _, _ := post(t, p, "/oauth2/authorize", formWith(change)); status != http.StatusBadRequest {
			t.Errorf("%s: got %d", name, status)
		}
	}

	for name, change := range map[string][2]string{
		"another verifier": {"code_verifier", challenge},
		"none":             {"code_verifier", ""},
		"another client":   {"client_id", "client"},
		"another redirect": {"redirect_uri", "com.example.other:/signed-in"},
	} {
		_, to, _ := post(t, p, "/oauth2/authorize", formWith(nil))
		form := url.Values{
			"grant_type": {"authorization_code"}, "client_id": {phone}, "redirect_uri": {redirect}, "code": to.Query()["code"], "code_verifier": {verifier},
		}
		form.Set(change[0], change[1])

		if status, _, _ := post(t, p, "/oauth2/token", form); status != http.StatusBadRequest {
			t.Errorf("%s: got %d", name, status)
		}
	}
}

// TestTokensOfANativeApp are for that client, and the web's client gets no refresh token.
func TestTokensOfANativeApp(t *testing.T) {
	t.Parallel()
	p := newNative(t)

	got := signedIn(t, p)
	if _, err := p.Verify(got.Access); err == nil || !strings.Contains(err.Error(), "another client") {
		t.Errorf("the pool's own client: %v", err)
	}

	if claims, err := p.parse(got.Access); err != nil || claims["client_id"] != phone || claims["sub"] != "una" {
		t.Errorf("the claims are %v, %v", claims, err)
	}

	p.Grant("code", "una", "https://app.example/in", "", "", start.Add(time.Minute))

	status, _, web := post(t, p, "/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"client"}, "redirect_uri": {"https://app.example/in"}, "code": {"code"},
	})
	if status != http.StatusOK || web.Refresh != "" {
		t.Errorf("the web's client: got %d with the refresh token %q", status, web.Refresh)
	}
}

// TestRotation: a refresh token is valid for a minute after its first use, and the sign-in for 90 days.
func TestRotation(t *testing.T) {
	t.Parallel()
	p := newNative(t)
	first := signedIn(t, p).Refresh

	pass := func(d time.Duration) { p.clock = clock.New(p.clock.Now().Add(d), clock.Free) }
	check := func(what, token string, want int) (next string) {
		t.Helper()

		status, got := refreshed(t, p, phone, token)
		if status != want || (status == http.StatusOK) != (got.Refresh != "" && got.Refresh != token && got.Access != "") {
			t.Errorf("%s: got %d %+v, want %d", what, status, got, want)
		}

		return got.Refresh
	}

	pass(24 * time.Hour)

	second := check("the first", first, 200)
	pass(Grace)
	check("again, because the answer was lost", first, 200)
	pass(time.Second)
	check("after the grace", first, 400)

	if status, _ := refreshed(t, p, "client", second); status != 400 {
		t.Errorf("another client: got %d", status)
	}

	third := check("the second", second, 200)

	if status, _, _ := post(t, p, "/oauth2/revoke", url.Values{"client_id": {"client"}, "token": {third}}); status != 200 {
		t.Errorf("the revocation of another client's token: got %d, want 200 (RFC 7009, 2.2)", status)
	}

	fourth := check("which is valid still", third, 200)

	if status, _, _ := post(t, p, "/oauth2/revoke", url.Values{"client_id": {phone}, "token": {fourth}}); status != 200 {
		t.Errorf("the revocation: got %d", status)
	}

	check("after the revocation", fourth, 400)
	check("a token of nobody", "guessed", 400)

	last := signedIn(t, p).Refresh
	pass(RefreshTTL / 2)
	last = check("after 45 days", last, 200)
	pass(RefreshTTL/2 - time.Second)
	last = check("a second before 90 days", last, 200)
	pass(time.Second)
	check("after 90 days", last, 400)

	gone := signedIn(t, p).Refresh
	do(t, p, "AdminDeleteUser", input("una", ""))
	check("of a deleted user", gone, 400)
}

// TestUserInfo is of the user of an access token of the sign-in page.
func TestUserInfo(t *testing.T) {
	t.Parallel()
	p := newNative(t)
	got := signedIn(t, p)

	for _, c := range []struct {
		name, header string
		status       int
	}{
		{"an access token", "Bearer " + got.Access, 200},
		{"an ID token", "Bearer " + got.ID, 401},
		{"no token", "", 401},
		{"a refresh token", "Bearer " + got.Refresh, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, issuer+"/oauth2/userInfo", nil)
		r.Header.Set("Authorization", c.header)

		w := httptest.NewRecorder()
		if p.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%s: got %d, want %d", c.name, w.Code, c.status)
		}

		if c.status == 200 && strings.TrimSpace(w.Body.String()) != `{"email":"una@example.com","email_verified":"true","sub":"una","username":"una"}` {
			t.Errorf("the user is %s", w.Body)
		}
	}

	do(t, p, "AdminDeleteUser", input("una", ""))

	r := httptest.NewRequest(http.MethodGet, issuer+"/oauth2/userInfo", nil)
	r.Header.Set("Authorization", "Bearer "+got.Access)

	w := httptest.NewRecorder()
	if p.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("a deleted user: got %d", w.Code)
	}
}
