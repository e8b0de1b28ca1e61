package football

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// Answer is the response to a request.
type Answer struct {
	Status int
	Header http.Header // its Content-Type is JSON if it has none
	Body   []byte
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	handle := func(path string, f func(*http.Request, time.Time) Answer) {
		s.mux.Handle("GET /api/v1/"+path, s.locked(f))
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
	s.mux.Handle("/", s.locked(func(*http.Request, time.Time) Answer { return notFound() }))
}

// ServeHTTP serves the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// locked answers the requests of this API.
func (s *Server) locked(f func(*http.Request, time.Time) Answer) http.Handler {
	return s.Handler(func(r *http.Request, now time.Time) Answer {
		s.mu.Lock()
		defer s.mu.Unlock()

		return f(r, now)
	}, refuseAs)
}

// Handler returns a handler of requests to this API, or to another API over the same events. answer
// returns the answer at a time of the clock. refuse returns that of a request which has the fault
// Forbidden, TooManyRequests or ServerError; roll draws numbers in [0, 1) for its decisions. The handler
// holds clock work, so a free clock does not move meanwhile.
func (s *Server) Handler(
	answer func(r *http.Request, now time.Time) Answer, refuse func(k Kind, roll func(what string) float64) Answer,
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done := s.clock.Work()
		defer done()

		now := s.clock.Now()
		fault, d := s.takeFault(r.URL, now)

		var a Answer

		switch fault {
		case Timeout:
			done()
			<-r.Context().Done()

			return
		case HTML:
			a = page()
		case Forbidden, TooManyRequests, ServerError:
			a = refuse(fault, d.roll)
		default:
			a = answer(r, now)
		}

		switch fault {
		case Truncated:
			a.Body = a.Body[:len(a.Body)*2/3]
		case TooLarge:
			a.Body = append(a.Body, bytes.Repeat([]byte(" "), tooLarge)...)
		}

		w.Header().Set("Content-Type", jsonType)
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.Status)
		w.Write(a.Body) // a caller that has disconnected wants no answer
	})
}

const jsonType = "application/json; charset=utf-8"

// page is an HTML page in place of an answer.
func page() Answer {
	const text = "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>\n"

	return Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}}, Body: []byte(text)}
}

// refuseAs answers a request with a fault as the provider does.
func refuseAs(k Kind, roll func(string) float64) Answer {
	switch k {
	case Forbidden:
		return refuse(http.StatusForbidden, map[string]any{"code": http.StatusForbidden, "reason": "challenge"})
	case TooManyRequests:
		a := failure(http.StatusTooManyRequests)
		a.Header = http.Header{"Retry-After": {strconv.Itoa(1 + int(roll("retry after")*59))}}

		return a
	}

	return failure(http.StatusInternalServerError)
}

func ok(cache string, v any) Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // the objects always encode
	}

	a := Answer{Status: http.StatusOK, Header: http.Header{}, Body: body}
	if cache != "" {
		a.Header.Set("Cache-Control", cache)
	}

	return a
}

func refuse(code int, reason map[string]any) Answer {
	a := ok("", map[string]any{"error": reason})
	a.Status = code

	return a
}

func failure(code int) Answer {
	return refuse(code, map[string]any{"code": code, "message": http.StatusText(code)})
}

func notFound() Answer { return failure(http.StatusNotFound) }

func pathID(r *http.Request, name string) int64 {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return 0 // no id
	}

	return id
}

func (s *Server) ofSeason(f func(*http.Request, time.Time, *season) Answer) func(*http.Request, time.Time) Answer {
	return func(r *http.Request, now time.Time) Answer {
		se := s.seasons[[2]int64{pathID(r, "tournament"), pathID(r, "season")}]
		if se == nil {
			return notFound()
		}

		return f(r, now, se)
	}
}

func (s *Server) event(r *http.Request, now time.Time) Answer {
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
func (s *Server) rounds(_ *http.Request, now time.Time, se *season) Answer {
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
func (s *Server) round(r *http.Request, now time.Time, se *season) Answer {
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
func (s *Server) standings(_ *http.Request, now time.Time, se *season) Answer {
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

func (s *Server) teamImage(r *http.Request, _ time.Time) Answer {
	return picture(s.badge(pathID(r, "id")))
}

func (s *Server) tournamentImage(r *http.Request, _ time.Time) Answer {
	return picture(s.logo(pathID(r, "id")))
}

// badge returns the picture of a team, nil if there is no such team.
func (s *Server) badge(team int64) []byte {
	if team < firstTeam || team >= firstTeam+int64(len(s.teams)) {
		return nil
	}

	return Shield(fmt.Sprint("team ", team))
}

// logo returns the picture of a tournament, nil if there is no such tournament.
func (s *Server) logo(tournament int64) []byte {
	for key := range s.seasons {
		if key[0] == tournament {
			return Shield(fmt.Sprint("tournament ", tournament))
		}
	}

	return nil
}

func picture(image []byte) Answer {
	if image == nil {
		return notFound()
	}

	return Answer{
		Status: http.StatusOK,
		Header: http.Header{"Cache-Control": {imageCache}, "Content-Type": {"image/png"}},
		Body:   image,
	}
}
