package score

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// crease fills who bats and bowls, from the balls where they explain the total and
// from the provider's rows where they do not. The rows' "active" is not used: it
// has been false for everybody in live matches.
func (r *reader) crease() {
	i := slices.IndexFunc(r.s.Innings, func(n Innings) bool { return n.Number == r.s.Current })
	if i < 0 {
		return
	}
	n, t := &r.s.Innings[i], &r.tallies[i]
	rows := batting(r.f, n.Number)
	pair, facing := [2]int{}, -1
	if len(t.balls) > 0 {
		pair, facing = r.pair(t, rows)
	} else {
		in := slices.DeleteFunc(slices.Clone(rows), func(b sportmonks.Batting) bool { return b.Out })
		for j, b := range in[max(len(in)-2, 0):] {
			pair[j] = b.PlayerID
		}
	}
	for j, id := range pair {
		if id == 0 || j == 1 && id == pair[0] {
			continue
		}
		b := r.batter(t, rows, id)
		b.OnStrike = j == facing
		r.s.Batters = append(r.s.Batters, b)
	}
	r.lastWicket(n, t, rows)
	r.partnership(n, t, rows)
	if len(t.balls) == 0 {
		return
	}
	r.s.Bowler = r.bowler(n, t, t.balls[len(t.balls)-1].BowlerID)
	for _, b := range over(t.balls) {
		r.s.ThisOver = append(r.s.ThisOver, glyph(b))
	}
	r.s.ThisOver = r.s.ThisOver[max(len(r.s.ThisOver)-12, 0):]
	for _, b := range t.balls[max(len(t.balls)-6, 0):] {
		r.s.LastSix = append(r.s.LastSix, glyph(b))
	}
}

// batting is the provider's rows of an innings, in batting order.
func batting(f *sportmonks.Fixture, number int) []sportmonks.Batting {
	rows := slices.DeleteFunc(slices.Clone(f.Batting), func(b sportmonks.Batting) bool { return b.Innings != number })
	slices.SortStableFunc(rows, func(a, b sportmonks.Batting) int { return cmp.Compare(a.Sort, b.Sort) })
	return rows
}

// byFall orders batters who are out by when they fell.
func byFall(a, b sportmonks.Batting) int {
	return cmp.Or(place(a.FallAt, b.FallAt), cmp.Compare(a.FallScore, b.FallScore))
}

func place(a, b sportmonks.Overs) int {
	return cmp.Or(cmp.Compare(a.Overs, b.Overs), cmp.Compare(a.Balls, b.Balls))
}

