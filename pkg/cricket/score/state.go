package score

import (
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// Format is a format of the game.
type Format string

// The formats. FirstClass is a multi-day match that is no Test. Other is a
// limited-overs match of a type that we do not know.
const (
	T20        Format = "t20"
	ODI        Format = "odi"
	Test       Format = "test"
	FirstClass Format = "firstClass"
	Hundred    Format = "hundred"
	T10        Format = "t10"
	Other      Format = "other"
)

// MultiDay reports whether a match has up to four innings without a limit of overs.
func (f Format) MultiDay() bool { return f == Test || f == FirstClass }

// State is one match. A field that does not apply is zero, and absent from the JSON.
type State struct {
	ID       string           `json:"id"`
	Format   Format           `json:"format"`
	Phase    sportmonks.Phase `json:"phase"`
	Status   string           `json:"status"`           // to show: "2nd innings", "Stumps, day 2"
	Pending  bool             `json:"pending,omitzero"` // the status is finished, but winner, note and scores disagree
	Round    string           `json:"round,omitzero"`
	Day      int              `json:"day,omitzero"`     // multi-day; 0 if the statuses do not show it
	Session  int              `json:"session,omitzero"` // 1 to 3; 0 if unknown
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
	Target      Target      `json:"target,omitzero"` // of the chase, or of the next innings if that will be one
	Need        Need        `json:"need,omitzero"`
	NeedText    string      `json:"needText,omitzero"` // "Pakistan need 45 runs from 30 balls"
	Lead        int         `json:"lead,omitzero"`     // multi-day: of the side that bats; negative if it trails
	LeadText    string      `json:"leadText,omitzero"` // "India lead by 27 runs"
	Result      Result      `json:"result,omitzero"`

	Stops    int `json:"stops,omitzero"`    // how often play was interrupted
	Resumes  int `json:"resumes,omitzero"`  // how often it resumed: Stops, or one fewer
	LastBall int `json:"lastBall,omitzero"` // id of the newest ball
	Held     int `json:"held,omitzero"`     // partial snapshots refused in a row; 0 if the last one was read
}

// Team is a side. Code and Image may be empty.
type Team struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Code  string `json:"code,omitzero"`
	Image string `json:"image,omitzero"`
}

// Toss is who won the toss and what they chose: "bat", "field" or "" if unknown.
type Toss struct {
	WinnerID string `json:"winnerId"`
	Elected  string `json:"elected,omitzero"`
	Text     string `json:"text"`
}

// Innings is one innings of a side. In limited overs, innings 3 and later are super
// overs, in pairs.
type Innings struct {
	Number    int    `json:"number"`
	TeamID    string `json:"teamId"`
	Runs      int    `json:"runs"`
	Wickets   int    `json:"wickets"`
	Overs     string `json:"overs"`          // "19.4"; whole overs are "20"
	Balls     int    `json:"balls"`          // legal balls bowled
	Limit     int    `json:"limit,omitzero"` // balls allotted; 0 is no limit
	Target    int    `json:"target,omitzero"`
	AllOut    bool   `json:"allOut,omitzero"`
	Declared  bool   `json:"declared,omitzero"`
	SuperOver bool   `json:"superOver,omitzero"`
	Over      bool   `json:"over,omitzero"` // it has ended
	Extras    Extras `json:"extras,omitzero"`

	Listed    int  `json:"listed,omitzero"`    // balls that the snapshot lists
	Unlisted  int  `json:"unlisted,omitzero"`  // runs of the total that those balls do not have
	Explained bool `json:"explained,omitzero"` // the balls add up to the total, except for penalty runs
}

// Score returns the score: "182/8", "182" if all out, "391/9d" if declared.
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

// Extras are the runs of an innings that were not off the bat.
type Extras struct {
	Wides   int `json:"wides,omitzero"`
	NoBalls int `json:"noBalls,omitzero"`
	Byes    int `json:"byes,omitzero"`
	LegByes int `json:"legByes,omitzero"`
	Penalty int `json:"penalty,omitzero"`
}

// Total returns the sum of the extras.
func (e Extras) Total() int { return e.Wides + e.NoBalls + e.Byes + e.LegByes + e.Penalty }

// Batter is a batter at the crease. OnStrike is false for both while the strike is
// unknown: after a run out, until the next ball.
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

// Partnership counts from the last wicket. Runs include extras.
type Partnership struct {
	Runs  int `json:"runs"`
	Balls int `json:"balls"`
}

