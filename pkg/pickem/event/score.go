package event

import (
	"context"
	"fmt"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// RequestScore is the request to score an event.
type RequestScore struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
}

// ScorePage is the answer when the scoring of an event is queued.
type ScorePage struct {
	Status int
	Body   struct {
		JobID string `json:"jobId" doc:"The id of the event and the revision of its results: a repeated request for the same results has the same jobId."`
	}
}

// RequestScoreFunction queues the scoring of an event.
func RequestScoreFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/request-score",
		Does:   "Queues the scoring of an event. All matches must have results.",
		IfDown: "Administrators cannot have events scored.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/score", Answers: []int{202}},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).RequestScore, errUpcoming, item.ErrChanged, item.ErrNoEvent, score.ErrResultsMissing)
}

// RequestScore queues the scoring of a locked event. If matches have no result the
// answer is results_missing, with their ids. A repeated request changes nothing for
// predictions that have the points of these results.
func (s *Events) RequestScore(ctx context.Context, in *RequestScore) (*ScorePage, error) {
	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	if on.IsOpen(s.now()) {
		return nil, errUpcoming
	}

	if missing := on.MissingResults(); len(missing) > 0 || len(on.Card) == 0 {
		return nil, score.ErrResultsMissing.With(map[string]any{"matchIds": missing})
	}

	now, same := item.FormatTime(s.now()), dynamo.Unchanged(on.Event, "state", "resultsRev")
	set := dynamo.Set(item.Event{ScoringAt: now}, "scoringAt")

	if on.Withdrawn { // predictions may have no points of these results
		on.ResultsRev++
		set = set.Set(item.Event{ResultsRev: on.ResultsRev, ResultsAt: now}, "resultsRev", "resultsAt", "withdrawn")
	}

	err = dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), set, same)
	if err != nil {
		return nil, dynamo.RefusedAs(err, item.ErrChanged)
	}

	if err := s.queue.SendFIFO(ctx, score.Queue, on.ID, score.Request{EventID: on.ID}); err != nil {
		return nil, err
	}

	out := &ScorePage{Status: 202}
	out.Body.JobID = fmt.Sprintf("%s@%d", on.ID, on.ResultsRev)

	return out, nil
}
