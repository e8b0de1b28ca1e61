// Package sportmonks simulates the SportMonks Cricket API v2.0: its paths,
// shapes, limits and habits, under the fleet's clock. It plays matches, made
// from Cricsheet files or made up, and misbehaves on demand as the real feed
// does by itself.
//
// Nothing in it runs between requests: what the feed says is worked out from
// the clock when it is asked, so that the same run gives the same answers.
//
// What no capture of the real feed shows is decided so:
//   - Penalty runs are in the totals and in scoreboards, never in a ball.
//   - A batter who retired hurt or not out has no batsmanout_id: the provider's
//     clients count whoever has one as a wicket.
//   - Two wickets of one ball share an entry, with both in the score's name.
//   - Super overs are S3 and on; their statuses repeat 3rd and 4th Innings.
//   - The Hundred has the type 100-Ball, and overs of five balls.
//   - Declarations and forfeits are told by the note of the innings break.
//   - rpc_overs and rpc_target are set only where rain changed the chase.
//   - Calls are counted by the first word of the path, the strict reading of
//     "per endpoint"; fields[] and tz are ignored.
package sportmonks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/clock"
)

// Limits and sizes of the provider.
const (
	callsPerHour = 2000 // of an endpoint, from its first call on
	pageSize     = 100
)

// Server answers as the provider does. It is an http.Handler for /api/v2.0.
type Server struct {
	clock *clock.Clock
	token string

	mu       sync.Mutex
	fixtures map[int64]*entry
	leagues  map[int64]*edition
	seasons  map[int64]seasonOf
	stages   map[int64]*Fixture // by stage: any fixture of it
	teams    map[int64]Team
	venues   map[int64]Venue
	scores   map[int64]score
	calls    map[string]*hour

	orders []*order
	chaos  Chaos
	counts map[Kind]int
}

// entry is a fixture that the server knows; play is nil when it is only
// announced.
type entry struct {
	fixture *Fixture
	start   time.Time
	play    *play
}

type edition struct {
	League
	season int64 // the current one: of the latest fixture
	latest time.Time
}

type seasonOf struct {
	Season
	league int64
}

type hour struct {
	since time.Time
	n     int
}

// New returns a server that takes calls with the token.
func New(c *clock.Clock, token string) *Server {
	s := &Server{
		clock: c, token: token,
		fixtures: map[int64]*entry{}, leagues: map[int64]*edition{}, seasons: map[int64]seasonOf{},
		stages: map[int64]*Fixture{}, teams: map[int64]Team{}, venues: map[int64]Venue{},
		scores: map[int64]score{}, calls: map[string]*hour{}, counts: map[Kind]int{},
	}
	for _, sc := range catalogue {
		s.scores[sc.id] = sc
	}
	return s
}

// Announce makes fixtures known that are not played: they stay NS.
func (s *Server) Announce(start time.Time, fixtures ...Fixture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range fixtures {
		s.know(&f, start)
		s.fixtures[f.ID] = &entry{fixture: &f, start: start}
	}
}

// AnnounceMore announces n made-up fixtures, one every six hours from start,
// the same for a seed every time: half between teams that the server knows,
// in their own leagues, half in leagues of their own.
func (s *Server) AnnounceMore(seed int64, n int, start time.Time) {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	s.mu.Lock()
	known := slices.SortedFunc(maps.Values(s.fixtures), func(a, b *entry) int { return cmp.Compare(a.fixture.ID, b.fixture.ID) })
	s.mu.Unlock()
	for i := range n {
		f := madeUp(r.Int64(), Format(r.IntN(int(formats))))
		if i%2 == 0 && len(known) > 0 {
			k := *known[i/2%len(known)].fixture
			k.ID, k.Local, k.Visitor = f.ID, k.Visitor, k.Local
			f = k
		}
		f.Round = ordinal(i+1) + " Match"
		s.Announce(start.Add(time.Duration(i)*6*time.Hour), f)
	}
}

// know keeps what the reference endpoints tell of a fixture.
func (s *Server) know(f *Fixture, start time.Time) {
	l := s.leagues[f.League.ID]
	if l == nil {
		l = &edition{League: f.League, season: f.Season.ID, latest: start}
		s.leagues[f.League.ID] = l
	}
	if !start.Before(l.latest) {
		l.season, l.latest = f.Season.ID, start
	}
	s.seasons[f.Season.ID] = seasonOf{f.Season, f.League.ID}
	s.stages[f.Stage.ID] = f
	s.teams[f.Local.ID], s.teams[f.Visitor.ID] = f.Local, f.Visitor
	s.venues[f.Venue.ID] = f.Venue
}

