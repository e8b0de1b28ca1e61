package sportmonks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const token = "s3cret+token/=="

// serve returns a client of a server that answers with h.
func serve(t *testing.T, h http.HandlerFunc) *Client {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Open(s.URL+"/api/v2.0/", token, s.Client())
}

func TestClientReadsEachResource(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("api_token") != token {
			t.Errorf("%s: no token", r.URL.Path)
		}
		switch r.URL.Path {
		case "/api/v2.0/livescores":
			if !strings.Contains(q.Get("include"), "balls,runs") {
				t.Errorf("includes %q", q.Get("include"))
			}
			io.WriteString(w, `{"data":[{"id":1},{"id":2}]}`)
		case "/api/v2.0/fixtures/7":
			io.WriteString(w, `{"data":{"id":7,"status":"NS"}}`)
		case "/api/v2.0/fixtures":
			if q.Get("filter[starts_between]") != "2026-10-09T00:00:00,2026-10-10T00:00:00" {
				t.Errorf("filter %q", q.Get("filter[starts_between]"))
			}
			page := q.Get("page") // links.next drops the query, so pages are counted from meta
			fmt.Fprintf(w, `{"data":[{"id":%s1},{"x":1},{"id":%[1]s2}],"links":{"next":"?page=9"},"meta":{"last_page":3}}`, page)
		case "/api/v2.0/leagues":
			io.WriteString(w, `{"meta":{"data":[7]},"data":[{"id":3,"name":"T20","season":{"id":5}}],"data":[{"id":4}]}`)
		case "/api/v2.0/teams":
			io.WriteString(w, `{"data":[{"id":1,"name":"Pakistan","national_team":true}]}`)
		default:
			t.Errorf("path %s", r.URL.Path)
		}
	})
	ctx := t.Context()
	if body, err := c.Livescores(ctx); err != nil || len(body) == 0 {
		t.Errorf("livescores: %s %v", body, err)
	}
	if f, err := c.Fixture(ctx, "7"); err != nil || f.ID != 7 {
		t.Errorf("fixture: %+v %v", f, err)
	}
	day := time.Date(2026, 10, 9, 0, 0, 0, 0, time.UTC)
	var ids []int
	broken := 0
	for f, err := range c.Fixtures(ctx, day, day.AddDate(0, 0, 1)) {
		if err != nil {
			broken++
			continue
		}
		ids = append(ids, f.ID)
	}
	if fmt.Sprint(ids, broken) != "[11 12 21 22 31 32] 3" {
		t.Errorf("fixtures: %v, %d broken", ids, broken)
	}
	for f := range c.Fixtures(ctx, day, day.AddDate(0, 0, 1)) {
		if f.ID != 11 {
			t.Error("the sequence went on after a break")
		}
		break
	}
	if l, err := c.Leagues(ctx); err != nil || len(l) != 1 || l[0].Season.ID != 5 {
		t.Errorf("leagues: %+v %v", l, err)
	}
	if l, err := c.Teams(ctx); err != nil || len(l) != 1 || !l[0].National {
		t.Errorf("teams: %+v %v", l, err)
	}
}

