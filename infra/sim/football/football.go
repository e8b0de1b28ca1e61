// Package football simulates a provider of football results that is shaped like SofaScore's
// API v1: rounds, events, standings and images of seasons that openfootball recorded, under
// a simulated clock. It misbehaves on request, as the provider has been seen to.
//
// Everything that the API will say of an event is decided when its season is added, by the
// seed. No code runs between requests: an answer depends on the clock alone, so equal runs
// get equal answers. The recorded answers of the API do not show the following; these are
// decisions:
//   - A match lasts from 1 h 48 min to 2 h 3 min, extra time about 40 minutes more, a
//     shoot-out a quarter of an hour more. Only half-time scores are of the recording; the
//     minutes of goals are drawn.
//   - The codes 41 (1st extra) and 50 (Penalties) continue the series of the known ones.
//   - An event that never changed has a changeTimestamp of 0.
//   - The list of a round has the cache header of an event; images may be kept for a day.
//   - A round with a slug is only found with its slug, and one with a prefix with both.
//   - The rounds of a cup are listed when the pairings are known: up to an hour after the
//     round before. The kick-off is on a later day if that is too late.
//   - The standings lag some minutes behind the events, the same time in the whole season.
package football

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/chaos"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/openfootball"
)

// Kind is a way to misbehave.
type Kind string

// What goes wrong with an event. An event can have several, except that a cancelled, void or
// replaced one has none of the play.
const (
	LateScore    Kind = "late score"     // finished first, the score up to 90 min later
	Corrected    Kind = "corrected"      // a wrong score at the finish, right 5 min to 5.4 h later
	Overwritten  Kind = "overwritten"    // an update up to 5 h after the finish names other changes
	Reopened     Kind = "reopened"       // in progress again after the finish, then finished again
	MovedMinutes Kind = "moved by 4 min" // the kick-off
	MovedHours   Kind = "moved by 3 h"   // the kick-off
	MovedDay     Kind = "moved by a day" // the kick-off
	Postponed    Kind = "postponed"      // without a date at first, days later with one
	Replaced     Kind = "replaced"       // postponed for ever; another event has the new date
	Cancelled    Kind = "cancelled"      // and not played
	Interrupted  Kind = "interrupted"    // in the second half, and resumed
	StartedEarly Kind = "started early"  // 2 to 20 min before the kick-off that the API says
	StartedLate  Kind = "started late"   // 5 to 40 min after it, not started until then
	StartedTwice Kind = "started twice"  // in progress, then not started for a while, then in progress
	Walkover     Kind = "walkover"       // finished without a score
)

// What goes wrong with a request.
const (
	Forbidden       Kind = "403"
	TooManyRequests Kind = "429" // with Retry-After
	ServerError     Kind = "500"
	Timeout         Kind = "timeout" // no answer until the caller closes the connection
	Truncated       Kind = "truncated JSON"
	HTML            Kind = "HTML page" // with status 200
	TooLarge        Kind = "too large" // followed by 5 MiB of spaces
)

// OfEvents returns the kinds that Tournament.Rates and Tournament.Faults take.
func OfEvents() []Kind {
	return []Kind{
		LateScore, Corrected, Overwritten, Reopened, MovedMinutes, MovedHours, MovedDay,
		Postponed, Replaced, Cancelled, Interrupted, StartedEarly, StartedLate, StartedTwice, Walkover,
	}
}

// OfRequests returns the kinds that Server.Misbehave takes.
func OfRequests() []Kind {
	return []Kind{Forbidden, TooManyRequests, ServerError, Timeout, Truncated, HTML, TooLarge}
}

// Tournament is a season that the provider covers.
type Tournament struct {
	ID, SeasonID int64 // of the unique tournament and of its season
	Season       openfootball.Season
	Shift        time.Duration    // is added to every kick-off of the season
	Rates        map[Kind]float64 // probabilities per event, from 0 to 1
	Faults       map[int][]Kind   // of a match, by its index; Rates do not count for it
}

// Server simulates the provider. It is an http.Handler for /api/v1. Create it with New.
type Server struct {
	clock *clock.Clock
	seed  uint64
	mux   *http.ServeMux

	mu      sync.Mutex
	seasons map[[2]int64]*season // by the ids of the unique tournament and of the season
	events  map[int64]*event
	teams   map[string]teamInfo // by name
	counts  map[Kind]int
	faults  faults
}

// season is a season of a unique tournament.
type season struct {
	Tournament
	name   string // of the unique tournament
	year   string
	lag    time.Duration // of the standings
	rounds []openfootball.Round
	events []*event                  // in the order of the matches
	groups map[string]tournamentInfo // the part of the tournament that a group is
}

// event is an event of the API.
type event struct {
	id         int64
	season     *season
	index      int // of the match
	match      openfootball.Match
	info       eventInfo // what never changes
	visible    time.Time // the API knows nothing of the event before
	views      []view    // by time; the first holds from the beginning
	replacedBy int64
}

// Ids of events and teams count up from these.
const (
	firstEvent = 12_000_001
	firstTeam  = 2_001
)

