package threefc_test

import (
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// TestUndoOfAThird: who may undo which step of a third, and what the game is then.
func TestUndoOfAThird(t *testing.T) {
	t.Parallel()

	const (
		late, last, scored = "409 too_late_to_undo", "409 not_the_latest_step", "409 third_has_goals"
		three              = "thirds/1/start thirds/1/finish thirds/2/start thirds/2/finish thirds/3/start thirds/3/finish"
	)

	for name, c := range map[string]struct {
		steps string
		goals bool // of the first third
		after time.Duration
		user  string
		undo  string
		want  string
		then  string // the state, and the third that runs
	}{
		"a start":                   {"thirds/1/start", false, 5 * time.Minute, "sam", "1/start", "200", "scheduled 0"},
		"a start, late":             {"thirds/1/start", false, 5*time.Minute + time.Second, "sam", "1/start", late, "live 1"},
		"a start, late, by ann":     {"thirds/1/start", false, 24 * time.Hour, "ann", "1/start", "200", "scheduled 0"},
		"a start with goals":        {"thirds/1/start", true, 0, "ann", "1/start", scored, "live 1"},
		"a start before its finish": {"thirds/1/start thirds/1/finish", false, 0, "ann", "1/start", last, "live 0"},
		"a finish":                  {"thirds/1/start thirds/1/finish", true, 5 * time.Minute, "sam", "1/finish", "200", "live 1"},
		"a finish, late":            {"thirds/1/start thirds/1/finish", false, 6 * time.Minute, "sam", "1/finish", late, "live 0"},
		"a finish, late, by ann":    {"thirds/1/start thirds/1/finish", false, time.Hour, "ann", "1/finish", "200", "live 1"},
		"a finish before a start":   {"thirds/1/start thirds/1/finish thirds/2/start", false, 0, "ann", "1/finish", last, "live 2"},
		"the second start":          {"thirds/1/start thirds/1/finish thirds/2/start", true, 0, "sam", "2/start", "200", "live 0"},
		"what was not done":         {"thirds/1/start", false, time.Hour, "sam", "1/finish", "200", "live 1"},
		"the last finish":           {three, false, 0, "sam", "3/finish", "200", "live 3"},
		"of a finished game":        {three + " finish", false, 0, "ann", "3/finish", "409 game_finished", "finished 0"},
		"of a reopened game":        {three + " finish reopen", false, 6 * time.Minute, "ann", "3/finish", "200", "live 3"},
		"by a viewer":               {"thirds/1/start", false, 0, "vic", "1/start", "403 scorekeeper_required", "live 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := club(t)

			for i, step := range strings.Fields(c.steps) {
				m.step(step)

				if i == 0 && c.goals {
					m.score("ann", m.goalOf(0, "blue"))
				}
			}

			m.MoveClock(m.Clock.Now().Truncate(time.Second).Add(c.after))

			undo := m.path("thirds/" + c.undo + "/undo")
			for range 2 { // a second run changes nothing, and gets the same answer
				same(t, "the answer", code(m.Ask(c.user, "POST", undo, nil)), c.want)

				got := m.read()
				same(t, "the game", got.Status+" "+string(rune('0'+got.Running)), c.then)
			}

			m.consistent()
		})
	}
}

// TestUndoneThirdGoesOn: its clock runs on, its goals stay, and the same tap starts it again.
func TestUndoneThirdGoesOn(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	begun := *m.read().Thirds[0].StartedAt

	m.pass(7 * time.Minute)
	m.score("sam", m.goalOf(0, "blue"))
	m.step("thirds/1/finish")
	m.pass(time.Minute)
	m.Do("sam", "POST", m.path("thirds/1/finish/undo"), nil, threefctest.Key("undo"))

	third := m.read().Thirds[0]
	if third.FinishedAt != nil || !third.StartedAt.Equal(begun) {
		t.Errorf("the third is %+v, want that it runs since %s", third, begun)
	}

	same(t, "a goal afterwards", m.score("sam", m.goalOf(3, "red")).Minute, 8)
	m.step("thirds/1/finish")
	m.Do("sam", "POST", m.path("thirds/1/finish/undo"), nil, threefctest.Key("undo")) // the answer was lost, and is sent again
	same(t, "the third that runs", m.read().Running, 0)
	same(t, "the log", m.corrections(), []string{"sam undo"})
	m.consistent()
}

// TestUndoOfAStepOfAnOfflinePhone: the five minutes begin when a step was recorded, of a game that was stored
// without this time when it happened.
func TestUndoOfAStepOfAnOfflinePhone(t *testing.T) {
	t.Parallel()
	m := club(t)
	at := m.Clock.Now()

	m.pass(time.Hour)
	m.Do("sam", "POST", m.path("thirds/1/start"), map[string]any{"at": at})
	m.pass(4 * time.Minute)
	m.Do("sam", "POST", m.path("thirds/1/start/undo"), nil)
	m.Do("sam", "POST", m.path("thirds/1/start"), map[string]any{"at": at})

	row := testkit.Row[item.Row[item.Game]](m.World.World, tables.App, item.GameKey(m.id), item.Metadata)
	row.V().StepAt = ""
	testkit.PutRows(m.World.World, tables.App, row)
	refused(t, "by the time of the step", m.Ask("sam", "POST", m.path("thirds/1/start/undo"), nil), 409, "too_late_to_undo")
}

// TestTablesAfterAnUndo: a game that was reopened and whose last finish is undone is in no table, and is
// in them again once it is finished.
func TestTablesAfterAnUndo(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()

	played := func() int {
		m.Aggregate()

		all := decode[struct{ Teams []standing.TeamStanding }](m, "", "GET", "/v1/public/seasons/"+m.l.SeasonID+"/standings", nil).Teams
		if len(all) == 0 {
			return 0
		}

		return all[0].Played
	}
	same(t, "before", played(), 1)
	m.step("reopen")
	m.Do("ann", "POST", m.path("thirds/3/finish/undo"), nil)
	same(t, "after the undo", played(), 0)
	m.step("thirds/3/finish", "finish")
	same(t, "finished again", played(), 1)
	m.consistent()
}
