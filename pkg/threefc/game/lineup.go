package game

import (
	"context"
	"maps"
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

// MaxLineUp bounds the players whom one request puts on a roster: all are written in one transaction.
var MaxLineUp = spec.Limit{Name: "players that join a roster at once", Max: 45, Code: "too_many_players_at_once"}

var errSeats = problem.New(problem.Unprocessable, "bad_line_up",
	"send seats of different players with list, and none with squad and last").In("body.seats")

// LineUpSeat is a player of a line-up.
type LineUpSeat struct {
	PlayerID string `json:"playerId" minLength:"1" maxLength:"26" doc:"The id of the player." example:"01JX0000000000000000000041"`
	TeamID   string `json:"teamId" minLength:"1" maxLength:"24" doc:"The team." example:"red"`
}

// PutLineUp is the request for many players on the roster of a game.
type PutLineUp struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Body   struct {
		From  string       `json:"from" enum:"squad,last,list" doc:"Who plays: the squads of the teams, who has played for each team last time, or the seats of the request. Who is on the roster already stays; with list a player may change the team." example:"squad"`
		Seats []LineUpSeat `json:"seats,omitempty" maxItems:"30" doc:"The players with their teams, of a list."`
	}
}

// PutLineUpFunction puts many players on the roster of a game.
func PutLineUpFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-line-up",
		Does:   "Puts the squads, the players of last time, or a list of players on the roster of a game.",
		IfDown: "Players must be put on a roster one by one.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/line-up", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.ListSquads, tables.PutLineUp, tables.SaveRoster), Sends: []spec.Queue{AggregateQueue},
		Limits: []spec.Limit{MaxLineUp, MaxPlayers},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).PutLineUp, ErrFinished, errHasGoals, errSeats, errUnderTeam, idem.ErrConflict, item.ErrAccess, item.ErrNoPlayer,
		item.ErrScope, item.ErrScorekeeper)
}

// PutLineUp puts players on the roster of a game, all in one transaction. A player who was merged into another
// plays as the other. Of squads and of last time it leaves out who is not in the league any more, and teams that
// are missing. A second run changes nothing. Errors: bad_line_up, player_not_found, unknown_team, game_finished for
// scorekeepers, player_has_goals, too_many_players, too_many_players_at_once.
func (s *Service) PutLineUp(ctx context.Context, in *PutLineUp) (*Roster, error) {
	if len(in.Body.Seats) > 0 != (in.Body.From == "list") {
		return nil, errSeats
	}

	return idem.Once(ctx, s.Answers, PutLineUpFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[Roster]) (*Roster, error) {
			names := map[string]string{}

			return change(ctx, s, tables.SaveRoster, in.GameID, in.UserID, item.Scorekeeper, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					if item.Ended(st.game.Status) && st.role != item.Admin {
						return nil, ErrFinished
					}

					seats, err := s.lineUp(ctx, st, in)
					if err != nil {
						return nil, err
					}

					return s.seat(ctx, st, in.Body.From == "list", seats, names, now)
				}, func(st *state) *Roster { return st.roster(names) })
		})
}

// lineUp returns the players whom a request asks for.
func (s *Service) lineUp(ctx context.Context, st *state, in *PutLineUp) (all []LineUpSeat, err error) {
	g := st.game.V()

	switch in.Body.From {
	case "squad":
		rows, err := item.List[item.Squad](ctx, s.DB, tables.ListSquads, item.SeasonKey(g.SeasonID), item.Squads)
		if err != nil {
			return nil, err
		}

		for _, squad := range item.Values(rows) {
			for _, id := range squad.PlayerIDs {
				all = append(all, LineUpSeat{id, squad.TeamID})
			}
		}
	case "last":
		if all, err = s.lastTime(ctx, st); err != nil {
			return nil, err
		}
	default:
		return in.Body.Seats, nil
	}

	return slices.DeleteFunc(all, func(seat LineUpSeat) bool { return !plays(g.Present(), seat.TeamID) }), nil
}

// before is how many games before a game may have the line-up of last time.
const before = 20

