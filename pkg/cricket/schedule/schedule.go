package schedule

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
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

// Syncer copies the provider's schedule.
type Syncer struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	now      func() time.Time
}

// OpenSyncer opens the service of sync-fixtures.
func OpenSyncer(ctx context.Context, env app.Env) (*Syncer, error) {
	provider, err := catalog.OpenProvider(ctx, env)
	return &Syncer{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), provider: provider, now: env.Now}, err
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
func (s *Syncer) SyncFixtures(ctx context.Context) error {
	// Whoever holds the lease has been stopped by Lambda when it runs out.
	locks := &lock.Locks{DB: s.db, Acquire: tables.AcquireLock, Extend: tables.ExtendLock, Release: tables.ReleaseLock, TTL: tables.JobTimeout, Now: s.now}
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

func (s *Syncer) syncFixtures(ctx context.Context, l *lock.Lease) error {
	now := s.now()
	found, unread := s.scheduled(ctx, now)
	rows := make([]match.Fixture, len(found))
	keys := make([]dynamo.Item, len(found))
	for i, m := range found {
		rows[i], keys[i] = m.row, dynamo.Key(tables.BatchGetFixtures, m.row.MatchID)
	}
	known, err := dynamo.GetAll[match.Fixture](ctx, s.db, tables.BatchGetFixtures, keys)
	if err != nil {
		return errors.Join(unread, err)
	}
	isScore := dynamo.Exists[match.ScoreRow]("leagueId")
	scores, err := dynamo.ScanAll[match.ScoreRow](ctx, s.db, tables.AllCached, &isScore)
	if err != nil {
		return errors.Join(unread, err)
	}
	called, err := match.CachedOf[match.Names](ctx, s.db, rows, match.NamesKey)
	if err != nil {
		return errors.Join(unread, err)
	}
	var fresh []match.Fixture
	var unscored []match.ScoreRow
	var unnamed []match.Names
	for _, m := range found {
		score, err := m.score(now)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(called, func(n match.Names) bool { return n.MatchID == match.NamesKey(m.row.MatchID) }) {
			unnamed = append(unnamed, match.NewNames(m.row, score.State, m.league, now))
		}
		i := slices.IndexFunc(known, func(k match.Fixture) bool { return k.MatchID == m.row.MatchID })
		j := slices.IndexFunc(scores, func(c match.ScoreRow) bool { return c.MatchID == m.row.MatchID })
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
		if err = s.reportEnded(ctx, known[i], m.row, now); err != nil {
			return err
		}
	}
	// A new match gets its names and its score first: once its row is there, they
	// are get-match's and the ticker's.
	if err := putHeld(ctx, s.db, l, tables.BatchPutCached, unnamed); err != nil {
		return err
	}
	if err := putHeld(ctx, s.db, l, tables.BatchPutCached, unscored); err != nil {
		return err
	}
	if err := putHeld(ctx, s.db, l, tables.BatchPutFixtures, fresh); err != nil {
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
	row    match.Fixture
	said   sportmonks.Fixture
	league string // its name
}

// score is that of a match to come.
func (m scheduledMatch) score(now time.Time) (match.ScoreRow, error) {
	state, _ := scorer.Read(m.said, score.State{})
	return match.NewScoreRow(m.row, state, 0, now)
}

// scheduled lists the matches of the active leagues that can be read.
func (s *Syncer) scheduled(ctx context.Context, now time.Time) (found []scheduledMatch, unread error) {
	active, err := catalog.ActiveLeagues(ctx, s.db)
	if err != nil {
		return nil, err
	}
	leagues := map[string]catalog.ProvidedLeague{}
	for _, l := range active {
		leagues[l.LeagueID] = l
	}
	seen := map[string]bool{} // a match may move to another page while we read
	for f, err := range s.provider.Fixtures(ctx, now.Add(-syncBack), now.Add(syncAhead)) {
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		row := match.NewFixture(f, "")
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
func (s *Syncer) rescore(ctx context.Context, c match.ScoreRow) error {
	err := dynamo.Put(ctx, s.db, tables.PutCached, c, match.NotAfter(0))
	return dynamo.IgnoreRefused(err)
}

// move writes what the provider has changed about a match that is not live.
func (s *Syncer) move(ctx context.Context, was, is match.Fixture) error {
	if was.Live != "" || was.EndingAt != 0 {
		return nil
	}
	if was.Scheduled() == is {
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
	idle := expression.AttributeNotExists(expression.Name("live")).And(match.NotEnding())
	err := is.Update(ctx, s.db, tables.UpdateFixture, set, idle)
	return dynamo.IgnoreRefused(err) // refused: it went live meanwhile
}

// reportEnded gives a match that is over to finish-match, unless it is live, for then
// the ticker does, or its end is decided. The mark that it did comes last, so a
// crash has it done again.
func (s *Syncer) reportEnded(ctx context.Context, was, is match.Fixture, now time.Time) error {
	if !is.Phase().Over() || was.Live != "" || was.EndingAt != 0 || now.Sub(time.Unix(was.LeftAt, 0)) < askEndAgain {
		return nil
	}
	if err := s.queue.Send(ctx, tables.FinishQueue, live.MatchLeft{MatchID: is.MatchID, Since: now.Unix()}, 0); err != nil {
		return err
	}
	err := is.Update(ctx, s.db, tables.UpdateFixture, expression.Set(expression.Name("leftAt"), expression.Value(now.Unix())), match.NotEnding())
	return dynamo.IgnoreRefused(err) // refused: it ended, or was deleted, meanwhile
}
