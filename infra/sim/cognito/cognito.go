// Package cognito simulates a Cognito user pool. It issues tokens with Cognito's claims,
// verifies them under a simulated clock, and serves OpenID Connect discovery and keys.
//
// Users sign in by e-mail address, without a password. Cognito's API invites users;
// SignIn signs an unknown user up.
package cognito

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
)

// TTL is the lifetime of a token, of the 5 minutes to a day that Cognito allows.
const TTL = 15 * time.Minute

// Pool is a user pool with one client, and those of AddNative. Create it with New.
type Pool struct {
	clock            *clock.Clock
	issuer, clientID string
	key              *rsa.PrivateKey
	kid              string
	mux              *http.ServeMux
	dir              string // file of the users; "" for none

	mu          sync.Mutex
	users       map[string]*poolUser // by sub
	invitations map[string]int       // by address
	subs        int                  // accounts made in memory
	onConfirmed Call
	redirects   []string            // that AllowRedirects has set
	grants      map[string]grant    // by code
	natives     map[string][]string // redirects of the clients of native apps, by their ids
	refreshes   map[string]*refresh // by token
}

// Tokens is the result of a sign-in, in the form of Cognito's token endpoint.
type Tokens struct {
	Access    string `json:"access_token"`
	ID        string `json:"id_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"` // seconds
	Refresh   string `json:"refresh_token,omitempty"`
}

// New returns a pool whose tokens name clientID and issuer, the URL under which the
// pool is served. It stores its key and users in dir, so that a later pool finds them.
// If dir is "", they are in memory only.
func New(c *clock.Clock, issuer, clientID, dir string) (*Pool, error) {
	key, err := loadKey(dir)
	if err != nil {
		return nil, err
	}

	p, err := NewWithKey(c, issuer, clientID, key)
	if err != nil {
		return nil, err
	}

	p.dir = dir

	return p, p.loadUsers()
}

// NewWithKey is New with a key, of users in memory.
func NewWithKey(c *clock.Clock, issuer, clientID string, key *rsa.PrivateKey) (*Pool, error) {
	issuer = strings.TrimSuffix(issuer, "/")

	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the issuer %q is not a URL", issuer)
	}

	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	p := &Pool{
		clock: c, issuer: issuer, clientID: clientID, key: key, kid: base64.RawURLEncoding.EncodeToString(sum[:]), mux: http.NewServeMux(),
		users: map[string]*poolUser{}, invitations: map[string]int{}, grants: map[string]grant{},
		natives: map[string][]string{}, refreshes: map[string]*refresh{},
	}
	p.mux.HandleFunc("GET "+u.Path+"/.well-known/openid-configuration", p.discovery)
	p.mux.HandleFunc("GET "+u.Path+"/.well-known/jwks.json", p.keys)
	p.mux.Handle("GET /dev/token", guard.Handler(http.HandlerFunc(p.devToken)))
	p.mux.HandleFunc("POST /{$}", p.api)
	p.mux.HandleFunc("GET "+u.Path+"/oauth2/authorize", p.authorize)
	p.mux.Handle("POST "+u.Path+"/oauth2/authorize", guard.Handler(http.HandlerFunc(p.authorize)))
	p.mux.HandleFunc("POST "+u.Path+"/oauth2/token", p.token)
	p.mux.HandleFunc("POST "+u.Path+"/oauth2/revoke", p.revoke)
	p.mux.HandleFunc("GET "+u.Path+"/oauth2/userInfo", p.userInfo)
	p.mux.HandleFunc("GET "+u.Path+"/logout", p.logout)

	return p, nil
}

// loadKey reads dir/identity.pem. It creates the file if there is none.
func loadKey(dir string) (*rsa.PrivateKey, error) {
	path := filepath.Join(dir, "identity.pem")
	if dir != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			return parseKey(path, text)
		}

		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the identity key: %w", err)
		}
	}

	key, err := NewKey()
	if err != nil || dir == "" {
		return key, err
	}

	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store the identity key: %w", err)
	}

	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return nil, fmt.Errorf("store the identity key: %w", err)
	}

	return key, nil
}

// NewKey returns a key for a pool.
func NewKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }

func parseKey(path string, text []byte) (*rsa.PrivateKey, error) {
	if block, _ := pem.Decode(text); block != nil {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := key.(*rsa.PrivateKey); ok {
				return key, nil
			}
		}
	}

	return nil, fmt.Errorf("%s holds no RSA key; delete the file to create a new key", path)
}

// Issuer returns the "iss" claim of the pool's tokens.
func (p *Pool) Issuer() string { return p.issuer }

// ClientID returns the client id in the pool's tokens.
func (p *Pool) ClientID() string { return p.clientID }

// Token signs user in at now, by sub or e-mail address, like SignIn, but creates no
// account: an unknown user gets the sub user and the address user@example.com. The
// tokens are valid for TTL from now. The claims are Cognito's:
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-with-identity-providers.html
func (p *Pool) Token(user string, groups []string, now time.Time) (Tokens, error) {
	return p.issue(p.clientID, user, groups, now, "")
}

