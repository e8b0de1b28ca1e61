package schedule

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"matchday/pkg/cricket/alert"
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

// The range of the copied schedule. It begins two days back, for matches that were
// postponed or that a sync has missed.
const (
	syncBack  = 2 * 24 * time.Hour
	syncAhead = 30 * 24 * time.Hour
)

// endRetryInterval is how long a sync waits for finish-match to decide the end of a
// match before it sends the match again.
const endRetryInterval = 6 * time.Hour

// maxChecks is how many matches a sync requests by their ids: 40 requests an hour of
// tables.SyncShare.
const maxChecks = 10

// Syncer copies the schedule of the provider.
type Syncer struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	now      func() time.Time
}

// OpenSyncer opens the service of sync-fixtures.
func OpenSyncer(ctx context.Context, env app.Env) (*Syncer, error) {
	provider, err := catalog.OpenProvider(ctx, env, tables.SyncShare)
	return &Syncer{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), provider: provider, now: env.Now}, err
}

// SyncFixturesFunction copies the provider's schedule.
func SyncFixturesFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "cricket/sync-fixtures",
		Does:   "Copies the schedule of the active leagues from the provider, and queues matches that are over or deleted but not finished.",
		IfDown: "New and rescheduled matches are missing. Known matches are updated.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{
			tables.CountRequest, tables.AcquireLock, tables.ExtendLock, tables.ReleaseLock, tables.ActiveLeagues, tables.StartingSoon,
			tables.FixturesByDate, tables.GetFixture, tables.BatchGetFixtures, tables.BatchPutFixtures, tables.UpdateFixture,
			tables.AllCached, tables.BatchGetCached, tables.BatchPutCached, tables.PutCached, tables.AllTeams, tables.GetDisplay, tables.PutDisplay,
			tables.SyncedSummaries, tables.BatchPutSummaries, tables.SyncSummary, tables.SyncWords,
		},
		Sends:   []spec.Queue{tables.FinishQueue, tables.AlertQueue},
		Secrets: []string{tables.SportMonksToken},
		Budgets: []spec.Share{tables.SyncShare},
		Memory:  256,
		Timeout: tables.JobTimeout,
	}, OpenSyncer, (*Syncer).SyncFixtures)
}

// SyncFixtures copies the schedule of the active leagues. It does not change a live match, and of
// any other match it writes only the attributes of the schedule. It returns an error for fixtures
// that cannot be decoded, after it has copied the others.
//
// It writes the titles of administrators that have changed into the matches of the team:
// match.Retitle.
//
// Followers of an upcoming match get an alert if it was moved by an hour or more.
//
// An upcoming match that the schedule no longer lists is requested by its id: the provider has
// moved it out of the range, or deleted it.
//
// It sends a match to finish-match if the provider reports that it is over or does not exist, it is
// not live, and its end is not decided: the match was cancelled before the first poll, or its
// message was lost.
//
// If a match that was called off is listed again under another id, its followers are carried to that
// one: carryFollowers.
//
// Only one sync runs at a time, because new rows are written in batches, which support no
// conditions. Another sync returns nil at once. SyncFixtures is idempotent, except that it may send
// a match to finish-match again.
func (s *Syncer) SyncFixtures(ctx context.Context) error {
	// The lease lasts as long as Lambda lets its holder run.
	locks := &lock.Locks{
		DB:      s.db,
		Acquire: tables.AcquireLock,
		Extend:  tables.ExtendLock,
		Release: tables.ReleaseLock,
		TTL:     tables.JobTimeout,
		Now:     s.now,
	}

	l, err := locks.Take(ctx, "sync-fixtures", lock.Holder(ctx, "sync-fixtures"))
	if err == nil {
		err = s.syncFixtures(ctx, l)
		err = errors.Join(err, l.Release(context.WithoutCancel(ctx)))
	}

	if errors.Is(err, lock.ErrHeld) {
		slog.InfoContext(ctx, "skipped: another sync of the fixtures is running")
		return nil
	}

	return err
}

