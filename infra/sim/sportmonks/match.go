package sportmonks

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Team is a side. Men's and women's sides of one name are two teams.
type Team struct {
	ID         int64
	Name, Code string // Code is PAK, CSK, ENGW
	National   bool
}

// League is a competition; Phase says that it gathers tours (as the
// provider's Twenty20 International does) rather than being one tournament.
type League struct {
	ID         int64
	Name, Code string
	Phase      bool
}

// Season is one edition of a league.
type Season struct {
	ID   int64
	Name string
}

// Stage is a part of a season, or a tour in it.
type Stage struct {
	ID         int64
	Name, Code string
}

// Venue is a ground.
type Venue struct {
	ID         int64
	Name, City string
}

// Fixture is what is known of a match long before it starts.
type Fixture struct {
	ID             int64
	Type           string // T20I, T20, ODI, List A, Test/5day, 4day, 100-Ball
	Round          string
	League         League
	Season         Season
	Stage          Stage
	Venue          Venue
	Local, Visitor Team
	Overs          int // scheduled, a side; 0 when days limit the match
}

// Match is the script of a match: its fixture, and what the feed says after
// each delivery and event. It never changes, so any number of servers may play
// it at once.
type Match struct {
	Fixture
	Outcome Outcome

	perOver    int // balls
	gender     string
	people     []person
	officials  [4]int // first umpire, second umpire, TV umpire, referee: people, or -1
	innings    []innings
	deliveries []delivery
	frames     []frame
}

// Outcome is the result that the last frame tells.
type Outcome struct {
	Status   string // Finished or Aban.
	Note     string
	WinnerID int64  // 0: nobody
	Draw     string // the provider's draw_noresult: draw, no result, or nothing
	Runs     int    // margin; with Innings on top of an innings
	Wickets  int
	Innings  bool
	Method   string // as in the file: D/L, VJD, Awarded
}

// Frame tells what has been shown once a frame is on: how many deliveries, and
// the last of them by its place in the source. Innings, over and ball count
// from 0, ball within its over with wides and no-balls; before the first
// delivery they are -1.
type Frame struct {
	Status, Note        string
	Deliveries          int
	Innings, Over, Ball int
}

// Deliveries is how many balls the match has, wides and no-balls included.
func (m *Match) Deliveries() int { return len(m.deliveries) }

// Frames is how many frames the script has.
func (m *Match) Frames() int { return len(m.frames) }

// Frame describes frame i.
func (m *Match) Frame(i int) Frame {
	f := m.frames[i]
	out := Frame{Status: f.status, Note: f.note, Deliveries: f.balls, Innings: -1, Over: -1, Ball: -1}
	if f.balls > 0 {
		d := &m.deliveries[f.balls-1]
		out.Innings, out.Over, out.Ball = d.innings, d.over, d.ball
	}
	return out
}

// frame is what the feed says from one event on. At most one ball comes with it.
type frame struct {
	*header
	balls  int           // deliveries shown
	open   int           // innings that have a runs row
	closed int           // innings that are over
	wait   time.Duration // natural time since the frame before
}

// header holds the fields of a fixture that change during a match.
type header struct {
	status, note         string
	tossWon, winner, mom int64
	elected, draw        string
	lineup               bool // the elevens are named
	superOver, followOn  bool
	rpcOvers             float64
	rpcTarget            int
	dl                   [2]*dl // of the local and the visiting team
}

// dl is a side's rain-rule data: what it made, or the par of a side that chases.
type dl struct {
	score   int
	overs   float64
	wickets int // -1: not told
}

type person struct {
	id              int64
	side            int
	name            string
	listed          bool // in the eleven, or a named substitute
	sub             bool
	captain, keeper bool
	role            position
}

type position struct {
	id   int64
	name string
}

type innings struct {
	side      int // batting
	super     bool
	pre, post int // penalty runs before the first and after the last ball
	absent    []int
	powerplay [3]string
}

// delivery is one entry of the balls list. Players are indexes into people, -1
// for nobody; labels are in tenths of an over, so 184 is 18.4.
type delivery struct {
	innings, over, ball int
	number              int // 4 for each delivery before it; the numbers between are for phantoms
	label               int // over.(legal balls before it + 1)
	overs               int // of the innings after it
	crease              [2]int
	striker, bowler     int
	score               score
	penalty             int // in the totals only: the feed's balls have no such field
	conceded            int // charged to the bowler
	legal, overDone     bool
	outs                []out
}

type out struct {
	player, bowler, catcher, thrower int
	result                           score // how, without the ball's runs
	bowlers                          bool  // the wicket is his
}

// score is an entry of the provider's catalogue of what a ball can bring.
type score struct {
	id                                   int64
	name                                 string
	runs, bye, legBye, noball, noballRun int
	four, six, wicket                    bool
	ball                                 bool // false for wides only: it does not tell no-balls
}

// total is what the ball adds to the team's score, penalty runs apart.
func (s *score) total() int { return s.runs + s.bye + s.legBye }

// wide is told by the name alone: there is no field for it.
func (s *score) wide() bool { return strings.Contains(s.name, "Wide") }

func (s *score) legal() bool { return !s.wide() && s.noball == 0 }

// card is the scorecard of one innings.
type card struct {
	runs, wickets, overs        int
	wides, noballs, noballRuns  int
	byes, legByes, penalty      int
	batters                     []batter
	bowlers                     []bowler
	batterOf, bowlerOf          []int // by person: place in batters, bowlers, plus one
	overBowler, overRuns, legal int   // the over in progress; overBowler -2 when several bowled it
}

