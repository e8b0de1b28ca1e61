package match

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Due lists the matches of a league that start in the window and are
// neither live nor archived.
func Due(ctx context.Context, db dynamo.DB, leagueCode string, from, until time.Time) ([]Fixture, error) {
	idle := expression.AttributeNotExists(expression.Name("liveUpdatedAt")).
		And(expression.AttributeNotExists(expression.Name("archivedAt")))
	return dynamo.QueryAll[Fixture](ctx, db, tables.StartingSoon, dynamo.Range{Key: catalog.StartsBetween(leagueCode, from, until), Filter: &idle})
}

// SlotLength is the time between two polls of the provider.
const SlotLength = 2500 * time.Millisecond

// SlotOf numbers the slots since the epoch: unix milliseconds / 2,500.
func SlotOf(t time.Time) int64 { return t.UnixMilli() / SlotLength.Milliseconds() }

// slotTime is when a slot is due.
func slotTime(slot int64) time.Time { return time.UnixMilli(slot * SlotLength.Milliseconds()) }

// Neutral is the perspective of a fan of neither team. The others are team ids.
const Neutral = "neutral"

// Live is the value of a live match's attribute of that name: the only
// partition of the sparse live-index.
const Live = "1"

// Fixture is a match as cricket-fixtures keeps it.
type Fixture struct {
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

// NewFixture is the row of a match that the provider schedules.
func NewFixture(f sportmonks.Fixture, leagueCode string) Fixture {
	return Fixture{
		MatchID: strconv.Itoa(f.ID), LeagueCode: leagueCode, LeagueID: strconv.Itoa(f.LeagueID), SeasonID: strconv.Itoa(f.SeasonID),
		StartTime: f.Start.UTC().Format(tables.TimeLayout), Round: f.Round, Type: f.Type, Status: f.Status,
		LocalTeamID: strconv.Itoa(f.LocalID), VisitorTeamID: strconv.Itoa(f.VisitorID), VenueName: f.Venue.Name,
	}
}

// Scheduled is what the provider's schedule says of the match, and nothing else.
func (f Fixture) Scheduled() Fixture {
	return Fixture{
		MatchID: f.MatchID, LeagueCode: f.LeagueCode, LeagueID: f.LeagueID, SeasonID: f.SeasonID, StartTime: f.StartTime,
		Round: f.Round, Type: f.Type, Status: f.Status, LocalTeamID: f.LocalTeamID, VisitorTeamID: f.VisitorTeamID, VenueName: f.VenueName,
	}
}

// ValidID reports whether a match could have the id: digits, as the provider's.
func ValidID(id string) bool {
	return id != "" && len(id) <= 19 && strings.Trim(id, "0123456789") == ""
}

// Start is when the match is to begin.
func (f Fixture) Start() time.Time {
	t, _ := time.Parse(tables.TimeLayout, f.StartTime) // we wrote it
	return t
}

// Phase is where the match stands, by its status.
func (f Fixture) Phase() sportmonks.Phase {
	p, _ := sportmonks.PhaseOf(f.Status)
	return p
}

// Perspective is the one that a fan of team has of the match.
func (f Fixture) Perspective(team string) string {
	if team != "" && (team == f.LocalTeamID || team == f.VisitorTeamID) {
		return team
	}
	return Neutral
}

// longest is how long a match of the type can last, with a margin: rows about
// followers live until the start and this and two days.
func (f Fixture) longest() time.Duration {
	if score.FormatOf(f.Type).MultiDay() {
		return 6 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// Rows of fans go when they are let go at the end of the match. If that never
// comes they go so long after the match can have ended. A match may be moved by
// weeks, and keeps its followers; an activity lives for half a day.
const (
	KeepFollow   = 45 * 24 * time.Hour
	KeepActivity = 48 * time.Hour
)

// Expiry is when what fans left at the match may go, in epoch seconds.
func (f Fixture) Expiry(now time.Time, keep time.Duration) int64 {
	return latest(f.Start(), now).Add(f.longest() + keep).Unix()
}

// NotEnding holds for a match whose end is not decided.
func NotEnding() expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name("endingAt"))
}
