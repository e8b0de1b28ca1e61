package cognito

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// codeTTL is how long a code of the sign-in page is valid, as in Cognito.
const codeTTL = 5 * time.Minute

// grant is a sign-in whose code has not been exchanged.
type grant struct {
	client, user, redirect, challenge, nonce string
	until                                    time.Time
}

// page is the sign-in page: who submits it is signed in, without a password.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in</title>
<style>
body{font:16px system-ui;max-width:22rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}
input,button{font:inherit;width:100%;padding:.6rem;margin:.3rem 0;box-sizing:border-box}
</style>
<h1>Sign in</h1>
<form method="post" action="?">
{{range $name, $values := .}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
<label>E-mail address or user name <input name="user" required autofocus></label>
<button>Sign in</button></form>`))

// AllowRedirects sets the URLs to which the sign-in page and the logout may redirect.
func (p *Pool) AllowRedirects(urls ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.redirects = urls
}

// knows reports whether a client exists. isNative is false for the pool's own.
func (p *Pool) knows(client string) (ok, isNative bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	_, isNative = p.natives[client]

	return isNative || client == p.clientID, isNative
}

func (p *Pool) mayRedirect(client, to string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	redirects, isNative := p.natives[client]
	if !isNative {
		redirects = p.redirects
	}

	return slices.Contains(redirects, to)
}

// authorize shows the sign-in page, and signs in who submits it. Parameters that Cognito
// does not redirect for are answered with 400, as there.
func (p *Pool) authorize(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "malformed parameters", http.StatusBadRequest)
		return
	}

	q := r.Form
	known, isNative := p.knows(q.Get("client_id"))

	switch {
	case !known:
		http.Error(w, "invalid client_id", http.StatusBadRequest)
		return
	case !p.mayRedirect(q.Get("client_id"), q.Get("redirect_uri")):
		http.Error(w, "redirect_mismatch", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256",
		isNative && len(q.Get("code_challenge")) != challengeLength:
		back(w, r, q.Get("redirect_uri"), url.Values{"error": {"invalid_request"}, "state": q["state"]})
		return
	}

	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		page.Execute(w, q)

		return
	}

	defer p.clock.Work()()

	user := q.Get("user")
	if _, err := p.SignIn(r.Context(), user, "", nil); user == "" || err != nil {
		http.Error(w, "nobody can be signed in by this name", http.StatusBadRequest)
		return
	}

	code := rand.Text()
	p.grant(code, grant{
		client: q.Get("client_id"), user: user, redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), nonce: q.Get("nonce"),
		until: p.clock.Now().Add(codeTTL),
	})
	back(w, r, q.Get("redirect_uri"), url.Values{"code": {code}, "state": q["state"]})
}

// Grant makes a code valid, as if the user had submitted the sign-in page.
func (p *Pool) Grant(code, user, redirect, challenge, nonce string, until time.Time) {
	p.grant(code, grant{p.clientID, user, redirect, challenge, nonce, until})
}

func (p *Pool) grant(code string, g grant) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.grants[code] = g
}

// back redirects to a URL with parameters. Those without a value are left out.
func back(w http.ResponseWriter, r *http.Request, to string, with url.Values) {
	u, err := url.Parse(to)
	if err != nil {
		http.Error(w, "redirect_mismatch", http.StatusBadRequest)
		return
	}

	q := u.Query()

	for name, values := range with {
		if len(values) > 0 {
			q[name] = values
		}
	}

	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

// token exchanges a code, once, for tokens, or the refresh token of a native app:
// https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html
func (p *Pool) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuseGrant(w, "invalid_request")
		return
	}

	q, now := r.PostForm, p.clock.Now()

	known, isNative := p.knows(q.Get("client_id"))
	if !known {
		refuseGrant(w, "invalid_client")
		return
	}

	var g grant

	switch ok := false; q.Get("grant_type") {
	case "authorization_code":
		if g, ok = p.exchange(q, now); !ok {
			refuseGrant(w, "invalid_grant")
			return
		}
	case "refresh_token":
		if g, ok = p.rotate(q, now); !ok {
			refuseGrant(w, "invalid_grant")
			return
		}
	default:
		refuseGrant(w, "unsupported_grant_type")
		return
	}

	tokens, err := p.issue(g.client, g.user, nil, now, g.nonce)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	if isNative {
		tokens.Refresh = p.newRefresh(g)
	}

	w.Header().Set("Cache-Control", "no-store")
	answer(w, tokens)
}

// refuseGrant is a refusal of the token endpoint (RFC 6749, 5.2).
func refuseGrant(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write([]byte(`{"error":"` + code + `"}`))
}

// exchange takes a code. The grant lasts as long as a refresh token.
func (p *Pool) exchange(q url.Values, now time.Time) (g grant, ok bool) {
	p.mu.Lock()
	g, ok = p.grants[q.Get("code")]
	delete(p.grants, q.Get("code"))
	p.mu.Unlock()

	proof := sha256.Sum256([]byte(q.Get("code_verifier")))
	proven := subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(proof[:])), []byte(g.challenge)) == 1

	ok = ok && now.Before(g.until) && g.client == q.Get("client_id") && g.redirect == q.Get("redirect_uri") &&
		(g.challenge == "" || proven)
	g.until = now.Add(RefreshTTL)

	return g, ok
}

// logout ends the session of the sign-in page, which keeps none, and redirects.
func (p *Pool) logout(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if known, _ := p.knows(q.Get("client_id")); !known || !p.mayRedirect(q.Get("client_id"), q.Get("logout_uri")) {
		http.Error(w, "redirect_mismatch", http.StatusBadRequest)
		return
	}

	http.Redirect(w, r, q.Get("logout_uri"), http.StatusFound)
}