// answer is what a request gets.
type answer struct {
	status int
	html   bool
	header map[string]string
	parts  [][]byte
	hang   bool
}

func fail(status int, message string) answer {
	var w writer
	w.lit("{")
	w.str("message", message)
	w.end()
	return answer{status: status, parts: w.body()}
}

// notFound and badRequest carry their sentence to the caller.
type notFound string

func (e notFound) Error() string { return string(e) }

type badRequest string

func (e badRequest) Error() string { return string(e) }

// ServeHTTP answers a request. It holds the clock's work, so a free clock
// stands still meanwhile.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	done := s.clock.Work()
	defer done()
	a := s.answer(r)
	if a.hang {
		done()
		<-r.Context().Done()
		return
	}
	size := 0
	for _, p := range a.parts {
		size += len(p)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if a.html {
		h.Set("Content-Type", "text/html; charset=UTF-8")
	}
	h.Set("Content-Length", strconv.Itoa(size))
	for k, v := range a.header {
		h.Set(k, v)
	}
	w.WriteHeader(a.status)
	for _, p := range a.parts {
		if _, err := w.Write(p); err != nil {
			return // the caller is gone
		}
	}
}

func (s *Server) answer(r *http.Request) answer {
	q := r.URL.Query()
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v2.0/")
	resource, id, one := strings.Cut(path, "/")
	list, known := s.resource(resource)
	switch {
	case r.Method != http.MethodGet:
		return fail(http.StatusMethodNotAllowed, "Only GET is supported.")
	case !ok || !known:
		return fail(http.StatusNotFound, "Not Found")
	case q.Get("api_token") != s.token:
		return fail(http.StatusUnauthorized, "Unauthenticated.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, e := range s.fixtures {
		if e.play != nil {
			e.play.advance(s, now)
		}
	}
	c := call{now: now, q: q, resource: resource, host: r.Host}
	var err error
	if one {
		if c.id, err = strconv.ParseInt(id, 10, 64); err != nil || resource == "livescores" {
			return fail(http.StatusNotFound, "Not Found")
		}
	}
	a, left := s.limit(resource, now)
	if a.status == 0 {
		a = s.upset(&c)
	}
	if a.status == 0 && !a.hang {
		var w writer
		if err = list(&c, &w); err == nil {
			a = s.spoil(&c, answer{status: http.StatusOK, parts: w.body()})
		} else if _, ok := errors.AsType[notFound](err); ok {
			a = fail(http.StatusNotFound, err.Error())
		} else {
			a = fail(http.StatusBadRequest, err.Error())
		}
	}
	if a.header == nil {
		a.header = map[string]string{}
	}
	a.header["X-RateLimit-Limit"] = strconv.Itoa(callsPerHour)
	a.header["X-RateLimit-Remaining"] = strconv.Itoa(left)
	return a
}

// limit counts a call of an endpoint.
func (s *Server) limit(resource string, now time.Time) (refused answer, left int) {
	h := s.calls[resource]
	if h == nil || now.Sub(h.since) >= time.Hour {
		h = &hour{since: now}
		s.calls[resource] = h
	}
	if h.n >= callsPerHour {
		return tooMany(h.since.Add(time.Hour).Sub(now)), 0
	}
	h.n++
	return answer{}, callsPerHour - h.n
}

func tooMany(wait time.Duration) answer {
	a := fail(http.StatusTooManyRequests, "Too Many Attempts.")
	a.header = map[string]string{"Retry-After": strconv.Itoa(int((wait + time.Second - 1) / time.Second))}
	return a
}

// call is one request for a resource: a list, or one when id is not 0.
type call struct {
	now      time.Time
	q        url.Values
	resource string
	id       int64
	host     string
}

type includes map[string]bool

// includes reads the include parameter. A nested one brings its parent.
func (c *call) includes(allowed ...string) (includes, error) {
	in := includes{}
	for name := range strings.SplitSeq(c.q.Get("include"), ",") {
		if name == "" {
			continue
		}
		if !slices.Contains(allowed, name) {
			return nil, badRequest(fmt.Sprintf("Requested include(s) `%s` are not allowed.", name))
		}
		in[name] = true
		if parent, _, nested := strings.Cut(name, "."); nested {
			in[parent] = true
		}
	}
	return in, nil
}

// resource finds what writes a resource's bodies.
func (s *Server) resource(name string) (func(*call, *writer) error, bool) {
	f := map[string]func(*call, *writer) error{
		"livescores": s.livescores,
		"fixtures":   s.listFixtures,
		"leagues": func(c *call, w *writer) error {
			in, err := c.includes("season", "seasons")
			if err != nil {
				return err
			}
			return reference(c, w, s.leagues, func(l *edition) {
				w.league("", l.League, l.season)
				if in["season"] {
					w.season("season", s.seasons[l.season].Season, l.ID)
					w.end()
				}
				if in["seasons"] {
					w.key("seasons")
					w.lit("[")
					for _, id := range slices.Sorted(maps.Keys(s.seasons)) {
						if so := s.seasons[id]; so.league == l.ID {
							w.season("", so.Season, l.ID)
							w.end()
						}
					}
					w.lit("]")
				}
				w.end()
			})
		},
		"seasons": func(c *call, w *writer) error {
			in, err := c.includes("league")
			if err != nil {
				return err
			}
			return reference(c, w, s.seasons, func(so seasonOf) {
				w.season("", so.Season, so.league)
				if l := s.leagues[so.league]; in["league"] {
					w.league("league", l.League, l.season)
					w.end()
				}
				w.end()
			})
		},
		"stages": func(c *call, w *writer) error {
			in, err := c.includes("league", "season")
			if err != nil {
				return err
			}
			return reference(c, w, s.stages, func(f *Fixture) {
				w.stage("", f)
				if in["league"] {
					w.league("league", f.League, s.leagues[f.League.ID].season)
					w.end()
				}
				if in["season"] {
					w.season("season", f.Season, f.League.ID)
					w.end()
				}
				w.end()
			})
		},
		"teams":  func(c *call, w *writer) error { return reference(c, w, s.teams, func(t Team) { w.team("", t) }) },
		"venues": func(c *call, w *writer) error { return reference(c, w, s.venues, func(v Venue) { w.venue("", v) }) },
		"scores": func(c *call, w *writer) error {
			return reference(c, w, s.scores, func(sc score) { w.score("", &sc) })
		},
	}[name]
	return f, f != nil
}

// reference writes all of a kind by id, or the one that is asked for.
func reference[T any](c *call, w *writer, all map[int64]T, write func(T)) error {
	w.lit(`{"data":`)
	if c.id != 0 {
		v, ok := all[c.id]
		if !ok {
			return notFound("No record of this id.")
		}
		write(v)
	} else {
		w.lit("[")
		for _, id := range slices.Sorted(maps.Keys(all)) {
			write(all[id])
		}
		w.lit("]")
	}
	w.end()
	return nil
}

func fixtureIncludes() []string {
	return []string{
		"league", "season", "stage", "venue", "localteam", "visitorteam", "tosswon", "winnerteam",
		"manofmatch", "manofseries", "firstumpire", "secondumpire", "tvumpire", "referee", "lineup",
		"balls", "balls.batsman", "balls.bowler", "balls.score", "balls.team", "balls.catchstump",
		"batting", "batting.batsman", "batting.bowler", "batting.catchstump", "batting.runoutby", "batting.result", "batting.team",
		"bowling", "bowling.bowler", "bowling.team",
		"runs", "runs.team", "scoreboards", "scoreboards.team",
	}
}

func (s *Server) livescores(c *call, w *writer) error {
	in, err := c.includes(fixtureIncludes()...)
	if err != nil {
		return err
	}
	keep, err := c.filter()
	if err != nil {
		return err
	}
	w.lit(`{"data":[`)
	for _, id := range slices.Sorted(maps.Keys(s.fixtures)) {
		e := s.fixtures[id]
		if e.play == nil {
			continue
		}
		v := e.play.view(c.now)
		if !v.live {
			e.play.rendered = [2]rendered{} // it is seldom asked for now
		} else if keep(e, v.header) {
			s.fixture(c, w, e, v, in)
		}
	}
	w.lit("]")
	w.end()
	return nil
}

func (s *Server) listFixtures(c *call, w *writer) error {
	in, err := c.includes(fixtureIncludes()...)
	if err != nil {
		return err
	}
	if c.id != 0 {
		e, ok := s.fixtures[c.id]
		if !ok {
			return notFound("No record of this id.")
		}
		w.lit(`{"data":`)
		s.fixture(c, w, e, e.view(c.now), in)
		w.end()
		return nil
	}
	keep, err := c.filter()
	if err != nil {
		return err
	}
	order, err := c.order()
	if err != nil {
		return err
	}
	var found []*entry
	for _, e := range s.fixtures {
		if keep(e, e.view(c.now).header) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, order)
	total := len(found)
	last := max(1, (total+pageSize-1)/pageSize)
	page, err := strconv.Atoi(c.q.Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	from := min((page-1)*pageSize, total)
	found = found[from:min(from+pageSize, total)]

	w.lit(`{"data":[`)
	for _, e := range found {
		s.fixture(c, w, e, e.view(c.now), in)
	}
	w.lit("]")
	base := "http://" + c.host + "/api/v2.0/fixtures"
	link := func(k string, n int) {
		if n < 1 || n > last {
			w.null(k)
			return
		}
		w.str(k, base+"?page="+strconv.Itoa(n))
	}
	w.key("links")
	w.lit("{")
	link("first", 1)
	link("last", last)
	link("prev", page-1)
	link("next", page+1)
	w.end()
	w.key("meta")
	w.lit("{")
	w.int("current_page", page)
	if len(found) == 0 {
		w.null("from")
	} else {
		w.int("from", from+1)
	}
	w.int("last_page", last)
	w.str("path", base)
	w.int("per_page", pageSize)
	if len(found) == 0 {
		w.null("to")
	} else {
		w.int("to", from+len(found))
	}
	w.int("total", total)
	w.end()
	w.end()
	return nil
}

// filter reads the filter parameters: a comma separates alternatives.
func (c *call) filter() (keep func(*entry, *header) bool, err error) {
	var tests []func(*entry, *header) bool
	for k, values := range c.q {
		name, ok := strings.CutPrefix(k, "filter[")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "]")
		alternatives := strings.Split(values[0], ",")
		var field func(*entry, *header) string
		id := func(of func(*Fixture) int64) func(*entry, *header) string {
			return func(e *entry, _ *header) string { return strconv.FormatInt(of(e.fixture), 10) }
		}
		switch name {
		case "starts_between":
			test, err := between(alternatives)
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
			continue
		case "season_id":
			field = id(func(f *Fixture) int64 { return f.Season.ID })
		case "league_id":
			field = id(func(f *Fixture) int64 { return f.League.ID })
		case "stage_id":
			field = id(func(f *Fixture) int64 { return f.Stage.ID })
		case "localteam_id":
			field = id(func(f *Fixture) int64 { return f.Local.ID })
		case "visitorteam_id":
			field = id(func(f *Fixture) int64 { return f.Visitor.ID })
		case "status":
			field = func(_ *entry, h *header) string { return h.status }
		case "round":
			field = func(e *entry, _ *header) string { return e.fixture.Round }
		default:
			return nil, badRequest(fmt.Sprintf("Requested filter(s) `%s` are not allowed.", name))
		}
		tests = append(tests, func(e *entry, h *header) bool { return slices.Contains(alternatives, field(e, h)) })
	}
	return func(e *entry, h *header) bool {
		for _, test := range tests {
			if !test(e, h) {
				return false
			}
		}
		return true
	}, nil
}

// between takes two dates or times in UTC; a date is its midnight.
func between(bounds []string) (func(*entry, *header) bool, error) {
	var at []time.Time
	for _, b := range bounds {
		for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
			if t, err := time.Parse(layout, b); err == nil {
				at = append(at, t)
				break
			}
		}
	}
	if len(bounds) != 2 || len(at) != 2 {
		return nil, badRequest("The filter starts_between takes two dates.")
	}
	return func(e *entry, _ *header) bool { return !e.start.Before(at[0]) && !e.start.After(at[1]) }, nil
}

