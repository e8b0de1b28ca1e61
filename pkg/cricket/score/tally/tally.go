package tally

import (
	"cmp"
	"slices"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// Ordered returns the balls by innings and id. Of balls with the same id it returns the
// last. It omits balls without an id or an innings.
func Ordered(all []sportmonks.Ball) []*sportmonks.Ball {
	balls := make([]*sportmonks.Ball, 0, len(all))
	for i := range all {
		if b := &all[i]; b.ID > 0 && b.Innings > 0 {
			balls = append(balls, b)
		}
	}

	slices.SortStableFunc(balls, func(a, b *sportmonks.Ball) int {
		return cmp.Or(cmp.Compare(a.Innings, b.Innings), cmp.Compare(a.ID, b.ID))
	})

	last := 0
	for _, b := range balls {
		if b.ID != balls[last].ID || b.Innings != balls[last].Innings {
			last++
		}

		balls[last] = b
	}

	return balls[:min(last+1, len(balls))]
}

// Tally is the sum of the balls of an innings.
type Tally struct {
	Balls                []*sportmonks.Ball
	Runs, Wickets, Legal int
	Extras               score.Extras
	Batters              map[int]*Line
	Since                score.Partnership // since the last wicket
	Complete             bool              // the balls add up to the total, so details can be counted from them
	gap                  bool              // the labels skip a ball
	Over, InOver         int               // label of the last over, and how many legal balls it has
}

// Line is the part of one batter. Hurt is true while the batter is retired hurt.
type Line struct {
	Runs, Balls, Fours, Sixes int
	Out, Hurt                 bool
}

// Line returns the line of a batter, and adds it if there is none.
func (t *Tally) Line(id int) *Line {
	l := t.Batters[id]
	if l == nil {
		l = &Line{}
		t.Batters[id] = l
	}

	return l
}

// New adds up balls, which must be as Ordered returns them and of one innings.
func New(balls []*sportmonks.Ball) Tally {
	t := Tally{Balls: balls, Batters: make(map[int]*Line, 11)}

	t.gap = len(balls) > 0 && balls[0].At.Overs != 0 // the first over is not listed
	for _, b := range balls {
		wide, noBall, total, bat := b.Wide(), b.NoBall(), b.Total(), b.Bat()
		t.Runs += total
		t.Since.Runs += total
		t.Extras.Byes += b.Score.Bye

		t.Extras.LegByes += b.Score.LegBye
		for _, id := range [...]int{b.OneID, b.TwoID} {
			if id != 0 {
				t.Line(id).Hurt = false
			}
		}

		l := t.Line(b.BatterID)
		l.Hurt = false
		l.Runs += bat

		switch {
		case wide:
			t.Extras.Wides += b.Score.Runs
		case noBall:
			t.Extras.NoBalls += b.Score.Runs - bat
		default:
			t.Legal++
		}

		t.place(b, !wide && !noBall)

		if !wide {
			l.Balls++
			t.Since.Balls++
		}

		if b.Score.Four && bat > 0 {
			l.Fours++
		}

		if b.Score.Six && bat > 0 {
			l.Sixes++
		}

		if id := b.Dismissed(); id != 0 {
			l := t.Line(id)
			if b.Wicket() {
				t.Wickets++
				l.Out = true
			} else {
				l.Hurt = true
			}

			t.Since = score.Partnership{}
		}
	}

	delete(t.Batters, 0)

	return t
}

// place follows the labels of the balls: over.(legal balls of the over so far + 1). It
// notes a gap in them.
func (t *Tally) place(b *sportmonks.Ball, legal bool) {
	if b.At.Overs != t.Over {
		t.gap = t.gap || b.At.Overs != t.Over+1
		t.Over, t.InOver = b.At.Overs, 0
	}

	t.gap = t.gap || b.At.Balls != t.InOver+1
	if legal {
		t.InOver++
	}
}

// Bowled reports whether the balls are all n balls of the innings, in overs of per. If
// the umpires miscounted an over, the labels decide.
func (t *Tally) Bowled(n, per int) bool {
	done := t.InOver >= per-1 && n == (t.Over+1)*per
	return t.Legal == n || !t.gap && (done || n == t.Over*per+min(t.InOver, per))
}

// Row returns the total of the balls, for an innings that has no row yet.
func (t *Tally) Row(per int) sportmonks.Runs {
	row := sportmonks.Runs{Score: t.Runs, Wickets: t.Wickets}
	if n := len(t.Balls); n > 0 {
		last := t.Balls[n-1]
		row.TeamID = last.TeamID
		row.Overs = sportmonks.Overs{Overs: last.At.Overs, Balls: LegalBalls(LastOver(t.Balls))}
	}

	return row
}

// LastOver returns the balls of the last over.
func LastOver(balls []*sportmonks.Ball) []*sportmonks.Ball {
	i := len(balls)
	for i > 0 && balls[i-1].At.Overs == balls[len(balls)-1].At.Overs {
		i--
	}

	return balls[i:]
}

// LegalBalls returns how many of the balls are neither wides nor no-balls.
func LegalBalls(balls []*sportmonks.Ball) int {
	n := 0

	for _, b := range balls {
		if b.Legal() {
			n++
		}
	}

	return n
}
