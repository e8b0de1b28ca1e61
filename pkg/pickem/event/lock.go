package event

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// LockEvents queues the scoring of an event again if it has waited for longer than
// scorePatience, every minute until giveUp. An event that has waited for longer than
// lateScore counts as ScoresBehind, which raises an alarm.
const (
	scorePatience = 2 * time.Minute
	lateScore     = 10 * time.Minute
	giveUp        = time.Hour

	// indexLag is an upper bound of the delay of the index, and so of predictions and
	// standings that a scoring does not find in it.
	indexLag = 15 * time.Minute
)

// LockEventsFunction locks the events after their lockAt.
func LockEventsFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "pickem/lock-events",
		Does:   "Locks the events whose lockAt has passed, queues overdue scorings and changed leagues, and completes the deletion of events.",
		IfDown: "Overdue scorings are not retried, new members are not in tables of leagues, locked events are stored as open.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.FindOpenEvents, tables.ChangeEvent, tables.EntriesOf, tables.RemoveEvent, tables.LeaguesWithTables},
		Sends:  []spec.Queue{score.Queue},
		Emits:  []spec.Metric{ScoresBehind},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenEvents, (*Events).LockEvents)
}

// LockEvents sets the state of every event after its lockAt to broadcast. It requests the ranking
// of the picks of an event whose lock reveals them. It queues a scoring again if an event has
// waited for too long because a message was lost. It queues one once more after indexLag, for rows
// that were missing in the index when the event was scored, its points were withdrawn, or its picks
// were revealed. It deletes what DeleteEvent has left. It has the tables of a league written whose
// members have changed: once a minute, whatever the number of changes.
//
// A second run changes nothing: the state is one conditional write, scoring a scored event writes
// nothing, and deletions can be repeated.
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
		case e.State == item.Deleting:
			errs = errors.Join(errs, s.finishDeletion(ctx, e, now))
		case e.State == item.Upcoming && !now.Before(item.ParseTime(e.LockAt)):
			err := dynamo.Update(ctx, s.db, tables.ChangeEvent, e.Key(), dynamo.Set(item.Event{State: item.Broadcast}, "state"),
				dynamo.Equal[item.Event]("state", item.Upcoming).And(dynamo.AtMost[item.Event]("lockAt", item.FormatTime(now))))

			errs = errors.Join(errs, dynamo.IgnoreRefused(err))
			if err == nil && e.RevealAtLock {
				errs = errors.Join(errs, s.queue.SendFIFO(ctx, score.Queue, e.ID, score.Request{EventID: e.ID}))
			}
		case waited(e, now) > scorePatience && waited(e, now) < giveUp, isUnsettled(e, now), isUnrevealed(e, now):
			errs = errors.Join(errs, s.queue.SendFIFO(ctx, score.Queue, e.ID, score.Request{EventID: e.ID}))
		}

		if waited(e, now) > lateScore {
			late++
		}
	}

	errs = errors.Join(errs, s.queueLeagues(ctx, now))

	if late > 0 { // a metric is billed for each hour in which it is emitted
		telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(ScoresBehind, late)})
	}

	return errs
}

// queueLeagues requests the tables of the leagues whose members have changed.
func (s *Events) queueLeagues(ctx context.Context, now time.Time) error {
	ids, err := item.ChangedLeagues(ctx, s.db)
	for _, id := range ids {
		err = errors.Join(err, s.queue.SendFIFO(ctx, score.Queue, id, score.Request{League: id, Year: now.Format("2006")}))
	}

	return err
}

// isUnsettled reports whether an event is due to be scored again, or its points are due to be
// withdrawn again, because the index may have been read too early.
func isUnsettled(e item.Event, now time.Time) bool {
	asked := item.ParseTime(max(e.ScoringAt, e.ResultsAt))
	return (e.State == item.Scored || e.State == item.Broadcast && e.Withdrawn) && now.Sub(asked) >= indexLag && now.Sub(asked) < giveUp &&
		item.ParseTime(e.ScoredAt).Sub(asked) < indexLag
}

// isUnrevealed reports whether the picks of a locked event are due to be revealed, or to be
// revealed again because they may have been read from the index too early.
func isUnrevealed(e item.Event, now time.Time) bool {
	locked, shown := item.ParseTime(e.LockAt), item.ParseTime(e.RevealedAt)

	return e.RevealAtLock && e.State == item.Broadcast && e.ScoringAt == "" && now.Sub(locked) < giveUp &&
		(e.RevealedAt == "" || now.Sub(shown) >= indexLag && shown.Sub(locked) < indexLag)
}

// waited returns how long an event has waited for the points of its results, 0 if
// they are up to date or scoring was not requested.
func waited(e item.Event, now time.Time) time.Duration {
	if e.ScoringAt == "" || e.State == item.Deleting || e.State == item.Scored && e.ScoredRev == e.ResultsRev {
		return 0
	}

	return now.Sub(item.ParseTime(max(e.ScoringAt, e.ResultsAt, e.ProgressAt)))
}
