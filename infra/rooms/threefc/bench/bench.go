// Package bench measures the 3FC room: a goal, the end of a game, and what everybody sees.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/profile"
	"matchday/pkg/threefc/public"
	"matchday/pkg/threefc/signin"
)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{Run: run, Binaries: []app.Function{game.CreateGoalFunction()}}

// useCost is one call of a function in this process, for a season with so many players.
type useCost struct {
	What    string  `json:"what"`
	Players int     `json:"players"`
	Answer  float64 `json:"answer"` // bytes of it
	reads   float64 // most read units; 0 for no target
	writes  float64 // most write units
	measure.Counters
	measure.Capacity
	measure.Usage `json:"-"`
}

// getHealth is the function with which the others are compared.
const getHealth = "get-health"

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
	return rows(all), map[string]any{"uses": all}, nil
}

// use is a function to measure. before is not measured.
type use struct {
	useCost
	before func() error
	open   func(app.Env) (call, error)
}

// call calls a function, and returns the size of the answer.
type call func(context.Context) (answer int, err error)

// benchUses measures the functions in turns. In each turn a goal is scored, and another game
// is finished.
func benchUses(ctx context.Context, players int) ([]useCost, error) {
	w, err := measure.NewWorld(ctx, threefc.Room().Spec, clock.New(evening, clock.Free))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	w.Settings[spec.EnvOrigins], w.Settings[spec.EnvAPI], w.Settings[signin.MailFrom] = origin, "https://api.bench/threefc", "3fc@example.com"
	s, err := newSeason(ctx, w, players)
	if err != nil {
		return nil, err
	}
	over := s.live
	finish := func() (err error) { over, err = s.addGame(ctx, true); return err }
	body := func() any {
		return map[string]any{"eventId": item.NewID(evening), "scoringTeamId": "red", "concedingTeamId": "blue", "scorerPlayerId": player(0), "assistPlayerIds": []string{player(1)}}
	}
	of := func() []string { return []string{"bench", "spring", s.live} }
	costs, err := s.measure(ctx, []use{
		{useCost: useCost{What: getHealth}, open: screen(s, profile.GetHealthFunction(), none, nil)},
		{useCost: useCost{What: "create-goal", reads: 10, writes: 8}, open: screen(s, game.CreateGoalFunction(), func() []string { return []string{s.live} }, body)},
		{useCost: useCost{What: "finish-game", reads: 10, writes: 24}, before: finish, open: screen(s, game.FinishGameFunction(), func() []string { return []string{over} }, nil)},
		{useCost: useCost{What: "show-game", reads: 3}, open: screen(s, public.GetGameFunction(), of, nil)},
		{useCost: useCost{What: "show-game-page", reads: 8}, open: screen(s, public.ShowGameFunction(), of, nil)},
		{useCost: useCost{What: "show-standings", reads: 1}, open: screen(s, public.GetStandingsFunction(), func() []string { return []string{seasonID} }, nil)},
		{useCost: useCost{What: "show-season-page", reads: 20}, open: screen(s, public.ShowSeasonFunction(), func() []string { return of()[:2] }, nil)},
	})
	for i := range costs {
		costs[i].Players = players
	}
	return costs, err
}

func none() []string { return nil }

// measure measures functions: the units of the first call, the fewest calls of all rounds,
// and the median of what they use.
func (s *season) measure(ctx context.Context, uses []use) ([]useCost, error) {
	var m dynamodb.Meter
	costs, calls, spent := make([]useCost, len(uses)), make([]call, len(uses)), make([][]measure.Usage, len(uses))
	before := func(u use) error {
		if u.before == nil {
			return nil
		}
		return u.before()
	}
	for i, u := range uses {
		metered := s.world.Env()
		metered.AWS = m.On(metered.AWS)
		do, err := u.open(metered)
		if err == nil {
			err = before(u)
		}
		if err != nil {
			return nil, err
		}
		m.Take()
		answer, err := do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.What, err)
		}
		u.Capacity, u.Answer = measure.Capacity(m.Take()), float64(answer)
		costs[i] = u.useCost
		if calls[i], err = u.open(s.world.Env()); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i, u := range uses {
			if err := before(u); err != nil {
				return nil, err
			}
			s.world.Reset()
			each, err := measure.Run(func() error { _, err := calls[i](ctx); return err })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", u.What, err)
			}
			spent[i] = append(spent[i], each)
			if c := s.world.Counts(); round == 0 || c.Sum() < costs[i].Sum() {
				costs[i].Counters = c
			}
		}
	}
	for i := range costs {
		costs[i].Usage = measure.MedianUsage(spent[i])
	}
	return costs, nil
}

// screen returns what calls a function of a route as the scorekeeper's browser. ids are those
// of the path, and body what it sends, both for each call; body may be nil.
func screen(s *season, fn app.Function, ids func() []string, body func() any) func(app.Env) (call, error) {
	route := fn.On.(spec.Route)
	return func(env app.Env) (call, error) {
		handle, err := measure.Open(context.Background(), fn, env)
		return func(ctx context.Context) (int, error) {
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
					return 0, err
				}
				text = string(encoded)
			}
			e := measure.SignedRequest(route, strings.Join(path, "/"), "", text)
			e.RequestContext.Authorizer, e.Cookies, e.Headers["origin"] = nil, []string{signin.Cookie.Name + "=" + s.token}, origin
			out, err := handle(ctx, e)
			if err == nil && out.StatusCode >= http.StatusMultipleChoices {
				err = fmt.Errorf("%d %s", out.StatusCode, out.Body)
			}
			return len(out.Body), err
		}, err
	}
}
