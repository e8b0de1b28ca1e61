package event

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// An event may wait for its points for scorePatience before they are asked for
// again, every minute until giveUp; after lateScore somebody is to look.
const (
	scorePatience = 2 * time.Minute
	lateScore     = 10 * time.Minute
	giveUp        = time.Hour

	// The index of predictions is behind by less than this.
	indexLag = 15 * time.Minute
)

// LockEvents locks the events whose time has come, and asks again for the points
// of those that have waited for them too long, because a message was lost, or whose
// predictions the index did not all show when they were scored.
//
// A second run finds nothing left to do: an event is locked by one conditional
// write, and scoring what is scored writes nothing.
func (s *Events) LockEvents(ctx context.Context) error {
	now := s.now()
	events, err := item.RecentEvents(ctx, s.db, now)
	if err != nil {
		return err
	}
	var errs error
	late := 0
	for _, e := range events {
		switch {
		case e.State == item.Upcoming && !now.Before(item.ParseTime(e.LockAt)):
			err := dynamo.Update(ctx, s.db, tables.ChangeEvent, e.Key(), expression.Set(expression.Name("state"), expression.Value(item.Broadcast)),
				item.Equals("state", item.Upcoming).And(expression.Name("lockAt").LessThanEqual(expression.Value(item.FormatTime(now)))))
			if !dynamo.IsRefused(err) {
				errs = errors.Join(errs, err)
			}
		case waited(e, now) > scorePatience && waited(e, now) < giveUp:
			errs = errors.Join(errs, s.queue.SendInTurn(ctx, score.Queue, e.ID, score.Request{EventID: e.ID}))
		}
		if e.State == item.Scored && now.Sub(item.ParseTime(max(e.ScoringAt, e.ResultsAt))) < indexLag {
			errs = errors.Join(errs, s.complete(ctx, e))
		}
		if waited(e, now) > lateScore {
			late++
		}
	}
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(ScoresBehind, late)})
	return errs
}

// complete has an event scored again if a prediction of it has other points than
// those of its results.
func (s *Events) complete(ctx context.Context, e item.Event) error {
	entries, err := item.ReadPredictions(ctx, s.db, e.ID)
	if err != nil || !slices.ContainsFunc(entries, func(p item.Prediction) bool { return p.ScoredRev < e.ScoredRev }) {
		return err
	}
	return s.queue.SendInTurn(ctx, score.Queue, e.ID, score.Request{EventID: e.ID})
}

// waited is how long an event has waited for the points of its results, 0 if it
// does not.
func waited(e item.Event, now time.Time) time.Duration {
	if e.ScoringAt == "" || e.State == item.Deleting || e.State == item.Scored && e.ScoredRev == e.ResultsRev {
		return 0
	}
	return now.Sub(item.ParseTime(max(e.ScoringAt, e.ResultsAt)))
}
