package season

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// PutSquad is the request to choose who usually plays for a team.
type PutSquad struct {
	auth.User
	idem.Key
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	TeamID   string `path:"teamId" maxLength:"24" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" example:"red" doc:"The id of the team."`
	Body     struct {
		PlayerIDs []string `json:"playerIds" nullable:"false" maxItems:"15" uniqueItems:"true" doc:"The players, none to end the squad." example:"[\"01JX0000000000000000000041\"]"`
	}
}

// SquadPage is the answer with a squad.
type SquadPage struct {
	Status int
	Body   item.Squad
}

// PutSquadFunction chooses who usually plays for a team of a season.
func PutSquadFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-squad",
		Does:   "Chooses who usually plays for a team of a season.",
		IfDown: "Squads cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/seasons/{seasonId}/teams/{teamId}/squad", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSeason, tables.PutSquad),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutSquad, idem.ErrConflict, item.ErrAccess, item.ErrNoPlayer, item.ErrScope, item.ErrScorekeeper)
}

// PutSquad stores the squad of a team in place of the one before. The line-up of a game can begin with it: see
// game.PutLineUp. A second run changes nothing. Errors: player_not_found, acl_scope_not_found for a team that the
// season does not have.
func (s *Service) PutSquad(ctx context.Context, in *PutSquad) (*SquadPage, error) {
	return idem.Once(ctx, s.Answers, PutSquadFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SquadPage]) (*SquadPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*SquadPage, error) {
				parent, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Scorekeeper)
				if err != nil {
					return nil, err
				}

				if slices.ContainsFunc(in.Body.PlayerIDs, func(id string) bool { return !item.IsID(id) }) {
					return nil, item.ErrNoPlayer.In("body.playerIds")
				}

				players, err := item.ReadPlayers(ctx, s.DB, tables.PutSquad, in.Body.PlayerIDs)
				if err != nil {
					return nil, err
				}

				for _, id := range in.Body.PlayerIDs {
					if p, ok := players[id]; !ok || p.LeagueID != parent.V().LeagueID {
						return nil, item.ErrNoPlayer.In("body.playerIds")
					}
				}

				now := s.Now()
				data := item.Squad{TeamID: in.TeamID, PlayerIDs: append([]string{}, in.Body.PlayerIDs...)}
				out := &SquadPage{http.StatusOK, data}

				row, ok, err := dynamo.Get[item.Row[item.Squad]](ctx, s.DB, tables.PutSquad, parent.PK, item.Squads+in.TeamID)
				if err != nil {
					return nil, err
				}

				write := item.New(parent.PK, item.Squads+in.TeamID, "Squad", data, now).Create()
				if ok {
					if slices.Equal(row.V().PlayerIDs, data.PlayerIDs) {
						return out, nil
					}

					*row.V() = data
					_, write = row.Save(now)
				}

				team := dynamo.CheckWrite(item.Key(parent.PK, item.TeamKey(in.TeamID)), dynamo.Exists[item.Row[item.Team]]("pk"))

				err = commit(ctx, tables.PutSquad, out, team, write)
				if item.RefusedWrite(err) == 0 {
					return nil, item.ErrScope
				}

				return out, err
			})
		})
}
