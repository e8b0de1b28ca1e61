package bestshot_test

import (
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/tournament"
)

// TestRulesByName: a tournament has the rule that was named, says its name while the parts match, and
// settles by it. Parts beside a name, and parts that are missing, are refused.
func TestRulesByName(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false) // ann has 2:0 and bob 0:0 for 1:0
	w.Settle()

	path := "/admin/tournaments/" + c.ID
	rule := func() score.Rule {
		return testkit.Decode[tournament.Tournament](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID, nil)).Rule
	}
	parts := map[string]any{"outcome": 2, "homeScore": 0, "awayScore": 0, "goalDifference": 1, "exactScore": 1}

	if got := rule(); got.Name != "outcome" || got.Outcome != 3 {
		t.Errorf("a new tournament has %+v", got)
	}

	for range 2 { // the second changes nothing
		w.Do(root, "PATCH", path, map[string]any{"rule": map[string]any{"name": "kicktipp", "tieBreaks": true}})
		w.Settle()
	}

	if got := rule(); got != (score.Rule{Outcome: 2, GoalDifference: 1, ExactScore: 1, TieBreaks: true, Name: "kicktipp"}) {
		t.Errorf("by its name the rule is %+v", got)
	}

	if got := strings.Join(c.Board("ann"), ", "); got != "1 ann 2, 2 bob 0" {
		t.Errorf("the leaderboard is %s", got)
	}

	w.Do(root, "PATCH", path, map[string]any{"rule": parts})

	if got := rule(); got.Name != "kicktipp" || got.TieBreaks {
		t.Errorf("by its parts the rule is %+v", got)
	}

	parts["exactScore"] = 3
	w.Do(root, "PATCH", path, map[string]any{"rule": parts})

	if got := w.Do("ann", "GET", "/tournaments/"+c.ID, nil).Body; strings.Contains(got, `"name"`) {
		t.Errorf("another rule has a name: %s", got)
	}

	for _, bad := range []struct {
		rule   map[string]any
		status int
		field  string
	}{
		{map[string]any{"name": "kicktipp", "exactScore": 1}, http.StatusBadRequest, "body.rule.exactScore"},
		{map[string]any{"outcome": 1, "homeScore": 0, "awayScore": 0, "goalDifference": 1}, http.StatusBadRequest, "body.rule.exactScore"},
		{map[string]any{}, http.StatusBadRequest, "body.rule.outcome"},
		{map[string]any{"name": "guru"}, http.StatusUnprocessableEntity, "body.rule.name"},
		{map[string]any{"name": ""}, http.StatusUnprocessableEntity, "body.rule.name"},
	} {
		create := tournamentRequest("other")
		create["rule"] = bad.rule

		for _, out := range []struct {
			method, path string
			body         any
		}{{"PATCH", path, map[string]any{"rule": bad.rule}}, {"POST", "/admin/tournaments", create}} {
			got := w.Ask(root, out.method, "/api/v2"+out.path, out.body)
			if got.StatusCode != bad.status || !strings.Contains(got.Body, bad.field) {
				t.Errorf("%s %v: %d %s, want %d at %s", out.method, bad.rule, got.StatusCode, got.Body, bad.status, bad.field)
			}
		}
	}

	create := tournamentRequest("other")
	create["rule"] = map[string]any{"name": "kicktipp"}

	first := w.Do(root, "POST", "/admin/tournaments", create).Body
	if again := w.Do(root, "POST", "/admin/tournaments", create).Body; again != first {
		t.Errorf("got %s and then %s", first, again)
	}
}

// tournamentRequest is a request for a tournament.
func tournamentRequest(slug string) map[string]any {
	return map[string]any{"externalId": "17", "season": bestshottest.Season(slug), "slug": slug, "label": slug}
}
