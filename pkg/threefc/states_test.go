package threefc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// put sets the state of the game, and returns the game.
func (m *match) put(user string, body map[string]any) game.Game {
	m.T.Helper()
	return decode[game.Game](m, user, "PUT", m.path("state"), body)
}

// shownAs is a game in a few words.
func shownAs(g game.Game) string {
	text := fmt.Sprint(g.Status, " ", g.State, " ", g.Absent)
	if g.Result != nil {
		text += fmt.Sprint(" ", g.Result.Winner, g.Result.Drawn)
	}

	return text
}

// onPages checks that the page of the game, that of the season and the calendar have texts.
func (m *match) onPages(game, season, calendar string) {
	m.T.Helper()

	slug := m.read().Slug
	for path, want := range map[string]string{"/" + slug: game, "": season, "/calendar.ics": calendar} {
		if body := m.Do("", "GET", "/l/parkside/spring-2026"+path, nil).Body; !strings.Contains(body, want) {
			m.T.Errorf("%q does not contain %q:\n%s", path, want, body)
		}
	}
}

func TestPostponedGame(t *testing.T) {
	t.Parallel()
	m := club(t)
	same(t, "the game", shownAs(m.put("sam", map[string]any{"state": "postponed"})), "scheduled postponed []")
	m.onPages("EventPostponed", "EventPostponed", "STATUS:TENTATIVE")
	m.onPages("Postponed: there is no new time yet.", "Postponed", "DESCRIPTION:Parkside\\, Spring 2026\\nPostponed")
	m.consistent()

	moved := decode[game.Game](m, "sam", "PATCH", m.path(), map[string]any{"gameStartTs": "2026-06-07T18:00:00Z"})
	same(t, "with a new time", shownAs(moved), "scheduled  []")
	m.put("sam", map[string]any{"state": "postponed"})
	m.step("thirds/1/start")
	same(t, "once it has begun", shownAs(m.read()), "live  []")
	refused(t, "a game that has begun", m.Ask("sam", "PUT", m.path("state"), map[string]any{"state": "postponed"}), 409, "game_started")
	m.consistent()
}

func TestAbandonedGame(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := m.goalOf(0, "blue")
	g.EventID = m.eventID()
	m.score("sam", g)
	same(t, "without a result", shownAs(m.put("sam", map[string]any{"state": "abandoned"})), "finished abandoned []")

	if m.read().Running != 0 {
		t.Error("the third runs on")
	}

	m.onPages("Abandoned: the game has no result.", "Abandoned", "Abandoned")
	m.consistent()
	m.settle()
	same(t, "the tables without it", m.standings()+m.leaders(), "")
	refused(t, "the next third", m.Ask("sam", "POST", m.path("thirds/2/start"), map[string]any{}), 409, "game_finished")
	refused(t, "a goal", m.Ask("sam", "POST", m.path("goals"), m.goalOf(1, "blue")), 409, "game_finished")
	refused(t, "another state", m.Ask("sam", "PUT", m.path("state"), map[string]any{"state": "abandoned", "resultStands": true}),
		409, "game_finished")

	m.step("reopen")
	same(t, "reopened", shownAs(m.read()), "live  []")
	same(t, "with its result", shownAs(m.put("sam", map[string]any{"state": "abandoned", "resultStands": true})),
		"finished abandoned [] red[]")
	m.onPages("Abandoned: the result stands.", "Red won (abandoned)", "Red won (abandoned)")
	m.settle()
	same(t, "the tables with it", m.standings()+"; "+m.leaders(), "1 red 1-1-0-0, 2 yellow 1-0-0-1, 3 blue 1-0-0-1; Ada 1 0 1")

	m.Do("ann", "DELETE", m.path("goals", g.EventID), nil)
	same(t, "with a correction", shownAs(m.read()), "finished abandoned [] [blue red yellow]")
	m.settle()
	same(t, "the tables then", m.standings(), "1 blue 1-0-1-0, 1 red 1-0-1-0, 1 yellow 1-0-1-0")
	same(t, "the log", m.corrections(), []string{"sam finish", "ann reopen", "sam finish", "ann delete 1/0'"})
	m.consistent()
}

