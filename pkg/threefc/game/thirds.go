package game

import (
	"context"
	"net/http"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
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

// stepTime returns the time of a step: the one that the phone has sent, or now. It ignores a time
// in the future, and one that is older than maxLate. It is never before the step before, so that a
// wrong clock of a phone refuses neither this step nor the next.
func stepTime(sent *time.Time, before string, now time.Time) string {
	if sent == nil || sent.After(now) || sent.Before(now.Add(-maxLate)) {
		sent = &now
	}

	return max(item.Format(*sent), before)
}

// StartThirdFunction starts a third of a game.
func StartThirdFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/start-third",
		Does:   "Starts a third of a game.",
		IfDown: "Scorekeepers cannot start a game.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/thirds/{third}/start", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).StartThird,
		ErrFinished, errTeams, errThird, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// StartThird starts a third. The first makes the game live. A second run changes nothing.
// Errors: bad_third_transition, three_teams_needed, game_finished.
func (s *Service) StartThird(ctx context.Context, in *MoveThird) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, StartThirdFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return s.move(ctx, in, commit, func(st *state, t *item.Third) (at *string, before string, err error) {
				if len(st.game.V().Teams) != item.Thirds || len(st.game.V().Present()) < 2 {
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

// FinishThirdFunction finishes a third of a game.
func FinishThirdFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/finish-third",
		Does:   "Finishes a third of a game.",
		IfDown: "Scorekeepers cannot finish a third.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/thirds/{third}/finish", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).FinishThird, ErrFinished, errThird, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// FinishThird finishes a third. A second run changes nothing. Errors: as StartThird's.
func (s *Service) FinishThird(ctx context.Context, in *MoveThird) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, FinishThirdFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return s.move(ctx, in, commit, func(_ *state, t *item.Third) (at *string, before string, err error) {
				if t.StartedAt == "" {
					return nil, "", errThird
				}

				return &t.FinishedAt, t.StartedAt, nil
			})
		})
}

// move sets the time that step returns, unless it is already set; in a finished game all are.
// before is the time of the step before.
func (s *Service) move(ctx context.Context, in *MoveThird, commit idem.Commit[GamePage],
	step func(*state, *item.Third) (at *string, before string, err error)) (*GamePage, error) {
	return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorer, httpapi.IfMatch{}, commit,
		func(st *state, now time.Time) ([]dynamo.Write, error) {
			at, before, err := step(st, &st.game.V().Thirds[in.Third-1])
			if err != nil {
				return nil, err
			}

			switch {
			case *at != "":
				return nil, errUnchanged
			case item.Ended(st.game.Status): // abandoned, or a walkover
				return nil, ErrFinished
			case st.game.V().State == item.Postponed:
				st.game.V().State = ""
			}

			*at = stepTime(in.Body.At, before, now)
			st.game.Status, st.game.V().StepAt = item.Live, item.Format(now)

			return nil, nil
		}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
}

// EndGame is the request to finish or to reopen a game.
type EndGame struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// FinishGameFunction finishes a game and computes its result.
func FinishGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/finish-game",
		Does:   "Finishes a game and computes its result.",
		IfDown: "Games are not finished, and the standings do not change.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/finish", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).FinishGame, errUnplayed, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// FinishGame finishes a game whose thirds are finished, and computes its result from the
// goals. The standings and the mails follow. A second run changes nothing. Errors:
// thirds_unfinished.
func (s *Service) FinishGame(ctx context.Context, in *EndGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, FinishGameFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorer, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					if item.Ended(st.game.Status) {
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

// ReopenGameFunction makes a finished game live again.
func ReopenGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/reopen-game",
		Does:   "Makes a finished game live again, so that scorekeepers may correct it.",
		IfDown: "A game cannot be reopened.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/reopen", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).ReopenGame, errNotLive, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// ReopenGame makes a finished game live again, for corrections of all thirds by scorekeepers. It
// counts for nothing until it is finished again. A game that was abandoned goes on, and one that has not begun,
// such as a walkover, is scheduled again; teams that were missing stay so until they are there. A second run
// changes nothing. Errors: game_not_live for one that has not begun.
func (s *Service) ReopenGame(ctx context.Context, in *EndGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, ReopenGameFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Admin, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					switch st.game.Status {
					case item.Live:
						return nil, errUnchanged
					case item.Scheduled:
						return nil, errNotLive
					}

					st.game.Status, st.game.V().Reopened = item.Live, true
					if st.game.V().Thirds[0].StartedAt == "" { // nothing was played
						st.game.Status, st.game.V().Reopened = item.Scheduled, false
					}

					st.game.V().State = ""

					return []dynamo.Write{st.log(now, "reopen", nil, nil)}, nil
				}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
		})
}
