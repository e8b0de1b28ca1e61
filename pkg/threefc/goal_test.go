package threefc_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// TestWhoMayScoreWhen: a scorekeeper records goals of the third that runs, and of all thirds
// of a reopened game; an administrator those of all that have begun.
func TestWhoMayScoreWhen(t *testing.T) {
	t.Parallel()

	const (
		ok, live, begun, running = "201", "409 game_not_live", "409 third_not_started", "409 third_not_running"
		needed, over             = "422 third_needed", "409 game_finished"
	)

	m := club(t)
	for _, c := range []struct {
		state      string
		steps      []string
		sam, admin [3]string // without a third, in the first, in the second
	}{
		{"scheduled", nil, [3]string{live, live, live}, [3]string{live, live, live}},
		{"the first runs", []string{"thirds/1/start"}, [3]string{ok, ok, begun}, [3]string{ok, ok, begun}},
		{"break", []string{"thirds/1/finish"}, [3]string{needed, running, begun}, [3]string{needed, ok, begun}},
		{"the second runs", []string{"thirds/2/start"}, [3]string{ok, running, ok}, [3]string{ok, ok, ok}},
		{"all are over", []string{"thirds/2/finish", "thirds/3/start", "thirds/3/finish"},
			[3]string{needed, running, running}, [3]string{needed, ok, ok}},
		{"finished", []string{"finish"}, [3]string{over, over, over}, [3]string{needed, ok, ok}},
		{"reopened", []string{"reopen"}, [3]string{needed, ok, ok}, [3]string{needed, ok, ok}},
		{"finished again", []string{"finish"}, [3]string{over, over, over}, [3]string{needed, ok, ok}},
	} {
		m.step(c.steps...)

		for third := range 3 {
			for user, want := range map[string]string{
				"sam": c.sam[third],
				"ann": c.admin[third],
				"vic": "403 scorekeeper_required",
				"eve": "403 league_access_required",
				"":    "401 missing_session",
			} {
				g := m.goalOf(0, "blue")

				g.Third = third
				if got := code(m.Ask(user, "POST", m.path("goals"), g)); got != want {
					t.Errorf("%s: %q in third %d: %s, want %s", c.state, user, third, got, want)
				}
			}
		}

		m.consistent()
	}
}

// TestWhoMayCorrectWhen: who may record a goal of a third may edit and delete it, and undo.
func TestWhoMayCorrectWhen(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		state      string
		steps      []string
		sam, admin string
	}{
		{"the first runs", nil, "200", "200"},
		{"break", []string{"thirds/1/finish"}, "409 third_not_running", "200"},
		{"the second runs", []string{"thirds/1/finish", "thirds/2/start"}, "409 third_not_running", "200"},
		{"finished", []string{"thirds/1/finish", "thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish", "finish"},
			"409 game_finished", "200"},
		{"reopened", []string{"thirds/1/finish", "thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish", "finish", "reopen"},
			"200", "200"},
	} {
		t.Run(c.state, func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)

			var ids []string
			for range 15 {
				ids = append(ids, m.score("sam", m.goalOf(0, "blue")).EventID)
			}

			m.step(c.steps...)

			for i, u := range []struct{ name, want string }{
				{"sam", c.sam},
				{"ann", c.admin},
				{"vic", "403 scorekeeper_required"},
				{"eve", "403 league_access_required"},
				{"", "401 missing_session"},
			} {
				if got := code(m.Ask(u.name, "PATCH", m.path("goals", ids[i]), m.goalOf(1, "yellow"))); got != u.want {
					t.Errorf("%q edits: %s, want %s", u.name, got, u.want)
				}

				if got := code(m.Ask(u.name, "DELETE", m.path("goals", ids[5+i]), nil)); got != u.want {
					t.Errorf("%q deletes: %s, want %s", u.name, got, u.want)
				}

				if got := code(m.Ask(u.name, "POST", m.path("goals/undo"), nil, threefctest.Match(m.Do("ann", "GET", m.path(), nil)))); got != u.want {
					t.Errorf("%q undoes: %s, want %s", u.name, got, u.want)
				}
			}

			m.consistent()
		})
	}
}

