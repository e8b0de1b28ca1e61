package event

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// GetEvent is the request for an event.
type GetEvent struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
}

// EventScreen is the answer with an event and the caller's part in it.
type EventScreen struct {
	Body struct {
		Event
		Card       []Match     `json:"card" doc:"The matches of the event, in order."`
		CardRev    int         `json:"cardRev" doc:"The revision of the card. Send it with a prediction."`
		Prediction *Prediction `json:"prediction,omitempty" doc:"The caller's prediction. Absent if there is none."`
	}
}

// Prediction is the picks of a member for an event.
type Prediction struct {
	Predictions map[string]string `json:"predictions" doc:"The id of the picked team by match id."`
	SavedAt     time.Time         `json:"savedAt" doc:"When the prediction was saved last."`
	Void        []string          `json:"void,omitempty" doc:"The ids of picked matches that were removed, or in which other teams compete since: pick again."`
	Score       *score.Sheet      `json:"score,omitempty" doc:"The points. Absent until the event is scored."`

	Weights  map[string]int `json:"weights,omitempty" doc:"The weights of picks by match id, as saved. A pick without one gets the smallest that is free, in the order of the card. Absent unless the event has confidence points."`
	Joker    string         `json:"joker,omitempty" doc:"The id of the match whose pick counts double. Absent for none."`
	Survivor string         `json:"survivor,omitempty" doc:"The id of the match whose pick is the member's in the survivor game. Absent for none."`
	Survived string         `json:"survived,omitempty" enum:"right,wrong" doc:"What became of the survivor pick. Absent until the event is scored, and if the match is void."`
}

// GetEventFunction answers with an event, its card and the caller's prediction.
func GetEventFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-event",
		Does:   "Returns an event with its card and the caller's prediction.",
		IfDown: "Events do not open, so members cannot pick.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetCard, tables.GetPick},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenEvents, (*Events).GetEvent, item.ErrNoEvent, item.ErrNotMember)
}

// GetEvent returns an event, its card in order and the caller's own prediction, which
// includes a save that has just been answered. Event and card may be a moment old. A caller
// who is not a member gets not_a_member.
func (s *Events) GetEvent(ctx context.Context, in *GetEvent) (*EventScreen, error) {
	if err := item.CheckMember(ctx, s.db, in.UserID); err != nil {
		return nil, err
	}

	var (
		on     item.EventWithCard
		mine   item.Prediction
		picked bool
	)

	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { on, err = item.ReadScreen(bctx, s.db, in.EventID); return err })
	both.Go(func() (err error) {
		mine, picked, err = dynamo.Get[item.Prediction](bctx, s.db, tables.GetPick, item.UserRef(in.UserID), item.EventRef(in.EventID))
		return err
	})

	if err := both.Wait(); err != nil {
		return nil, err
	}

	out := &EventScreen{}

	out.Body.Event, out.Body.Card, out.Body.CardRev = newEvent(on.Event, s.now()), shownCard(on.Card), on.CardRev
	if picked {
		out.Body.Prediction = newPrediction(mine, on.Event, on.Card)
	}

	return out, nil
}

func shownCard(card []item.Match) []Match {
	shown := make([]Match, len(card))
	for i, m := range card {
		shown[i] = newMatch(m)
	}

	return shown
}

func newPrediction(p item.Prediction, e item.Event, card []item.Match) *Prediction {
	out := &Prediction{
		Predictions: map[string]string{}, SavedAt: item.ParseTime(p.SavedAt),
		Weights: p.Weights, Joker: p.Joker, Survivor: p.Survivor, Survived: p.Survived,
	}

	valid := p.Picks(card)
	for id, team := range p.Predictions {
		if _, ok := valid[id]; ok {
			out.Predictions[id] = team
		} else {
			out.Void = append(out.Void, id)
		}
	}

	slices.Sort(out.Void)

	if e.State == item.Scored {
		sheet := score.Of(e, card, p)
		out.Score = &sheet
	}

	return out
}

