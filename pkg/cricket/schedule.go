package cricket

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// The schedule is copied from two days back, for matches that were moved or
// missed, to a month ahead.
const (
	syncBack  = 2 * 24 * time.Hour
	syncAhead = 30 * 24 * time.Hour
)

// askEndAgain is how long the end of a match that is over is given before it is
// looked into once more.
const askEndAgain = 6 * time.Hour

// FixtureSyncer copies the provider's schedule.
type FixtureSyncer struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	now      func() time.Time
}

// OpenFixtureSyncer opens the service of sync-fixtures.
func OpenFixtureSyncer(ctx context.Context, env app.Env) (*FixtureSyncer, error) {
	provider, err := openProvider(ctx, env)
	return &FixtureSyncer{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), provider: provider, now: env.Now}, err
}

// SyncFixtures copies the schedule of the active leagues. What the ticker owns
// of a match is never written: a live match is left alone, and of any other only
// the provider's fields are. Fixtures that cannot be read are its error, after
// the others are copied.
//
// A match that the provider says is over, and whose end is not decided though it
// is not in play, is given to finish-match: one that was called off before it
// was ever polled, and one whose message was lost.
//
// One sync runs at a time, for new rows are written in batches, which know no
// conditions; another ends at once. A second run writes what a first has left,
// and may have the end of a match looked into again.
func (s *FixtureSyncer) SyncFixtures(ctx context.Context) error {
	// Whoever holds the lease has been stopped by Lambda when it runs out.
	locks := &lock.Locks{DB: s.db, Acquire: acquireLock, Extend: extendLock, Release: releaseLock, TTL: jobTimeout, Now: s.now}
	l, err := locks.Take(ctx, "sync-fixtures", lock.Holder(ctx, "sync-fixtures"))
	if err == nil {
		err = s.syncFixtures(ctx, l)
		err = errors.Join(err, l.Release(context.WithoutCancel(ctx)))
	}
	if errors.Is(err, lock.ErrHeld) {
		slog.InfoContext(ctx, "another sync of the fixtures is at work")
		return nil
	}
	return err
}

func (s *FixtureSyncer) syncFixtures(ctx context.Context, l *lock.Lease) error {
	now := s.now()
	found, unread := s.scheduled(ctx, now)
	rows := make([]fixture, len(found))
	keys := make([]dynamo.Item, len(found))
	for i, m := range found {
		rows[i], keys[i] = m.row, dynamo.Key(batchGetFixtures, m.row.MatchID)
	}
	known, err := dynamo.GetAll[fixture](ctx, s.db, batchGetFixtures, keys)
	if err != nil {
		return errors.Join(unread, err)
	}
	isScore := dynamo.Exists[cached]("leagueId")
	scores, err := dynamo.ScanAll[cached](ctx, s.db, allCached, &isScore)
	if err != nil {
		return errors.Join(unread, err)
	}
	called, err := cachedOf[names](ctx, s.db, rows, namesKey)
	if err != nil {
		return errors.Join(unread, err)
	}
	var fresh []fixture
	var unscored []cached
	var unnamed []names
	for _, m := range found {
		score, err := m.score(now)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(called, func(n names) bool { return n.MatchID == namesKey(m.row.MatchID) }) {
			unnamed = append(unnamed, newNames(m.row, score.State, m.league, now))
		}
		i := slices.IndexFunc(known, func(k fixture) bool { return k.MatchID == m.row.MatchID })
		j := slices.IndexFunc(scores, func(c cached) bool { return c.MatchID == m.row.MatchID })
		same := j >= 0 && (scores[j].LastSlot != 0 || scores[j].StateJSON == score.StateJSON)
		switch {
		case i < 0:
			fresh = append(fresh, m.row)
			if !same {
				unscored = append(unscored, score)
			}
			continue
		case !same:
			err = s.rescore(ctx, score)
		}
		if err = errors.Join(err, s.move(ctx, known[i], m.row)); err != nil {
			return err
		}
		if err = s.leave(ctx, known[i], m.row, now); err != nil {
			return err
		}
	}
	// A new match gets its names and its score first: once its row is there, they
	// are get-match's and the ticker's.
	if err := putHeld(ctx, s.db, l, batchPutCached, unnamed); err != nil {
		return err
	}
	if err := putHeld(ctx, s.db, l, batchPutCached, unscored); err != nil {
		return err
	}
	if err := putHeld(ctx, s.db, l, batchPutFixtures, fresh); err != nil {
		return err
	}
	slog.InfoContext(ctx, "fixtures synced", "fixtures", len(found), "new", len(fresh))
	return unread
}

