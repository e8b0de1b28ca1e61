package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/infra/sim/apns"
)

func newProvider(t *testing.T, key *ecdsa.PrivateKey) *provider {
	t.Helper()
	return &provider{key: key, keyID: keyID, teamID: team, step: tokenStep}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return key
}

func TestTokenIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	key := newKey(t)

	var before string

	for _, at := range []time.Time{start, start.Add(7 * time.Minute)} {
		bearer, err := newProvider(t, key).token(at)
		if err != nil {
			t.Fatal(err)
		}

		if before != "" && bearer != before {
			t.Error("two processes made two tokens")
		}

		before = bearer
	}

	parsed, err := jwt.Parse(before, func(*jwt.Token) (any, error) { return &key.PublicKey, nil }, jwt.WithoutClaimsValidation())
	if err != nil || parsed.Header["kid"] != keyID || parsed.Method.Alg() != "ES256" {
		t.Fatalf("%v: %v", parsed, err)
	}

	issued, err := parsed.Claims.GetIssuedAt()
	if err != nil || issued.Unix()%tokenStep != 0 || issued.After(start) || start.Sub(issued.Time) >= tokenStep*time.Second {
		t.Errorf("issued at %v, %v", issued, err)
	}
}

func TestTokenIsNewEveryFortyMinutes(t *testing.T) {
	t.Parallel()
	p := newProvider(t, newKey(t))

	var all []string

	for at := start; at.Before(start.Add(4 * time.Hour)); at = at.Add(time.Minute) {
		bearer, err := p.token(at)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, bearer)
	}

	if n := len(slices.Compact(all)); n != 7 && n != 6 {
		t.Errorf("%d tokens in four hours", n)
	}
}

func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t, newKey(t))
	at := time.Unix(tokenStep*740_000+tokenRenew+60, 0)

	old, err := p.token(at)
	if err != nil {
		t.Fatal(err)
	}

	renewed := make([]string, 100)

	var all sync.WaitGroup
	for i := range renewed {
		all.Go(func() { renewed[i], _ = p.renew(old, at) })
	}

	all.Wait()

	if n := len(slices.Compact(renewed)); n != 1 || renewed[0] == old {
		t.Errorf("%d tokens for 100 askers, same as before: %v", n, renewed[0] == old)
	}
}

// TestOldTokenIsNotRenewed: a run that still has the token before gets the present one.
func TestOldTokenIsNotRenewed(t *testing.T) {
	t.Parallel()
	p := newProvider(t, newKey(t))
	at := time.Unix(tokenStep*740_000, 0)
	tokenAt := func(later time.Duration) string {
		bearer, err := p.token(at.Add(later))
		if err != nil {
			t.Fatal(err)
		}

		return bearer
	}
	old, present := tokenAt(0), tokenAt(tokenStep*time.Second)

	got, err := p.renew(old, at.Add((tokenStep+tokenRenew)*time.Second))
	if err != nil || got != present || old == present {
		t.Errorf("renewed to another token than the present one: %v", err)
	}

	if tokenAt((tokenStep+tokenRenew)*time.Second) != present {
		t.Error("the present token was replaced 20 minutes early")
	}
}

// APNs' clock runs ahead of ours, so that it calls a token expired which we do not.
func TestSkewedClocks(t *testing.T) {
	t.Parallel()
	server, s := apple(t, func(c *Config, _ *apns.Config) {
		c.Now = func() time.Time { return start.Add(-31 * time.Minute) }
	})

	_, counts, err := send(t, s, update(t, 1), tokens(500))
	if err != nil || counts.Delivered != 500 {
		t.Fatalf("%+v, %v", counts, err)
	}

	c := server.Counts()
	if c["TooManyProviderTokenUpdates"] != 0 || c["ExpiredProviderToken"] == 0 {
		t.Errorf("%v", c)
	}
}

// TestWrongKeySendsNothing: a key that cannot sign a token fails each request, before it is
// sent.
func TestWrongKeySendsNothing(t *testing.T) {
	t.Parallel()
	server, s := apple(t)

	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	s.provider.key = key
	_, _, sent := send(t, s, alert(t), tokens(1))
	_, created := s.CreateChannel(t.Context(), KeepNothing)

	_, listed := s.Channels(t.Context())
	for name, err := range map[string]error{
		"a push":      sent,
		"a channel":   created,
		"channels":    listed,
		"Ready":       s.Ready(t.Context()),
		"a broadcast": s.Broadcast(t.Context(), "c1", update(t, 1)),
	} {
		if want := "push: the provider token cannot be signed with this key"; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}

	if n := server.Counts(); len(n) != 0 {
		t.Errorf("Apple has answered %v", n)
	}
}
