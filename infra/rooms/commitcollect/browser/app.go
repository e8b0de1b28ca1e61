package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"matchday/infra/local/fleet"
)

// App is the native app on a phone of one person: it has no cookies, and sends an access token. It is safe
// for concurrent use: one refresh at a time, because the refresh token changes.
type App struct {
	api   string
	oauth oauth2.Config
	now   func() time.Time

	mu     sync.Mutex
	tokens *oauth2.Token // nil before the sign-in, and after a sign-out
}

// NewApp returns an app that nobody has signed in to. api is the URL of the room's API, pool that of the user
// pool, whose client for the app has the id and the address to which a sign-in returns.
func NewApp(api, pool, client, redirect string, now func() time.Time) *App {
	return &App{api: api, now: now, oauth: oauth2.Config{
		ClientID: client, RedirectURL: redirect, Scopes: []string{"openid", "email"},
		Endpoint: oauth2.Endpoint{
			AuthURL: pool + "/oauth2/authorize", TokenURL: pool + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}}
}

// page opens pages as the browser of the system does, and hands the address to which they return to the app.
var page = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// SignIn signs a user in at the page of the user pool, with PKCE (RFC 7636).
func (a *App) SignIn(ctx context.Context, user string) error {
	proof, state := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()

	to, err := url.Parse(a.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(proof)))
	if err != nil {
		return err
	}

	form := to.Query()
	form.Set("user", user)

	to.RawQuery = ""

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	answer, err := page.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	back, err := answer.Location()
	if err != nil {
		return fmt.Errorf("the sign-in page: got a %d: %w", answer.StatusCode, err)
	}

	if back.Query().Get("state") != state {
		return errors.New("the sign-in page returned with another state")
	}

	tokens, err := a.oauth.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(proof))
	if err != nil {
		return err
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	a.keep(tokens)

	return nil
}

// keep stores tokens, which expire by the clock of the fleet. The caller holds a.mu.
func (a *App) keep(t *oauth2.Token) {
	t.Expiry = a.now().Add(time.Duration(t.ExpiresIn) * time.Second)
	a.tokens = t
}

// access returns an access token. It refreshes one that expires within a minute, and stores the new refresh
// token before it uses the access token. After a refusal nobody is signed in.
func (a *App) access(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.tokens == nil {
		return "", errors.New("nobody is signed in on the phone")
	}

	if a.now().Add(time.Minute).Before(a.tokens.Expiry) {
		return a.tokens.AccessToken, nil
	}

	// The source refreshes at once: its token has expired long ago.
	fresh, err := a.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: a.tokens.RefreshToken, Expiry: time.Unix(1, 0)}).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		a.tokens = nil
	}

	if err != nil {
		return "", err
	}

	a.keep(fresh)

	return fresh.AccessToken, nil
}

// SignOut ends the refresh token at the user pool. The access token is valid until it expires, and the app
// forgets it.
func (a *App) SignOut(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.tokens == nil {
		return nil
	}

	form := url.Values{"client_id": {a.oauth.ClientID}, "token": {a.tokens.RefreshToken}}

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(a.oauth.Endpoint.TokenURL, "token")+"revoke",
		strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	answer, err := page.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the revocation: got a %d", answer.StatusCode)
	}

	a.tokens = nil

	return nil
}

// SignedIn reports whether somebody is signed in, and until when the access token is valid.
func (a *App) SignedIn() (until time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.tokens == nil {
		return until, false
	}

	return a.tokens.Expiry, true
}

// Call calls the API. It sends in as JSON unless in is nil, and decodes the answer into out unless out is nil.
// For an answer with a status of at least 400 the error is a *fleet.Refusal.
func (a *App) Call(ctx context.Context, method, path string, in, out any) error {
	token, err := a.access(ctx)
	if err != nil {
		return err
	}

	var body io.Reader

	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}

		body = bytes.NewReader(text)
	}

	r, err := http.NewRequestWithContext(ctx, method, a.api+path, body)
	if err != nil {
		return err
	}

	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")

	answer, err := page.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}

	if answer.StatusCode >= http.StatusBadRequest {
		return &fleet.Refusal{Request: method + " " + r.URL.Path, Status: answer.StatusCode, Body: text}
	}

	if out != nil {
		return json.Unmarshal(text, out)
	}

	return nil
}
