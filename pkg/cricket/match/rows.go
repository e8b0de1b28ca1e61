package match

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Perspectives are all that a match is shown in.
func (f Fixture) Perspectives() []string {
	return slices.Compact([]string{f.LocalTeamID, f.VisitorTeamID, Neutral}) // two teams to be confirmed are one
}

// NotAfter is the fence of a match's writes: the row has seen no later slot. An
// equal one is our own, whose answer was lost, for a slot is claimed once.
func NotAfter(slot int64) expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name("lastSlot")).
		Or(expression.LessThanEqual(expression.Name("lastSlot"), expression.Value(slot)))
}

// ScoreRow is a row of cricket-fixture-cache: the score of a match in full.
type ScoreRow struct {
	MatchID    string      `dynamodbav:"matchId"`
	LeagueID   string      `dynamodbav:"leagueId"`
	StartingAt string      `dynamodbav:"startingAt"`
	State      score.State `dynamodbav:"-"`
	StateJSON  string      `dynamodbav:"state"`
	LastSlot   int64       `dynamodbav:"lastSlot,omitempty"`
	TTL        int64       `dynamodbav:"ttl"`
}

// How long a score is kept after it was written. It is the truth until a newer
// one replaces it, so this only bounds the table.
const keepScore = 30 * 24 * time.Hour

// NewScoreRow is the row of a match's score. slot is that of the poll; 0 for none.
func NewScoreRow(f Fixture, s score.State, slot int64, now time.Time) (ScoreRow, error) {
	text, err := json.Marshal(s)
	return ScoreRow{
		MatchID: f.MatchID, LeagueID: f.LeagueID, StartingAt: f.StartTime,
		State: s, StateJSON: string(text), LastSlot: slot, TTL: keepUntil(f, now),
	}, err
}

// keepUntil is until when what is cached of a match is kept, epoch s.
func keepUntil(f Fixture, now time.Time) int64 { return latest(f.Start(), now).Add(keepScore).Unix() }

// Decode reads State from StateJSON.
func (c *ScoreRow) Decode() error { return json.Unmarshal([]byte(c.StateJSON), &c.State) }

// ReadScore reads the score of a match; false if there is none.
func ReadScore(ctx context.Context, db dynamo.DB, matchID string) (ScoreRow, bool, error) {
	c, ok, err := dynamo.Get[ScoreRow](ctx, db, tables.GetCached, matchID)
	if err != nil || !ok {
		return ScoreRow{}, false, err
	}
	return c, true, c.Decode()
}

// DisplayRow is a row of DisplayStateCache: what one perspective is shown.
type DisplayRow struct {
	CacheKey string  `dynamodbav:"cacheKey"`
	Display  RawJSON `dynamodbav:"display"` // a score.Display
	Hash     string  `dynamodbav:"hash"`
	Slot     int64   `dynamodbav:"lastSlot"`
	At       int64   `dynamodbav:"at"`      // of the state, epoch s
	Playing  bool    `dynamodbav:"playing"` // the state will go stale
	TTL      int64   `dynamodbav:"ttl"`
}

// RawJSON is JSON that is stored as a string and sent as it is.
type RawJSON string

// MarshalJSON returns the text as it is.
func (r RawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// KeepShown is how long a display is served from its row.
const KeepShown = 7 * 24 * time.Hour

// DisplayKey is the key of a perspective's display in DisplayStateCache.
func DisplayKey(matchID, view string) string { return "DISPLAY#" + matchID + "#" + view }

// ReadDisplay reads what a perspective is shown; false if there is nothing yet.
func ReadDisplay(ctx context.Context, db dynamo.DB, matchID, view string) (DisplayRow, bool, error) {
	return dynamo.Get[DisplayRow](ctx, db, tables.GetDisplay, DisplayKey(matchID, view))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Update changes the row of the match if it exists and cond holds. set is a
// dynamo.Changes or, until every caller is converted, an expression.UpdateBuilder.
// A missing row or a condition that does not hold is a *dynamo.Refused.
func (f Fixture) Update(ctx context.Context, db dynamo.DB, pattern spec.Access, set any, cond expression.ConditionBuilder) error {
	exists := dynamo.Exists[Fixture]("matchId").And(cond)
	if changes, ok := set.(dynamo.Changes); ok {
		return dynamo.Update(ctx, db, pattern, dynamo.Key(pattern, f.MatchID), changes, exists)
	}
	return dynamo.Update(ctx, db, pattern, dynamo.Key(pattern, f.MatchID), set.(expression.UpdateBuilder), exists)
}

// indexKey is the key of an item in an index whose partition is partition and
// whose sort attribute is sort.
func indexKey(partition, p, sort, s, matchID string) dynamo.Item {
	return dynamo.Item{
		partition: &types.AttributeValueMemberS{Value: p},
		sort:      &types.AttributeValueMemberS{Value: s},
		"matchId": &types.AttributeValueMemberS{Value: matchID},
	}
}

// Ended reports whether the match is over, which the score knows before the
// fixture does.
func Ended(ctx context.Context, db dynamo.DB, f Fixture) (bool, error) {
	if f.EndingAt != 0 {
		return true, nil
	}
	c, ok, err := ReadScore(ctx, db, f.MatchID)
	return ok && c.State.Phase.Over(), err
}