// TestWhoMayMoveAGoal: who may record goals of both thirds.
func TestWhoMayMoveAGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	first := m.score("sam", m.goalOf(0, "blue")).EventID
	m.step("thirds/1/finish", "thirds/2/start")
	second := m.score("sam", m.goalOf(1, "blue")).EventID
	move := func(user, id string, to int) string {
		g := m.goalOf(2, "blue")
		g.Third = to

		return code(m.Ask(user, "PATCH", m.path("goals", id), g))
	}
	where := func() (all []string) {
		for _, g := range m.goals() {
			all = append(all, fmt.Sprint(g.Third))
		}

		return all
	}

	const over, begun = "409 third_not_running", "409 third_not_started"
	same(t, "the second runs", []string{move("sam", first, 1), move("sam", first, 2), move("sam", second, 1), move("sam", second, 3),
		move("ann", second, 3), move("sam", second, 2)}, []string{over, over, over, begun, begun, "200"})
	same(t, "the thirds", where(), []string{"1", "2"})
	same(t, "an administrator", []string{move("ann", second, 1), move("ann", first, 2)}, []string{"200", "200"})
	m.step("thirds/2/finish", "thirds/3/start", "thirds/3/finish", "finish", "reopen")
	same(t, "reopened", []string{move("sam", first, 3), move("sam", second, 2)}, []string{"200", "200"})
	same(t, "the thirds", where(), []string{"2", "3"})
	m.consistent()
}

// TestWhatAGoalMustSay: each rule of a goal, for a new goal and for a correction.
func TestWhatAGoalMustSay(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	p := m.l.Players
	stranger := testkit.Decode[struct{ PlayerID string }](m.World.World,
		m.Do("ann", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Jo"})).PlayerID
	old := m.score("ann", m.goalOf(4, "red")).EventID

	minute := func(n int) *int { return &n }
	for _, c := range []struct {
		name        string
		g           goal
		code, field string
	}{
		{"a goal", goal{Scoring: "red", Conceding: "blue", Scorer: p[0]}, "", ""},
		{"an own goal", goal{Conceding: "blue", Scorer: p[3], OwnGoal: true}, "", ""},
		{"assists of all teams", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Assists: []string{p[1], p[3], p[8]}}, "", ""},
		{"minute 0", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Minute: minute(0)}, "", ""},
		{"stoppage", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Minute: minute(23)}, "", ""},
		{"no scoring team", goal{Conceding: "blue", Scorer: p[0]}, "bad_scoring_team", "body.scoringTeamId"},
		{"an own goal with a scoring team", goal{Scoring: "red", Conceding: "blue", Scorer: p[3], OwnGoal: true},
			"bad_scoring_team", "body.scoringTeamId"},
		{"an unknown scoring team", goal{Scoring: "green", Conceding: "blue", Scorer: p[0]}, "unknown_team", "body.scoringTeamId"},
		{"an unknown conceding team", goal{Scoring: "red", Conceding: "green", Scorer: p[0]}, "unknown_team", "body.concedingTeamId"},
		{"a team against itself", goal{Scoring: "red", Conceding: "red", Scorer: p[0]}, "same_team", "body.concedingTeamId"},
		{"a scorer of another team", goal{Scoring: "red", Conceding: "blue", Scorer: p[6]}, "scorer_not_in_team", "body.scorerPlayerId"},
		{"a scorer of the conceding team", goal{Scoring: "red", Conceding: "blue", Scorer: p[3]}, "scorer_not_in_team", "body.scorerPlayerId"},
		{"an own goal of another team", goal{Conceding: "blue", Scorer: p[0], OwnGoal: true}, "scorer_not_in_team", "body.scorerPlayerId"},
		{"a scorer who is not on the roster", goal{Scoring: "red", Conceding: "blue", Scorer: stranger},
			"scorer_not_in_team", "body.scorerPlayerId"},
		{"the scorer assists", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Assists: []string{p[0]}},
			"bad_assists", "body.assistPlayerIds"},
		{"an assist twice", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Assists: []string{p[1], p[1]}},
			"bad_assists", "body.assistPlayerIds"},
		{"an assist from the bench", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Assists: []string{stranger}},
			"bad_assists", "body.assistPlayerIds"},
		{"four assists", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Assists: []string{p[1], p[2], p[3], p[4]}},
			"invalid", "body.assistPlayerIds"},
		{"minute -1", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Minute: minute(-1)}, "invalid", "body.gameMinute"},
		{"minute 121", goal{Scoring: "red", Conceding: "blue", Scorer: p[0], Minute: minute(121)}, "invalid", "body.gameMinute"},
		{"a fourth third", goal{Third: 4, Scoring: "red", Conceding: "blue", Scorer: p[0]}, "invalid", "body.third"},
		{"no conceding team", goal{Scoring: "red", Scorer: p[0]}, "invalid", "body.concedingTeamId"},
		{"an id that is none", goal{EventID: "one", Scoring: "red", Conceding: "blue", Scorer: p[0]}, "invalid", "body.eventId"},
	} {
		for _, to := range []string{"POST " + m.path("goals"), "PATCH " + m.path("goals", old)} {
			if c.g.EventID != "" && strings.HasPrefix(to, "PATCH") {
				continue
			}

			method, path, _ := strings.Cut(to, " ")
			before := len(m.goals())

			out := m.Ask("sam", method, path, c.g)
			switch {
			case c.code == "" && out.StatusCode >= 300:
				t.Errorf("%s: %s: %s", method, c.name, out.Body)
			case c.code == "":
			case out.StatusCode != http.StatusUnprocessableEntity:
				t.Errorf("%s: %s: %d %s, want 422", method, c.name, out.StatusCode, out.Body)
			default:
				if c.code != "invalid" && !strings.HasSuffix(code(out), " "+c.code) {
					t.Errorf("%s: %s: %s, want %s", method, c.name, code(out), c.code)
				}

				if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, c.field); err != nil {
					t.Errorf("%s: %s: %v", method, c.name, err)
				}
			}

			if after := len(m.goals()); (after == before+1) != (c.code == "" && method == "POST") {
				t.Errorf("%s: %s: there were %d goals, and are %d", method, c.name, before, after)
			}
		}
	}

	m.consistent()
}

