package openfootball

import (
	"cmp"
	"maps"
	"slices"
)

// Table is the table of a group, or of a league if Group is empty.
type Table struct {
	Group string
	Rows  []Row // the leader first
}

// Row is the row of a team. A win gives three points, a draw one.
type Row struct {
	Team                                   string
	Played, Won, Drawn, Lost, For, Against int
	Points                                 int
}

// Tables returns the tables of the groups, in the order of their names, from the results
// of the matches. Knockout rounds do not count. A team without a result has a row of zeros.
//
// Teams are ordered by points, then goal difference, then goals, all descending, then by
// name. Real leagues differ: some look at the matches between the teams first, and some
// deduct points as a penalty.
func Tables(matches []Match) []Table {
	groups := map[string]map[string]*Row{}

	for _, m := range matches {
		if m.Round.Knockout() {
			continue
		}

		if groups[m.Group] == nil {
			groups[m.Group] = map[string]*Row{}
		}

		rows := groups[m.Group]
		for _, team := range []string{m.Home, m.Away} {
			if rows[team] == nil {
				rows[team] = &Row{Team: team}
			}
		}

		if g, ok := m.Result(); ok {
			rows[m.Home].add(g[0], g[1])
			rows[m.Away].add(g[1], g[0])
		}
	}

	var tables []Table

	for _, group := range slices.Sorted(maps.Keys(groups)) {
		t := Table{Group: group}
		for _, row := range groups[group] {
			t.Rows = append(t.Rows, *row)
		}

		slices.SortFunc(t.Rows, func(a, b Row) int {
			return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.For-b.Against, a.For-a.Against),
				cmp.Compare(b.For, a.For), cmp.Compare(a.Team, b.Team))
		})
		tables = append(tables, t)
	}

	return tables
}

func (r *Row) add(scored, conceded int) {
	r.Played++
	r.For += scored

	r.Against += conceded
	switch {
	case scored > conceded:
		r.Won++
		r.Points += 3
	case scored == conceded:
		r.Drawn++
		r.Points++
	default:
		r.Lost++
	}
}
