package threefc_test

import (
	"fmt"
	"strings"
	"testing"

	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
)

// lineUp puts players on the roster, and returns it as "Ada blue".
func (m *match) lineUp(body map[string]any) string {
	m.T.Helper()

	var all []string

	out := decode[struct{ Players []game.Seat }](m, "sam", "POST", m.path("line-up"), body).Players
	for _, p := range out {
		all = append(all, p.Nickname+" "+p.TeamID)
	}

	same(m.T, "the roster", decode[struct{ Players []game.Seat }](m, "vic", "GET", m.path("roster"), nil).Players, out)
	m.consistent()

	return strings.Join(all, ", ")
}

// squad stores the squad of a team.
func (m *match) squad(team string, players ...int) {
	m.T.Helper()

	ids := []string{}
	for _, i := range players {
		ids = append(ids, m.l.Players[i])
	}

	m.Do("sam", "PUT", "/v1/seasons/"+m.l.SeasonID+"/teams/"+team+"/squad", map[string]any{"playerIds": ids})
}

// gameAt creates another game of the session, whose roster is empty, and goes on with it.
func (m *match) gameAt(hour int) {
	m.T.Helper()
	m.id = decode[struct{ GameID string }](m, "sam", "POST", "/v1/sessions/"+m.l.SessionID+"/games",
		map[string]any{"gameStartTs": fmt.Sprintf("2026-06-06T%d:00:00Z", hour), "thirdLength": 20}).GameID
}

// TestLineUpOfSquads: twice it is the same, and who is on the roster stays.
func TestLineUpOfSquads(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.gameAt(20)
	m.squad("red", 0, 1)
	m.squad("blue", 3, 1) // a player of two squads plays for the first team
	m.squad("yellow")
	m.Do("sam", "PUT", m.path("roster", m.l.Players[0]), map[string]any{"teamId": "yellow"})

	want := "Bo blue, Di blue, Ada yellow"
	for range 2 {
		same(t, "the line-up", m.lineUp(map[string]any{"from": "squad"}), want)
	}

	squads := decode[struct{ Squads []item.Squad }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Squads
	same(t, "the squads", fmt.Sprint(len(squads), squads[0].PlayerIDs), fmt.Sprint(3, []string{m.l.Players[3], m.l.Players[1]}))

	m.gameAt(21)
	m.Do("sam", "PATCH", m.path(), map[string]any{"absentTeamIds": []string{"blue"}})
	m.Do("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge", map[string]any{"intoPlayerId": m.l.Players[8]})
	same(t, "without a team, with a merged player", m.lineUp(map[string]any{"from": "squad"}), "Bo red, Ida red")

	m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID+"/teams/red", nil)
	same(t, "the squads of who is left",
		len(decode[struct{ Squads []item.Squad }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Squads), 2)
}

// TestLineUpOfLastTime: of each team the players of its latest game before.
func TestLineUpOfLastTime(t *testing.T) {
	t.Parallel()
	m := club(t) // with a roster at 18:00
	m.gameAt(19)
	m.Do("sam", "PATCH", m.path(), map[string]any{"absentTeamIds": []string{"yellow"}})
	m.lineUp(map[string]any{"from": "list", "seats": []any{map[string]any{"playerId": m.l.Players[5], "teamId": "red"}}})
	m.gameAt(17) // before both: nobody has played yet
	same(t, "the first game", m.lineUp(map[string]any{"from": "last"}), "")
	m.gameAt(20)
	same(t, "the game after both", m.lineUp(map[string]any{"from": "last"}), "Flo red, Gus yellow, Hal yellow, Ida yellow")
}

// TestLineUpOfAList: players change the team by it.
func TestLineUpOfAList(t *testing.T) {
	t.Parallel()
	m := club(t)
	seat := func(player, team string) map[string]any { return map[string]any{"playerId": player, "teamId": team} }
	list := func(seats ...any) map[string]any { return map[string]any{"from": "list", "seats": seats} }

	same(t, "the line-up", m.lineUp(list(seat(m.l.Players[0], "blue"), seat(m.l.Players[3], "blue"), seat(m.l.Players[4], "red"))),
		"Ada blue, Di blue, Flo blue, Bo red, Cy red, Ed red, Gus yellow, Hal yellow, Ida yellow")

	for _, c := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{"from": "list"}, "422 bad_line_up"},
		{map[string]any{"from": "squad", "seats": []any{seat(m.l.Players[0], "red")}}, "422 bad_line_up"},
		{list(seat(m.l.Players[0], "red"), seat(m.l.Players[0], "yellow")), "422 bad_line_up"},
		{list(seat("nobody", "red")), "404 player_not_found"},
		{list(seat(m.l.Players[0], "pink")), "422 unknown_team"},
		{map[string]any{"from": "luck"}, "422 invalid"},
	} {
		same(t, fmt.Sprint(c.body), code(m.Ask("sam", "POST", m.path("line-up"), c.body)), c.want)
	}

	m.step("thirds/1/start")
	g := m.goalOf(0, "yellow")
	g.Scoring = "blue"
	m.score("sam", g)
	refused(t, "who has scored", m.Ask("sam", "POST", m.path("line-up"), list(seat(m.l.Players[0], "red"))), 409, "player_has_goals")
	m.Play("sam", m.id)
	refused(t, "a finished game", m.Ask("sam", "POST", m.path("line-up"), list(seat(m.l.Players[3], "red"))), 409, "game_finished")
}

