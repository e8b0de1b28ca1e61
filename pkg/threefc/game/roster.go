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

var errHasGoals = problem.New(problem.Conflict, "player_has_goals", "the player has goals or assists in this game: change these first")

// Seat is a player of a roster.
type Seat struct {
	PlayerID string `json:"playerId" doc:"The id of the player."`
	TeamID   string `json:"teamId" doc:"The team for which the player plays." example:"red"`
	Nickname string `json:"nickname" doc:"The name of the player."`
}

// PutSeat is the request to put a player into a team of a game.
type PutSeat struct {
	auth.User
	idem.Key
	GameID   string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player. Of one who is merged into another, the other is put into the team."`
	Body     struct {
		TeamID string `json:"teamId" minLength:"1" maxLength:"24" doc:"The team." example:"red"`
	}
}

// SeatPage is the answer with a player of a roster.
type SeatPage struct {
	Status int
	Body   Seat
}

// PutSeatFunction puts a player into a team of a game.
func PutSeatFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/put-seat",
		Does:    "Puts a player into a team of a game.",
		IfDown:  "Rosters cannot be changed.",
		On:      spec.Route{Method: "PUT", Path: "/v1/games/{gameId}/roster/{playerId}", Auth: spec.Session},
		Uses:    league.Writes(tables.ReadGame, tables.GetPlayer, tables.SaveRoster),
		Sends:   []spec.Queue{AggregateQueue},
		Limits:  []spec.Limit{MaxPlayers},
		Memory:  256,
		Timeout: 10 * time.Second,
	}, Open, (*Service).PutSeat,
		ErrFinished, errHasGoals, errUnderTeam, idem.ErrConflict, item.ErrAccess, item.ErrNoPlayer, item.ErrScope,
		item.ErrScorekeeper)
}

// PutSeat puts a player into a team of a game, and takes the player out of the others. For one who is merged into
// another it does so with the other, whose goals would otherwise be those of two players of the game. A
// second run changes nothing. Errors: player_not_found, unknown_team, game_finished for
// scorekeepers, player_has_goals, too_many_players.
func (s *Service) PutSeat(ctx context.Context, in *PutSeat) (*SeatPage, error) {
	return idem.Once(ctx, s.Answers, PutSeatFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SeatPage]) (*SeatPage, error) {
			var player item.Row[item.Player]

			return change(ctx, s, tables.SaveRoster, in.GameID, in.UserID, item.Scorekeeper, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					var err error
					if player, err = item.PlayerRow.Read(ctx, s.DB, in.PlayerID); err != nil {
						return nil, err
					}

					if player, err = item.ReadCounting(ctx, s.DB, player); err != nil {
						return nil, err
					}

					id := player.V().ID

					switch team := st.teamOf(id); {
					case player.V().LeagueID != st.game.V().LeagueID:
						return nil, item.ErrNoPlayer
					case !plays(st.game.V().Present(), in.Body.TeamID):
						return nil, errUnderTeam.In("body.teamId")
					case team == in.Body.TeamID:
						return nil, errUnchanged
					case len(st.seats) >= MaxPlayers.Max && team == "":
						return nil, problem.Beyond(MaxPlayers)
					}

					writes, err := st.unseat(id)
					if err != nil {
						return nil, err
					}

					row := item.New(st.game.PK, item.RosterKey(in.Body.TeamID, id), seatType,
						item.Seat{TeamID: in.Body.TeamID, PlayerID: id}, now)
					st.seats = append(st.seats, row)

					writes = append(writes, row.Create())
					if player.V().Used {
						return append(writes, dynamo.CheckWrite(item.Key(player.PK, player.SK), dynamo.Exists[item.Row[item.Player]]("pk"))), nil
					}

					player.V().Used = true // it cannot be deleted any more
					player, saved := player.Save(now)

					return append(writes, saved, player.Mirror(item.LeagueKey(player.V().LeagueID), player.PK)), nil
				}, func(*state) *SeatPage {
					return &SeatPage{http.StatusOK, Seat{player.V().ID, in.Body.TeamID, player.V().Nickname}}
				})
		})
}

