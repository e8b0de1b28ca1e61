package scorer

import (
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// crease sets who bats and bowls: from the balls if they add up to the total, otherwise
// from the provider's rows. It does not use the member "active" of the rows, which was
// false for every batter in live matches.
func (r *reader) crease() {
	i := slices.IndexFunc(r.s.Innings, func(n score.Innings) bool { return n.Number == r.s.Current })
	if i < 0 {
		return
	}

	n, t := &r.s.Innings[i], &r.tallies[i]
	rows := tally.Batting(r.f, n.Number)

	batters, facing := [2]int{}, -1
	if len(t.Balls) > 0 {
		batters, facing = r.atCrease(t, rows)
	} else {
		in := slices.DeleteFunc(slices.Clone(rows), func(b sportmonks.Batting) bool { return b.Out })
		for j, b := range in[max(len(in)-2, 0):] {
			batters[j] = b.PlayerID
		}
	}

	for j, id := range batters {
		if id == 0 || j == 1 && id == batters[0] {
			continue
		}

		b := r.batter(t, rows, id)
		b.OnStrike = j == facing
		r.s.Batters = append(r.s.Batters, b)
	}

	r.lastWicket(n, t, rows)
	r.partnership(n, t, rows)

	if len(t.Balls) == 0 {
		return
	}

	r.s.Bowler = r.bowler(n, t, t.Balls[len(t.Balls)-1].BowlerID)
	for _, b := range tally.LastOver(t.Balls) {
		r.s.ThisOver = append(r.s.ThisOver, glyph(b))
	}

	r.s.ThisOver = r.s.ThisOver[max(len(r.s.ThisOver)-12, 0):]
	for _, b := range t.Balls[max(len(t.Balls)-6, 0):] {
		r.s.LastSix = append(r.s.LastSix, glyph(b))
	}
}

// atCrease returns the batters at the crease after the last ball, and the index of the one who
// faces next, or -1 if that is unknown. A batter who has come in is known from a batting row, or
// else from the next ball.
func (r *reader) atCrease(t *tally.Tally, rows []sportmonks.Batting) (batters [2]int, facing int) {
	b := t.Balls[len(t.Balls)-1]

	batters = [2]int{b.OneID, b.TwoID}
	if batters == [2]int{} {
		batters[0] = b.BatterID
	}

	facing = slices.Index(batters[:], b.BatterID)
	out := b.Dismissed()

	if facing < 0 {
		return batters, -1
	}
	// The batters cross once for each run that they ran. A wide and a no-ball give a run
	// without running.
	ran := b.Total()
	switch {
	case b.Wide():
		ran--
	case b.NoBall():
		ran -= b.Score.NoBallRuns
		if r.s.Format == score.Hundred && b.Score.NoBallRuns == 1 && b.Score.Bye > 0 {
			ran-- // The Hundred gives two for a no-ball, and the feed has one member for it
		}
	}

	kind := strings.ToLower(b.Score.Name)
	switch {
	case out != 0 && (strings.Contains(kind, "run out") || strings.Contains(kind, "obstruct")):
		facing = -1
	case out == 0 && ran%2 != 0:
		facing = 1 - facing
	}

	if out != 0 {
		if j := slices.Index(batters[:], out); j >= 0 {
			batters[j] = r.incoming(t, rows)
		}
	}

	ends := r.s.Format != score.Hundred || b.At.Overs%2 == 1 // The Hundred changes ends every ten balls
	if facing >= 0 && ends && b.Legal() && tally.LegalBalls(tally.LastOver(t.Balls)) >= r.s.PerOver {
		facing = 1 - facing
	}

	return batters, facing
}

// incoming returns the newest batter of the rows who is not out and has not been at the
// crease, or 0.
func (r *reader) incoming(t *tally.Tally, rows []sportmonks.Batting) int {
	for _, row := range slices.Backward(rows) {
		if !row.Out && t.Batters[row.PlayerID] == nil {
			return row.PlayerID
		}
	}

	return 0
}

// batter returns a batter from the balls if they add up to the total or there is no row,
// otherwise from the row.
func (r *reader) batter(t *tally.Tally, rows []sportmonks.Batting, id int) score.Batter {
	b := score.Batter{ID: score.IDText(id), Name: tally.PlayerName(r.f, id)}
	l := t.Batters[id]

	i := slices.IndexFunc(rows, func(b sportmonks.Batting) bool { return b.PlayerID == id })
	switch {
	case l != nil && (t.Complete || i < 0):
		b.Runs, b.Balls, b.Fours, b.Sixes = l.Runs, l.Balls, l.Fours, l.Sixes
	case i >= 0:
		b.Runs, b.Balls, b.Fours, b.Sixes = rows[i].Score, rows[i].Balls, rows[i].Fours, rows[i].Sixes
	}

	return b
}

// bowler returns a bowler's figures from the balls if they add up to the total or there
// is no row, otherwise from the row.
func (r *reader) bowler(n *score.Innings, t *tally.Tally, id int) score.Bowler {
	b := score.Bowler{ID: score.IDText(id), Name: tally.PlayerName(r.f, id)}
	if !t.Complete {
		for _, row := range r.f.Bowling {
			if row.Innings == n.Number && row.PlayerID == id {
				b.Overs, b.Maidens, b.Runs, b.Wickets = score.OversText(row.Overs, r.s.PerOver), row.Maidens, row.Runs, row.Wickets
				return b
			}
		}
	}

	whole, balls := 0, 0

	for i := 0; i < len(t.Balls); {
		from, only, charged, mine := i, true, 0, 0
		for ; i < len(t.Balls) && t.Balls[i].At.Overs == t.Balls[from].At.Overs; i++ {
			d := t.Balls[i]
			if d.BowlerID != id {
				only = false
				continue
			}

			charged += d.Score.Runs // wides and no-balls, not byes and leg byes
			if d.Legal() {
				mine++
			}

			if d.Wicket() && creditedToBowler(d) {
				b.Wickets++
			}
		}

		b.Runs += charged

		if only && (i < len(t.Balls) || mine >= r.s.PerOver) { // a complete over, even if the umpires miscounted it
			whole++

			if charged == 0 {
				b.Maidens++
			}
		} else {
			balls += mine
		}
	}

	b.Overs = score.OversText(sportmonks.Overs{Overs: whole + balls/r.s.PerOver, Balls: balls % r.s.PerOver}, r.s.PerOver)

	return b
}

// creditedToBowler reports whether a wicket counts for the bowler.
func creditedToBowler(b *sportmonks.Ball) bool {
	kind := strings.ToLower(b.Score.Name)
	for _, other := range [...]string{"run out", "retired", "obstruct", "timed", "handled", "twice"} {
		if strings.Contains(kind, other) {
			return false
		}
	}

	return true
}

// lastFall returns the row of the last batter who is out, or nil.
func lastFall(rows []sportmonks.Batting) (last *sportmonks.Batting) {
	for i := range rows {
		row := &rows[i]
		if row.Out && (last == nil || tally.ByFall(*row, *last) > 0) {
			last = row
		}
	}

	return last
}

// lastWicket sets the last wicket, if it is known who is out.
func (r *reader) lastWicket(n *score.Innings, t *tally.Tally, rows []sportmonks.Batting) {
	if n.Wickets == 0 {
		return
	}

	var ball *sportmonks.Ball

	for _, b := range slices.Backward(t.Balls) {
		if b.Wicket() {
			ball = b
			break
		}
	}

	id := 0
	if row := lastFall(rows); row != nil && !t.Complete {
		id = row.PlayerID
	} else if ball != nil {
		id = ball.Dismissed()
	}

	if id == 0 {
		return
	}

	b := r.batter(t, rows, id)

	w := score.Wicket{Number: n.Wickets, BatterID: b.ID, Name: b.Name, Runs: b.Runs, Balls: b.Balls}
	if ball != nil && ball.Dismissed() == id {
		w.How, w.BallID = tally.Dismissal(r.f, ball), ball.ID
	}

	r.s.LastWicket = w
}

// partnership sets the partnership, if it is known when the last wicket fell.
func (r *reader) partnership(n *score.Innings, t *tally.Tally, rows []sportmonks.Batting) {
	if len(r.s.Batters) == 0 {
		return
	}

	row := lastFall(rows)
	switch {
	case t.Complete:
		r.s.Partnership = t.Since
	case n.Wickets == 0:
		r.s.Partnership = score.Partnership{Runs: n.Runs, Balls: n.Balls}
	case row != nil:
		fell := row.FallAt.Overs*r.s.PerOver + row.FallAt.Balls
		r.s.Partnership = score.Partnership{Runs: max(n.Runs-row.FallScore, 0), Balls: max(n.Balls-fell, 0)}
	}
}

// glyph returns a delivery in a few characters: "." for no run, "4" for runs off the bat,
// "W" for a wicket, "1W" for a wicket with a run, "wd" and "5wd", "nb" and "2nb" (all
// runs of the ball), "1b", "1lb".
func glyph(b *sportmonks.Ball) string {
	total := b.Total()
	counted := func(n int, kind string) string {
		if n <= 1 {
			return kind
		}

		return strconv.Itoa(n) + kind
	}

	g := strconv.Itoa(total)
	switch {
	case b.Wide():
		g = counted(total, "wd")
	case b.NoBall():
		g = counted(total, "nb")
	case b.Score.LegBye > 0:
		g += "lb"
	case b.Score.Bye > 0:
		g += "b"
	case total == 0:
		g = "."
	}

	if !b.Wicket() {
		return g
	}

	if g == "." {
		return "W"
	}

	return g + "W"
}

// Balls returns the timeline: by innings, then by id, each id once.
func Balls(f sportmonks.Fixture) []score.Ball {
	in := tally.Ordered(f.Balls)

	out := make([]score.Ball, len(in))
	for i, b := range in {
		e := score.Ball{
			ID:      b.ID,
			Innings: b.Innings,
			At:      strconv.Itoa(b.At.Overs) + "." + strconv.Itoa(b.At.Balls),
			Batter:  b.Batter.Name,
			Bowler:  b.Bowler.Name,
			Runs:    b.Total(),
			Bat:     b.Bat(),
			Glyph:   glyph(b),
		}
		if e.Batter == "" {
			e.Batter = tally.PlayerName(&f, b.BatterID)
		}

		if e.Bowler == "" {
			e.Bowler = tally.PlayerName(&f, b.BowlerID)
		}

		switch {
		case b.Wide():
			e.Extra = "wide"
		case b.NoBall():
			e.Extra = "noBall"
		case b.Score.LegBye > 0:
			e.Extra = "legBye"
		case b.Score.Bye > 0:
			e.Extra = "bye"
		}

		if b.Wicket() {
			e.Wicket = tally.PlayerName(&f, b.Dismissed()) + " " + tally.Dismissal(&f, b)
		}

		out[i] = e
	}

	return out
}
