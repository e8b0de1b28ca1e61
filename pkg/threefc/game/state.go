package game

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// Errors about states of games.
var (
	errBegun  = problem.New(problem.Conflict, "game_started", "the game has begun: it can be abandoned")
	errMissed = problem.New(problem.Unprocessable, "teams_missing",
		"a walkover needs one or two teams of the game that were missing, any other state none").In("body.absentTeamIds")
	errStands = problem.New(problem.Unprocessable, "no_result",
		"only an abandoned game that has begun has a result that may stand").In("body.resultStands")
)

// Special is what is special about a game.
type Special struct {
	State  string   `json:"state,omitempty" enum:"postponed,abandoned,walkover" doc:"Postponed: scheduled, without a new time yet. Abandoned: finished before its end, with the result of its goals, or without a result if it does not stand; then it is in no table. Walkover: finished without play, because teams were missing."`
	Absent []string `json:"absentTeamIds,omitempty" doc:"The teams that are missing. They have lost; the others play without them."`
}

// PutState is the request to postpone or abandon a game, or to record a walkover.
type PutState struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Body   struct {
		State  string   `json:"state" enum:"postponed,abandoned,walkover" doc:"What has happened. A new start ends a postponement." example:"abandoned"`
		Stands bool     `json:"resultStands,omitempty" doc:"Of an abandoned game: its result is that of the goals so far. Otherwise it has none, and is in no table."`
		Absent []string `json:"absentTeamIds,omitempty" maxItems:"2" uniqueItems:"true" doc:"Of a walkover: the teams that were missing." example:"[\"yellow\"]"`
	}
}

// PutStateFunction postpones or abandons a game, or records a walkover.
func PutStateFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-game-state",
		Does:   "Postpones or abandons a game, or records a walkover.",
		IfDown: "Games that are not played to their end stay open.",
		On:     spec.Route{Method: "PUT", Path: "/v1/games/{gameId}/state", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame), Sends: []spec.Queue{AggregateQueue, RemindQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).PutState, errBegun, errMissed, errReopen, errStands, errTeams, errUnderTeam, idem.ErrConflict, item.ErrAccess,
		item.ErrScope, item.ErrScorekeeper)
}

// PutState sets the state of a game that is not finished. A game that has begun can be abandoned, one that has
// not can also be postponed, or be a walkover. A third that runs ends with the game. A second run changes
// nothing; an administrator who reopens the game ends its state. Errors: game_started, game_finished, no_result,
// teams_missing, unknown_team, three_teams_needed, stale.
func (s *Service) PutState(ctx context.Context, in *PutState) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, PutStateFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorekeeper, in.IfMatch, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					was := *st.game.V()

					writes, err := st.put(in, now)
					if err == nil && in.Body.State == item.Postponed {
						err = s.announce(ctx, st, was, now)
					}

					return writes, err
				},
				func(st *state) *GamePage { return page(http.StatusOK, st.game) })
		})
}

// put sets the state of a game.
func (st *state) put(in *PutState, now time.Time) (writes []dynamo.Write, err error) {
	g, status := st.game.V(), item.Finished

	switch begun := st.game.Status != item.Scheduled; {
	case (len(in.Body.Absent) > 0) != (in.Body.State == item.Walkover):
		return nil, errMissed
	case in.Body.Stands && (in.Body.State != item.Abandoned || !begun):
		return nil, errStands
	case in.Body.State == item.Abandoned && !in.Body.Stands:
		status = item.Void
	case in.Body.State == item.Postponed:
		status = item.Scheduled
	}

	switch {
	case g.State == in.Body.State && st.game.Status == status && (len(in.Body.Absent) == 0 || equalSets(in.Body.Absent, g.Absent)):
		return nil, errUnchanged
	case item.Ended(st.game.Status):
		return nil, errReopen
	case st.game.Status == item.Live && in.Body.State != item.Abandoned:
		return nil, errBegun
	case in.Body.State == item.Walkover && len(g.Teams) != item.Thirds:
		return nil, errTeams
	case in.Body.State == item.Walkover:
		writes, err = st.miss(in.Body.Absent)
	}

	if err != nil {
		return nil, err
	}

	if n := g.Running(); n > 0 {
		g.Thirds[n-1].FinishedAt = max(item.Format(now), g.Thirds[n-1].StartedAt)
		g.StepAt = item.Format(now)
	}

	st.game.Status, g.State, g.Reopened = status, in.Body.State, false

	return append(writes, st.logState(now, in.Body.State)), nil
}

// miss sets which teams are missing in a game that has not begun, and returns the writes that take their
// players out of the roster.
func (st *state) miss(absent []string) (writes []dynamo.Write, err error) {
	g := st.game.V()

	switch {
	case equalSets(absent, g.Absent):
		return nil, nil
	case st.game.Status != item.Scheduled:
		return nil, errBegun.In("body.absentTeamIds")
	}

	g.Absent = slices.Sorted(slices.Values(absent))

	for _, id := range g.Absent {
		if !plays(g.Teams, id) {
			return nil, errUnderTeam.In("body.absentTeamIds")
		}
	}

	st.seats = slices.DeleteFunc(slices.Clone(st.seats), func(seat item.Row[item.Seat]) bool {
		gone := slices.Contains(g.Absent, seat.V().TeamID)
		if gone {
			writes = append(writes, seat.Drop())
		}

		return gone
	})

	return writes, nil
}

// equalSets reports whether two lists without repetitions have the same elements.
func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// logState returns the write of the entry of the log for a state that a game gets.
func (st *state) logState(now time.Time, to string) dynamo.Write {
	what := "finish"
	if to == item.Postponed {
		what = "edit"
	}

	return item.New(st.game.PK, item.AuditKey(now, code.NewID(now)), "Audit",
		item.Audit{At: item.Format(now), By: st.by, What: what, State: to}, now).Create()
}
