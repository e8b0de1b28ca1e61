package bearer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/pkg/kit/bearer"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
)

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

const issuer = "https://pool.test/pool"

// keys are two keys, which take a while to make.
var keys = sync.OnceValue(func() (all [2]*rsa.PrivateKey) {
	for i := range all {
		var err error
		if all[i], err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			panic(err)
		}
	}

	return all
})

// pool is a user pool, in the process.
type pool struct {
	now      time.Time
	kids     map[string]*rsa.PrivateKey
	down     bool
	userInfo string
	status   int
	reads    int // of its keys
	asked    http.Header
}

func newPool() *pool {
	return &pool{now: noon, kids: map[string]*rsa.PrivateKey{"one": keys()[0]}, status: http.StatusOK}
}

func (p *pool) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.down {
		return nil, errors.New("connection refused")
	}

	out := httptest.NewRecorder()

	switch r.URL.String() {
	case issuer + "/.well-known/jwks.json":
		p.reads++

		set := []map[string]string{{"kty": "EC", "kid": "curve", "alg": "ES256", "use": "sig"}}

		for kid, key := range p.kids {
			set = append(set, map[string]string{
				"kty": "RSA", "alg": "RS256", "use": "sig", "kid": kid,
				"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
			})
		}

		out.WriteHeader(p.status)
		json.NewEncoder(out).Encode(map[string]any{"keys": set})
	case issuer + "/oauth2/userInfo":
		p.asked = r.Header
		out.WriteHeader(p.status)
		out.WriteString(p.userInfo)
	default:
		out.WriteHeader(http.StatusNotFound)
	}

	return out.Result(), nil
}

func (p *pool) verifier() *bearer.Verifier {
	return bearer.New(bearer.Config{
		Issuer: issuer, SignIn: issuer, Client: "app", Scopes: []string{"openid", "email"}, HTTP: &http.Client{Transport: p},
		Now: func() time.Time { return p.now },
	})
}

// token returns an access token with changes of its claims, signed by a key.
func token(t testing.TB, method jwt.SigningMethod, kid, key any, change jwt.MapClaims) string {
	t.Helper()

	c := jwt.MapClaims{
		"sub": "ann", "iss": issuer, "client_id": "app", "token_use": "access", "scope": "openid email", "exp": noon.Unix() + 60,
		"iat": noon.Unix() + 1, // by the clock of the pool
	}
	for name, value := range change {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}

	made := jwt.NewWithClaims(method, c)
	made.Header["kid"] = kid

	text, err := made.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}

	return text
}