// New returns a server without tournaments.
func New(c *clock.Clock, seed uint64) *Server {
	s := &Server{
		clock: c, seed: seed, seasons: map[[2]int64]*season{}, events: map[int64]*event{},
		teams: map[string]teamInfo{}, counts: map[Kind]int{}, faults: newFaults(),
	}
	s.routes()

	return s
}

// Add adds a season. It fails if the ids are not positive or the season is known, and if a
// kind is not of OfEvents.
func (s *Server) Add(t Tournament) error {
	kinds := slices.Collect(maps.Keys(t.Rates))
	for i, list := range t.Faults {
		if i < 0 || i >= len(t.Season.Matches) {
			return fmt.Errorf("the season has no match %d", i)
		}

		kinds = append(kinds, list...)
	}

	for _, k := range kinds {
		if !slices.Contains(OfEvents(), k) {
			return fmt.Errorf("unknown fault %q of an event", k)
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	key := [2]int64{t.ID, t.SeasonID}
	if min(t.ID, t.SeasonID) < 1 || s.seasons[key] != nil || len(t.Season.Matches) == 0 {
		return fmt.Errorf("the season %d of tournament %d must have matches, and be added once with positive ids", t.SeasonID, t.ID)
	}

	se := &season{Tournament: t, name: tournamentName(t.Season.Name), rounds: t.Season.Rounds(), groups: map[string]tournamentInfo{}}

	first, last := t.Season.Matches[0].KickOff, t.Season.Matches[0].KickOff
	for _, m := range t.Season.Matches {
		first, last = earlier(first, m.KickOff), later(last, m.KickOff)
		if _, known := se.groups[m.Group]; !known {
			se.groups[m.Group] = se.group(m.Group)
		}
	}

	se.year = yearOf(first.Add(t.Shift), last.Add(t.Shift))
	se.lag = dice{s.seed, fmt.Sprint(t.ID, " ", t.SeasonID)}.between("lag", 2*time.Minute, 12*time.Minute)
	s.seasons[key] = se
	s.plan(se)

	return nil
}

// plan decides what becomes of each event. A knockout round waits for the matches that its
// pairings depend on. If one of these is never played, the pairings are never known, unless the
// file has a result of the round.
func (s *Server) plan(se *season) {
	ends := map[int]time.Time{} // by the match; zero if it is never played
	for _, r := range se.rounds {
		visible, known := s.pairings(se, r, ends)
		if !known {
			continue
		}

		for i, m := range se.Season.Matches {
			if m.Round == r {
				ends[i], _ = s.planEvent(se, i, visible)
			}
		}
	}

	slices.SortStableFunc(se.events, func(a, b *event) int { return cmp.Compare(a.index, b.index) })
}

// pairings returns when the pairings of a round are known, or false if they never are. Those of
// a league and of groups always are. Those of a knockout round are known some time after the
// end of the matches that were planned before and that the file dates before the round: those
// of knockout rounds of the same part of the competition or of the round's teams, and those of
// the leagues and groups of its teams. Nothing waits for a match for the third place.
func (s *Server) pairings(se *season, r openfootball.Round, ends map[int]time.Time) (visible time.Time, known bool) {
	if !r.Knockout() {
		return time.Time{}, true
	}

	all := se.Season.Matches

	var first time.Time

	teams, played := map[string]bool{}, false

	for _, m := range all {
		if m.Round != r {
			continue
		}

		if first.IsZero() || m.KickOff.Before(first) {
			first = m.KickOff
		}

		teams[m.Home], teams[m.Away] = true, true
		_, result := m.Result()
		played = played || result
	}

	groups := map[string]bool{}

	for _, m := range all {
		if !m.Round.Knockout() && (teams[m.Home] || teams[m.Away]) {
			groups[m.Group] = true
		}
	}

	known = true

	for i, m := range all {
		end, planned := ends[i]

		depends := groups[m.Group]
		if m.Round.Knockout() {
			depends = m.Round.Prefix == r.Prefix || teams[m.Home] || teams[m.Away]
		}

		if !planned || !depends || m.Round.ThirdPlace() || m.KickOff.After(first) {
			continue
		}

		visible = later(visible, end)
		known = known && !end.IsZero()
	}

	if !visible.IsZero() {
		d := dice{s.seed, fmt.Sprint(se.ID, " ", se.SeasonID, " ", r)}
		visible = visible.Add(d.between("pairings", 10*time.Minute, time.Hour))
	}

	return visible, known || played
}

// planEvent adds the event of a match, and the one that replaces it. It returns when the
// match is over, or false if it is never played.
func (s *Server) planEvent(se *season, i int, visible time.Time) (end time.Time, ok bool) {
	d := dice{s.seed, fmt.Sprint(se.ID, " ", se.SeasonID, " ", i)}
	kinds, chosen := se.Faults[i]
	m := se.Season.Matches[i]

	if !chosen {
		for _, k := range OfEvents() {
			if p := se.Rates[k]; p > 0 && d.roll(string(k)) < p {
				kinds = append(kinds, k)
			}
		}
	}

	m.KickOff = m.KickOff.Add(se.Shift)
	for m.KickOff.Before(visible.Add(notice)) {
		m.KickOff = m.KickOff.AddDate(0, 0, 1)
	}

	p := newScript(d, m, kinds)
	end, ok = p.write()

	e := s.addEvent(se, i, m, visible, p)
	for _, k := range p.happened() {
		s.counts[k]++
	}

	if p.again.IsZero() {
		return end, ok
	}

	m.KickOff = p.again
	second := newScript(d, m, slices.DeleteFunc(p.happened(), Kind.ofSchedule))
	end, ok = second.write()
	e.replacedBy = s.addEvent(se, i, m, p.announced, second).id

	return end, ok
}

func (s *Server) addEvent(se *season, i int, m openfootball.Match, visible time.Time, p *script) *event {
	e := &event{
		id: firstEvent + int64(len(s.events)), season: se, index: i, match: m,
		visible: visible, views: p.views(),
	}
	e.info = eventInfo{
		ID: e.id, Slug: openfootball.Slug(m.Away + " " + m.Home), Tournament: se.groups[m.Group],
		Season: seasonInfo{se.SeasonID, se.Season.Name, se.year}, RoundInfo: roundOf(m.Round),
		HomeTeam: s.team(m.Home), AwayTeam: s.team(m.Away),
	}
	e.info.RoundInfo.CupRoundType = cupRoundTypes[m.Round.Slug]
	s.events[e.id] = e
	se.events = append(se.events, e)

	return e
}

// at returns what the API says of an event, or false while it does not know it.
func (e *event) at(t time.Time) (view, bool) {
	n := sort.Search(len(e.views), func(i int) bool { return e.views[i].at.After(t) })
	return e.views[n-1], !t.Before(e.visible)
}

// Event is what the API says of an event at one time.
type Event struct {
	ID         int64
	Match      int // the index of the match in the season
	Code       int // of the status
	Type       string
	KickOff    time.Time
	Score      openfootball.Goals // the score that counts, without penalties
	Scored     bool               // both scores have display
	Changed    time.Time          // when the API began to say so
	Began      time.Time          // when the first half began; zero if it has not
	ReplacedBy int64              // the event that has the new date; 0 if there is none
}

// At returns what the API says of an event at a time, or false if it does not know it then.
func (s *Server) At(id int64, t time.Time) (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	e := s.events[id]
	if e == nil {
		return Event{}, false
	}

	v, ok := e.at(t)

	return e.report(v), ok
}

// Final returns what the API says of an event in the end, and for ever.
func (s *Server) Final(id int64) (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	e := s.events[id]
	if e == nil {
		return Event{}, false
	}

	return e.report(e.views[len(e.views)-1]), true
}

// Finals returns what the API says of the events of a season in the end, in the order of the
// matches. An event that replaces another follows it. Events of rounds whose pairings never
// are known are missing.
func (s *Server) Finals(tournament, season int64) (all []Event) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if se := s.seasons[[2]int64{tournament, season}]; se != nil {
		for _, e := range se.events {
			all = append(all, e.report(e.views[len(e.views)-1]))
		}
	}

	return all
}

func (e *event) report(v view) Event {
	goals, scored := v.result()

	return Event{
		ID: e.id, Match: e.index, Code: v.status.Code, Type: v.status.Type, KickOff: v.kickOff,
		Score: goals, Scored: scored, Changed: v.at, ReplacedBy: e.replacedBy, Began: e.began(v.at),
	}
}

// began returns when the first half began by what the API has said until a time; zero if it has not.
func (e *event) began(until time.Time) (at time.Time) {
	for _, v := range e.views {
		if v.at.After(until) {
			break
		}

		switch {
		case v.status == notStarted:
			at = time.Time{}
		case v.status == firstHalf && at.IsZero():
			at = v.period
		}
	}

	return at
}

// Counts returns how often each kind has happened: to requests, and to the events of the
// seasons that were added, in their past and future.
func (s *Server) Counts() map[Kind]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

// dice draws numbers for one thing, the same for the same seed.
type dice struct {
	seed uint64
	who  string
}

// roll returns a number in [0, 1) for a decision.
func (d dice) roll(what string) float64 { return chaos.Chance(d.seed, d.who, what) }

// below returns a number from 0 to n-1 for a decision.
func (d dice) below(n int, what string) int { return int(d.roll(what) * float64(n)) }

// between returns a time in whole seconds from one to the other, which it never reaches.
func (d dice) between(what string, from, to time.Duration) time.Duration {
	return from + time.Duration(d.roll(what)*float64(to-from)).Truncate(time.Second)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}

	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}

	return a
}

// tournamentName removes the year from the name of a season: "World Cup 2022".
func tournamentName(season string) string {
	words := strings.Fields(season)
	if n := len(words); n > 1 && words[n-1][0] >= '0' && words[n-1][0] <= '9' {
		words = words[:n-1]
	}

	return strings.Join(words, " ")
}

// yearOf names the years of a season as the provider does: "2022" or "22/23".
func yearOf(first, last time.Time) string {
	if first.Year() == last.Year() {
		return first.Format("2006")
	}

	return first.Format("06") + "/" + last.Format("06")
}
