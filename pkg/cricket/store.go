package cricket

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// perspectives are all that a match is shown in.
func (f fixture) perspectives() []string {
	return slices.Compact([]string{f.LocalTeamID, f.VisitorTeamID, neutral}) // two teams to be confirmed are one
}

// notAfter is the fence of a match's writes: the row has seen no later slot. An
// equal one is our own, whose answer was lost, for a slot is claimed once.
func notAfter(slot int64) expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name("lastSlot")).
		Or(expression.LessThanEqual(expression.Name("lastSlot"), expression.Value(slot)))
}

// cached is a row of cricket-fixture-cache: the score of a match in full.
type cached struct {
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

func newCached(f fixture, s score.State, slot int64, now time.Time) (cached, error) {
	text, err := json.Marshal(s)
	return cached{
		MatchID: f.MatchID, LeagueID: f.LeagueID, StartingAt: f.StartTime,
		State: s, StateJSON: string(text), LastSlot: slot, TTL: keepCached(f, now),
	}, err
}

// keepCached is until when what is cached of a match is kept, epoch s.
func keepCached(f fixture, now time.Time) int64 { return latest(f.start(), now).Add(keepScore).Unix() }

func (c *cached) decode() error { return json.Unmarshal([]byte(c.StateJSON), &c.State) }

func readCached(ctx context.Context, db dynamo.DB, matchID string) (cached, bool, error) {
	c, ok, err := dynamo.Get[cached](ctx, db, getCached, matchID)
	if err != nil || !ok {
		return cached{}, false, err
	}
	return c, true, c.decode()
}

// shown is a row of DisplayStateCache: what one perspective is shown.
type shown struct {
	CacheKey string `dynamodbav:"cacheKey"`
	Display  raw    `dynamodbav:"display"` // a score.Display
	Hash     string `dynamodbav:"hash"`
	Slot     int64  `dynamodbav:"lastSlot"`
	At       int64  `dynamodbav:"at"`      // of the state, epoch s
	Playing  bool   `dynamodbav:"playing"` // the state will go stale
	TTL      int64  `dynamodbav:"ttl"`
}

// raw is JSON that is stored as a string and sent as it is.
type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// keepShown is how long a display is served from its row.
const keepShown = 7 * 24 * time.Hour

func displayKey(matchID, view string) string { return "DISPLAY#" + matchID + "#" + view }

func readShown(ctx context.Context, db dynamo.DB, matchID, view string) (shown, bool, error) {
	return dynamo.Get[shown](ctx, db, getDisplay, displayKey(matchID, view))
}

// stateHash is a row of cricket-state-hashes: what was last pushed.
type stateHash struct {
	Key      string `dynamodbav:"matchTeamKey"`
	Hash     string `dynamodbav:"hash"`
	LastSlot int64  `dynamodbav:"lastSlot"`
}

func hashKey(matchID, view string) string { return matchID + "#" + view }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// update returns an Update of a match's row that never creates one.
func (f fixture) update(ctx context.Context, db dynamo.DB, pattern spec.Access, set expression.UpdateBuilder, cond expression.ConditionBuilder) error {
	return dynamo.Update(ctx, db, pattern, dynamo.Key(pattern, f.MatchID), set, dynamo.Exists[fixture]("matchId").And(cond))
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

func ofSeason(seasonID string) expression.KeyConditionBuilder {
	return expression.Key("seasonId").Equal(expression.Value(seasonID))
}

// startsBetween is the key condition of a league's matches in a span of time.
func startsBetween(leagueCode string, from, to time.Time) expression.KeyConditionBuilder {
	return expression.Key("leagueCode").Equal(expression.Value(leagueCode)).
		And(expression.Key("startTime").Between(expression.Value(from.UTC().Format(timeLayout)), expression.Value(to.UTC().Format(timeLayout))))
}

// ended reports whether the match is over, which the score knows before the
// fixture does.
func ended(ctx context.Context, db dynamo.DB, f fixture) (bool, error) {
	if f.EndingAt != 0 {
		return true, nil
	}
	c, ok, err := readCached(ctx, db, f.MatchID)
	return ok && c.State.Phase.Over(), err
}
