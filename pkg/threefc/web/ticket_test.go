package web_test

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/web"
)

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

const oldKey, newKey = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"

func signer(t *testing.T, keys string, now time.Time) web.Signer {
	t.Helper()

	s, err := web.NewSigner(context.Background(), app.Env{
		Stage: spec.Local, Setting: func(string) string { return keys }, Clock: app.Clock{Now: func() time.Time { return now }},
	})
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// TestTicket: a ticket is for one purpose, until it expires, and any change of it is refused.
func TestTicket(t *testing.T) {
	t.Parallel()

	s := signer(t, oldKey, noon)
	good := s.Sign("answer", noon.Add(time.Hour), "player", "session")

	if ids, err := s.Read("answer", good, 2); err != nil || !slices.Equal(ids, []string{"player", "session"}) {
		t.Fatalf("got %q, %v", ids, err)
	}

	if ids, err := signer(t, newKey+","+oldKey, noon).Read("answer", good, 2); err != nil {
		t.Errorf("after a new key: got %q, %v", ids, err)
	}

	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}

	for i := range raw {
		changed := slices.Clone(raw)
		changed[i] ^= 1

		if ids, err := s.Read("answer", base64.RawURLEncoding.EncodeToString(changed), 2); !errors.Is(err, web.ErrTicket) {
			t.Errorf("byte %d changed: got %q, %v", i, ids, err)
		}
	}

	for what, c := range map[string]struct {
		by      web.Signer
		purpose string
		ticket  string
		ids     int
	}{
		"for another purpose":   {s, "preferences", good, 2},
		"with fewer ids":        {s, "answer", good, 1},
		"with more ids":         {s, "answer", good, 3},
		"that has expired":      {signer(t, oldKey, noon.Add(time.Hour)), "answer", good, 2},
		"of a key that is gone": {signer(t, newKey, noon), "answer", good, 2},
		"that is empty":         {s, "answer", "", 2},
		"that is cut":           {s, "answer", good[:20], 2},
		"in another alphabet":   {s, "answer", strings.Repeat("+", 80), 2},
	} {
		if ids, err := c.by.Read(c.purpose, c.ticket, c.ids); !errors.Is(err, web.ErrTicket) {
			t.Errorf("a ticket %s: got %q, %v", what, ids, err)
		}
	}
}

// TestLinkKeys: a stage without a key, or with a short one, does not start.
func TestLinkKeys(t *testing.T) {
	t.Parallel()

	for _, keys := range []string{"", "short", oldKey + ",", oldKey + "," + newKey[:31]} {
		env := app.Env{Stage: spec.Local, Setting: func(string) string { return keys }}
		if _, err := web.NewSigner(context.Background(), env); err == nil || strings.Contains(err.Error(), oldKey) {
			t.Errorf("%q: got %v", keys, err)
		}
	}
}

// TestLinks: a path may have any text, and no text leaves the path.
func TestLinks(t *testing.T) {
	t.Parallel()

	l := web.NewLinks(app.Env{Setting: func(string) string { return "https://api.test:8443/threefc" }})
	for got, want := range map[string]string{
		l.To("l", "parkside", "spring"): "https://api.test:8443/threefc/l/parkside/spring",
		l.To("l", "a/b?c#d"):            "https://api.test:8443/threefc/l/a%2Fb%3Fc%23d",
		l.To():                          "https://api.test:8443/threefc",
		l.Origin():                      "https://api.test:8443",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
