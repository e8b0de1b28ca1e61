package session_test

import (
	"net/http/httptest"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
)

// TestBrowser: the token of a request is in any of its Cookie headers, and nowhere else.
func TestBrowser(t *testing.T) {
	t.Parallel()

	token, _ := session.New()

	var b session.Browser // one for all requests: what an earlier one had is forgotten

	for _, c := range []struct {
		name    string
		headers [][2]string
		want    string
	}{
		{"a cookie", [][2]string{{"Cookie", "__Host-club_session=" + token}}, token},
		{"none", nil, ""},
		{"in a second header", [][2]string{{"Cookie", "a=1"}, {"Cookie", "b=2; __Host-club_session=" + token}}, token},
		{"a cookie of another name", [][2]string{{"Cookie", "other_session=" + token}}, ""},
		{"another header", [][2]string{{"X-Cookie", "__Host-club_session=" + token}, {"Authorization", "__Host-club_session=" + token}}, ""},
		{"after a header that is no cookie", [][2]string{{"Cookie", "@"}, {"Cookie", "__Host-club_session=" + token}}, token},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		for _, h := range c.headers {
			r.Header.Add(h[0], h[1])
		}

		if errs := b.Resolve(humago.NewContext(&huma.Operation{}, r, httptest.NewRecorder())); errs != nil {
			t.Errorf("%s: %v", c.name, errs)
		}

		if got := b.Token(cookie); got != c.want {
			t.Errorf("%s: the token is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRefusalsOfASession are what a page decides by.
func TestRefusalsOfASession(t *testing.T) {
	t.Parallel()

	want := []problem.Error{
		{Kind: problem.Unauthenticated, Code: "missing_session", Text: "sign in first"},
		{Kind: problem.Unauthenticated, Code: "invalid_session", Text: "the session has ended: sign in again"},
		{Kind: problem.Denied, Code: "wrong_origin", Text: "this request must come from a page of the app"},
		{Kind: problem.Unauthenticated, Code: "invalid_token", Text: "the token is not valid here, or has expired: refresh it, or sign in again"},
		{Kind: problem.Unauthenticated, Code: "two_credentials", Text: "send the cookie of a session or a bearer token, not both"},
	}
	if diff := cmp.Diff(want, []problem.Error{*session.ErrMissing, *session.ErrInvalid, *session.ErrOrigin, *session.ErrToken, *session.ErrBoth}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
