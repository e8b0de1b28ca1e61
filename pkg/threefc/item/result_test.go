package item_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/pkg/threefc/item"
)

var teams = []item.Team{{TeamID: "red"}, {TeamID: "blue"}, {TeamID: "yellow"}}

// same reports a difference.
func same(t interface{ Errorf(string, ...any) }, what string, got, want any) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// goals reads goals like "red>blue own>red": who scored, or an own goal, against whom.
func goals(text string) (all []item.Goal) {
	for _, one := range strings.Fields(text) {
		by, against, _ := strings.Cut(one, ">")

		g := item.Goal{Third: 1, Scoring: by, Conceding: against, Scorer: "p"}
		if by == "own" {
			g.Scoring, g.OwnGoal = "", true
		}

		all = append(all, g)
	}

	return all
}

func TestResult(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, goals string
		want        item.Result
	}{
		{"fewest conceded wins", "red>blue blue>yellow", item.Result{Winner: "red"}},
		{"who scores most and concedes more loses", "red>blue red>blue red>yellow blue>red yellow>red own>red", item.Result{Winner: "yellow"}},
		{"of two that conceded as few, who scored more wins", "red>yellow red>yellow blue>yellow", item.Result{Winner: "red"}},
		{"of two that conceded and scored as many it is a draw, and the third has lost", "red>yellow blue>yellow",
			item.Result{Drawn: []string{"red", "blue"}}},
		{"no goals: a draw of all", "", item.Result{Drawn: []string{"red", "blue", "yellow"}}},
		{"all the same", "red>blue blue>yellow yellow>red", item.Result{Drawn: []string{"red", "blue", "yellow"}}},
		{"an own goal is conceded", "own>red", item.Result{Drawn: []string{"blue", "yellow"}}},
		{"an own goal is nobody's", "red>yellow own>blue", item.Result{Winner: "red"}},
	} {
		same(t, c.name, item.ResultOf(item.Scores(teams, goals(c.goals))), c.want)
	}
}

// anyGoals draws goals that the rules allow.
func anyGoals(t *rapid.T) []item.Goal {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item.Goal {
		order := rapid.Permutation([]string{"red", "blue", "yellow"}).Draw(t, "teams")

		g := item.Goal{
			Third:     rapid.IntRange(1, 3).Draw(t, "third"),
			Minute:    rapid.IntRange(0, 40).Draw(t, "minute"),
			Scoring:   order[0],
			Conceding: order[1],
			Scorer:    order[0] + "1",
		}
		if rapid.Bool().Draw(t, "own goal") {
			g.Scoring, g.OwnGoal, g.Scorer = "", true, order[1]+"1"
		}

		if rapid.Bool().Draw(t, "assist") {
			g.Assists = []string{order[2] + "2"}
		}

		return g
	}), 0, 12).Draw(t, "goals")
}

// TestScoresOfAnyGoals compares scores and results with a count that walks the goals once
// and asks of each pair of teams which is better.
func TestScoresOfAnyGoals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := anyGoals(t)
		scored, conceded, own := map[string]int{}, map[string]int{}, map[string]int{}

		for _, g := range all {
			if !g.OwnGoal {
				scored[g.Scoring]++
				scored[fmt.Sprint(g.Scoring, g.Third)]++
			} else {
				own[g.Conceding]++
			}

			conceded[g.Conceding]++
			conceded[fmt.Sprint(g.Conceding, g.Third)]++
		}

		scores := item.Scores(teams, all)
		for i, s := range scores {
			id := teams[i].TeamID

			want := item.Score{TeamID: id, Count: item.Count{Scored: scored[id], Conceded: conceded[id]}, Own: own[id]}
			for n := range want.Thirds {
				key := fmt.Sprint(id, n+1)
				want.Thirds[n] = item.Count{Scored: scored[key], Conceded: conceded[key]}
			}

			same(t, "the score", s, want)
		}

		beats := func(a, b string) bool {
			if conceded[a] != conceded[b] {
				return conceded[a] < conceded[b]
			}

			return scored[a] > scored[b]
		}

		var unbeaten []string

		for _, a := range teams {
			beaten := false
			for _, b := range teams {
				beaten = beaten || beats(b.TeamID, a.TeamID)
			}

			if !beaten {
				unbeaten = append(unbeaten, a.TeamID)
			}
		}

		want := item.Result{Drawn: unbeaten}
		if len(unbeaten) == 1 {
			want = item.Result{Winner: unbeaten[0]}
		}

		same(t, "the result", item.ResultOf(scores), want)
	})
}

// TestTalliesOfAnyGoals: an own goal is no goal of its scorer, and each goal is somebody's.
func TestTalliesOfAnyGoals(t *testing.T) {
	t.Parallel()

	var seats []item.Seat

	for _, team := range teams {
		for _, n := range []string{"1", "2"} {
			seats = append(seats, item.Seat{TeamID: team.TeamID, PlayerID: team.TeamID + n})
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		all := anyGoals(t)
		want := map[string]item.Tally{}

		for _, s := range seats {
			tally := item.Tally{TeamID: s.TeamID, Games: 1}

			for _, g := range all {
				switch {
				case g.Scorer == s.PlayerID && g.OwnGoal:
					tally.OwnGoals++
				case g.Scorer == s.PlayerID:
					tally.Goals++
				}

				for _, a := range g.Assists {
					if a == s.PlayerID {
						tally.Assists++
					}
				}
			}

			want[s.PlayerID] = tally
		}

		same(t, "the tallies", item.Tallies(seats, all), want)
	})
}

// TestGoalsSortByThirdMinuteAndID: the keys have the seed's form, and sort as the timeline.
func TestGoalsSortByThirdMinuteAndID(t *testing.T) {
	t.Parallel()

	if got := item.GoalKey(item.Goal{ID: "01JX", Third: 2, Minute: 7}); got != "GOAL#2#0007#01JX" {
		t.Errorf("the key is %s, want GOAL#2#0007#01JX", got)
	}

	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) item.Goal {
			return item.Goal{
				ID:     rapid.StringMatching("[0-9A-Z]{4}").Draw(t, name),
				Third:  rapid.IntRange(1, 3).Draw(t, name),
				Minute: rapid.IntRange(0, 120).Draw(t, name),
			}
		}
		a, b := draw("a"), draw("b")

		before := a.Third < b.Third || a.Third == b.Third && (a.Minute < b.Minute || a.Minute == b.Minute && a.ID < b.ID)
		if (item.GoalKey(a) < item.GoalKey(b)) != before {
			t.Errorf("%s and %s do not sort as %+v and %+v", item.GoalKey(a), item.GoalKey(b), a, b)
		}
	})
}

// TestSlugIsNoID: a slug has no capital letters, so that it is never taken for an id.
func TestSlugIsNoID(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		"01JX0000000000000000000001": true,
		"01jx0000000000000000000001": false,
		"3rdparkwayteam777777777777": false,
		"parkside":                   false,
		"":                           false,
		"81JX0000000000000000000001": false,
	} {
		if got := item.IsID(text); got != want {
			t.Errorf("IsID(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestRoles: each role may do what those before it may.
func TestRoles(t *testing.T) {
	t.Parallel()

	order := []item.Role{"", item.Viewer, item.Scorekeeper, item.Admin}
	for i, r := range order {
		for j, least := range order {
			if got := r.AtLeast(least); got != (i >= j) {
				t.Errorf("%q may do what %q may: %v", r, least, got)
			}
		}
	}
}
