package game

import (
	"context"
	"net/http"
	"time"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// MoveThird is the request to start or to finish a third.
type MoveThird struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Third  int    `path:"third" minimum:"1" maximum:"3" doc:"The third."`
	Body   struct {
		At *time.Time `json:"at,omitempty" doc:"When it happened, if the phone was offline: by default now. A time before the step before is that of the step before; one in the future, or more than 12 hours ago, is now." example:"2026-06-06T18:00:05Z"`
	}
}

// maxLate is how old what a phone sends may be.
const maxLate = 12 * time.Hour

// during returns the time of a step by what a phone says of it, nil for now. The clock of a
// phone may be wrong, which must refuse neither this step nor the next.
func during(said *time.Time, before string, now time.Time) string {
	if said == nil || said.After(now) || said.Before(now.Add(-maxLate)) {
		said = &now
	}
	return max(item.Format(*said), before)
}

// StartThird starts a third. The first makes the game live. A second run changes nothing.
// Errors: bad_third_transition, three_teams_needed.
func (s *Service) StartThird(ctx context.Context, in *MoveThird) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, StartThirdFunction, in.UserID, in, func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
		return s.move(ctx, in, commit, func(st *state, t *item.Third) (at *string, before string, err error) {
			if len(st.game.V().Teams) != item.Thirds {
				return nil, "", errTeams
			}
			if in.Third > 1 {
				if before = st.game.V().Thirds[in.Third-2].FinishedAt; before == "" {
					return nil, "", errThird
				}
			}
			return &t.StartedAt, before, nil
		})
	})
}

// FinishThird finishes a third. A second run changes nothing. Errors: as StartThird's.
func (s *Service) FinishThird(ctx context.Context, in *MoveThird) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, FinishThirdFunction, in.UserID, in, func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
		return s.move(ctx, in, commit, func(_ *state, t *item.Third) (at *string, before string, err error) {
			if t.StartedAt == "" {
				return nil, "", errThird
			}
			return &t.FinishedAt, t.StartedAt, nil
		})
	})
}

// move sets the time that step returns, unless it is set, as all are of a finished game. before
// is the step before.
func (s *Service) move(ctx context.Context, in *MoveThird, commit idem.Commit[GamePage], step func(*state, *item.Third) (at *string, before string, err error)) (*GamePage, error) {
	return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorekeeper, httpapi.IfMatch{}, commit, func(st *state, now time.Time) ([]dynamo.Write, error) {
		at, before, err := step(st, &st.game.V().Thirds[in.Third-1])
		if err != nil {
			return nil, err
		}
		if *at != "" {
			return nil, errUnchanged
		}
		*at = during(in.Body.At, before, now)
		st.game.Status = item.Live
		return nil, nil
	}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
}

// EndGame is the request to finish or to reopen a game.
type EndGame struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// FinishGame finishes a game whose thirds are finished, and computes its result from the
// goals. The standings and the mails follow. A second run changes nothing. Errors:
// thirds_unfinished.
func (s *Service) FinishGame(ctx context.Context, in *EndGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, FinishGameFunction, in.UserID, in, func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
		return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorekeeper, httpapi.IfMatch{}, commit, func(st *state, now time.Time) ([]dynamo.Write, error) {
			if st.game.Status == item.Finished {
				return nil, errUnchanged
			}
			if !st.game.V().Over() {
				return nil, errUnplayed
			}
			st.game.Status, st.game.V().Reopened = item.Finished, false
			return []dynamo.Write{st.log(now, "finish", nil, nil)}, nil
		}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
	})
}

// ReopenGame makes a finished game live again, for corrections of all thirds by
// scorekeepers. It counts for nothing until it is finished again. A second run changes nothing. Errors:
// game_not_live for one that has not begun.
func (s *Service) ReopenGame(ctx context.Context, in *EndGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, ReopenGameFunction, in.UserID, in, func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
		return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Admin, httpapi.IfMatch{}, commit, func(st *state, now time.Time) ([]dynamo.Write, error) {
			switch st.game.Status {
			case item.Live:
				return nil, errUnchanged
			case item.Scheduled:
				return nil, errNotLive
			}
			st.game.Status, st.game.V().Reopened = item.Live, true
			return []dynamo.Write{st.log(now, "reopen", nil, nil)}, nil
		}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
	})
}
