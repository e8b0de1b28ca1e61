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

// Event is the item of an event.
type Event struct {
	Row
	ID       string `dynamodbav:"id"`
	Name     string `dynamodbav:"name"`
	Date     string `dynamodbav:"date"` // 2026/03/08
	StartsAt string `dynamodbav:"startsAt"`
	LockAt   string `dynamodbav:"lockAt"`
	State    string `dynamodbav:"state"`
	Bonus    int    `dynamodbav:"bonus"` // for a perfect card; 0 for none
	// increases with every change of the card; starts at the time of creation (ms), so that it never repeats for the same id
	CardRev   int    `dynamodbav:"cardRev"`
	Matches   int    `dynamodbav:"matches"`             // on the card
	VoidRev   int    `dynamodbav:"voidRev"`             // the CardRev of the latest change that made picks void
	ScoringAt string `dynamodbav:"scoringAt,omitempty"` // when scoring was requested
	DeletedAt string `dynamodbav:"deletedAt,omitempty"` // when its deletion was requested

	RevealAtLock bool   `dynamodbav:"revealAtLock,omitempty"` // members see all picks from the lock on
	RevealedAt   string `dynamodbav:"revealedAt,omitempty"`   // when the reads of the latest table of picks began

	Rules

	ResultsRev int    `dynamodbav:"resultsRev"`          // increases with every change that affects points
	ResultsAt  string `dynamodbav:"resultsAt,omitempty"` // when ResultsRev changed
	ScoredRev  int    `dynamodbav:"scoredRev"`           // the ResultsRev of the present points
	ScoredAt   string `dynamodbav:"scoredAt,omitempty"`  // when the reads of that scoring began
	// when a later message of the scoring began; absent while it takes one message
	ProgressAt string `dynamodbav:"progressAt,omitempty"`
	// a result was cleared since scoring was requested: there are no points until it is requested again
	Withdrawn bool `dynamodbav:"withdrawn,omitempty"`
}

// Rules are what an event adds to the points of its matches. All are off unless an administrator sets
// them.
type Rules struct {
	Confidence bool `dynamodbav:"confidence,omitempty"` // a pick brings its weight instead of the points of the match
	Joker      bool `dynamodbav:"joker,omitempty"`      // one pick counts double
	Survivor   bool `dynamodbav:"survivor,omitempty"`   // a member picks one winner, and is out of the year's game if it loses
}

// Worth returns the most points that the picks of a card can bring.
func (r Rules) Worth(card []Match) (sum int) {
	most := 0

	for i, m := range card {
		points := m.Points
		if r.Confidence {
			points = i + 1
		}

		sum, most = sum+points, max(most, points)
	}

	if r.Joker {
		sum += most
	}

	return sum
}

// The states of an event.
const (
	Upcoming  = "upcoming"  // it takes predictions until lockAt
	Broadcast = "broadcast" // it is locked
	Scored    = "scored"    // every prediction has its points
	Deleting  = "deleting"  // it is being deleted, and no request finds it
)

// IsOpen reports whether the event accepts predictions at now. Writes use the
// condition IsOpenAt instead, which DynamoDB evaluates.
func (e Event) IsOpen(now time.Time) bool {
	return e.State == Upcoming && now.Before(ParseTime(e.LockAt))
}

// PicksVisible reports whether members may see the picks of all members at now.
func (e Event) PicksVisible(now time.Time) bool {
	return e.State == Scored || e.RevealAtLock && !e.IsOpen(now)
}

// EventWithCard is an event with its card.
type EventWithCard struct {
	Event
	Card    []Match
	Removed []Match // from the card; only ReadEventWithCard returns them
}

// ReadEventWithCard reads an event and its card with consistent reads, or returns
// ErrNoEvent.
func ReadEventWithCard(ctx context.Context, db dynamo.DB, eventID string) (s EventWithCard, err error) {
	if s.Event, err = ReadEvent(ctx, db, eventID); err != nil {
		return s, err
	}

	s.Card, s.Removed, err = ReadCard(ctx, db, eventID)

	return s, err
}

