package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// row is a line of a table as the oracle derives it and as the API shows it.
type row struct {
	Rank     int    `json:"rank"`
	Name     string `json:"name"`
	Points   int    `json:"points"`
	Correct  int    `json:"correct"`
	Played   int    `json:"played"`
	Bonus    int    `json:"bonus"`    // of an event
	Movement *int   `json:"movement"` // of a year
}

func (r row) String() string {
	movement := ""
	if r.Movement != nil {
		movement = fmt.Sprintf(" (%+d)", *r.Movement)
	}

	return fmt.Sprintf("%d. %s%s %d points with %d bonus, %d right in %d", r.Rank, r.Name, movement, r.Points, r.Bonus, r.Correct, r.Played)
}

// points counts a member's picks of a show: the points of every match whose winner was
// picked, and the bonus if no match that has a winner is missing.
func (s *show) points(m *member) row {
	r, decided := row{Name: m.name, Played: 1}, 0

	for _, x := range s.card {
		if x.winner == void {
			continue
		}

		decided++

		if s.picks[m][x] == x.winner {
			r.Points, r.Correct = r.Points+x.points, r.Correct+1
		}
	}

	if decided > 0 && r.Correct == decided {
		r.Points, r.Bonus = r.Points+s.bonus, s.bonus
	}

	return r
}

// table sums the points of members in shows, highest first. Of equal points more right
// picks come first, then fewer shows. Equal members share a rank.
func table(members []*member, shows []*show) (rows []row) {
	for _, m := range members {
		sum := row{Name: m.name}
		for _, s := range shows {
			if _, plays := s.picks[m]; plays {
				r := s.points(m)
				sum.Points, sum.Correct, sum.Played, sum.Bonus = sum.Points+r.Points, sum.Correct+r.Correct, sum.Played+1, sum.Bonus+r.Bonus
			}
		}

		if sum.Played > 0 {
			rows = append(rows, sum)
		}
	}

	better := func(a, b row) int { return cmp.Or(b.Points-a.Points, b.Correct-a.Correct, a.Played-b.Played) }
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(better(a, b), cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})

	for i := range rows {
		switch {
		case i == 0:
			rows[i].Rank = 1
		case better(rows[i], rows[i-1]) == 0:
			rows[i].Rank = rows[i-1].Rank
		default:
			rows[i].Rank = rows[i-1].Rank + 1
		}
	}

	return rows
}

// year is the table of the year: with the movement since before the latest show that one
// of the members played, and without the bonus, which it does not show.
func year(members []*member, shows []*show) []row {
	played := func(s *show) bool {
		return slices.ContainsFunc(members, func(m *member) bool { _, plays := s.picks[m]; return plays })
	}
	shows = slices.DeleteFunc(slices.Clone(shows), func(s *show) bool { return !played(s) })
	slices.SortFunc(shows, func(a, b *show) int { return cmp.Compare(a.id, b.id) })

	before := map[string]int{}
	for _, r := range table(members, shows[:max(len(shows)-1, 0)]) {
		before[r.Name] = r.Rank
	}

	rows := table(members, shows)
	for i, r := range rows {
		if rank, was := before[r.Name]; was {
			up := rank - r.Rank
			rows[i].Movement = &up
		}

		rows[i].Bonus = 0
	}

	return rows
}

// undecided returns the members who have not picked every match of a show: who must be
// reminded.
func (s *show) undecided(members []*member) (all []*member) {
	for _, m := range members {
		if len(s.picks[m]) < len(s.card) {
			all = append(all, m)
		}
	}

	return all
}

// differences compares a table with the oracle's.
func differences(what string, got, want []row) (problems []string) {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i].String()
		}

		if i < len(want) {
			w = want[i].String()
		}

		if g != w {
			problems = append(problems, fmt.Sprintf("%s, line %d: got %s, want %s", what, i+1, g, w))
		}
	}

	return problems
}