// TestVerify: every claim counts, and the signature.
func TestVerify(t *testing.T) {
	t.Parallel()

	rs256, key := jwt.SigningMethodRS256, keys()[0]
	good := token(t, rs256, "one", key, nil)
	parts := strings.Split(good, ".")
	raised := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"eve","iss":"` + issuer +
		`","client_id":"app","token_use":"access","scope":"openid email","exp":99999999999}`))
	public := []byte(key.N.String())

	for name, c := range map[string]struct{ token, user string }{
		"valid":                         {good, "ann"},
		"in its last second":            {token(t, rs256, "one", key, jwt.MapClaims{"exp": noon.Unix() + 1}), "ann"},
		"with more scopes":              {token(t, rs256, "one", key, jwt.MapClaims{"scope": "phone email openid"}), "ann"},
		"expired":                       {token(t, rs256, "one", key, jwt.MapClaims{"exp": noon.Unix()}), ""},
		"without an end":                {token(t, rs256, "one", key, jwt.MapClaims{"exp": nil}), ""},
		"not valid yet":                 {token(t, rs256, "one", key, jwt.MapClaims{"nbf": noon.Unix() + 5}), ""},
		"of another pool":               {token(t, rs256, "one", key, jwt.MapClaims{"iss": issuer + "2"}), ""},
		"without an issuer":             {token(t, rs256, "one", key, jwt.MapClaims{"iss": nil}), ""},
		"of another client":             {token(t, rs256, "one", key, jwt.MapClaims{"client_id": "web"}), ""},
		"of another client, for ours":   {token(t, rs256, "one", key, jwt.MapClaims{"client_id": "web", "aud": "app"}), ""},
		"without a client":              {token(t, rs256, "one", key, jwt.MapClaims{"client_id": nil}), ""},
		"an ID token":                   {token(t, rs256, "one", key, jwt.MapClaims{"token_use": "id", "aud": "app"}), ""},
		"of no use":                     {token(t, rs256, "one", key, jwt.MapClaims{"token_use": nil}), ""},
		"without a subject":             {token(t, rs256, "one", key, jwt.MapClaims{"sub": ""}), ""},
		"without the page's scope":      {token(t, rs256, "one", key, jwt.MapClaims{"scope": "aws.cognito.signin.user.admin"}), ""},
		"without the scope of the mail": {token(t, rs256, "one", key, jwt.MapClaims{"scope": "openid"}), ""},
		"of another key by our name":    {token(t, rs256, "one", keys()[1], nil), ""},
		"of an unknown key":             {token(t, rs256, "two", keys()[1], nil), ""},
		"of a key without a name":       {token(t, rs256, nil, key, nil), ""},
		"of a key that is no RSA key":   {token(t, rs256, "curve", key, nil), ""},
		"by a secret":                   {token(t, jwt.SigningMethodHS256, "one", public, nil), ""},
		"by another algorithm":          {token(t, jwt.SigningMethodRS512, "one", key, nil), ""},
		"unsigned":                      {token(t, jwt.SigningMethodNone, "one", jwt.UnsafeAllowNoneSignatureType, nil), ""},
		"without its signature":         {parts[0] + "." + parts[1] + ".", ""},
		"with other claims":             {parts[0] + "." + raised + "." + parts[2], ""},
		"two parts":                     {parts[0] + "." + parts[1], ""},
		"a word":                        {"token", ""},
		"nothing":                       {"", ""},
	} {
		user, err := newPool().verifier().Verify(t.Context(), c.token)
		if user != c.user || (c.user == "") != errors.Is(err, session.ErrToken) {
			t.Errorf("a token %s: got %q, %v, want %q", name, user, err, c.user)
		}
	}
}

// TestRoomWithoutAnAppAcceptsNoToken: a token without a client is not of the client that is none.
func TestRoomWithoutAnAppAcceptsNoToken(t *testing.T) {
	t.Parallel()

	p := newPool()
	v := bearer.New(bearer.Config{Issuer: issuer, HTTP: &http.Client{Transport: p}, Now: func() time.Time { return noon }})

	got, err := v.Verify(t.Context(), token(t, jwt.SigningMethodRS256, "one", keys()[0], jwt.MapClaims{"client_id": ""}))
	if got != "" || !errors.Is(err, session.ErrToken) || p.reads > 0 {
		t.Errorf("got %q, %v, and %d reads of the keys", got, err, p.reads)
	}
}

// TestKeysAreReadOnce, again for a key that the pool has added, and not more than once a minute for keys of nobody.
func TestKeysAreReadOnce(t *testing.T) {
	t.Parallel()

	p := newPool()
	v := p.verifier()
	first := token(t, jwt.SigningMethodRS256, "one", keys()[0], jwt.MapClaims{"exp": noon.Add(time.Hour).Unix()})
	second := token(t, jwt.SigningMethodRS256, "two", keys()[1], jwt.MapClaims{"exp": noon.Add(time.Hour).Unix()})
	check := func(what, token string, want error, reads int) {
		t.Helper()

		if _, err := v.Verify(t.Context(), token); !errors.Is(err, want) || (want == nil) != (err == nil) || p.reads != reads {
			t.Errorf("%s: got %v after %d reads, want %v after %d", what, err, p.reads, want, reads)
		}
	}

	check("the first token", first, nil, 1)
	check("the next", first, nil, 1)
	p.kids["two"] = keys()[1]
	check("a new key in the same minute", second, session.ErrToken, 1)
	p.now = noon.Add(59 * time.Second)
	check("a second before it is over", second, session.ErrToken, 1)
	p.now = noon.Add(time.Minute)
	check("a minute later", second, nil, 2)
	check("the first key", first, nil, 2)
	check("a key of nobody", token(t, jwt.SigningMethodRS256, "three", keys()[1], nil), session.ErrToken, 2)
	p.now = noon.Add(2 * time.Minute)
	delete(p.kids, "one")
	check("a key of nobody, a minute later", token(t, jwt.SigningMethodRS256, "three", keys()[1], nil), session.ErrToken, 3)
	check("a key that the pool has withdrawn", first, session.ErrToken, 3)
}

