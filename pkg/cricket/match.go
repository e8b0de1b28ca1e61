package cricket

import (
	"strconv"
	"strings"
	"time"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// timeLayout is how startTime and startingAt are kept: UTC of a fixed width, so
// that they sort.
const timeLayout = "2006-01-02T15:04:05Z"

// slotLength is the time between two polls of the provider.
const slotLength = 2500 * time.Millisecond

// slotOf numbers the slots since the epoch: unix milliseconds / 2,500.
func slotOf(t time.Time) int64 { return t.UnixMilli() / slotLength.Milliseconds() }

// slotTime is when a slot is due.
func slotTime(slot int64) time.Time { return time.UnixMilli(slot * slotLength.Milliseconds()) }

// neutral is the perspective of a fan of neither team. The others are team ids.
const neutral = "neutral"

// live is the value of a live match's attribute of that name: the only
// partition of the sparse live-index.
const live = "1"

// fixture is a match as cricket-fixtures keeps it.
type fixture struct {
	MatchID       string `dynamodbav:"matchId"`
	LeagueCode    string `dynamodbav:"leagueCode"`
	LeagueID      string `dynamodbav:"leagueId"`
	SeasonID      string `dynamodbav:"seasonId"`
	StartTime     string `dynamodbav:"startTime"`
	Round         string `dynamodbav:"round,omitempty"`
	Type          string `dynamodbav:"type,omitempty"`
	Status        string `dynamodbav:"status"` // the provider's, the last that it documents
	LocalTeamID   string `dynamodbav:"localTeamId"`
	VisitorTeamID string `dynamodbav:"visitorTeamId"`
	VenueName     string `dynamodbav:"venueName,omitempty"`

	Live          string `dynamodbav:"live,omitempty"`
	LiveUpdatedAt int64  `dynamodbav:"liveUpdatedAt,omitempty"` // epoch ms
	ArchivedAt    int64  `dynamodbav:"archivedAt,omitempty"`    // epoch s, as the four below
	EndingAt      int64  `dynamodbav:"endingAt,omitempty"`      // its end is decided, for good
	FinishedAt    int64  `dynamodbav:"finishedAt,omitempty"`    // and all that follows from it is done
	IsReplay      bool   `dynamodbav:"isReplay,omitempty"`
	ReplayExpires int64  `dynamodbav:"replayExpiresAt,omitempty"`

	// LastSlot is the last slot in which the match was polled, and BodySum the
	// provider's words that were last dealt with, absent while others are. Polls
	// counts those that had the same words since, and MissingSince is when the
	// match was first not in the feed, if it was not polled later (epoch ms).
	LastSlot     int64  `dynamodbav:"lastSlot,omitempty"`
	BodySum      string `dynamodbav:"bodySum,omitempty"`
	Polls        int    `dynamodbav:"polls,omitempty"`
	MissingSince int64  `dynamodbav:"missingSince,omitempty"`

	// LeftAt is when the sync, which found the match to be over, last had its end
	// looked into (epoch s), and TossKey the toss that was told.
	LeftAt  int64  `dynamodbav:"leftAt,omitempty"`
	TossKey string `dynamodbav:"tossKey,omitempty"`
}

// newFixture is the row of a match that the provider schedules.
func newFixture(f sportmonks.Fixture, leagueCode string) fixture {
	return fixture{
		MatchID: strconv.Itoa(f.ID), LeagueCode: leagueCode, LeagueID: strconv.Itoa(f.LeagueID), SeasonID: strconv.Itoa(f.SeasonID),
		StartTime: f.Start.UTC().Format(timeLayout), Round: f.Round, Type: f.Type, Status: f.Status,
		LocalTeamID: strconv.Itoa(f.LocalID), VisitorTeamID: strconv.Itoa(f.VisitorID), VenueName: f.Venue.Name,
	}
}

// scheduled is what the provider's schedule says of the match, and nothing else.
func (f fixture) scheduled() fixture {
	return fixture{
		MatchID: f.MatchID, LeagueCode: f.LeagueCode, LeagueID: f.LeagueID, SeasonID: f.SeasonID, StartTime: f.StartTime,
		Round: f.Round, Type: f.Type, Status: f.Status, LocalTeamID: f.LocalTeamID, VisitorTeamID: f.VisitorTeamID, VenueName: f.VenueName,
	}
}

// isMatchID reports whether a match could have the id: digits, as the provider's.
func isMatchID(id string) bool {
	return id != "" && len(id) <= 19 && strings.Trim(id, "0123456789") == ""
}

// start is when the match is to begin.
func (f fixture) start() time.Time {
	t, _ := time.Parse(timeLayout, f.StartTime) // we wrote it
	return t
}

// phase is where the match stands, by its status.
func (f fixture) phase() sportmonks.Phase {
	p, _ := sportmonks.PhaseOf(f.Status)
	return p
}

// perspective is the one that a fan of team has of the match.
func (f fixture) perspective(team string) string {
	if team != "" && (team == f.LocalTeamID || team == f.VisitorTeamID) {
		return team
	}
	return neutral
}

// longest is how long a match of the type can last, with a margin: rows about
// followers live until the start and this and two days.
func (f fixture) longest() time.Duration {
	if score.FormatOf(f.Type).MultiDay() {
		return 6 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// Rows of fans go when they are let go at the end of the match. If that never
// comes they go so long after the match can have ended. A match may be moved by
// weeks, and keeps its followers; an activity lives for half a day.
const (
	keepFollow   = 45 * 24 * time.Hour
	keepActivity = 48 * time.Hour
)

// expiry is when what fans left at the match may go, in epoch seconds.
func (f fixture) expiry(now time.Time, keep time.Duration) int64 {
	return latest(f.start(), now).Add(f.longest() + keep).Unix()
}
