package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// world is the world as its administrators and members know it: what the API has accepted.
type world struct {
	seed    uint64
	members []*member // without those who were deleted
	leagues []*league
	shows   []*show
}

type member struct {
	name, mail string
	id         string // that the API gave
	phone      string // token; "" for a member without one
}

type league struct {
	name, id string
	members  []*member // in order of joining: the first is the owner
}

// side is who competes in a match, by whatever name.
type side struct{ names []string }

// void is the winner of a match that nobody wins.
var void = &side{}

type match struct {
	id, name string
	points   int
	sides    []*side
	winner   *side
	changed  bool // who competes has changed
}

type show struct {
	id, name     string
	starts, lock time.Time
	bonus        int
	card         []*match
	picks        map[*member]map[*match]*side // valid picks; the key is there from the first save on
	voided       map[*member][]string         // ids of the matches of picks that are not valid any more
	exists       bool
	scored       bool
	matches      int      // added to the card so far
	notices      []notice // that must arrive, and in which times
	problems     []string
	did          map[string]int // for its line
}

// notice is a notification about a show that members must get, each once, and nobody else.
type notice struct {
	what     string
	from, to time.Time
	members  []*member
}

// fail records a difference. It keeps the first few.
func (s *show) fail(format string, args ...any) {
	if len(s.problems) < 5 {
		s.problems = append(s.problems, fmt.Sprintf(format, args...))
	}
}

// dice returns a random source that is the same for the same seed and words.
func (w *world) dice(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, words...)

	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

var people = []string{"Ada", "Bruno", "Chidi", "Dara", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kemi", "Lior"}

// newcomer becomes a member in the middle of the year.
const newcomer = "Mina"

// Parts of the names of shows and of competitors, all made up.
var (
	firsts = []string{"Northern", "Silver", "Midnight", "Harbour", "Ember", "Thunder", "Copper", "Winter", "Golden",
		"Paper", "Iron", "Velvet", "Distant"}
	seconds = []string{"Crossing", "Reckoning"}
	heroes  = []string{"Asta", "Bram", "Cleo", "Dorn", "Esko", "Fara", "Gwil", "Hera", "Ivo", "Jara", "Kolt", "Luna",
		"Mirk", "Nell", "Orso", "Pia"}
	clans = []string{"Ashdown", "Brookes", "Carrow", "Dunlin", "Everly", "Fosdyke", "Garrick", "Holloway"}
)

// newWorld returns the members and the shows of a year, one every two weeks.
func newWorld(seed uint64, shows int) *world {
	w := &world{seed: seed}
	for _, name := range people {
		w.members = append(w.members, w.person(name))
	}

	for i := range shows {
		d := w.dice("show", i)
		day := firstShow.AddDate(0, 0, 14*i)
		name := firsts[i%len(firsts)] + " " + seconds[i/len(firsts)%len(seconds)]
		s := &show{
			id: day.Format(time.DateOnly) + "-" + strings.ToLower(strings.ReplaceAll(name, " ", "-")), name: name,
			starts: day.Add(18*time.Hour + time.Duration(d.IntN(5))*time.Hour/2), bonus: []int{0, 10, 25}[d.IntN(3)],
			picks: map[*member]map[*match]*side{}, voided: map[*member][]string{}, did: map[string]int{},
		}
		s.lock = s.starts.Add(-time.Hour)
		w.shows = append(w.shows, s)
	}

	return w
}

func (w *world) person(name string) *member {
	m := &member{name: name, mail: strings.ToLower(name) + "@example.com"}
	if w.dice("phone", name).IntN(6) > 0 {
		sum := sha256.Sum256([]byte(name))
		m.phone = hex.EncodeToString(sum[:])
	}

	return m
}

// newMatch returns a match that a show has not had.
func (w *world) newMatch(s *show) *match {
	d := w.dice("match", s.id, s.matches)
	s.matches++
	id := sha256.Sum256(fmt.Appendln(nil, s.id, s.matches))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8 (RFC 9562)

	m := &match{
		id:     fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		name:   fmt.Sprintf("Match %d", s.matches),
		points: 1 + d.IntN(25),
	}
	for range 2 + d.IntN(2)*d.IntN(3) {
		m.sides = append(m.sides, newSide(append(slices.Clone(s.card), m), d))
	}

	return m
}

// newSide returns competitors who are not on a card.
func newSide(card []*match, d *rand.Rand) *side {
	for {
		name := heroes[d.IntN(len(heroes))] + " " + clans[d.IntN(len(clans))]
		if !slices.ContainsFunc(card, func(m *match) bool {
			return slices.ContainsFunc(m.sides, func(o *side) bool { return slices.Contains(o.names, name) })
		}) {
			return &side{names: []string{name}}
		}
	}
}

// unpick makes the picks of a match void and returns who had picked it.
func (s *show) unpick(w *world, m *match) (had []*member) {
	for _, u := range w.members {
		if _, picked := s.picks[u][m]; picked {
			delete(s.picks[u], m)
			s.voided[u] = append(s.voided[u], m.id)
			had = append(had, u)
		}
	}

	return had
}