// TestPoolIsDown: nobody is taken for signed out because the pool does not answer, and known keys suffice.
func TestPoolIsDown(t *testing.T) {
	t.Parallel()

	good := token(t, jwt.SigningMethodRS256, "one", keys()[0], nil)

	for _, break_ := range []func(*pool){func(p *pool) { p.down = true }, func(p *pool) { p.status = 503 }} {
		p := newPool()
		v := p.verifier()
		break_(p)

		if _, err := v.Verify(t.Context(), good); problem.Of(err) != problem.Unavailable {
			t.Errorf("the first token: got %v, want an Unavailable problem", err)
		}

		if _, err := v.Email(t.Context(), good, "ann"); problem.Of(err) != problem.Unavailable {
			t.Errorf("the address: got %v, want an Unavailable problem", err)
		}

		p.down, p.status = false, http.StatusOK

		if _, err := v.Verify(t.Context(), good); err != nil {
			t.Errorf("once it answers: %v", err)
		}

		break_(p)

		if _, err := v.Verify(t.Context(), good); err != nil {
			t.Errorf("with known keys: %v", err)
		}

		p.now = noon.Add(time.Minute - time.Second)

		for range 2 { // the second is not tried
			if _, err := v.Verify(t.Context(), token(t, jwt.SigningMethodRS256, "two", keys()[1], nil)); !errors.Is(err, session.ErrToken) {
				t.Errorf("with an unknown key: got %v", err)
			}
		}
	}
}

// TestEmail: the address is that of the user of the token, and verified.
func TestEmail(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		answer string
		want   string
		kind   problem.Kind // of the error
	}{
		"the user's":          {200, `{"sub":"ann","email":"ann@example.com","email_verified":"true","phone":"1"}`, "ann@example.com", 0},
		"as others send it":   {200, `{"sub":"ann","email":"ann@example.com","email_verified":true}`, "ann@example.com", 0},
		"another user's":      {200, `{"sub":"eve","email":"eve@example.com","email_verified":"true"}`, "", problem.Unauthenticated},
		"not verified":        {200, `{"sub":"ann","email":"ann@example.com","email_verified":"false"}`, "", problem.Unauthenticated},
		"none":                {200, `{"sub":"ann","email_verified":"true"}`, "", problem.Unauthenticated},
		"of a deleted user":   {401, ``, "", problem.Unauthenticated},
		"without JSON":        {200, `<html>`, "", problem.Unavailable},
		"of a pool in a rush": {429, ``, "", problem.Unavailable},
		"of a broken pool":    {500, ``, "", problem.Unavailable},
	} {
		p := newPool()
		p.status, p.userInfo = c.status, c.answer

		got, err := p.verifier().Email(t.Context(), "s3cret", "ann")
		if got != c.want || (err == nil) != (c.want != "") || err != nil && problem.Of(err) != c.kind {
			t.Errorf("an address %s: got %q, %v, want %q", name, got, err, c.want)
		}

		if p.asked.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("the pool was asked with %q", p.asked.Get("Authorization"))
		}

		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("an error has the token: %v", err)
		}
	}
}

// FuzzVerify: no text that is not signed by the pool is a token.
func FuzzVerify(f *testing.F) {
	v := newPool().verifier()
	f.Add(token(f, jwt.SigningMethodNone, "one", jwt.UnsafeAllowNoneSignatureType, nil))
	f.Add(token(f, jwt.SigningMethodRS256, "one", keys()[1], nil))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, text string) {
		if user, err := v.Verify(context.Background(), text); err == nil {
			t.Errorf("%q is a token of %q", text, user)
		}
	})
}