// TestGoalIsSentThreeTimes: a request with an eventId or a key has one effect and one
// answer, one after the other and at once; without both each is another goal.
func TestGoalIsSentThreeTimes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name      string
		event     bool
		key       bool
		atOnce    bool
		wantGoals int
	}{
		{"an id", true, false, false, 1},
		{"a key", false, true, false, 1},
		{"both", true, true, false, 1},
		{"nothing", false, false, false, 3},
		{"an id, at once", true, false, true, 1},
		{"a key, at once", false, true, true, 1},
		{"both, at once", true, true, true, 1},
		{"nothing, at once", false, false, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)

			g := m.goalOf(0, "blue")
			if c.event {
				g.EventID = m.eventID()
			}

			var headers []threefctest.Header
			if c.key {
				headers = append(headers, threefctest.Key("tap-1"))
			}

			var all sync.WaitGroup

			bodies := make([]string, 3)
			for i := range bodies {
				send := func() {
					out := m.Ask("sam", "POST", m.path("goals"), g, headers...)
					if bodies[i] = out.Body; out.StatusCode != http.StatusCreated {
						t.Errorf("got %d %s, want 201", out.StatusCode, out.Body)
					}
				}
				if c.atOnce {
					all.Go(send)
				} else {
					send()
				}
			}

			all.Wait()

			if n := len(m.goals()); n != c.wantGoals {
				t.Errorf("there are %d goals, want %d", n, c.wantGoals)
			}

			if c.wantGoals == 1 && (bodies[0] != bodies[1] || bodies[0] != bodies[2]) {
				t.Errorf("the answers differ:\n%s", strings.Join(bodies, "\n"))
			}

			m.consistent()
		})
	}
}

// TestKeyOfAnotherGoal: a key that was used for another goal, and an id that another goal
// has, are refused.
func TestKeyOfAnotherGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := m.goalOf(0, "blue")
	g.EventID = m.eventID()
	m.Do("sam", "POST", m.path("goals"), g, threefctest.Key("tap-1"))
	other := m.goalOf(1, "yellow")
	refused(t, "the key", m.Ask("sam", "POST", m.path("goals"), other, threefctest.Key("tap-1")), 409, "idempotency_conflict")

	for name, change := range map[string]func(*goal){
		"third":          func(g *goal) { g.Third = 2 },
		"minute":         func(g *goal) { g.Minute = new(1) },
		"scoring team":   func(g *goal) { g.Scoring = "yellow" },
		"conceding team": func(g *goal) { g.Conceding = "yellow" },
		"scorer":         func(g *goal) { g.Scorer = m.l.Players[1] },
		"assists":        func(g *goal) { g.Assists = []string{m.l.Players[1]} },
		"own goal":       func(g *goal) { g.OwnGoal = true },
	} {
		other := g
		change(&other)
		refused(t, "the id, with another "+name, m.Ask("sue", "POST", m.path("goals"), other), 409, "goal_exists")
	}

	said := g
	said.Third, said.Minute = 1, new(0)
	m.Do("sue", "POST", m.path("goals"), said)
	m.Do("sue", "POST", m.path("goals"), m.goalOf(1, "yellow"), threefctest.Key("tap-1")) // another user's key

	if n := len(m.goals()); n != 2 {
		t.Errorf("there are %d goals, want 2", n)
	}
}

