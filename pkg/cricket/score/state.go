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
	_ struct{} `schema:"MatchState"`

	ID       string           `json:"id" doc:"The id of the match."`
	Format   Format           `json:"format" doc:"The format of the match."`
	Phase    sportmonks.Phase `json:"phase" doc:"The phase of the match."`
	Status   string           `json:"status" doc:"What happens now, such as 2nd innings or Stumps, day 2."`
	Pending  bool             `json:"pending,omitzero" doc:"Whether the provider's status is finished, while winner, note and scores disagree."`
	Round    string           `json:"round,omitzero" doc:"The round of the competition."`
	Day      int              `json:"day,omitzero" doc:"The day of a match of several days, or 2 on the reserve day of another. Absent: the statuses do not show it."`
	Session  int              `json:"session,omitzero" doc:"The session of the day, 1 to 3. Absent: unknown."`
	Pause    Pause            `json:"pause,omitzero" doc:"The interval, interruption or night that lasts. In a match of several days it is a meal interval or a night. Absent: there is none, or play before it is unknown."`
	Local    Team             `json:"local" doc:"The home side."`
	Visitor  Team             `json:"visitor" doc:"The visiting side."`
	Overs    int              `json:"overs,omitzero" doc:"The overs scheduled for each side. Absent: there is no limit."`
	PerOver  int              `json:"ballsPerOver" doc:"The balls of an over."`
	FollowOn bool             `json:"followOn,omitzero" doc:"Whether the side that bats second bats again at once."`
	Toss     Toss             `json:"toss,omitzero" doc:"The toss."`
	Note     string           `json:"note,omitzero" doc:"The provider's note."`

	Innings     []Innings   `json:"innings,omitzero" doc:"The innings in the order of their numbers."`
	Current     int         `json:"current,omitzero" doc:"The number of the last innings that began. Absent: none did."`
	Batters     []Batter    `json:"batters,omitzero" doc:"The batters at the crease, at most two."`
	Bowler      Bowler      `json:"bowler,omitzero" doc:"The bowler of the last ball."`
	Partnership Partnership `json:"partnership,omitzero" doc:"The partnership at the crease."`
	LastWicket  Wicket      `json:"lastWicket,omitzero" doc:"The last wicket of the current innings."`
	ThisOver    []string    `json:"thisOver,omitzero" doc:"The deliveries of the over, at most 12. Until the next over begins, it is the last one."`
	LastSix     []string    `json:"lastSix,omitzero" doc:"The last six deliveries of the innings."`
	RunRate     string      `json:"runRate,omitzero" doc:"The runs an over of the current innings, such as 8.04."`
	NeedRate    string      `json:"requiredRate,omitzero" doc:"The runs an over that the chase needs."`
	Target      Target      `json:"target,omitzero" doc:"The target of the chase, or of the next innings if that will be one."`
	Need        Need        `json:"need,omitzero" doc:"What the chase still needs."`
	NeedText    string      `json:"needText,omitzero" doc:"What the chase needs as a sentence."`
	Lead        int         `json:"lead,omitzero" doc:"The lead of the side that bats, in a match of several days. Negative: it trails."`
	LeadText    string      `json:"leadText,omitzero" doc:"The lead as a sentence."`
	Result      Result      `json:"result,omitzero" doc:"The result."`

	Stops    int `json:"stops,omitzero" doc:"How often play was interrupted."`
	Resumes  int `json:"resumes,omitzero" doc:"How often play resumed: as often as it was interrupted, or once less."`
	LastBall int `json:"lastBall,omitzero" doc:"The id of the newest ball."`
	Held     int `json:"held,omitzero" doc:"How many partial answers of the provider were refused in a row."`
}

// Pause is an interval, such as lunch, or the close of a day's play.
type Pause struct {
	Since   int64 `json:"since" doc:"The time of the first answer that has it, in epoch seconds."`
	Day     int   `json:"day" doc:"The day of play before it."`
	Session int   `json:"session" doc:"The session before it."`
}