// ReadCard reads the card of an event, and the matches that were removed from it, with a
// consistent read.
func ReadCard(ctx context.Context, db dynamo.DB, eventID string) (card, removed []Match, err error) {
	g, err := Query(ctx, db, tables.ReadCard,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ReadCard, EventRef(eventID), matchPrefix), Consistent: true})
	return g.Card, g.Removed, err
}

// ReadScreen reads an event and its card, or returns ErrNoEvent. The cost does not depend
// on the number of predictions, which sort behind the card. The index is eventually
// consistent.
func ReadScreen(ctx context.Context, db dynamo.DB, eventID string) (s EventWithCard, err error) {
	g, err := Query(ctx, db, tables.GetCard, dynamo.Range{Key: dynamo.KeyLess(tables.GetCard, EventRef(eventID), ScorePrefix)})
	if err != nil {
		return s, err
	}

	s.Card = g.Card
	s.Event, err = g.Event()

	return s, err
}

// ReadVisible reads an event as ReadScreen does. If members may not see all picks at now, it
// returns ErrNotScored.
func ReadVisible(ctx context.Context, db dynamo.DB, eventID string, now time.Time) (EventWithCard, error) {
	s, err := ReadScreen(ctx, db, eventID)
	if err == nil && !s.PicksVisible(now) {
		err = ErrNotScored
	}

	return s, err
}

// ReadEvent reads an event, or returns ErrNoEvent.
func ReadEvent(ctx context.Context, db dynamo.DB, eventID string) (Event, error) {
	e, ok, err := dynamo.Get[Event](ctx, db, tables.FindEvent, EventTag, EventRef(eventID))
	if err == nil && (!ok || e.State == Deleting) {
		err = ErrNoEvent
	}

	return e, err
}

// IsOpenAt returns the condition that an event accepts predictions at now.
func IsOpenAt(now time.Time) expression.ConditionBuilder {
	return dynamo.Equal[Event]("state", Upcoming).And(dynamo.Greater[Event]("lockAt", FormatTime(now)))
}

// RecentEvents reads the events that may still change.
func RecentEvents(ctx context.Context, db dynamo.DB, now time.Time) ([]Event, error) {
	return dynamo.QueryAll[Event](ctx, db, tables.FindOpenEvents, dynamo.Range{
		Key:        dynamo.KeyAtLeast(tables.FindOpenEvents, EventTag, EventRef(FirstRecent(now))),
		Consistent: true,
	})
}

// FirstRecent returns the first date of the events that RecentEvents reads, as in their ids.
func FirstRecent(now time.Time) string {
	return now.AddDate(0, 0, -openDays).UTC().Format(time.DateOnly)
}

// openDays is how many days after the date in its id an event can still be locked
// and reminded of. An event that moves further is created anew.
const openDays = 400

// Match returns the match of an id.
func (s EventWithCard) Match(id string) (Match, bool) { return withID(s.Card, id) }

// RemovedMatch returns the match of an id that was removed from the card.
func (s EventWithCard) RemovedMatch(id string) (Match, bool) { return withID(s.Removed, id) }

func withID(matches []Match, id string) (Match, bool) {
	i := slices.IndexFunc(matches, func(m Match) bool { return m.ID == strings.ToLower(id) })
	if i < 0 {
		return Match{}, false
	}

	return matches[i], true
}

// MissingResults returns the ids of the matches without a result.
func (s EventWithCard) MissingResults() []string {
	ids := []string{}

	for _, m := range s.Card {
		if m.Result == nil {
			ids = append(ids, m.ID)
		}
	}

	return ids
}

// Event returns the event of the collection, or ErrNoEvent.
func (g Collection) Event() (Event, error) {
	if len(g.Events) == 0 || g.Events[0].State == Deleting {
		return Event{}, ErrNoEvent
	}

	return g.Events[0], nil
}

// Errors about events.
var (
	ErrNoEvent   = problem.New(problem.NotFound, "event_not_found", "the event does not exist") // or it is being deleted
	ErrNotScored = problem.New(problem.Conflict, "event_not_scored", "the event is not scored yet")
)
