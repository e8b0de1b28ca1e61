// Package profile serves the numbers of the players whom a user has claimed.
package profile

import (
	"context"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// Service is the service of profiles.
type Service struct{ signin.Base }

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env)}, nil
}

// GetHealth is the request of a health check.
type GetHealth struct{}

// Health is the answer to a health check.
type Health struct {
	Body struct {
		OK bool `json:"ok" doc:"Always true."`
	}
}

// GetHealthFunction answers health checks.
func GetHealthFunction() app.Function {
	return app.API(spec.Function{
		Name: "threefc/get-health", Does: "Answers health checks.", IfDown: "Monitors report that the room is down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}, Open, (*Service).GetHealth)
}

// GetHealth answers. It checks no other system.
func (s *Service) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{}
	out.Body.OK = true

	return out, nil
}

// GetStats is the request for the caller's numbers.
type GetStats struct{ auth.User }

// Stats is the answer with the numbers of a user.
type Stats struct {
	Body struct {
		Seasons []OwnSeason `json:"seasons" doc:"By player, the newest season first."`
	}
}

// OwnSeason is what a player of the caller has done in a season.
type OwnSeason struct {
	SeasonID string `json:"seasonId" doc:"The id of the season."`
	standing.PlayerTotals
}

// GetStatsFunction returns the numbers of the players whom the caller has claimed.
func GetStatsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-stats",
		Does:   "Returns the numbers of the players whom the caller has claimed.",
		IfDown: "Users do not see their own numbers.",
		On:     spec.Route{Method: "GET", Path: "/v1/me/stats", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.MyPlayers, tables.ReadStats},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetStats)
}

// GetStats returns what the players have done whom the caller has claimed. A player who is
// merged into another has the numbers of the other.
func (s *Service) GetStats(ctx context.Context, in *GetStats) (*Stats, error) {
	claims, err := item.List[item.Claim](ctx, s.DB, tables.MyPlayers, item.UserKey(in.UserID), item.Players)
	if err != nil {
		return nil, err
	}

	var claimed, ids []string
	for _, c := range item.Values(claims) {
		claimed = append(claimed, c.PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.DB, tables.MyPlayers, claimed)
	if err != nil {
		return nil, err
	}

	for _, id := range claimed {
		if id = item.Resolve(id, players).ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}

	out := &Stats{}
	out.Body.Seasons = []OwnSeason{}

	for _, id := range ids {
		rows, err := item.List[standing.PlayerTotals](ctx, s.DB, tables.ReadStats, item.PlayerKey(id), item.Stats)
		if err != nil {
			return nil, err
		}

		slices.Reverse(rows)

		for _, r := range rows {
			r.V().PerGame = standing.PerGame(r.V().Goals, r.V().Games)
			out.Body.Seasons = append(out.Body.Seasons, OwnSeason{strings.TrimPrefix(r.SK, item.Stats), *r.V()})
		}
	}

	return out, nil
}
