package cricket

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/feed"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
)

// MatchLeft says that a match has left the feed.
type MatchLeft struct {
	MatchID string `json:"matchId"`
	Since   int64  `json:"since"`         // when, epoch s
	Try     int    `json:"try,omitempty"` // how often the provider was asked before
}

// Finisher ends matches.
type Finisher struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *feed.Client
	book     *scorebook
	now      func() time.Time
}

const (
	// askAgain is the pause between two looks at the provider's page of a match.
	askAgain = time.Minute
	// settleBy is how long the provider may take to agree with itself about the
	// result. Then it is taken at its word.
	settleBy = 15 * time.Minute
)

// FinishMatch ends a match that has left the feed, if the provider's own page
// of it says that it is over: the last state is stored, the activities are
// ended, and what fans left at the match is removed. Otherwise it looks again in
// a minute, until the match is back in the feed or has been gone for as long as
// any match lasts.
//
// The match is marked as finished last of all, so a second run does again what a
// crash left, and after that mark nothing.
func (s *Finisher) FinishMatch(ctx context.Context, m MatchLeft) error {
	f, ok, err := dynamo.Get[fixture](ctx, s.db, getFixture, m.MatchID)
	if err != nil {
		return err
	}
	since := time.Unix(m.Since, 0)
	if !ok || f.FinishedAt != 0 || f.LiveUpdatedAt > since.UnixMilli() {
		return nil
	}
	gone := s.now().Sub(since)
	fixture, err := s.provider.Fixture(ctx, m.MatchID)
	if err != nil {
		slog.WarnContext(ctx, "the provider's page of the match cannot be read", "match", m.MatchID, "err", err)
		if gone < settleBy || !isNotFound(err) {
			return s.later(ctx, m, gone)
		}
		return s.end(ctx, f) // deleted: it will not be played on
	}
	if phase, _ := fixture.Phase(); phase != feed.Result && phase != feed.Closed {
		if err := s.unarchive(ctx, f); err != nil {
			return err
		}
		return s.later(ctx, m, gone)
	}
	state, err := s.enter(ctx, m, fixture, gone >= settleBy)
	switch {
	case errors.Is(err, errPassed), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
		return s.later(ctx, m, gone)
	case err != nil:
		return err
	case !over(state):
		return s.later(ctx, m, gone)
	}
	return s.end(ctx, f)
}

func isNotFound(err error) bool {
	f, ok := errors.AsType[*feed.Error](err)
	return ok && f.Kind == feed.NotFound
}

// over reports whether a match has ended.
func over(s score.State) bool { return s.Phase == feed.Result || s.Phase == feed.Closed }

// enter stores the last state; settled takes the provider at its word.
func (s *Finisher) enter(ctx context.Context, m MatchLeft, f feed.Fixture, settled bool) (score.State, error) {
	now := s.now()
	return s.book.enter(ctx, m.MatchID, holder(ctx, "finish"), entry{
		sum: "left", read: func() (feed.Fixture, error) { return f, nil }, slot: slotOf(now), at: now, last: true, settled: settled,
	})
}

// later has the match looked at again.
func (s *Finisher) later(ctx context.Context, m MatchLeft, gone time.Duration) error {
	if gone > longestMatch {
		slog.ErrorContext(ctx, "the match never ended", "match", m.MatchID)
		return nil
	}
	m.Try++
	return s.queue.Send(ctx, finishQueue, m, askAgain)
}

// unarchive puts back a match that has left the feed before its end, so that
// the loop goes on looking for it.
func (s *Finisher) unarchive(ctx context.Context, f fixture) error {
	if f.ArchivedAt == 0 {
		return nil
	}
	err := f.update(ctx, s.db, archiveFixture, expression.Remove(expression.Name("archivedAt")), notFinished())
	if dynamo.IsRefused(err) {
		return nil
	}
	return err
}

// end ends a match whose last state is stored.
func (s *Finisher) end(ctx context.Context, f fixture) error {
	now := s.now()
	if err := s.queue.Send(ctx, activityQueue, MatchChanged{MatchID: f.MatchID, Ended: now.Unix()}, 0); err != nil {
		return err
	}
	if err := s.removeFollows(ctx, f.MatchID); err != nil {
		return err
	}
	for _, view := range f.perspectives() {
		if _, err := dynamo.Delete(ctx, s.db, deleteHash, dynamo.Key(deleteHash, hashKey(f.MatchID, view))); err != nil {
			return err
		}
	}
	set := expression.Set(expression.Name("finishedAt"), expression.Value(now.Unix())).
		Set(expression.Name("archivedAt"), expression.IfNotExists(expression.Name("archivedAt"), expression.Value(now.Unix()))).
		Remove(expression.Name("liveUpdatedAt")).Remove(expression.Name("live"))
	slog.InfoContext(ctx, "match finished", "match", f.MatchID)
	return f.update(ctx, s.db, archiveFixture, set, exists("matchId"))
}

// follow says that a user follows a match.
type follow struct {
	MatchID string `dynamodbav:"matchId"`
	UserID  string `dynamodbav:"userId"`
}

func (s *Finisher) removeFollows(ctx context.Context, matchID string) error {
	key := expression.Key("matchId").Equal(expression.Value(matchID))
	pages := dynamo.Pages(func(after dynamo.Item) ([]follow, dynamo.Item, error) {
		return dynamo.Query[follow](ctx, s.db, removeFollows, dynamo.Range{Key: key, After: after})
	})
	for page, err := range pages {
		if err != nil {
			return err
		}
		keys := make([]dynamo.Item, len(page))
		for i, f := range page {
			keys[i] = dynamo.Key(removeFollows, f.MatchID, f.UserID)
		}
		if err := dynamo.DeleteAll(ctx, s.db, removeFollows, keys); err != nil {
			return err
		}
	}
	return nil
}