// GetResults is the request for the scores of an event.
type GetResults struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Limit   int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Cursor  string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// ResultsScreen is the answer with an event, and a page of its picks and scores.
type ResultsScreen struct {
	Body struct {
		Event
		Card    []Match       `json:"card" doc:"The matches of the event, in order."`
		Count   int           `json:"count" doc:"The number of entries on all pages."`
		Entries []score.Entry `json:"entries" doc:"By points, highest first, then by correct picks, then by name; by name until the event is scored. A page can have fewer than limit, also if others follow."`
		Mine    *score.Entry  `json:"mine,omitempty" doc:"The caller's entry. Absent if there is none."`
		Next    string        `json:"next,omitempty"`
	}
}

// GetResultsFunction answers with a scored event and everybody's scores.
func GetResultsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-results",
		Does:   "Returns a scored event with its results and the scores of all members.",
		IfDown: "The results of past events do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/results"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetCard, tables.GetRanking},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenEvents, (*Events).GetResults, httpapi.ErrBadCursor, item.ErrNoEvent, item.ErrNotMember, item.ErrNotScored)
}

// GetResults returns an event with a page of the picks and points of all members, once it is
// scored; or from the lock on, if the lock reveals the picks: these appear with the next run of
// LockEvents. Otherwise picks are private, and the answer is event_not_scored. A caller who is
// not a member gets not_a_member.
func (s *Events) GetResults(ctx context.Context, in *GetResults) (*ResultsScreen, error) {
	if err := item.CheckMember(ctx, s.db, in.UserID); err != nil {
		return nil, err
	}

	on, err := item.ReadVisible(ctx, s.db, in.EventID, s.now())
	if err != nil {
		return nil, err
	}

	t, err := ranking.Read(ctx, s.db, on.ID, in.UserID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	out := &ResultsScreen{}
	out.Body.Event, out.Body.Card, out.Body.Count, out.Body.Next = newEvent(on.Event, s.now()), shownCard(on.Card), t.Count, t.Next

	out.Body.Entries = make([]score.Entry, len(t.Rows))
	for i, r := range t.Rows {
		out.Body.Entries[i] = score.NewEntry(on.Event, on.Card, t.Card, r)
	}

	if t.Mine != nil {
		mine := score.NewEntry(on.Event, on.Card, t.Card, *t.Mine)
		out.Body.Mine = &mine
	}

	return out, nil
}

// Picks are the ids of picked teams by match id, in a request.
type Picks map[string]string

// Schema describes Picks. An id is as long as item.Team.ID may be.
func (Picks) Schema(huma.Registry) *huma.Schema {
	longest := 8
	team := &huma.Schema{Type: huma.TypeString, MaxLength: &longest, Examples: []any{"t1"}}
	team.PrecomputeMessages()

	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: team}
}

// Weights are the weights of picks by match id, in a request.
type Weights map[string]int

// Schema describes Weights.
func (Weights) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(item.MaxMatches)
	weight := &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Examples: []any{1}}
	weight.PrecomputeMessages()

	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: weight}
}

// PutPredictions is the request to save picks.
type PutPredictions struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Body    struct {
		Predictions Picks `json:"predictions" doc:"The id of the picked team by match id. Matches may be omitted."`
		CardRev     *int  `json:"cardRev,omitempty" minimum:"0" doc:"The cardRev of the card that the member has seen. If a picked match was removed, or other teams compete in it since, the answer is card_changed. Without it, only the picked teams must still compete."`

		Weights  Weights `json:"weights,omitempty" doc:"The weights of picks by match id, if the event has confidence points: from 1 to the number of matches, and no number twice. Picks may be omitted."`
		Joker    string  `json:"joker,omitempty" maxLength:"36" doc:"The id of the picked match that counts double, if the event has a joker."`
		Survivor string  `json:"survivor,omitempty" maxLength:"36" doc:"The id of the picked match that is the member's in the survivor game, if the event is part of it."`
	}
}

