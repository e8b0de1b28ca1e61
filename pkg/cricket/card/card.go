package card

import (
	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/cricket/score"
)

// Match is what a scorecard has of the match as a whole.
type Match struct {
	Teams         []Side     `json:"teams" doc:"The sides, the home side first."`
	PlayerOfMatch *Player    `json:"playerOfMatch,omitempty" doc:"The player of the match. Absent: not named."`
	RainRule      []RainRule `json:"rainRule,omitempty" doc:"What the Duckworth-Lewis method counts for each side. Absent: it is not used."`
	Venue         Venue      `json:"venue,omitzero" doc:"The ground."`
	Officials     []Official `json:"officials,omitempty" doc:"The umpires and the referee."`
}

// Side is a team with its players. From the toss on they are the eleven, and the substitutes that
// the team has named.
type Side struct {
	_ struct{} `schema:"ScorecardSide"`

	TeamID  string   `json:"teamId" doc:"The id of the team."`
	Name    string   `json:"name" doc:"The display name: an administrator's title, or the provider's name."`
	Code    string   `json:"code,omitempty" doc:"The short display name: an administrator's short name, or the provider's code."`
	Players []Member `json:"players" doc:"The eleven, and then the substitutes. Empty: the team has not named them."`
}

// Member is a player of a side.
type Member struct {
	_ struct{} `schema:"ScorecardPlayer"`

	ID         string `json:"id" doc:"The id of the player."`
	Name       string `json:"name" doc:"The name of the player."`
	Captain    bool   `json:"captain,omitzero" doc:"Whether it is the captain."`
	Keeper     bool   `json:"keeper,omitzero" doc:"Whether it is the wicketkeeper."`
	Substitute bool   `json:"substitute,omitzero" doc:"Whether the player is none of the eleven, but a substitute."`
	Profile
}

// Profile is what the provider says of a player, each text in its words.
type Profile struct {
	Role         string `dynamodbav:"role,omitempty" json:"role,omitempty" example:"Bowler" doc:"What the player does in a team. Absent: unknown."`
	BattingStyle string `dynamodbav:"battingStyle,omitempty" json:"battingStyle,omitempty" example:"right-hand-bat" doc:"How the player bats. Absent: unknown."`
	BowlingStyle string `dynamodbav:"bowlingStyle,omitempty" json:"bowlingStyle,omitempty" example:"legbreak" doc:"How the player bowls. Absent: unknown, or never."`
	Image        string `dynamodbav:"image,omitempty" json:"image,omitempty" doc:"The address of the provider's image."`
}

// Player is a player who took part.
type Player struct {
	_ struct{} `schema:"PlayerRef"`

	ID   string `json:"id" doc:"The id of the player."`
	Name string `json:"name" doc:"The name of the player."`
}

// RainRule is what the Duckworth-Lewis method counts for a side: the score of the side that batted
// first, and the par score of the chase.
type RainRule struct {
	TeamID  string `json:"teamId" doc:"The id of the team."`
	Runs    int    `json:"runs" doc:"The runs."`
	Overs   string `json:"overs,omitempty" doc:"The overs, such as 19.4. Absent: the provider has none."`
	Wickets int    `json:"wickets,omitzero" doc:"The wickets lost. Absent: none, or unknown."`
}

// Venue is a ground.
type Venue struct {
	Name string `json:"name" doc:"The name of the ground."`
	City string `json:"city,omitempty" doc:"The city of the ground."`
}

// Official is an umpire or the referee.
type Official struct {
	Role Role   `json:"role" doc:"The role of the official."`
	ID   string `json:"id" doc:"The id of the official."`
	Name string `json:"name" doc:"The name of the official."`
}

