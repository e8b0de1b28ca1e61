package script

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

// League is a competition. Phase is true if it contains tours (like the provider's
// Twenty20 International) instead of being one tournament.
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

// Fixture holds the facts of a match that are known long before its start.
type Fixture struct {
	ID             int64
	Type           string // T20I, T20, ODI, List A, Test/5day, 4day, 100-Ball
	Round          string
	League         League
	Season         Season
	Stage          Stage
	Venue          Venue
	Local, Visitor Team
	Overs          int // scheduled, per side; 0 if days limit the match
}

// Match is the script of a match: its fixture, and what the provider sends after each
// delivery and event. It never changes, so several servers can play it at the same
// time.
type Match struct {
	Fixture
	Outcome Outcome

	BallsPerOver int // balls
	Gender       string
	People       []Person
	Officials    [4]int // first umpire, second umpire, TV umpire, referee: people, or -1
	Innings      []Innings
	Deliveries   []Delivery
	Frames       []Frame
}

// Outcome is the result in the last frame.
type Outcome struct {
	Status   string // Finished or Aban.
	Note     string
	WinnerID int64  // 0 if there is none
	Draw     string // the provider's draw_noresult: draw, no result, or nothing
	Runs     int    // margin; with Innings, in addition to an innings
	Wickets  int
	Innings  bool
	Method   string // the text of the file: D/L, VJD, Awarded
}

// Frame is what the provider sends after an event. It adds at most one delivery to the
// frame before it.
type Frame struct {
	*Header
	Deliveries   int           // number of deliveries shown
	InningsShown int           // number of innings that have a row in runs
	InningsOver  int           // number of innings that are over
	Wait         time.Duration // natural time since the previous frame
}

// Header holds the fields of a fixture that change during a match.
type Header struct {
	Status, Note                   string
	TossWon, Winner, PlayerOfMatch int64
	Elected, Draw                  string
	Lineup                         bool // the teams have named their eleven players
	SuperOver, FollowOn            bool
	RPCOvers                       float64
	RPCTarget                      int
	RainRules                      [2]*RainRule // the local and the visiting team's
}

// RainRule is a side's rain-rule data: its score, or the par score of a side that
// chases.
type RainRule struct {
	Score   int
	Overs   float64
	Wickets int // -1: unknown
}

type Person struct {
	ID              int64
	Side            int
	Name            string
	listed          bool // in the eleven, or a named substitute
	Substitute      bool
	Captain, Keeper bool
	Role            Role
}

type Role struct {
	ID   int64
	Name string
}

type Innings struct {
	Side      int // batting
	Super     bool
	pre, post int // penalty runs before the first and after the last ball
	absent    []int
	Powerplay [3]string
}

// Delivery is one entry of the balls list. Players are indexes into people, -1
// for nobody; labels are in tenths of an over, so 184 is 18.4.
type Delivery struct {
	Innings, Over, Ball int
	Number              int // 4 for each delivery before it; the numbers between are for invented deliveries
	Label               int // over.(legal balls before it + 1)
	overs               int // the innings' state after the delivery
	Crease              [2]int
	Striker, Bowler     int
	Score               Score
	penalty             int // only in the totals: the feed's balls have no such field
	conceded            int // charged to the bowler
	Legal, overDone     bool
	Dismissals          []Dismissal
}

type Dismissal struct {
	Player, Bowler, Catcher, Thrower int
	How                              Score // the kind of dismissal, without the ball's runs
	Credited                         bool  // the wicket counts for the bowler
}

// Score is an entry of the provider's list of the possible results of a ball.
type Score struct {
	ID                                    int64
	Name                                  string
	Runs, Bye, LegBye, NoBall, NoBallRuns int
	Four, Six, Wicket                     bool
	Ball                                  bool // false for wides only; true for no-balls
}

// Total is the number of runs that the ball adds to the team's score, without penalty
// runs.
func (s *Score) Total() int { return s.Runs + s.Bye + s.LegBye }

// wide reports whether the score is a wide. It looks at the name, because the provider
// has no field for wides.
func (s *Score) wide() bool { return strings.Contains(s.Name, "Wide") }

func (s *Score) legal() bool { return !s.wide() && s.NoBall == 0 }

// Card is the scorecard of one innings.
type Card struct {
	Runs, Wickets, Overs        int
	Wides, NoBalls, NoBallRuns  int
	Byes, LegByes, Penalty      int
	Batters                     []Batter
	Bowlers                     []Bowler
	batterOf, bowlerOf          []int // by person: place in batters, bowlers, plus one
	overBowler, overRuns, legal int   // the over in progress; overBowler is -2 if several bowlers bowled it
}

type Batter struct {
	Player, Balls, Runs, Fours, Sixes int
	Out                               *Dismissal
	FallScore, FallLabel              int
}

type Bowler struct {
	Player, Overs, balls       int // balls after the last complete over
	Maidens, Runs, Wickets     int
	Wides, NoBalls, legalInNow int
}