// lastTime returns who has played for each team of a game when it played last.
func (s *Service) lastTime(ctx context.Context, st *state) (all []LineUpSeat, err error) {
	g := st.game.V()

	rows, _, err := dynamo.Query[item.Row[item.Listing]](ctx, s.DB, tables.PutLineUp, dynamo.Range{
		Key:      dynamo.KeyBetween(tables.PutLineUp, item.SeasonKey(g.SeasonID), item.Games, st.key),
		Backward: true, Consistent: true, Limit: before + 1,
	})
	if err != nil {
		return nil, err
	}

	games := map[string][]string{} // ids of teams by the id of the game

	for _, t := range g.Present() {
		for _, l := range item.Values(rows) {
			if l.GameID != g.ID && l.State != item.Walkover && plays(l.Teams, t.TeamID) && !slices.Contains(l.Absent, t.TeamID) {
				games[l.GameID] = append(games[l.GameID], t.TeamID)
				break
			}
		}
	}

	for _, id := range slices.Sorted(maps.Keys(games)) {
		seats, err := item.List[item.Seat](ctx, s.DB, tables.PutLineUp, item.GameKey(id), item.Rosters)
		if err != nil {
			return nil, err
		}

		for _, seat := range item.Values(seats) {
			if slices.Contains(games[id], seat.TeamID) {
				all = append(all, LineUpSeat{seat.PlayerID, seat.TeamID})
			}
		}
	}

	return all, nil
}

// seat puts players into their teams, and adds the names of all who play to names. move has players change the
// team, and refuses who is not in the league.
func (s *Service) seat(ctx context.Context, st *state, move bool, seats []LineUpSeat, names map[string]string,
	now time.Time) (writes []dynamo.Write, err error) {
	var ids []string
	for _, seat := range seats {
		ids = append(ids, seat.PlayerID)
	}

	for _, r := range st.seats {
		ids = append(ids, r.V().PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.DB, tables.PutLineUp, ids)
	if err != nil {
		return nil, err
	}

	for id, p := range item.CountingNames(players) {
		names[id] = p.Nickname
	}

	var added []string

	for _, seat := range seats {
		p := item.Resolve(seat.PlayerID, players)
		team := st.teamOf(p.ID)

		switch gone := p.LeagueID != st.game.V().LeagueID; {
		case gone && move:
			return nil, item.ErrNoPlayer.In("body.seats")
		case gone || team == seat.TeamID || team != "" && !move:
			continue
		case !plays(st.game.V().Present(), seat.TeamID):
			return nil, errUnderTeam.In("body.seats")
		case slices.Contains(added, p.ID):
			return nil, errSeats
		}

		left, err := st.unseat(p.ID)
		if err != nil {
			return nil, err
		}

		row := item.New(st.game.PK, item.RosterKey(seat.TeamID, p.ID), seatType, item.Seat{TeamID: seat.TeamID, PlayerID: p.ID}, now)
		st.seats = append(st.seats, row)
		added = append(added, p.ID)
		writes = append(append(writes, left...), row.Create(),
			dynamo.CheckWrite(item.Key(item.PlayerKey(p.ID), item.Profile), dynamo.Exists[item.Row[item.Player]]("pk")))
	}

	switch {
	case len(added) == 0:
		return nil, errUnchanged
	case len(added) > MaxLineUp.Max:
		return nil, problem.Beyond(MaxLineUp)
	case len(st.seats) > MaxPlayers.Max:
		return nil, problem.Beyond(MaxPlayers)
	}

	return writes, s.use(ctx, added, now)
}

// use marks players as being in a team, so that they cannot be deleted. It is done before they are, in transactions
// of its own: a player who is marked and in no team after a crash stays in the league.
func (s *Service) use(ctx context.Context, ids []string, now time.Time) error {
	var keys []dynamo.Item
	for _, id := range ids {
		keys = append(keys, item.Key(item.PlayerKey(id), item.Profile))
	}

	rows, err := dynamo.GetAll[item.Row[item.Player]](ctx, s.DB, tables.PutLineUp, keys)
	if err != nil {
		return err
	}

	var writes []dynamo.Write

	for _, row := range rows {
		if row.V().Used {
			continue
		}

		row.V().Used = true
		row, saved := row.Save(now)
		writes = append(writes, saved, row.Mirror(item.LeagueKey(row.V().LeagueID), row.PK))
	}

	if len(writes) == 0 {
		return nil
	}

	return dynamo.Transact(ctx, s.DB, tables.PutLineUp, writes...)
}

// roster returns the answer with the roster, by team and name.
func (st *state) roster(names map[string]string) *Roster {
	out := &Roster{}

	out.Body.Players = []Seat{}
	for _, seat := range item.Values(st.seats) {
		out.Body.Players = append(out.Body.Players, Seat{seat.PlayerID, seat.TeamID, names[seat.PlayerID]})
	}

	slices.SortFunc(out.Body.Players, func(a, b Seat) int {
		return slices.Compare([]string{a.TeamID, a.Nickname, a.PlayerID}, []string{b.TeamID, b.Nickname, b.PlayerID})
	})

	return out
}
