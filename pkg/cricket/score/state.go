package score

import (
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// Format is the kind of match.
type Format string

// The formats. FirstClass is a multi-day match that is no Test; Other is a
// limited-overs match of a type the provider did not have before.
const (
	T20        Format = "t20"
	ODI        Format = "odi"
	Test       Format = "test"
	FirstClass Format = "firstClass"
	Hundred    Format = "hundred"
	T10        Format = "t10"
	Other      Format = "other"
)

// MultiDay reports a match of up to four innings without a limit of overs.
func (f Format) MultiDay() bool { return f == Test || f == FirstClass }

// State is one match. Fields that do not apply are zero and absent from the JSON,
// lists included.
type State struct {
	ID       string           `json:"id"`
	Format   Format           `json:"format"`
	Phase    sportmonks.Phase `json:"phase"`
	Status   string           `json:"status"`           // to show: "2nd innings", "Stumps, day 2"
	Pending  bool             `json:"pending,omitzero"` // the provider says finished, but not consistently who won
	Round    string           `json:"round,omitzero"`
	Day      int              `json:"day,omitzero"`     // multi-day, when the statuses told
	Session  int              `json:"session,omitzero"` // 1 to 3, likewise
	Local    Team             `json:"local"`
	Visitor  Team             `json:"visitor"`
	Overs    int              `json:"overs,omitzero"` // scheduled per side; 0 is no limit
	PerOver  int              `json:"ballsPerOver"`
	FollowOn bool             `json:"followOn,omitzero"`
	Toss     Toss             `json:"toss,omitzero"`
	Note     string           `json:"note,omitzero"` // the provider's

	Innings     []Innings   `json:"innings,omitzero"` // by number
	Current     int         `json:"current,omitzero"` // number of the last innings that began; 0 before the first
	Batters     []Batter    `json:"batters,omitzero"` // at the crease, at most two
	Bowler      Bowler      `json:"bowler,omitzero"`  // of the last ball
	Partnership Partnership `json:"partnership,omitzero"`
	LastWicket  Wicket      `json:"lastWicket,omitzero"` // of the current innings
	ThisOver    []string    `json:"thisOver,omitzero"`   // glyphs, at most 12; the last over until the next one begins
	LastSix     []string    `json:"lastSix,omitzero"`    // glyphs of the last six deliveries of the innings
	RunRate     string      `json:"runRate,omitzero"`    // of the current innings, "8.04"
	NeedRate    string      `json:"requiredRate,omitzero"`
	Target      Target      `json:"target,omitzero"` // of the innings that chases, or will next
	Need        Need        `json:"need,omitzero"`
	NeedText    string      `json:"needText,omitzero"` // "Pakistan need 45 runs from 30 balls"
	Lead        int         `json:"lead,omitzero"`     // multi-day: of the side of the current innings, negative when it trails
	LeadText    string      `json:"leadText,omitzero"` // "India lead by 27 runs"
	Result      Result      `json:"result,omitzero"`

	Stops    int `json:"stops,omitzero"`    // times that play was seen to be interrupted
	Resumes  int `json:"resumes,omitzero"`  // times that it went on: as many, or one fewer
	LastBall int `json:"lastBall,omitzero"` // id of the newest ball
	Held     int `json:"held,omitzero"`     // partial snapshots refused in a row
}

// Team is one side. Code and Image may be empty.
type Team struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Code  string `json:"code,omitzero"`
	Image string `json:"image,omitzero"`
}

// Toss says who won it and what they chose: "bat" or "field".
type Toss struct {
	WinnerID string `json:"winnerId"`
	Elected  string `json:"elected,omitzero"`
	Text     string `json:"text"`
}

