package pickem

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/telemetry"
)

// openDays is for how long after its first date an event may still be on: one
// that is moved further away is announced anew.
const openDays = 400

// An event may wait for its points for scorePatience before they are asked for
// again, every minute until giveUp; after lateScore somebody is to look.
const (
	scorePatience = 2 * time.Minute
	lateScore     = 10 * time.Minute
	giveUp        = time.Hour

	// The index of predictions is behind by less than this.
	indexLag = 15 * time.Minute
)

// recentEvents are the events that may still change.
func recentEvents(ctx context.Context, db dynamo.DB, now time.Time) ([]event, error) {
	from := ofEvent(now.AddDate(0, 0, -openDays).UTC().Format(time.DateOnly))
	return dynamo.QueryAll[event](ctx, db, findOpenEvents, dynamo.Range{
		Key:        expression.Key("PK").Equal(expression.Value(eventKey)).And(expression.Key("SK").GreaterThanEqual(expression.Value(from))),
		Consistent: true,
	})
}

// LockEvents locks the events whose time has come, and asks again for the points
// of those that have waited for them too long, because a message was lost, or whose
// predictions the index did not all show when they were scored.
//
// A second run finds nothing left to do: an event is locked by one conditional
// write, and scoring what is scored writes nothing.
func (s *Events) LockEvents(ctx context.Context) error {
	now := s.now()
	events, err := recentEvents(ctx, s.db, now)
	if err != nil {
		return err
	}
	var errs error
	late := 0
	for _, e := range events {
		switch {
		case e.State == upcoming && !now.Before(instant(e.LockAt)):
			err := dynamo.Update(ctx, s.db, changeEvent, e.key(), expression.Set(expression.Name("state"), expression.Value(broadcast)),
				equals("state", upcoming).And(expression.Name("lockAt").LessThanEqual(expression.Value(stamp(now)))))
			if !dynamo.IsRefused(err) {
				errs = errors.Join(errs, err)
			}
		case e.waited(now) > scorePatience && e.waited(now) < giveUp:
			errs = errors.Join(errs, s.queue.SendInTurn(ctx, scoreQueue, e.ID, ScoreEvent{EventID: e.ID}))
		}
		if e.State == scored && now.Sub(instant(max(e.ScoringAt, e.ResultsAt))) < indexLag {
			errs = errors.Join(errs, s.complete(ctx, e))
		}
		if e.waited(now) > lateScore {
			late++
		}
	}
	telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(scoresBehind, late)})
	return errs
}

// complete has an event scored again if a prediction of it has other points than
// those of its results.
func (s *Events) complete(ctx context.Context, e event) error {
	entries, err := readEntries(ctx, s.db, e.ID)
	if err != nil || !slices.ContainsFunc(entries, func(p prediction) bool { return p.ScoredRev < e.ScoredRev }) {
		return err
	}
	return s.queue.SendInTurn(ctx, scoreQueue, e.ID, ScoreEvent{EventID: e.ID})
}

// waited is how long an event has waited for the points of its results, 0 if it
// does not.
func (e event) waited(now time.Time) time.Duration {
	if e.ScoringAt == "" || e.State == deleting || e.State == scored && e.ScoredRev == e.ResultsRev {
		return 0
	}
	return now.Sub(instant(max(e.ScoringAt, e.ResultsAt)))
}
