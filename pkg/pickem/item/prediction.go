package item

import (
	"context"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/tables"
)

const PredictionType = "prediction"

// Prediction is the item of a member's picks of an event, and of what they
// brought.
type Prediction struct {
	Row
	EventID     string         `dynamodbav:"eventId"`
	BelongsTo   string         `dynamodbav:"belongsto"`
	Predictions map[string]int `dynamodbav:"predictions"` // place of a team by the match's id
	CardRev     int            `dynamodbav:"cardRev"`     // of the card that they are of
	SavedAt     string         `dynamodbav:"savedAt"`

	Name      string `dynamodbav:"name,omitempty"` // the member's, once it is scored
	Points    int    `dynamodbav:"points"`
	Correct   int    `dynamodbav:"mcorrect"`
	ScoredAt  string `dynamodbav:"scoredAt,omitempty"`
	ScoredRev int    `dynamodbav:"scoredRev"` // the event's resultsRev that the points are of
}

func (p Prediction) UserID() string { return strings.TrimPrefix(p.BelongsTo, "USER#") }

// Picks are those of the card's matches that count: who is in the match is as it
// was when they were made.
func (p Prediction) Picks(card []Match) map[string]int {
	picks := map[string]int{}
	for _, m := range card {
		if team, ok := p.Predictions[m.ID]; ok && p.CardRev >= m.Since && team < len(m.Teams) {
			picks[m.ID] = team
		}
	}
	return picks
}

// ReadPredictions reads the predictions on an event. The index is behind by a moment.
func ReadPredictions(ctx context.Context, db dynamo.DB, eventID string) ([]Prediction, error) {
	return dynamo.QueryAll[Prediction](ctx, db, tables.EntriesOf, dynamo.Range{Key: BeginsWith(tables.EntriesOf, EventRef(eventID), scorePrefix)})
}