// ClientToken is Token for another client of the pool, whose tokens Verify refuses.
func (p *Pool) ClientToken(clientID, user string, groups []string, now time.Time) (Tokens, error) {
	return p.issue(clientID, user, groups, now, "")
}

// issue is ClientToken, with the nonce of the sign-in in the ID token unless it is "".
func (p *Pool) issue(clientID, user string, groups []string, now time.Time, nonce string) (Tokens, error) {
	email, name := user+"@example.com", ""

	p.mu.Lock()
	if a := p.find(user); a != nil {
		user, email, name = a.sub(), a.Attributes["email"], a.Attributes["name"]
	}
	p.mu.Unlock()

	event := rand.Text()
	common := func(use string) jwt.MapClaims {
		claims := jwt.MapClaims{
			"sub":        user,
			"iss":        p.issuer,
			"token_use":  use,
			"auth_time":  now.Unix(),
			"iat":        now.Unix(),
			"exp":        now.Add(TTL).Unix(),
			"jti":        rand.Text(),
			"origin_jti": event,
		}
		if len(groups) > 0 {
			claims["cognito:groups"] = groups
		}

		return claims
	}
	access := common("access")
	access["client_id"] = clientID
	access["username"] = user
	access["scope"] = "openid email"
	access["version"] = 2
	id := common("id")
	id["aud"] = clientID
	id["cognito:username"] = user
	id["email"] = email

	id["email_verified"] = true
	if name != "" {
		id["name"] = name
	}

	if nonce != "" {
		id["nonce"] = nonce
	}

	t := Tokens{Type: "Bearer", ExpiresIn: int(TTL.Seconds())}

	var err1, err2 error

	t.Access, err1 = p.sign(access)
	t.ID, err2 = p.sign(id)

	return t, errors.Join(err1, err2)
}

func (p *Pool) sign(claims jwt.MapClaims) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = p.kid

	return t.SignedString(p.key)
}

// Verify returns the claims of a token if the pool signed it for its client and it is
// valid by the simulated clock. Numbers are json.Number. It takes access and ID tokens,
// as API Gateway's authorizer does, which looks at client_id only where there is no
// aud.
func (p *Pool) Verify(token string) (map[string]any, error) {
	claims, err := p.parse(token)
	if err != nil {
		return nil, err
	}

	audience, err := claims.GetAudience()
	if claims["aud"] == nil {
		client, _ := claims["client_id"].(string)
		audience = jwt.ClaimStrings{client}
	}

	if err != nil || !slices.Contains(audience, p.clientID) {
		return nil, errors.New("invalid token: it is for another client")
	}

	return claims, nil
}

// parse is Verify for a token of any client.
func (p *Pool) parse(token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}

	_, err := jwt.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != p.kid {
			return nil, errors.New("the key is not the pool's")
		}

		return &p.key.PublicKey, nil
	},
		jwt.WithValidMethods([]string{"RS256"}),
		jwt.WithTimeFunc(p.clock.Now),
		jwt.WithIssuer(p.issuer),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithJSONNumber(),
		jwt.WithStrictDecoding(),
	)
	if err != nil {
		return nil, fmt.Errorf("invalid token: %w", err)
	}

	return claims, nil
}

// ServeHTTP answers discovery and key at the issuer's path, and at the root hands
// out tokens, as SignIn does, and serves AWS's API of the pool; group may repeat or
// be left out, and so may name:
//
//	GET {issuer}/.well-known/openid-configuration
//	GET {issuer}/.well-known/jwks.json
//	GET /dev/token?user=u1&name=Una&group=admin    Tokens; not for pages of other sites
//	GET, POST {issuer}/oauth2/authorize            the sign-in page, which asks for no password
//	POST {issuer}/oauth2/token                     Tokens for a code, or for the refresh token of a native app
//	POST {issuer}/oauth2/revoke                    ends a refresh token
//	GET {issuer}/oauth2/userInfo                   the user of an access token
//	GET {issuer}/logout                            redirects
//	POST /                                         AdminCreateUser, AdminGetUser, AdminDeleteUser, ListUsers
func (p *Pool) ServeHTTP(w http.ResponseWriter, req *http.Request) { p.mux.ServeHTTP(w, req) }

func (p *Pool) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer":                                p.issuer,
		"jwks_uri":                              p.issuer + "/.well-known/jwks.json",
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"response_types_supported":              []string{"code", "token"},
		"subject_types_supported":               []string{"public"},
		"scopes_supported":                      []string{"openid", "email"},
	})
}

func (p *Pool) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"keys": []map[string]string{{
		"kty": "RSA",
		"alg": "RS256",
		"use": "sig",
		"kid": p.kid,
		"n":   base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()),
		"e":   base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

func (p *Pool) devToken(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()

	user := query.Get("user")
	if user == "" {
		http.Error(w, "missing parameter user: use ?user=u1, optionally with &group=admin", http.StatusBadRequest)
		return
	}

	defer p.clock.Work()()

	tokens, err := p.SignIn(req.Context(), user, query.Get("name"), query["group"])
	if r, ok := errors.AsType[*refusal](err); ok {
		http.Error(w, r.Error(), http.StatusBadRequest)
		return
	}

	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	w.Header().Set("Cache-Control", "no-store")
	answer(w, tokens)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
