package live

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
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
	"matchday/pkg/spec"
)

// MatchLeft reports that a match has left the feed. Times are in epoch seconds.
type MatchLeft struct {
	MatchID string `json:"matchId"`
	Since   int64  `json:"since"` // when it left
	// MissingSince and OverSince are set while the provider's page of the match is
	// missing, or has a match that is over: the time of the first such answer.
	MissingSince int64 `json:"missingSince,omitempty"`
	OverSince    int64 `json:"overSince,omitempty"`
	// Ended reports that the end was sent to push-activities. The follows still exist.
	Ended bool `json:"told,omitempty"`
}

// Finisher ends matches that have left the feed.
type Finisher struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	ingester *ingester
	now      func() time.Time
}

const (
	// pageInterval is the time between two requests for the page of a match.
	pageInterval = time.Minute
	// settleAfter is how long the page must be the same before it decides one of these: the match
	// does not exist, which cancels it; a result that its own scores contradict; a tie that a super
	// over may follow.
	settleAfter = 15 * time.Minute
	// calledOffAfter is how long a page must have the match as abandoned or cancelled. No
	// score can confirm that.
	calledOffAfter = 5 * time.Minute
	// keepFollows is how long the follows of an ended match are kept: while send-alerts may
	// need them.
	keepFollows = alert.Longest
	// removeFor is how long an invocation begins to remove pages of follows. One page takes a
	// second, and the function may take 30.
	removeFor = 15 * time.Second
)

// FinishMatchFunction ends a match that has left the feed.
func FinishMatchFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "cricket/finish-match",
		Does:   "Ends a match that has left the live feed, if the provider's page of the match reports that it is over.",
		IfDown: "Activities of finished matches stay on the lock screen until Apple removes them.",
		On:     tables.FinishQueue,
		Uses: []spec.Access{
			tables.CountRequest, tables.GetFixture, tables.UpdateFixture, tables.ArchiveFixture, tables.BatchGetCached, tables.PutCached,
			tables.BatchGetProcessed, tables.PutProcessed,
			tables.GetHash, tables.PutHash, tables.PutDisplay, tables.DeleteHash, tables.RemoveFollows, tables.UpdateSummary,
		},
		Sends:   []spec.Queue{tables.ActivityQueue, tables.AlertQueue, tables.FinishQueue},
		Secrets: []string{tables.SportMonksToken},
		Budgets: []spec.Share{tables.FinishShare},
		Emits:   []spec.Metric{tables.ChangesQueued},
		Memory:  256,
		Timeout: 30 * time.Second,
	}, OpenFinisher, (*Finisher).FinishMatch)
}

// FinishMatch requests the provider's page of a match that has left the feed, and ends the match if
// it is over by the page: it stores the last score, sends the end to push-activities, and removes
// the follows and the hashes. A match that the provider has deleted is cancelled. The page of a match
// that is not over is stored: it says why the match left. Then FinishMatch sends the message again,
// to be handled a minute later. It stops when the match is back in the
// feed, when it has been missing for as long as any match lasts, or when it was never polled and is
// still to come, because sync-fixtures handles that one.
//
// The end is decided by one conditional write, which fails if the match was polled meanwhile.
// finishedAt is written last: before it, a second run repeats what a crash left undone; after it, a
// second run does nothing.
//
// A message without a valid match id is an Invalid problem.
func (s *Finisher) FinishMatch(ctx context.Context, m MatchLeft) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is not a match id: valid are 1 to 19 digits", m.MatchID)
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
	case f.EndingAt == 0 && f.ArchivedAt > m.Since: // it came back and left again, for which there is another message
		return nil
	case f.EndingAt != 0:
		return s.end(ctx, f, m)
	case now.Sub(since) > longestMatch:
		slog.ErrorContext(ctx, "the match never ended", "match", m.MatchID)
		return nil
	}

	page, err := s.provider.Fixture(ctx, m.MatchID)
	phase, known := page.Phase()

	deleted, settled := isNotFound(err), false
	switch {
	case deleted:
		m.MissingSince, m.OverSince = cmp.Or(m.MissingSince, now.Unix()), 0
		if settled = now.Unix()-m.MissingSince >= int64(settleAfter/time.Second); !settled {
			return s.wait(ctx, f, m, page)
		}

		page = cancelled(f)
	case err != nil:
		slog.WarnContext(ctx, "the provider's page of the match cannot be read", "match", m.MatchID, "err", err)
		return s.wait(ctx, f, m, page)
	case phase == sportmonks.Upcoming && f.LastSlot == 0:
		return nil
	case !phase.Over():
		m.MissingSince, m.OverSince = 0, 0
		if known && f.LastSlot != 0 {
			if err := s.ingestAway(ctx, m.MatchID, page, now); err != nil {
				return err
			}
		}

		return s.wait(ctx, f, m, page)
	default:
		m.MissingSince, m.OverSince = 0, cmp.Or(m.OverSince, now.Unix())

		over := now.Sub(time.Unix(m.OverSince, 0))
		if phase == sportmonks.Closed && over < calledOffAfter {
			return s.retry(ctx, m)
		}

		settled = over >= settleAfter
	}

	state, err := s.ingest(ctx, m.MatchID, page, now, settled, deleted)
	switch {
	case errors.Is(err, errNothingToDo), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
		return s.retry(ctx, m)
	case err != nil:
		return err
	case !state.Phase.Over(), state.MayGoOn() && !settled:
		return s.retry(ctx, m)
	}

	decided, err := s.decideEnd(ctx, &f, now)
	if err != nil {
		return err
	}

	if !decided {
		return s.retry(ctx, m)
	}

	return s.end(ctx, f, m)
}

