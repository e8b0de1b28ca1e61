package standing

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/threefc/item"
)

// ranked returns teams in an order, with their places.
func ranked(all []TeamStanding, games []item.Listing, by []string) []TeamStanding {
	groups := [][]TeamStanding{all} // of equal teams, the better group first

	for _, what := range by {
		var next [][]TeamStanding
		for _, g := range groups {
			next = append(next, split(g, comparison(what, g, games))...)
		}

		groups = next
	}

	ranked := make([]TeamStanding, 0, len(all))

	for _, g := range groups {
		rank := len(ranked) + 1
		for _, s := range split(g, func(a, b TeamStanding) int { return cmp.Compare(a.TeamID, b.TeamID) }) {
			s[0].Rank = rank
			ranked = append(ranked, s[0])
		}
	}

	return ranked
}

// split sorts teams, and returns the groups of those that are equal.
func split(all []TeamStanding, compare func(a, b TeamStanding) int) (groups [][]TeamStanding) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, compare)

	for i, s := range all {
		if i == 0 || compare(all[i-1], s) != 0 {
			groups = append(groups, nil)
		}

		last := len(groups) - 1
		groups[last] = append(groups[last], s)
	}

	return groups
}

// comparison returns how one item of an order compares two teams of a group of equals: the better is less.
func comparison(what string, group []TeamStanding, games []item.Listing) func(a, b TeamStanding) int {
	more := func(value func(TeamStanding) int) func(a, b TeamStanding) int {
		return func(a, b TeamStanding) int { return cmp.Compare(value(b), value(a)) }
	}

	switch what {
	case item.ByPoints:
		return more(func(s TeamStanding) int { return *s.Points })
	case item.ByWins:
		return more(func(s TeamStanding) int { return s.Wins })
	case item.ByDraws:
		return more(func(s TeamStanding) int { return s.Draws })
	case item.ByConceded:
		return more(func(s TeamStanding) int { return -s.Conceded })
	case item.ByScored:
		return more(func(s TeamStanding) int { return s.Scored })
	case item.ByDifference:
		return more(func(s TeamStanding) int { return s.Scored - s.Conceded })
	case item.ByHeadToHead:
		met := headToHead(group, games)
		return more(func(s TeamStanding) int { return met[s.TeamID] })
	case item.ByName:
		return func(a, b TeamStanding) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) }
	}

	return func(TeamStanding, TeamStanding) int { return 0 } // of a later release
}

// headToHead returns for each team of a group how often it was better than another in a game with it, less how
// often it was worse.
func headToHead(group []TeamStanding, games []item.Listing) map[string]int {
	met := map[string]int{}
	of := func(id string) bool {
		return slices.ContainsFunc(group, func(s TeamStanding) bool { return s.TeamID == id })
	}

	for _, g := range games {
		for i, a := range g.Teams {
			for j, b := range g.Teams {
				if of(a.TeamID) && of(b.TeamID) {
					met[a.TeamID] -= ended(g, i, j)
				}
			}
		}
	}

	return met
}

// ended compares how two teams have ended in a game: the better is less.
func ended(g item.Listing, i, j int) int {
	place := func(i int) int {
		switch id := g.Teams[i].TeamID; {
		case g.Result.Winner == id:
			return 0
		case slices.Contains(g.Result.Drawn, id):
			return 1
		case slices.Contains(g.Absent, id):
			return 3
		}

		return 2
	}

	return cmp.Or(cmp.Compare(place(i), place(j)), cmp.Compare(g.Scores[i].Conceded, g.Scores[j].Conceded),
		cmp.Compare(g.Scores[j].Scored, g.Scores[i].Scored))
}
