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

// Due lists the matches of a league that start from from to until, both included, and
// are neither live nor archived. It reads an index: the attributes that each poll changes
// are zero.
func Due(ctx context.Context, db dynamo.DB, leagueCode string, from, until time.Time) ([]Fixture, error) {
	idle := dynamo.Absent[Fixture]("live").And(dynamo.Absent[Fixture]("archivedAt"))
	return dynamo.QueryAll[Fixture](ctx, db, tables.StartingSoon,
		dynamo.Range{Key: catalog.StartsBetween(leagueCode, from, until), Filter: &idle})
}

// SlotLength is the time between two polls of the provider.
const SlotLength = 2500 * time.Millisecond

// SlotOf returns the number of the slot at t, counted from the epoch: Unix ms / 2,500.
func SlotOf(t time.Time) int64 { return t.UnixMilli() / SlotLength.Milliseconds() }

// SlotTime returns the due time of a slot.
func SlotTime(slot int64) time.Time { return time.UnixMilli(slot * SlotLength.Milliseconds()) }

// Neutral is the perspective of a fan of neither team. Other perspectives are team ids.
const Neutral = "neutral"

// Live is the value of the attribute live of a live match: the only partition of the
// sparse live-index.
const Live = "1"

// Fixture is a row of cricket-fixtures: a match.
type Fixture struct {
	MatchID       string `dynamodbav:"matchId"`
	LeagueCode    string `dynamodbav:"leagueCode"`
	LeagueID      string `dynamodbav:"leagueId"`
	SeasonID      string `dynamodbav:"seasonId"`
	StartTime     string `dynamodbav:"startTime"`
	Round         string `dynamodbav:"round,omitempty"`
	Type          string `dynamodbav:"type,omitempty"`
	Status        string `dynamodbav:"status"` // the last status of the provider that its documentation lists
	LocalTeamID   string `dynamodbav:"localTeamId"`
	VisitorTeamID string `dynamodbav:"visitorTeamId"`
	VenueName     string `dynamodbav:"venueName,omitempty"`

	Live          string `dynamodbav:"live,omitempty"`
	LiveUpdatedAt int64  `dynamodbav:"liveUpdatedAt,omitempty"` // epoch ms
	ArchivedAt    int64  `dynamodbav:"archivedAt,omitempty"`    // epoch s, as all times below except MissingSince
	EndingAt      int64  `dynamodbav:"endingAt,omitempty"`      // when the end of the match was decided
	FinishedAt    int64  `dynamodbav:"finishedAt,omitempty"`    // when all consequences of the end were completed; never changes
	// ReopenedAt is when the last end was withdrawn, because the provider has another result or play
	// has resumed. Reopened counts the resumptions.
	ReopenedAt    int64 `dynamodbav:"reopenedAt,omitempty"`
	Reopened      int   `dynamodbav:"reopened,omitempty"`
	IsReplay      bool  `dynamodbav:"isReplay,omitempty"`
	ReplayExpires int64 `dynamodbav:"replayExpiresAt,omitempty"`

	// LastSlot is the last slot in which the match was polled. BodySum is the hash of
	// the last payload that was processed, absent while another payload is being
	// processed. Polls counts the polls since then that had the same payload.
	// MissingSince is the time of the first poll without the match (epoch ms), absent
	// once a later poll has it.
	LastSlot     int64  `dynamodbav:"lastSlot,omitempty"`
	BodySum      string `dynamodbav:"bodySum,omitempty"`
	Polls        int    `dynamodbav:"polls,omitempty"`
	MissingSince int64  `dynamodbav:"missingSince,omitempty"`

	// LeaseHolder is the worker that processes a payload of the match, absent if none does.
	// LeaseUntil is when its lease expires (epoch ms).
	LeaseHolder string `dynamodbav:"leaseHolder,omitempty"`
	LeaseUntil  int64  `dynamodbav:"leaseUntil,omitempty"`

	// LeftAt is when sync-fixtures last sent the match to finish-match. TossKey
	// identifies the toss for which an alert was sent.
	LeftAt  int64  `dynamodbav:"leftAt,omitempty"`
	TossKey string `dynamodbav:"tossKey,omitempty"`

	// Corrected is the result of an administrator, which replaces that of the provider. It is without a text.
	Corrected *score.Result `dynamodbav:"corrected,omitempty"`
	// CarriedTo is the match that replaces this one, once sync-fixtures has sent its followers to finish-match.
	CarriedTo string `dynamodbav:"carriedTo,omitempty"`

	Titles
}