// Team is a side. Code and Image may be empty.
type Team struct {
	ID    string `json:"id" doc:"The id of the team."`
	Name  string `json:"name" doc:"The display name of the team."`
	Code  string `json:"code,omitzero" doc:"The short code of the team."`
	Image string `json:"image,omitzero" doc:"The address of the provider's image."`
}

// Toss is who won the toss and what they chose: "bat", "field" or "" if unknown.
type Toss struct {
	WinnerID string `json:"winnerId" doc:"The id of the team that won the toss."`
	Elected  string `json:"elected,omitzero" doc:"What the winner chose."`
	Text     string `json:"text" doc:"The toss as a sentence."`
}

// Innings is one innings of a side. In limited overs, innings 3 and later are super
// overs, in pairs.
type Innings struct {
	Number    int    `json:"number" doc:"The number of the innings, from 1."`
	TeamID    string `json:"teamId" doc:"The id of the side that bats."`
	Runs      int    `json:"runs" doc:"The runs of the innings."`
	Wickets   int    `json:"wickets" doc:"The wickets that fell."`
	Overs     string `json:"overs" doc:"The overs bowled, such as 19.4; whole overs are 20."`
	Balls     int    `json:"balls" doc:"The legal balls bowled."`
	Limit     int    `json:"limit,omitzero" doc:"The balls allotted. Absent: there is no limit."`
	Target    int    `json:"target,omitzero" doc:"The runs that win, for the last innings."`
	AllOut    bool   `json:"allOut,omitzero" doc:"Whether all batters are out."`
	Declared  bool   `json:"declared,omitzero" doc:"Whether the side declared."`
	SuperOver bool   `json:"superOver,omitzero" doc:"Whether it is an innings of a super over."`
	Over      bool   `json:"over,omitzero" doc:"Whether the innings has ended."`
	Extras    Extras `json:"extras,omitzero" doc:"The extras of the innings."`

	Listed    int  `json:"listed,omitzero" doc:"The balls that the provider lists."`
	Unlisted  int  `json:"unlisted,omitzero" doc:"The runs of the total that those balls do not have."`
	Explained bool `json:"explained,omitzero" doc:"Whether the balls add up to the total, except for penalty runs."`
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
	Wides   int `json:"wides,omitzero" doc:"Wides, in runs."`
	NoBalls int `json:"noBalls,omitzero" doc:"No-balls, in runs."`
	Byes    int `json:"byes,omitzero" doc:"Byes, in runs."`
	LegByes int `json:"legByes,omitzero" doc:"Leg byes, in runs."`
	Penalty int `json:"penalty,omitzero" doc:"Penalty runs."`
}

// Total returns the sum of the extras.
func (e Extras) Total() int { return e.Wides + e.NoBalls + e.Byes + e.LegByes + e.Penalty }

// Batter is a batter at the crease. OnStrike is false for both while the strike is
// unknown: after a run out, until the next ball.
type Batter struct {
	ID       string `json:"id" doc:"The id of the player."`
	Name     string `json:"name" doc:"The name of the player."`
	Runs     int    `json:"runs" doc:"The runs of the batter."`
	Balls    int    `json:"balls" doc:"The balls that the batter faced."`
	Fours    int    `json:"fours" doc:"The fours of the batter."`
	Sixes    int    `json:"sixes" doc:"The sixes of the batter."`
	OnStrike bool   `json:"onStrike,omitzero" doc:"Whether the batter faces the next ball."`
}

// Bowler is a bowler's figures in the innings.
type Bowler struct {
	ID      string `json:"id" doc:"The id of the player."`
	Name    string `json:"name" doc:"The name of the player."`
	Overs   string `json:"overs" doc:"The overs bowled, such as 3.4."`
	Maidens int    `json:"maidens" doc:"The maiden overs."`
	Runs    int    `json:"runs" doc:"The runs conceded."`
	Wickets int    `json:"wickets" doc:"The wickets taken."`
}

// Partnership counts from the last wicket. Runs include extras.
type Partnership struct {
	Runs  int `json:"runs" doc:"The runs of the partnership."`
	Balls int `json:"balls" doc:"The balls of the partnership."`
}

