package cognito

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 500_000_000, time.UTC)

const issuer = "http://localhost:8080/pool"

func newPool(t testing.TB, dir string) *Pool {
	t.Helper()

	p, err := New(clock.New(start, clock.Free), issuer+"/", "client", dir)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func TestClaims(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")

	tokens, err := p.Token("u1", []string{"admin", "scorers"}, start)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		token string
		want  map[string]string
	}{
		{tokens.Access, map[string]string{
			"token_use": "access",
			"client_id": "client",
			"scope":     "openid email",
			"username":  "u1",
			"version":   "2",
		}},
		{tokens.ID, map[string]string{
			"token_use":        "id",
			"aud":              "client",
			"cognito:username": "u1",
			"email":            "u1@example.com",
			"email_verified":   "true",
		}},
	} {
		claims, err := p.Verify(c.token)
		if err != nil {
			t.Fatal(err)
		}

		want := map[string]string{
			"sub": "u1", "iss": issuer, "cognito:groups": "[admin scorers]",
			"iat": fmt.Sprint(start.Unix()), "auth_time": fmt.Sprint(start.Unix()), "exp": fmt.Sprint(start.Unix() + 900),
		}
		for name, v := range c.want {
			want[name] = v
		}

		for name, v := range claims { // as a gateway shows them
			if text := fmt.Sprint(v); want[name] != text && !strings.HasSuffix(name, "jti") {
				t.Errorf("%s: %s is %q, want %q", c.want["token_use"], name, text, want[name])
			}

			delete(want, name)
		}

		if len(want) > 0 {
			t.Errorf("%s: missing %v", c.want["token_use"], want)
		}
	}

	plain, err := p.Token("u2", nil, start)
	if err != nil {
		t.Fatal(err)
	}

	if claims, err := p.Verify(plain.Access); err != nil || claims["cognito:groups"] != nil {
		t.Errorf("claims of a user without groups: %v, %v", claims, err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")

	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}

	claims := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{"sub": "u1", "iss": issuer, "client_id": "client", "iat": start.Unix(), "exp": start.Unix() + 60}
		change(c)

		return c
	}
	same := func(jwt.MapClaims) {}
	sign := func(m jwt.SigningMethod, kid string, key any, c jwt.MapClaims) string {
		tok := jwt.NewWithClaims(m, c)
		tok.Header["kid"] = kid

		s, err := tok.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}

		return s
	}
	mine := func(change func(jwt.MapClaims)) string {
		return sign(jwt.SigningMethodRS256, p.kid, p.key, claims(change))
	}
	parts := strings.Split(mine(same), ".")
	raised := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"u1","iss":"` + issuer +
		`","client_id":"client","exp":99999999999,"cognito:groups":["admin"]}`))

	public, err := json.Marshal(p.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct{ name, token, want string }{
		{"valid", mine(same), ""},
		{"audience instead of client", mine(func(c jwt.MapClaims) { delete(c, "client_id"); c["aud"] = []string{"other", "client"} }), ""},
		{"in its last second", mine(func(c jwt.MapClaims) { c["exp"] = start.Unix() + 1 }), ""},
		{"expired", mine(func(c jwt.MapClaims) { c["exp"] = start.Unix() }), "expired"},
		{"never expires", mine(func(c jwt.MapClaims) { delete(c, "exp") }), "exp claim is required"},
		{"not valid yet", mine(func(c jwt.MapClaims) { c["nbf"] = start.Unix() + 5 }), "not valid yet"},
		{"from the future", mine(func(c jwt.MapClaims) { c["iat"] = start.Unix() + 5 }), "used before issued"},
		{"another issuer", mine(func(c jwt.MapClaims) { c["iss"] = issuer + "2" }), "issuer"},
		{"no issuer", mine(func(c jwt.MapClaims) { delete(c, "iss") }), "iss claim is required"},
		{"another client", mine(func(c jwt.MapClaims) { c["client_id"] = "other" }), "another client"},
		{"no client", mine(func(c jwt.MapClaims) { delete(c, "client_id") }), "another client"},
		{"another audience beside our client", mine(func(c jwt.MapClaims) { c["aud"] = "other" }), "another client"},
		{"audience of a wrong type", mine(func(c jwt.MapClaims) { c["aud"] = 7 }), "another client"},
		{"another key", sign(jwt.SigningMethodRS256, p.kid, stranger, claims(same)), "signature is invalid"},
		{"another key id", sign(jwt.SigningMethodRS256, "other", p.key, claims(same)), "not the pool's"},
		{"another algorithm", sign(jwt.SigningMethodRS512, p.kid, p.key, claims(same)), "signing method RS512 is invalid"},
		{"no algorithm", sign(jwt.SigningMethodNone, p.kid, jwt.UnsafeAllowNoneSignatureType, claims(same)), "signing method none is invalid"},
		{"public key as secret", sign(jwt.SigningMethodHS256, p.kid, public, claims(same)), "signing method HS256 is invalid"},
		{"claims changed", parts[0] + "." + raised + "." + parts[2], "signature is invalid"},
		{"signature cut off", parts[0] + "." + parts[1] + ".", "signature is invalid"},
		{"no token", "", "malformed"},
		{"two parts", parts[0] + "." + parts[1], "malformed"},
	} {
		got, err := p.Verify(c.token)
		if c.want == "" && (err != nil || got["sub"] != "u1") {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}

		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want … %s", c.name, err, c.want)
		}

		if err != nil && len(parts[1]) > 0 && strings.Contains(err.Error(), parts[1]) {
			t.Errorf("%s: the error contains the token", c.name)
		}
	}
}