// syncFixtures is SyncFixtures under the lease l.
func (s *Syncer) syncFixtures(ctx context.Context, l *lock.Lease) error {
	now := s.now()

	active, err := catalog.ActiveLeagueRows(ctx, s.db)
	if err != nil {
		return err
	}

	found, invalid := s.scheduled(ctx, active, now)

	moved, err := s.unlisted(ctx, active, found, now)
	if err != nil {
		return errors.Join(invalid, err)
	}

	found = append(found, moved...)
	rows := make([]match.Fixture, len(found))

	keys := make([]dynamo.Item, len(found))
	for i, m := range found {
		rows[i], keys[i] = m.row, dynamo.Key(tables.BatchGetFixtures, m.row.MatchID)
	}

	known, err := dynamo.GetAll[match.Fixture](ctx, s.db, tables.BatchGetFixtures, keys)
	if err != nil {
		return errors.Join(invalid, err)
	}

	isScore := dynamo.Exists[match.ScoreRow]("leagueId")

	scores, err := dynamo.ScanAll[match.ScoreRow](ctx, s.db, tables.AllCached, &isScore)
	if err != nil {
		return errors.Join(invalid, err)
	}

	names, err := match.CachedOf[match.Names](ctx, s.db, rows, match.NamesKey)
	if err != nil {
		return errors.Join(invalid, err)
	}

	teams, err := catalog.TeamRows(ctx, s.db)
	if err != nil {
		return errors.Join(invalid, err)
	}

	summaries, err := summariesOf(ctx, s.db, active, now)
	if err != nil {
		return errors.Join(invalid, err)
	}

	var (
		fresh        []match.Fixture
		unscored     []match.ScoreRow
		unnamed      []match.Names
		unsummarized []match.SummaryRow
	)

	for _, m := range found {
		titles := match.TitlesOf(m.row, teams)

		score, err := m.score(titles, now)
		if err != nil {
			return err
		}

		if !slices.ContainsFunc(names, func(n match.Names) bool { return n.MatchID == match.NamesKey(m.row.MatchID) }) {
			unnamed = append(unnamed, match.NewNames(m.row, score.State, m.league.Name, now))
		}

		i := slices.IndexFunc(known, func(k match.Fixture) bool { return k.MatchID == m.row.MatchID })
		j := slices.IndexFunc(scores, func(c match.ScoreRow) bool { return c.MatchID == m.row.MatchID })

		same := j >= 0 && (scores[j].LastSlot != 0 || scores[j].StateJSON == score.StateJSON)
		switch {
		case i < 0:
			m.row.Titles = titles

			fresh = append(fresh, m.row)
			if !same {
				unscored = append(unscored, score)
			}

			unsummarized = append(unsummarized, match.NewSummary(m.row, score.State, m.league, teams, 0))

			continue
		case !same:
			err = s.rescore(ctx, score)
		}

		if err == nil {
			err = s.alertMoved(ctx, known[i], m.row, score.State, now)
		}

		if err = errors.Join(err, s.reschedule(ctx, known[i], m.row)); err != nil {
			return err
		}

		var stored *match.ScoreRow
		if j >= 0 {
			stored = &scores[j]
		}

		if err = match.Retitle(ctx, s.db, known[i], titles, stored, score.State, now); err != nil {
			return err
		}

		if err = s.reportEnded(ctx, known[i], m.row, now); err != nil {
			return err
		}

		if stored != nil && stored.LastSlot != 0 {
			score = *stored
			if err = score.Decode(); err != nil {
				return err
			}

			titles.Rename(&score.State)
		}

		summary := match.NewSummary(asStored(known[i], m.row), score.State, m.league, teams, score.LastSlot)
		if err = s.summarize(ctx, summaries, summary); err != nil {
			return err
		}
	}
	// The fixture comes last: once it exists, get-match may write its names and the
	// ticker its score.
	if err := putUnderLease(ctx, s.db, l, tables.BatchPutCached, unnamed); err != nil {
		return err
	}

	if err := putUnderLease(ctx, s.db, l, tables.BatchPutCached, unscored); err != nil {
		return err
	}

	if err := putUnderLease(ctx, s.db, l, tables.BatchPutSummaries, unsummarized); err != nil {
		return err
	}

	if err := putUnderLease(ctx, s.db, l, tables.BatchPutFixtures, fresh); err != nil {
		return err
	}

	if err := s.syncWords(ctx, l, teams, active); err != nil {
		return err
	}

	if err := s.carryFollowers(ctx, active, found, now); err != nil {
		return errors.Join(invalid, err)
	}

	slog.InfoContext(ctx, "fixtures synced", "fixtures", len(found), "new", len(fresh))

	return invalid
}

