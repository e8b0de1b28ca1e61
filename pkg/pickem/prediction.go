package pickem

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

const predictionType = "prediction"

// prediction is the item of a member's picks of an event, and of what they
// brought.
type prediction struct {
	row
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

func (p prediction) userID() string { return strings.TrimPrefix(p.BelongsTo, "USER#") }

// picks are those of the card's matches that count: who is in the match is as it
// was when they were made.
func (p prediction) picks(card []match) map[string]int {
	picks := map[string]int{}
	for _, m := range card {
		if team, ok := p.Predictions[m.ID]; ok && p.CardRev >= m.Since && team < len(m.Teams) {
			picks[m.ID] = team
		}
	}
	return picks
}

// GetEvent asks for an event as the caller sees it.
type GetEvent struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
}

// EventScreen is the answer with an event and the caller's part in it.
type EventScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Event
		Card       []Match     `json:"card"`
		CardRev    int         `json:"cardRev" doc:"Changes with the card: send it with a prediction."`
		Prediction *Prediction `json:"prediction,omitempty" doc:"The caller's, absent if there is none."`
	}
}

// Prediction is what a member has picked of an event.
type Prediction struct {
	Predictions map[string]int `json:"predictions" doc:"The place of a team, from 0, by the match's id."`
	SavedAt     time.Time      `json:"savedAt"`
	Void        []string       `json:"void,omitempty" doc:"Matches whose teams have changed since: pick again."`
	Score       *Sheet         `json:"score,omitempty" doc:"What it brought, once the event is scored."`
}

// GetEvent returns an event, its card in order and the caller's own prediction.
// Those of others it never reads past the filter, whatever the event's state. The
// index is behind by a moment: a prediction that was just saved may be missing.
func (s *Events) GetEvent(ctx context.Context, in *GetEvent) (*EventScreen, error) {
	mine := absent("belongsto").Or(equals("belongsto", ofUser(in.UserID)))
	g, err := read(ctx, s.db, getCard, dynamo.Range{Key: partition(getCard, ofEvent(in.EventID)), Filter: &mine})
	if err != nil {
		return nil, err
	}
	e, err := g.event()
	if err != nil {
		return nil, err
	}
	out := &EventScreen{CacheControl: httpapi.NoStore}
	out.Body.Event, out.Body.Card, out.Body.CardRev = e.shown(s.now()), shownCard(g.card), e.CardRev
	for _, p := range g.predictions {
		out.Body.Prediction = p.shown(e, g.card)
	}
	return out, nil
}

// event is the only event of a group, or NotFound.
func (g group) event() (event, error) {
	if len(g.events) == 0 || g.events[0].State == deleting {
		return event{}, errNoEvent
	}
	return g.events[0], nil
}

func shownCard(card []match) []Match {
	shown := make([]Match, len(card))
	for i, m := range card {
		shown[i] = m.shown()
	}
	return shown
}

func (p prediction) shown(e event, card []match) *Prediction {
	out := &Prediction{Predictions: p.picks(card), SavedAt: instant(p.SavedAt)}
	for id := range p.Predictions {
		if _, counts := out.Predictions[id]; !counts {
			out.Void = append(out.Void, id)
		}
	}
	slices.Sort(out.Void)
	if e.State == scored {
		sheet := score(e, card, p)
		out.Score = &sheet
	}
	return out
}

// GetResults asks for the scores of an event.
type GetResults struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	Limit   int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor  string `query:"cursor" maxLength:"128" doc:"Next of the page before."`
}

// ResultsScreen is the answer with a scored event, and a page of its scores.
type ResultsScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Event
		Card    []Match `json:"card"`
		Count   int     `json:"count" doc:"How many took part."`
		Entries []Entry `json:"entries" doc:"The highest scores first, then by name."`
		Mine    *Entry  `json:"mine,omitempty" doc:"The caller's own."`
		Next    string  `json:"next,omitempty"`
	}
}

// Entry is a member's score of an event.
type Entry struct {
	Rank   int    `json:"rank" doc:"Dense: members with as many points have the same, and the next have the one after it."`
	UserID string `json:"userId"`
	Name   string `json:"name"`
	Sheet
}

// GetResults returns a scored event with everybody's picks and points. One that is
// not scored is event_not_scored, for picks are nobody's business until then.
func (s *Events) GetResults(ctx context.Context, in *GetResults) (*ResultsScreen, error) {
	g, err := read(ctx, s.db, getResults, dynamo.Range{Key: partition(getResults, ofEvent(in.EventID)), Backward: true})
	if err != nil {
		return nil, err
	}
	e, err := g.event()
	if err != nil {
		return nil, err
	}
	if e.State != scored {
		return nil, errNotScored
	}
	all := rankEntries(e, g.card, g.predictions)
	out := &ResultsScreen{CacheControl: httpapi.NoStore}
	out.Body.Event, out.Body.Card, out.Body.Count = e.shown(s.now()), shownCard(g.card), len(all)
	if i := slices.IndexFunc(all, func(en Entry) bool { return en.UserID == in.UserID }); i >= 0 {
		out.Body.Mine = &all[i]
	}
	out.Body.Entries, out.Body.Next, err = httpapi.Page(all, func(en Entry) string { return en.UserID }, in.Cursor, in.Limit)
	return out, err
}

