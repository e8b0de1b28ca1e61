package card

import (
	"cmp"
	"slices"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// figures are a bowler's figures by the balls.
type figures struct {
	id                                           int
	whole, balls                                 int // complete overs, and legal balls of others
	last                                         int // of balls: those of the last over that is listed, if it was bowled alone
	lastMaiden                                   int // 1 if that over is a maiden, once it is complete
	maidens, runs, wickets, wides, wide, noBalls int // wides in runs, wide in balls
}

// bowling returns the bowlers of the rows, or those of the balls if there is no row.
func (m *maker) bowling(n *score.Innings, t *tally.Tally, wrong map[Part]bool) []Bowler {
	listed := m.figures(t)
	all := []Bowler{}

	rows := slices.DeleteFunc(slices.Clone(m.f.Bowling), func(b sportmonks.Bowling) bool { return b.Innings != n.Number })
	slices.SortStableFunc(rows, func(a, b sportmonks.Bowling) int { return cmp.Compare(a.Sort, b.Sort) })

	same := len(rows) == len(listed)

	for i := range rows[:min(len(rows), maxPlayers)] {
		row := rows[i]

		j := slices.IndexFunc(listed, func(f figures) bool { return f.id == row.PlayerID })
		if j >= 0 {
			same = m.agrees(&row, &listed[j]) && same
		}

		same = same && j >= 0
		all = append(all, m.bowler(row))
	}

	if len(all) > 0 {
		wrong[Bowling] = len(listed) > 0 && !same
		return all
	}

	for _, f := range listed {
		if f.last >= m.per {
			f.whole, f.balls, f.maidens = f.whole+1, f.balls-f.last, f.maidens+f.lastMaiden
		}

		balls := f.whole*m.per + f.balls
		all = append(all, m.bowler(sportmonks.Bowling{
			PlayerID: f.id, Overs: sportmonks.Overs{Overs: balls / m.per, Balls: balls % m.per}, Maidens: f.maidens, Runs: f.runs,
			Wickets: f.wickets, Wides: f.wides, NoBalls: f.noBalls,
		}))
	}

	return all
}

func (m *maker) bowler(row sportmonks.Bowling) Bowler {
	return Bowler{
		ID: score.IDText(row.PlayerID), Name: m.name(row.PlayerID), Overs: score.OversText(row.Overs, m.per), Maidens: row.Maidens,
		Runs: row.Runs, Wickets: row.Wickets, Wides: row.Wides, NoBalls: row.NoBalls,
		Economy: score.Rate(row.Runs, row.Overs.Overs*m.per+row.Overs.Balls),
	}
}

// agrees reports whether a row is what the balls give. If the row counts in overs of six balls, and
// those of the match have another length, it writes the overs of the match into the row.
func (m *maker) agrees(row *sportmonks.Bowling, f *figures) bool {
	bowled, balls := row.Overs.Overs*m.per+row.Overs.Balls, f.whole*m.per+f.balls

	// The balls do not say whether the last over is complete, because umpires miscount.
	complete := f.last > 0 && bowled == balls-f.last+m.per
	if bowled != balls && !complete && row.Overs.Overs*6+row.Overs.Balls == balls {
		row.Overs = sportmonks.Overs{Overs: balls / m.per, Balls: balls % m.per}
		bowled = balls
	}

	maidens := row.Maidens >= f.maidens && row.Maidens <= f.maidens+f.lastMaiden
	wides := row.Wides == f.wides || row.Wides == f.wide

	return (bowled == balls || complete) && maidens && wides && row.Runs == f.runs && row.Wickets == f.wickets && row.NoBalls == f.noBalls
}

// figures returns the figures of all bowlers by the balls, in the order in which they came on.
func (m *maker) figures(t *tally.Tally) (all []figures) {
	of := func(id int) *figures {
		i := slices.IndexFunc(all, func(f figures) bool { return f.id == id })
		if i < 0 {
			i, all = len(all), append(all, figures{id: id})
		}

		return &all[i]
	}

	for balls := t.Balls; len(balls) > 0; {
		n := slices.IndexFunc(balls, func(b *sportmonks.Ball) bool { return b.At.Overs != balls[0].At.Overs })
		last := n < 0

		if last {
			n = len(balls)
		}

		m.over(balls[:n], last, of)
		balls = balls[n:]
	}

	return slices.DeleteFunc(all, func(f figures) bool { return f.id == 0 })
}

// over adds the balls of an over to the figures of its bowlers.
func (m *maker) over(balls []*sportmonks.Ball, last bool, of func(id int) *figures) {
	alone := !slices.ContainsFunc(balls, func(b *sportmonks.Ball) bool { return b.BowlerID != balls[0].BowlerID })
	charged := 0

	for _, b := range balls {
		f := of(b.BowlerID)
		f.runs += b.Score.Runs // wides and no-balls, not byes and leg byes
		charged += b.Score.Runs

		switch {
		case b.Wide():
			f.wides, f.wide = f.wides+b.Score.Runs, f.wide+1
		case b.NoBall():
			f.noBalls++
		default:
			f.balls++
		}

		if b.Wicket() && howOf(b.Score).Credited() {
			f.wickets++
		}
	}

	legal := tally.LegalBalls(balls)
	if !alone {
		return
	}

	maiden := 0
	if charged == 0 && legal >= m.per {
		maiden = 1
	}

	f := of(balls[0].BowlerID)
	if last {
		f.last, f.lastMaiden = legal, maiden
		return
	}

	f.whole, f.balls, f.maidens = f.whole+1, f.balls-legal, f.maidens+maiden
}
