package session_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
)

// TestBearer: a native app needs no origin, a token is no cookie and a cookie no token, and both together are
// refused, whosever they are.
func TestBearer(t *testing.T) {
	t.Parallel()

	web, webID := session.New()
	phone, phoneID := session.New()
	late, lateID := session.New()
	s := session.Sessions{
		Cookie: cookie, Origins: []string{"https://app.example.com"}, Now: func() time.Time { return noon },
		Find: func(_ context.Context, of string) (session.Session, bool, error) {
			found, ok := map[string]session.Session{
				webID:   {UserID: "ann", Expires: noon.Add(time.Second)},
				phoneID: {UserID: "ann", Expires: noon.Add(time.Second), Native: true},
				lateID:  {UserID: "ann", Expires: noon, Native: true},
			}[of]

			return found, ok, nil
		},
	}
	none := s
	s.Bearer = s.NativeUser

	const name = "__Host-club_session="

	for what, c := range map[string]struct {
		by                            session.Sessions
		method, origin, header, token string // token is that of the cookie
		user                          string
		err                           error
	}{
		"a read":                            {s, "GET", "", "Bearer " + phone, "", "ann", nil},
		"a write without an origin":         {s, "POST", "", "Bearer " + phone, "", "ann", nil},
		"a write of any origin":             {s, "POST", "https://evil.example", "Bearer " + phone, "", "ann", nil},
		"the scheme in another case":        {s, "GET", "", "bearer  " + phone, "", "ann", nil},
		"beside a cookie of another name":   {s, "GET", "", "Bearer " + phone, "x", "ann", nil},
		"expired this second":               {s, "GET", "", "Bearer " + late, "", "", session.ErrToken},
		"the token of a cookie":             {s, "GET", "", "Bearer " + web, "", "", session.ErrToken},
		"the token of a cookie, in a write": {s, "POST", "https://app.example.com", "Bearer " + web, "", "", session.ErrToken},
		"its id":                            {s, "GET", "", "Bearer " + phoneID, "", "", session.ErrToken},
		"two tokens":                        {s, "GET", "", "Bearer " + phone + ",Bearer " + phone, "", "", session.ErrToken},
		"no token":                          {s, "GET", "", "Bearer", "", "", session.ErrToken},
		"no token after a space":            {s, "GET", "", "Bearer ", "", "", session.ErrToken},
		"a room without native apps":        {none, "GET", "", "Bearer " + phone, "", "", session.ErrToken},
		"as a cookie":                       {s, "GET", "", "", name + phone, "", session.ErrInvalid},
		"another scheme":                    {s, "GET", "", "Basic " + phone, "", "", session.ErrMissing},
		"without a scheme":                  {s, "GET", "", phone, "", "", session.ErrMissing},
		"another scheme beside a cookie":    {s, "GET", "", "Basic YTpi", name + web, "ann", nil},
		"both":                              {s, "GET", "", "Bearer " + phone, name + web, "", session.ErrBoth},
		"both, of the app":                  {s, "POST", "https://app.example.com", "Bearer " + phone, name + web, "", session.ErrBoth},
		"both, without a token":             {s, "GET", "", "Bearer", name + web, "", session.ErrBoth},
		"both, in a room without apps":      {none, "GET", "", "Bearer x", name + web, "", session.ErrBoth},
	} {
		e := request(c.method, c.origin)
		if c.header != "" {
			e.Headers["authorization"] = c.header
		}

		if c.token != "" {
			e.Cookies = []string{c.token}
		}

		if user, err := c.by.Identify(t.Context(), e); user != c.user || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: got %q, %v, want %q, %v", what, user, err, c.user, c.err)
		}
	}

	s.Bearer = func(context.Context, string) (string, error) { return "", problem.New(problem.Unavailable, "", "down") }
	e := request("GET", "")
	e.Headers["authorization"] = "Bearer " + phone

	if _, err := s.Identify(t.Context(), e); problem.Of(err) != problem.Unavailable {
		t.Errorf("the pool is down: got %v", err)
	}
}

// TestCredential is the token by which Identify has known the caller.
func TestCredential(t *testing.T) {
	t.Parallel()

	token, _ := session.New()

	var b session.Browser // one for all requests: what an earlier one had is forgotten

	for _, c := range []struct{ authorization, cookie, bearer, credential string }{
		{"Bearer abc", "", "abc", "abc"},
		{"", "__Host-club_session=" + token, "", token},
		{"Basic abc", "__Host-club_session=" + token, "", token},
		{"", "", "", ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", c.authorization)
		r.Header.Set("Cookie", c.cookie)

		b.Resolve(humago.NewContext(&huma.Operation{}, r, httptest.NewRecorder()))

		if b.Bearer() != c.bearer || b.Credential(cookie) != c.credential {
			t.Errorf("%q and %q: the credential is %q, %q", c.authorization, c.cookie, b.Bearer(), b.Credential(cookie))
		}
	}
}
