package threefc_test

import (
	"errors"
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/takedown"
)

// takeDown has an operator take something down.
func (m *match) takeDown(in takedown.TakeDown) (takedown.Taken, error) {
	m.T.Helper()
	return testkit.Open(m.World.World, takedown.Function(), takedown.Open).TakeDown(m.NewContext(), in)
}

// TestTakeDownOfALeaguesName: neither the name nor the slug leads to the league any more. The league
// stays.
func TestTakeDownOfALeaguesName(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, name := range []string{"parkside", m.l.ID} { // the second time by the id, because the slug is gone
		got, err := m.takeDown(takedown.TakeDown{League: name})
		testkit.Must(t, err)
		same(t, "the answer", got, takedown.Taken{LeagueID: m.l.ID, Name: takedown.LeagueName})
	}

	same(t, "the page by the old slug", m.Ask("", "GET", "/l/parkside/spring-2026", nil).StatusCode, 404)

	page := m.Do("", "GET", "/l/"+m.l.ID+"/"+m.l.SeasonID, nil).Body
	if !strings.Contains(page, takedown.LeagueName) || strings.Contains(strings.ToLower(page), "parkside") {
		t.Errorf("the page is %s", page)
	}

	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "parkside"}) // it is free
	same(t, "the page by a new slug", m.Ask("", "GET", "/l/parkside/spring-2026", nil).StatusCode, 200)

	page404 := func(what string, slugs ...string) {
		t.Helper()

		for range 2 {
			_, err := m.takeDown(takedown.TakeDown{League: m.l.ID})
			testkit.Must(t, err)
		}

		for _, slug := range slugs {
			same(t, what+": the page by "+slug, m.Ask("", "GET", "/l/"+slug+"/spring-2026", nil).StatusCode, 404)
		}
	}
	page404("of the new slug", "parkside")
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "northside"})
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "league-abcdefghij"})
	page404("of two new slugs", "northside", "league-abcdefghij")
}

// TestTakeDownOfAPlayersName: tables and timelines have the new name.
func TestTakeDownOfAPlayersName(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[0], map[string]any{"nickname": "Rude", "avatar": "🦊"})
	m.played()

	got, err := m.takeDown(takedown.TakeDown{PlayerID: m.l.Players[0]})
	testkit.Must(t, err)
	same(t, "the answer", got, takedown.Taken{LeagueID: m.l.ID, PlayerID: m.l.Players[0], Name: takedown.PlayerName})
	m.Aggregate()
	same(t, "the leaders", strings.Contains(m.leaders(), takedown.PlayerName+" 1 0 1"), true)

	for _, r := range everything(m.World) {
		if text, _ := r["data"].(string); r["entityType"] != "Answer" && (strings.Contains(text, "Rude") || strings.Contains(text, "🦊")) {
			t.Errorf("%v %v has the name: %s", r["pk"], r["sk"], text)
		}
	}
}

// TestTakeDownOfALeague: nothing is left of it.
func TestTakeDownOfALeague(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()

	for _, name := range []string{"parkside", m.l.ID} {
		got, err := m.takeDown(takedown.TakeDown{League: name, Delete: true})
		testkit.Must(t, err)
		same(t, "the answer", got, takedown.Taken{LeagueID: m.l.ID, Deleted: true})
	}

	same(t, "what is left", m.kinds(), []string(nil))
}

// TestTakeDownIsRefused: without one thing that exists.
func TestTakeDownIsRefused(t *testing.T) {
	t.Parallel()
	m := club(t)

	for code, all := range map[string][]takedown.TakeDown{
		"nothing_to_take_down": {{}, {Delete: true}, {League: "parkside", PlayerID: m.l.Players[0]}, {PlayerID: m.l.Players[0], Delete: true}},
		"acl_scope_not_found":  {{League: "nowhere"}, {League: "nowhere", Delete: true}, {League: m.l.Players[0]}},
		"player_not_found":     {{PlayerID: m.l.ID}},
	} {
		for _, in := range all {
			_, err := m.takeDown(in)
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != code {
				t.Errorf("%+v: %v, want %s", in, err, code)
			}
		}
	}
}
