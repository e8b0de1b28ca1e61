package sportmonks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// BaseURL is the production API.
const BaseURL = "https://cricket.sportmonks.com/api/v2.0"

const (
	maxBody   = 160 << 20 // bytes; a whole T20 has about 0.45 MB
	sizedBody = 16 << 20  // the most bytes that are allocated for a Content-Length
	maxPages  = 100       // of 100 rows each; the plan allows 2,000 calls an hour
)

// The includes of each call. Balls have their batter, bowler and score without an
// include.
const (
	matchIncludes = "balls,runs,batting,batting.result,batting.catchstump,batting.runoutby,bowling,scoreboards,lineup," +
		"localteam,visitorteam,league,season,venue,manofmatch,firstumpire,secondumpire,tvumpire,referee"
	listIncludes = "localteam,visitorteam,league,season,venue"
)

// Kind is the kind of an Error, by what a caller can do about it.
type Kind uint8

// The kinds.
const (
	Unavailable Kind = iota // 5xx, timeout, broken connection: try again
	Limited                 // 429: wait for RetryAfter
	Malformed               // the body is HTML, truncated, or has no data
	NotFound                // 404: the match was deleted, perhaps by a rescheduling
	Denied                  // 401, 403: the token is wrong, or the plan does not allow the call
	Invalid                 // any other 4xx: the request is wrong
)

func (k Kind) String() string {
	return [...]string{"unavailable", "limited", "malformed", "not found", "denied", "invalid"}[k]
}

// Error is a failed call or a body that cannot be read. It never contains the API
// token.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status; 0 if there was no answer
	RetryAfter time.Duration // with Limited; 0 if the answer has none
	Msg        string
	Err        error
}

func (e *Error) Error() string {
	msg := "sportmonks: " + e.Msg
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}

	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// Client calls the API. Open returns one. Its errors are of type *Error.
type Client struct {
	base  string
	token string
	http  *http.Client
	max   int          // bytes of a body
	last  atomic.Int64 // size of the last body
}

// Open returns a client of the API at base that authenticates with token. It does not
// follow redirects, which would send the token to another host.
func Open(base, token string, hc *http.Client) *Client {
	c := *hc
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	return &Client{base: strings.TrimSuffix(base, "/"), token: token, http: &c, max: maxBody}
}

// Livescores returns the body of /livescores, for Split: all matches in play, with all
// includes that scorer.Read needs. With the error of a body that is cut short, by the
// provider, the client's timeout or the limit of 160 MB, it returns what was received.
func (c *Client) Livescores(ctx context.Context) ([]byte, error) {
	return c.get(ctx, "/livescores", url.Values{"include": {matchIncludes}})
}

// Fixture returns one match with all includes that scorer.Read needs. The error of a
// match that does not exist has the kind NotFound.
func (c *Client) Fixture(ctx context.Context, id string) (Fixture, error) {
	body, err := c.get(ctx, "/fixtures/"+url.PathEscape(id), url.Values{"include": {matchIncludes}})
	if err != nil {
		return Fixture{}, err
	}

	entries, err := Split(body)
	switch {
	case err != nil:
		return Fixture{}, err
	case len(entries) != 1:
		return Fixture{}, malformed(body, "body is not one fixture")
	case entries[0].Err != nil:
		return Fixture{}, entries[0].Err
	}

	return Decode(entries[0].Raw)
}

// Fixtures yields the matches that start in [from, to], with teams, league, season and
// venue, but without score. It yields an error for a fixture that cannot be read and
// continues with the next one. A call that fails ends the sequence.
func (c *Client) Fixtures(ctx context.Context, from, to time.Time) iter.Seq2[Fixture, error] {
	const layout = "2006-01-02T15:04:05"

	q := url.Values{
		"include":                {listIncludes},
		"filter[starts_between]": {from.UTC().Format(layout) + "," + to.UTC().Format(layout)},
		"sort":                   {"starting_at"},
	}

	return func(yield func(Fixture, error) bool) {
		for page, last := 1, 1; page <= min(last, maxPages); page++ {
			q.Set("page", strconv.Itoa(page))

			body, err := c.get(ctx, "/fixtures", q)
			if err != nil {
				yield(Fixture{}, err)
				return
			}

			entries, err := Split(body)
			if err != nil {
				yield(Fixture{}, err)
				return
			}

			for _, e := range entries {
				f, err := Fixture{}, e.Err
				if err == nil {
					f, err = Decode(e.Raw)
				}

				if !yield(f, err) {
					return
				}
			}

			if last, err = lastPage(body); err != nil {
				yield(Fixture{}, err)
				return
			}
		}
	}
}