// Cards returns the scorecards of the innings that frame f shows. wrong holds
// deliveries that replace those of the match, and phantom holds additional deliveries,
// both by the index of a delivery.
func (m *Match) Cards(f Frame, wrong, phantom map[int]*Delivery) []Card {
	cards := make([]Card, f.InningsShown)
	for i := range cards {
		c := &cards[i]
		c.batterOf, c.bowlerOf = make([]int, len(m.People)), make([]int, len(m.People))
		c.overBowler = -1

		c.Penalty = m.Innings[i].pre
		c.Runs = c.Penalty
	}

	for i := range m.Deliveries[:f.Deliveries] {
		d := &m.Deliveries[i]
		if w := wrong[i]; w != nil {
			d = w
		}

		cards[d.Innings].add(d, m.BallsPerOver)

		if x := phantom[i]; x != nil {
			cards[x.Innings].add(x, m.BallsPerOver)
		}
	}

	for i := range cards[:f.InningsOver] {
		cards[i].Runs += m.Innings[i].post
		cards[i].Penalty += m.Innings[i].post

		for _, p := range m.Innings[i].absent {
			cards[i].batter(p).Out = &Dismissal{Player: p, Catcher: -1, Thrower: -1, How: NamedScore("Absent Hurt")}
		}
	}

	return cards
}

func (c *Card) batter(p int) *Batter {
	if c.batterOf[p] == 0 {
		c.Batters = append(c.Batters, Batter{Player: p})
		c.batterOf[p] = len(c.Batters)
	}

	return &c.Batters[c.batterOf[p]-1]
}

func (c *Card) bowler(p int) *Bowler {
	if c.bowlerOf[p] == 0 {
		c.Bowlers = append(c.Bowlers, Bowler{Player: p})
		c.bowlerOf[p] = len(c.Bowlers)
	}

	return &c.Bowlers[c.bowlerOf[p]-1]
}

func (c *Card) add(d *Delivery, perOver int) {
	s := &d.Score
	for _, p := range d.Crease {
		c.batter(p).Out = nil // a batter who retired hurt has returned
	}

	c.Runs += s.Total() + d.penalty
	c.Penalty += d.penalty
	c.Overs = d.overs
	c.Byes += s.Bye
	c.LegByes += s.LegBye

	bat, bowl := c.batter(d.Striker), c.bowler(d.Bowler)

	switch {
	case s.wide():
		c.Wides += s.Runs
		bowl.Wides += s.Runs
	case s.NoBall > 0:
		c.NoBalls++
		c.NoBallRuns += s.NoBallRuns
		bowl.NoBalls++
		bat.Balls++
		bat.Runs += s.Runs - s.NoBallRuns
	default:
		bat.Balls++
		bat.Runs += s.Runs
	}

	if s.Four {
		bat.Fours++
	}

	if s.Six {
		bat.Sixes++
	}

	for i := range d.Dismissals {
		o := &d.Dismissals[i]
		b := c.batter(o.Player)

		b.Out = o
		if !o.How.Wicket {
			continue
		}

		c.Wickets++
		b.FallScore, b.FallLabel = c.Runs, d.Label

		if o.Credited {
			bowl.Wickets++
		}
	}

	bowl.Runs += d.conceded

	c.overRuns += d.conceded
	switch c.overBowler {
	case -1, d.Bowler:
		c.overBowler = d.Bowler
	default:
		c.overBowler = -2
	}

	if d.Legal {
		c.legal++
		bowl.legalInNow++
	}

	if !d.overDone {
		return
	}

	for i := range c.Bowlers {
		b := &c.Bowlers[i]
		if c.overBowler == b.Player {
			b.Overs++ // an over counts as complete even if the umpire miscounted it
			if c.overRuns == 0 && c.legal >= perOver {
				b.Maidens++
			}
		} else if b.balls += b.legalInNow; b.balls >= perOver {
			b.Overs, b.balls = b.Overs+1, b.balls-perOver
		}

		b.legalInNow = 0
	}

	c.overBowler, c.overRuns, c.legal = -1, 0, 0
}

// Label returns the bowler's overs, in tenths.
func (b *Bowler) Label(perOver int) int {
	n := b.balls + b.legalInNow
	return (b.Overs+n/perOver)*10 + n%perOver
}

// Rate returns the runs per over, in hundredths.
func (b *Bowler) Rate(perOver int) int {
	if n := b.Overs*perOver + b.balls + b.legalInNow; n > 0 {
		return (2*100*b.Runs*perOver + n) / (2 * n)
	}

	return 0
}

// label returns the length of an innings in tenths of an over.
func label(over, legal int) int { return over*10 + min(legal, 9) }

// SyntheticID returns an id that depends only on the parts and is greater than the ids
// that the provider uses.
func SyntheticID(parts ...string) int64 {
	h := fnv.New32a()
	for _, w := range parts {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}

	return 1_000_000 + int64(h.Sum32()%900_000_000)
}

// code abbreviates a name as the provider does: PAK, NZ, CSK.
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

// Lineup lists the named players, local team first.
func (m *Match) Lineup() []int {
	var all []int

	for side := range 2 {
		for i := range m.People {
			if m.People[i].listed && m.People[i].Side == side {
				all = append(all, i)
			}
		}
	}

	return all
}

func (m *Match) Team(side int) Team {
	if side == 0 {
		return m.Local
	}

	return m.Visitor
}

// SideOf returns the side of the team with an id, or -1.
func (m *Match) SideOf(id int64) int {
	return slices.Index([]int64{m.Local.ID, m.Visitor.ID}, id)
}
