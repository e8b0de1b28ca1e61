// Package sportmonks simulates the SportMonks Cricket API v2.0: its paths, formats,
// limits and known errors, under a simulated clock. It plays the scripts of matches and
// injects faults. No code runs between requests: each answer is computed from the
// clock, so equal runs get equal answers. The recorded answers of the API do not show
// the following; these are decisions:
//   - Penalty runs are in the totals and in scoreboards, never in a ball.
//   - A batter who retired hurt or not out has no batsmanout_id, because clients of the
//     API count every ball with one as a wicket.
//   - Two wickets of one ball are in one entry, whose score names both.
//   - Super overs are S3 and following; their statuses repeat 3rd and 4th Innings.
//   - The Hundred has the type 100-Ball, and overs of five balls.
//   - The note of the innings break reports a declaration or a forfeit.
//   - rpc_overs and rpc_target are set only where rain changed the target.
//   - The rate limit counts calls by the first segment of the path, the strictest
//     meaning of "per endpoint"; fields[] and tz are ignored.
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
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/internal/wire"
	"matchday/infra/sim/sportmonks/script"
)

// Limits and sizes of the provider.
const (
	callsPerHour = 2000 // the window of the rate limit, from an endpoint's first call
	pageSize     = 100
)

// Server simulates the provider. It is an http.Handler for /api/v2.0.
type Server struct {
	clock *clock.Clock
	token string

	mu       sync.Mutex
	fixtures map[int64]*knownFixture
	leagues  map[int64]*edition
	seasons  map[int64]seasonOf
	stages   map[int64]*script.Fixture // one fixture of each stage
	teams    map[int64]script.Team
	venues   map[int64]script.Venue
	scores   map[int64]script.Score
	calls    map[string]*hour

	pendingFaults []*pendingFault
	chaos         Chaos
	counts        map[Kind]int
}

// knownFixture is a fixture of the server. play is nil if it is only announced.
type knownFixture struct {
	fixture  *script.Fixture
	start    time.Time
	playback *playback
	effects  []effect // of habits; none without a playback
}

type edition struct {
	script.League
	season int64 // the current season: that of the latest fixture
	latest time.Time
}

type seasonOf struct {
	script.Season
	league int64
}

type hour struct {
	since time.Time
	n     int
}

// New returns a server that accepts requests with the token.
func New(c *clock.Clock, token string) *Server {
	s := &Server{
		clock: c, token: token,
		fixtures: map[int64]*knownFixture{}, leagues: map[int64]*edition{}, seasons: map[int64]seasonOf{},
		stages: map[int64]*script.Fixture{}, teams: map[int64]script.Team{}, venues: map[int64]script.Venue{},
		scores: map[int64]script.Score{}, calls: map[string]*hour{}, counts: map[Kind]int{},
	}
	for _, sc := range script.Catalogue {
		s.scores[sc.ID] = sc
	}

	return s
}

// Announce adds fixtures that are not played: their status stays NS.
func (s *Server) Announce(start time.Time, fixtures ...script.Fixture) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, f := range fixtures {
		s.addReferences(&f, start)
		s.fixtures[f.ID] = &knownFixture{fixture: &f, start: start}
	}
}

// AnnounceMore announces n made-up fixtures, one every six hours from start, the same
// for a seed in every run. Half are between known teams in the teams' leagues, half are
// in new leagues.
func (s *Server) AnnounceMore(seed int64, n int, start time.Time) {
	r := rand.New(rand.NewPCG(uint64(seed), 1))

	s.mu.Lock()
	known := slices.SortedFunc(maps.Values(s.fixtures), func(a, b *knownFixture) int { return cmp.Compare(a.fixture.ID, b.fixture.ID) })
	s.mu.Unlock()

	for i := range n {
		f := script.GenerateFixture(r.Int64(), cricsheet.Formats[r.IntN(len(cricsheet.Formats))])
		if i%2 == 0 && len(known) > 0 {
			k := *known[i/2%len(known)].fixture
			k.ID, k.Local, k.Visitor = f.ID, k.Visitor, k.Local
			f = k
		}

		f.Round = script.Ordinal(i+1) + " Match"
		s.Announce(start.Add(time.Duration(i)*6*time.Hour), f)
	}
}

