// Package sportmonks reads cricket from the SportMonks Cricket API v2.0.
//
// Client requests, Split splits a body into fixtures without decoding them, and Decode
// decodes one fixture.
//
// Decode is tolerant. A number may be a string, a boolean or null. An include may be
// missing, bare, or wrapped in {"data": ...}. Members that are not listed here are
// skipped without being built.
package sportmonks

import (
	"strings"
	"time"
)

// Fixture is a match with the includes that were requested. An id, number or text that
// the provider does not give is zero.
type Fixture struct {
	AskedAt   time.Time // when it was requested; zero: unknown. No part of the answer
	ID        int
	LeagueID  int
	SeasonID  int
	StageID   int
	VenueID   int
	LocalID   int // localteam_id
	VisitorID int // visitorteam_id
	Round     string
	Start     time.Time // UTC
	Type      string    // as sent: "T20I", "Test/5day", "4day", "List A", ...
	Status    string    // as sent; see PhaseOf
	Live      bool      // live coverage, which is true days before the start; it does not mean "in play"
	Note      string    // "Target 183 runs", "X won by 6 wickets (with 4 balls remaining)", ...
	Elected   string    // "batting" or "bowling"

	TossWonID    int
	WinnerID     int
	DrawNoResult string // "draw", "no result" and the like; "true" if sent as a boolean
	ManOfMatchID int
	ManOfMatch   Player
	SuperOver    bool
	FollowOn     bool

	Overs     int // total_overs_played, which is the overs that are scheduled per side
	RPCOvers  Overs
	RPCTarget int // with RPCOvers: what a rain rule sets for the side that bats second
	LocalDL   DL
	VisitorDL DL

	League      League
	Season      Season
	Venue       Venue
	Localteam   Team
	Visitorteam Team

	FirstUmpire, SecondUmpire, TVUmpire, Referee Official

	Runs        []Runs
	Scoreboards []Scoreboard
	Batting     []Batting
	Bowling     []Bowling
	Balls       []Ball
	Lineup      []Member
}

// Phase returns PhaseOf the fixture's status.
func (f *Fixture) Phase() (Phase, bool) { return PhaseOf(f.Status) }

// Overs is a number of overs and balls, or the label of a ball. The provider writes 19
// overs and 4 balls as the number 19.4, which must be read as text.
type Overs struct{ Overs, Balls int }

// IsZero reports whether there are no overs and no balls.
func (o Overs) IsZero() bool { return o == Overs{} }

// DL is what the Duckworth-Lewis rule counts for one side.
type DL struct {
	Score   int
	Overs   Overs
	Wickets int
}

// League is a competition. SeasonID is the current season.
type League struct {
	ID, SeasonID, CountryID int
	Name, Code, Image, Type string
	UpdatedAt               time.Time
	Season                  Season
}

// Season is one edition of a league.
type Season struct {
	ID, LeagueID int
	Name, Code   string
	UpdatedAt    time.Time
}

// Team is a side.
type Team struct {
	ID, CountryID     int
	Name, Code, Image string
	National          bool
	UpdatedAt         time.Time
}

// Venue is a ground.
type Venue struct {
	ID         int
	Name, City string
}

// Player is a player.
type Player struct {
	ID   int
	Name string
}

// Member is a player of the lineup. The texts are as sent, empty for none: Role is the name of the
// player's position, such as "Bowler", and BattingStyle is such as "right-hand-bat".
type Member struct {
	ID                                      int
	Name                                    string
	TeamID                                  int
	Captain, Keeper, Substitute             bool
	Role, BattingStyle, BowlingStyle, Image string
}

// Official is an umpire or a referee.
type Official struct {
	ID   int
	Name string
}

// Runs is the total of one innings. It is the score.
type Runs struct {
	TeamID  int
	Innings int // from 1
	Score   int
	Wickets int
	Overs   Overs
}

// Scoreboard holds the extras (Type "extra") or the total ("total") of an innings.
type Scoreboard struct {
	TeamID                             int
	Innings                            int
	Type                               string
	Wide, NoBall, Bye, LegBye, Penalty int // runs
	Total, Wickets                     int
	Overs                              Overs
}