// TestLateDuplicateStaysUndone: a goal that was undone does not come back by a request that
// was on its way.
func TestLateDuplicateStaysUndone(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := m.goalOf(0, "blue")
	g.EventID = m.eventID()
	out := m.Do("sam", "POST", m.path("goals"), g, threefctest.Key("tap-1"))
	m.Do("sam", "POST", m.path("goals/undo"), nil, threefctest.Match(out))
	refused(t, "the goal by its id", m.Ask("sam", "POST", m.path("goals"), g), 409, "goal_removed")

	if again := m.Do("sam", "POST", m.path("goals"), g, threefctest.Key("tap-1")); again.Body != out.Body {
		t.Errorf("the repeated request got %s, want %s", again.Body, out.Body)
	}

	if n := len(m.goals()); n != 0 {
		t.Errorf("there are %d goals, want none", n)
	}

	m.consistent()
}

// TestUndoDeletesWhatWasRecordedLast: not the goal with the latest minute or the greatest
// id, also if several were recorded in one second.
func TestUndoDeletesWhatWasRecordedLast(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	refused(t, "nothing", m.Ask("sam", "POST", m.path("goals/undo"), nil, threefctest.Match(m.Do("sam", "GET", m.path(), nil))),
		409, "nothing_to_undo")

	var ids []string

	for i, minute := range []int{9, 5, 1} {
		g := m.goalOf(i, "blue")
		g.EventID, g.Minute = fmt.Sprintf("01JX%022d", 9-i), &minute
		ids = append(ids, m.score("sam", g).EventID)
	}

	m.Do("sam", "PATCH", m.path("goals", ids[0]), m.goalOf(2, "yellow")) // an edit does not make it later
	refused(t, "without a revision", m.Ask("sam", "POST", m.path("goals/undo"), nil), 422, "rev_needed")

	for left := 2; left >= 0; left-- {
		m.Do("sam", "POST", m.path("goals/undo"), nil, threefctest.Match(m.Do("sam", "GET", m.path(), nil)))

		var got []string
		for _, g := range m.goals() {
			got = append([]string{g.EventID}, got...)
		}

		if fmt.Sprint(got) != fmt.Sprint(ids[:left]) {
			t.Errorf("left are %v, want %v", got, ids[:left])
		}
	}

	m.consistent()
}

// TestTwoTapsUndoOneGoal: at once, by the revision that both have seen; with the same key
// both get the answer.
func TestTwoTapsUndoOneGoal(t *testing.T) {
	t.Parallel()

	for name, key := range map[string][]threefctest.Header{"without a key": nil, "with a key": {threefctest.Key("undo-1")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)
			m.score("sam", m.goalOf(0, "blue"))
			seen := m.Do("sam", "POST", m.path("goals"), m.goalOf(1, "blue"))

			var all sync.WaitGroup

			got := make([]string, 3)
			for i := range got {
				all.Go(func() {
					got[i] = code(m.Ask("sam", "POST", m.path("goals/undo"), nil, append(key, threefctest.Match(seen))...))
				})
			}

			all.Wait()

			done := 0

			for _, g := range got {
				if g == "200" {
					done++
				} else if g != "409 stale" {
					t.Errorf("a tap got %s", g)
				}
			}

			if want := 1 + 2*len(key); done != want || len(m.goals()) != 1 {
				t.Errorf("%d taps succeeded and %d goals are left, want %d and 1", done, len(m.goals()), want)
			}

			m.consistent()
		})
	}
}

