package item

import (
	"context"
	"iter"
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

	Weights  map[string]int `dynamodbav:"weights,omitempty"`  // of picks, by the match's id; if the event has the rule
	Joker    string         `dynamodbav:"joker,omitempty"`    // id of the match whose pick counts double
	Survivor string         `dynamodbav:"survivor,omitempty"` // id of the match whose pick must win

	Points    int    `dynamodbav:"points"`
	Correct   int    `dynamodbav:"mcorrect"`
	ScoredAt  string `dynamodbav:"scoredAt,omitempty"`
	ScoredRev int    `dynamodbav:"scoredRev"` // the event's ResultsRev of the points
	Survived  string `dynamodbav:"survived,omitempty"`
}

// Values of Survived. A pick that is void, or whose match is, has none.
const (
	SurvivorRight = "right"
	SurvivorWrong = "wrong"
)

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

// ReadEntrants reads the ids of the members with a prediction of an event. The index is eventually
// consistent: a prediction that was just saved may be missing.
func ReadEntrants(ctx context.Context, db dynamo.DB, eventID string) (ids []string, err error) {
	type entrant struct {
		BelongsTo string `dynamodbav:"belongsto"`
	}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]entrant, dynamo.Item, error) {
		return dynamo.QueryFlat[entrant](ctx, db, tables.EntriesOf,
			dynamo.Range{Key: dynamo.KeyBeginsWith(tables.EntriesOf, EventRef(eventID), ScorePrefix), After: after})
	}) {
		if err != nil {
			return nil, err
		}

		for _, e := range page {
			ids = append(ids, Prediction{BelongsTo: e.BelongsTo}.UserID())
		}
	}

	return ids, nil
}

// Predictions reads the predictions of an event, page by page, as ReadEntrants does.
func Predictions(ctx context.Context, db dynamo.DB, eventID string) iter.Seq2[[]Prediction, error] {
	return dynamo.Pages(func(after dynamo.Item) ([]Prediction, dynamo.Item, error) {
		return dynamo.Query[Prediction](ctx, db, tables.EntriesOf,
			dynamo.Range{Key: dynamo.KeyBeginsWith(tables.EntriesOf, EventRef(eventID), ScorePrefix), After: after})
	})
}
