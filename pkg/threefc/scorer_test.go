package threefc_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/public"
	"matchday/pkg/threefc/standing"
)

// unknown is a goal of a team without a scorer.
func unknown(scoring, conceding string, guest bool) map[string]any {
	g := map[string]any{"scoringTeamId": scoring, "concedingTeamId": conceding}
	if guest {
		g["guest"] = true
	}

	return g
}

// with returns the fields of a goal with one more.
func with(fields map[string]any, name string, value any) map[string]any {
	all := maps.Clone(fields)
	all[name] = value

	return all
}

// add records a goal of any fields.
func (m *match) add(user string, fields map[string]any) game.Goal {
	m.T.Helper()
	return decode[struct{ Goal game.Goal }](m, user, "POST", m.path("goals"), fields).Goal
}

// TestGoalWithoutAScorer: it counts for the teams, and for no player until its scorer is named.
func TestGoalWithoutAScorer(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	first := m.add("sam", unknown("red", "blue", false))
	guest := m.add("sam", unknown("red", "yellow", true))
	same(t, "the scorers", [3]any{first.Scorer, guest.Scorer, guest.Guest}, [3]any{"", "", true})
	m.consistent()

	league := "/v1/public/leagues/" + m.l.ID + "/seasons/" + m.l.SeasonID + "/games/" + m.id
	all := decode[struct{ Goals []public.PublicGoal }](m, "", "GET", league+"/timeline", nil).Goals
	same(t, "what everybody sees", [3]any{all[0].Scorer, all[1].Scorer, all[0].Guest != all[1].Guest}, [3]any{"", "", true})

	page := m.show("", "/l/"+m.l.ID+"/"+m.l.SeasonID+"/"+m.id, 200, "<b>a guest</b>")
	if !strings.Contains(page, "<b>a player</b>") {
		t.Errorf("the page does not have the goal without a scorer:\n%s", page)
	}

	m.step("thirds/1/finish")
	m.Do("sam", "PATCH", m.path("goals", first.EventID), with(unknown("red", "blue", false), "scorerPlayerId", m.l.Players[0]))
	m.step("thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish", "finish")
	m.Aggregate()

	leaders := func() (all []string) {
		type table struct{ Players []standing.PlayerTotals }

		for _, p := range decode[table](m, "", "GET", "/v1/public/seasons/"+m.l.SeasonID+"/leaderboards/players", nil).Players {
			if p.Goals > 0 {
				all = append(all, p.Nickname+strings.Repeat("!", p.Goals))
			}
		}

		return all
	}
	same(t, "the table of players", leaders(), []string{"Ada!"})

	name := with(unknown("red", "yellow", false), "scorerPlayerId", m.l.Players[0])
	refused(t, "a scorekeeper after the game", m.Ask("sam", "PATCH", m.path("goals", guest.EventID), name), 409, "game_finished")
	m.Do("ann", "PATCH", m.path("goals", guest.EventID), name)
	m.Aggregate()
	same(t, "the table of players after the guest was named", leaders(), []string{"Ada!!"})
	m.consistent()
}

// TestWhoIsNamedLater: a scorekeeper names the scorer of a goal of a third that is over, and changes nothing
// else of it.
func TestWhoIsNamedLater(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	p := m.l.Players
	g := unknown("red", "blue", false)

	for name, c := range map[string]struct {
		was, change map[string]any
		want        string
	}{
		"a player":                 {g, with(g, "scorerPlayerId", p[0]), "200"},
		"with an assist":           {g, with(with(g, "scorerPlayerId", p[0]), "assistPlayerIds", p[1:2]), "200"},
		"a guest":                  {g, with(g, "guest", true), "200"},
		"a player for a guest":     {with(g, "guest", true), with(g, "scorerPlayerId", p[0]), "200"},
		"a player of another team": {g, with(g, "scorerPlayerId", p[3]), "422 scorer_not_in_team"},
		"both":                     {g, with(with(g, "scorerPlayerId", p[0]), "guest", true), "422 guest_or_player"},
		"another team":             {g, with(unknown("red", "yellow", false), "scorerPlayerId", p[0]), "409 third_not_running"},
		"another third":            {g, with(with(g, "scorerPlayerId", p[0]), "third", 2), "409 third_not_running"},
		"another minute":           {g, with(with(g, "scorerPlayerId", p[0]), "gameMinute", 3), "409 third_not_running"},
		"another player":           {with(g, "scorerPlayerId", p[0]), with(g, "scorerPlayerId", p[1]), "409 third_not_running"},
		"nobody any more":          {with(g, "scorerPlayerId", p[0]), g, "409 third_not_running"},
	} {
		goal := m.add("sam", c.was)
		m.step("thirds/1/finish")
		same(t, name, code(m.Ask("sam", "PATCH", m.path("goals", goal.EventID), c.change)), c.want)
		m.Do("ann", "POST", m.path("thirds/1/finish/undo"), nil)
		m.Do("sam", "DELETE", m.path("goals", goal.EventID), nil)
	}

	m.consistent()
}

// TestSameGoalWithoutAScorer: the same request again adds none, and a goal of a guest is another.
func TestSameGoalWithoutAScorer(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := with(unknown("red", "blue", false), "eventId", m.eventID())
	m.add("sam", g)
	m.add("sam", g)
	same(t, "the goals", len(m.goals()), 1)
	refused(t, "of a guest", m.Ask("sam", "POST", m.path("goals"), with(g, "guest", true)), 409, "goal_exists")
	m.Do("sam", "POST", m.path("goals"), with(unknown("red", "blue", false), "assistPlayerIds", m.l.Players[1:2]), threefctest.Key("assist"))
	m.consistent()
}

// TestRowsOfAReleaseBefore: a listing that counts goals without a scorer for a player without an id, and a goal
// that was stored before there were guests.
func TestRowsOfAReleaseBefore(t *testing.T) {
	t.Parallel()

	of := item.Listing{Status: item.Finished, Result: &item.Result{}, Players: map[string]item.Tally{"": {Goals: 2}, "ada": {Goals: 1, Games: 1}}}
	got := standing.Players([]item.Listing{of}, map[string]item.Player{"ada": {ID: "ada", Nickname: "Ada"}})

	if diff := cmp.Diff([]standing.PlayerTotals{{PlayerID: "ada", Nickname: "Ada", Games: 1, Goals: 1}}, got); diff != "" {
		t.Errorf("the players (-want +got):\n%s", diff)
	}

	var stored item.Goal
	if err := json.Unmarshal([]byte(`{"eventId":"g","third":1,"scoringTeamId":"red","scorerPlayerId":"ada"}`), &stored); err != nil {
		t.Fatal(err)
	}

	same(t, "the tally", item.Tallies(nil, []item.Goal{stored}), map[string]item.Tally{"ada": {Goals: 1}})
}