// TestEditMovesAGoal: to another third and another minute, and its key with it.
func TestEditMovesAGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.pass(5 * time.Minute)
	first := m.score("sam", m.goalOf(0, "blue"))
	m.pass(5 * time.Minute)
	second := m.score("sam", m.goalOf(3, "red"))
	m.step("thirds/1/finish", "thirds/2/start")
	edit := m.goalOf(0, "blue")
	edit.Third, edit.Minute = 2, new(int)

	m.pass(time.Second)
	m.Do("ann", "PATCH", m.path("goals", first.EventID), edit)

	var got []string
	for _, g := range m.goals() {
		got = append(got, fmt.Sprintf("%d/%d %s", g.Third, g.Minute, g.EventID))
	}

	same(t, "the timeline", got, []string{"1/10 " + second.EventID, "2/0 " + first.EventID})

	scores := m.read().Scores
	same(t, "the score of blue", scores[0], item.Score{
		TeamID: "blue",
		Count:  item.Count{Scored: 1, Conceded: 1},
		Thirds: [3]item.Count{{Scored: 1}, {Conceded: 1}},
	})

	edit.Third, edit.Minute = 0, nil // what is left out stays
	edit.Conceding = "yellow"

	m.pass(time.Second)
	m.Do("sam", "PATCH", m.path("goals", first.EventID), edit)
	m.Do("sam", "PATCH", m.path("goals", first.EventID), edit) // a second run changes nothing

	if g := m.goals()[1]; g.Third != 2 || g.Minute != 0 || g.Conceding != "yellow" {
		t.Errorf("the goal is %+v", g)
	}

	same(t, "the log", m.corrections(), []string{"ann edit 1/5' 2/0'", "sam edit 2/0' 2/0'"})

	rows := 0

	for _, r := range everything(m.World) {
		if r["pk"] == item.GameKey(m.id) && strings.HasPrefix(r["sk"].(string), item.Goals) {
			rows++
		}
	}

	if rows != 2 {
		t.Errorf("the table has %d goals, want 2", rows)
	}

	edit.Third = 3
	refused(t, "to a third that has not begun", m.Ask("sam", "PATCH", m.path("goals", first.EventID), edit), 409, "third_not_started")
	refused(t, "a goal of nobody", m.Ask("sam", "PATCH", m.path("goals", m.eventID()), m.goalOf(0, "blue")), 404, "goal_not_found")
	refused(t, "an old revision", m.Ask("sam", "PATCH", m.path("goals", first.EventID), m.goalOf(0, "blue"),
		threefctest.Header{Name: "if-match", Value: `"1"`}), 409, "stale")
	m.consistent()
}

// TestDeleteAGoal: a second request changes nothing, and gets the same answer.
func TestDeleteAGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := m.score("sam", m.goalOf(0, "blue"))
	refused(t, "an old revision", m.Ask("sam", "DELETE", m.path("goals", g.EventID), nil, threefctest.Header{Name: "if-match", Value: `"1"`}),
		409, "stale")
	refused(t, "a goal of nobody", m.Ask("sam", "DELETE", m.path("goals", m.eventID()), nil), 404, "goal_not_found")
	first := m.Do("sam", "DELETE", m.path("goals", g.EventID), nil)
	second := m.Do("sam", "DELETE", m.path("goals", g.EventID), nil)
	same(t, "the second answer", second.Body, first.Body)
	refused(t, "an edit afterwards", m.Ask("sam", "PATCH", m.path("goals", g.EventID), m.goalOf(0, "blue")), 404, "goal_not_found")
	same(t, "the log", m.corrections(), []string{"sam delete 1/0'"})
	m.consistent()
}

// TestCorrectionsAfterTheWhistle: an administrator adds, edits and deletes goals of a
// finished game; the result, the tables and the log follow.
func TestCorrectionsAfterTheWhistle(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	g := m.score("sam", m.goalOf(0, "blue"))
	m.Play("sam", m.id)

	table := func() (all []string) {
		m.Aggregate()

		type answer struct {
			Teams []struct {
				TeamID      string
				Wins, Draws int
			}
		}
		for _, s := range testkit.Decode[answer](m.World.World, m.Do("", "GET", "/v1/public/seasons/"+m.l.SeasonID+"/standings", nil)).Teams {
			all = append(all, fmt.Sprint(s.TeamID, " ", s.Wins, s.Draws))
		}

		return all
	}
	result := func() string {
		r := m.read().Result
		return fmt.Sprintf("%s %v", r.Winner, r.Drawn)
	}
	same(t, "the result", result(), "red []")
	same(t, "the table", table(), []string{"red 1 0", "yellow 0 0", "blue 0 0"})
	m.pass(time.Second)
	late := m.goalOf(6, "red")
	late.Third = 3
	added := m.score("ann", late)

	same(t, "the result with a goal more", result(), "yellow []")
	same(t, "the table with a goal more", table(), []string{"yellow 1 0", "red 0 0", "blue 0 0"})
	m.pass(time.Second)
	m.Do("ann", "PATCH", m.path("goals", added.EventID), m.goalOf(7, "blue"))
	same(t, "the result of the edit", result(), " [red yellow]")
	same(t, "the table of the edit", table(), []string{"red 0 1", "yellow 0 1", "blue 0 0"})
	m.pass(time.Second)
	m.Do("ann", "DELETE", m.path("goals", added.EventID), nil)
	m.pass(time.Second)
	m.Do("ann", "DELETE", m.path("goals", g.EventID), nil)
	same(t, "the result without goals", result(), " [blue red yellow]")
	same(t, "the table without goals", table(), []string{"blue 0 1", "red 0 1", "yellow 0 1"})
	m.pass(time.Second)
	m.step("reopen")

	if m.read().Result != nil || table() != nil {
		t.Errorf("a reopened game counts: %v", table())
	}

	for _, r := range everything(m.World) {
		if r["entityType"] == "Table" || r["entityType"] == "PlayerSeason" {
			t.Errorf("a season without finished games has %v", r)
		}
	}

	same(t, "the log", m.corrections(), []string{"sam finish", "ann add 3/0'", "ann edit 3/0' 3/0'", "ann delete 3/0'",
		"ann delete 1/0'", "ann reopen"})
	m.consistent()
}

