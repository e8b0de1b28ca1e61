package item

import (
	"fmt"
	"time"

	"matchday/pkg/kit/limit"
)

// Metadata is the sort key of the item that a partition is about.
const Metadata = "METADATA"

// Prefixes of sort keys.
const (
	Seasons  = "SEASON#"
	Teams    = "TEAM#"
	Sessions = "SESSION#"
	Games    = "GAME#"
	Goals    = "GOAL#"
	Rosters  = "ROSTER#"
	Grants   = "ACL#USER#"
	Invites  = "INVITE#"
	Leagues  = "LEAGUE#"
	Audits   = "AUDIT#"
	Players  = "PLAYER#"
	Answers  = "IDEMPOTENCY#"
	Logins   = "AUTH_SESSION#"
	Pool     = "POOL#"
	Proposed = "PROPOSAL#"
	Squads   = "SQUAD#"

	Cancelled = "CANCELLED#"

	// Tallied begins with Games and sorts after every StartKey: who reads the games by their start does not read the
	// tallies, and who reads all that begins with Games does.
	Tallied = Games + "~"

	PlayerStats = "PLAYERSTAT#" // of a season, by player
	Stats       = "STAT#"       // of a player, by season
)

// Partition keys; some are sort keys of mirrors, too.
func LeagueKey(leagueID string) string   { return Leagues + leagueID }
func SeasonKey(seasonID string) string   { return Seasons + seasonID }
func SessionKey(sessionID string) string { return Sessions + sessionID }
func GameKey(gameID string) string       { return Games + gameID }
func PlayerKey(playerID string) string   { return Players + playerID }
func UserKey(userID string) string       { return "USER#" + userID }
func SlugKey(slug string) string         { return "SLUG#" + slug }
func LinkKey(id string) string           { return "AUTH_LINK#" + id }
func MailKey(hash string) string         { return "AUTH_MAIL#" + hash }
func CallerKey(hash string) string       { return "AUTH_CALLER#" + hash }
func LoginKey(id string) string          { return Logins + id }

func DayKey(date string) string      { return "DAY#" + date }
func JoinKey(code string) string     { return "JOIN#" + code }
func GuessKey(hash string) string    { return "JOIN_GUESS#" + hash }
func JoinsKey(hash string) string    { return "JOINS#" + hash }
func InviteKey(hash string) string   { return "INVITE_MAIL#" + hash }
func PoolKey(playerID string) string { return Pool + playerID }

// Ending is the sort key of an EndingLeague, and the partition of those that wait to be dropped.
const Ending = "ENDING"

// EndingGrantKey is the sort key of the role of a user in an EndingLeague, which is no right.
func EndingGrantKey(userID string) string { return Ending + "#" + GrantKey(userID) }

// OutboxKey is the partition of Outbox and Renamed.
const OutboxKey = "OUTBOX"

// Invitations is the sort key of how many invitations a user has sent.
const Invitations = "INVITATIONS"

// WrongClaims is the sort key of how many claims of a user were refused.
const WrongClaims = "WRONG_CLAIMS"

// Profile is the sort key of a player.
const Profile = "PROFILE"

// Sort keys.
func TeamKey(teamID string) string      { return Teams + teamID }
func GrantKey(userID string) string     { return Grants + userID }
func CancelledKey(gameID string) string { return Cancelled + gameID }
func ProposalKey(goalID string) string  { return Proposed + goalID }
func RemovedKey(goalID string) string   { return "REMOVED#" + goalID }
func TalliesKey(gameID string) string   { return Tallied + gameID }

// RosterKey is the sort key of a player in a team of a game.
func RosterKey(teamID, playerID string) string { return Rosters + teamID + "#" + playerID }

// StartKey is the sort key of a game in the lists of its session and season.
func StartKey(startTs, gameID string) string { return Games + startTs + "#" + gameID }

// GoalKey is the sort key of a goal: goals sort by third, minute and id.
func GoalKey(g Goal) string { return fmt.Sprintf("%s%d#%04d#%s", Goals, g.Third, g.Minute, g.ID) }

// AuditKey is the sort key of an entry of the log of corrections.
func AuditKey(now time.Time, id string) string { return Audits + Format(now) + "#" + id }

// Role is what a user may do in a league. Each role may do what those before it may.
type Role string

const (
	Viewer      Role = "viewer"      // reads
	Scorer      Role = "scorer"      // the goals and thirds of one session, by its PIN: no member has this role
	Scorekeeper Role = "scorekeeper" // games, rosters, goals, players
	Admin       Role = "admin"       // everything
)

var ranks = map[Role]int{Viewer: 1, Scorer: 2, Scorekeeper: 3, Admin: 4}

// AtLeast reports whether a role may do what another may.
func (r Role) AtLeast(least Role) bool { return ranks[r] >= ranks[least] }

