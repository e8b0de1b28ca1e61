// Package apifootball simulates API-Football v3 over the events of a football.Server: rounds, fixtures,
// standings and images of the same seasons, with the same ids. What becomes of an event, when, and which
// requests fail is decided there, so both APIs say the same of every match at every time.
//
// A league is a tournament of the football.Server, and a season is its season id. The rest is shaped
// like the provider, as recorded answers of it show. These are decisions:
//   - A walkover has the status WO or AWD, and an interrupted match INT or SUSP, by the id.
//   - LIVE, BT, TBD and ABD do not occur.
//   - A score that is late is late everywhere: goals and all parts of the score are null.
//   - The name of a round is in ASCII.
//   - Of the answers that are refused because of the rate of requests, half have the status 429.
package apifootball

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/football"
)

// Plan is how many requests a key allows, a minute and a day of UTC; 0 for no limit.
type Plan struct{ Minute, Day int }

// Server simulates the provider: the API below "/", and its images below "/football/". It is an
// http.Handler. Create it with New.
type Server struct {
	events *football.Server
	clock  *clock.Clock
	key    string
	plan   Plan
	mux    *http.ServeMux

	mu     sync.Mutex
	minute window
	day    window
}

// window counts the requests since its start.
type window struct {
	start time.Time
	n     int
}

// take counts a request, and returns how many remain of limit, below 0 if there are too many.
func (w *window) take(now time.Time, length time.Duration, limit int) int {
	if start := now.UTC().Truncate(length); !w.start.Equal(start) {
		*w = window{start: start}
	}

	w.n++

	return limit - w.n
}

// New returns a server over events, which has their clock. key is the one that it accepts.
func New(c *clock.Clock, events *football.Server, key string, plan Plan) *Server {
	s := &Server{events: events, clock: c, key: key, plan: plan, mux: http.NewServeMux()}

	api := func(path string, f func(r *http.Request, now time.Time, in season) any) {
		s.mux.Handle("GET "+path, events.Handler(func(r *http.Request, now time.Time) football.Answer {
			return s.answer(r, now, f)
		}, refuse))
	}

	api("/fixtures/rounds", rounds)
	api("/fixtures", s.fixtures)
	api("/standings", s.standings)
	s.mux.Handle("GET /football/teams/{file}", s.images("/football/teams/%d.png", events.Badge))
	s.mux.Handle("GET /football/leagues/{file}", s.images("/football/leagues/%d.png", events.Logo))

	return s
}

// ServeHTTP serves the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// season is what is asked about.
type season struct {
	football.Snapshot
	league, year int64
}

// answer answers a request with an envelope.
func (s *Server) answer(r *http.Request, now time.Time, f func(*http.Request, time.Time, season) any) football.Answer {
	if r.Header.Get("x-apisports-key") != s.key {
		return envelope(r, http.StatusOK, token, nil)
	}

	header, reason := s.count(now)
	if reason != nil {
		a := envelope(r, http.StatusOK, reason, nil)
		a.Header = header

		return a
	}

	query := r.URL.Query()
	for _, name := range []string{"league", "season"} {
		if query.Get(name) == "" {
			return envelope(r, http.StatusOK, map[string]string{name: "The " + name + " field is required."}, nil)
		}
	}

	in := season{league: number(query.Get("league")), year: number(query.Get("season"))}

	var ok bool

	var response any = []any{}
	if in.Snapshot, ok = s.events.Snapshot(in.league, in.year, now); ok {
		response = f(r, now, in)
	}

	a := envelope(r, http.StatusOK, nil, response)
	a.Header = header

	return a
}

// count counts a request. It returns the headers of the answer, and why the request is refused.
func (s *Server) count(now time.Time) (http.Header, map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	h := http.Header{}

	var reason map[string]string

	if s.plan.Minute > 0 {
		left := s.minute.take(now, time.Minute, s.plan.Minute)
		if left < 0 {
			reason = rate(s.plan.Minute)
		}

		h.Set("X-RateLimit-Limit", strconv.Itoa(s.plan.Minute))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(max(left, 0)))
	}

	if s.plan.Day > 0 {
		left := s.day.take(now, 24*time.Hour, s.plan.Day)
		if left < 0 {
			reason = map[string]string{"requests": "You have reached the request limit for the day, " +
				"Go to https://dashboard.api-football.com to upgrade your plan."}
		}

		h.Set("X-Ratelimit-Requests-Limit", strconv.Itoa(s.plan.Day))
		h.Set("X-Ratelimit-Requests-Remaining", strconv.Itoa(max(left, 0)))
	}

	return h, reason
}

// The reasons of refusals.
var token = map[string]string{"token": "Error/Missing application key. Go to https://www.api-football.com/documentation-v3 " +
	"to learn how to get your API application key."}

func rate(limit int) map[string]string {
	return map[string]string{"rateLimit": fmt.Sprintf("Too many requests. Your rate limit is %d requests per minute.", limit)}
}

// refuse answers a request with a fault as the provider does.
func refuse(k football.Kind, roll func(string) float64) football.Answer {
	switch k {
	case football.Forbidden:
		return envelope(nil, http.StatusForbidden, token, nil)
	case football.TooManyRequests:
		status := http.StatusOK
		if roll("status of a limit") < 0.5 {
			status = http.StatusTooManyRequests
		}

		return envelope(nil, status, rate(10), nil)
	}

	return football.Answer{Status: http.StatusInternalServerError, Body: []byte(`{"message":"Internal Server Error"}`)}
}

// envelope wraps a response. errors is a list if there are none, and else an object.
func envelope(r *http.Request, status int, reasons map[string]string, response any) football.Answer {
	out := struct {
		Get        string         `json:"get"`
		Parameters any            `json:"parameters"`
		Errors     any            `json:"errors"`
		Results    int            `json:"results"`
		Paging     map[string]int `json:"paging"`
		Response   any            `json:"response"`
	}{Parameters: []any{}, Errors: []any{}, Paging: map[string]int{"current": 1, "total": 1}, Response: []any{}}

	if r != nil {
		parameters := map[string]string{}
		for name := range r.URL.Query() {
			parameters[name] = r.URL.Query().Get(name)
		}

		out.Get, out.Parameters = r.URL.Path[1:], parameters
	}

	if len(reasons) > 0 {
		out.Errors = reasons
	}

	switch all := response.(type) {
	case []fixtureInfo:
		out.Results, out.Response = len(all), all
	case []string:
		out.Results, out.Response = len(all), all
	case []standingsInfo:
		out.Results, out.Response = len(all), all
	}

	body, err := json.Marshal(out)
	if err != nil {
		panic(err) // the objects always encode
	}

	return football.Answer{Status: status, Body: body}
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0 // no id
	}

	return n
}

// images answers requests for images, which need no key. path is the format of their paths.
func (s *Server) images(path string, image func(id int64) []byte) http.Handler {
	return s.events.Handler(func(r *http.Request, _ time.Time) football.Answer {
		var id int64

		fmt.Sscanf(r.URL.Path, path, &id)

		picture := image(id)
		if picture == nil || r.URL.Path != fmt.Sprintf(path, id) {
			return football.Answer{Status: http.StatusNotFound}
		}

		return football.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}}, Body: picture}
	}, refuse)
}
