package cognito

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

// RefreshTTL is how long a native app can refresh after a sign-in. Rotation does not extend it.
const RefreshTTL = 90 * 24 * time.Hour

// Grace is how long a refresh token is valid after its first use, for an app that has lost the answer.
const Grace = time.Minute

// challengeLength is the length of a SHA-256 in base64url.
const challengeLength = 43

// refresh is a refresh token of a native app.
type refresh struct {
	grant
	usedAt time.Time // zero for one that was not used
}

// AddNative adds the client of a native app to the pool. It has no secret, its refresh tokens rotate, and the
// sign-in page refuses it without a challenge of PKCE, which Cognito leaves to the client. Refresh tokens are
// in memory only.
func (p *Pool) AddNative(clientID string, redirects ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.natives[clientID] = redirects
}

// newRefresh returns a new refresh token of a sign-in, which ends when that does.
func (p *Pool) newRefresh(g grant) string {
	g.nonce = "" // of the first ID token only

	token := rand.Text() + rand.Text()

	p.mu.Lock()
	defer p.mu.Unlock()

	p.refreshes[token] = &refresh{grant: g}

	return token
}

// rotate uses a refresh token. It is valid until Grace after its first use, and not after the user was deleted:
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-refresh-token.html
func (p *Pool) rotate(q map[string][]string, now time.Time) (g grant, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	given := func(name string) string { return strings.Join(q[name], "") }

	r := p.refreshes[given("refresh_token")]
	if r == nil || r.client != given("client_id") || !now.Before(r.until) || p.find(r.user) == nil {
		return g, false
	}

	if !r.usedAt.IsZero() && now.Sub(r.usedAt) > Grace {
		return g, false
	}

	if r.usedAt.IsZero() {
		r.usedAt = now
	}

	return r.grant, true
}

// revoke ends a refresh token (RFC 7009). The access tokens stay valid until they expire, for whoever verifies
// them by their signature.
func (p *Pool) revoke(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.PostForm.Get("token") == "" {
		refuseGrant(w, "invalid_request")
		return
	}

	if known, _ := p.knows(r.PostForm.Get("client_id")); !known {
		refuseGrant(w, "invalid_client")
		return
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	if t := p.refreshes[r.PostForm.Get("token")]; t != nil && t.client == r.PostForm.Get("client_id") {
		delete(p.refreshes, r.PostForm.Get("token"))
	}
}

// userInfo answers with the user of an access token:
// https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html
func (p *Pool) userInfo(w http.ResponseWriter, r *http.Request) {
	refuse := func() {
		w.Header().Set("WWW-Authenticate", `error="invalid_token", error_description="Access token is expired, disabled, or deleted."`)
		w.WriteHeader(http.StatusUnauthorized)
	}

	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	claims, err := p.parse(token)
	scope, _ := claims["scope"].(string)

	if err != nil || claims["token_use"] != "access" || !slices.Contains(strings.Fields(scope), "openid") {
		refuse()
		return
	}

	sub, _ := claims["sub"].(string)

	p.mu.Lock()
	defer p.mu.Unlock()

	a := p.find(sub)
	if a == nil {
		refuse()
		return
	}

	answer(w, map[string]string{
		"sub": a.sub(), "username": a.sub(), "email": a.Attributes["email"], "email_verified": a.Attributes["email_verified"],
	})
}
