package threefc_test

import (
	"fmt"
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// TestPlayersAreReadOnce: also those into whom others are merged.
func TestPlayersAreReadOnce(t *testing.T) {
	t.Parallel()
	m := club(t)

	path := "/v1/sessions/" + m.l.SessionID + "/availability"
	for i := range 2 {
		m.Do([]string{"sam", "vic"}[i], "POST", "/v1/players/"+m.l.Players[i]+"/claim", nil)
		m.Do([]string{"sam", "vic"}[i], "PUT", path, map[string]any{"status": "in"})
	}

	m.Do("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge", map[string]any{"intoPlayerId": m.l.Players[1]})

	calls := m.CountCalls(func() { m.Do("ann", "GET", path, nil) })
	if calls["BatchGetItem"] != 1 {
		t.Errorf("the players are read %d times", calls["BatchGetItem"])
	}
}

// TestUnits counts what requests cost, with 10 players and no goals, and with 1,000 players
// and 100 goals. What everybody reads must not depend on the number of players.
func TestUnits(t *testing.T) {
	t.Parallel()

	type cost struct{ reads, writes float64 }

	measure := func(players, goals int) map[string]cost {
		m := kickOff(t)

		var rows []item.Row[item.Player]

		for i := range players - len(m.l.Players) {
			p := item.Player{ID: fmt.Sprintf("01JZ%022d", i), LeagueID: m.l.ID, Nickname: fmt.Sprintf("Player %d", i)}
			row := item.New(item.PlayerKey(p.ID), item.Profile, "Player", p, m.Clock.Now())
			mirror := row
			mirror.PK, mirror.SK = item.LeagueKey(m.l.ID), row.PK
			rows = append(rows, row, mirror)
		}

		testkit.PutRows(m.World.World, tables.App, rows...)
		m.plantGoals(goals)

		all := map[string]cost{}
		count := func(name string, do func()) {
			u := m.CountUnits(do)
			all[name] = cost{u.Reads, u.Writes}
		}
		l, game := "/v1/leagues/"+m.l.ID, strings.TrimSuffix(m.path(), "/")
		public := "/v1/public/leagues/parkside/seasons/spring-2026/games/" + m.read().Slug

		count("POST goal", func() { m.score("sam", m.goalOf(0, "blue")) })
		m.Play("sam", m.id)
		count("the tables", func() { m.Aggregate() })

		for name, path := range map[string]string{
			"league":           l,
			"leagues":          "/v1/leagues",
			"players":          l + "/players",
			"season":           "/v1/seasons/" + m.l.SeasonID,
			"teams":            "/v1/seasons/" + m.l.SeasonID + "/teams",
			"games":            "/v1/sessions/" + m.l.SessionID + "/games",
			"game":             game,
			"goals":            game + "/goals",
			"roster":           game + "/roster",
			"audit":            game + "/audit",
			"stats":            "/v1/me/stats",
			"public game":      public,
			"public timeline":  public + "/timeline",
			"public standings": "/v1/public/seasons/" + m.l.SeasonID + "/standings",
			"public leaders":   "/v1/public/seasons/" + m.l.SeasonID + "/leaderboards/players",
			"page home":        "/home",
			"page league":      m.manage()[0],
			"page season":      m.manage()[1],
			"page session":     m.manage()[2],
			"page game":        m.manage()[3],
			"page line-up":     m.manage()[3] + "?ask=line-up",
		} {
			count("GET "+name, func() { m.Do("ann", "GET", path, nil) })
		}

		return all
	}

	few, many := measure(10, 0), measure(1000, 100)
	for name, a := range few {
		b := many[name]
		t.Logf("%-22s %5.1f reads %5.1f writes with 10 players, %5.1f and %5.1f with 1,000 and 100 goals", name,
			a.reads, a.writes, b.reads, b.writes)

		most := cost{20, 0}

		switch name {
		case "POST goal":
			most = cost{20, 12}
		case "the tables":
			most = cost{40, 40}
		case "GET page session", "GET page game":
			most = cost{40, 0}
		case "GET page league", "GET page line-up": // they have all players of a league
			most = cost{80, 0}
		case "GET public game", "GET public standings", "GET public leaders":
			most = a // the audience and the league do not matter
		}

		if b.reads > most.reads || b.writes > most.writes {
			t.Errorf("%s costs %.1f reads and %.1f writes with 1,000 players and 100 goals, more than %.1f and %.1f", name, b.reads,
				b.writes, most.reads, most.writes)
		}
	}
}
