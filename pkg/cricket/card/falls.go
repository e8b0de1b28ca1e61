package card

import (
	"cmp"
	"slices"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// fall is the fall of a wicket. at is the label of its ball, zero if it is unknown.
type fall struct {
	id, runs int
	at       sportmonks.Overs
}

// falls returns the wickets of the rows, or those of the balls if there is no row, in the order in
// which they fell.
func (m *maker) falls(rows []sportmonks.Batting, t *tally.Tally, penalty int, wrong map[Part]bool) []fall {
	var listed []fall

	runs := 0

	for _, b := range t.Balls {
		if runs += b.Total(); b.Wicket() {
			listed = append(listed, fall{b.Dismissed(), runs, b.At})
		}
	}

	if len(rows) == 0 {
		return listed[:min(len(listed), maxPlayers)]
	}

	place := func(id int) int { return slices.IndexFunc(listed, func(f fall) bool { return f.id == id }) }

	var all []fall

	for i := range rows[:min(len(rows), maxPlayers)] {
		row := &rows[i]
		if !howOf(m.result(row)).Wicket() {
			continue
		}

		f := fall{row.PlayerID, row.FallScore, row.FallAt}

		j := place(f.id)
		if f.at.IsZero() && j >= 0 {
			f.runs, f.at = listed[j].runs, listed[j].at
			wrong[FallOfWickets] = true
		}

		all = append(all, f)
	}

	// Two wickets of one ball are in the order of the balls, and then of the rows.
	slices.SortStableFunc(all, func(a, b fall) int {
		switch {
		case a.at.IsZero() && !b.at.IsZero():
			return 1
		case b.at.IsZero() && !a.at.IsZero():
			return -1
		}

		return cmp.Or(tally.ComparePlaces(a.at, b.at), cmp.Compare(a.runs, b.runs),
			cmp.Compare(uint(place(a.id)), uint(place(b.id))))
	})

	if len(listed) > 0 && !m.fellAs(all, listed, penalty) {
		wrong[FallOfWickets] = true
	}

	return all
}

// fellAs reports whether wickets are those of the balls, which have no penalty runs.
func (m *maker) fellAs(all, listed []fall, penalty int) bool {
	balls := func(o sportmonks.Overs) int { return o.Overs*m.per + o.Balls }

	return slices.EqualFunc(all, listed, func(a, b fall) bool {
		return a.id == b.id && balls(a.at) == balls(b.at) && a.runs >= b.runs && a.runs <= b.runs+penalty
	})
}

// partnerships returns the partnerships by the balls. falls are the wickets: one that no ball has
// follows the ball with its label.
func (m *maker) partnerships(t *tally.Tally, falls []fall, wrong map[Part]bool) []Partnership {
	p := pairs{all: []Partnership{}, m: m}
	has := map[int]bool{} // batters whose wicket is one of a ball

	for _, b := range t.Balls {
		if b.Wicket() {
			has[b.Dismissed()] = true
		}
	}

	for _, b := range t.Balls {
		p.bat(b)

		if b.Wicket() {
			if p.fallen >= len(falls) || falls[p.fallen].id != b.Dismissed() {
				wrong[Together] = true
			}

			p.fall(b.Dismissed())
		}

		for p.fallen < len(falls) && !has[falls[p.fallen].id] && tally.ComparePlaces(falls[p.fallen].at, b.At) <= 0 {
			p.fall(falls[p.fallen].id)
		}
	}

	if len(falls) > 0 && p.fallen != len(falls) {
		wrong[Together] = true
	}

	return p.all
}

// pairs adds up partnerships, ball by ball.
type pairs struct {
	m      *maker
	all    []Partnership
	open   bool   // the last of all goes on
	ids    [2]int // of the last pair; 0: unknown
	fallen int    // wickets
}

// bat adds a ball to the partnership of its batters. Another pair than before begins a new one.
func (p *pairs) bat(b *sportmonks.Ball) {
	pair := [2]int{b.OneID, b.TwoID}
	if pair[0] == 0 || pair[1] == 0 { // the provider names the striker alone
		pair = [2]int{b.BatterID, 0}
		if p.open {
			pair = p.ids
			if i := slices.Index(pair[:], b.BatterID); i < 0 && pair[1] == 0 {
				pair[1] = b.BatterID
			}
		}
	}

	known := func(pair [2]int) bool { return pair[0] != 0 && pair[1] != 0 }
	if p.open && known(p.ids) && known(pair) && pair != p.ids && pair != [2]int{p.ids[1], p.ids[0]} {
		p.open = false
	}

	p.ids = pair
	p.begin()

	c := &p.all[len(p.all)-1]
	c.Runs += b.Total()

	if !b.Wide() {
		c.Balls++
	}

	for i := range c.Batters {
		if s := &c.Batters[i]; s.ID == score.IDText(b.BatterID) {
			s.Runs += b.Bat()
			if !b.Wide() {
				s.Balls++
			}
		}
	}
}

// begin begins a partnership, unless one goes on, and names its batters.
func (p *pairs) begin() {
	if !p.open {
		if len(p.all) == maxPairs {
			p.all = p.all[:maxPairs-1]
		}

		p.all = append(p.all, Partnership{Wicket: p.fallen + 1, Batters: []Partner{}})
		p.open = true
	}

	c := &p.all[len(p.all)-1]
	for _, who := range p.m.players(p.ids[:]...) {
		if !slices.ContainsFunc(c.Batters, func(b Partner) bool { return b.ID == who.ID }) {
			c.Batters = append(c.Batters, Partner{ID: who.ID, Name: who.Name})
		}
	}
}

// fall ends the partnership by the wicket of a batter. Without one that goes on, the wicket is the
// second of a ball: it ended a partnership of no ball, of the batter and who was left of the pair.
func (p *pairs) fall(id int) {
	if !p.open {
		if !slices.Contains(p.ids[:], id) {
			i := max(slices.Index(p.ids[:], 0), 0)
			p.ids[i] = id
		}

		p.begin()
	}

	p.all[len(p.all)-1].Broken = true
	p.open = false
	p.fallen++

	if i := slices.Index(p.ids[:], id); i >= 0 {
		p.ids[i] = 0
	}
}
