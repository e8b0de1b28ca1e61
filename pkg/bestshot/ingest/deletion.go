package ingest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

// DeletionQueue has the tournaments whose rows are to be deleted.
var DeletionQueue = spec.Queue{Name: "bestshot-deletions", MaxReceiveCount: 5, Batch: 1, Concurrency: 2, Unhurried: true}

// Deletion is a message of DeletionQueue.
type Deletion struct {
	TournamentID string `json:"tournamentId"`
}

// DeleteTournament is the request to delete a tournament.
type DeleteTournament struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// DeleteTournamentFunction deletes a tournament.
func DeleteTournamentFunction() app.Function {
	return app.API(
		admin("delete-tournament", "Deletes a tournament.", "No tournament can be deleted.",
			"DELETE", "/tournaments/{tournamentId}", deletions),
		OpenAdmin, (*Admin).DeleteTournament, errActive, redis.ErrAway)
}

// DeleteTournament deletes a tournament with all that belongs to it. It is hidden at once: no function but
// finish-deletion sees it, a policy of the database refuses that. Its slug and season are free. Then
// finish-deletion deletes its rows. A tournament with guesses must be cancelled first. A second run asks for the
// deletion again, which changes nothing. Errors: tournament_active, cache_unavailable if copies may be shown
// until finish-deletion has removed them.
func (s *Admin) DeleteTournament(ctx context.Context, in *DeleteTournament) (*httpapi.Removed, error) {
	var (
		known bool
		stale staleKeys
	)

	err := deleting(ctx, s.db, func(tx pgx.Tx) error {
		active, ok, err := pg.Value[bool](ctx, tx, sql.LockTournamentForDeletion, in.TournamentID)

		known = ok

		switch {
		case err != nil || !ok:
			return err
		case active:
			return errActive
		}

		for _, statement := range []string{sql.HideTournament, sql.HideMatches, sql.CloseLettersOfTournament} {
			if _, err := pg.Do(ctx, tx, statement, in.TournamentID); err != nil {
				return err
			}
		}

		stale, err = projectionsOf(ctx, tx, in.TournamentID)

		return err
	})
	if err != nil {
		return nil, err
	}

	if !known {
		return httpapi.NewRemoved(), nil
	}

	if err := s.queue.Send(ctx, DeletionQueue, Deletion{in.TournamentID}, 0); err != nil {
		return nil, err
	}

	if err := stale.invalidate(ctx, s.cache); err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a tournament is hidden, to be deleted", "tournament", in.TournamentID, "by", in.UserID)

	return httpapi.NewRemoved(), nil
}

// deleting runs a transaction that sees tournaments which are being deleted. It reads by indexes: the planner
// would read a whole table for a range, of which it expects too few rows.
func deleting(ctx context.Context, db pg.DB, do func(pgx.Tx) error) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := pg.Do(ctx, tx, sql.PrepareDeletion); err != nil {
			return err
		}

		return do(tx)
	})
}

// projectionsOf returns the projections of a tournament.
func projectionsOf(ctx context.Context, tx pgx.Tx, tournamentID string) (stale staleKeys, err error) {
	rows, err := pg.All[struct {
		Round       *string `db:"slug"` // nil for the tournament
		Version     int64   `db:"version"`
		Leaderboard int64   `db:"leaderboard"`
	}](ctx, tx, sql.ListProjections, tournamentID)

	for _, r := range rows {
		if r.Round != nil {
			stale.add(view.MatchesKey(tournamentID, *r.Round), r.Version)
			continue
		}

		stale.add(view.StandingsKey(tournamentID), r.Version)
		stale.add(view.LeaderboardKey(tournamentID), r.Leaderboard)
	}

	return stale, err
}

const (
	// DeletionRange is the number of rows that a transaction deletes: 0.1 s on a vCPU.
	DeletionRange = 5000
	// maxDeletions bounds the ranges that a message deletes before it is sent again.
	maxDeletions = 300
)

// Deleter is the service that deletes the rows of tournaments.
type Deleter struct {
	db        pg.DB
	cache     redis.Cache
	queue     queue.Sender
	rangeSize int
	maxRanges int
}

// OpenDeleter opens the service that deletes the rows of tournaments.
func OpenDeleter(ctx context.Context, env app.Env) (*Deleter, error) {
	return OpenDeleterWith(ctx, env, DeletionRange, maxDeletions)
}

// OpenDeleterWith is OpenDeleter with another size and number of ranges.
func OpenDeleterWith(ctx context.Context, env app.Env, size, most int) (*Deleter, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Deleter{db, cache, queue.Open(env.AWS, env.Queues), size, most}, err
}

// FinishDeletionFunction deletes the rows of a tournament.
func FinishDeletionFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/finish-deletion",
		Does:    "Deletes the rows of a tournament that is deleted.",
		IfDown:  "What is kept of a deleted tournament stays, hidden.",
		On:      DeletionQueue,
		SQL:     []spec.SQLLogin{tables.Keeper},
		Caches:  []spec.CacheLogin{tables.CacheUser},
		Sends:   []spec.Queue{DeletionQueue},
		Memory:  256,
		Timeout: time.Minute,
	}, OpenDeleter, (*Deleter).FinishDeletion)
}