type batter struct {
	player, balls, runs, fours, sixes int
	out                               *out
	fowScore, fowLabel                int
}

type bowler struct {
	player, overs, balls       int // balls on top of whole overs
	maidens, runs, wickets     int
	wides, noballs, legalInNow int
}

// cards scores the first n deliveries, wrong ones in place of the true and
// phantoms after the ones they follow.
func (m *Match) cards(f frame, wrong, phantom map[int]*delivery) []card {
	cards := make([]card, f.open)
	for i := range cards {
		c := &cards[i]
		c.batterOf, c.bowlerOf = make([]int, len(m.people)), make([]int, len(m.people))
		c.overBowler = -1
		c.penalty = m.innings[i].pre
		if i < f.closed {
			c.penalty += m.innings[i].post
		}
		c.runs = c.penalty
	}
	for i := range m.deliveries[:f.balls] {
		d := &m.deliveries[i]
		if w := wrong[i]; w != nil {
			d = w
		}
		cards[d.innings].add(d, m.perOver)
		if x := phantom[i]; x != nil {
			cards[x.innings].add(x, m.perOver)
		}
	}
	for i := range cards[:f.closed] {
		for _, p := range m.innings[i].absent {
			cards[i].batter(p).out = &out{player: p, catcher: -1, thrower: -1, result: named("Absent Hurt")}
		}
	}
	return cards
}

func (c *card) batter(p int) *batter {
	if c.batterOf[p] == 0 {
		c.batters = append(c.batters, batter{player: p})
		c.batterOf[p] = len(c.batters)
	}
	return &c.batters[c.batterOf[p]-1]
}

func (c *card) bowler(p int) *bowler {
	if c.bowlerOf[p] == 0 {
		c.bowlers = append(c.bowlers, bowler{player: p})
		c.bowlerOf[p] = len(c.bowlers)
	}
	return &c.bowlers[c.bowlerOf[p]-1]
}

func (c *card) add(d *delivery, perOver int) {
	s := &d.score
	for _, p := range d.crease {
		c.batter(p).out = nil // whoever retired hurt is back
	}
	c.runs += s.total() + d.penalty
	c.penalty += d.penalty
	c.overs = d.overs
	c.byes += s.bye
	c.legByes += s.legBye

	bat, bowl := c.batter(d.striker), c.bowler(d.bowler)
	switch {
	case s.wide():
		c.wides += s.runs
		bowl.wides += s.runs
	case s.noball > 0:
		c.noballs++
		c.noballRuns += s.noballRun
		bowl.noballs++
		bat.balls++
		bat.runs += s.runs - s.noballRun
	default:
		bat.balls++
		bat.runs += s.runs
	}
	if s.four {
		bat.fours++
	}
	if s.six {
		bat.sixes++
	}
	for i := range d.outs {
		o := &d.outs[i]
		b := c.batter(o.player)
		b.out = o
		if !o.result.wicket {
			continue
		}
		c.wickets++
		b.fowScore, b.fowLabel = c.runs, d.label
		if o.bowlers {
			bowl.wickets++
		}
	}

	bowl.runs += d.conceded
	c.overRuns += d.conceded
	switch c.overBowler {
	case -1, d.bowler:
		c.overBowler = d.bowler
	default:
		c.overBowler = -2
	}
	if d.legal {
		c.legal++
		bowl.legalInNow++
	}
	if !d.overDone {
		return
	}
	for i := range c.bowlers {
		b := &c.bowlers[i]
		if c.overBowler == b.player {
			b.overs++ // an over counts as one even when the umpire miscounted it
			if c.overRuns == 0 && c.legal >= perOver {
				b.maidens++
			}
		} else if b.balls += b.legalInNow; b.balls >= perOver {
			b.overs, b.balls = b.overs+1, b.balls-perOver
		}
		b.legalInNow = 0
	}
	c.overBowler, c.overRuns, c.legal = -1, 0, 0
}

// label is the bowler's overs in tenths.
func (b *bowler) label(perOver int) int {
	n := b.balls + b.legalInNow
	return (b.overs+n/perOver)*10 + n%perOver
}

// rate is runs an over, in hundredths.
func (b *bowler) rate(perOver int) int {
	if n := b.overs*perOver + b.balls + b.legalInNow; n > 0 {
		return (2*100*b.runs*perOver + n) / (2 * n)
	}
	return 0
}

// label says in tenths of an over how long an innings is, legal balls into an
// over.
func label(over, legal int) int { return over*10 + min(legal, 9) }

// synthetic is an id that is the same for the same words on every run, above
// the ids that the provider uses.
func synthetic(words ...string) int64 {
	h := fnv.New32a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return 1_000_000 + int64(h.Sum32()%900_000_000)
}

// code shortens a name as the provider does: PAK, NZ, CSK.
func code(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	var out []rune
	if len(words) == 1 {
		out = []rune(words[0])
		out = out[:min(3, len(out))]
	} else {
		for _, w := range words {
			out = append(out, []rune(w)[0])
		}
	}
	return strings.ToUpper(string(out))
}

// lineup lists the named players, local team first.
func (m *Match) lineup() []int {
	var all []int
	for side := range 2 {
		for i := range m.people {
			if m.people[i].listed && m.people[i].side == side {
				all = append(all, i)
			}
		}
	}
	return all
}

func (m *Match) team(side int) Team {
	if side == 0 {
		return m.Local
	}
	return m.Visitor
}

// sideOf is the side of the team with the id, or -1.
func (m *Match) sideOf(id int64) int {
	return slices.Index([]int64{m.Local.ID, m.Visitor.ID}, id)
}