// TestDisplayOfAMinute: stoppage begins after the last minute.
func TestDisplayOfAMinute(t *testing.T) {
	t.Parallel()

	for minute, want := range map[int]string{0: "0'", 19: "19'", 20: "20'", 21: "20+1'", 120: "20+100'"} {
		same(t, fmt.Sprint("minute ", minute), game.Display(minute, 20), want)
	}
}

// TestMinuteOfALateGoal: without a minute, a goal of a third that is over was scored at its
// end at the latest.
func TestMinuteOfALateGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.pass(23 * time.Minute)
	m.step("thirds/1/finish")
	m.pass(time.Hour)
	g := m.goalOf(0, "blue")

	g.Third = 1
	if got := m.score("ann", g); got.Minute != 23 || got.Display != "20+3'" {
		t.Errorf("the goal is of minute %d, %s; want 23, 20+3'", got.Minute, got.Display)
	}
}

// TestTwoScorekeepers record, repeat and undo at once: each goal is there once, and the
// score is that of the goals.
func TestTwoScorekeepers(t *testing.T) {
	t.Parallel()
	m := kickOff(t)

	var (
		all    sync.WaitGroup
		undone sync.Map
	)

	for n, user := range []string{"sam", "sue", "ann"} {
		all.Go(func() {
			for i := range 8 {
				g := m.goalOf((3*n+i)%9, sides[(n+i)%3])
				g.EventID = fmt.Sprintf("01JX%022d", 100*n+i)

				var out = m.Ask(user, "POST", m.path("goals"), g)
				for range 20 { // the phone sends it until it is there
					if out.StatusCode == http.StatusCreated {
						break
					}

					out = m.Ask(user, "POST", m.path("goals"), g)
				}

				if out.StatusCode != http.StatusCreated {
					t.Errorf("%s: %s", user, out.Body)
				}

				if i%3 == 2 { // at most one succeeds for a revision
					if code(m.Ask(user, "POST", m.path("goals/undo"), nil, threefctest.Match(out))) == "200" {
						undone.Store(user+fmt.Sprint(i), true)
					}
				}
			}
		})
	}

	all.Wait()

	want := 24

	undone.Range(func(any, any) bool { want--; return true })

	if n := len(m.goals()); n != want {
		t.Errorf("there are %d goals, want %d", n, want)
	}

	m.consistent()
}

// TestThirdsInOrder: a third starts after the one before has finished, and each step is
// repeatable.
func TestThirdsInOrder(t *testing.T) {
	t.Parallel()

	const bad = "409 bad_third_transition"

	m := club(t)
	for _, c := range []struct{ step, want, status string }{
		{"thirds/1/finish", bad, "scheduled"},
		{"thirds/2/start", bad, "scheduled"},
		{"thirds/3/start", bad, "scheduled"},
		{"finish", "409 thirds_unfinished", "scheduled"},
		{"reopen", "409 game_not_live", "scheduled"},
		{"thirds/1/start", "200", "live"},
		{"thirds/1/start", "200", "live"},
		{"thirds/2/start", bad, "live"},
		{"thirds/2/finish", bad, "live"},
		{"finish", "409 thirds_unfinished", "live"},
		{"thirds/1/finish", "200", "live"},
		{"thirds/1/start", "200", "live"},
		{"thirds/1/finish", "200", "live"},
		{"thirds/3/start", bad, "live"},
		{"thirds/2/start", "200", "live"},
		{"thirds/2/finish", "200", "live"},
		{"finish", "409 thirds_unfinished", "live"},
		{"thirds/3/start", "200", "live"},
		{"reopen", "200", "live"},
		{"thirds/3/finish", "200", "live"},
		{"finish", "200", "finished"},
		{"finish", "200", "finished"},
		{"thirds/1/start", "200", "finished"},
		{"reopen", "200", "live"},
		{"reopen", "200", "live"},
		{"finish", "200", "finished"},
		{"thirds/4/start", "422 invalid", "finished"},
		{"thirds/0/start", "422 invalid", "finished"},
	} {
		m.pass(time.Minute)

		var body any = map[string]any{}
		if !strings.HasPrefix(c.step, "thirds") {
			body = nil
		}

		got := code(m.Ask("ann", "POST", m.path(c.step), body))
		if !strings.HasPrefix(got, strings.TrimSuffix(c.want, "invalid")) {
			t.Errorf("%s: %s, want %s", c.step, got, c.want)
		}

		if status := m.read().Status; status != c.status {
			t.Errorf("after %s the game is %s, want %s", c.step, status, c.status)
		}
	}

	third := m.read().Thirds[0]
	if d := third.FinishedAt.Sub(*third.StartedAt); d != 5*time.Minute {
		t.Errorf("the first third took %s: a repeated step has changed it", d)
	}
}

