package standing_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
)

func TestOrderThatASeasonChooses(t *testing.T) {
	t.Parallel()

	// red wins once and loses twice; blue wins once, draws once; yellow wins none, draws once.
	games := []item.Listing{
		finished(1, [3]int{0, 1, 2}, [3]int{3, 0, 0}), finished(2, [3]int{4, 0, 1}, [3]int{0, 2, 0}),
		finished(3, [3]int{5, 1, 1}, [3]int{0, 1, 1}),
	}

	for _, c := range []struct {
		rules item.Rules
		want  string // rank, team and points
	}{
		{item.Rules{}, "1 blue, 2 red, 3 yellow"},
		{item.Rules{Order: []string{item.ByPoints}}, "1 blue 4, 2 red 3, 3 yellow 1"},
		{item.Rules{Order: []string{item.ByPoints}, Points: &item.Points{Win: 1, Draw: 1}}, "1 blue 2, 2 red 1, 2 yellow 1"},
		{item.Rules{Order: []string{item.ByPoints, item.ByName}, Points: &item.Points{Win: 1, Draw: 1}}, "1 blue 2, 2 red 1, 3 yellow 1"},
		{item.Rules{Order: []string{item.ByPoints}, Points: &item.Points{}}, "1 blue 0, 1 red 0, 1 yellow 0"},
		{item.Rules{Order: []string{item.ByDifference}}, "1 blue, 2 yellow, 3 red"},
		{item.Rules{Order: []string{item.ByScored}}, "1 blue, 1 red, 3 yellow"},
		{item.Rules{Order: []string{item.ByScored, item.ByHeadToHead}}, "1 blue, 2 red, 3 yellow"},
		{item.Rules{Order: []string{item.ByConceded}}, "1 blue, 2 yellow, 3 red"},
		{item.Rules{Order: []string{item.ByName}}, "1 blue, 2 red, 3 yellow"},
		{item.Rules{Order: []string{"of a later release"}}, "1 blue, 1 red, 1 yellow"},
	} {
		var got []string

		for _, s := range standing.Teams(games, c.rules) {
			text := fmt.Sprint(s.Rank, " ", s.TeamID)
			if s.Points != nil {
				text += fmt.Sprint(" ", *s.Points)
			}

			got = append(got, text)
		}

		if diff := gocmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.rules.Order, diff)
		}
	}
}

// TestHeadToHeadIsAmongEqualTeams: only the games with another of them count, and a third team that has won does not
// hide which of two was better.
func TestHeadToHeadIsAmongEqualTeams(t *testing.T) {
	t.Parallel()

	// yellow wins both; blue concedes fewer than red in the first alone, by one goal.
	games := []item.Listing{finished(1, [3]int{3, 2, 0}, [3]int{}), finished(2, [3]int{1, 2, 0}, [3]int{}), finished(3, [3]int{5, 4, 0}, [3]int{})}

	var got []string
	for _, s := range standing.Teams(games, item.Rules{Order: []string{item.ByWins, item.ByHeadToHead}}) {
		got = append(got, fmt.Sprint(s.Rank, " ", s.TeamID))
	}

	if diff := gocmp.Diff([]string{"1 yellow", "2 blue", "3 red"}, got); diff != "" {
		t.Errorf("blue was better than red in two of three games (-want +got):\n%s", diff)
	}
}

// drawGame returns a game with any state, as a list has it.
func drawGame(t *rapid.T, n int) item.Listing {
	goals := func(name string) (all [3]int) {
		copy(all[:], rapid.SliceOfN(rapid.IntRange(0, 3), 3, 3).Draw(t, name))
		return all
	}

	what := rapid.SampledFrom([]string{"finished", "missing", "walkover", "stands", "void", "postponed", "live"}).Draw(t, "what")
	l := finished(n, goals("conceded"), goals("scored"))
	absent := rapid.Permutation([]string{"red", "blue", "yellow"}).Draw(t, "absent")

	switch what {
	case "missing":
		l.Absent = absent[:1]
	case "walkover":
		l.State, l.Absent = item.Walkover, absent[:rapid.IntRange(1, 2).Draw(t, "missing")]
	case "stands":
		l.State = item.Abandoned
	case "void":
		l.Status, l.State = item.Void, item.Abandoned
	case "postponed":
		l.Status, l.State = item.Scheduled, item.Postponed
	case "live":
		l.Status = item.Live
	}

	for i := range l.Scores {
		if l.State == item.Walkover || slices.Contains(l.Absent, l.Scores[i].TeamID) {
			l.Scores[i].Count = item.Count{}
		}
	}

	if l.Result = nil; l.Status == item.Finished {
		r := item.Game{Scores: l.Scores, Absent: l.Absent}.Outcome()
		l.Result = &r
	}

	return l
}

