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
		{"limit until", status(429, ``, "Retry-After", date.Add(time.Minute).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)),
			Limited, 429, time.Minute, ""},
		{"limit of a day", status(429, ``, "Retry-After", "86400"), Limited, 429, time.Hour, ""},
		{"limit of a day until", status(429, ``, "Retry-After", date.AddDate(0, 0, 1).Format(http.TimeFormat), "Date",
			date.Format(http.TimeFormat)), Limited, 429, time.Hour, ""},
		{"limit until, without a date", status(429, ``, "Retry-After", date.Add(time.Minute).Format(http.TimeFormat), "Date", "soon"),
			Limited, 429, 0, ""},
		{"limit of an hour", status(429, ``, "Retry-After", "3600"), Limited, 429, time.Hour, ""},
		{"limit of less", status(429, ``, "Retry-After", "3599"), Limited, 429, 3599 * time.Second, ""},
		{"limit until before", status(429, ``, "Retry-After", date.Add(-time.Minute).Format(http.TimeFormat), "Date",
			date.Format(http.TimeFormat)), Limited, 429, 0, ""},
		{"the last refusal", status(499, ``), Invalid, 499, 0, ""},
		{"the first failure", status(500, ``), Unavailable, 500, 0, ""},
		{"nothing of it modified", status(399, ``), Malformed, 399, 0, ""},
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

// TestErrorTexts: the kind, the path, the status and the reason of each error.
func TestErrorTexts(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		code       int
		body, want string
	}{
		{404, `{"error":"record not found"}`, `not found: sportmonks: /fixtures/7: 404 "record not found"`},
		{503, `<html>`, `unavailable: sportmonks: /fixtures/7: 503`},
		{429, `{"message":{"code":1,"message":"Too Many Attempts."}}`, `limited: sportmonks: /fixtures/7: 429 "Too Many Attempts."`},
		{401, `{"status":{"message":"no"},"message":"Unauthenticated"}`, `denied: sportmonks: /fixtures/7: 401 "Unauthenticated"`},
		{400, `{"message":"` + long[:200] + `"}`, `invalid: sportmonks: /fixtures/7: 400 "` + long[:200] + `"`},
		{400, `{"message":"` + long + `"}`, `invalid: sportmonks: /fixtures/7: 400 "` + long[:200] + `"`},
		{400, `{"error":{"errors":["a"],"message":"b"},"x":1}`, `invalid: sportmonks: /fixtures/7: 400 "b"`},
		{400, `{"x":[1],"error":7}`, `invalid: sportmonks: /fixtures/7: 400 "7"`},
		{400, `{"x":{"message":"a"},"error":"b","message":"c"}`, `invalid: sportmonks: /fixtures/7: 400 "c"`},
		{400, `{"error":{"message":"a"},"message":"c"}`, `invalid: sportmonks: /fixtures/7: 400 "c"`},
		{200, `{"data":[]}`, `malformed: sportmonks: body is not one fixture: starts "{\"data\":[]}"`},
		{200, `<html>`, `malformed: sportmonks: body is cut short or is not JSON: starts "<html>"`},
		{200, `{"data":{"id":"x"}}`, `malformed: sportmonks: fixture has no id: starts "{\"id\":\"x\"}"`},
	} {
		_, err := serve(t, status(c.code, c.body)).Fixture(t.Context(), "7")

		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("%s: %v", c.body, err)
		}

		if got := e.Kind.String() + ": " + err.Error(); got != c.want {
			t.Errorf("%d %s:\n got %s\nwant %s", c.code, c.body, got, c.want)
		}
	}

	for body, want := range map[string]string{
		`[]`:         `sportmonks: body has no data: starts "[]"`,
		`{"meta":1}`: `sportmonks: body has no data: starts "{\"meta\":1}"`,
		`{"data":[`:  `sportmonks: body is cut short or is not JSON: starts "{\"data\":["`,
	} {
		if _, err := serve(t, status(200, body)).Leagues(t.Context()); err == nil || err.Error() != want {
			t.Errorf("leagues of %s: %v, want %s", body, err, want)
		}
	}

	_, err := Open("http://bad host", token, http.DefaultClient).Livescores(t.Context())
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Invalid ||
		err.Error() != "sportmonks: /livescores: the base URL is not a valid URL" {
		t.Errorf("a wrong base URL: %v", err)
	}

	broken := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	if _, err := Open(BaseURL, "", broken).Livescores(t.Context()); err == nil || err.Error() != "sportmonks: /livescores: unexpected EOF" {
		t.Errorf("a broken connection, and no token: %v", err)
	}
}