// Innings is one side's innings. In limited overs numbers from 3 on are super
// overs, in pairs.
type Innings struct {
	Number    int    `json:"number"`
	TeamID    string `json:"teamId"`
	Runs      int    `json:"runs"`
	Wickets   int    `json:"wickets"`
	Overs     string `json:"overs"`          // "19.4"; whole overs without a part: "20"
	Balls     int    `json:"balls"`          // legal balls bowled
	Limit     int    `json:"limit,omitzero"` // balls allotted; 0 is no limit
	Target    int    `json:"target,omitzero"`
	AllOut    bool   `json:"allOut,omitzero"`
	Declared  bool   `json:"declared,omitzero"`
	SuperOver bool   `json:"superOver,omitzero"`
	Over      bool   `json:"over,omitzero"` // it has ended
	Extras    Extras `json:"extras,omitzero"`

	Listed    int  `json:"listed,omitzero"`    // balls the snapshot listed
	Unlisted  int  `json:"unlisted,omitzero"`  // runs in the total and not in those balls
	Explained bool `json:"explained,omitzero"` // the balls add up to the total, penalty runs apart
}

// Score is "182/8", "182" when all out, "391/9d" when declared.
func (n *Innings) Score() string {
	s := strconv.Itoa(n.Runs)
	switch {
	case n.Declared:
		s += "/" + strconv.Itoa(n.Wickets) + "d"
	case !n.AllOut || n.SuperOver:
		s += "/" + strconv.Itoa(n.Wickets)
	}
	return s
}

// Extras are the runs not off the bat.
type Extras struct {
	Wides   int `json:"wides,omitzero"`
	NoBalls int `json:"noBalls,omitzero"`
	Byes    int `json:"byes,omitzero"`
	LegByes int `json:"legByes,omitzero"`
	Penalty int `json:"penalty,omitzero"`
}

// Total is their sum.
func (e Extras) Total() int { return e.Wides + e.NoBalls + e.Byes + e.LegByes + e.Penalty }

// Batter is a batter at the crease. OnStrike is unset on both while nobody can
// tell: after a run out, until the next ball.
type Batter struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Balls    int    `json:"balls"`
	Fours    int    `json:"fours"`
	Sixes    int    `json:"sixes"`
	OnStrike bool   `json:"onStrike,omitzero"`
}