// TestStepsOfAnOfflinePhone: a phone sends the time of a step that it sends later. A wrong
// clock refuses no step, and none that follows.
func TestStepsOfAnOfflinePhone(t *testing.T) {
	t.Parallel()

	steps := []string{"thirds/1/start", "thirds/1/finish", "thirds/2/start"}

	for _, c := range []struct {
		name     string
		at, want []time.Duration
	}{
		{"as it was", []time.Duration{-time.Hour, -38 * time.Minute, -30 * time.Minute},
			[]time.Duration{-time.Hour, -38 * time.Minute, -30 * time.Minute}},
		{"12 hours ago", []time.Duration{-12 * time.Hour, -11 * time.Hour, -11 * time.Hour},
			[]time.Duration{-12 * time.Hour, -11 * time.Hour, -11 * time.Hour}},
		{"a clock that is ahead", []time.Duration{-time.Hour, 30 * time.Second, 0}, []time.Duration{-time.Hour, 0, 0}},
		{"a clock that is a year ahead", []time.Duration{8760 * time.Hour, 8761 * time.Hour, -time.Minute}, []time.Duration{0, 0, 0}},
		{"a clock that is behind that of another phone", []time.Duration{-time.Hour, -61 * time.Minute, -62 * time.Minute},
			[]time.Duration{-time.Hour, -time.Hour, -time.Hour}},
		{"a clock that is a year behind", []time.Duration{-8760 * time.Hour, -8759 * time.Hour, 0}, []time.Duration{0, 0, 0}},
		{"a second more than 12 hours ago", []time.Duration{-12*time.Hour - time.Second, 0, 0}, []time.Duration{0, 0, 0}},
	} {
		m := club(t)

		now := m.Clock.Now().Truncate(time.Second).Add(time.Second)
		m.MoveClock(now)

		for i, step := range steps {
			if got := code(m.Ask("sam", "POST", m.path(step), map[string]any{"at": now.Add(c.at[i])})); got != "200" {
				t.Errorf("%s: %s: %s, want 200", c.name, step, got)
			}
		}

		var got []time.Duration

		for _, third := range m.read().Thirds {
			for _, at := range []*time.Time{third.StartedAt, third.FinishedAt} {
				if at != nil {
					got = append(got, at.Sub(now))
				}
			}
		}

		same(t, c.name, got, c.want)
	}

	m := club(t)
	m.Do("sam", "POST", m.path("thirds/1/start"), map[string]any{"at": m.Clock.Now().Add(-38 * time.Minute)})

	if g := m.score("sam", m.goalOf(0, "blue")); g.Minute != 38 {
		t.Errorf("the goal is of minute %d, want 38", g.Minute)
	}
}