// PutPredictions saves picks.
type PutPredictions struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	Body    struct {
		Predictions map[string]int `json:"predictions" doc:"The place of a team, from 0, by the match's id. Matches may be left out."`
		CardRev     *int           `json:"cardRev,omitempty" doc:"That of the card that the member has seen: if it is another by now, the picks are card_changed."`
	}
}

// PredictionPage is the answer with a prediction as it was saved.
type PredictionPage struct {
	CacheControl string `header:"Cache-Control"`
	Body         Prediction
}

// tries is how often a write is made anew when what it depends on has changed
// under it.
const tries = 5

// PutPredictions replaces the caller's prediction of an event, and answers with
// what is saved. A match that is not on the card is unknown_match, a team that is
// not in the match invalid_team, picks of a card that has changed since it was
// shown card_changed, and after the lock all of it event_locked: the write itself
// looks at the event's state and at the clock.
func (s *Events) PutPredictions(ctx context.Context, in *PutPredictions) (*PredictionPage, error) {
	for range tries {
		on, err := readStage(ctx, s.db, in.EventID)
		if err != nil {
			return nil, err
		}
		if err := on.locked(s.now()); err != nil {
			return nil, err
		}
		if in.Body.CardRev != nil && *in.Body.CardRev != on.CardRev {
			return nil, errCardChanged
		}
		for id, team := range in.Body.Predictions {
			m, ok := on.match(id)
			if !ok || m.ID != id {
				return nil, errUnknownMatch
			}
			if team < 0 || team >= len(m.Teams) {
				return nil, invalidTeam("body.predictions."+id, m, team)
			}
		}
		sk, err := scoreSK(0, maxScore, in.UserID)
		if err != nil {
			return nil, err
		}
		now := s.now()
		p := prediction{
			row:     row{PK: ofUser(in.UserID), SK: ofEvent(on.ID), GSIPK: ofEvent(on.ID), GSISK: sk, Type: predictionType},
			EventID: on.ID, BelongsTo: ofUser(in.UserID), Predictions: maps.Clone(in.Body.Predictions), CardRev: on.CardRev, SavedAt: stamp(now),
		}
		err = dynamo.Transact(ctx, s.db, savePrediction,
			s.whileOpen(on.key(), equals("cardRev", on.CardRev)),
			dynamo.CheckWrite(memberItem(in.UserID), isMember()),
			dynamo.PutWrite(p))
		if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
			if refused.Write == 1 {
				return nil, errNotMember
			}
			continue // the event, or its card, is not as it was
		}
		if err != nil {
			return nil, err
		}
		return &PredictionPage{httpapi.NoStore, *p.shown(on.event, on.card)}, nil
	}
	return nil, errChanged
}

// whileOpen has a transaction made only while an event takes predictions, by the
// clock of each try.
func (s *Events) whileOpen(event dynamo.Item, more ...expression.ConditionBuilder) dynamo.Write {
	return func(table *string) (types.TransactWriteItem, error) {
		cond := open(s.now())
		for _, c := range more {
			cond = cond.And(c)
		}
		return dynamo.CheckWrite(event, cond)(table)
	}
}

// locked is event_locked if the event takes no predictions at now, with the time
// at which it locked.
func (e event) locked(now time.Time) error {
	if e.isOpen(now) {
		return nil
	}
	return errLocked.With(map[string]any{"lockAt": instant(e.LockAt), "state": e.shown(now).State})
}

// DeletePredictions withdraws picks.
type DeletePredictions struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
}

// DeletePredictions removes the caller's prediction, or none, of an event that is
// not locked.
func (s *Events) DeletePredictions(ctx context.Context, in *DeletePredictions) (*httpapi.Removed, error) {
	err := dynamo.Transact(ctx, s.db, dropPrediction,
		s.whileOpen(eventItem(in.EventID)),
		dynamo.DeleteWrite(predictionItem(in.UserID, in.EventID)))
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		var e event
		if err := attributevalue.UnmarshalMap(refused.Item, &e); err != nil {
			return nil, err
		}
		if e.ID == "" || e.State == deleting {
			return nil, errNoEvent
		}
		return nil, cmp.Or(e.locked(s.now()), error(errChanged))
	}
	if err != nil {
		return nil, err
	}
	return httpapi.NewRemoved(), nil
}

// isMember is the condition on the item of a member that it is one.
func isMember() expression.ConditionBuilder { return exists("PK").And(absent("deletedAt")) }

var (
	errUnknownMatch = problem.New(problem.Unprocessable, "unknown_match", "there is a match that is not on the card").In("body.predictions")
	errNotScored    = problem.New(problem.Conflict, "event_not_scored", "the event is not scored yet")
	errNotMember    = problem.New(problem.Denied, "not_a_member", "you are not a member: giving a name makes you one, unless you were removed")
)