// putHeld writes items in batches, each of them under the lease.
func putHeld[T any](ctx context.Context, db dynamo.DB, l *lock.Lease, a spec.Access, items []T) error {
	for batch := range slices.Chunk(items, 25) {
		if err := l.Extend(ctx); err != nil {
			return err
		}
		if err := dynamo.PutAll(ctx, db, a, batch); err != nil {
			return err
		}
	}
	return nil
}

// scheduledMatch is a match as the provider schedules it.
type scheduledMatch struct {
	row    fixture
	said   sportmonks.Fixture
	league string // its name
}

// score is that of a match to come.
func (m scheduledMatch) score(now time.Time) (cached, error) {
	state, _ := score.Read(m.said, score.State{})
	return newCached(m.row, state, 0, now)
}

// scheduled lists the matches of the active leagues that can be read.
func (s *FixtureSyncer) scheduled(ctx context.Context, now time.Time) (found []scheduledMatch, unread error) {
	active, err := readActiveLeagues(ctx, s.db)
	if err != nil {
		return nil, err
	}
	leagues := map[string]league{}
	for _, l := range active {
		leagues[l.LeagueID] = l
	}
	seen := map[string]bool{} // a match may move to another page while we read
	for f, err := range s.provider.Fixtures(ctx, now.Add(-syncBack), now.Add(syncAhead)) {
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		row := newFixture(f, "")
		l, ok := leagues[row.LeagueID]
		if !ok || seen[row.MatchID] || f.Start.IsZero() {
			continue
		}
		seen[row.MatchID] = true
		row.LeagueCode = l.Code
		found = append(found, scheduledMatch{row, f, l.Name})
	}
	return found, unread
}

// rescore replaces a match's score, unless it was polled.
func (s *FixtureSyncer) rescore(ctx context.Context, c cached) error {
	err := dynamo.Put(ctx, s.db, putCached, c, notAfter(0))
	return dynamo.IgnoreRefused(err)
}

// move writes what the provider has changed about a match that is not live.
func (s *FixtureSyncer) move(ctx context.Context, was, is fixture) error {
	if was.Live != "" || was.EndingAt != 0 {
		return nil
	}
	if was.scheduled() == is {
		return nil
	}
	set := expression.Set(expression.Name("leagueCode"), expression.Value(is.LeagueCode)).
		Set(expression.Name("leagueId"), expression.Value(is.LeagueID)).
		Set(expression.Name("seasonId"), expression.Value(is.SeasonID)).
		Set(expression.Name("startTime"), expression.Value(is.StartTime)).
		Set(expression.Name("round"), expression.Value(is.Round)).
		Set(expression.Name("type"), expression.Value(is.Type)).
		Set(expression.Name("status"), expression.Value(is.Status)).
		Set(expression.Name("localTeamId"), expression.Value(is.LocalTeamID)).
		Set(expression.Name("visitorTeamId"), expression.Value(is.VisitorTeamID)).
		Set(expression.Name("venueName"), expression.Value(is.VenueName))
	idle := expression.AttributeNotExists(expression.Name("live")).And(notEnding())
	err := is.update(ctx, s.db, updateFixture, set, idle)
	return dynamo.IgnoreRefused(err) // refused: it went live meanwhile
}

// leave gives a match that is over to finish-match, unless it is live, for then
// the ticker does, or its end is decided. The mark that it did comes last, so a
// crash has it done again.
func (s *FixtureSyncer) leave(ctx context.Context, was, is fixture, now time.Time) error {
	if !is.phase().Over() || was.Live != "" || was.EndingAt != 0 || now.Sub(time.Unix(was.LeftAt, 0)) < askEndAgain {
		return nil
	}
	if err := s.queue.Send(ctx, finishQueue, MatchLeft{MatchID: is.MatchID, Since: now.Unix()}, 0); err != nil {
		return err
	}
	err := is.update(ctx, s.db, updateFixture, expression.Set(expression.Name("leftAt"), expression.Value(now.Unix())), notEnding())
	return dynamo.IgnoreRefused(err) // refused: it ended, or was deleted, meanwhile
}
