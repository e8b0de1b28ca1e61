package pickem_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/userdata"
)

// tablesOf returns the standings of 2026 and the results of the show, as bob sees them.
func tablesOf(w *pickemtest.Room) (standings, results string) {
	standings = w.Ask(league.GetStandingsFunction(), "/app/standings/2026", "bob", "").Body
	results = w.Ask(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/results", "bob", "").Body

	return standings, results
}

// TestMemberChangesDuringScoring: a new name, or the removal of a member, before any call of a
// scoring, is what the rankings show afterwards.
func TestMemberChangesDuringScoring(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*pickemtest.Room) int
		want   string // of ann's row, "" for none
	}{
		"rename": {func(w *pickemtest.Room) int {
			return w.Ask(member.UpdateMeFunction(), "/app/me", "ann", `{"name":"Zoe"}`).StatusCode
		}, `"userId":"ann","name":"Zoe"`},
		"removal": {func(w *pickemtest.Room) int {
			return w.Ask(userdata.DeleteUserFunction(), "/admin/users/ann", testkit.Administrator, "").StatusCode
		}, ""},
	} {
		for at, calls := 1, 2; at <= calls; at++ {
			w := pickemtest.New(t)
			w.RequestScores("clash-of-tides")
			env, wire := w.Observe(score.ScoreEventFunction(), at, func() {
				if status := c.change(w); status >= http.StatusMultipleChoices {
					t.Errorf("%s before call %d: status %d", name, at, status)
				}
			}, func(pickemtest.Write) {})
			testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: pickemtest.Show}))

			if at == 1 {
				calls = wire.Calls
			}

			standings, results := tablesOf(w)
			for _, shown := range []string{standings, results} {
				if c.want != "" && !strings.Contains(shown, c.want) || strings.Contains(shown, `"name":"ann"`) ||
					c.want == "" && strings.Contains(shown, `"ann"`) {
					t.Errorf("%s before call %d of the scoring: %s", name, at, shown)
				}
			}
		}
	}
}

// TestRemovedMemberLeavesTheRankings: at once; and the others move up when the messages are
// handled.
func TestRemovedMemberLeavesTheRankings(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	w.CreateShow(3)
	w.Pick("ann", pickemtest.Show, 0, 0, 0)
	w.Pick("bob", pickemtest.Show, 0, 0, 1)
	w.Pick("cat", pickemtest.Show, 0, 1, 1)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0, 0, 0)
	w.Score(pickemtest.Show)
	w.MustAdmin(userdata.DeleteUserFunction(), "/admin/users/ann", "")

	for _, c := range []struct {
		when        string
		do          func()
		count, rank int
	}{{"at once", func() {}, 3, 2}, {"after the messages", w.ScoreQueued, 2, 1}} {
		c.do()

		standings, results := tablesOf(w)
		for _, shown := range []string{standings, results} {
			if strings.Contains(shown, "ann") || !strings.Contains(shown, fmt.Sprintf(`"rank":%d,`, c.rank)) ||
				!strings.Contains(shown, fmt.Sprintf(`"count":%d,`, c.count)) {
				t.Errorf("%s: %s, want bob with rank %d of %d", c.when, shown, c.rank, c.count)
			}
		}
	}
}