func TestClientErrorsHaveAKind(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		kind   Kind
		status int
		wait   time.Duration
		text   string
	}{
		{"limit", status(429, `{"message":"Too Many Attempts."}`, "Retry-After", "90"), Limited, 429, 90 * time.Second, "Too Many Attempts"},
		{"limit until", status(429, ``, "Retry-After", date.Add(time.Minute).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)), Limited, 429, time.Minute, ""},
		{"limit of a day", status(429, ``, "Retry-After", "86400"), Limited, 429, time.Hour, ""},
		{"limit of a day until", status(429, ``, "Retry-After", date.AddDate(0, 0, 1).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)), Limited, 429, time.Hour, ""},
		{"limit that has passed", status(429, ``, "Retry-After", "-1"), Limited, 429, 0, ""},
		{"limit without a time", status(429, ``, "Retry-After", "soon"), Limited, 429, 0, ""},
		{"token", status(401, `{"message":{"message":"Unauthenticated `+token+`","code":1}}`), Denied, 401, 0, "Unauthenticated [token]"},
		{"plan", status(403, `<html>`), Denied, 403, 0, ""},
		{"gone", status(404, `{"error":"record not found"}`), NotFound, 404, 0, "record not found"},
		{"malformed request", status(400, `{"message":"bad include"}`), Invalid, 400, 0, "bad include"},
		{"down", status(503, `<html>`), Unavailable, 503, 0, ""},
		{"redirect", status(302, ``, "Location", "https://example.com/"), Malformed, 302, 0, ""},
		{"html", status(200, `<html>`), Malformed, 0, 0, "<html>"},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"data":{"id":7`)
		}, Malformed, 200, 0, "cut short"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				w.Write(make([]byte, 1<<20))
			}
		}, Malformed, 200, 0, "over 2 MB"},
		{"connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unavailable, 0, 0, ""},
		{"two", status(200, `{"data":[{"id":7},{"id":8}]}`), Malformed, 0, 0, "not one fixture"},
		{"no id", status(200, `{"data":{}}`), Malformed, 0, 0, "no id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, c.answer)
			client.max = 2 << 20
			_, err := client.Fixture(t.Context(), "7")
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != c.kind || e.Status != c.status || e.RetryAfter != c.wait || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %+v (%v)", e, err)
			}
			wantNoToken(t, err)
		})
	}
}

// TestCutBodyIsReturned: what was received of a body before the connection broke, or before
// the client's timeout, comes with the error.
func TestCutBodyIsReturned(t *testing.T) {
	t.Parallel()
	const part = `{"data":[{"id":7},{"id":8`
	for name, c := range map[string]struct {
		err  error
		kind Kind
	}{
		"cut short":  {io.ErrUnexpectedEOF, Malformed},
		"timed out":  {context.DeadlineExceeded, Unavailable},
		"over limit": {nil, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body io.Reader = io.MultiReader(strings.NewReader(part), iotest.ErrReader(c.err))
			if c.err == nil {
				body = io.MultiReader(strings.NewReader(part), spaces{})
			}
			client := Open(BaseURL, token, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(body), ContentLength: -1}, nil
			})})
			client.max = 1 << 20
			got, err := client.Livescores(t.Context())
			if e, ok := errors.AsType[*Error](err); !ok || e.Kind != c.kind || !strings.HasPrefix(string(got), part) {
				t.Errorf("got %.40q, %v; want the part and an error of kind %s", got, err, c.kind)
			}
		})
	}
}

// spaces is an endless body of spaces.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestRefusedListKeepsItsKind: a list that the provider refuses is not a malformed one.
func TestRefusedListKeepsItsKind(t *testing.T) {
	t.Parallel()
	c := serve(t, status(429, `{"message":"Too Many Attempts."}`, "Retry-After", "90"))
	for name, read := range map[string]func() error{
		"leagues": func() error { _, err := c.Leagues(t.Context()); return err },
		"teams":   func() error { _, err := c.Teams(t.Context()); return err },
	} {
		if e, ok := errors.AsType[*Error](read()); !ok || e.Kind != Limited || e.RetryAfter != 90*time.Second {
			t.Errorf("%s: got %+v, want Limited for 90 s", name, e)
		}
	}
}

// TestPagesOfAList: a list ends with the last page that its meta names, is one page without
// meta, and ends with an error where the meta cannot be read.
func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]string{
		``:                          "1 page",
		`,"meta":{}`:                "1 page",
		`,"meta":{"last_page":0}`:   "1 page",
		`,"meta":{"last_page":1}`:   "1 page",
		`,"meta":{"last_page":"2"}`: "2 pages",
		`,"meta":{"last_page":100}`: "100 pages",
		`,"meta":{"last_page":101}`: "100 pages",
		`,"meta":{"last_page":x}`:   "1 page, then malformed",
		`,"meta":{"last_page":2]`:   "1 page, then malformed",
		`,"meta":{"a":[],"b":{"last_page":9},"last_page":3}`: "3 pages",
	} {
		asked := 0
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if asked++; r.URL.Query().Get("page") != fmt.Sprint(asked) {
				t.Errorf("%s: request %d is for page %s", meta, asked, r.URL.Query().Get("page"))
			}
			io.WriteString(w, `{"data":[{"id":7}]`+meta+`}`)
		})
		pages, last := 0, ""
		for _, err := range c.Fixtures(t.Context(), time.Time{}, time.Time{}) {
			if e, ok := errors.AsType[*Error](err); ok {
				if last = ", then malformed"; e.Kind != Malformed {
					last = ", then " + e.Error()
				}
				continue
			}
			pages++
		}
		got := fmt.Sprintf("%d pages%s", pages, last)
		if pages == 1 {
			got = "1 page" + last
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", meta, got, want)
		}
	}
}

// TestErrorsHideTheTokenInAnyForm has the transport and the provider repeat the token, as
// it is and as a URL has it.
func TestErrorsHideTheTokenInAnyForm(t *testing.T) {
	t.Parallel()
	for _, form := range []string{token, url.QueryEscape(token)} {
		broken := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route for " + form) })}
		_, unreached := Open(BaseURL, token, broken).Livescores(t.Context())
		_, denied := serve(t, status(403, `{"message":"`+form+` is not valid"}`)).Livescores(t.Context())
		for err, want := range map[error]string{unreached: "no route for [token]", denied: "[token] is not valid"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q in it", err, want)
			}
			wantNoToken(t, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// status returns a handler that answers with code and body.
func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// wantNoToken fails the test if an error, or one that it wraps, contains the token.
func wantNoToken(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if s := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(s, "s3cret") || strings.Contains(s, "api_token") {
			t.Fatalf("the error shows the token: %s", s)
		}
	}
}

// TestUnreachableErrorsHideTheToken: the errors of net/http contain the whole URL.
func TestUnreachableErrorsHideTheToken(t *testing.T) {
	t.Parallel()
	c := serve(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Livescores(ctx)
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Unavailable || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	wantNoToken(t, err)
	for _, base := range []string{"http://127.0.0.1:1", "http://bad host", "ftp://x"} {
		_, err := Open(base, token, http.DefaultClient).Livescores(t.Context())
		if err == nil {
			t.Fatal("no error")
		}
		wantNoToken(t, err)
	}
}
