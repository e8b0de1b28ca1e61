package settlement

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

var (
	// ErrHasProvider refuses what administrators may do only in a manual tournament.
	ErrHasProvider = problem.New(problem.Conflict, "has_provider",
		"the provider of this tournament decides: only matches of a manual one can be entered or postponed")

	errOver    = problem.New(problem.Conflict, "match_over", "the match is over: make it void, and then undo that")
	errPending = problem.New(problem.Conflict, "settlement_pending", "the match is being settled: repeat the request in a minute")
)

// CheckKickOff returns a problem unless a kick-off is in this century.
func CheckKickOff(at time.Time) error {
	if y := at.UTC().Year(); y < 2000 || y > 2099 {
		return problem.In("body.kickOff", "expected a time of the years 2000 to 2099")
	}

	return nil
}

// lockedMatch is a match that an administrator changes.
type lockedMatch struct {
	Tournament string    `db:"tournament_id"`
	Round      string    `db:"round_slug"`
	Begun      bool      `db:"begun"`
	FinishedAt time.Time `db:"finished_at"` // now if it has not ended
	Provider   string    `db:"provider"`
	Now        time.Time `db:"now"`
	Status     string    `db:"status"`
	KickOff    bool      `db:"kick_off_corrected"` // whether it was set
	Pending    bool      `db:"pending"`
}

func (m lockedMatch) over() bool { return m.Status == "ended" || m.Status == "void" }

func (m lockedMatch) manual() bool { return m.Provider == string(provider.Manual) }

// apply stores what the administrator has decided. settle is whether the match is to be settled.
func (in *CorrectMatch) apply(ctx context.Context, tx pgx.Tx, m lockedMatch) (settle bool, err error) {
	b := in.Body

	switch {
	case b.KickOff != nil:
		at := b.KickOff.Truncate(time.Second)
		if m.over() && !at.Before(m.FinishedAt) {
			return false, problem.In("body.kickOff", "expected a time before the end of the match, %s", m.FinishedAt.UTC().Format(time.RFC3339))
		}

		_, err = pg.Do(ctx, tx, sql.SetKickOff, in.MatchID, at, in.UserID)

		return m.Status == "ended", err
	case b.Postponed:
		return false, in.postpone(ctx, tx, m)
	case b.Reopen:
		return in.reopen(ctx, tx, m)
	case !m.Begun:
		return false, errNotBegun
	}

	status := "ended"
	if b.Void {
		status = "void"
	}

	_, err = pg.Do(ctx, tx, sql.CorrectMatch, in.MatchID, status, b.Home, b.Away, m.FinishedAt, in.UserID)

	return true, err
}

// postpone has a match of a manual tournament wait for another kick-off.
func (in *CorrectMatch) postpone(ctx context.Context, tx pgx.Tx, m lockedMatch) error {
	switch {
	case !m.manual():
		return ErrHasProvider
	case m.over():
		return errOver
	}

	_, err := pg.Do(ctx, tx, sql.PostponeMatch, in.MatchID, in.UserID)

	return err
}

// reopen undoes what administrators have decided. In a manual tournament nobody decides instead, so only a
// void match is reopened, once its guesses have lost what they had. settle is whether the kick-off of a
// match that has ended is undone.
func (in *CorrectMatch) reopen(ctx context.Context, tx pgx.Tx, m lockedMatch) (settle bool, err error) {
	switch {
	case m.manual() && m.Status == "ended":
		return false, errOver
	case m.manual() && m.Pending:
		return false, errPending
	}

	_, err = pg.Do(ctx, tx, sql.ReopenMatch, in.MatchID, in.UserID)

	return m.KickOff && m.Status == "ended", err
}
