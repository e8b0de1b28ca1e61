package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
)

// MatchLeft reports that a match has left the feed.
type MatchLeft struct {
	MatchID string `json:"matchId"`
	Since   int64  `json:"since"` // when, epoch s, as the two below
	// MissingSince and OverSince are since when the provider's page of the match
	// has not been found, or has said that the match is over, without interruption.
	MissingSince int64 `json:"missingSince,omitempty"`
	OverSince    int64 `json:"overSince,omitempty"`
	Told         bool  `json:"told,omitempty"` // the end was sent to push-activities; the follows are still to be removed
}

// Finisher ends matches.
type Finisher struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	ingester *ingester
	now      func() time.Time
}

const (
	// askAgain is the pause between two requests of the provider's page of a match.
	askAgain = time.Minute
	// settleBy is how long winner, note and scores of the provider's page may
	// disagree, or the page may be missing, before the match ends all the same.
	settleBy = 15 * time.Minute
	// calledOff is how long the provider must say without interruption that a match
	// was abandoned or cancelled. Nothing else confirms it.
	calledOff = 5 * time.Minute
	// lastWords is how long the follows of an ended match are kept: send-alerts may
	// retry the last alerts for 51 minutes.
	lastWords = time.Hour
)

// FinishMatch ends a match that has left the feed, if the provider's own page
// says that it is over. It stores the last state, ends the activities, and
// removes the follows after lastWords. If the page does not say so, it sends
// the message again for a minute later, until the match is back in the feed or
// longestMatch has passed. If the parts of the page disagree, or it is not
// found, for settleBy, the match ends all the same.
//
// The end is decided once, by a write that is refused if the match was polled
// again. finishedAt is written last: before it, a second run repeats what a
// crash left; after it, a second run does nothing.
func (s *Finisher) FinishMatch(ctx context.Context, m MatchLeft) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is no match id", m.MatchID)
	}
	f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}
	now := s.now()
	since := time.Unix(m.Since, 0)
	switch {
	case !ok || f.FinishedAt != 0 || f.LiveUpdatedAt > since.UnixMilli():
		return nil
	case f.EndingAt == 0 && f.ArchivedAt > m.Since: // it came back and left again, and that sent its own message
		return nil
	case f.EndingAt != 0:
		return s.end(ctx, f, m)
	case now.Sub(since) > longestMatch:
		slog.ErrorContext(ctx, "the match never ended", "match", m.MatchID)
		return nil
	}
	page, err := s.provider.Fixture(ctx, m.MatchID)
	phase, _ := page.Phase()
	switch {
	case isNotFound(err): // the provider seems to have deleted it: it will not be continued
		m.MissingSince, m.OverSince = cmp.Or(m.MissingSince, now.Unix()), 0
		if now.Unix()-m.MissingSince < int64(settleBy/time.Second) {
			return s.later(ctx, m)
		}
	case err != nil:
		slog.WarnContext(ctx, "the provider's page of the match cannot be read", "match", m.MatchID, "err", err)
		return s.later(ctx, m)
	case !phase.Over():
		m.MissingSince, m.OverSince = 0, 0
		if err := s.unarchive(ctx, f, page); err != nil {
			return err
		}
		return s.later(ctx, m)
	default:
		m.MissingSince, m.OverSince = 0, cmp.Or(m.OverSince, now.Unix())
		said := now.Sub(time.Unix(m.OverSince, 0))
		if phase == sportmonks.Closed && said < calledOff {
			return s.later(ctx, m)
		}
		state, err := s.ingest(ctx, m.MatchID, page, now, said >= settleBy)
		switch {
		case errors.Is(err, errPassed), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
			return s.later(ctx, m)
		case err != nil:
			return err
		case !state.Phase.Over():
			return s.later(ctx, m)
		}
	}
	decided, err := s.decide(ctx, &f, now)
	if err != nil {
		return err
	}
	if !decided {
		return s.later(ctx, m)
	}
	return s.end(ctx, f, m)
}

