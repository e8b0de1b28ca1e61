package replay

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"matchday/infra/sim/openfootball"
)

// jokerFactor is what the points of the match with the joker count times.
const jokerFactor = 2

// kicktipp returns whether the tournament has the rule kicktipp, with jokers. Others have the rule that a tournament
// has if none is named.
func (c *cup) kicktipp() bool { return c.n%2 == 1 }

// points returns what a guess of a result earns.
func (c *cup) points(guess, result openfootball.Goals) int {
	switch {
	case cmp.Compare(guess[0], guess[1]) != cmp.Compare(result[0], result[1]):
		return 0
	case !c.kicktipp():
		return 3
	case guess == result:
		return 4
	case guess[0] != guess[1] && guess[0]-guess[1] == result[0]-result[1]:
		return 3
	}

	return 2
}

// sums are the points of each member with a settled guess, in all rounds, by questions, and in the current round:
// the last with a known result. points has all of them.
type sums struct {
	points, asked, now map[*member]int
	round              int
}

// sums adds up the points of guesses, by the results of a time: of one round, or of all if only is
// negative.
func (c *cup) sums(t time.Time, only int) sums {
	s := sums{map[*member]int{}, map[*member]int{}, map[*member]int{}, -1}

	for _, f := range c.fixtures {
		result, ok := f.result(t)

		round := slices.Index(c.rounds, f.match.Round)
		if !ok && !f.corrected || only >= 0 && round != only {
			continue
		}

		if round > s.round {
			s.round = round
			clear(s.now)
		}

		for m := range f.guesses {
			guess, counts := f.counted(m)
			if !counts {
				continue
			}

			p := 0 // of a match that was made void after it was settled
			if ok {
				p = c.points(guess, result)
			}

			if f.jokers[m] {
				p *= jokerFactor
			}

			s.points[m] += p
			if round == s.round {
				s.now[m] += p
			}
		}
	}

	if only >= 0 {
		return s
	}

	for _, q := range c.asked {
		for m := range q.earned {
			s.asked[m] += q.earned[m]
			s.points[m] += q.earned[m]
		}
	}

	return s
}

// line is a member in a table.
type line struct {
	Rank     int
	MemberID string
	NickName string
	Points   int
	Movement int
}

// table returns the lines of members: points descending, then nickname, then id. Ranks are dense. If
// all members had the same points before the round, nobody has moved.
func table(total, before map[*member]int) []line {
	lines := []line{}
	for m, p := range total {
		lines = append(lines, line{rank(total, p), m.id, m.name, p, rank(before, before[m]) - rank(total, p)})
	}

	if rank(before, -1) <= 2 {
		for i := range lines {
			lines[i].Movement = 0
		}
	}

	names := collate.New(language.Und)

	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(b.Points-a.Points, names.CompareString(a.NickName, b.NickName), cmp.Compare(a.MemberID, b.MemberID))
	})

	return lines
}

// rank is one more than the number of different points above p.
func rank(all map[*member]int, p int) int {
	above := map[int]bool{}

	for _, o := range all {
		if o > p {
			above[o] = true
		}
	}

	return 1 + len(above)
}

// board returns the leaderboard by the results of a time.
func (c *cup) board(t time.Time) []line {
	s := c.sums(t, -1)

	before := map[*member]int{}
	for m, p := range s.points {
		before[m] = p - s.now[m]
	}

	return table(s.points, before)
}

// board returns the table of a league: all of its members, with the sums of its tournaments
// in which a match has been settled.
func (l *league) board(t time.Time) []line {
	total, before := map[*member]int{}, map[*member]int{}
	for _, m := range l.members {
		total[m], before[m] = 0, 0

		for _, c := range l.cups {
			s := c.sums(t, -1)
			total[m] += s.points[m]
			before[m] += s.points[m] - s.now[m]
		}
	}

	return table(total, before)
}

// winners returns the ids of the members with the most points in a round, unless nobody has
// any: at most ten, in order.
func (c *cup) winners(t time.Time, round int) (ids []string) {
	for _, l := range table(c.sums(t, round).points, nil) {
		if l.Rank == 1 && l.Points > 0 {
			ids = append(ids, l.MemberID)
		}
	}

	slices.Sort(ids)

	return ids[:min(len(ids), 10)]
}

// standings returns the tables of the file, with the results of a time.
func (c *cup) standings(t time.Time) []openfootball.Table {
	var all []openfootball.Match

	for _, f := range c.fixtures {
		m := openfootball.Match{Round: f.match.Round, Group: f.match.Group, Home: f.match.Home, Away: f.match.Away}
		if e := f.at(t); played(e) {
			m.Score.FullTime = &e.Score
		}

		all = append(all, m)
	}

	return openfootball.Tables(all)
}
