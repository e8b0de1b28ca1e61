package threefc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/plan"
	"matchday/pkg/threefc/season"
)

// asked is the body of a plan of ten Thursdays with two games each.
func asked(more map[string]any) map[string]any {
	all := map[string]any{
		"startsOn": "2026-03-07", "weekday": "thursday", "weeks": 10, "time": "19:30", "gamesPerSession": 2, "thirdLength": 20,
		"location": "Pitch 2",
	}
	maps.Copy(all, more)

	return all
}

// days are the sessions of the season with their games, without the one that the template has.
func (m *match) days() (all []string) {
	m.T.Helper()

	for _, x := range decode[struct{ Sessions []season.Session }](m, "ann", "GET", "/v1/seasons/"+m.l.SeasonID+"/sessions", nil).Sessions {
		if x.SessionID == m.l.SessionID {
			continue
		}

		text := x.Date

		games := decode[struct{ Games []game.ListedGame }](m, "ann", "GET", "/v1/sessions/"+x.SessionID+"/games", nil).Games
		if len(games) != x.Games {
			m.T.Errorf("the session %s counts %d games, and has %d", x.Date, x.Games, len(games))
		}

		for _, g := range games {
			text += " " + g.StartTs.UTC().Format("15:04")
			for _, t := range g.Teams {
				text += t.TeamID[:1]
			}

			if g.Location != "Pitch 2" || g.ThirdLength != 20 || g.Status != "scheduled" {
				m.T.Errorf("the game is %+v", g)
			}
		}

		all = append(all, text)
	}

	return all
}

// TestPlanKeepsTheClock: games start at the same time where they are played, also when the clocks change, and on no
// day that is left out.
func TestPlanKeepsTheClock(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": "Europe/London"})

	body := asked(map[string]any{"weeks": 4, "exceptDates": []string{"2026-03-19"}})
	path := "/v1/seasons/" + m.l.SeasonID + "/plan"
	want := []string{ // the clocks change on 29 March
		"2026-03-12 19:30bry 20:45ryb", "2026-03-26 19:30ybr 20:45bry", "2026-04-02 18:30ryb 19:45ybr",
	}

	dry := asked(body)
	dry["dryRun"] = true

	out := m.Do("ann", "POST", path, dry)
	same(t, "a dry run", out.StatusCode, http.StatusOK)
	same(t, "what a dry run makes", m.days(), []string(nil))

	made := m.Do("ann", "POST", path, body)
	same(t, "the plan", made.StatusCode, http.StatusCreated)
	same(t, "the sessions", m.days(), want)

	var lists [2][]string

	for i, answer := range []string{out.Body, made.Body} {
		var page struct{ Sessions []plan.Session }

		testkit.Must(t, json.Unmarshal([]byte(answer), &page))

		for _, x := range page.Sessions {
			lists[i] = append(lists[i], fmt.Sprint(x.Date, x.Games[0].StartTs, x.Games[0].TeamIDs))
		}
	}

	same(t, "the dry run", lists[0], lists[1])
	same(t, "the page of the season", strings.Count(m.Do("", "GET", "/l/parkside/spring-2026/calendar.ics", nil).Body, "BEGIN:VEVENT"), 7)
}

// TestPlanTwice: the same request makes one plan, by its key or by its body, for a day.
func TestPlanTwice(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/seasons/" + m.l.SeasonID + "/plan"

	first := m.Do("ann", "POST", path, asked(nil))
	same(t, "the same body", m.Do("ann", "POST", path, asked(nil)).Body, first.Body)
	same(t, "sessions", len(m.days()), 10)

	keyed := m.Do("ann", "POST", path, asked(map[string]any{"startsOn": "2027-01-01"}), threefctest.Key("K"))
	same(t, "the same key", m.Do("ann", "POST", path, asked(map[string]any{"startsOn": "2027-01-01"}), threefctest.Key("K")).Body, keyed.Body)
	refused(t, "the same key with another body", m.Ask("ann", "POST", path, asked(nil), threefctest.Key("K")), 409, "idempotency_conflict")
	same(t, "sessions", len(m.days()), 20)

	m.pass(25 * time.Hour)
	m.SignIn("ann")
	m.Do("ann", "POST", path, asked(nil))
	same(t, "sessions after a day", len(m.days()), 30)
}