// decide stores that the match ends, for good. It returns false if the match
// was polled since the provider's page was requested at now.
func (s *Finisher) decide(ctx context.Context, f *match.Fixture, now time.Time) (bool, error) {
	f.EndingAt = now.Unix()
	set := expression.Set(expression.Name("endingAt"), expression.Value(f.EndingAt)).
		Set(expression.Name("archivedAt"), expression.IfNotExists(expression.Name("archivedAt"), expression.Value(now.Unix()))).
		Remove(expression.Name("liveUpdatedAt")).Remove(expression.Name("live"))
	unpolled := expression.AttributeNotExists(expression.Name("liveUpdatedAt")).
		Or(expression.Equal(expression.Name("liveUpdatedAt"), expression.Value(f.LiveUpdatedAt)))
	err := f.Update(ctx, s.db, tables.ArchiveFixture, set, match.NotAfter(match.SlotOf(now)).And(match.NotEnding(), unpolled))
	return dynamo.Applied(err)
}

func isNotFound(err error) bool {
	f, ok := errors.AsType[*sportmonks.Error](err)
	return ok && f.Kind == sportmonks.NotFound
}

// ingest stores the last state, as the provider's page gave it at now. settled
// accepts a result whose parts disagree.
func (s *Finisher) ingest(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time, settled bool) (score.State, error) {
	return s.ingester.ingest(ctx, matchID, lock.Holder(ctx, "finish"), payload{
		sum: "left", read: func() (sportmonks.Fixture, error) { return page, nil }, slot: match.SlotOf(now), at: now, last: true, settled: settled,
	})
}

// later sends the message again, for askAgain later.
func (s *Finisher) later(ctx context.Context, m MatchLeft) error {
	return s.queue.Send(ctx, tables.FinishQueue, m, askAgain)
}

// unarchive takes archivedAt from a match that left the feed before its end, so
// that the planner counts it again.
func (s *Finisher) unarchive(ctx context.Context, f match.Fixture, page sportmonks.Fixture) error {
	if f.ArchivedAt == 0 {
		return nil
	}
	set := expression.Remove(expression.Name("archivedAt"))
	if _, known := page.Phase(); known {
		set = set.Set(expression.Name("status"), expression.Value(page.Status))
	}
	err := f.Update(ctx, s.db, tables.ArchiveFixture, set, match.NotEnding())
	return dynamo.IgnoreRefused(err)
}

// end does what follows from the decision that a match ends: it ends the
// activities, and removes the follows after the last alerts.
func (s *Finisher) end(ctx context.Context, f match.Fixture, m MatchLeft) error {
	if !m.Told {
		if err := s.queue.Send(ctx, tables.ActivityQueue, activity.MatchChanged{MatchID: f.MatchID, Ended: f.EndingAt}, 0); err != nil {
			return err
		}
		m.Told = true
	}
	if wait := time.Unix(f.EndingAt, 0).Add(lastWords).Sub(s.now()); wait > 0 {
		return s.queue.Send(ctx, tables.FinishQueue, m, wait)
	}
	if err := follower.RemoveFollows(ctx, s.db, f.MatchID); err != nil {
		return err
	}
	for _, view := range f.Perspectives() {
		if _, err := dynamo.Delete(ctx, s.db, tables.DeleteHash, dynamo.Key(tables.DeleteHash, hashKey(f.MatchID, view))); err != nil {
			return err
		}
	}
	slog.InfoContext(ctx, "match finished", "match", f.MatchID)
	set := expression.Set(expression.Name("finishedAt"), expression.Value(s.now().Unix()))
	return f.Update(ctx, s.db, tables.ArchiveFixture, set, dynamo.Exists[match.Fixture]("endingAt"))
}

// OpenFinisher opens the service of finish-match.
func OpenFinisher(ctx context.Context, env app.Env) (*Finisher, error) {
	provider, err := catalog.OpenProvider(ctx, env)
	if err != nil {
		return nil, err
	}
	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)
	return &Finisher{db: db, queue: q, provider: provider, ingester: newIngester(db, q, env.Now), now: env.Now}, nil
}
