package session_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
)

var (
	cookie = session.Cookie{Name: "club_session", Lifetime: 24 * time.Hour}
	noon   = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
)

// request is one with cookies.
func request(method, origin string, cookies ...string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{Cookies: cookies, Headers: map[string]string{}}

	e.RequestContext.HTTP.Method = method
	if origin != "" {
		e.Headers["origin"] = origin
	}

	return e
}

// TestCookiesAreOfTheHost: no other host of the site, such as one that shows what users upload, can set a
// cookie that signs a browser in to another account (RFC 6265bis, 4.1.3.2).
func TestCookiesAreOfTheHost(t *testing.T) {
	t.Parallel()

	token, _ := session.New()
	header := cookie.Set(token)

	for _, part := range []string{"__Host-club_session=" + token + "; Path=/;", "Secure"} {
		if !strings.Contains(header, part) || strings.Contains(header, "Domain") {
			t.Errorf("the cookie is %s, want one with %s", header, part)
		}
	}

	for text, want := range map[string]string{"__Host-club_session=" + token: token, "club_session=" + token: ""} {
		if got := cookie.Token([]string{text}); got != want {
			t.Errorf("%s has the token %q, want %q", text, got, want)
		}
	}
}

// TestWriteWithoutAnOriginIsRefused, also where no origin is known.
func TestWriteWithoutAnOriginIsRefused(t *testing.T) {
	t.Parallel()

	token, _ := session.New()

	for _, origins := range [][]string{nil, {""}} {
		s := session.Sessions{
			Cookie:  cookie,
			Origins: origins,
			Now:     func() time.Time { return noon },
			Find: func(context.Context, string) (session.Session, bool, error) {
				return session.Session{UserID: "ann", Expires: noon.Add(time.Second)}, true, nil
			},
		}
		if _, err := s.Identify(t.Context(), request("POST", "", "__Host-club_session="+token)); err != session.ErrOrigin {
			t.Errorf("with the origins %q: got %v", origins, err)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()

	token, id := session.New()
	late, lateID := session.New()
	unknown, _ := session.New()
	broken, brokenID := session.New()
	s := session.Sessions{
		Cookie: cookie, Origins: []string{"https://app.example.com"}, Now: func() time.Time { return noon },
		Find: func(_ context.Context, of string) (session.Session, bool, error) {
			switch of {
			case id:
				return session.Session{UserID: "ann", Expires: noon.Add(time.Second)}, true, nil
			case lateID:
				return session.Session{UserID: "ann", Expires: noon}, true, nil
			case brokenID:
				return session.Session{}, false, problem.New(problem.Unavailable, "", "busy")
			}

			return session.Session{}, false, nil
		},
	}

	const app = "https://app.example.com"
	for name, c := range map[string]struct {
		e    events.APIGatewayV2HTTPRequest
		user string
		err  error
	}{
		"a read":                            {request("GET", "", "__Host-club_session="+token), "ann", nil},
		"a read of the head":                {request("HEAD", "", "__Host-club_session="+token), "ann", nil},
		"a read of another page":            {request("GET", "https://evil.example", "__Host-club_session="+token), "", session.ErrOrigin},
		"a read of the app":                 {request("GET", app, "__Host-club_session="+token), "ann", nil},
		"a write of the app":                {request("POST", app, "__Host-club_session="+token), "ann", nil},
		"among others":                      {request("GET", "", "a=1", "__Host-club_session="+token, "z=2"), "ann", nil},
		"in one line with others":           {request("GET", "", "a=1; __Host-club_session="+token), "ann", nil},
		"a second of the name is the token": {request("GET", "", "__Host-club_session=x", "__Host-club_session="+token), "ann", nil},
		"a write of another page":           {request("POST", "https://evil.example", "__Host-club_session="+token), "", session.ErrOrigin},
		"a write of a page with our name": {request("DELETE", "https://app.example.com.evil.example", "__Host-club_session="+token),
			"", session.ErrOrigin},
		"a write without an origin":           {request("PATCH", "", "__Host-club_session="+token), "", session.ErrOrigin},
		"a write of a page without an origin": {request("PUT", "null", "__Host-club_session="+token), "", session.ErrOrigin},
		"no cookie":                           {request("GET", ""), "", session.ErrMissing},
		"a cookie of another name":            {request("GET", "", "session="+token), "", session.ErrMissing},
		"no token":                            {request("GET", "", "__Host-club_session="), "", session.ErrMissing},
		"a short token":                       {request("GET", "", "__Host-club_session="+token[:42]), "", session.ErrMissing},
		"unknown":                             {request("GET", "", "__Host-club_session="+unknown), "", session.ErrInvalid},
		"its id in place of the token":        {request("GET", "", "__Host-club_session="+id), "", session.ErrInvalid},
		"expired this second":                 {request("GET", "", "__Host-club_session="+late), "", session.ErrInvalid},
	} {
		if user, err := s.Identify(t.Context(), c.e); user != c.user || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: got %q, %v, want %q, %v", name, user, err, c.user, c.err)
		}
	}

	if _, err := s.Identify(t.Context(), request("GET", "", "__Host-club_session="+broken)); problem.Of(err) != problem.Unavailable {
		t.Errorf("the table is busy: got %v", err)
	}
}

func TestCookie(t *testing.T) {
	t.Parallel()

	token, id := session.New()
	if again, other := session.New(); again == token || other == id {
		t.Errorf("two tokens are equal")
	}

	if session.ID(token) != id || strings.Contains(id, token) || len(token) != 43 {
		t.Errorf("the token %d bytes, its id %s", len(token), id)
	}

	if got, want := cookie.Set(token), "__Host-club_session="+token+"; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	if got, want := cookie.Clear(), "__Host-club_session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	if got, err := http.ParseSetCookie(cookie.Set(token)); err != nil || cookie.Token([]string{got.Name + "=" + got.Value}) != token {
		t.Errorf("a browser sends back %v, %v", got, err)
	}
}

// FuzzToken: whatever a client sends, a token is one that New can have made.
func FuzzToken(f *testing.F) {
	token, _ := session.New()
	f.Add("__Host-club_session=" + token)
	f.Add(`__Host-club_session="` + token + `"; a=b`)
	f.Fuzz(func(t *testing.T, line string) {
		if got := cookie.Token([]string{line}); got != "" && (len(got) != 43 || !strings.Contains(line, got)) {
			t.Errorf("%q holds the token %q", line, got)
		}
	})
}
