package game

import (
	"context"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// announce counts a move of a game that has not begun, and requests the mail about it for item.NoticeAfter later: to
// who is in for the session and not out, and who is on the roster. It does nothing if the game was not moved. The
// message is sent before the move is written, so that none gets lost: one without its move is dropped.
func (s *Service) announce(ctx context.Context, st *state, was item.Game, now time.Time) error {
	g := st.game.V()
	if st.game.Status != item.Scheduled || g.StartTs == was.StartTs && g.State == was.State {
		return nil
	}

	from := was.StartTs
	if was.State == item.Postponed {
		from = ""
	}

	g.Moved = g.Moved.Next(from, now)

	return s.queue.Send(ctx, RemindQueue, Remind{Move: Move{GameID: g.ID, Count: g.Moved.Count}}, item.NoticeAfter)
}

// Shift moves a game that has not begun from one start to another, as part of its session, which leaves a day: no mail is
// about it. A second run changes nothing.
func (s *Service) Shift(ctx context.Context, gameID, userID, from, to, day string) error {
	commit := func(ctx context.Context, a spec.Access, _ *GamePage, writes ...dynamo.Write) error {
		return dynamo.Transact(ctx, s.DB, a, writes...)
	}

	_, err := change(ctx, s, tables.SaveGame, gameID, userID, item.Scorekeeper, httpapi.IfMatch{}, commit,
		func(st *state, _ time.Time) ([]dynamo.Write, error) {
			g := st.game.V()
			if st.game.Status != item.Scheduled || g.StartTs != from {
				return nil, errUnchanged
			}

			g.StartTs, g.LeftDay = to, day

			return nil, nil
		}, func(st *state) *GamePage { return page(200, st.game) })

	return err
}