// League is a league.
type League struct {
	ID      string       `json:"leagueId"`
	Name    string       `json:"name"`
	Slug    string       `json:"slug"`
	OldSlug string       `json:"oldSlug,omitempty"` // the one before, which leads here, too
	Admins  int          `json:"adminCount"`
	Members int          `json:"memberCount"`
	Seasons int          `json:"seasonCount"`
	Players int          `json:"playerCount"`
	Joins   limit.Window `json:"joins,omitzero"` // of new players, by a code

	Visibility Visibility `json:"visibility,omitempty"` // "" is Public
	Hidden     bool       `json:"hidden,omitempty"`     // by an operator: whatever Visibility is, it is for members only
}

// EndingLeague is a league that was deleted with its seasons, until it is restored or dropped.
type EndingLeague struct {
	League League `json:"league"`
	Rev    int    `json:"leagueRev"`
	Until  string `json:"until"` // it may be restored
	By     string `json:"byUserId"`
	// Restoring is whether a restoration has begun since the last request to delete the league. It may have died.
	Restoring bool `json:"restoring,omitempty"`
}

// Grant is the role of a user in a league. Its mirror is in the partition of the user.
type Grant struct {
	LeagueID string `json:"leagueId"`
	UserID   string `json:"userId"`
	Role     Role   `json:"role"`
	Email    string `json:"email,omitempty"`   // of who was invited by it
	Founder  bool   `json:"founder,omitempty"` // has created the league
}

// Season is a season, in two copies.
type Season struct {
	ID       string `json:"seasonId"`
	LeagueID string `json:"leagueId"`
	Name     string `json:"name"`
	Slug     string `json:"slug"`
	Starts   string `json:"startsOn,omitempty"` // 2026-03-01
	Ends     string `json:"endsOn,omitempty"`
	TimeZone string `json:"timeZone"`
	Teams    int    `json:"teamCount"`
	Sessions int    `json:"sessionCount"`
	Rules    *Rules `json:"rules,omitempty"` // nil has the defaults
}

// Team is a team of a season, and its snapshot in a game.
type Team struct {
	TeamID string `json:"teamId" doc:"The id of the team." example:"red"`
	Name   string `json:"name" doc:"The name of the team." example:"Reds"`
	Color  string `json:"color" doc:"The color of the shirts, #rrggbb." example:"#c8102e"`
}

// Session is a day on which games are played, in two copies.
type Session struct {
	ID       string `json:"sessionId"`
	LeagueID string `json:"leagueId"`
	SeasonID string `json:"seasonId"`
	Date     string `json:"sessionDate"` // 2026-06-06
	Games    int    `json:"gameCount"`
	Created  int    `json:"createdGames"` // with those that were deleted: it numbers the games
	Moved    Moved  `json:"moved,omitzero"`
}

// Moved is the latest move of a session or a game. The zero value is that of what was never moved.
type Moved struct {
	Count int    `json:"count"` // of moves so far: a notice is about one
	From  string `json:"from"`  // the day or the start as those who play know it, "" of a game that was postponed
	At    string `json:"at"`
}

// NoticeAfter is how long after a move those who play get a mail. What moves again before gets one mail.
const NoticeAfter = 5 * time.Minute

// Next returns the move from a day or a start, which those who play know unless it is that of a move that no
// mail was about yet.
func (m Moved) Next(from string, now time.Time) Moved {
	next := Moved{Count: m.Count + 1, From: from, At: Format(now)}
	if m.Count > 0 && now.Sub(Parse(m.At)) < NoticeAfter {
		next.From = m.From
	}

	return next
}

// Game states.
const (
	Scheduled = "scheduled"
	Live      = "live"
	Finished  = "finished"

	CancelledGame = "cancelled" // of a listing in the calendar of the season
)

// Thirds is the number of thirds and of teams of a game.
const Thirds = 3

// Game is a game. Its row's Status is one of the states.
type Game struct {
	ID          string        `json:"gameId"`
	LeagueID    string        `json:"leagueId"`
	SeasonID    string        `json:"seasonId"`
	SessionID   string        `json:"sessionId"`
	Slug        string        `json:"slug"`
	StartTs     string        `json:"gameStartTs"`
	ThirdLength int           `json:"thirdLength"` // minutes
	Location    string        `json:"location,omitempty"`
	Teams       []Team        `json:"teams"`
	Thirds      [Thirds]Third `json:"thirds"`
	StepAt      string        `json:"stepAt,omitempty"`   // when the latest start or finish of a third was recorded; "" is when it happened
	Reopened    bool          `json:"reopened,omitempty"` // since it was finished
	Series      int           `json:"series,omitempty"`   // of its join codes: how often they were revoked
	Scores      []Score       `json:"scores"`             // of the goals, in the order of Teams
	Result      *Result       `json:"result,omitempty"`   // of a finished game
	State       string        `json:"state,omitempty"`    // Postponed, Abandoned, Walkover, or ""
	Absent      []string      `json:"absent,omitempty"`   // the ids of those of Teams that are missing
	Moved       Moved         `json:"moved,omitzero"`
	LeftDay     string        `json:"leftDay,omitempty"` // the session's day before the game moved with it; "" once it moves by itself
}