// addReferences stores the objects of a fixture that the reference endpoints return.
func (s *Server) addReferences(f *script.Fixture, start time.Time) {
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

// answer is the response to a request.
type answer struct {
	status int
	html   bool
	header map[string]string
	parts  [][]byte
	hang   bool
}

func fail(status int, message string) answer {
	var w wire.Writer
	w.Lit("{")
	w.Str("message", message)
	w.End()

	return answer{status: status, parts: w.Body()}
}

// notFound and badRequest hold the message for the caller.
type notFound string

func (e notFound) Error() string { return string(e) }

type badRequest string

func (e badRequest) Error() string { return string(e) }

// ServeHTTP answers a request. It holds clock work, so a free clock does not move
// meanwhile.
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
			return // the caller has disconnected
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
		if e.playback != nil {
			e.playback.advance(s, now)
		}
	}

	c := call{now: now, q: q, resource: resource, host: r.Host}

	var err error
	if resource == "standings" { // standings/season/{id}
		id, one = strings.CutPrefix(id, "season/")
		if !one {
			return fail(http.StatusNotFound, "Not Found")
		}
	}

	if one {
		if c.id, err = strconv.ParseInt(id, 10, 64); err != nil || resource == "livescores" {
			return fail(http.StatusNotFound, "Not Found")
		}
	}

	a, left := s.limit(resource, now)
	if a.status == 0 {
		a = s.errorAnswer(&c)
	}

	if a.status == 0 && !a.hang {
		var w wire.Writer
		if err = list(&c, &w); err == nil {
			a = s.corrupt(&c, answer{status: http.StatusOK, parts: w.Body()})
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

// call is a request for a resource: for a list, or for one object if id is not 0.
type call struct {
	now      time.Time
	q        url.Values
	resource string
	id       int64
	host     string
}

// includes parses the include parameter. A nested include implies its parent.
func (c *call) includes(allowed ...string) (wire.Includes, error) {
	in := wire.Includes{}

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

// resource returns the function that writes the body of a resource.
func (s *Server) resource(name string) (func(*call, *wire.Writer) error, bool) {
	f := map[string]func(*call, *wire.Writer) error{
		"livescores": s.livescores,
		"standings":  s.standings,
		"fixtures":   s.listFixtures,
		"leagues": func(c *call, w *wire.Writer) error {
			in, err := c.includes("season", "seasons")
			if err != nil {
				return err
			}

			return reference(c, w, s.leagues, func(l *edition) {
				w.League("", l.League, l.season)

				if in["season"] {
					w.Season("season", s.seasons[l.season].Season, l.ID)
					w.End()
				}

				if in["seasons"] {
					w.Key("seasons")
					w.Lit("[")

					for _, id := range slices.Sorted(maps.Keys(s.seasons)) {
						if so := s.seasons[id]; so.league == l.ID {
							w.Season("", so.Season, l.ID)
							w.End()
						}
					}

					w.Lit("]")
				}

				w.End()
			})
		},
		"seasons": func(c *call, w *wire.Writer) error {
			in, err := c.includes("league")
			if err != nil {
				return err
			}

			return reference(c, w, s.seasons, func(so seasonOf) {
				w.Season("", so.Season, so.league)

				if l := s.leagues[so.league]; in["league"] {
					w.League("league", l.League, l.season)
					w.End()
				}

				w.End()
			})
		},
		"stages": func(c *call, w *wire.Writer) error {
			in, err := c.includes("league", "season")
			if err != nil {
				return err
			}

			return reference(c, w, s.stages, func(f *script.Fixture) {
				w.Stage("", f)

				if in["league"] {
					w.League("league", f.League, s.leagues[f.League.ID].season)
					w.End()
				}

				if in["season"] {
					w.Season("season", f.Season, f.League.ID)
					w.End()
				}

				w.End()
			})
		},
		"teams": func(c *call, w *wire.Writer) error {
			return reference(c, w, s.teams, func(t script.Team) { w.Team("", t) })
		},
		"venues": func(c *call, w *wire.Writer) error {
			return reference(c, w, s.venues, func(v script.Venue) { w.Venue("", v) })
		},
		"scores": func(c *call, w *wire.Writer) error {
			return reference(c, w, s.scores, func(sc script.Score) { w.Score("", &sc) })
		},
	}[name]

	return f, f != nil
}

// reference writes all objects of a kind in order of id, or the requested one.
func reference[T any](c *call, w *wire.Writer, all map[int64]T, write func(T)) error {
	w.Lit(`{"data":`)

	if c.id != 0 {
		v, ok := all[c.id]
		if !ok {
			return notFound("No record of this id.")
		}

		write(v)
	} else {
		w.Lit("[")

		for _, id := range slices.Sorted(maps.Keys(all)) {
			write(all[id])
		}

		w.Lit("]")
	}

	w.End()

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

func (s *Server) livescores(c *call, w *wire.Writer) error {
	in, err := c.includes(fixtureIncludes()...)
	if err != nil {
		return err
	}

	keep, err := c.filter()
	if err != nil {
		return err
	}

	w.Lit(`{"data":[`)

	for _, id := range slices.Sorted(maps.Keys(s.fixtures)) {
		e := s.fixtures[id]
		if e.playback == nil {
			continue
		}

		v := e.snapshot(c.now)
		if !v.live {
			e.playback.rendered = [2]rendered{} // a past match is seldom requested
		} else if keep(e, v.Header) {
			s.fixture(c, w, e, v, in)
		}
	}

	w.Lit("]")
	w.End()

	return nil
}

func (s *Server) listFixtures(c *call, w *wire.Writer) error {
	in, err := c.includes(fixtureIncludes()...)
	if err != nil {
		return err
	}

	if c.id != 0 {
		e, ok := s.fixtures[c.id]
		if !ok || e.now(c.now).unknown {
			return notFound("No record of this id.")
		}

		w.Lit(`{"data":`)
		s.fixture(c, w, e, e.snapshot(c.now), in)
		w.End()

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

	var found []*knownFixture

	for _, e := range s.fixtures {
		if !e.now(c.now).unknown && keep(e, e.snapshot(c.now).Header) {
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

	w.Lit(`{"data":[`)

	for _, e := range found {
		s.fixture(c, w, e, e.snapshot(c.now), in)
	}

	w.Lit("]")

	base := "http://" + c.host + "/api/v2.0/fixtures"
	link := func(k string, n int) {
		if n < 1 || n > last {
			w.Null(k)
			return
		}

		w.Str(k, base+"?page="+strconv.Itoa(n))
	}

	w.Key("links")
	w.Lit("{")
	link("first", 1)
	link("last", last)
	link("prev", page-1)
	link("next", page+1)
	w.End()
	w.Key("meta")
	w.Lit("{")
	w.Int("current_page", page)

	if len(found) == 0 {
		w.Null("from")
	} else {
		w.Int("from", from+1)
	}

	w.Int("last_page", last)
	w.Str("path", base)
	w.Int("per_page", pageSize)

	if len(found) == 0 {
		w.Null("to")
	} else {
		w.Int("to", from+len(found))
	}

	w.Int("total", total)
	w.End()
	w.End()

	return nil
}

// filter parses the filter parameters. A comma separates alternatives.
func (c *call) filter() (keep func(*knownFixture, *script.Header) bool, err error) {
	var tests []func(*knownFixture, *script.Header) bool

	for k, values := range c.q {
		name, ok := strings.CutPrefix(k, "filter[")
		if !ok {
			continue
		}

		name = strings.TrimSuffix(name, "]")
		alternatives := strings.Split(values[0], ",")

		var field func(*knownFixture, *script.Header) string

		id := func(of func(*script.Fixture) int64) func(*knownFixture, *script.Header) string {
			return func(e *knownFixture, _ *script.Header) string { return strconv.FormatInt(of(e.fixture), 10) }
		}

		switch name {
		case "starts_between":
			test, err := c.between(alternatives)
			if err != nil {
				return nil, err
			}

			tests = append(tests, test)

			continue
		case "season_id":
			field = id(func(f *script.Fixture) int64 { return f.Season.ID })
		case "league_id":
			field = id(func(f *script.Fixture) int64 { return f.League.ID })
		case "stage_id":
			field = id(func(f *script.Fixture) int64 { return f.Stage.ID })
		case "localteam_id":
			field = id(func(f *script.Fixture) int64 { return f.Local.ID })
		case "visitorteam_id":
			field = id(func(f *script.Fixture) int64 { return f.Visitor.ID })
		case "status":
			field = func(_ *knownFixture, h *script.Header) string { return h.Status }
		case "round":
			field = func(e *knownFixture, _ *script.Header) string { return e.fixture.Round }
		default:
			return nil, badRequest(fmt.Sprintf("Requested filter(s) `%s` are not allowed.", name))
		}

		tests = append(tests, func(e *knownFixture, h *script.Header) bool { return slices.Contains(alternatives, field(e, h)) })
	}

	return func(e *knownFixture, h *script.Header) bool {
		for _, test := range tests {
			if !test(e, h) {
				return false
			}
		}

		return true
	}, nil
}

// between parses two dates or times in UTC. A date means its midnight.
func (c *call) between(bounds []string) (func(*knownFixture, *script.Header) bool, error) {
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

	return func(e *knownFixture, _ *script.Header) bool {
		start := e.startAt(c.now)
		return !start.Before(at[0]) && !start.After(at[1])
	}, nil
}

// order parses the sort parameter.
func (c *call) order() (func(a, b *knownFixture) int, error) {
	byID := func(a, b *knownFixture) int { return cmp.Compare(a.fixture.ID, b.fixture.ID) }
	field, descending := strings.CutPrefix(c.q.Get("sort"), "-")
	by := byID

	switch field {
	case "", "id":
	case "starting_at":
		by = func(a, b *knownFixture) int { return cmp.Or(a.startAt(c.now).Compare(b.startAt(c.now)), byID(a, b)) }
	default:
		return nil, badRequest(fmt.Sprintf("Requested sort(s) `%s` is not allowed.", field))
	}

	if descending {
		return func(a, b *knownFixture) int { return by(b, a) }, nil
	}

	return by, nil
}

func (e *knownFixture) snapshot(now time.Time) snapshot {
	if e.playback == nil {
		return snapshot{Frame: script.Frame{Header: &script.Header{Status: "NS"}}}
	}

	return e.now(now).change(e.playback.snapshot(now))
}

// startAt returns the start that the provider announces at an instant.
func (e *knownFixture) startAt(now time.Time) time.Time { return e.start.Add(-e.now(now).earlier) }

// fixture writes a fixture with its includes.
func (s *Server) fixture(c *call, w *wire.Writer, e *knownFixture, v snapshot, in wire.Includes) {
	f, h := e.fixture, v.Header

	var m *script.Match
	if e.playback != nil {
		m = e.playback.match
	}

	if (c.resource == "livescores" || c.id != 0) && s.takeFault(UnknownStatus, c, f.ID) {
		other := *h
		other.Status = "Review"
		h = &other
	}

	w.Fixture(f, m, h, e.startAt(c.now))

	if in["league"] {
		w.League("league", f.League, s.leagues[f.League.ID].season)
		w.End()
	}

	if in["season"] {
		w.Season("season", f.Season, f.League.ID)
		w.End()
	}

	if in["localteam"] {
		w.Team("localteam", f.Local)
	}

	if in["visitorteam"] {
		w.Team("visitorteam", f.Visitor)
	}

	if in["batting"] || in["bowling"] || in["runs"] || in["scoreboards"] {
		if m == nil {
			m = &script.Match{}
		}

		cards := m.Cards(v.Frame, v.wrong, v.phantom)
		if in["batting"] {
			w.Batting(m, cards, v.stamp, in)
		}

		if in["bowling"] {
			w.Bowling(m, cards, v.stamp, in)
		}

		if in["runs"] {
			w.Runs(m, cards, v.innings, in)
		}

		if in["scoreboards"] {
			w.Scoreboards(m, cards, v.innings, in)
		}
	}

	if in["lineup"] {
		w.Lineup(cmp.Or(m, &script.Match{}), h.Lineup)
	}

	if in["balls"] {
		s.balls(c, w, e, v, in["balls.catchstump"])
	}

	for _, t := range []struct {
		include string
		id      int64
	}{{"winnerteam", h.Winner}, {"tosswon", h.TossWon}} {
		switch {
		case !in[t.include]:
		case t.id == 0:
			w.Null(t.include)
		default:
			w.Team(t.include, s.teams[t.id])
		}
	}

	if in["venue"] {
		w.Venue("venue", f.Venue)
	}

	if in["stage"] {
		w.Stage("stage", f)
		w.End()
	}

	if in["manofmatch"] {
		best := -1
		if h.PlayerOfMatch != 0 {
			best = slices.IndexFunc(m.People, func(p script.Person) bool { return p.ID == h.PlayerOfMatch })
		}

		w.MaybePlayer("manofmatch", m, best)
	}

	if in["manofseries"] {
		w.Null("manofseries")
	}

	for i, k := range []string{"firstumpire", "secondumpire", "tvumpire", "referee"} {
		switch {
		case !in[k]:
		case m == nil || m.Officials[i] < 0 || len(m.People) == 0:
			w.Null(k)
		default:
			w.Official(k, m, m.Officials[i])
		}
	}

	w.End()
}

// balls writes the balls list. Each ball was rendered when it first appeared; balls
// with a current error are rendered again.
func (s *Server) balls(c *call, w *wire.Writer, e *knownFixture, v snapshot, catcher bool) {
	w.Key("balls")

	w.Lit("[")
	defer func() { w.Lit("]") }()

	n := v.Frame.Deliveries
	if n == 0 {
		return
	}

	p := e.playback
	from, to := 0, n

	if _, variant, ok := s.takeFaultVariant(ShortBalls, c, e.fixture.ID); ok {
		if variant%2 == 0 {
			to = n / 2
		} else {
			from = n - n/3
		}
	}

	r := p.render(n, catcher)

	var parts [][]byte

	cut := from
	for _, i := range v.changed {
		if i < from || i >= to {
			continue
		}

		parts = append(parts, r.between(cut, i))

		cut = i
		if wrong := v.wrong[i]; wrong != nil {
			parts = append(parts, wire.AppendBall(nil, p.match, wrong, p.stamps[i], catcher))
			cut = i + 1
		}

		if x := v.phantom[i]; x != nil {
			parts = append(parts, r.between(cut, i+1), wire.AppendBall(nil, p.match, x, p.stamps[i], catcher))
			cut = i + 1
		}
	}

	parts = append(parts, r.between(cut, to))
	if s.takeFault(DuplicateBalls, c, e.fixture.ID) {
		parts = append(parts, r.between(max(from, to-3), to))
	}

	w.SpliceList(parts)
}