// PredictionPage is the answer with a prediction as it was saved.
type PredictionPage struct {
	Body Prediction
}

// PutPredictionsFunction saves the caller's prediction of an event.
func PutPredictionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/put-predictions",
		Does:   "Replaces the caller's prediction of an event that is not locked.",
		IfDown: "Members cannot pick. If this lasts until an event locks, move its lockAt.",
		On:     spec.Route{Method: "PUT", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SavePrediction, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).PutPredictions,
		errInvalidTeam, errCardChanged, errInvalidRules, errLocked, errUnknownMatch, item.ErrNoEvent, item.ErrNotMember)
}

// PutPredictions replaces the caller's prediction of an event. Errors: unknown_match
// for a match that is not on the card, invalid_team for a team that is not in the
// match, invalid_rules for weights, a joker or a survivor pick that the rules of the event do not
// have, or of a match that is not picked, card_changed with the matchIds of picked matches that have changed since
// cardRev, not_a_member, and event_locked after lockAt. The transaction checks the event's
// state and lockAt, so no prediction is saved late.
func (s *Events) PutPredictions(ctx context.Context, in *PutPredictions) (*PredictionPage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*PredictionPage, error) {
		on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
		if err != nil {
			return nil, err
		}

		if err := checkOpen(on.Event, s.now()); err != nil {
			return nil, err
		}

		if err := checkPicks(on, in.Body.Predictions, in.Body.CardRev); err != nil {
			return nil, err
		}

		if err := checkRules(on, in); err != nil {
			return nil, err
		}

		sk, err := item.ScoreSK(0, item.MaxEventPoints, in.UserID)
		if err != nil {
			return nil, err
		}

		now := s.now()
		p := item.Prediction{
			Row: item.Row{
				PK:    item.UserRef(in.UserID),
				SK:    item.EventRef(on.ID),
				GSIPK: item.EventRef(on.ID),
				GSISK: sk,
				Type:  item.PredictionType,
			},
			EventID:     on.ID,
			BelongsTo:   item.UserRef(in.UserID),
			Predictions: maps.Clone(in.Body.Predictions),
			CardRev:     on.CardRev,
			SavedAt:     item.FormatTime(now),
			Weights:     maps.Clone(in.Body.Weights),
			Joker:       in.Body.Joker,
			Survivor:    in.Body.Survivor,
		}

		err = dynamo.Transact(ctx, s.db, tables.SavePrediction,
			s.whileOpen(on.Key(), dynamo.Unchanged(on.Event, "cardRev")),
			dynamo.CheckWrite(item.MemberKey(in.UserID), item.IsMember()),
			dynamo.PutWrite(p))
		if refused, ok := errors.AsType[*dynamo.Refused](err); ok && refused.Write == 1 {
			return nil, item.ErrNotMember
		}

		if err != nil { // refused if the event or its card has changed
			return nil, err
		}

		return &PredictionPage{*newPrediction(p, on.Event, on.Card)}, nil
	})
}

// checkPicks returns an error unless the picked teams compete on the card, in matches that
// have not changed since revision seen, if that is given.
func checkPicks(on item.EventWithCard, picks map[string]string, seen *int) error {
	var (
		changed []string
		err     error
	)

	for _, id := range slices.Sorted(maps.Keys(picks)) {
		m, ok := on.Match(id)

		ok = ok && m.ID == id
		switch {
		case seen != nil && *seen < on.CardRev && (!ok || m.Since > *seen):
			changed = append(changed, id)
		case !ok:
			err = errUnknownMatch
		case m.Team(picks[id]) < 0:
			err = cmp.Or(err, invalidTeam("body.predictions."+id,
				fmt.Sprintf("the match has no team %q: valid are %s", picks[id], strings.Join(teamIDs(m), ", "))))
		}
	}

	if changed != nil {
		return errCardChanged.With(map[string]any{"matchIds": changed})
	}

	return err
}