// Running returns the number of the third that is being played, 0 if none is.
func (g Game) Running() int {
	for i, t := range g.Thirds {
		if t.StartedAt != "" && t.FinishedAt == "" {
			return i + 1
		}
	}

	return 0
}

// Over reports whether all thirds are finished.
func (g Game) Over() bool { return g.Thirds[Thirds-1].FinishedAt != "" }

// Listing is a game in the lists of its session and of its season. Scores and Result are those of a finished game.
type Listing struct {
	GameID      string   `json:"gameId"`
	SessionID   string   `json:"sessionId"`
	Slug        string   `json:"slug"`
	StartTs     string   `json:"gameStartTs"`
	ThirdLength int      `json:"thirdLength"`
	Location    string   `json:"location,omitempty"`
	Status      string   `json:"status"`
	Teams       []Team   `json:"teams"`
	Scores      []Score  `json:"scores,omitempty"`
	Result      *Result  `json:"result,omitempty"`
	State       string   `json:"state,omitempty"`
	Absent      []string `json:"absent,omitempty"`
	LeftDay     string   `json:"leftDay,omitempty"`

	// Players are what the players of a finished game have done, by id. Only earlier releases have written them here:
	// the next change of the game moves them to its GameTallies.
	Players map[string]Tally `json:"players,omitempty"`
}

// GameTallies are what the players of a finished game have done. The row is written with the game's Listing, in one
// transaction and with the same revision: it does not count for a listing of another revision.
type GameTallies struct {
	GameID  string           `json:"gameId"`
	Status  string           `json:"status"`  // Finished, by which earlier releases count the row as one more game of the players
	Players map[string]Tally `json:"players"` // by id
}

// Tally is what a player has done.
type Tally struct {
	TeamID   string `json:"teamId,omitempty"`
	Games    int    `json:"games"`
	Goals    int    `json:"goals"`
	OwnGoals int    `json:"ownGoals,omitempty"`
	Assists  int    `json:"assists,omitempty"`
}

// Outbox is a change of a finished game that is not in the tables of its season yet.
type Outbox struct {
	GameID   string `json:"gameId"`
	SeasonID string `json:"seasonId"`
	Rev      int    `json:"gameRev"`
}

// Renamed is a player of the outbox: the tables of the league's seasons may not show the player's name, or how everybody
// sees it, as it is.
type Renamed struct {
	PlayerID string `json:"playerId"`
	LeagueID string `json:"leagueId"`
	Rev      int    `json:"playerRev"`
}

// Audit is an entry of the log of corrections of a game.
type Audit struct {
	At     string `json:"at"`
	By     string `json:"byUserId"`
	What   string `json:"what"`
	Before *Goal  `json:"before,omitempty"`
	After  *Goal  `json:"after,omitempty"`
	State  string `json:"state,omitempty"` // that the game got
}

// Third is when a third was played.
type Third struct {
	StartedAt  string `json:"startedAt,omitempty"`
	FinishedAt string `json:"finishedAt,omitempty"`
}

// Goal is a goal.
type Goal struct {
	ID         string   `json:"eventId"`
	Third      int      `json:"third"`
	Minute     int      `json:"gameMinute"`              // in the third, from 0; stoppage continues it
	Scoring    string   `json:"scoringTeamId,omitempty"` // "" for an own goal
	Conceding  string   `json:"concedingTeamId"`
	Scorer     string   `json:"scorerPlayerId"`  // "" is unknown, or a guest
	Guest      bool     `json:"guest,omitempty"` // the scorer is no player of the league
	Assists    []string `json:"assistPlayerIds"`
	OwnGoal    bool     `json:"ownGoal"`
	RecordedBy string   `json:"recordedBy"`
	GameRev    int      `json:"gameRev"` // of the game with the goal: goals were recorded in its order
}

// Proposal is a goal that came after its third was finished, as it was sent: an administrator decides.
type Proposal struct {
	Goal
	At string `json:"at"` // when it came
}

// Seat is a player in a team of a game.
type Seat struct {
	TeamID   string `json:"teamId"`
	PlayerID string `json:"playerId"`
}

// Squad are the players who usually play for a team of a season.
type Squad struct {
	_ struct{} `schema:"TeamSquad"`

	TeamID    string   `json:"teamId" doc:"The id of the team." example:"red"`
	PlayerIDs []string `json:"playerIds" doc:"The players, in the order in which they were sent."`
}

// Join is a code by which players enter the pool of a game.
type Join struct {
	Code   string `json:"code"`
	GameID string `json:"gameId"`
	Series int    `json:"series,omitempty"` // valid while it is the game's
}

// Pooled is a player who wants to play in a game.
type Pooled struct {
	PlayerID string `json:"playerId"`
}

// Day is a session in the list of its day.
type Day struct {
	ID       string `json:"id"`
	TimeZone string `json:"timeZone,omitempty"` // that of the season when the session was made; of old rows UTC
}

// Ref leads to another item: from a slug, for example.
type Ref struct {
	ID string `json:"id"`
}
