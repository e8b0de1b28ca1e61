package match

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Perspectives lists the perspectives of the match: those of its teams, and Neutral.
func (f Fixture) Perspectives() []string {
	return slices.Compact([]string{f.LocalTeamID, f.VisitorTeamID, Neutral}) // two unconfirmed teams have the same id
}

// NotAfter fences the writes of a match: it holds for a row whose lastSlot is absent
// or at most slot. It suits every row with that attribute: Fixture, ScoreRow,
// DisplayRow, BallIndex, BallChunk and CardRow. An equal slot is allowed because a slot is
// claimed once: the row was written by this tick, in a call whose answer was lost.
func NotAfter(slot int64) expression.ConditionBuilder {
	return dynamo.Absent[Fixture]("lastSlot").Or(dynamo.AtMost[Fixture]("lastSlot", slot))
}

// ScoreRow is a row of cricket-fixture-cache: the full score of a match.
type ScoreRow struct {
	MatchID    string      `dynamodbav:"matchId"`
	LeagueID   string      `dynamodbav:"leagueId"`
	StartingAt string      `dynamodbav:"startingAt"`
	State      score.State `dynamodbav:"-"` // StateJSON after Decode
	StateJSON  string      `dynamodbav:"state"`
	LastSlot   int64       `dynamodbav:"lastSlot,omitempty"`
	TTL        int64       `dynamodbav:"ttl"` // epoch s
}

// How long a score is kept after its last write, or after the start of the match if
// that is later. A score is valid until a newer one replaces it: the limits only bound
// the size of the table. The result of a match and its names are kept for good: for 50 years,
// because a row of the table has a TTL.
const (
	keepScore  = 30 * 24 * time.Hour
	keepResult = 50 * 365 * 24 * time.Hour
)

// NewScoreRow returns the row of a score that slot has read; slot is 0 if the match
// was never polled. It returns the error of encoding the score.
func NewScoreRow(f Fixture, s score.State, slot int64, now time.Time) (ScoreRow, error) {
	text, err := json.Marshal(s)

	row := ScoreRow{
		MatchID: f.MatchID, LeagueID: f.LeagueID, StartingAt: f.StartTime,
		State: s, StateJSON: string(text), LastSlot: slot, TTL: scoreUntil(f, s.Phase.Over(), now),
	}

	return row, err
}

// scoreUntil returns the TTL of a score and of a scorecard, in epoch s. over reports whether the
// match has a result.
func scoreUntil(f Fixture, over bool, now time.Time) int64 {
	if over {
		return now.Add(keepResult).Unix()
	}

	return keepUntil(f, now, keepScore)
}

// keepUntil returns the TTL of what is kept of a match for long, in epoch s.
func keepUntil(f Fixture, now time.Time, long time.Duration) int64 {
	return latest(f.Start(), now).Add(long).Unix()
}

// Decode decodes StateJSON into State.
func (c *ScoreRow) Decode() error { return json.Unmarshal([]byte(c.StateJSON), &c.State) }

// ReadScore reads and decodes the score of a match. It returns false if there is none.
func ReadScore(ctx context.Context, db dynamo.DB, matchID string) (ScoreRow, bool, error) {
	c, ok, err := dynamo.Get[ScoreRow](ctx, db, tables.GetCached, matchID)
	if err != nil || !ok {
		return ScoreRow{}, false, err
	}

	return c, true, c.Decode()
}

// DisplayRow is a row of DisplayStateCache: the display of one perspective of a match.
type DisplayRow struct {
	CacheKey string  `dynamodbav:"cacheKey"`
	Display  RawJSON `dynamodbav:"display"` // a score.Display
	Hash     string  `dynamodbav:"hash"`
	Slot     int64   `dynamodbav:"lastSlot"`
	At       int64   `dynamodbav:"at"`      // of the state, epoch s
	Playing  bool    `dynamodbav:"playing"` // the display becomes stale without updates
	Key      bool    `dynamodbav:"key"`     // score.State.KeyEvent: phones must show it at once
	TTL      int64   `dynamodbav:"ttl"`     // epoch s
}

// RawJSON is JSON that is stored as a string and sent as it is.
type RawJSON string

// MarshalJSON returns the JSON as it is.
func (r RawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// KeepShown is how long a display is served from its row.
const KeepShown = 7 * 24 * time.Hour

// DisplayKey returns the cacheKey of the display of a perspective.
func DisplayKey(matchID, view string) string { return "DISPLAY#" + matchID + "#" + view }

// ReadDisplay reads the display of a perspective. It returns false if there is none.
// The row may have expired.
func ReadDisplay(ctx context.Context, db dynamo.DB, matchID, view string) (DisplayRow, bool, error) {
	return dynamo.Get[DisplayRow](ctx, db, tables.GetDisplay, DisplayKey(matchID, view))
}

// DisplayFromScore makes the display of an ended match from its score, for a match that has no stored
// display: it never had one, or the row has expired. It returns false if there is no score.
func DisplayFromScore(ctx context.Context, db dynamo.DB, matchID, view string) (DisplayRow, bool, error) {
	c, ok, err := ReadScore(ctx, db, matchID)
	if err != nil || !ok {
		return DisplayRow{}, false, err
	}

	text, err := json.Marshal(c.State.For(view))

	return DisplayRow{Display: RawJSON(text)}, true, err
}

// ReadDisplays reads the displays of some perspectives, as ReadDisplay does, in one call. The
// perspectives must differ.
func ReadDisplays(ctx context.Context, db dynamo.DB, matchID string, views []string) (map[string]DisplayRow, error) {
	keys, view := make([]dynamo.Item, len(views)), map[string]string{}
	for i, v := range views {
		key := DisplayKey(matchID, v)
		keys[i], view[key] = dynamo.Key(tables.BatchGetDisplays, key), v
	}

	rows, err := dynamo.GetAll[DisplayRow](ctx, db, tables.BatchGetDisplays, keys)
	if err != nil {
		return nil, err
	}

	displays := make(map[string]DisplayRow, len(rows))
	for _, row := range rows {
		displays[view[row.CacheKey]] = row
	}

	return displays, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}

	return b
}

// Update changes the row of the match if it exists and cond holds. Otherwise it returns
// *dynamo.Refused.
func (f Fixture) Update(ctx context.Context, db dynamo.DB, pattern spec.Access, changes dynamo.Changes,
	cond expression.ConditionBuilder) error {
	return dynamo.Update(ctx, db, pattern, dynamo.Key(pattern, f.MatchID), changes, dynamo.Exists[Fixture]("matchId").And(cond))
}

// Ended reports whether the match is over. It reads the score, which has the result
// before the end of the match is decided.
func Ended(ctx context.Context, db dynamo.DB, f Fixture) (bool, error) {
	if f.EndingAt != 0 {
		return true, nil
	}

	c, ok, err := ReadScore(ctx, db, f.MatchID)

	return ok && c.State.Phase.Over(), err
}