// decideEnd writes endingAt to the match's row and to f. It returns false if the
// match was polled after f was read or ended meanwhile. now is when the page was
// requested.
func (s *Finisher) decideEnd(ctx context.Context, f *match.Fixture, now time.Time) (bool, error) {
	f.EndingAt = now.Unix()
	set := dynamo.Set(*f, "endingAt").SetIfAbsent(match.Fixture{ArchivedAt: now.Unix()}, "archivedAt").Remove("liveUpdatedAt", "live")
	notPolled := dynamo.Absent[match.Fixture]("liveUpdatedAt").Or(dynamo.Equal[match.Fixture]("liveUpdatedAt", f.LiveUpdatedAt))
	err := f.Update(ctx, s.db, tables.ArchiveFixture, set, match.NotAfter(match.SlotOf(now)).And(match.NotEnding(), notPolled))

	return dynamo.Applied(err)
}

func isNotFound(err error) bool {
	f, ok := errors.AsType[*sportmonks.Error](err)
	return ok && f.Kind == sportmonks.NotFound
}

// cancelled returns the page of a match that the provider has deleted. It has no play:
// the score keeps that of the last poll.
func cancelled(f match.Fixture) sportmonks.Fixture {
	number := func(id string) int {
		n, _ := strconv.Atoi(id) // an id that is no number becomes 0: an unknown team
		return n
	}

	return sportmonks.Fixture{
		ID: number(f.MatchID), LocalID: number(f.LocalTeamID), VisitorID: number(f.VisitorTeamID),
		Start: f.Start(), Round: f.Round, Type: f.Type, Status: "Cancl.",
	}
}

// ingest stores the page that was requested at now. If settled, the page's result
// is accepted although the page contradicts it. If deleted, the page is that of
// cancelled.
func (s *Finisher) ingest(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time,
	settled, deleted bool) (score.State, error) {
	return s.ingester.ingest(ctx, matchID, lock.Holder(ctx, "finish"), payload{
		sum:     "left",
		decode:  func() (sportmonks.Fixture, error) { return page, nil },
		slot:    match.SlotOf(now),
		at:      now,
		final:   true,
		settled: settled,
		deleted: deleted,
	})
}

// ingestAway stores the page of a match that is not over: the feed may drop a match before it says
// why, at stumps or in rain. The match does not become live by it. A page that differs in nothing
// is stored once.
func (s *Finisher) ingestAway(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time) error {
	text, err := json.Marshal(page)
	if err != nil {
		return err
	}

	_, err = s.ingester.ingest(ctx, matchID, lock.Holder(ctx, "finish"), payload{
		sum:    fmt.Sprintf("page:%x", sha256.Sum256(text)),
		decode: func() (sportmonks.Fixture, error) { return page, nil },
		slot:   match.SlotOf(now),
		at:     now,
		away:   true,
	})
	if errors.Is(err, errNothingToDo) || errors.Is(err, lock.ErrHeld) || dynamo.IsRefused(err) {
		return nil // it was polled meanwhile
	}

	return err
}

// retry sends the message again, to be handled after pageInterval.
func (s *Finisher) retry(ctx context.Context, m MatchLeft) error {
	return s.queue.Send(ctx, tables.FinishQueue, m, pageInterval)
}

// wait is retry for a match that left the feed, and may still be played: the planner waits for
// it again. page is empty if it could not be read.
func (s *Finisher) wait(ctx context.Context, f match.Fixture, m MatchLeft, page sportmonks.Fixture) error {
	if f.ArchivedAt != 0 {
		set := dynamo.Remove[match.Fixture]("archivedAt")
		if _, known := page.Phase(); known {
			set = set.Set(match.Fixture{Status: page.Status}, "status")
		}

		err := f.Update(ctx, s.db, tables.ArchiveFixture, set, match.NotEnding())
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}

	return s.retry(ctx, m)
}

// end sends the decided end of a match to push-activities. After keepFollows it removes the
// follows, in as many invocations as that takes, and the hashes, and writes finishedAt.
func (s *Finisher) end(ctx context.Context, f match.Fixture, m MatchLeft) error {
	if !m.Ended {
		if err := s.queue.Send(ctx, tables.ActivityQueue, activity.MatchChanged{MatchID: f.MatchID, Ended: f.EndingAt}, 0); err != nil {
			return err
		}

		changeQueued(ctx, s.now())

		m.Ended = true
	}

	if wait := time.Unix(f.EndingAt, 0).Add(keepFollows).Sub(s.now()); wait > 0 {
		return s.queue.Send(ctx, tables.FinishQueue, m, wait)
	}

	until := s.now().Add(removeFor)
	switch done, err := follower.RemoveFollows(ctx, s.db, f.MatchID, func() bool { return s.now().Before(until) }); {
	case err != nil:
		return err
	case !done:
		return s.queue.Send(ctx, tables.FinishQueue, m, 0)
	}

	if _, err := dynamo.Delete(ctx, s.db, tables.DeleteHash, dynamo.Key(tables.DeleteHash, f.MatchID)); err != nil {
		return err
	}

	slog.InfoContext(ctx, "match finished", "match", f.MatchID)

	set := dynamo.Set(match.Fixture{FinishedAt: s.now().Unix()}, "finishedAt")

	return f.Update(ctx, s.db, tables.ArchiveFixture, set, dynamo.Exists[match.Fixture]("endingAt"))
}

// OpenFinisher opens the service of finish-match.
func OpenFinisher(ctx context.Context, env app.Env) (*Finisher, error) {
	provider, err := catalog.OpenProvider(ctx, env, tables.FinishShare)
	if err != nil {
		return nil, err
	}

	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)

	return &Finisher{db: db, queue: q, provider: provider, ingester: newIngester(db, q, env.Now), now: env.Now}, nil
}
