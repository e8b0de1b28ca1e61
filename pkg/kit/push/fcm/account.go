package fcm

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// An access token is asked for with the scope and the grant of
// https://developers.google.com/identity/protocols/oauth2/service-account.
const (
	scope     = "https://www.googleapis.com/auth/firebase.messaging"
	grant     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	assertFor = time.Hour       // Google's longest
	early     = 5 * time.Minute // before the end of an access token, when the next one is fetched
	failedFor = time.Second     // after a failure, when the next access token is asked for
)

// account is a service account of Google, by which a project's messages are sent.
type account struct {
	Project  string `json:"project_id"`
	Email    string `json:"client_email"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"` // PEM
	TokenURL string `json:"token_uri"`

	key *rsa.PrivateKey
}

// ErrKey reports a service account's key that is missing, or not what Google's console writes.
var ErrKey = errors.New("fcm: there is no valid key of a service account")

// readAccount reads the JSON file of a service account. Errors: ErrKey.
func readAccount(file []byte) (account, error) {
	var a account
	if json.Unmarshal(file, &a) != nil || a.Project == "" || a.Email == "" || a.TokenURL == "" {
		return account{}, ErrKey
	}

	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(a.Key))
	if err != nil {
		return account{}, ErrKey
	}

	a.key, a.Key = key, ""

	return a, nil
}

// tokens has the access token of an account, which all requests of a process share.
type tokens struct {
	read func(context.Context) (account, error)
	http *http.Client
	now  func() time.Time

	mu      sync.Mutex
	account *account // nil until it is read, and after Google has refused it
	access  string
	until   time.Time

	failed   error // of the last request for an access token
	failedAt time.Time
}

// token returns an access token that is valid for some minutes. refused is one that Google has
// refused: it is replaced, by the first of concurrent callers. A failure is that of all callers of a
// second, unless it is the end of the caller's ctx.
func (t *tokens) token(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	now := t.now()
	if t.access != "" && t.access != refused && now.Before(t.until.Add(-early)) {
		return t.access, nil
	}

	if t.failed != nil && now.Before(t.failedAt.Add(failedFor)) {
		return "", t.failed
	}

	access, lasts, err := t.fetch(ctx, now)
	if err == nil {
		t.access, t.until = access, now.Add(lasts)
	}

	if t.failed = nil; ctx.Err() == nil {
		t.failed, t.failedAt = err, t.now()
	}

	return access, err
}

// fetch exchanges a signed assertion for an access token, and returns how long it lasts. It reads the
// account at the first time, and again after Google has refused it: the key may have been replaced.
func (t *tokens) fetch(ctx context.Context, now time.Time) (string, time.Duration, error) {
	if t.account == nil {
		a, err := t.read(ctx)
		if err != nil {
			return "", 0, err
		}

		t.account = &a
	}

	access, lasts, err := t.exchange(ctx, *t.account, now)
	if _, refused := errors.AsType[*Refused](err); refused {
		t.account = nil
	}

	return access, lasts, err
}

// exchange is fetch for an account.
func (t *tokens) exchange(ctx context.Context, a account, now time.Time) (string, time.Duration, error) {
	claims := jwt.MapClaims{
		"iss": a.Email, "scope": scope, "aud": a.TokenURL, "iat": now.Unix(), "exp": now.Add(assertFor).Unix(),
	}
	assertion := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	assertion.Header["kid"] = a.KeyID

	signed, err := assertion.SignedString(a.key)
	if err != nil {
		return "", 0, ErrKey
	}

	form := url.Values{"grant_type": {grant}, "assertion": {signed}}

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, ErrKey
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	answer, err := t.http.Do(r)
	if err != nil {
		return "", 0, fmt.Errorf("%w: the token service cannot be reached", ErrUnavailable)
	}
	defer answer.Body.Close()

	var body struct {
		Access string `json:"access_token"`
		Lasts  int    `json:"expires_in"` // s
		Error  string `json:"error"`
	}

	decoded := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&body)
	switch {
	case answer.StatusCode/100 == 5 || answer.StatusCode == http.StatusTooManyRequests:
		return "", 0, fmt.Errorf("%w: the token service answered %d", ErrUnavailable, answer.StatusCode)
	case answer.StatusCode != http.StatusOK || decoded != nil || body.Access == "":
		return "", 0, &Refused{answer.StatusCode, body.Error}
	}

	return body.Access, time.Duration(body.Lasts) * time.Second, nil
}