// Wicket is the fall of a wicket. BallID is 0 if the ball is not listed.
type Wicket struct {
	Number   int    `json:"number"`
	BatterID string `json:"batterId"`
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Balls    int    `json:"balls"`
	How      string `json:"how,omitzero"` // "c Fakhar Zaman b Naseem Shah"
	BallID   int    `json:"ballId,omitzero"`
}

// Text returns "Kusal Mendis c Fakhar Zaman b Naseem Shah 1 (2)".
func (w Wicket) Text() string {
	s := strings.TrimSpace(w.Name + " " + w.How)
	return strings.TrimSpace(s + " " + strconv.Itoa(w.Runs) + " (" + strconv.Itoa(w.Balls) + ")")
}

// Target is the runs that win the chase. Revised means that a rain rule set it, which is
// shown as "(DLS)".
type Target struct {
	Runs    int    `json:"runs"`
	Overs   string `json:"overs,omitzero"` // allotted to the chase; "" for no limit
	Revised bool   `json:"revised,omitzero"`
}

// Need is the runs and balls that are left of a chase. Balls is 0 for no limit.
type Need struct {
	TeamID string `json:"teamId"`
	Runs   int    `json:"runs"`
	Balls  int    `json:"balls,omitzero"`
}

// Outcome is the kind of a result.
type Outcome string

// The outcomes. A Tied match may have a winner, by its Decider. Unknown is a match that
// the provider finished without a result.
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

// Result is how a match ended. The margin of a win is in Runs (with Innings: "an innings
// and" those runs) or in Wickets. An awarded win has none.
type Result struct {
	Kind      Outcome `json:"kind"`
	WinnerID  string  `json:"winnerId,omitzero"`
	Runs      int     `json:"runs,omitzero"`
	Wickets   int     `json:"wickets,omitzero"`
	Innings   bool    `json:"innings,omitzero"`
	BallsLeft int     `json:"ballsLeft,omitzero"` // of a chase
	Method    string  `json:"method,omitzero"`    // "DLS", "VJD", "awarded", or as the provider names it
	Decider   string  `json:"decider,omitzero"`   // of a tie: SuperOver or BowlOut
	Text      string  `json:"text"`               // "England won by 5 wickets (with 6 balls remaining)"
	Confirmed bool    `json:"confirmed,omitzero"` // winner, note and scores agree
}

// IsZero reports whether there is no result.
func (r Result) IsZero() bool { return r.Kind == "" }

// Ball is a delivery in the timeline.
type Ball struct {
	ID      int    `json:"id"` // unique in the match; ascending in time within an innings
	Innings int    `json:"innings"`
	At      string `json:"at"` // label, "18.3"; a wide and the ball after it have the same
	Batter  string `json:"batter"`
	Bowler  string `json:"bowler"`
	Runs    int    `json:"runs"`           // the team's
	Bat     int    `json:"bat,omitzero"`   // those off the bat
	Extra   string `json:"extra,omitzero"` // wide, noBall, bye, legBye
	Glyph   string `json:"glyph"`
	Wicket  string `json:"wicket,omitzero"` // "Kusal Mendis c Fakhar Zaman b Naseem Shah"
}

// Tag returns the prefix of the keys of the innings' events: "S1:".
func (n *Innings) Tag() string { return "S" + strconv.Itoa(n.Number) + ":" }

// Standard returns the overs a side has in the format; 0 for no limit. It is the
// default if the feed has none.
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

// FormatOf returns the format of the provider's type of match, such as "T20I",
// "Test/5day", "4day" or "List A". An unknown type is Other.
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

// Bowled returns the balls of the limit that are used up: per for each over. An over
// of too many or too few balls still uses up one over.
func (n *Innings) Bowled(per int) int {
	whole, part, _ := strings.Cut(n.Overs, ".")
	o, _ := strconv.Atoi(whole)
	b, _ := strconv.Atoi(part)
	return o*per + b
}

// InningsOf returns the innings with that number, or nil.
func (s *State) InningsOf(number int) *Innings {
	for i := range s.Innings {
		if s.Innings[i].Number == number {
			return &s.Innings[i]
		}
	}
	return nil
}

// LeadOf returns the runs of a team minus those of its opponent, in innings 1 to last.
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

// Opponent returns the id of the other team, or "" if teamID does not play.
func (s *State) Opponent(teamID string) string {
	switch teamID {
	case s.Local.ID:
		return s.Visitor.ID
	case s.Visitor.ID:
		return s.Local.ID
	}
	return ""
}

// TeamName returns the name of a team, or "A side" if teamID does not play.
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

// InOpening reports whether fewer than 60 balls of the first innings are bowled.
func (s *State) InOpening() bool {
	return s.Current == 0 || s.Current == 1 && s.Innings[0].Balls < 60
}
