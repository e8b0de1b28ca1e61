// Package bench measures the 3FC room: a goal, the end of a game, and what everybody sees.
package bench

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/clock"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/code"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/profile"
	"matchday/pkg/threefc/public"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/web"
)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{Run: run, Binaries: []app.Function{game.CreateGoalFunction()}}

// useCost is one call of a function in this process, for a season with so many players.
type useCost struct {
	measure.Cost
	target
	Players int `json:"players"`
}

// target is the most units that a call may cost; 0 read units for no target.
type target struct{ reads, writes float64 }

// getHealth is the function with which the others are compared.
const getHealth = "get-health"

// A phone sends each change with a key, under which the answer is stored. A goal is measured without one, too.
const (
	createGoal        = "create-goal"
	createGoalWithKey = "create-goal with a key"
)

// few and many are the players of seasons. The second is the most that a league may have.
const (
	few    = 10
	many   = 1000
	rounds = 15
)

// evening is when a game is played.
var evening = time.Date(2026, 6, 6, 18, 7, 0, 0, time.UTC)

func run(ctx context.Context) ([]measure.Row, any, error) {
	var all []useCost

	for _, n := range []int{few, many} {
		measure.Say("a season of 3FC with %d players", n)

		costs, err := benchUses(ctx, n)
		if err != nil {
			return nil, nil, err
		}

		all = append(all, costs...)
	}

	costs, err := benchTables(ctx)
	if err != nil {
		return nil, nil, err
	}

	all = append(all, costs...)

	return rows(all), map[string]any{"measured": time.Now().UTC().Format(time.DateOnly), "uses": all}, nil
}

func newWorld(ctx context.Context) (*measure.World, error) {
	w, err := measure.NewWorld(ctx, threefc.Room().Spec, clock.New(evening, clock.Free))
	if err != nil {
		return nil, err
	}

	w.Settings[spec.EnvOrigins], w.Settings[spec.EnvAPI], w.Settings[signin.MailFrom] = origin, "https://api.bench/threefc", "3fc@example.com"
	w.Settings[web.LinkKeys] = "the key of links in the benchmark, of 32 characters"

	return w, nil
}

// benchUses measures the functions in turns. In each turn a goal is scored, and another game
// is finished.
func benchUses(ctx context.Context, players int) ([]useCost, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer w.Close()

	s, err := newSeason(ctx, w, players)
	if err != nil {
		return nil, err
	}

	over, begun := s.live, s.live
	finish := func() (err error) { over, err = s.addGame(ctx, true); return err }
	begin := func() (err error) { begun, err = s.addGame(ctx, false); return err }
	goal := func() any {
		return map[string]any{
			"eventId":         code.NewID(evening),
			"scoringTeamId":   "red",
			"concedingTeamId": "blue",
			"scorerPlayerId":  player(0),
			"assistPlayerIds": []string{player(1)},
		}
	}
	of := func() []string { return []string{"bench", "spring", s.live} }
	live := func() []string { return []string{s.live} }
	finishing := s.screen("finish-game", game.FinishGameFunction(), func() []string { return []string{over} }, nil)
	finishing.Before = finish
	third := s.screen("finish-third", game.FinishThirdFunction(), func() []string { return []string{begun, "1"} },
		func() any { return map[string]any{} })
	third.Before = begin
	seat := s.screen("put-seat", game.PutSeatFunction(), func() []string { return []string{begun, player(roster)} },
		func() any { return map[string]any{"teamId": "red"} })
	seat.Before = begin
	create := s.screen("create-game", game.CreateGameFunction(), func() []string { return []string{sessionID} },
		func() any { return map[string]any{"gameStartTs": evening, "thirdLength": 20} })
	uses := []struct {
		measure.Use
		target
	}{
		{s.screen(getHealth, profile.GetHealthFunction(), none, nil), target{}},
		{s.screen(createGoal, game.CreateGoalFunction(), live, goal), target{10, 8}},
		{s.screen(createGoalWithKey, game.CreateGoalFunction(), live, goal), target{10, 14}},
		{create, target{}},
		{seat, target{}},
		{third, target{}},
		{finishing, target{10, 24}},
		{s.screen("get-game", game.GetGameFunction(), live, nil), target{4, 0}},
		{s.screen("show-game", public.GetGameFunction(), of, nil), target{3, 0}},
		{s.screen("show-game-page", public.ShowGameFunction(), of, nil), target{8, 0}},
		// Half a unit each for the season and the league, which may be private.
		{s.screen("show-standings", public.GetStandingsFunction(), func() []string { return []string{seasonID} }, nil), target{2, 0}},
		{s.screen("show-season-page", public.ShowSeasonFunction(), func() []string { return of()[:2] }, nil), target{12, 0}},
	}

	var measured []measure.Use
	for _, u := range uses {
		measured = append(measured, u.Use)
	}

	costs, err := w.Uses(ctx, rounds, measured)
	if err != nil {
		return nil, err
	}

	all := make([]useCost, len(costs))
	for i, c := range costs {
		all[i] = useCost{c, uses[i].target, players}
	}

	return all, nil
}

// benchTables measures what a finished game changes in the tables of its season.
func benchTables(ctx context.Context) ([]useCost, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer w.Close()

	s, err := newSeason(ctx, w, few)
	if err != nil {
		return nil, err
	}

	over := ""
	finishing := s.screen("finish-game", game.FinishGameFunction(), func() []string { return []string{over} }, nil)

	finish, err := finishing.Open(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	tables, err := standing.Open(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	if err := tables.AggregateSeason(ctx, game.Changed{SeasonID: seasonID}); err != nil { // those of the games that are stored
		return nil, err
	}

	costs, err := w.Uses(ctx, rounds, []measure.Use{{
		What: "aggregate-season",
		Before: func() (err error) {
			if over, err = s.addGame(ctx, true); err == nil {
				_, err = finish(ctx)
			}

			return err
		},
		Open: func(ctx context.Context, env app.Env) (measure.Call, error) {
			tables, err := standing.Open(ctx, env)

			return func(ctx context.Context) (int, error) {
				return 0, tables.AggregateSeason(ctx, game.Changed{SeasonID: seasonID, GameID: over})
			}, err
		},
	}})
	if err != nil {
		return nil, err
	}

	return []useCost{{costs[0], target{}, few}}, nil
}

func none() []string { return nil }

// screen returns the use of a function with a route by the scorekeeper's browser. ids are those
// of the path, and body what it sends, both for each call; body may be nil.
func (s *season) screen(what string, fn app.Function, ids func() []string, body func() any) measure.Use {
	route := fn.On.(spec.Route)

	return measure.Use{What: what, Open: measure.Ask(fn, func() (e events.APIGatewayV2HTTPRequest, err error) {
		path, text := strings.Split(route.Path, "/"), ""
		given := ids()

		for i, part := range path {
			if strings.HasPrefix(part, "{") {
				path[i], given = given[0], given[1:]
			}
		}

		if body != nil {
			encoded, err := json.Marshal(body())
			if err != nil {
				return e, err
			}

			text = string(encoded)
		}

		e = measure.SignedRequest(route, strings.Join(path, "/"), "", text)
		e.RequestContext.Authorizer, e.Cookies, e.Headers["origin"] = nil, []string{signin.Cookie.FullName() + "=" + s.token}, origin
		if body != nil && what != createGoal {
			e.Headers["idempotency-key"] = code.NewID(evening)
		}

		return e, nil
	})}
}
