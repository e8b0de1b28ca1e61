package threefc_test

import (
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// TestNamesThatAreHidden: on public pages and in public answers nobody finds the name of a player who shows initials,
// or no name. Members see it, and so do other players of the league see what everybody sees.
func TestNamesThatAreHidden(t *testing.T) {
	t.Parallel()
	m := club(t)
	ada, cy, gus := m.l.Players[0], m.l.Players[2], m.l.Players[6]
	m.Do("ann", "PATCH", "/v1/players/"+cy, map[string]any{"nickname": "Cyrano Bergerac", "avatar": "🦊"})
	m.Do("ann", "PATCH", "/v1/players/"+gus, map[string]any{"nickname": "Gustave"})
	m.played() // vic has claimed Ada

	rest := "spring-2026/" + m.read().Slug
	public := []string{"/l/parkside", "/l/parkside/spring-2026", "/l/parkside/" + rest, "/l/parkside/spring-2026/calendar.ics",
		"/v1/public/leagues/parkside/seasons/spring-2026/games/" + m.read().Slug,
		"/v1/public/leagues/parkside/seasons/spring-2026/games/" + m.read().Slug + "/timeline",
		"/v1/public/seasons/" + m.l.SeasonID + "/standings", "/v1/public/seasons/" + m.l.SeasonID + "/leaderboards/players"}
	all := func(user string, targets ...string) (text string) {
		for _, target := range targets {
			text += m.Do(user, "GET", target, nil).Body
		}

		return text
	}

	if text := all("", public...); !strings.Contains(text, "Ada") || !strings.Contains(text, "Cyrano") || !strings.Contains(text, "Gustave") {
		t.Fatal("before a choice the names are not there")
	}

	m.Do("vic", "PATCH", "/v1/players/"+ada, map[string]any{"display": "hidden"})
	m.Do("ann", "PATCH", "/v1/players/"+cy, map[string]any{"display": "initials"})
	m.Do("ann", "POST", "/v1/players/"+gus+"/merge", map[string]any{"intoPlayerId": ada})
	m.Aggregate()

	text := all("", public...)
	for _, name := range []string{"Ada", "Cyrano", "Bergerac", "Gustave", `"display"`} {
		if strings.Contains(text, name) {
			t.Errorf("everybody finds %s", name)
		}
	}

	if !strings.Contains(text, "C.B.") || !strings.Contains(text, "🦊") || !strings.Contains(text, item.Nobody) {
		t.Error("nobody finds the initials and who has no name")
	}

	members := all("sam", "/members/parkside?season=spring-2026", "/members/parkside?season=spring-2026&game="+m.read().Slug,
		"/v1/seasons/"+m.l.SeasonID+"/tables", "/v1/leagues/"+m.l.ID+"/players", m.path("roster"))
	for _, name := range []string{"Ada", "Cyrano Bergerac", "Gustave", `"display":"hidden"`, `"display":"initials"`, `"display":"name"`} {
		if !strings.Contains(members, name) {
			t.Errorf("members do not find %s", name)
		}
	}

	meeting := m.tomorrow()
	m.Do("vic", "PUT", meeting, map[string]any{"status": "in"})
	m.Do("eve", "POST", "/v1/players/"+m.l.Players[4]+"/claim", m.coded())
	same(t, "the names for a member, and for another player",
		[]bool{strings.Contains(all("sam", meeting), "Ada"), strings.Contains(all("eve", meeting), "Ada")}, []bool{true, false})
}

// TestWhoHidesANameOfAPlayer: the user who has claimed the player, and administrators. A scorekeeper may not. An old
// row has a name.
func TestWhoHidesANameOfAPlayer(t *testing.T) {
	t.Parallel()
	m := club(t)
	ada := "/v1/players/" + m.l.Players[0]

	if row := testkit.Row[stored](m.World.World, tables.App, item.PlayerKey(m.l.Players[0]), item.Profile); strings.Contains(row["data"].(string),
		"display") {
		t.Fatalf("the row is %v", row)
	}

	get := func() string { return decode[struct{ Display string }](m, "sam", "GET", ada, nil).Display }
	same(t, "of an old row", get(), "name")
	same(t, "the same choice, which changes nothing", testkit.Header(m.Do("ann", "PATCH", ada, map[string]any{"display": "name"})).Get("ETag"),
		testkit.Header(m.Do("sam", "GET", ada, nil)).Get("ETag"))
	refused(t, "a scorekeeper", m.Ask("sam", "PATCH", ada, map[string]any{"display": "hidden"}), 403, "admin_required")
	refused(t, "a viewer", m.Ask("vic", "PATCH", ada, map[string]any{"display": "hidden"}), 403, "scorekeeper_required")
	m.Do("vic", "POST", ada+"/claim", nil)
	m.Do("vic", "PATCH", ada, map[string]any{"display": "hidden"})
	same(t, "by the player", get(), "hidden")
	m.Do("ann", "PATCH", ada, map[string]any{"display": "initials"})
	same(t, "by an administrator", get(), "initials")
	m.Do("sam", "PATCH", ada, map[string]any{"nickname": "Ace"})
	same(t, "after a new name", get(), "initials")

	// The page of a code names those who can be claimed as everybody sees them, and nobody who is hidden.
	m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[1], map[string]any{"display": "hidden"})
	m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[2], map[string]any{"display": "initials"})

	page := m.show("eve", "/join/"+m.code(), 200, ">C.</option>")
	if strings.Contains(page, ">Cy<") || strings.Contains(page, m.l.Players[1]) || !strings.Contains(page, ">Di<") {
		t.Errorf("the page is %s", page)
	}
}
