package threefc_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// stored is an item of the table.
type stored = map[string]any

// match is a league with members of each role, and a game of it. ann is its administrator,
// sam a scorekeeper, vic a viewer; eve is signed in, and a stranger.
type match struct {
	*threefctest.World
	l  threefctest.League
	id string
	n  int // goals
}

// template is the table of a club, from which each test copies it.
var template struct {
	sync.Mutex
	rows []stored
	l    threefctest.League
	id   string
	at   time.Time // of the last request
}

// club returns a match whose game has its roster, and has not begun.
func club(t testing.TB) *match {
	t.Helper()
	template.Lock()
	defer template.Unlock()

	m := &match{World: threefctest.New(t), l: template.l, id: template.id}
	m.SignIn("ann", "eve", "sam", "sue", "vic")

	if template.rows != nil {
		testkit.PutRows(m.World.World, tables.App, template.rows...)
		m.MoveClock(template.at)

		return m
	}

	m.l = m.Found("ann")
	m.Join(m.l, item.Scorekeeper, "sam", "sue")
	m.Join(m.l, item.Viewer, "vic")
	m.id = m.Schedule("ann", m.l)
	template.l, template.id, template.at = m.l, m.id, m.Clock.Now()
	template.rows = slices.DeleteFunc(everything(m.World), func(r stored) bool { return r["entityType"] == "AuthSession" })

	return m
}

// kickOff returns a match whose first third is running.
func kickOff(t testing.TB) *match {
	t.Helper()
	m := club(t)
	m.step("thirds/1/start")

	return m
}

// path is that of what belongs to the game.
func (m *match) path(parts ...string) string {
	return "/v1/games/" + strings.Join(append([]string{m.id}, parts...), "/")
}

// step makes steps of the game, each "thirds/1/start", or "finish".
func (m *match) step(steps ...string) {
	m.T.Helper()

	for _, s := range steps {
		if strings.HasPrefix(s, "thirds") {
			m.Do("ann", "POST", m.path(s), map[string]any{})
		} else {
			m.Do("ann", "POST", m.path(s), nil)
		}
	}
}

// pass lets time pass.
func (m *match) pass(d time.Duration) { m.MoveClock(m.Clock.Now().Add(d)) }

// eventID returns an id for a goal, as a phone makes it.
func (m *match) eventID() string {
	m.n++
	return fmt.Sprintf("01JX%022d", m.n)
}

// sides are the players' teams: players 0 to 2 are red, 3 to 5 blue, 6 to 8 yellow.
var sides = []string{"red", "blue", "yellow"}

// goalOf is a goal of a player against a team.
func (m *match) goalOf(player int, conceding string) goal {
	g := goal{Scoring: sides[player/3], Conceding: conceding, Scorer: m.l.Players[player]}
	if g.Scoring == conceding {
		g.Scoring, g.OwnGoal = "", true
	}

	return g
}

// score records a goal, and returns it.
func (m *match) score(user string, g goal) game.Goal {
	m.T.Helper()
	return testkit.Decode[struct{ Goal game.Goal }](m.World.World, m.Do(user, "POST", m.path("goals"), g)).Goal
}

// read returns the game.
func (m *match) read() game.Game {
	m.T.Helper()
	return testkit.Decode[game.Game](m.World.World, m.Do("ann", "GET", m.path(), nil))
}

// goals returns the timeline.
func (m *match) goals() []game.Goal {
	m.T.Helper()
	return testkit.Decode[struct{ Goals []game.Goal }](m.World.World, m.Do("ann", "GET", m.path("goals"), nil)).Goals
}

// corrections returns the log, the oldest first: who did what.
func (m *match) corrections() (all []string) {
	m.T.Helper()

	for _, c := range testkit.Decode[struct{ Corrections []game.Correction }](m.World.World,
		m.Do("ann", "GET", m.path("audit"), nil)).Corrections {
		text := c.By + " " + c.What
		for _, g := range []*game.Goal{c.Before, c.After} {
			if g != nil {
				text += fmt.Sprintf(" %d/%s", g.Third, g.Display)
			}
		}

		all = append([]string{text}, all...)
	}

	return all
}

// consistent checks that the score of the game is that of its goals, that each goal is there
// once, and that the game in the lists is the game.
func (m *match) consistent() {
	m.T.Helper()
	g, ids := m.read(), map[string]bool{}

	want := map[string][2]int{}
	for _, team := range g.Teams {
		want[team.TeamID] = [2]int{}
	}

	for _, one := range m.goals() {
		if ids[one.EventID] {
			m.T.Errorf("the goal %s is there twice", one.EventID)
		}

		ids[one.EventID] = true
		if one.Scoring != "" {
			s := want[one.Scoring]
			want[one.Scoring] = [2]int{s[0] + 1, s[1]}
		}

		s := want[one.Conceding]
		want[one.Conceding] = [2]int{s[0], s[1] + 1}
	}

	got := map[string][2]int{}
	for _, s := range g.Scores {
		got[s.TeamID] = [2]int{s.Scored, s.Conceded}
	}

	if fmt.Sprint(got) != fmt.Sprint(want) {
		m.T.Errorf("the score is %v, and that of the goals %v", got, want)
	}

	start := item.StartKey(item.Format(g.StartTs), g.GameID)

	of := testkit.Row[stored](m.World.World, tables.App, item.SessionKey(g.SessionID), start)
	for _, mirror := range []stored{testkit.Row[stored](m.World.World, tables.App, item.SeasonKey(g.SeasonID), start)} {
		if of["data"] != mirror["data"] {
			m.T.Errorf("the lists differ: %v and %v", of["data"], mirror["data"])
		}
	}

	for _, r := range everything(m.World) {
		if r["sk"] == item.TalliesKey(m.id) && (r["rev"] != of["rev"] || g.Result == nil) {
			m.T.Errorf("of the %s game of revision %v there are the tallies %v", g.Status, of["rev"], r)
		}
	}

	status := g.Status
	if status == item.Finished && g.Result == nil {
		status = item.Void
	}

	if !strings.Contains(fmt.Sprint(of["data"]), `"status":"`+status+`"`) {
		m.T.Errorf("the game is %s, and in the lists %v", g.Status, of["data"])
	}
}

// everything returns all items of the table, in no order.
func everything(w *threefctest.World) []stored { return testkit.Rows[stored](w.World, tables.App) }

// code returns the status of an answer, with the code of a problem.
func code(out events.APIGatewayV2HTTPResponse) string {
	text := fmt.Sprint(out.StatusCode)
	if out.StatusCode >= http.StatusBadRequest {
		_, rest, _ := strings.Cut(out.Body, `"type":"`)
		urn, _, _ := strings.Cut(rest, `"`)
		text += " " + urn[strings.LastIndex(urn, ":")+1:]
	}

	return text
}
