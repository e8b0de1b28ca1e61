package football

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"matchday/infra/sim/openfootball"
)

// The Cache-Control headers of the API.
const (
	eventCache     = "max-age=10, s-maxage=172800"
	standingsCache = "max-age=60, s-maxage=7200"
	roundsCache    = "max-age=3600"
	imageCache     = "max-age=86400"
)

// tooLarge is how many bytes of nothing an answer of the fault TooLarge has.
const tooLarge = 5 << 20

// tieBreaking is the order of teams with equal points, as openfootball.Tables has it.
const tieBreaking = "In the event that two (or more) teams have an equal number of points, the following rules break the tie:\n1. Goal " +
	"difference\n2. Goals scored\n3. Name"

// answer is the response to a request.
type answer struct {
	status int
	cache  string
	kind   string // content type; JSON if empty
	body   []byte
	wait   time.Duration // for Retry-After
	hang   bool
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	handle := func(path string, f func(*http.Request, time.Time) answer) {
		s.mux.HandleFunc("GET /api/v1/"+path, s.serve(f))
	}

	const ofSeason = "unique-tournament/{tournament}/season/{season}/"

	handle("event/{id}", s.event)
	handle(ofSeason+"rounds", s.ofSeason(s.rounds))
	handle(ofSeason+"events/round/{number}", s.ofSeason(s.round))
	handle(ofSeason+"events/round/{number}/slug/{slug}", s.ofSeason(s.round))
	handle(ofSeason+"events/round/{number}/slug/{slug}/prefix/{prefix}", s.ofSeason(s.round))
	handle(ofSeason+"standings/total", s.ofSeason(s.standings))
	handle("team/{id}/image", s.teamImage)
	handle("unique-tournament/{id}/image", s.tournamentImage)
	s.mux.HandleFunc("/", s.serve(func(*http.Request, time.Time) answer { return notFound() }))
}

// ServeHTTP serves the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// serve answers a request. It holds clock work, so a free clock does not move meanwhile.
func (s *Server) serve(f func(*http.Request, time.Time) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		done := s.clock.Work()
		defer done()

		a := s.answer(r, f)
		if a.hang {
			done()
			<-r.Context().Done()

			return
		}

		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")

		if a.kind != "" {
			h.Set("Content-Type", a.kind)
		}

		if a.cache != "" {
			h.Set("Cache-Control", a.cache)
		}

		if a.wait > 0 {
			h.Set("Retry-After", strconv.Itoa(int(a.wait/time.Second)))
		}

		w.WriteHeader(a.status)
		w.Write(a.body) // a caller that has disconnected wants no answer
	}
}

func (s *Server) answer(r *http.Request, f func(*http.Request, time.Time) answer) answer {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now()

	fault, d := s.takeFault(r.URL.Path, now)
	switch fault {
	case Forbidden:
		return refuse(http.StatusForbidden, map[string]any{"code": http.StatusForbidden, "reason": "challenge"})
	case TooManyRequests:
		a := failure(http.StatusTooManyRequests)
		a.wait = d.between("retry after", time.Second, time.Minute)

		return a
	case ServerError:
		return failure(http.StatusInternalServerError)
	case Timeout:
		return answer{hang: true}
	case HTML:
		page := "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>\n"
		return answer{status: http.StatusOK, kind: "text/html; charset=UTF-8", body: []byte(page)}
	}

	a := f(r, now)

	switch fault {
	case Truncated:
		a.body = a.body[:len(a.body)*2/3]
	case TooLarge:
		a.body = append(a.body, bytes.Repeat([]byte(" "), tooLarge)...)
	}

	return a
}

func ok(cache string, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // the objects always encode
	}

	return answer{status: http.StatusOK, cache: cache, body: body}
}

func refuse(code int, reason map[string]any) answer {
	a := ok("", map[string]any{"error": reason})
	a.status = code

	return a
}

func failure(code int) answer {
	return refuse(code, map[string]any{"code": code, "message": http.StatusText(code)})
}

func notFound() answer { return failure(http.StatusNotFound) }

func pathID(r *http.Request, name string) int64 {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return 0 // no id
	}

	return id
}

func (s *Server) ofSeason(f func(*http.Request, time.Time, *season) answer) func(*http.Request, time.Time) answer {
	return func(r *http.Request, now time.Time) answer {
		se := s.seasons[[2]int64{pathID(r, "tournament"), pathID(r, "season")}]
		if se == nil {
			return notFound()
		}

		return f(r, now, se)
	}
}

func (s *Server) event(r *http.Request, now time.Time) answer {
	e := s.events[pathID(r, "id")]
	if e == nil {
		return notFound()
	}

	v, visible := e.at(now)
	if !visible {
		return notFound()
	}

	return ok(eventCache, map[string]any{"event": e.show(v)})
}

