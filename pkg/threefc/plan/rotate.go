package plan

import (
	"cmp"
	"math"
	"slices"

	"matchday/pkg/threefc/item"
)

// Rotate returns the teams of games one after the other, by their indexes: in each game three of n. No three
// meet again before all others have met as often, and of these the next are those who have played least, against
// each other and at all. So at any time two pairs differ by at most three meetings, and after all have met by none. n is at
// least 3.
func Rotate(n, games int) [][item.Thirds]int {
	var (
		all   [][item.Thirds]int // all triples
		met   = map[[item.Thirds]int]int{}
		pairs = map[[2]int]int{}
		had   = make([]int, n) // games
	)

	for a := range n {
		for b := a + 1; b < n; b++ {
			for c := b + 1; c < n; c++ {
				all = append(all, [item.Thirds]int{a, b, c})
			}
		}
	}

	out := make([][item.Thirds]int, 0, games)

	for range games {
		best, least := all[0], []int{math.MaxInt}

		for _, t := range all {
			p := []int{pairs[[2]int{t[0], t[1]}], pairs[[2]int{t[0], t[2]}], pairs[[2]int{t[1], t[2]}]}
			weight := []int{met[t], p[0]*p[0] + p[1]*p[1] + p[2]*p[2], had[t[0]] + had[t[1]] + had[t[2]]}

			if slices.Compare(weight, least) < 0 {
				best, least = t, weight
			}
		}

		out = append(out, turned(best, met[best]))
		met[best]++

		for i, a := range best {
			had[a]++

			for _, b := range best[i+1:] {
				pairs[[2]int{a, b}]++
			}
		}
	}

	return out
}

// turned returns three teams with another of them first each time that they meet.
func turned(t [item.Thirds]int, times int) (out [item.Thirds]int) {
	for i := range out {
		out[i] = t[(i+times)%item.Thirds]
	}

	return out
}

// byName orders teams, so that a plan is the same in whatever order they are stored.
func byName(teams []item.Team) []item.Team {
	return slices.SortedFunc(slices.Values(teams), func(a, b item.Team) int { return cmp.Compare(a.TeamID, b.TeamID) })
}