// Wicket is the fall of a wicket. BallID is 0 if the ball is not listed.
type Wicket struct {
	Number   int    `json:"number" doc:"The number of the wicket in the innings, from 1."`
	BatterID string `json:"batterId" doc:"The id of the batter who is out."`
	Name     string `json:"name" doc:"The name of the batter who is out."`
	Runs     int    `json:"runs" doc:"The runs of the batter."`
	Balls    int    `json:"balls" doc:"The balls that the batter faced."`
	How      string `json:"how,omitzero" doc:"How the batter got out, such as c Fakhar Zaman b Naseem Shah."`
	BallID   int    `json:"ballId,omitzero" doc:"The id of the ball."`
}

// Text returns "Kusal Mendis c Fakhar Zaman b Naseem Shah 1 (2)".
func (w Wicket) Text() string {
	s := strings.TrimSpace(w.Name + " " + w.How)
	return strings.TrimSpace(s + " " + strconv.Itoa(w.Runs) + " (" + strconv.Itoa(w.Balls) + ")")
}

// Target is the runs that win the chase. Revised means that a rain rule set it, which is
// shown as "(DLS)".
type Target struct {
	Runs    int    `json:"runs" doc:"The runs that win."`
	Overs   string `json:"overs,omitzero" doc:"The overs allotted to the chase. Absent: there is no limit."`
	Revised bool   `json:"revised,omitzero" doc:"Whether a rain rule set the target."`
}

// Need is the runs and balls that are left of a chase. Balls is 0 for no limit.
type Need struct {
	TeamID string `json:"teamId" doc:"The id of the side that chases."`
	Runs   int    `json:"runs" doc:"The runs that the chase still needs."`
	Balls  int    `json:"balls,omitzero" doc:"The balls that the chase still has. Absent: there is no limit."`
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
	_ struct{} `schema:"MatchResult"`

	Kind      Outcome `json:"kind" doc:"The kind of the result."`
	WinnerID  string  `json:"winnerId,omitzero" doc:"The id of the winner. Absent: there is none."`
	Runs      int     `json:"runs,omitzero" doc:"The margin in runs."`
	Wickets   int     `json:"wickets,omitzero" doc:"The margin in wickets."`
	Innings   bool    `json:"innings,omitzero" doc:"Whether the margin includes an innings."`
	BallsLeft int     `json:"ballsLeft,omitzero" doc:"The balls left of a chase."`
	Method    string  `json:"method,omitzero" doc:"How the result was found: DLS, VJD, awarded, or as the provider names it."`
	Decider   string  `json:"decider,omitzero" doc:"What decided a tie: a super over or a bowl-out."`
	Text      string  `json:"text" doc:"The result as a sentence."`
	Confirmed bool    `json:"confirmed,omitzero" doc:"Whether winner, note and scores agree."`
}

// IsZero reports whether there is no result.
func (r Result) IsZero() bool { return r.Kind == "" }

// MayGoOn reports whether a super over may follow the result: a tie in limited overs.
func (s *State) MayGoOn() bool {
	return s.Result.Kind == Tied && s.Result.WinnerID == "" && !s.Format.MultiDay()
}

// Ball is a delivery in the timeline.
type Ball struct {
	ID      int    `json:"id" doc:"The id of the ball, unique in the match. It ascends in time within an innings."`
	Innings int    `json:"innings" doc:"The number of the innings, from 1."`
	At      string `json:"at" doc:"The over and ball, such as 18.3. A wide and the ball after it have the same."`
	Batter  string `json:"batter" doc:"The name of the batter."`
	Bowler  string `json:"bowler" doc:"The name of the bowler."`
	Runs    int    `json:"runs" doc:"The runs of the team."`
	Bat     int    `json:"bat,omitzero" doc:"The runs off the bat."`
	Extra   string `json:"extra,omitzero" doc:"The kind of extra."`
	Glyph   string `json:"glyph" doc:"The ball as one sign, such as 4, W or wd."`
	Wicket  string `json:"wicket,omitzero" doc:"The wicket as a text."`
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