// TestTablesOfAnyStates compares the standings of games of any states, under any rules and in any order of the
// games, with sums that are made here by the table of the package.
func TestTablesOfAnyStates(t *testing.T) {
	t.Parallel()

	type line struct{ played, wins, draws, losses, scored, conceded int }

	rapid.Check(t, func(t *rapid.T) {
		var games []item.Listing
		for n := range rapid.IntRange(0, 7).Draw(t, "games") {
			games = append(games, drawGame(t, n))
		}

		order := rapid.Permutation([]string{item.ByPoints, item.ByWins, item.ByDraws, item.ByConceded, item.ByScored,
			item.ByDifference, item.ByName}).Draw(t, "order")[:rapid.IntRange(1, 7).Draw(t, "length")]
		points := item.Points{Win: rapid.IntRange(0, 4).Draw(t, "win"), Draw: rapid.IntRange(0, 2).Draw(t, "draw"),
			Loss: rapid.IntRange(0, 1).Draw(t, "loss")}
		lines := map[string]line{}

		for _, g := range games {
			if g.Status != item.Finished {
				continue
			}

			there := 3 - len(g.Absent)

			for i, team := range g.Teams {
				l, s := lines[team.TeamID], g.Scores[i]
				l.played++
				l.scored += s.Scored
				l.conceded += s.Conceded
				beats, equal := 0, 0

				for j, other := range g.Scores {
					if i == j || slices.Contains(g.Absent, other.TeamID) {
						continue
					}

					switch c := cmp.Or(cmp.Compare(s.Conceded, other.Conceded), cmp.Compare(other.Scored, s.Scored)); {
					case c < 0:
						beats++
					case c == 0:
						equal++
					}
				}

				switch {
				case slices.Contains(g.Absent, team.TeamID) || beats+equal < there-1:
					l.losses++
				case equal > 0:
					l.draws++
				default:
					l.wins++
				}

				lines[team.TeamID] = l
			}
		}

		value := func(id, by string) int {
			l := lines[id]
			return map[string]int{
				item.ByPoints: l.wins*points.Win + l.draws*points.Draw + l.losses*points.Loss, item.ByWins: l.wins, item.ByDraws: l.draws,
				item.ByConceded: -l.conceded, item.ByScored: l.scored, item.ByDifference: l.scored - l.conceded,
				item.ByName: -int(id[0]),
			}[by]
		}
		better := func(a, b string) bool {
			for _, by := range order {
				if x, y := value(a, by), value(b, by); x != y {
					return x > y
				}
			}

			return false
		}

		want := map[string]standing.TeamStanding{}

		for id, l := range lines {
			s := standing.TeamStanding{
				TeamID: id, Name: id, Color: "#000000", Rank: 1, Played: l.played, Wins: l.wins, Draws: l.draws, Losses: l.losses,
				Scored: l.scored, Conceded: l.conceded,
			}
			if slices.Contains(order, item.ByPoints) {
				s.Points = new(value(id, item.ByPoints))
			}

			for other := range lines {
				if better(other, id) {
					s.Rank++
				}
			}

			want[id] = s
		}

		rules := item.Rules{Points: &points, Order: order}
		table := standing.Teams(games, rules)

		got := map[string]standing.TeamStanding{}
		for i, s := range table {
			if got[s.TeamID] = s; i > 0 && table[i-1].Rank > s.Rank {
				t.Errorf("%s is before %s", table[i-1].TeamID, s.TeamID)
			}
		}

		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("the standings (-want +got):\n%s", diff)
		}

		if diff := gocmp.Diff(table, standing.Teams(rapid.Permutation(games).Draw(t, "permutation"), rules)); diff != "" {
			t.Errorf("the games in another order (-want +got):\n%s", diff)
		}
	})
}