func TestBadPlans(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/seasons/" + m.l.SeasonID + "/plan"

	for _, c := range []struct {
		more map[string]any
		want string
	}{
		{map[string]any{"weeks": 53}, "422 invalid"},
		{map[string]any{"weeks": 0}, "422 invalid"},
		{map[string]any{"gamesPerSession": 13}, "422 invalid"},
		{map[string]any{"weekday": "Thursday"}, "422 invalid"},
		{map[string]any{"time": "24:00"}, "422 invalid"},
		{map[string]any{"startsOn": "2026-02-30"}, "422 invalid"},
		{map[string]any{"time": "23:30"}, "422 bad_plan"}, // the second game is on the next day
		{map[string]any{"startsOn": "2100-12-20"}, "422 bad_plan"},
		{map[string]any{"weeks": 1, "exceptDates": []string{"2026-03-12"}}, "422 bad_plan"},
	} {
		for _, dry := range []bool{true, false} {
			body := asked(c.more)
			body["dryRun"] = dry
			same(t, fmt.Sprint(c.more), code(m.Ask("ann", "POST", path, body)), c.want)
		}
	}

	out := m.Ask("ann", "POST", path, asked(map[string]any{"weeks": 52, "gamesPerSession": 6, "time": "08:00"}))
	refused(t, "312 games", out, 409, "too_many_games_of_plan")
	m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID+"/teams/red", nil)
	refused(t, "a season of two teams", m.Ask("ann", "POST", path, asked(nil)), 409, "three_teams_needed")
	same(t, "what was made", m.days(), []string(nil))
}

// TestPlanHasBounds: those of a season and of a day, before anything is made.
func TestPlanHasBounds(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/seasons/" + m.l.SeasonID + "/plan"

	for n := range 2 {
		m.Do("ann", "POST", path, asked(map[string]any{"weeks": 52, "gamesPerSession": 1, "startsOn": fmt.Sprintf("202%d-01-01", n)}))
	}

	for _, dry := range []bool{true, false} {
		out := m.Ask("ann", "POST", path, asked(map[string]any{"weeks": 16, "startsOn": "2029-01-01", "dryRun": dry}))
		refused(t, "more than a season may have", out, 409, season.MaxSessions.Code)
	}

	for n := range season.MaxOfDay.Max {
		m.Do("ann", "POST", path, asked(map[string]any{"weeks": 1, "startsOn": "2029-01-01"}), threefctest.Key(fmt.Sprint(n)))
	}

	refused(t, "more than a day may have", m.Ask("ann", "POST", path, asked(map[string]any{"weeks": 2, "startsOn": "2029-01-01"})),
		409, season.MaxOfDay.Code)
	same(t, "sessions", len(m.days()), 104+season.MaxOfDay.Max)
}

// TestPlanCrashes: wherever the request dies, the same request leaves one plan.
func TestPlanCrashes(t *testing.T) {
	t.Parallel()

	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		m := club(t)
		run := func(ctx context.Context, env app.Env) error {
			in := &plan.PlanSeason{User: ann, SeasonID: m.l.SeasonID, Key: idem.Key{IdempotencyKey: "K"}}
			in.Body.Fields = plan.Fields{StartsOn: "2026-03-12", Weeks: 2, Time: "19:30", Games: 2, ThirdLength: 20, Location: "Pitch 2"}
			_, err := open(m, env, plan.Open).PlanSeason(ctx, in)

			return err
		}

		if p.Ended(run(m.NewContext(), m.CrashingEnv(plan.PlanSeasonFunction(), p))) {
			testkit.Must(t, run(m.NewContext(), m.Env(plan.PlanSeasonFunction())))
		}

		return append(m.days(), fmt.Sprint(decode[season.Season](m, "ann", "GET", "/v1/seasons/"+m.l.SeasonID, nil).Sessions))
	})
}

// TestPlansAtOnce: two requests at once make one plan.
func TestPlansAtOnce(t *testing.T) {
	t.Parallel()

	for _, step := range []string{"GetItem", "Query", "TransactWriteItems"} {
		m := club(t)
		path := "/v1/seasons/" + m.l.SeasonID + "/plan"
		env := after(m.Env(plan.PlanSeasonFunction()), step, func() {
			m.Do("ann", "POST", path, asked(map[string]any{"weeks": 3}), threefctest.Key("K"))
		})
		in := &plan.PlanSeason{User: ann, SeasonID: m.l.SeasonID, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Fields = plan.Fields{
			StartsOn: "2026-03-07", Weekday: "thursday", Weeks: 3, Time: "19:30", Games: 2, ThirdLength: 20, Location: "Pitch 2",
		}
		_, err := open(m, env, plan.Open).PlanSeason(m.NewContext(), in)
		testkit.Must(t, err)
		same(t, step, len(m.days()), 3)
	}
}