func TestTokensExpireBySimulatedTime(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")
	done := p.clock.Work()

	tokens, err := p.Token("u1", nil, p.clock.Now())
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		after time.Duration
		valid bool
	}{{TTL - time.Second, true}, {TTL, false}} {
		if err := p.clock.Sleep(t.Context(), start.Add(c.after)); err != nil {
			t.Fatal(err)
		}

		if _, err := p.Verify(tokens.ID); (err == nil) != c.valid {
			t.Errorf("after %v: %v", c.after, err)
		}
	}

	done()
}

func TestKeySurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "identity")

	tokens, err := newPool(t, dir).Token("u1", nil, start)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := newPool(t, dir).Verify(tokens.Access); err != nil {
		t.Error(err)
	}

	if _, err := newPool(t, "").Verify(tokens.Access); err == nil {
		t.Error("another pool takes the token")
	}

	file := filepath.Join(dir, "identity.pem")
	if info, err := os.Stat(file); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("key file: %v, %v", info.Mode(), err)
	}

	if err := os.WriteFile(file, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := New(clock.New(start, clock.Free), issuer, "client", dir); err == nil || !strings.Contains(err.Error(), "holds no RSA key") {
		t.Errorf("error %v", err)
	}

	if _, err := New(clock.New(start, clock.Free), "nowhere", "client", ""); err == nil {
		t.Error("an issuer that is no URL is taken")
	}
}

// A client that knows only the issuer finds the key and checks a token with it.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")
	get := func(url string, v any) {
		t.Helper()

		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", url, nil))

		if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
			t.Fatalf("%s: %d %s", url, w.Code, w.Body)
		}
	}

	var conf struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	get(issuer+"/.well-known/openid-configuration", &conf)

	if conf.Issuer != issuer {
		t.Errorf("issuer %s, want %s", conf.Issuer, issuer)
	}

	var jwks struct {
		Keys []struct{ Kty, Alg, Use, Kid, N, E string }
	}
	get(conf.JWKS, &jwks)

	if len(jwks.Keys) != 1 {
		t.Fatalf("keys %+v", jwks)
	}

	k := jwks.Keys[0]
	integer := func(s string) *big.Int {
		b, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}

		return new(big.Int).SetBytes(b)
	}
	key := &rsa.PublicKey{N: integer(k.N), E: int(integer(k.E).Int64())}

	var tokens Tokens
	get("http://localhost:8080/dev/token?user=u1&group=admin&group=scorers", &tokens)

	if tokens.Type != "Bearer" || tokens.ExpiresIn != 900 {
		t.Errorf("tokens %+v", tokens)
	}

	for _, token := range []string{tokens.Access, tokens.ID} {
		parsed, err := jwt.Parse(token, func(t *jwt.Token) (any, error) {
			if t.Header["kid"] != k.Kid || t.Header["alg"] != k.Alg {
				return nil, fmt.Errorf("header %v", t.Header)
			}

			return key, nil
		}, jwt.WithTimeFunc(p.clock.Now))
		if err != nil {
			t.Fatal(err)
		}

		if groups := parsed.Claims.(jwt.MapClaims)["cognito:groups"].([]any); !slices.Equal(groups, []any{"admin", "scorers"}) {
			t.Errorf("groups %v", groups)
		}
	}

	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "http://localhost/dev/token", 400},
		{"POST", "http://localhost/dev/token?user=u1", 405},
		{"GET", "http://localhost/elsewhere", 404},
		{"GET", "http://127.0.0.1:8080/dev/token?user=u1", 200},
		{"GET", "http://[::1]:8080/dev/token?user=u1", 200},
		{"GET", "http://192.168.1.7/dev/token?user=u1", 200},
		{"GET", "http://evil.example:8080/dev/token?user=u1", 403},
		{"GET", "http://localhost.evil.example/dev/token?user=u1", 403},
		{"GET", "http://127.0.0.1.evil.example/dev/token?user=u1", 403},
	} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))

		if w.Code != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.status)
		}
	}
}

// A token with a byte changed is never valid.
func FuzzVerify(f *testing.F) {
	p := newPool(f, "")

	tokens, err := p.Token("u1", []string{"admin"}, start)
	if err != nil {
		f.Fatal(err)
	}

	for _, at := range []int{0, 40, strings.LastIndex(tokens.Access, ".") - 1, len(tokens.Access) - 1} {
		f.Add(at, byte('A'))
		f.Add(at, tokens.Access[at]+1) // only an unused bit of the encoding may have changed
	}

	f.Fuzz(func(t *testing.T, at int, b byte) {
		token := []byte(tokens.Access)
		if at < 0 || at >= len(token) || token[at] == b {
			return
		}

		token[at] = b
		if claims, err := p.Verify(string(token)); err == nil {
			t.Errorf("a token changed at %d is valid: %v", at, claims)
		}
	})
}