// Innings is the card of an innings.
type Innings struct {
	_ struct{} `schema:"ScorecardInnings"`

	Number        int           `json:"number" doc:"The number of the innings, from 1."`
	TeamID        string        `json:"teamId" doc:"The id of the side that bats."`
	SuperOver     bool          `json:"superOver,omitzero" doc:"Whether it is an innings of a super over."`
	Runs          int           `json:"runs" doc:"The runs of the innings."`
	Wickets       int           `json:"wickets" doc:"The wickets that fell."`
	Overs         string        `json:"overs" doc:"The overs bowled, such as 19.4; whole overs are 20."`
	RunRate       string        `json:"runRate,omitempty" doc:"The runs of six balls, such as 8.04. Absent: no ball was bowled."`
	AllOut        bool          `json:"allOut,omitzero" doc:"Whether all batters are out."`
	Declared      bool          `json:"declared,omitzero" doc:"Whether the side declared."`
	Over          bool          `json:"over,omitzero" doc:"Whether the innings has ended."`
	Target        *score.Target `json:"target,omitempty" doc:"The target of the chase. Absent: it is none."`
	Batting       []Batter      `json:"batting" doc:"The batters in batting order."`
	DidNotBat     []Player      `json:"didNotBat" doc:"Who of the eleven has not batted. Empty in a super over."`
	Extras        Extras        `json:"extras" doc:"The runs that were not off the bat."`
	Falls         []Fall        `json:"fallOfWickets" doc:"The wickets in the order in which they fell."`
	Partnerships  []Partnership `json:"partnerships" doc:"The partnerships in order. A batter who retires ends one without a wicket. Empty: the provider lists no balls."`
	Bowling       []Bowler      `json:"bowling" doc:"The bowlers in the order in which they came on."`
	Unchecked     bool          `json:"unchecked,omitzero" doc:"Whether the provider lists no ball of the innings, so that nothing could be checked."`
	Disagreements []Part        `json:"disagreements,omitempty" doc:"The parts in which the provider's rows differ from its balls. They are shown as in the rows. Absent: none."`
}

// Batter is the row of a batter.
type Batter struct {
	_ struct{} `schema:"ScorecardBatter"`

	ID         string `json:"id" doc:"The id of the player."`
	Name       string `json:"name" doc:"The name of the player."`
	Runs       int    `json:"runs" doc:"The runs of the batter."`
	Balls      int    `json:"balls" doc:"The balls that the batter faced."`
	Fours      int    `json:"fours" doc:"The fours of the batter."`
	Sixes      int    `json:"sixes" doc:"The sixes of the batter."`
	StrikeRate string `json:"strikeRate,omitempty" doc:"The runs of 100 balls, such as 133.33. Absent: the batter faced no ball."`
	Dismissal
}

// Dismissal is how a batter got out, or did not.
type Dismissal struct {
	How        How      `json:"how" doc:"How the batter got out. notOut, retiredHurt, retiredNotOut and absentHurt are no wickets."`
	Bowler     *Player  `json:"bowler,omitempty" doc:"The bowler of the wicket. Absent: it is no bowler's."`
	Fielders   []Player `json:"fielders,omitempty" doc:"Who caught or stumped; of a run out who threw, and then who broke the wicket. One alone did both, or is the only one known."`
	Substitute bool     `json:"substitute,omitzero" doc:"Whether the fielder was a substitute."`
	Text       string   `json:"text,omitempty" doc:"What the provider calls the dismissal, if how is other."`
}

// Extras are the extras of an innings, in runs.
type Extras struct {
	_ struct{} `schema:"ScorecardExtras"`

	Wides   int `json:"wides" doc:"Wides, in runs."`
	NoBalls int `json:"noBalls" doc:"No-balls, in runs."`
	Byes    int `json:"byes" doc:"Byes, in runs."`
	LegByes int `json:"legByes" doc:"Leg byes, in runs."`
	Penalty int `json:"penalty" doc:"Penalty runs."`
	Total   int `json:"total" doc:"The sum of the extras."`
}

// Fall is the fall of a wicket.
type Fall struct {
	_ struct{} `schema:"ScorecardWicket"`

	Wicket int    `json:"wicket" doc:"The number of the wicket, from 1."`
	Batter Player `json:"batter" doc:"The batter who is out."`
	Runs   int    `json:"runs" doc:"The runs of the innings after the ball."`
	Overs  string `json:"overs,omitempty" doc:"The over and ball, such as 18.3. Absent: the provider has none."`
}

// Partnership is what two batters made together. Runs include extras, but no penalty runs.
type Partnership struct {
	_ struct{} `schema:"ScorecardPartnership"`

	Wicket  int       `json:"wicket" doc:"The wicket that ended it, or that would have."`
	Runs    int       `json:"runs" doc:"The runs of the partnership, extras included."`
	Balls   int       `json:"balls" doc:"The balls of the partnership, without wides."`
	Broken  bool      `json:"broken,omitzero" doc:"Whether it ended by the fall of the wicket."`
	Batters []Partner `json:"batters" doc:"The batters: two, or fewer if the provider does not name both."`
}