// TestMinutes: a minute is within twice the length of the third, or what its clock shows. What an
// edit leaves as it is stays.
func TestMinutes(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	at := func(minute int) goal {
		g := m.goalOf(0, "blue")
		g.Third, g.Minute = 1, &minute

		return g
	}
	ask := func(user string, minute int) string { return code(m.Ask(user, "POST", m.path("goals"), at(minute))) }

	const bad = "422 bad_minute"
	same(t, "a second into a third of 20 minutes", []string{ask("sam", 40), ask("sam", 41), ask("sam", 120), ask("ann", 120)},
		[]string{"201", bad, bad, bad})

	out := m.Ask("sam", "POST", m.path("goals"), at(41))
	if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.gameMinute"); err != nil {
		t.Error(err)
	}

	m.pass(75 * time.Minute)
	late := m.score("sam", at(75)).EventID

	same(t, "after 75 minutes", []string{ask("sam", 75), ask("sam", 76)}, []string{"201", bad})
	m.step("thirds/1/finish", "thirds/2/start")
	m.pass(time.Hour)
	same(t, "an hour after the end", []string{ask("ann", 75), ask("ann", 76)}, []string{"201", bad})

	edit := at(75)
	edit.Conceding = "yellow"
	m.Do("ann", "PATCH", m.path("goals", late), edit)
	edit.Third = 2
	refused(t, "to the second third", m.Ask("ann", "PATCH", m.path("goals", late), edit), 422, "bad_minute")
}

// TestMinuteOfAShorterThird: a goal of a minute that a shorter third does not have stays where it
// is, and no other gets there.
func TestMinuteOfAShorterThird(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("sam", "PATCH", m.path(), map[string]any{"thirdLength": 30})
	m.step("thirds/1/start")
	late := m.goalOf(0, "blue")
	late.Minute = new(60)
	id := m.score("sam", late).EventID
	m.Do("sam", "PATCH", m.path(), map[string]any{"thirdLength": 20})
	edit := m.goalOf(0, "yellow")
	m.Do("sam", "PATCH", m.path("goals", id), edit) // without a minute
	edit.Minute = new(59)
	refused(t, "another minute", m.Ask("sam", "PATCH", m.path("goals", id), edit), 422, "bad_minute")
	refused(t, "another goal", m.Ask("sam", "POST", m.path("goals"), late), 422, "bad_minute")
	m.step("thirds/1/finish", "thirds/2/start")

	edit.Third, edit.Minute = 2, new(60)
	refused(t, "another third", m.Ask("ann", "PATCH", m.path("goals", id), edit), 422, "bad_minute")
	same(t, "the goal", m.goals()[0].Display, "20+40'")
}

// TestGoalsAreLimited: the 201st goal of a game is refused.
func TestGoalsAreLimited(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.plantGoals(game.MaxGoals.Max - 1)
	m.score("sam", m.goalOf(0, "blue"))
	refused(t, "one more", m.Ask("sam", "POST", m.path("goals"), m.goalOf(0, "blue")), 409, "too_many_goals")
	m.consistent()
}

// plantGoals stores goals of red against blue.
func (m *match) plantGoals(n int) {
	m.T.Helper()

	var rows []item.Row[item.Goal]

	for i := range n {
		g := item.Goal{
			ID:         fmt.Sprintf("01JY%022d", i),
			Third:      1,
			Minute:     i % 20,
			Scoring:    "red",
			Conceding:  "blue",
			Scorer:     m.l.Players[i%3],
			Assists:    []string{m.l.Players[3]},
			RecordedBy: "sam",
		}
		rows = append(rows, item.New(item.GameKey(m.id), item.GoalKey(g), "Goal", g, m.Clock.Now()))
	}

	testkit.PutRows(m.World.World, tables.App, rows...)
}

// TestCorrectionsArePaged: the newest first, a hundred on a page, each once.
func TestCorrectionsArePaged(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	path := strings.TrimSuffix(m.path(), "/") + "/audit"

	var rows []item.Row[item.Audit]

	for i := range 205 {
		at := m.Clock.Now().Add(time.Duration(i/2) * time.Second)
		rows = append(rows, item.New(item.GameKey(m.id), item.AuditKey(at, fmt.Sprintf("01JZ%022d", i)), "Audit",
			item.Audit{At: item.Format(at), By: fmt.Sprint(i), What: "finish"}, at))
	}

	testkit.PutRows(m.World.World, tables.App, rows...)

	type page struct {
		Corrections []struct{ ByUserID string }
		Next        string
	}

	var got, sizes []string

	for next, more := "", true; more; {
		query := ""
		if next != "" {
			query = "?cursor=" + next
		}

		p := decode[page](m, "vic", "GET", path+query, nil)
		next, more = p.Next, p.Next != ""
		sizes = append(sizes, fmt.Sprint(len(p.Corrections)))

		for _, c := range p.Corrections {
			got = append(got, c.ByUserID)
		}
	}

	var want []string
	for i := range 205 {
		want = append(want, fmt.Sprint(204-i))
	}

	same(t, "the sizes of the pages", sizes, []string{"100", "100", "5"})
	same(t, "the corrections", got, want)
}