// NewFixture returns the row of a match in the schedule of the provider.
func NewFixture(f sportmonks.Fixture, leagueCode string) Fixture {
	return Fixture{
		MatchID: strconv.Itoa(f.ID), LeagueCode: leagueCode, LeagueID: strconv.Itoa(f.LeagueID), SeasonID: strconv.Itoa(f.SeasonID),
		StartTime: f.Start.UTC().Format(tables.TimeLayout), Round: f.Round, Type: f.Type, Status: f.Status,
		LocalTeamID: strconv.Itoa(f.LocalID), VisitorTeamID: strconv.Itoa(f.VisitorID), VenueName: f.Venue.Name,
	}
}

// Scheduled returns the fixture with only the attributes of the provider's schedule.
func (f Fixture) Scheduled() Fixture {
	return Fixture{
		MatchID: f.MatchID, LeagueCode: f.LeagueCode, LeagueID: f.LeagueID, SeasonID: f.SeasonID, StartTime: f.StartTime,
		Round: f.Round, Type: f.Type, Status: f.Status, LocalTeamID: f.LocalTeamID, VisitorTeamID: f.VisitorTeamID, VenueName: f.VenueName,
	}
}

// ValidID reports whether id has the form of a match id: 1 to 19 digits.
func ValidID(id string) bool {
	return id != "" && len(id) <= 19 && strings.Trim(id, "0123456789") == ""
}

// Start returns the scheduled start of the match.
func (f Fixture) Start() time.Time {
	t, _ := time.Parse(tables.TimeLayout, f.StartTime) // never fails: NewFixture has formatted it
	return t
}

// Phase returns the phase of the status of the match.
func (f Fixture) Phase() sportmonks.Phase {
	p, _ := sportmonks.PhaseOf(f.Status)
	return p
}

// Perspective returns the perspective of a fan of team: team, or Neutral if it does
// not play in the match.
func (f Fixture) Perspective(team string) string {
	if team != "" && (team == f.LocalTeamID || team == f.VisitorTeamID) {
		return team
	}

	return Neutral
}

// longest returns the maximum duration of a match of the type, with a margin.
func (f Fixture) longest() time.Duration {
	if score.FormatOf(f.Type).MultiDay() {
		return 6 * 24 * time.Hour
	}

	return 24 * time.Hour
}

// Lasts returns how long after its start a match may still be played: a Test takes five days, any
// other match a day and a reserve day.
func (f Fixture) Lasts() time.Duration {
	if score.FormatOf(f.Type).MultiDay() {
		return MaxLasts
	}

	return 60 * time.Hour
}

// MaxLasts is the maximum of Fixture.Lasts.
const MaxLasts = 6 * 24 * time.Hour

// The end of a match deletes its follows and activities. If the end is never decided,
// they expire this long after the latest possible end. Follows are kept longer,
// because a match may be postponed by weeks; an activity lasts 12 hours at most.
const (
	KeepFollow   = 45 * 24 * time.Hour
	KeepActivity = 48 * time.Hour
)

// Expiry returns when a follow or an activity of the match expires, in epoch s: keep
// after the latest possible end.
func (f Fixture) Expiry(now time.Time, keep time.Duration) int64 {
	return latest(f.Start(), now).Add(f.longest() + keep).Unix()
}

// NotEnding holds for a fixture whose end is not decided.
func NotEnding() expression.ConditionBuilder {
	return dynamo.Absent[Fixture]("endingAt")
}
