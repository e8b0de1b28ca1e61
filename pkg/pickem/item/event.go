package item

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/tables"
)

const EventType = "event"

// Event is the item of an event.
type Event struct {
	Row
	ID        string `dynamodbav:"id"`
	Name      string `dynamodbav:"name"`
	Date      string `dynamodbav:"date"` // 2026/03/08
	StartsAt  string `dynamodbav:"startsAt"`
	LockAt    string `dynamodbav:"lockAt"`
	State     string `dynamodbav:"state"`
	Bonus     int    `dynamodbav:"bonus"`               // for a perfect card; 0 for none
	CardRev   int    `dynamodbav:"cardRev"`             // changes with its matches, their order and what they are worth; from a time on, so that none is of an event of the same id before
	ScoringAt string `dynamodbav:"scoringAt,omitempty"` // when it was first to be scored

	// What the points depend on, once results come in: how often it changed, when it
	// did last, and which of these the points are of.
	ResultsRev int    `dynamodbav:"resultsRev"`
	ResultsAt  string `dynamodbav:"resultsAt,omitempty"`
	ScoredRev  int    `dynamodbav:"scoredRev"`
}

// The states of an event.
const (
	Upcoming  = "upcoming"  // it takes predictions until lockAt
	Broadcast = "broadcast" // it is locked
	Scored    = "scored"
	Deleting  = "deleting" // it is being called off, and nobody sees it
)

// IsOpen reports whether an event takes predictions at now. Writes have their own
// look, by the condition open.
func (e Event) IsOpen(now time.Time) bool {
	return e.State == Upcoming && now.Before(ParseTime(e.LockAt))
}

// EventWithCard is an event with its card, as a write finds them.
type EventWithCard struct {
	Event
	Card []Match
}

// ReadEventWithCard reads an event and its card, or NotFound.
func ReadEventWithCard(ctx context.Context, db dynamo.DB, eventID string) (s EventWithCard, err error) {
	if s.Event, err = ReadEvent(ctx, db, eventID); err != nil {
		return s, err
	}
	g, err := Query(ctx, db, tables.ReadCard, dynamo.Range{Key: BeginsWith(tables.ReadCard, EventRef(eventID), matchPrefix), Consistent: true})
	s.Card = g.Card
	return s, err
}

func ReadEvent(ctx context.Context, db dynamo.DB, eventID string) (Event, error) {
	e, ok, err := dynamo.Get[Event](ctx, db, tables.FindEvent, EventTag, EventRef(eventID))
	if err == nil && (!ok || e.State == Deleting) {
		err = ErrNoEvent
	}
	return e, err
}

// IsOpenAt is the condition on an event that it takes predictions at now.
func IsOpenAt(now time.Time) expression.ConditionBuilder {
	return Equals("state", Upcoming).And(expression.GreaterThan(expression.Name("lockAt"), expression.Value(FormatTime(now))))
}

// RecentEvents are the events that may still change.
func RecentEvents(ctx context.Context, db dynamo.DB, now time.Time) ([]Event, error) {
	from := EventRef(now.AddDate(0, 0, -openDays).UTC().Format(time.DateOnly))
	return dynamo.QueryAll[Event](ctx, db, tables.FindOpenEvents, dynamo.Range{
		Key:        expression.Key("PK").Equal(expression.Value(EventTag)).And(expression.Key("SK").GreaterThanEqual(expression.Value(from))),
		Consistent: true,
	})
}

// openDays is for how long after its first date an event may still be on: one
// that is moved further away is announced anew.
const openDays = 400

// Match is the match of an id.
func (s EventWithCard) Match(id string) (Match, bool) {
	i := slices.IndexFunc(s.Card, func(m Match) bool { return m.ID == strings.ToLower(id) })
	if i < 0 {
		return Match{}, false
	}
	return s.Card[i], true
}

// MissingResults are the ids of the matches without a result.
func (s EventWithCard) MissingResults() []string {
	ids := []string{}
	for _, m := range s.Card {
		if m.Result == nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Event is the only event of a group, or NotFound.
func (g Collection) Event() (Event, error) {
	if len(g.Events) == 0 || g.Events[0].State == Deleting {
		return Event{}, ErrNoEvent
	}
	return g.Events[0], nil
}

var ErrNoEvent = problem.New(problem.NotFound, "event_not_found", "no such event")
