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

// The league that `make run` plays. No season of openfootball has its ids at the provider.
const (
	leagueID        = 9000
	firstClub       = 90_001 // the lowest id of a club
	matchLength     = 90 * time.Second
	leadTime        = time.Minute      // from the announcement of a round to its first kick-off
	kickOffInterval = 15 * time.Second // between the kick-offs of a round
	correctedAfter  = 15 * time.Second // from the end of a match with a wrong result to its correction
	roundPause      = 20 * time.Second // from the last correction of a round to the next announcement
)

var clubs = []string{"Amberwick", "Brackwater", "Coldharrow", "Dunmere", "Elderglen", "Fennick", "Gullhaven", "Hollowford"}

// league simulates the provider of the league.
type league struct {
	clock *clock.Clock
	dice  *rand.Rand

	mu     sync.Mutex
	rounds [][]leagueMatch
}

// leagueMatch is a match of the league.
type leagueMatch struct {
	id         int64
	home, away int // indexes of clubs
	kickOff    time.Time
	goals      []leagueGoal // in order
	wrong      bool         // at first the result lacks the last goal
}

type leagueGoal struct {
	at   time.Time
	side int
}

func newLeague(c *clock.Clock) *league {
	return &league{clock: c, dice: rand.New(rand.NewPCG(uint64(c.Now().UnixNano()), 1))}
}

// next announces a round, and returns its number.
func (l *league) next() int {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.clock.Now().Truncate(time.Second)
	order := l.dice.Perm(len(clubs))

	var round []leagueMatch

	for i := range len(clubs) / 2 {
		m := leagueMatch{
			id:      now.Unix()*10 + int64(i),
			home:    order[2*i],
			away:    order[2*i+1],
			kickOff: now.Add(leadTime + time.Duration(i)*kickOffInterval),
			wrong:   i == 1,
		}
		for range l.dice.IntN(5) {
			m.goals = append(m.goals, leagueGoal{side: l.dice.IntN(2)})
		}

		if m.wrong && len(m.goals) == 0 {
			m.goals = append(m.goals, leagueGoal{})
		}

		for g := range m.goals {
			m.goals[g].at = m.kickOff.Add(matchLength * time.Duration(g+1) / time.Duration(len(m.goals)+1))
		}

		round = append(round, m)
	}

	l.rounds = append(l.rounds, round)

	return len(l.rounds)
}

// over reports whether the next round can be announced.
func (l *league) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	if len(l.rounds) == 0 {
		return true
	}

	round := l.rounds[len(l.rounds)-1]

	return l.clock.Now().After(round[len(round)-1].kickOff.Add(matchLength + correctedAfter + roundPause))
}

// score returns the goals at a time, and whether the match has begun and ended.
func (m leagueMatch) score(now time.Time) (goals [2]int, begun, ended bool) {
	end := m.kickOff.Add(matchLength)

	begun, ended = !now.Before(m.kickOff), !now.Before(end)
	for i, g := range m.goals {
		late := m.wrong && i == len(m.goals)-1 && now.Before(end.Add(correctedAfter))
		if !g.at.After(now) && !late {
			goals[g.side]++
		}
	}

	return goals, begun, ended
}

// event is a match as the provider describes it.
func (m leagueMatch) event(now time.Time) map[string]any {
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

// handles reports whether a request to the provider is about the league.
func (l *league) handles(r *http.Request) bool {
	_, ok := picture(r)
	return ok || strings.HasPrefix(r.URL.Path, "/api/v1/unique-tournament/"+strconv.Itoa(leagueID)+"/")
}

// picture returns the name on the image that a request asks for: the league, or one of its clubs.
func picture(r *http.Request) (name string, ok bool) {
	if r.URL.Path == "/api/v1/unique-tournament/"+strconv.Itoa(leagueID)+"/image" {
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
func (l *league) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := picture(r); ok {
		w.Header().Set("Content-Type", "image/png")
		w.Write(football.Shield(name)) // a caller that has disconnected wants no answer

		return
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	_, what, _ := strings.Cut(r.URL.Path, "/season/")
	_, what, _ = strings.Cut(what, "/")

	var out any

	n, _ := strconv.Atoi(strings.TrimPrefix(what, "events/round/"))
	switch {
	case what == "rounds" && len(l.rounds) > 0:
		var all []map[string]int
		for i := range l.rounds {
			all = append(all, map[string]int{"round": i + 1})
		}

		out = map[string]any{"rounds": all}
	case what == "standings/total":
		out = l.standings()
	case n > 0 && n <= len(l.rounds):
		var all []any
		for _, m := range l.rounds[n-1] {
			all = append(all, m.event(l.clock.Now()))
		}

		out = map[string]any{"events": all}
	default:
		http.NotFound(w, r)
		return
	}

	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out) // a caller that has disconnected wants no answer
}

// standings returns the clubs in alphabetical order, because the room keeps the provider's order.
func (l *league) standings() any {
	rows := make([]map[string]any, len(clubs))
	for n, name := range clubs {
		var played, won, drawn, scored, conceded int

		for _, round := range l.rounds {
			for _, m := range round {
				goals, _, ended := m.score(l.clock.Now())
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