// errTimeOver ends a message whose time or maxRanges is over.
var errTimeOver = errors.New("the time is over")

// FinishDeletion removes the projections of a tournament that is being deleted, and then its rows: those of
// members in ranges, each in a transaction, by match and by round, and then the tournament. If the time or
// maxRanges is over, it sends the message again. A second run deletes what is left: a match and a round go with
// their last range. It deletes nothing of a tournament that DeleteTournament has not hidden. Errors: Invalid for
// a message that names no tournament, Unavailable while the database or the cache does not answer.
func (s *Deleter) FinishDeletion(ctx context.Context, d Deletion) error {
	if !view.IsID(d.TournamentID) {
		return problem.New(problem.Invalid, "bad_deletion", "tournamentId: expected a UUID")
	}

	var (
		hidden bool
		stale  staleKeys
	)

	err := deleting(ctx, s.db, func(tx pgx.Tx) error {
		n, err := pg.Do(ctx, tx, sql.BeginDeletion, d.TournamentID)
		if err != nil {
			return err
		}

		hidden = n > 0
		stale, err = projectionsOf(ctx, tx, d.TournamentID)

		return err
	})
	if err != nil || !hidden {
		return err
	}

	if err := stale.invalidate(ctx, s.cache); err != nil {
		return err
	}

	left := s.maxRanges

	err = s.deleteAll(ctx, d.TournamentID, &left)
	if errors.Is(err, errTimeOver) {
		return s.queue.Send(ctx, DeletionQueue, d, 0)
	}

	if err == nil {
		slog.InfoContext(ctx, "a tournament is deleted", "tournament", d.TournamentID)
	}

	return err
}

// deleteAll deletes the rows of a tournament. Errors: errTimeOver.
func (s *Deleter) deleteAll(ctx context.Context, tournamentID string, left *int) error {
	err := s.deleteParts(ctx, tournamentID, sql.FindMatchToDelete, sql.DeleteMatch, left,
		sql.DeleteGuesses, sql.DeleteLedger, sql.DeleteReminders)
	if err != nil {
		return err
	}

	if err := s.deleteParts(ctx, tournamentID, sql.FindRoundToDelete, sql.DeleteRound, left,
		sql.DeleteRoundScores, sql.DeleteJokers); err != nil {
		return err
	}

	for _, statement := range []string{
		sql.DeleteScoreboard, sql.DeleteFollows, sql.DeleteFinished, sql.DeleteAnswers, sql.DeleteQuestionLedger,
	} {
		if err := s.deleteRanges(ctx, statement, tournamentID, "", left); err != nil {
			return err
		}
	}

	_, err = s.do(ctx, sql.DeleteTournament, tournamentID)

	return err
}

// deleteParts deletes the matches or the rounds of a tournament, each after the rows of members that belong to
// it. Errors: errTimeOver.
func (s *Deleter) deleteParts(ctx context.Context, tournamentID, find, remove string, left *int, statements ...string) error {
	for {
		var (
			part string
			ok   bool
		)

		err := deleting(ctx, s.db, func(tx pgx.Tx) (err error) {
			part, ok, err = pg.Value[string](ctx, tx, find, tournamentID)
			return err
		})
		if err != nil || !ok {
			return err
		}

		for _, statement := range statements {
			if err := s.deleteRanges(ctx, statement, tournamentID, part, left); err != nil {
				return err
			}
		}

		if _, err := s.do(ctx, remove, tournamentID, part); err != nil {
			return err
		}
	}
}

// deleteRanges deletes rows of a part of a tournament, in ranges, until a range is not full. What another
// transaction has locked meanwhile goes with the part. Errors: errTimeOver.
func (s *Deleter) deleteRanges(ctx context.Context, statement, tournamentID, part string, left *int) error {
	for {
		if *left == 0 || settlement.AtEnd(ctx) {
			return errTimeOver
		}

		*left--

		n, err := s.do(ctx, statement, tournamentID, part, s.rangeSize)
		if err != nil || n < int64(s.rangeSize) {
			return err
		}
	}
}

// do runs a statement in a transaction of its own, and returns the number of rows.
func (s *Deleter) do(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = deleting(ctx, s.db, func(tx pgx.Tx) error {
		n, err = pg.Do(ctx, tx, statement, args...)
		return err
	})

	return n, err
}

// planDeletions asks again for the deletions whose messages were lost. going is whether a tournament is being
// deleted.
func (s *Planner) planDeletions(ctx context.Context) (going bool, err error) {
	var rows []struct {
		ID   string `db:"id"`
		Lost bool   `db:"lost"`
	}

	err = deleting(ctx, s.db, func(tx pgx.Tx) (err error) {
		rows, err = pg.All[struct {
			ID   string `db:"id"`
			Lost bool   `db:"lost"`
		}](ctx, tx, sql.ListDeletions)

		return err
	})

	var lost []Deletion

	for _, r := range rows {
		if r.Lost {
			lost = append(lost, Deletion{r.ID})
		}
	}

	if err != nil {
		return false, err
	}

	return len(rows) > 0, queue.SendAll(ctx, s.queue, DeletionQueue, lost)
}
