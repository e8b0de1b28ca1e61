package item

import (
	"context"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/tables"
)

// Prediction is the item of a member's picks of an event, with their points once the
// event is scored.
type Prediction struct {
	Row
	EventID     string            `dynamodbav:"eventId"`
	BelongsTo   string            `dynamodbav:"belongsto"`
	Predictions map[string]string `dynamodbav:"predictions"` // id of a team by the match's id
	CardRev     int               `dynamodbav:"cardRev"`     // the event's CardRev when they were saved
	SavedAt     string            `dynamodbav:"savedAt"`

	Points    int    `dynamodbav:"points"`
	Correct   int    `dynamodbav:"mcorrect"`
	ScoredAt  string `dynamodbav:"scoredAt,omitempty"`
	ScoredRev int    `dynamodbav:"scoredRev"` // the event's ResultsRev of the points
}

// UserID returns the id of the member.
func (p Prediction) UserID() string { return strings.TrimPrefix(p.BelongsTo, "USER#") }

// Picks returns the valid picks by match id, as places in Teams: those of matches on the
// card in which the same teams compete as when they were saved.
func (p Prediction) Picks(card []Match) map[string]int {
	picks := map[string]int{}

	for _, m := range card {
		if id, ok := p.Predictions[m.ID]; ok && p.CardRev >= m.Since {
			if team := m.Team(id); team >= 0 {
				picks[m.ID] = team
			}
		}
	}

	return picks
}

// ReadPredictions reads the predictions of an event. The index is eventually
// consistent: a prediction that was just saved may be missing.
func ReadPredictions(ctx context.Context, db dynamo.DB, eventID string) ([]Prediction, error) {
	return dynamo.QueryAll[Prediction](ctx, db, tables.EntriesOf,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.EntriesOf, EventRef(eventID), ScorePrefix)})
}