// pair is who is at the crease after the last ball, and the index of who faces
// next, or -1 when nobody can tell. Whoever comes in is known by a batting row or
// with the next ball.
func (r *reader) pair(t *tally, rows []sportmonks.Batting) (pair [2]int, facing int) {
	b := t.balls[len(t.balls)-1]
	pair = [2]int{b.OneID, b.TwoID}
	if pair == [2]int{} {
		pair[0] = b.BatterID
	}
	facing = slices.Index(pair[:], b.BatterID)
	out := b.Dismissed()
	if facing < 0 {
		return pair, -1
	}
	// Batters cross once for each run they ran: a wide and a no-ball give one
	// without running.
	ran := b.Total()
	switch {
	case b.Wide():
		ran--
	case b.NoBall():
		ran -= b.Score.NoBallRuns
		if r.s.Format == Hundred && b.Score.NoBallRuns == 1 && b.Score.Bye > 0 {
			ran-- // there a no-ball gives two, and the feed has one place for it
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
		if j := slices.Index(pair[:], out); j >= 0 {
			pair[j] = r.incoming(t, rows, pair)
		}
	}
	ends := r.s.Format != Hundred || b.At.Overs%2 == 1 // The Hundred changes ends every ten balls
	if facing >= 0 && ends && b.Legal() && legal(over(t.balls)) >= r.s.PerOver {
		facing = 1 - facing
	}
	return pair, facing
}

// incoming is the newest batter of the rows who is neither out nor at the crease
// and has not left hurt, or 0.
func (r *reader) incoming(t *tally, rows []sportmonks.Batting, pair [2]int) int {
	for _, row := range slices.Backward(rows) {
		l := t.batters[row.PlayerID]
		if !row.Out && row.PlayerID != pair[0] && row.PlayerID != pair[1] && l == nil {
			return row.PlayerID
		}
	}
	return 0
}

func (r *reader) batter(t *tally, rows []sportmonks.Batting, id int) Batter {
	b := Batter{ID: key(id), Name: playerName(r.f, id)}
	l := t.batters[id]
	i := slices.IndexFunc(rows, func(b sportmonks.Batting) bool { return b.PlayerID == id })
	switch {
	case l != nil && (t.complete || i < 0):
		b.Runs, b.Balls, b.Fours, b.Sixes = l.runs, l.balls, l.fours, l.sixes
	case i >= 0:
		b.Runs, b.Balls, b.Fours, b.Sixes = rows[i].Score, rows[i].Balls, rows[i].Fours, rows[i].Sixes
	}
	return b
}

func (r *reader) bowler(n *Innings, t *tally, id int) Bowler {
	b := Bowler{ID: key(id), Name: playerName(r.f, id)}
	if !t.complete {
		for _, row := range r.f.Bowling {
			if row.Innings == n.Number && row.PlayerID == id {
				b.Overs, b.Maidens, b.Runs, b.Wickets = oversText(row.Overs, r.s.PerOver), row.Maidens, row.Runs, row.Wickets
				return b
			}
		}
	}
	whole, balls := 0, 0
	for i := 0; i < len(t.balls); {
		from, alone, charged, mine := i, true, 0, 0
		for ; i < len(t.balls) && t.balls[i].At.Overs == t.balls[from].At.Overs; i++ {
			d := t.balls[i]
			if d.BowlerID != id {
				alone = false
				continue
			}
			charged += d.Score.Runs // wides and no-balls, not byes and leg byes
			if d.Legal() {
				mine++
			}
			if d.Wicket() && bowlers(d) {
				b.Wickets++
			}
		}
		b.Runs += charged
		if alone && (i < len(t.balls) || mine >= r.s.PerOver) { // complete, even when miscounted
			whole++
			if charged == 0 {
				b.Maidens++
			}
		} else {
			balls += mine
		}
	}
	b.Overs = oversText(sportmonks.Overs{Overs: whole + balls/r.s.PerOver, Balls: balls % r.s.PerOver}, r.s.PerOver)
	return b
}

// bowlers reports whether a wicket is the bowler's.
func bowlers(b *sportmonks.Ball) bool {
	kind := strings.ToLower(b.Score.Name)
	for _, other := range [...]string{"run out", "retired", "obstruct", "timed", "handled", "twice"} {
		if strings.Contains(kind, other) {
			return false
		}
	}
	return true
}

// lastFall is the newest fallen wicket of the rows, or nil.
func lastFall(rows []sportmonks.Batting) (last *sportmonks.Batting) {
	for i := range rows {
		row := &rows[i]
		if row.Out && (last == nil || byFall(*row, *last) > 0) {
			last = row
		}
	}
	return last
}

func (r *reader) lastWicket(n *Innings, t *tally, rows []sportmonks.Batting) {
	if n.Wickets == 0 {
		return
	}
	var ball *sportmonks.Ball
	for _, b := range slices.Backward(t.balls) {
		if b.Wicket() {
			ball = b
			break
		}
	}
	id := 0
	if row := lastFall(rows); row != nil && !t.complete {
		id = row.PlayerID
	} else if ball != nil {
		id = ball.Dismissed()
	}
	if id == 0 {
		return
	}
	b := r.batter(t, rows, id)
	w := Wicket{Number: n.Wickets, BatterID: b.ID, Name: b.Name, Runs: b.Runs, Balls: b.Balls}
	if ball != nil && ball.Dismissed() == id {
		w.How, w.BallID = how(r.f, ball), ball.ID
	}
	r.s.LastWicket = w
}

func (r *reader) partnership(n *Innings, t *tally, rows []sportmonks.Batting) {
	if len(r.s.Batters) == 0 {
		return
	}
	row := lastFall(rows)
	switch {
	case t.complete:
		r.s.Partnership = t.since
	case n.Wickets == 0:
		r.s.Partnership = Partnership{n.Runs, n.Balls}
	case row != nil:
		fell := row.FallAt.Overs*r.s.PerOver + row.FallAt.Balls
		r.s.Partnership = Partnership{max(n.Runs-row.FallScore, 0), max(n.Balls-fell, 0)}
	}
}

// playerName looks a player up in the lineup and then among the balls.
func playerName(f *sportmonks.Fixture, id int) string {
	if id == 0 {
		return ""
	}
	for i := range f.Lineup {
		if p := &f.Lineup[i]; p.ID == id && p.Name != "" {
			return p.Name
		}
	}
	for i := range f.Balls {
		switch b := &f.Balls[i]; {
		case b.BatterID == id && b.Batter.Name != "":
			return b.Batter.Name
		case b.BowlerID == id && b.Bowler.Name != "":
			return b.Bowler.Name
		}
	}
	return "Player " + key(id)
}

// how is the dismissal in the scorebook's words; score names are compound
// ("1 Leg Bye + Run Out"), so their parts decide.
func how(f *sportmonks.Fixture, b *sportmonks.Ball) string {
	kind := strings.ToLower(b.Score.Name)
	has := func(part string) bool { return strings.Contains(kind, part) }
	by := "b " + cmp.Or(b.Bowler.Name, playerName(f, b.BowlerID))
	with := func(word string, fielder int) string {
		if name := playerName(f, fielder); name != "" {
			return word + " " + name + " " + by
		}
		return word + " " + by
	}
	switch {
	case has("run out"):
		if name := playerName(f, b.RunOutID); name != "" {
			return "run out (" + name + ")"
		}
		return "run out"
	case has("catch"), has("caught"):
		if b.CatchID != 0 && b.CatchID == b.BowlerID || has("and bowled") || has("& bowled") {
			return "c & " + by
		}
		return with("c", b.CatchID)
	case has("stump"):
		return with("st", b.CatchID)
	case has("lbw"):
		return "lbw " + by
	case has("hit wicket"):
		return "hit wicket " + by
	case has("bowled"):
		return by
	case has("retired"):
		return "retired out"
	case has("obstruct"):
		return "obstructing the field"
	case has("timed"):
		return "timed out"
	case has("handled"):
		return "handled the ball"
	case has("twice"):
		return "hit the ball twice"
	}
	return "out"
}

// glyph is a delivery in a few characters: "." for none, runs off the bat, "W",
// "1W" with runs; "wd", "5wd", "nb", "2nb" (all runs of the ball), "1b", "1lb".
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

// Balls is the timeline: by innings, then by id, each id once.
func Balls(f sportmonks.Fixture) []Ball {
	in := ordered(f.Balls)
	out := make([]Ball, len(in))
	for i, b := range in {
		e := Ball{
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
			e.Batter = playerName(&f, b.BatterID)
		}
		if e.Bowler == "" {
			e.Bowler = playerName(&f, b.BowlerID)
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
			e.Wicket = playerName(&f, b.Dismissed()) + " " + how(&f, b)
		}
		out[i] = e
	}
	return out
}