// checkRules returns invalid_rules unless weights, joker and survivor pick are of picked matches, by
// the rules of the event, and the weights differ.
func checkRules(on item.EventWithCard, in *PutPredictions) error {
	wrong := func(field, why string, args ...any) error {
		return problem.New(problem.Unprocessable, errInvalidRules.Code, why, args...).In("body." + field)
	}

	b, used := in.Body, map[int]bool{}

	for _, id := range slices.Sorted(maps.Keys(b.Weights)) {
		w := b.Weights[id]
		_, picked := b.Predictions[id]

		switch {
		case !on.Confidence:
			return wrong("weights", "the event has no confidence points: leave the weights out")
		case !picked:
			return wrong("weights."+id, "the match is not picked")
		case w < 1 || w > len(on.Card) || used[w]:
			return wrong("weights."+id, "the weight is %d: valid are 1 to %d, each once", w, len(on.Card))
		}

		used[w] = true
	}

	for _, one := range []struct {
		field, match string
		on           bool
	}{{"joker", b.Joker, on.Joker}, {"survivor", b.Survivor, on.Survivor}} {
		_, picked := b.Predictions[one.match]

		switch {
		case one.match == "":
		case !one.on:
			return wrong(one.field, "the event has no such rule: leave it out")
		case !picked:
			return wrong(one.field, "the match is not picked")
		}
	}

	return nil
}

// whileOpen returns the condition check that the event is open. The time is read for
// each try of the transaction, because a retry may come after lockAt.
func (s *Events) whileOpen(event dynamo.Item, more ...expression.ConditionBuilder) dynamo.Write {
	return func(table *string) (types.TransactWriteItem, error) {
		cond := item.IsOpenAt(s.now())
		for _, c := range more {
			cond = cond.And(c)
		}

		return dynamo.CheckWrite(event, cond)(table)
	}
}

// checkOpen returns event_locked, with lockAt and the state, if the event accepts no
// predictions at now.
func checkOpen(e item.Event, now time.Time) error {
	if e.IsOpen(now) {
		return nil
	}

	return errLocked.With(map[string]any{"lockAt": item.ParseTime(e.LockAt), "state": newEvent(e, now).State})
}

// DeletePredictions is the request to delete a prediction.
type DeletePredictions struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
}

// DeletePredictionsFunction withdraws the caller's prediction of an event.
func DeletePredictionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-predictions",
		Does:   "Deletes the caller's prediction of an event that is not locked.",
		IfDown: "Members cannot withdraw a prediction.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/events/{eventId}/predictions"},
		Uses:   []spec.Access{tables.DropPrediction},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).DeletePredictions, errLocked, item.ErrChanged, item.ErrNoEvent)
}

// DeletePredictions deletes the caller's prediction of an open event, if there is
// one. After lockAt the answer is event_locked.
func (s *Events) DeletePredictions(ctx context.Context, in *DeletePredictions) (*httpapi.Removed, error) {
	err := dynamo.Transact(ctx, s.db, tables.DropPrediction,
		s.whileOpen(item.EventKey(in.EventID)),
		dynamo.DeleteWrite(item.PredictionKey(in.UserID, in.EventID)))
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		var e item.Event
		if err := attributevalue.UnmarshalMap(refused.Item, &e); err != nil {
			return nil, err
		}

		if e.ID == "" || e.State == item.Deleting {
			return nil, item.ErrNoEvent
		}

		return nil, cmp.Or(checkOpen(e, s.now()), error(item.ErrChanged))
	}

	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

var errInvalidRules = problem.New(problem.Unprocessable, "invalid_rules",
	"weights, joker and survivor must be of picked matches, and rules of the event").In("body")

var errUnknownMatch = problem.New(problem.Unprocessable, "unknown_match",
	"predictions has a match that is not on the card").In("body.predictions")