// Leagues returns all leagues of the plan.
func (c *Client) Leagues(ctx context.Context) ([]League, error) {
	return list(ctx, c, "/leagues", url.Values{"include": {"season"}}, (*decoder).league)
}

// Teams returns all teams.
func (c *Client) Teams(ctx context.Context) ([]Team, error) {
	return list(ctx, c, "/teams", nil, (*decoder).team)
}

// list requests path and reads a body whose data is an array of T.
func list[T any](ctx context.Context, c *Client, path string, q url.Values, read func(*decoder, *T) bool) ([]T, error) {
	body, err := c.get(ctx, path, q)
	if err != nil {
		return nil, err
	}

	found := false

	var all []T

	d := newDecoder(body)

	ok := d.object(func(name []byte) bool {
		if string(name) != "data" || found {
			return d.skip()
		}

		found = true

		return each(d, &all, read)
	})
	switch {
	case !ok:
		return nil, malformed(body, "body is cut short or is not JSON")
	case !found:
		return nil, malformed(body, "body has no data")
	}

	return all, nil
}

// get requests path and returns the body of a 200. With the error of a body that is cut
// short it returns what was received.
func (c *Client) get(ctx context.Context, path string, q url.Values) ([]byte, error) {
	all := url.Values{"api_token": {c.token}}
	for k, v := range q {
		all[k] = v
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path+"?"+all.Encode(), nil)
	if err != nil {
		return nil, &Error{Kind: Invalid, Msg: path + ": the base URL is not a valid URL"}
	}

	req.Header.Set("Accept", "application/json")

	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.failed(Unavailable, 0, path, err)
	}
	defer res.Body.Close()

	body, err := readAll(io.LimitReader(res.Body, int64(c.max)+1), max(int(min(res.ContentLength, sizedBody)), int(c.last.Load())))
	if res.StatusCode != http.StatusOK {
		return nil, c.refused(path, res, body)
	}

	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return body, c.failed(Malformed, res.StatusCode, path+": body is cut short", err)
	case err != nil:
		return body, c.failed(Unavailable, res.StatusCode, path, err)
	case len(body) > c.max:
		return body, &Error{Kind: Malformed, Status: res.StatusCode, Msg: path + ": body is over " + strconv.Itoa(c.max>>20) + " MB"}
	}

	c.last.Store(int64(len(body)))

	return body, nil
}

// readAll reads r to its end, and allocates size bytes at first. It returns what it has
// read with an error. It grows by a quarter, and not to the double as bytes.Buffer does,
// because the body and its copy must fit the memory of the function.
func readAll(r io.Reader, size int) ([]byte, error) {
	body := make([]byte, 0, size+bytes.MinRead)
	for {
		if cap(body)-len(body) < bytes.MinRead {
			body = slices.Grow(body, bytes.MinRead+len(body)/4)
		}

		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]

		switch {
		case err == io.EOF:
			return body, nil
		case err != nil:
			return body, err
		}
	}
}

// failed wraps an error of the transport, without the URL that net/http adds to it: the
// URL contains the token.
func (c *Client) failed(kind Kind, status int, msg string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}

	if text := c.redact(err.Error()); text != err.Error() {
		err = errors.New(text)
	}

	return &Error{Kind: kind, Status: status, Msg: msg, Err: err}
}

// refused returns the error of an answer that is not 200.
func (c *Client) refused(path string, res *http.Response, body []byte) error {
	e := &Error{Status: res.StatusCode, Msg: path + ": " + strconv.Itoa(res.StatusCode)}
	switch s := res.StatusCode; {
	case s == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = Limited, retryAfter(res.Header)
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Kind = Denied
	case s == http.StatusNotFound:
		e.Kind = NotFound
	case s >= 400 && s < 500:
		e.Kind = Invalid
	case s >= 500:
		e.Kind = Unavailable
	default:
		e.Kind = Malformed
	}

	if reason := c.redact(reason(body)); reason != "" {
		e.Msg += " " + strconv.Quote(reason)
	}

	return e
}

// redact replaces the token in s.
func (c *Client) redact(s string) string {
	if c.token == "" {
		return s
	}

	return strings.NewReplacer(c.token, "[token]", url.QueryEscape(c.token), "[token]").Replace(s)
}

// retryAfter returns the wait of a Retry-After header, at most an hour. The header has
// seconds, or a date, which is compared with the answer's Date.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil {
		return time.Duration(min(max(s, 0), 3600)) * time.Second
	}

	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}

	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}

	return min(max(at.Sub(now), 0), time.Hour)
}
