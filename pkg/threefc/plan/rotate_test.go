package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/threefc/plan"
	"matchday/pkg/threefc/season"
)

// spread returns the difference between the most and the least of counts.
func spread[K comparable](counts map[K]int, keys []K) int {
	var all []int
	for _, k := range keys {
		all = append(all, counts[k])
	}

	return slices.Max(all) - slices.Min(all)
}

// TestEachMeetsEquallyOften: any three teams, any two, and each; exactly so when all have met, and about so at any
// time before.
func TestEachMeetsEquallyOften(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, season.MaxTeams.Max).Draw(t, "teams")
		games := rapid.IntRange(0, plan.MaxPlanned.Max).Draw(t, "games")

		var (
			triples [][3]int
			pairs   [][2]int
			teams   []int
		)

		for a := range n {
			teams = append(teams, a)

			for b := a + 1; b < n; b++ {
				pairs = append(pairs, [2]int{a, b})

				for c := b + 1; c < n; c++ {
					triples = append(triples, [3]int{a, b, c})
				}
			}
		}

		three, two, one := map[[3]int]int{}, map[[2]int]int{}, map[int]int{}
		all := plan.Rotate(n, games)

		if len(all) != games {
			t.Fatalf("%d games, want %d", len(all), games)
		}

		for i, g := range all {
			slices.Sort(g[:])
			three[g]++

			for j, a := range g {
				one[a]++

				for _, b := range g[j+1:] {
					two[[2]int{a, b}]++
				}
			}

			most := [3]int{1, 3, 3} // between three, two, and one
			if (i+1)%len(triples) == 0 {
				most = [3]int{}
			}

			got := [3]int{spread(three, triples), spread(two, pairs), spread(one, teams)}
			if got[0] > most[0] || got[1] > most[1] || got[2] > most[2] {
				t.Fatalf("after %d games of %d teams the differences are %v, want at most %v", i+1, n, got, most)
			}
		}
	})
}

// TestTeamsTakeTurnsToBeFirst: in the games of the same three.
func TestTeamsTakeTurnsToBeFirst(t *testing.T) {
	t.Parallel()

	got := plan.Rotate(3, 4)
	if want := [][3]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}}; !slices.Equal(got, want) {
		t.Errorf("the games are %v, want %v", got, want)
	}
}
