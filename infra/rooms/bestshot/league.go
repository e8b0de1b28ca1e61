package bestshot

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/football"
)

// What `make run` plays: a league in which a match lasts 90 s, at the provider under an id that
// no season of openfootball has.
const (
	showID     = 9000
	firstClub  = 90_001 // of the ids of clubs
	showLasts  = 90 * time.Second
	showNotice = time.Minute      // from when a round is known to its first kick-off
	showApart  = 15 * time.Second // of the kick-offs of a round
	showRight  = 15 * time.Second // after which a wrong result is corrected
	showPause  = 20 * time.Second // after a round
)

var clubs = []string{"Amberwick", "Brackwater", "Coldharrow", "Dunmere", "Elderglen", "Fennick", "Gullhaven", "Hollowford"}

// show is the provider of the league.
type show struct {
	clock *clock.Clock
	dice  *rand.Rand

	mu     sync.Mutex
	rounds [][]showMatch
}

// showMatch is a match of the league.
type showMatch struct {
	id         int64
	home, away int // of clubs
	kickOff    time.Time
	goals      []showGoal // in order
	wrong      bool       // the result lacks the last goal at first
}

type showGoal struct {
	at   time.Time
	side int
}

func newShow(c *clock.Clock) *show {
	return &show{clock: c, dice: rand.New(rand.NewPCG(uint64(c.Now().UnixNano()), 1))}
}

// next announces a round, and returns its number.
func (s *show) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now().Truncate(time.Second)
	order := s.dice.Perm(len(clubs))

	var round []showMatch

	for i := range len(clubs) / 2 {
		m := showMatch{
			id:      now.Unix()*10 + int64(i),
			home:    order[2*i],
			away:    order[2*i+1],
			kickOff: now.Add(showNotice + time.Duration(i)*showApart),
			wrong:   i == 1,
		}
		for range s.dice.IntN(5) {
			m.goals = append(m.goals, showGoal{side: s.dice.IntN(2)})
		}

		if m.wrong && len(m.goals) == 0 {
			m.goals = append(m.goals, showGoal{})
		}

		for g := range m.goals {
			m.goals[g].at = m.kickOff.Add(showLasts * time.Duration(g+1) / time.Duration(len(m.goals)+1))
		}

		round = append(round, m)
	}

	s.rounds = append(s.rounds, round)

	return len(s.rounds)
}

// over reports whether the latest round is over, also the corrections of its results.
func (s *show) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if len(s.rounds) == 0 {
		return true
	}

	round := s.rounds[len(s.rounds)-1]

	return s.clock.Now().After(round[len(round)-1].kickOff.Add(showLasts + showRight + showPause))
}

// score returns the goals at a time, and whether the match has begun and ended.
func (m showMatch) score(now time.Time) (goals [2]int, begun, ended bool) {
	end := m.kickOff.Add(showLasts)

	begun, ended = !now.Before(m.kickOff), !now.Before(end)
	for i, g := range m.goals {
		late := m.wrong && i == len(m.goals)-1 && now.Before(end.Add(showRight))
		if !g.at.After(now) && !late {
			goals[g.side]++
		}
	}

	return goals, begun, ended
}

// event is a match as the provider describes it.
func (m showMatch) event(now time.Time) map[string]any {
	goals, begun, ended := m.score(now)
	code, kind := 0, "notstarted"

	switch {
	case ended:
		code, kind = 100, "finished"
	case begun:
		code, kind = 6, "inprogress"
	}

	team := func(n int) map[string]any { return map[string]any{"id": firstClub + n, "name": clubs[n]} }
	score := func(side int) map[string]any {
		if !begun {
			return map[string]any{}
		}

		return map[string]any{"current": goals[side], "display": goals[side]}
	}

	return map[string]any{
		"id":             m.id,
		"startTimestamp": m.kickOff.Unix(),
		"status":         map[string]any{"code": code, "type": kind},
		"homeTeam":       team(m.home),
		"awayTeam":       team(m.away),
		"homeScore":      score(0),
		"awayScore":      score(1),
		"changes":        map[string]any{"changeTimestamp": 0},
	}
}

// mine reports whether a request of the provider is about the league.
func (s *show) mine(r *http.Request) bool {
	_, ok := picture(r)
	return ok || strings.HasPrefix(r.URL.Path, "/api/v1/unique-tournament/"+strconv.Itoa(showID)+"/")
}

// picture returns the name of whose image a request is for: the league, or one of its clubs.
func picture(r *http.Request) (name string, ok bool) {
	if r.URL.Path == "/api/v1/unique-tournament/"+strconv.Itoa(showID)+"/image" {
		return "league", true
	}

	for n, club := range clubs {
		if r.URL.Path == fmt.Sprintf("/api/v1/team/%d/image", firstClub+n) {
			return club, true
		}
	}

	return "", false
}

// ServeHTTP answers as the provider does.
func (s *show) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := picture(r); ok {
		w.Header().Set("Content-Type", "image/png")
		w.Write(football.Shield(name)) // a caller that has disconnected wants no answer

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	_, what, _ := strings.Cut(r.URL.Path, "/season/")
	_, what, _ = strings.Cut(what, "/")

	var out any

	n, _ := strconv.Atoi(strings.TrimPrefix(what, "events/round/"))
	switch {
	case what == "rounds" && len(s.rounds) > 0:
		var all []map[string]int
		for i := range s.rounds {
			all = append(all, map[string]int{"round": i + 1})
		}

		out = map[string]any{"rounds": all}
	case what == "standings/total":
		out = s.standings()
	case n > 0 && n <= len(s.rounds):
		var all []any
		for _, m := range s.rounds[n-1] {
			all = append(all, m.event(s.clock.Now()))
		}

		out = map[string]any{"events": all}
	default:
		http.NotFound(w, r)
		return
	}

	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out) // a caller that has disconnected wants no answer
}

// standings returns the clubs in order of the alphabet: the room takes the provider's order.
func (s *show) standings() any {
	rows := make([]map[string]any, len(clubs))
	for n, name := range clubs {
		var played, won, drawn, scored, conceded int

		for _, round := range s.rounds {
			for _, m := range round {
				goals, _, ended := m.score(s.clock.Now())
				if !ended || m.home != n && m.away != n {
					continue
				}

				own, other := goals[0], goals[1]
				if m.away == n {
					own, other = other, own
				}

				played++

				scored, conceded = scored+own, conceded+other
				if own > other {
					won++
				} else if own == other {
					drawn++
				}
			}
		}

		rows[n] = map[string]any{
			"team":          map[string]any{"id": firstClub + n, "name": name},
			"position":      n + 1,
			"matches":       played,
			"wins":          won,
			"draws":         drawn,
			"losses":        played - won - drawn,
			"scoresFor":     scored,
			"scoresAgainst": conceded,
			"points":        3*won + drawn,
		}
	}

	return map[string]any{"standings": []any{map[string]any{"name": "League", "tournament": map[string]any{"isGroup": false}, "rows": rows}}}
}

// people are the members beside the visitor.
var people = []string{"Ada", "Bruno", "Chidi", "Dara", "Elif", "Femi", "Greta", "Hugo", "Ines"}

func userOf(name string) string { return "bestshot-" + strings.ToLower(name) }

// label names the league of a run.
func label(now time.Time) string { return fmt.Sprintf("Lantern League, %s", now.Format("15:04")) }