func TestWalkover(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		absent                    []string
		game, page, season, table string
	}{
		{[]string{"yellow", "blue"}, "finished walkover [blue yellow] red[]", "Blue and Yellow did not come: Red won.",
			"Red won (walkover)", "1 red 1-1-0-0 3, 2 blue 1-0-0-1 0, 2 yellow 1-0-0-1 0"},
		{[]string{"yellow"}, "finished walkover [yellow] [blue red]", "Yellow did not come: a draw between Blue and Red.",
			"Draw: Blue and Red (walkover)", "1 blue 1-0-1-0 1, 1 red 1-0-1-0 1, 3 yellow 1-0-0-1 0"},
	} {
		m := club(t)
		m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"rules": map[string]any{"order": []string{"points"}}})
		same(t, "the game", shownAs(m.put("sam", map[string]any{"state": "walkover", "absentTeamIds": c.absent})), c.game)
		m.onPages(c.page, c.season, c.season)
		m.settle()
		same(t, "the tables", m.standings(), c.table)
		same(t, "the players", m.leaders(), "")
		m.consistent()

		m.step("reopen")
		same(t, "reopened", m.read().Status, "scheduled")
		m.Do("sam", "PATCH", m.path(), map[string]any{"absentTeamIds": []string{}})
		m.settle()
		same(t, "the tables without it", m.standings(), "")
		m.step("thirds/1/start")
		refused(t, "a game that has begun", m.Ask("sam", "PUT", m.path("state"),
			map[string]any{"state": "walkover", "absentTeamIds": c.absent}), 409, "game_started")
	}
}

// TestGameOfTwoTeams: where one is missing the others play, and it has lost.
func TestGameOfTwoTeams(t *testing.T) {
	t.Parallel()
	m := club(t)
	got := decode[game.Game](m, "sam", "PATCH", m.path(), map[string]any{"absentTeamIds": []string{"yellow"}})
	same(t, "the game", shownAs(got), "scheduled  [yellow]")
	m.onPages("Yellow is missing.", "", "")
	refused(t, "a player of the missing team", m.Ask("sam", "PUT", m.path("roster", m.l.Players[8]), map[string]any{"teamId": "yellow"}),
		422, "unknown_team")
	m.step("thirds/1/start")
	refused(t, "a goal of the missing team", m.Ask("sam", "POST", m.path("goals"), m.goalOf(8, "blue")), 422, "unknown_team")
	refused(t, "a goal against the missing team", m.Ask("sam", "POST", m.path("goals"), m.goalOf(0, "yellow")), 422, "unknown_team")
	refused(t, "another missing team", m.Ask("sam", "PATCH", m.path(), map[string]any{"absentTeamIds": []string{"red"}}), 409, "game_started")
	m.score("sam", m.goalOf(0, "blue"))
	m.Play("sam", m.id)
	same(t, "the result", shownAs(m.read()), "finished  [yellow] red[]")
	m.onPages("Red won and conceded fewest: no goals. Yellow did not come.", "Red won", "Red won")
	m.settle()
	same(t, "the tables", m.standings()+"; "+m.leaders(), "1 red 1-1-0-0, 2 yellow 1-0-0-1, 3 blue 1-0-0-1; Ada 1 0 1")
	m.consistent()
}

func TestBadStates(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, c := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{"state": "cancelled"}, "422 invalid"},
		{map[string]any{}, "422 invalid"},
		{map[string]any{"state": "walkover"}, "422 teams_missing"},
		{map[string]any{"state": "walkover", "absentTeamIds": []string{"red", "blue", "yellow"}}, "422 invalid"},
		{map[string]any{"state": "walkover", "absentTeamIds": []string{"pink"}}, "422 unknown_team"},
		{map[string]any{"state": "postponed", "absentTeamIds": []string{"red"}}, "422 teams_missing"},
		{map[string]any{"state": "postponed", "resultStands": true}, "422 no_result"},
		{map[string]any{"state": "abandoned", "resultStands": true}, "422 no_result"},
	} {
		same(t, fmt.Sprint(c.body), code(m.Ask("sam", "PUT", m.path("state"), c.body)), c.want)
	}

	same(t, "the game", shownAs(m.read()), "scheduled  []")
}

// TestStateTwice: the second request changes nothing, also without a key.
func TestStateTwice(t *testing.T) {
	t.Parallel()

	for _, body := range []map[string]any{
		{"state": "postponed"}, {"state": "abandoned"}, {"state": "walkover", "absentTeamIds": []string{"red", "blue"}},
	} {
		m := club(t)
		m.put("sam", body)
		before := testkit.Row[item.Row[item.Game]](m.World.World, tables.App, item.GameKey(m.id), item.Metadata)
		m.put("sam", body)
		after := testkit.Row[item.Row[item.Game]](m.World.World, tables.App, item.GameKey(m.id), item.Metadata)
		same(t, fmt.Sprint(body), after.Rev, before.Rev)
	}
}

// TestGameOfAnEarlierRelease: a row without a state and missing teams is played, and its listing is as it was.
func TestGameOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.Play("sam", m.id)

	for _, key := range [][2]string{
		{item.GameKey(m.id), item.Metadata}, {item.SeasonKey(m.l.SeasonID), item.StartKey("2026-06-06T18:00:00Z", m.id)},
	} {
		data := fmt.Sprint(testkit.Row[stored](m.World.World, tables.App, key[0], key[1])["data"])
		if strings.Contains(data, "state") || strings.Contains(data, "absent") {
			t.Errorf("%s %s is %s, want a row as earlier releases write it", key[0], key[1], data)
		}
	}
}

