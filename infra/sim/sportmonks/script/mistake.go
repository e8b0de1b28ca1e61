package script

import (
	"math/rand/v2"

	"matchday/infra/sim/cricsheet"
)

// Mistyped returns delivery n with an error that a scorer could make.
func Mistyped(m *Match, n int, r *rand.Rand) *Delivery {
	d := m.Deliveries[n]
	was := d.Score
	one := func(x cricsheet.Extras, bat int) Score { return runsOf(x, bat, true, 1) }

	switch {
	case len(d.Dismissals) > 0:
		d = rescored(m, d, one(cricsheet.Extras{}, 0), nil)
	case was.Four:
		d = rescored(m, d, one(cricsheet.Extras{Wides: 5}, 0), nil)
	case was.Six, was.wide():
		d = rescored(m, d, one(cricsheet.Extras{}, 4), nil)
	case was.Total() == 0:
		switch r.IntN(3) {
		case 0:
			d = rescored(m, d, one(cricsheet.Extras{}, 1), nil)
		case 1:
			d = rescored(m, d, one(cricsheet.Extras{Legbyes: 1}, 0), nil)
		case 2:
			d = bowled(m, d)
		}
	case r.IntN(3) == 0:
		d = bowled(m, d)
	default:
		d = rescored(m, d, one(cricsheet.Extras{}, 0), nil)
	}

	return &d
}

// Phantom returns a delivery after delivery n that was not bowled.
func Phantom(m *Match, n int, r *rand.Rand) *Delivery {
	d := m.Deliveries[n]
	d.Number += 2
	d.Dismissals = nil
	over, balls := d.overs/10, d.overs%10

	d.Over, d.Label = over, label(over, balls+1)
	if r.IntN(4) == 0 {
		d = bowled(m, d)
	} else {
		d = rescored(m, d, runsOf(cricsheet.Extras{}, []int{0, 1, 4, 6}[r.IntN(4)], true, 1), nil)
	}

	return &d
}

func bowled(m *Match, d Delivery) Delivery {
	result, _ := dismissal("bowled", false)
	return rescored(m, d, Score{Ball: true},
		[]Dismissal{{Player: d.Striker, Bowler: d.Bowler, Catcher: -1, Thrower: -1, How: result, Credited: true}})
}

// rescored returns d with another score and the fields that depend on it.
func rescored(m *Match, d Delivery, s Score, outs []Dismissal) Delivery {
	d.Score, d.Dismissals, d.penalty = s.with(outs), outs, 0
	d.Legal = d.Score.legal()
	d.conceded = d.Score.Runs

	over, before := d.Label/10, d.Label%10-1
	if d.Legal {
		before++
	}

	d.overDone = before >= m.BallsPerOver
	if d.overs = label(over, before); d.overDone {
		d.overs = label(over+1, 0)
	}

	return d
}