// order reads the sort parameter.
func (c *call) order() (func(a, b *entry) int, error) {
	byID := func(a, b *entry) int { return cmp.Compare(a.fixture.ID, b.fixture.ID) }
	field, descending := strings.CutPrefix(c.q.Get("sort"), "-")
	by := byID
	switch field {
	case "", "id":
	case "starting_at":
		by = func(a, b *entry) int { return cmp.Or(a.start.Compare(b.start), byID(a, b)) }
	default:
		return nil, badRequest(fmt.Sprintf("Requested sort(s) `%s` is not allowed.", field))
	}
	if descending {
		return func(a, b *entry) int { return by(b, a) }, nil
	}
	return by, nil
}

func (e *entry) view(now time.Time) view {
	if e.play == nil {
		return view{frame: frame{header: &header{status: "NS"}}}
	}
	return e.play.view(now)
}

// fixture writes a fixture with its includes.
func (s *Server) fixture(c *call, w *writer, e *entry, v view, in includes) {
	f, h := e.fixture, v.header
	var m *Match
	if e.play != nil {
		m = e.play.match
	}
	if (c.resource == "livescores" || c.id != 0) && s.hit(UnknownStatus, c, f.ID) {
		other := *h
		other.status = "Review"
		h = &other
	}
	w.fixture(f, m, h, e.start)
	if in["league"] {
		w.league("league", f.League, s.leagues[f.League.ID].season)
		w.end()
	}
	if in["season"] {
		w.season("season", f.Season, f.League.ID)
		w.end()
	}
	if in["localteam"] {
		w.team("localteam", f.Local)
	}
	if in["visitorteam"] {
		w.team("visitorteam", f.Visitor)
	}
	if in["batting"] || in["bowling"] || in["runs"] || in["scoreboards"] {
		if m == nil {
			m = &Match{}
		}
		cards := m.cards(v.frame, v.wrong, v.phantom)
		if in["batting"] {
			w.batting(m, cards, v.stamp, in)
		}
		if in["bowling"] {
			w.bowling(m, cards, v.stamp, in)
		}
		if in["runs"] {
			w.runs(m, cards, v.innings, in)
		}
		if in["scoreboards"] {
			w.scoreboards(m, cards, v.innings, in)
		}
	}
	if in["lineup"] {
		w.lineup(cmp.Or(m, &Match{}), h.lineup)
	}
	if in["balls"] {
		s.balls(c, w, e, v, in["balls.catchstump"])
	}
	for _, t := range []struct {
		include string
		id      int64
	}{{"winnerteam", h.winner}, {"tosswon", h.tossWon}} {
		switch {
		case !in[t.include]:
		case t.id == 0:
			w.null(t.include)
		default:
			w.team(t.include, s.teams[t.id])
		}
	}
	if in["venue"] {
		w.venue("venue", f.Venue)
	}
	if in["stage"] {
		w.stage("stage", f)
		w.end()
	}
	if in["manofmatch"] {
		best := -1
		if h.mom != 0 {
			best = slices.IndexFunc(m.people, func(p person) bool { return p.id == h.mom })
		}
		w.maybePlayer("manofmatch", m, best)
	}
	if in["manofseries"] {
		w.null("manofseries")
	}
	for i, k := range []string{"firstumpire", "secondumpire", "tvumpire", "referee"} {
		switch {
		case !in[k]:
		case m == nil || m.officials[i] < 0 || len(m.people) == 0:
			w.null(k)
		default:
			w.official(k, m, m.officials[i])
		}
	}
	w.end()
}