// TestTablesAfterAnyEvents: the tables of a season are the sums over its games, whatever has happened to them and in
// which order.
func TestTablesAfterAnyEvents(t *testing.T) {
	t.Parallel()

	for seed := range uint64(4) {
		m := club(t)
		r := rand.New(rand.NewPCG(seed, 1))
		games := []string{m.id}

		for n := range 2 {
			games = append(games, decode[struct{ GameID string }](m, "sam", "POST", "/v1/sessions/"+m.l.SessionID+"/games",
				map[string]any{"gameStartTs": fmt.Sprintf("2026-06-06T1%d:00:00Z", n), "thirdLength": 20}).GameID)
		}

		events := []func(){
			func() {
				m.Ask("ann", "POST", m.path("thirds", fmt.Sprint(1+r.IntN(3)), []string{"start", "finish"}[r.IntN(2)]), map[string]any{})
			},
			func() {
				g := m.goalOf(r.IntN(9), sides[r.IntN(3)])
				g.Third = 1 + r.IntN(3)
				m.Ask("ann", "POST", m.path("goals"), g)
			},
			func() {
				player := r.IntN(9)
				m.Ask("ann", "PUT", m.path("roster", m.l.Players[player]), map[string]any{"teamId": sides[player/3]})
			},
			func() { m.Ask("ann", "POST", m.path("finish"), nil) },
			func() { m.Ask("ann", "POST", m.path("reopen"), nil) },
			func() { m.Ask("ann", "PATCH", m.path(), map[string]any{"absentTeamIds": sides[:r.IntN(2)]}) },
			func() { m.Ask("ann", "PUT", m.path("state"), map[string]any{"state": "postponed"}) },
			func() {
				m.Ask("ann", "PUT", m.path("state"), map[string]any{"state": "abandoned", "resultStands": r.IntN(2) == 0})
			},
			func() {
				if r.IntN(4) == 0 {
					m.Ask("ann", "PUT", m.path("state"), map[string]any{"state": "walkover", "absentTeamIds": sides[:1+r.IntN(2)]})
				}
			},
			func() { m.Aggregate() },
		}
		playOn := func() { // the next step of a game that is played to its end
			for n := range 3 {
				m.Ask("ann", "POST", m.path("thirds", fmt.Sprint(n+1), "start"), map[string]any{})
				events[1]()
				m.Ask("ann", "POST", m.path("thirds", fmt.Sprint(n+1), "finish"), map[string]any{})
			}

			m.Ask("ann", "POST", m.path("finish"), nil)
		}
		events = append(events, playOn)

		for range 80 {
			m.id = games[r.IntN(len(games))]
			events[r.IntN(len(events))]()
		}

		m.settle()
		m.compareTables(games)
	}
}

// compareTables compares the tables of the season with the sums over games, as the API has them.
func (m *match) compareTables(games []string) {
	m.T.Helper()

	teams, players := map[string]standing.TeamStanding{}, map[string][2]int{} // games and goals

	for _, m.id = range games {
		g := m.read()
		m.consistent()

		if g.Result == nil {
			continue
		}

		for i, team := range g.Teams {
			s := teams[team.TeamID]
			s.TeamID, s.Name, s.Color = team.TeamID, team.Name, team.Color
			s.Played++
			s.Scored += g.Scores[i].Scored
			s.Conceded += g.Scores[i].Conceded
			s.OwnGoals += g.Scores[i].Own
			s.PerGame = standing.PerGame(s.Scored, s.Played)

			switch {
			case g.Result.Winner == team.TeamID:
				s.Wins++
			case slices.Contains(g.Result.Drawn, team.TeamID):
				s.Draws++
			default:
				s.Losses++
			}

			teams[team.TeamID] = s
		}

		if g.State == "walkover" {
			continue
		}

		for _, seat := range decode[struct{ Players []game.Seat }](m, "ann", "GET", m.path("roster"), nil).Players {
			p := players[seat.Nickname]
			players[seat.Nickname] = [2]int{p[0] + 1, p[1]}

			for _, one := range m.goals() {
				if one.Scorer == seat.PlayerID && !one.OwnGoal {
					p := players[seat.Nickname]
					players[seat.Nickname] = [2]int{p[0], p[1] + 1}
				}
			}
		}
	}

	public := "/v1/public/seasons/" + m.l.SeasonID

	got := map[string]standing.TeamStanding{}
	for _, s := range decode[struct{ Teams []standing.TeamStanding }](m, "", "GET", public+"/standings", nil).Teams {
		s.Rank = 0
		got[s.TeamID] = s
	}

	same(m.T, "the standings", got, teams)

	leaders := map[string][2]int{}
	for _, p := range decode[struct{ Players []standing.PlayerTotals }](m, "", "GET", public+"/leaderboards/players", nil).Players {
		leaders[p.Nickname] = [2]int{p.Games, p.Goals}
	}

	same(m.T, "the players", leaders, players)
}