// unseat takes a player out of the roster. A player with goals stays, because otherwise a goal
// would have a scorer who did not play.
func (st *state) unseat(playerID string) (writes []dynamo.Write, err error) {
	if item.Ended(st.game.Status) && st.role != item.Admin {
		return nil, ErrFinished
	}

	i := slices.IndexFunc(st.seats, func(r item.Row[item.Seat]) bool { return r.V().PlayerID == playerID })
	if i < 0 {
		return nil, nil
	}

	for _, g := range item.Values(st.goals) {
		if g.Scorer == playerID || slices.Contains(g.Assists, playerID) {
			return nil, errHasGoals
		}
	}

	writes = []dynamo.Write{st.seats[i].Drop()}
	st.seats = slices.Delete(slices.Clone(st.seats), i, i+1)

	return writes, nil
}

// DeleteSeat is the request to take a player out of a game.
type DeleteSeat struct {
	auth.User
	GameID   string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	PlayerID string `path:"playerId" maxLength:"26" doc:"The id of the player."`
}

// DeleteSeatFunction takes a player out of a game.
func DeleteSeatFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-seat",
		Does:   "Takes a player out of a game.",
		IfDown: "Rosters cannot be changed.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/roster/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveRoster), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).DeleteSeat, ErrFinished, errHasGoals, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// DeleteSeat takes a player out of the roster of a game. A second run changes nothing.
// Errors: game_finished for scorekeepers, player_has_goals.
func (s *Service) DeleteSeat(ctx context.Context, in *DeleteSeat) (*httpapi.Removed, error) {
	commit := func(ctx context.Context, a spec.Access, _ *httpapi.Removed, writes ...dynamo.Write) error {
		return dynamo.Transact(ctx, s.DB, a, writes...)
	}

	return change(ctx, s, tables.SaveRoster, in.GameID, in.UserID, item.Scorekeeper, httpapi.IfMatch{}, commit,
		func(st *state, _ time.Time) ([]dynamo.Write, error) {
			writes, err := st.unseat(in.PlayerID)
			if writes == nil && err == nil {
				err = errUnchanged
			}

			return writes, err
		}, func(*state) *httpapi.Removed { return httpapi.NewRemoved() })
}

// ListRoster is the request for the roster of a game.
type ListRoster struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// Roster is the answer with a roster.
type Roster struct {
	Body struct {
		Players []Seat `json:"players" doc:"In order of team and name."`
	}
}

// ListRosterFunction returns the roster of a game.
func ListRosterFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-roster",
		Does:   "Returns who plays in a game.",
		IfDown: "The app shows no roster.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/roster", Auth: spec.Session},
		Uses:   league.ScoringReads(tables.GetGame, tables.ListRoster),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenScoring, (*Service).ListRoster, item.ErrAccess, item.ErrScope)
}

// ListRoster returns the roster of a game. A player who is merged into another has the name of the other.
func (s *Service) ListRoster(ctx context.Context, in *ListRoster) (*Roster, error) {
	game, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	rows, err := item.List[item.Seat](ctx, s.DB, tables.ListRoster, game.PK, item.Rosters)
	if err != nil {
		return nil, err
	}

	var ids []string
	for _, seat := range item.Values(rows) {
		ids = append(ids, seat.PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.DB, tables.ListRoster, ids)
	if err != nil {
		return nil, err
	}

	out := &Roster{}

	out.Body.Players = make([]Seat, len(rows))
	for i, seat := range item.Values(rows) {
		out.Body.Players[i] = Seat{seat.PlayerID, seat.TeamID, item.Resolve(seat.PlayerID, players).Nickname}
	}

	slices.SortFunc(out.Body.Players, func(a, b Seat) int {
		return cmp.Or(cmp.Compare(a.TeamID, b.TeamID), cmp.Compare(a.Nickname, b.Nickname), cmp.Compare(a.PlayerID, b.PlayerID))
	})

	return out, nil
}
