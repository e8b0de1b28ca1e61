package threefc_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// standings are the places of the teams, "1 red 3/1" with points and games played.
func (m *match) standings() string {
	m.T.Helper()

	var all []string

	for _, s := range decode[struct{ Teams []standing.TeamStanding }](m, "", "GET", "/v1/public/seasons/"+m.l.SeasonID+"/standings", nil).Teams {
		text := fmt.Sprint(s.Rank, " ", s.TeamID, " ", s.Played, "-", s.Wins, "-", s.Draws, "-", s.Losses)
		if s.Points != nil {
			text += fmt.Sprint(" ", *s.Points)
		}

		all = append(all, text)
	}

	return strings.Join(all, ", ")
}

// TestRulesOfASeasonChange: at any time, with the tables of all games that are finished, and with who has made the
// change.
func TestRulesOfASeasonChange(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/seasons/" + m.l.SeasonID
	m.played()
	same(t, "by default", m.standings(), "1 red 1-1-0-0, 2 blue 1-0-0-1, 3 yellow 1-0-0-1")

	rules := map[string]any{"points": map[string]any{"win": 2, "draw": 1, "loss": 0}, "order": []string{"points", "name"}}
	got := decode[season.Season](m, "ann", "PATCH", path, map[string]any{"rules": rules}).Rules
	m.Aggregate()
	same(t, "with points", m.standings(), "1 red 1-1-0-0 2, 2 blue 1-0-0-1 0, 3 yellow 1-0-0-1 0")

	if len(got.Changes) != 1 || got.Changes[0].By != "ann" || got.Changes[0].Points.Win != 2 {
		t.Errorf("the changes are %+v, want one of ann", got.Changes)
	}

	m.Do("ann", "PATCH", path, map[string]any{"rules": rules})
	m.Do("ann", "PATCH", path, map[string]any{"rules": map[string]any{"order": []string{"conceded"}}})
	m.lose() // the sweep of the outbox has the tables computed
	m.settle()
	same(t, "without points", m.standings(), "1 blue 1-0-0-1, 1 red 1-1-0-0, 3 yellow 1-0-0-1")

	now := decode[season.Season](m, "vic", "GET", path, nil).Rules
	same(t, "the rules", fmt.Sprint(now.Points, now.Order, len(now.Changes)), "{{} 2 1 0} [conceded] 2")

	for n := range item.MaxRuleChanges {
		m.Do("ann", "PATCH", path, map[string]any{"rules": map[string]any{"order": [][]string{{"points"}, {"wins"}}[n%2]}})
	}

	same(t, "the changes that are kept", len(decode[season.Season](m, "vic", "GET", path, nil).Rules.Changes), item.MaxRuleChanges)
	copied := decode[season.Season](m, "ann", "POST", path+"/copy", map[string]any{"name": "Autumn"}).Rules
	same(t, "the rules of the next season", fmt.Sprint(copied.Points.Win, copied.Order), "2 [wins]")

	page := m.Do("", "GET", "/l/parkside/spring-2026", nil).Body
	if !strings.Contains(page, "<caption>More wins.</caption>") {
		t.Errorf("the page does not have the order of its table: %s", page)
	}
}

func TestBadRules(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, c := range []struct {
		rules any
		field string
	}{
		{map[string]any{"points": map[string]any{"win": 1, "draw": 2, "loss": 0}}, "body.rules.points"},
		{map[string]any{"points": map[string]any{"win": 1, "draw": 0, "loss": 1}}, "body.rules.points"},
		{map[string]any{"points": map[string]any{"win": 11, "draw": 0, "loss": 0}}, "body.rules.points.win"},
		{map[string]any{"points": map[string]any{"win": 1, "draw": 0}}, "body.rules.points"},
		{map[string]any{"order": []string{}}, "body.rules.order"},
		{map[string]any{"order": []string{"wins", "wins"}}, "body.rules.order"},
		{map[string]any{"order": []string{"luck"}}, "body.rules.order[0]"},
	} {
		for method, path := range map[string]string{"PATCH": "/v1/seasons/" + m.l.SeasonID, "POST": "/v1/leagues/" + m.l.ID + "/seasons"} {
			out := m.Ask("ann", method, path, map[string]any{"name": "Any", "rules": c.rules})
			if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, c.field); err != nil {
				t.Errorf("%v: %v", c.rules, err)
			}
		}
	}
}

// TestSeasonWithoutRules: a row of an earlier release has the defaults, and its table too.
func TestSeasonWithoutRules(t *testing.T) {
	t.Parallel()
	m := club(t)
	row := testkit.Row[stored](m.World.World, tables.App, item.SeasonKey(m.l.SeasonID), item.Metadata)

	if strings.Contains(fmt.Sprint(row["data"]), "rules") {
		t.Fatalf("a season with the defaults is %v, want a row as earlier releases have it", row["data"])
	}

	got := decode[season.Season](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID, nil).Rules
	same(t, "the rules", fmt.Sprint(got.Points, got.Order, got.Changes), "{{} 3 1 0} [wins draws conceded scored] []")
}