// TestLineUpOfMany: of as many new players as a squad may have, in all teams at once.
func TestLineUpOfMany(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.gameAt(20)

	for i, team := range sides {
		var ids []string
		for n := range 15 {
			ids = append(ids, decode[struct{ PlayerID string }](m, "sam", "POST", "/v1/players",
				map[string]any{"leagueId": m.l.ID, "nickname": fmt.Sprintf("P%d-%d", i, n)}).PlayerID)
		}

		m.Do("sam", "PUT", "/v1/seasons/"+m.l.SeasonID+"/teams/"+team+"/squad", map[string]any{"playerIds": ids})
	}

	same(t, "the roster", strings.Count(m.lineUp(map[string]any{"from": "squad"}), ",")+1, 45)
	m.lineUp(map[string]any{"from": "list", "seats": []any{map[string]any{"playerId": m.l.Players[0], "teamId": "red"}}})
	m.gameAt(21)
	refused(t, "46 at once", m.Ask("sam", "POST", m.path("line-up"), map[string]any{"from": "last"}), 409, "too_many_players_at_once")
}

func TestBadSquads(t *testing.T) {
	t.Parallel()
	m := club(t)
	other := m.FoundAs("eve", "Other")
	path := "/v1/seasons/" + m.l.SeasonID + "/teams/"

	for _, c := range []struct {
		team    string
		players []string
		want    string
	}{
		{"red", []string{"nobody"}, "404 player_not_found"},
		{"red", other.Players[:1], "404 player_not_found"},
		{"red", []string{m.l.Players[0], m.l.Players[0]}, "422 invalid"},
		{"red", make([]string, 16), "422 invalid"},
		{"pink", m.l.Players[:1], "404 acl_scope_not_found"},
	} {
		same(t, fmt.Sprint(c), code(m.Ask("sam", "PUT", path+c.team+"/squad", map[string]any{"playerIds": c.players})), c.want)
	}

	same(t, "no squad", len(decode[struct{ Squads []item.Squad }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Squads), 0)
}

// TestSquadOfNoIDs: what is no id of a player is no player.
func TestSquadOfNoIDs(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, id := range []string{"", "x", strings.Repeat("a", 5000)} {
		refused(t, "an id of "+fmt.Sprint(len(id))+" characters", m.Ask("sam", "PUT", "/v1/seasons/"+m.l.SeasonID+"/teams/red/squad",
			map[string]any{"playerIds": []string{id}}), 404, "player_not_found")
	}
}