// Bowler is a bowler's figures in the innings.
type Bowler struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Overs   string `json:"overs"`
	Maidens int    `json:"maidens"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
}

// Partnership counts since the last wicket, runs with extras.
type Partnership struct {
	Runs  int `json:"runs"`
	Balls int `json:"balls"`
}

// Wicket is the fall of one. BallID is 0 when the ball is not listed.
type Wicket struct {
	Number   int    `json:"number"`
	BatterID string `json:"batterId"`
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Balls    int    `json:"balls"`
	How      string `json:"how,omitzero"` // "c Fakhar Zaman b Naseem Shah"
	BallID   int    `json:"ballId,omitzero"`
}

// Text is "Kusal Mendis c Fakhar Zaman b Naseem Shah 1 (2)".
func (w Wicket) Text() string {
	s := strings.TrimSpace(w.Name + " " + w.How)
	return strings.TrimSpace(s + " " + strconv.Itoa(w.Runs) + " (" + strconv.Itoa(w.Balls) + ")")
}

// Target is what wins the chase. Revised marks a rain rule's: show "(DLS)".
type Target struct {
	Runs    int    `json:"runs"`
	Overs   string `json:"overs,omitzero"` // allotted to the chase; absent without a limit
	Revised bool   `json:"revised,omitzero"`
}

// Need is what is left of a chase. Balls is 0 without a limit.
type Need struct {
	TeamID string `json:"teamId"`
	Runs   int    `json:"runs"`
	Balls  int    `json:"balls,omitzero"`
}

// Outcome is the kind of a result.
type Outcome string

// The outcomes. A tie may have a winner, by its Decider. Unknown is a match that
// the provider finished without saying how.
const (
	Won       Outcome = "won"
	Tied      Outcome = "tied"
	Drawn     Outcome = "drawn"
	NoResult  Outcome = "noResult"
	Abandoned Outcome = "abandoned" // without a ball bowled
	Cancelled Outcome = "cancelled"
	Unknown   Outcome = "unknown"
)

// The deciders of a tie.
const (
	SuperOver = "superOver"
	BowlOut   = "bowlOut"
)

// Result is how a match ended. A win has a margin in Runs (with Innings: "an
// innings and") or in Wickets, or none when it was awarded.
type Result struct {
	Kind      Outcome `json:"kind"`
	WinnerID  string  `json:"winnerId,omitzero"`
	Runs      int     `json:"runs,omitzero"`
	Wickets   int     `json:"wickets,omitzero"`
	Innings   bool    `json:"innings,omitzero"`
	BallsLeft int     `json:"ballsLeft,omitzero"` // of a chase
	Method    string  `json:"method,omitzero"`    // "DLS", "VJD", "awarded", or the provider's word
	Decider   string  `json:"decider,omitzero"`   // of a tie: SuperOver or BowlOut
	Text      string  `json:"text"`               // "England won by 5 wickets (with 6 balls remaining)"
	Confirmed bool    `json:"confirmed,omitzero"` // winner, note and scores agree
}

// IsZero reports no result.
func (r Result) IsZero() bool { return r.Kind == "" }

// Ball is one delivery of the timeline.
type Ball struct {
	ID      int    `json:"id"` // the key, ascending in time within an innings
	Innings int    `json:"innings"`
	At      string `json:"at"` // label, "18.3": a wide and the ball after it share one
	Batter  string `json:"batter"`
	Bowler  string `json:"bowler"`
	Runs    int    `json:"runs"`           // the team's
	Bat     int    `json:"bat,omitzero"`   // of them off the bat
	Extra   string `json:"extra,omitzero"` // wide, noBall, bye, legBye
	Glyph   string `json:"glyph"`
	Wicket  string `json:"wicket,omitzero"` // "Kusal Mendis c Fakhar Zaman b Naseem Shah"
}

// Tag begins the keys of an innings' events.
func (n *Innings) Tag() string { return "S" + strconv.Itoa(n.Number) + ":" }

// Standard is the overs a side has by the format, when the feed does not say.
func Standard(f Format) int {
	switch f {
	case T20, Hundred:
		return 20
	case ODI:
		return 50
	case T10:
		return 10
	}
	return 0
}

// FormatOf is the format that the provider's type of match names: "T20I",
// "Test/5day", "4day", "List A", ...
func FormatOf(matchType string) Format {
	t := strings.ToLower(matchType)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(t, p) })
	}
	switch {
	case has("hundred", "100"):
		return Hundred
	case has("t10"):
		return T10
	case has("t20", "twenty20"):
		return T20
	case has("odi", "list a", "one day", "one-day", "odm"):
		return ODI
	case has("test"):
		return Test
	case has("day", "mdm", "first class", "first-class"):
		return FirstClass
	}
	return Other
}

// Bowled is the balls of the overs bowled, which is what is gone of the limit:
// a miscounted over still uses up one over.
func (n *Innings) Bowled(per int) int {
	whole, part, _ := strings.Cut(n.Overs, ".")
	o, _ := strconv.Atoi(whole)
	b, _ := strconv.Atoi(part)
	return o*per + b
}

// InningsOf is the one with that number, or nil.
func (s *State) InningsOf(number int) *Innings {
	for i := range s.Innings {
		if s.Innings[i].Number == number {
			return &s.Innings[i]
		}
	}
	return nil
}

// LeadOf is a side's runs less the other's, over innings 1 to last.
func (s *State) LeadOf(teamID string, last int) int {
	lead := 0
	for _, n := range s.Innings {
		switch {
		case n.Number > last:
		case n.TeamID == teamID:
			lead += n.Runs
		default:
			lead -= n.Runs
		}
	}
	return lead
}

// Opponent is the id of the other side; "" if teamID does not play.
func (s *State) Opponent(teamID string) string {
	switch teamID {
	case s.Local.ID:
		return s.Visitor.ID
	case s.Visitor.ID:
		return s.Local.ID
	}
	return ""
}

// TeamName is a side's, for sentences.
func (s *State) TeamName(teamID string) string {
	switch teamID {
	case "":
	case s.Local.ID:
		return s.Local.Name
	case s.Visitor.ID:
		return s.Visitor.Name
	}
	return "A side"
}

// InOpening reports a match that has hardly begun.
func (s *State) InOpening() bool {
	return s.Current == 0 || s.Current == 1 && s.Innings[0].Balls < 60
}