// TestRequests: the address and the query of each call. The connection is returned after it.
func TestRequests(t *testing.T) {
	t.Parallel()

	day := time.Date(2026, 10, 9, 12, 0, 0, 0, time.FixedZone("", 3600))

	for want, do := range map[string]func(c *Client) error{
		"/livescores?include=" + matchIncludes:     func(c *Client) error { _, err := c.Livescores(t.Context()); return err },
		"/fixtures/a%2Fb?include=" + matchIncludes: func(c *Client) error { _, err := c.Fixture(t.Context(), "a/b"); return err },
		"/leagues?include=season":                  func(c *Client) error { _, err := c.Leagues(t.Context()); return err },
		"/teams":                                   func(c *Client) error { _, err := c.Teams(t.Context()); return err },
		"/fixtures?filter[starts_between]=2026-10-09T11:00:00,2026-10-09T11:00:00&include=" + listIncludes +
			"&page=1&sort=starting_at": func(c *Client) error {
			for _, err := range c.Fixtures(t.Context(), day, day) {
				return err
			}

			return nil
		},
	} {
		var asked, accept string

		body := &closing{Reader: strings.NewReader(`{"data":[{"id":7}]}`)}

		c := Open(BaseURL+"/", token, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			q, _ := url.QueryUnescape(strings.Replace(r.URL.RawQuery, url.Values{"api_token": {token}}.Encode(), "", 1))
			asked, accept = r.URL.EscapedPath()+"?"+strings.TrimPrefix(q, "&"), r.Header.Get("Accept")

			return &http.Response{StatusCode: 200, Body: body, ContentLength: -1}, nil
		})})
		if err := do(c); err != nil {
			t.Errorf("%s: %v", want, err)
		}

		if got := strings.TrimSuffix(strings.TrimPrefix(asked, "/api/v2.0"), "?"); got != want || accept != "application/json" || !body.closed {
			t.Errorf("asked for %s as %q, body closed %t; want %s as JSON, and the body closed", got, accept, body.closed, want)
		}
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestLargestBody: a body of the limit is read, one of a byte more is refused.
func TestLargestBody(t *testing.T) {
	t.Parallel()

	for extra, want := range map[int]string{0: "", 1: "sportmonks: /livescores: body is over 1 MB"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20+extra)) })
		c.max = 1 << 20
		body, err := c.Livescores(t.Context())

		got := ""
		if err != nil {
			got = err.Error()
		}

		if got != want || len(body) != 1<<20+extra {
			t.Errorf("%d bytes over: got %d bytes, %q; want %q", extra, len(body), got, want)
		}
	}

	if got := Open(BaseURL, token, http.DefaultClient).max >> 20; got != 160 {
		t.Errorf("the limit is %d MB, want 160", got)
	}
}

// TestListEndsWithAFailedPage: a page that cannot be read is the last, and its error the last
// value.
func TestListEndsWithAFailedPage(t *testing.T) {
	t.Parallel()

	for name, second := range map[string]http.HandlerFunc{
		"refused": status(503, ``),
		"no JSON": status(200, `<html>`),
		"no data": status(200, `{"meta":{"last_page":9}}`),
	} {
		pages := 0
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if pages++; pages == 2 {
				second(w, r)
				return
			}

			io.WriteString(w, `{"data":[{"id":1},{"id":2}],"meta":{"last_page":3},"other":{"last_page":1}}`)
		})

		var got []string

		for f, err := range c.Fixtures(t.Context(), time.Time{}, time.Time{}) {
			if err != nil {
				got = append(got, "error")
				continue
			}

			got = append(got, fmt.Sprint(f.ID))
		}

		if strings.Join(got, " ") != "1 2 error" || pages != 2 {
			t.Errorf("%s: got %v of %d pages, want 1 2 error of 2", name, got, pages)
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
		broken := &http.Client{
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route for " + form) }),
		}
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
			t.Fatalf("the error contains the token: %s", s)
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
