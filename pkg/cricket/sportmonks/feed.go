// Package sportmonks reads cricket from the SportMonks Cricket API v2.0.
//
// Client fetches, Split cuts a body into fixtures without decoding them, and
// Decode turns one fixture into Go values. The wire is read tolerantly: numbers
// may be strings, booleans or null, includes may be missing, bare or wrapped in
// {"data": ...}, and whatever is not named here is skipped, not built.
package sportmonks

import (
	"strings"
	"time"
)

// Fixture is one match with the includes that were asked for. An id, number or
// text the provider does not give is the zero value.
type Fixture struct {
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
	Status    string    // as sent: see PhaseOf
	Live      bool      // live coverage, true days before the start: not "in play"
	Note      string    // "Target 183 runs", "X won by 6 wickets (with 4 balls remaining)", ...
	Elected   string    // "batting" or "bowling"

	TossWonID    int
	WinnerID     int
	DrawNoResult string // "draw", "no result" and the like; "true" when sent as a boolean
	ManOfMatchID int
	SuperOver    bool
	FollowOn     bool

	Overs     int // total_overs_played, which is the overs scheduled per side
	RPCOvers  Overs
	RPCTarget int // with RPCOvers: what a rain rule left the side batting second
	LocalDL   DL
	VisitorDL DL

	League      League
	Season      Season
	Venue       Venue
	Localteam   Team
	Visitorteam Team
	Runs        []Runs
	Scoreboards []Scoreboard
	Batting     []Batting
	Bowling     []Bowling
	Balls       []Ball
	Lineup      []Player
}

// Phase is PhaseOf the fixture's status.
func (f *Fixture) Phase() (Phase, bool) { return PhaseOf(f.Status) }

// Overs is a count of overs and balls, or the label of a ball. The wire writes
// 19 overs and 4 balls as the number 19.4, which is text and never arithmetic.
type Overs struct{ Overs, Balls int }

// IsZero reports no overs at all.
func (o Overs) IsZero() bool { return o == Overs{} }

// DL is the rain rule's sheet for one side.
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

// Player is a player as named by a ball or by the lineup; the fields after Name
// come with the lineup only.
type Player struct {
	ID                          int
	Name                        string
	TeamID                      int
	Captain, Keeper, Substitute bool
}

// Runs is the total of one innings: what the score is.
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
	Wide, NoBall, Bye, LegBye, Penalty int // NoBall is runs
	Total, Wickets                     int
	Overs                              Overs
}

// Batting is one batter's innings. A dismissal shows as a wicket score other
// than not out, or as a fall of wicket.
type Batting struct {
	TeamID, Innings, Sort              int
	PlayerID                           int
	Score, Balls, Fours, Sixes         int
	Out                                bool
	OutID, CatchID, RunOutID, BowlerID int
	FallScore                          int
	FallAt                             Overs
}

// Bowling is one bowler's figures. TeamID is the bowling side.
type Bowling struct {
	TeamID, Innings, Sort  int
	PlayerID               int
	Overs                  Overs
	Maidens, Runs, Wickets int
	Wides, NoBalls         int
}

// Ball is one delivery. ID is its key and, within an innings, its order; At is a
// label that several deliveries may share (a wide at 18.1 is followed by 18.1).
type Ball struct {
	ID                       int
	TeamID                   int // batting
	Innings                  int // from "S1": 1; 0 when the scoreboard is unreadable
	At                       Overs
	OneID                    int // at the crease before the ball
	TwoID                    int
	BatterID, BowlerID       int
	OutID, CatchID, RunOutID int
	Batter, Bowler           Player
	Score                    Score
}

// Score is what a delivery counted.
type Score struct {
	ID                                    int
	Name                                  string
	Runs, Bye, LegBye, NoBall, NoBallRuns int
	Four, Six, Wicket, Out                bool
}

// Wide has no field of its own: the name says it, and Score.Runs are all wides.
func (b *Ball) Wide() bool { return contains(b.Score.Name, "wide") }

// NoBall reports a no-ball.
func (b *Ball) NoBall() bool { return b.Score.NoBall > 0 }

// Legal reports whether the ball counts in the over.
func (b *Ball) Legal() bool { return !b.NoBall() && !b.Wide() }

// Total is what the team scored: Score.Runs has wides and no-balls in it, and
// never byes and leg byes.
func (b *Ball) Total() int { return b.Score.Runs + b.Score.Bye + b.Score.LegBye }

// Bat is what the batter scored.
func (b *Ball) Bat() int {
	if b.Wide() {
		return 0
	}
	return max(b.Score.Runs-b.Score.NoBallRuns, 0)
}

// Retired reports a batter who left and may come back, which is no wicket.
func (b *Ball) Retired() bool {
	return contains(b.Score.Name, "retired hurt") || contains(b.Score.Name, "retired not out")
}

// Wicket reports a dismissal.
func (b *Ball) Wicket() bool {
	return (b.Score.Wicket || b.Score.Out || b.OutID != 0) && !b.Retired()
}

// Dismissed is the id of the batter who is out, or who retired hurt; 0 when
// neither happened.
func (b *Ball) Dismissed() int {
	switch {
	case b.OutID != 0:
		return b.OutID
	case b.Wicket(), b.Retired():
		return b.BatterID
	}
	return 0
}

func contains(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

// Phase is where a match stands.
type Phase string

// The phases. Closed is a match that ended without being played out.
const (
	Upcoming    Phase = "upcoming"
	Live        Phase = "live"
	Break       Phase = "break"
	Stumps      Phase = "stumps"
	Interrupted Phase = "interrupted"
	Result      Phase = "result"
	Closed      Phase = "closed"
)

// Over reports whether the match has ended: with a result, or without one.
func (p Phase) Over() bool { return p == Result || p == Closed }

// PhaseOf maps a provider status to a phase; ok is false for a status that the
// provider does not document.
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