// rounds lists the rounds with events. The current one is that of the latest kick-off.
func (s *Server) rounds(_ *http.Request, now time.Time, se *season) answer {
	listed := map[openfootball.Round]bool{}

	var (
		current *openfootball.Round
		latest  time.Time
	)

	for _, e := range se.events {
		v, visible := e.at(now)
		if !visible {
			continue
		}

		listed[e.match.Round] = true

		given := v.status.Type == postponed.Type || v.status.Type == canceled.Type
		if !given && !v.kickOff.After(now) && !v.kickOff.Before(latest) {
			current, latest = &e.match.Round, v.kickOff
		}
	}

	var all []roundInfo

	for _, round := range se.rounds {
		if listed[round] {
			all = append(all, roundOf(round))
		}
	}

	if len(all) == 0 {
		return notFound()
	}

	first := all[0]
	if current != nil {
		first = roundOf(*current)
	}

	return ok(roundsCache, map[string]any{"currentRound": first, "rounds": all})
}

// round lists the events of a round by their kick-off.
func (s *Server) round(r *http.Request, now time.Time, se *season) answer {
	number, slug, prefix := pathID(r, "number"), r.PathValue("slug"), r.PathValue("prefix")

	events := []eventInfo{}
	for _, e := range se.events {
		if is := e.match.Round; int64(is.Number) != number || is.Slug != slug || is.Prefix != prefix {
			continue
		}

		if v, visible := e.at(now); visible {
			events = append(events, e.show(v))
		}
	}

	if len(events) == 0 {
		return notFound()
	}

	slices.SortStableFunc(events, func(a, b eventInfo) int { return int(a.StartTimestamp - b.StartTimestamp) })

	return ok(eventCache, map[string]any{"events": events})
}

// standings computes the tables of the groups from what the events said a lag ago.
func (s *Server) standings(_ *http.Request, now time.Time, se *season) answer {
	matches, updated := se.counted(now.Add(-se.lag))
	rule := ruleInfo{se.ID*1000 + 1, tieBreaking}

	var tables []tableInfo

	for _, t := range openfootball.Tables(matches) {
		of := se.groups[t.Group]

		table := tableInfo{ID: of.ID + 200_000, Type: "total", Name: t.Group, Tournament: of, Rule: rule}
		if t.Group == "" {
			table.Name = se.Season.Name
		}

		if !updated.IsZero() {
			table.UpdatedAt = updated.Add(se.lag).Unix()
		}

		for i, row := range t.Rows {
			table.Rows = append(table.Rows, rowInfo{
				ID: of.ID*1000 + s.team(row.Team).ID, Team: s.team(row.Team), Descriptions: []string{},
				Position: i + 1, Matches: row.Played, Wins: row.Won, Losses: row.Lost, Draws: row.Drawn,
				ScoresFor: row.For, ScoresAgainst: row.Against, Points: row.Points,
				Difference: difference(row.For - row.Against),
			})
		}

		tables = append(tables, table)
	}

	if len(tables) == 0 {
		return notFound()
	}

	return ok(standingsCache, map[string]any{"standings": tables})
}

// difference returns a goal difference with its sign.
func difference(n int) string {
	if n == 0 {
		return "0"
	}

	return fmt.Sprintf("%+d", n)
}

// counted returns the matches of the tables with the results that were known at a time, and when the last
// of them changed.
func (se *season) counted(t time.Time) (matches []openfootball.Match, updated time.Time) {
	for _, e := range se.events {
		if e.match.Round.Knockout() {
			continue
		}

		m := openfootball.Match{Round: e.match.Round, Group: e.match.Group, Home: e.match.Home, Away: e.match.Away}

		v, visible := e.at(t)
		if goals, known := v.result(); known && visible && v.status.Type == ended.Type {
			m.Score.FullTime = &goals
			updated = later(updated, v.at)
		}

		matches = append(matches, m)
	}

	return matches, updated
}

func (s *Server) teamImage(r *http.Request, _ time.Time) answer {
	id := pathID(r, "id")
	if id < firstTeam || id >= firstTeam+int64(len(s.teams)) {
		return notFound()
	}

	return picture(fmt.Sprint("team ", id))
}

func (s *Server) tournamentImage(r *http.Request, _ time.Time) answer {
	id := pathID(r, "id")
	for key := range s.seasons {
		if key[0] == id {
			return picture(fmt.Sprint("tournament ", id))
		}
	}

	return notFound()
}

func picture(name string) answer {
	return answer{status: http.StatusOK, cache: imageCache, kind: "image/png", body: Shield(name)}
}
