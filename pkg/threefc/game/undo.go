package game

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// undoFor is how long scorekeepers may undo a start or a finish of a third, from when it was recorded: a phone
// without a network may send it later.
const undoFor = 5 * time.Minute

// Errors about undoing a step of a third.
var (
	errLate = problem.New(problem.Conflict, "too_late_to_undo",
		"five minutes have passed: an administrator may still undo this")
	errNotLast = problem.New(problem.Conflict, "not_the_latest_step", "undo the later starts and finishes of thirds first")
	errScored  = problem.New(problem.Conflict, "third_has_goals", "the third has goals: delete these first")
)

// UndoThird is the request to undo the start or the finish of a third.
type UndoThird struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Third  int    `path:"third" minimum:"1" maximum:"3" doc:"The third."`
	Step   string `path:"step" enum:"start,finish" doc:"What was tapped by mistake." example:"finish"`
}

// UndoThirdFunction undoes the start or the finish of a third.
func UndoThirdFunction() app.Function {
	return app.API(spec.Function{
		Name: "threefc/undo-third",
		Does: "Undoes the latest start or finish of a third: a scorekeeper for five minutes, an administrator at any time until the " +
			"game is finished.",
		IfDown: "A wrong tap on start or finish stays.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/thirds/{third}/{step}/undo", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).UndoThird,
		errLate, errNotLast, errReopen, errScored, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// UndoThird undoes the latest step of the thirds. A third that is not finished any more runs on, and a third
// that has not started may start again; a game whose first third has not started is scheduled. A second run
// changes nothing. Errors: not_the_latest_step, third_has_goals for a start, too_late_to_undo for scorekeepers,
// game_finished.
func (s *Service) UndoThird(ctx context.Context, in *UndoThird) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, UndoThirdFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorer, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					return st.undoThird(in.Third, in.Step == "start", now)
				},
				func(st *state) *GamePage { return page(http.StatusOK, st.game) })
		})
}

// undoThird undoes the start or the finish of a third.
func (st *state) undoThird(n int, start bool, now time.Time) ([]dynamo.Write, error) {
	g := st.game.V()
	third, at := &g.Thirds[n-1], &g.Thirds[n-1].FinishedAt

	later := n < item.Thirds && g.Thirds[n].StartedAt != ""
	if start {
		at, later = &third.StartedAt, third.FinishedAt != ""
	}

	switch {
	case *at == "":
		return nil, errUnchanged
	case item.Ended(st.game.Status):
		return nil, errReopen
	case later:
		return nil, errNotLast
	case start && slices.ContainsFunc(item.Values(st.goals), func(goal item.Goal) bool { return goal.Third == n }):
		return nil, errScored
	case st.role != item.Admin && now.Sub(item.Parse(cmp.Or(g.StepAt, *at))) > undoFor:
		return nil, errLate
	}

	*at, g.StepAt = "", ""
	if start && n == 1 {
		st.game.Status, g.Reopened = item.Scheduled, false
	}

	return []dynamo.Write{st.log(now, "undo", nil, nil)}, nil
}