// Partner is the part of a batter in a partnership.
type Partner struct {
	_ struct{} `schema:"ScorecardPartner"`

	ID    string `json:"id" doc:"The id of the player."`
	Name  string `json:"name" doc:"The name of the player."`
	Runs  int    `json:"runs" doc:"The runs of the batter in the partnership."`
	Balls int    `json:"balls" doc:"The balls that the batter faced in it."`
}

// Bowler is the row of a bowler.
type Bowler struct {
	_ struct{} `schema:"ScorecardBowler"`

	ID      string `json:"id" doc:"The id of the player."`
	Name    string `json:"name" doc:"The name of the player."`
	Overs   string `json:"overs" doc:"The overs bowled, such as 3.4."`
	Maidens int    `json:"maidens" doc:"The maiden overs."`
	Runs    int    `json:"runs" doc:"The runs conceded."`
	Wickets int    `json:"wickets" doc:"The wickets taken."`
	Wides   int    `json:"wides" doc:"The wides, in runs."`
	NoBalls int    `json:"noBalls" doc:"The number of no-balls."`
	Economy string `json:"economy,omitempty" doc:"The runs of six balls, such as 7.25. Absent: no legal ball was bowled."`
}

// How is how a batter got out, or did not.
type How string

// The kinds of dismissals. Other is one whose name in the provider's data is not known.
const (
	NotOut              How = "notOut"
	Bowled              How = "bowled"
	Caught              How = "caught"
	CaughtAndBowled     How = "caughtAndBowled"
	LBW                 How = "lbw"
	Stumped             How = "stumped"
	RunOut              How = "runOut"
	HitWicket           How = "hitWicket"
	ObstructingTheField How = "obstructingTheField"
	HandledTheBall      How = "handledTheBall"
	HitTheBallTwice     How = "hitTheBallTwice"
	TimedOut            How = "timedOut"
	RetiredOut          How = "retiredOut"
	RetiredHurt         How = "retiredHurt"
	RetiredNotOut       How = "retiredNotOut"
	AbsentHurt          How = "absentHurt"
	Other               How = "other"
)

// Wicket reports whether it is a wicket.
func (h How) Wicket() bool {
	switch h {
	case NotOut, RetiredHurt, RetiredNotOut, AbsentHurt:
		return false
	}

	return true
}

// Credited reports whether the wicket counts for the bowler.
func (h How) Credited() bool {
	switch h {
	case Bowled, Caught, CaughtAndBowled, LBW, Stumped, HitWicket:
		return true
	}

	return false
}

// Schema describes the codes. More may come.
func (How) Schema(huma.Registry) *huma.Schema {
	return codes(NotOut, Bowled, Caught, CaughtAndBowled, LBW, Stumped, RunOut, HitWicket, ObstructingTheField, HandledTheBall,
		HitTheBallTwice, TimedOut, RetiredOut, RetiredHurt, RetiredNotOut, AbsentHurt, Other)
}

// Part is a part of the card of an innings.
type Part string

// The parts.
const (
	Total         Part = "total"
	Batting       Part = "batting"
	ExtraRuns     Part = "extras"
	FallOfWickets Part = "fallOfWickets"
	Together      Part = "partnerships"
	Bowling       Part = "bowling"
)

// Schema describes the codes. More may come.
func (Part) Schema(huma.Registry) *huma.Schema {
	return codes(Total, Batting, ExtraRuns, FallOfWickets, Together, Bowling)
}

// Role is what an official does.
type Role string

// The roles.
const (
	Umpire   Role = "umpire"
	TVUmpire Role = "tvUmpire"
	Referee  Role = "referee"
)

// Schema describes the codes. More may come.
func (Role) Schema(huma.Registry) *huma.Schema { return codes(Umpire, TVUmpire, Referee) }

// codes returns the schema of a text that is one of some codes today.
func codes[T ~string](all ...T) *huma.Schema {
	list := make([]any, len(all))
	for i, c := range all {
		list[i] = string(c)
	}

	return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"x-extensible-enum": list}}
}