// putUnderLease writes items in batches of 25, and extends the lease before each. It
// returns lock.ErrHeld if another sync has taken the lease.
func putUnderLease[T any](ctx context.Context, db dynamo.DB, l *lock.Lease, a spec.Access, items []T) error {
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

// scheduledMatch is a match in the schedule of the provider.
type scheduledMatch struct {
	row      match.Fixture
	provided sportmonks.Fixture
	league   catalog.LeagueRow
}

// score returns the row of the score before the first poll, with the titles of the teams.
func (m scheduledMatch) score(titles match.Titles, now time.Time) (match.ScoreRow, error) {
	state, _ := scorer.Read(m.provided, score.State{})
	titles.Rename(&state)

	return match.NewScoreRow(m.row, state, 0, now)
}

// scheduled reads the schedule of the active leagues. invalid joins the errors of the
// fixtures that cannot be decoded.
func (s *Syncer) scheduled(ctx context.Context, active []catalog.LeagueRow, now time.Time) (found []scheduledMatch, invalid error) {
	leagues := map[string]catalog.LeagueRow{}
	for _, l := range active {
		leagues[l.LeagueID] = l
	}

	seen := map[string]bool{} // a match may move to another page between two requests

	for f, err := range s.provider.Fixtures(ctx, now.Add(-syncBack), now.Add(syncAhead)) {
		if err != nil {
			invalid = errors.Join(invalid, err)
			continue
		}

		row := match.NewFixture(f, "")

		l, ok := leagues[row.LeagueID]
		if !ok || seen[row.MatchID] || f.Start.IsZero() {
			continue
		}

		seen[row.MatchID] = true
		row.LeagueCode = l.Code
		found = append(found, scheduledMatch{row, f, l})
	}

	return found, invalid
}

// unlisted requests the matches that are stored as upcoming in the range of the sync and
// are not in found: the maxChecks that start first. It returns those that exist, and sends
// the others to finish-match, each once in endRetryInterval. It logs an error of the
// provider and leaves the rest to the next sync.
func (s *Syncer) unlisted(ctx context.Context, active []catalog.LeagueRow, found []scheduledMatch,
	now time.Time) ([]scheduledMatch, error) {
	type unlistedMatch struct {
		match.Fixture
		league catalog.LeagueRow
	}

	var missing []unlistedMatch

	for _, l := range active {
		stored, err := match.Due(ctx, s.db, l.Code, now.Add(-syncBack), now.Add(syncAhead))
		if err != nil {
			return nil, err
		}

		for _, f := range stored {
			listed := slices.ContainsFunc(found, func(m scheduledMatch) bool { return m.row.MatchID == f.MatchID })
			if f.LeagueID == l.LeagueID && f.Phase() == sportmonks.Upcoming && f.EndingAt == 0 && !listed &&
				now.Sub(time.Unix(f.LeftAt, 0)) >= endRetryInterval {
				missing = append(missing, unlistedMatch{f, l})
			}
		}
	}

	slices.SortFunc(missing, func(a, b unlistedMatch) int {
		return cmp.Or(cmp.Compare(a.StartTime, b.StartTime), cmp.Compare(a.MatchID, b.MatchID))
	})

	var all []scheduledMatch

	for _, f := range missing[:min(len(missing), maxChecks)] {
		page, err := s.provider.Fixture(ctx, f.MatchID)

		failed, _ := errors.AsType[*sportmonks.Error](err)
		switch {
		case failed != nil && failed.Kind == sportmonks.NotFound:
			if err := s.reportLeft(ctx, f.Fixture, now); err != nil {
				return nil, err
			}
		case err != nil:
			slog.WarnContext(ctx, "cannot read a match that the schedule no longer lists", "match", f.MatchID, "err", err)
			return all, nil
		case !page.Start.IsZero():
			all = append(all, scheduledMatch{match.NewFixture(page, f.LeagueCode), page, f.league})
		}
	}

	return all, nil
}

// rescore replaces the score of a match that was never polled.
func (s *Syncer) rescore(ctx context.Context, c match.ScoreRow) error {
	err := dynamo.Put(ctx, s.db, tables.PutCached, c, match.NotAfter(0))
	return dynamo.IgnoreRefused(err) // refused: the ticker has polled the match
}

// alertMoved sends an alert that an upcoming match was moved. It is called before the new start is
// stored, so that a crash in between sends the same alert again.
func (s *Syncer) alertMoved(ctx context.Context, stored, scheduled match.Fixture, state score.State, now time.Time) error {
	upcoming := stored.Live == "" && stored.EndingAt == 0 && stored.Phase() == sportmonks.Upcoming && scheduled.Phase() == sportmonks.Upcoming
	if !upcoming || !alert.Moved(stored.StartTime, scheduled.StartTime) {
		return nil
	}

	return s.queue.Send(ctx, tables.AlertQueue, alert.NewMoved(stored, scheduled, state, now), 0)
}

// reschedule writes the attributes of the schedule that differ from the stored ones. It
// does not change a match that is live or whose end is decided.
func (s *Syncer) reschedule(ctx context.Context, stored, scheduled match.Fixture) error {
	if stored.Live != "" || stored.EndingAt != 0 || stored.Scheduled() == scheduled {
		return nil
	}

	changes := dynamo.Set(scheduled, "leagueCode", "leagueId", "seasonId", "startTime", "round", "type", "status",
		"localTeamId", "visitorTeamId", "venueName")
	err := scheduled.Update(ctx, s.db, tables.UpdateFixture, changes, dynamo.Absent[match.Fixture]("live").And(match.NotEnding()))

	return dynamo.IgnoreRefused(err) // refused: the match went live meanwhile
}

// reportEnded sends a match that is over to finish-match, unless its end is decided or
// it is live: the ticker reports a live match.
func (s *Syncer) reportEnded(ctx context.Context, stored, scheduled match.Fixture, now time.Time) error {
	if !scheduled.Phase().Over() || stored.Live != "" || stored.EndingAt != 0 || now.Sub(time.Unix(stored.LeftAt, 0)) < endRetryInterval {
		return nil
	}

	return s.reportLeft(ctx, scheduled, now)
}

// reportLeft sends a match to finish-match. It sets leftAt after the message, so that a
// crash in between sends the message again.
func (s *Syncer) reportLeft(ctx context.Context, f match.Fixture, now time.Time) error {
	if err := s.queue.Send(ctx, tables.FinishQueue, live.MatchLeft{MatchID: f.MatchID, Since: now.Unix()}, 0); err != nil {
		return err
	}

	err := f.Update(ctx, s.db, tables.UpdateFixture, dynamo.Set(match.Fixture{LeftAt: now.Unix()}, "leftAt"), match.NotEnding())

	return dynamo.IgnoreRefused(err) // refused: meanwhile the end was decided, or the row was deleted
}
