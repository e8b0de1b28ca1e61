package player

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// LeavePool is the request to take a player out of the pool of a game.
type LeavePool struct {
	auth.User
	GameID   string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
}

// LeavePoolFunction takes a player out of the pool of a game.
func LeavePoolFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/leave-pool",
		Does:   "Takes a player out of the pool of a game, who has joined by a code.",
		IfDown: "Players who do not come after all stay in the pool of a game.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/pool/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetGame, tables.GetPlayer, tables.LeavePool),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).LeavePool, item.ErrAccess, item.ErrNoPlayer, item.ErrScope, item.ErrScorekeeper)
}

// LeavePool takes a player out of the pool of a game: for a scorekeeper, or for the user who has claimed the player.
// A place in a team stays: see game.DeleteSeat. A second run changes nothing. Errors: acl_scope_not_found,
// player_not_found, scorekeeper_required.
func (s *Service) LeavePool(ctx context.Context, in *LeavePool) (*httpapi.Removed, error) {
	g, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Scorekeeper)
	if err != nil && g.PK == "" {
		return nil, err
	}

	if refused := err; refused != nil {
		p, err := item.PlayerRow.Read(ctx, s.DB, in.PlayerID)
		if err != nil || p.V().ClaimedBy != in.UserID || p.V().LeagueID != g.V().LeagueID {
			return nil, refused
		}
	}

	return httpapi.NewRemoved(), s.leave(ctx, in.GameID, in.PlayerID)
}

// leave takes a player out of the pool of a game.
func (s *Service) leave(ctx context.Context, gameID, playerID string) error {
	return dynamo.Transact(ctx, s.DB, tables.LeavePool, dynamo.DeleteWrite(item.Key(item.GameKey(gameID), item.PoolKey(playerID))))
}

// isIn reports whether a player is in the pool of a game, or in a team.
func (s *Service) isIn(ctx context.Context, gameID, playerID string) (bool, error) {
	pk := item.GameKey(gameID)

	pooled, err := item.List[item.Pooled](ctx, s.DB, tables.ListPool, pk, item.PoolKey(playerID))
	if err != nil || len(pooled) > 0 {
		return len(pooled) > 0, err
	}

	seats, err := item.List[item.Seat](ctx, s.DB, tables.ListRoster, pk, item.Rosters)

	return slices.ContainsFunc(seats, func(r item.Row[item.Seat]) bool { return r.V().PlayerID == playerID }), err
}

// toLeave is the purpose of the ticket by which a phone that has joined a game leaves it again.
const toLeave = "leave a pool"

// ticket returns the ticket by which a phone leaves a pool, without an account, for as long as a code is valid.
func (s *Pages) ticket(gameID, playerID string) string {
	return s.signer.Sign(toLeave, s.Now().Add(codeLifetime), gameID, playerID)
}

// left takes the player of a ticket out of the pool, and shows that. Errors: web.ErrTicket.
func (s *Pages) left(ctx context.Context, ticket string) (*web.Form, error) {
	ids, err := s.signer.Read(toLeave, ticket, 2)
	if err != nil {
		return nil, err
	}

	if err := s.leave(ctx, ids[0], ids[1]); err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "You are out", About: "The scorekeeper sees it."},
		map[string]any{"Lines": []string{
			"You are out. If you are in a team already, tell the scorekeeper. To come after all, open the link again.",
		}}), nil
}
