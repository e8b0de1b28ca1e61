package live

import (
	"context"
	"log/slog"

	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
)

// carry carries the followers of a match to the one that replaces it, and tells them that it was moved by
// an hour or more. If time is up, it sends the message again. A second run carries those that are left.
func (s *Finisher) carry(ctx context.Context, f match.Fixture, m MatchLeft) error {
	if !match.ValidID(m.To) {
		return problem.In("to", "%.32q is not a match id: valid are 1 to 19 digits", m.To)
	}

	to, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, m.To)
	if err != nil || !ok || to.EndingAt != 0 {
		return err
	}

	until := s.now().Add(removeFor)
	switch done, err := follower.CarryFollows(ctx, s.db, f, to, s.now, func() bool { return s.now().Before(until) }); {
	case err != nil:
		return err
	case !done:
		return s.queue.Send(ctx, tables.FinishQueue, m, 0)
	}

	slog.InfoContext(ctx, "the followers of a match were carried to another", "match", f.MatchID, "to", to.MatchID)

	if !alert.Moved(f.StartTime, to.StartTime) {
		return nil
	}

	row, _, err := match.ReadScore(ctx, s.db, to.MatchID)
	if err != nil {
		return err
	}

	return s.queue.Send(ctx, tables.AlertQueue, alert.NewMoved(f, to, row.State, s.now()), 0)
}