// balls writes the balls list from what was rendered when each was first
// shown, with what is wrong with it now.
func (s *Server) balls(c *call, w *writer, e *entry, v view, catcher bool) {
	w.key("balls")
	w.lit("[")
	defer func() { w.lit("]") }()
	n := v.frame.balls
	if n == 0 {
		return
	}
	p := e.play
	from, to := 0, n
	if _, variant, ok := s.take(ShortBalls, c, e.fixture.ID); ok {
		if variant%2 == 0 {
			to = n / 2
		} else {
			from = n - n/3
		}
	}
	r := p.render(n, catcher)
	start := len(w.parts)
	cut := from
	for _, i := range v.touched {
		if i < from || i >= to {
			continue
		}
		w.splice(r.cut(cut, i))
		cut = i
		if wrong := v.wrong[i]; wrong != nil {
			w.ball(p.match, wrong, p.stamps[i], catcher)
			cut = i + 1
		}
		if x := v.phantom[i]; x != nil {
			w.splice(r.cut(cut, i+1))
			w.ball(p.match, x, p.stamps[i], catcher)
			cut = i + 1
		}
	}
	w.splice(r.cut(cut, to))
	if s.hit(DuplicateBalls, c, e.fixture.ID) {
		w.splice(r.cut(max(from, to-3), to))
	}
	// Every ball was written with a comma before it.
	for i := start + 1; i < len(w.parts); i++ {
		if len(w.parts[i]) > 0 {
			w.parts[i] = w.parts[i][1:]
			break
		}
	}
}
