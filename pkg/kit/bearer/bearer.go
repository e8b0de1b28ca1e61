// Package bearer verifies the access tokens that native apps send, of a client of a Cognito user pool.
//
// The function of a route verifies them itself where an authorizer of API Gateway cannot: on a route that
// takes a cookie as well. A token is valid until it expires, also after the user has signed out of all
// devices, or has deleted the account: what writes must check the tombstone (package account).
package bearer

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
)

// readAgain is how long the keys of a pool are not read again because of a token with an unknown key.
// Otherwise anybody could cause a request to the pool by each of theirs.
const readAgain = time.Minute

// maxAnswer bounds an answer of the pool, in bytes.
const maxAnswer = 64 << 10

// minKey is the smallest modulus of a key, in bits: Cognito's keys have 2,048.
const minKey = 2048

// Config is whose tokens are valid.
type Config struct {
	Issuer string   // URL of the user pool
	SignIn string   // base URL of its OAuth endpoints
	Client string   // id of the client of the tokens; "" if there is none, and no token is valid
	Scopes []string // that a token must have
	HTTP   *http.Client
	Now    func() time.Time
}

// Verifier verifies tokens. It keeps the pool's keys. It is safe for concurrent use.
type Verifier struct {
	cfg    Config
	parser *jwt.Parser

	mu   sync.Mutex
	keys map[string]*rsa.PublicKey // by kid
	read time.Time                 // when keys were read last, or that failed although there were some
}

// New returns a verifier that has not read any keys.
func New(cfg Config) *Verifier {
	return &Verifier{cfg: cfg, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256"}),
		jwt.WithIssuer(cfg.Issuer),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(cfg.Now),
		jwt.WithStrictDecoding(),
	)}
}

// claims are what is checked of a token.
type claims struct {
	jwt.RegisteredClaims
	Client string `json:"client_id"`
	Use    string `json:"token_use"`
	Scope  string `json:"scope"`
}

// errKey refuses a token of a key that the pool does not have.
var errKey = errors.New("the key is not the pool's")

// Verify returns the user of an access token: the pool's subject. Errors: session.ErrToken, and an
// Unavailable problem if the pool's keys cannot be read.
func (v *Verifier) Verify(ctx context.Context, token string) (userID string, err error) {
	if v.cfg.Client == "" {
		return "", session.ErrToken
	}

	var c claims

	_, err = v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		return v.key(ctx, kid)
	})
	if down, ok := errors.AsType[*problem.Error](err); ok {
		return "", down
	}

	scopes := strings.Fields(c.Scope)
	lacks := slices.ContainsFunc(v.cfg.Scopes, func(s string) bool { return !slices.Contains(scopes, s) })

	if err != nil || c.Client != v.cfg.Client || c.Use != "access" || c.Subject == "" || lacks {
		return "", session.ErrToken
	}

	return c.Subject, nil
}

// key returns the key with an id. It reads the pool's keys if it has none, or not that one.
func (v *Verifier) key(ctx context.Context, kid string) (*rsa.PublicKey, error) {
	v.mu.Lock()
	defer v.mu.Unlock()

	now := v.cfg.Now()

	if key := v.keys[kid]; key != nil {
		return key, nil
	}

	if len(v.keys) > 0 && now.Sub(v.read) < readAgain {
		return nil, errKey
	}

	var set struct{ Keys []webKey }

	status, err := v.get(ctx, v.cfg.Issuer+"/.well-known/jwks.json", "", &set)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the keys of the user pool: got a %d", status)
	}

	v.read = now

	if err != nil {
		return nil, unavailable(err)
	}

	keys := map[string]*rsa.PublicKey{}

	for _, k := range set.Keys {
		if key := k.public(); key != nil {
			keys[k.ID] = key
		}
	}

	v.keys = keys

	if key := keys[kid]; key != nil {
		return key, nil
	}

	return nil, errKey
}

// webKey is a key of a JWKS (RFC 7517).
type webKey struct {
	Type      string `json:"kty"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
	ID        string `json:"kid"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
}

// public returns the key, nil for one that verifies no tokens.
func (k webKey) public() *rsa.PublicKey {
	n, err1 := base64.RawURLEncoding.DecodeString(k.Modulus)
	e, err2 := base64.RawURLEncoding.DecodeString(k.Exponent)
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)

	if k.Type != "RSA" || k.Algorithm != "RS256" || k.Use != "sig" || err1 != nil || err2 != nil || modulus.BitLen() < minKey ||
		exponent.BitLen() > 31 || exponent.Int64() < 3 {
		return nil
	}

	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
}

// Email returns the verified address of the user of an access token, which Verify has accepted. Access
// tokens do not have it: the pool is asked. Errors: session.ErrToken if the pool does not accept the token,
// or the address is not verified, and an Unavailable problem if the pool does not answer.
func (v *Verifier) Email(ctx context.Context, token, userID string) (string, error) {
	var user struct {
		Subject  string `json:"sub"`
		Email    string `json:"email"`
		Verified any    `json:"email_verified"` // Cognito sends "true"
	}

	status, err := v.get(ctx, v.cfg.SignIn+"/oauth2/userInfo", token, &user)

	switch {
	case err != nil:
		return "", unavailable(err)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return "", unavailable(fmt.Errorf("the user pool: got a %d", status))
	case status != http.StatusOK || user.Subject != userID || user.Email == "" || fmt.Sprint(user.Verified) != "true":
		return "", session.ErrToken
	}

	return user.Email, nil
}

// unavailable is the problem of a pool that does not answer.
func unavailable(cause error) error {
	p := &problem.Error{Kind: problem.Unavailable, Text: "the sign-in cannot be checked at the moment: try again"}
	return p.Because(cause)
}

// get reads JSON from the pool. It decodes nothing of an answer that is not 200.
func (v *Verifier) get(ctx context.Context, url, token string, out any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}

	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}

	res, err := v.cfg.HTTP.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return res.StatusCode, nil
	}

	return res.StatusCode, json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out)
}