// Batting is the row of a batter in an innings. Out is set if the row has the score of a
// wicket or a fall of wicket. ResultID is the id of that score, and Result the score itself.
// CatchID is who caught or stumped, or who collected a throw; RunOutID is who threw.
type Batting struct {
	TeamID, Innings, Sort       int
	PlayerID                    int
	Score, Balls, Fours, Sixes  int
	Out                         bool
	FallScore                   int
	FallAt                      Overs
	ResultID                    int
	Result                      Score
	BowlerID, CatchID, RunOutID int
	Catch, RunOut               Player
}

// NotOut is the id of the score of a batter who is not out.
const NotOut = 84

// Bowling is the row of a bowler in an innings. TeamID is the bowling side.
type Bowling struct {
	TeamID, Innings, Sort  int
	PlayerID               int
	Overs                  Overs
	Maidens, Runs, Wickets int
	Wides, NoBalls         int
}

// Ball is a delivery. ID is unique and orders the balls of an innings. At is its label,
// which is not unique: after a wide at 18.1 the next ball is 18.1, too.
type Ball struct {
	ID                       int
	TeamID                   int // batting
	Innings                  int // 1 for "S1"; 0 if the scoreboard cannot be read
	At                       Overs
	OneID                    int // at the crease before the ball
	TwoID                    int
	BatterID, BowlerID       int
	OutID, CatchID, RunOutID int
	Batter, Bowler           Player
	Score                    Score
}

// Score is what a ball counts.
type Score struct {
	ID                                    int
	Name                                  string
	Runs, Bye, LegBye, NoBall, NoBallRuns int
	Four, Six, Wicket, Out                bool
}

// Wide reports whether the ball is a wide, by the name of the score. All of Score.Runs are
// then wides.
func (b *Ball) Wide() bool { return contains(b.Score.Name, "wide") }

// NoBall reports whether the ball is a no-ball.
func (b *Ball) NoBall() bool { return b.Score.NoBall > 0 }

// Legal reports whether the ball counts in the over.
func (b *Ball) Legal() bool { return !b.NoBall() && !b.Wide() }

// Total returns the runs of the team. Score.Runs includes wides and no-balls, but no byes
// and leg byes.
func (b *Ball) Total() int { return b.Score.Runs + b.Score.Bye + b.Score.LegBye }

// Bat returns the runs of the batter.
func (b *Ball) Bat() int {
	if b.Wide() {
		return 0
	}

	return max(b.Score.Runs-b.Score.NoBallRuns, 0)
}

// Retired reports whether a batter has retired and may return. That is no wicket.
func (b *Ball) Retired() bool {
	return contains(b.Score.Name, "retired hurt") || contains(b.Score.Name, "retired not out")
}

// Wicket reports whether a batter is out.
func (b *Ball) Wicket() bool {
	return (b.Score.Wicket || b.Score.Out || b.OutID != 0) && !b.Retired()
}

// Dismissed returns the id of the batter who is out or retired hurt, or 0.
func (b *Ball) Dismissed() int {
	switch {
	case b.OutID != 0:
		return b.OutID
	case b.Wicket(), b.Retired():
		return b.BatterID
	}

	return 0
}

// contains reports whether s contains lower, in any case.
func contains(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}

	return false
}

// Phase is the phase of a match.
type Phase string

// The phases. Result is a match that was finished, Closed one that was abandoned or
// cancelled.
const (
	Upcoming    Phase = "upcoming"
	Live        Phase = "live"
	Break       Phase = "break"
	Stumps      Phase = "stumps"
	Interrupted Phase = "interrupted"
	Result      Phase = "result"
	Closed      Phase = "closed"
)

// Over reports whether the match has ended, with a result or without one.
func (p Phase) Over() bool { return p == Result || p == Closed }

// PhaseOf returns the phase of a status. ok is false for a status that the provider does
// not document.
// Source: docs.sportmonks.com/v2/cricket-api/statuses-and-definitions.
func PhaseOf(status string) (p Phase, ok bool) {
	s := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(status)), ".")
	switch s {
	case "ns", "delayed", "postp":
		return Upcoming, true
	case "1st innings", "2nd innings", "3rd innings", "4th innings":
		return Live, true
	case "innings break", "tea break", "tea", "lunch", "dinner":
		return Break, true
	case "int":
		return Interrupted, true
	case "finished":
		return Result, true
	case "aban", "cancl":
		return Closed, true
	}

	if day, found := strings.CutPrefix(s, "stump day "); found && day != "" && strings.Trim(day, "0123456789") == "" {
		return Stumps, true
	}

	return "", false
}
