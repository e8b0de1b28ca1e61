package replay

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// world is the season as its people have played it: what the API has accepted.
type world struct {
	seed    uint64
	players []*player
	merged  []*player // of the players, who are others now
	games   []*match
	league  string // ids
	season  string
	slug    string // of the league and the season, in URLs
}

// user is somebody with an account.
type user struct {
	id, name, mail string
	deleted        bool
	guest          bool // without an account: scores by the PIN of a session
}

// player is a player of the league.
type player struct {
	id, nickname string
	claimed      *user
	into         *player // with whom the player was merged
}

// now returns who the player is after the merges.
func (p *player) now() *player {
	for p.into != nil {
		p = p.into
	}

	return p
}

// goal is a goal as it was in the end.
type goal struct {
	id                 string
	third, minute      int
	scoring, conceding string
	scorer             *player // nil while unknown, and of a guest
	assists            []*player
	own                bool
	at                 int // the number of the request that recorded it
}

// match is a game.
type match struct {
	id, slug string
	day      time.Time
	name     string // in the output
	roster   map[*player]string
	goals    []*goal
	finished bool
	reopened bool
	absent   []string // the teams that did not come, of a walkover
	problems []string
	did      map[string]int
}

// fail records a difference. It keeps the first few.
func (m *match) fail(format string, args ...any) {
	if len(m.problems) < 5 {
		m.problems = append(m.problems, fmt.Sprintf(format, args...))
	}
}

var teams = []string{"red", "blue", "yellow"}

var nicknames = []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kit", "Lou", "Max",
	"Nia", "Oz", "Pip", "Quin", "Ros"}

// dice returns a random source that is the same for the same seed and words.
func (w *world) dice(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, words...)

	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// of returns the players of a team, in order of their names.
func (m *match) of(team string) (all []*player) {
	for p, t := range m.roster {
		if t == team {
			all = append(all, p)
		}
	}

	slices.SortFunc(all, func(a, b *player) int { return cmp.Compare(a.nickname+a.id, b.nickname+b.id) })

	return all
}
