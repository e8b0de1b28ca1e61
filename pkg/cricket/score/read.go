package score

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/sportmonks"
)

// Read makes the state of a match from one snapshot. before is the state that the
// previous snapshot gave, or zero.
//
// The provider's totals are the score. A status it does not document keeps the
// phase before. A finished match is a result only when winner, note and scores
// agree; until then it is Pending in the phase before. A snapshot that lists fewer
// balls than before and does not add up is refused: the state before comes back
// with a Problem, at most 8 times in a row.
func Read(f sportmonks.Fixture, before State) (State, []Problem) { return read(&f, before, false) }

// Final is Read for the last snapshot of a match, after it left the live scores:
// it refuses nothing, and of a finished match takes the best word there is, which
// may be that the result is unknown.
func Final(f sportmonks.Fixture, before State) (State, []Problem) { return read(&f, before, true) }

// maxHeld is how many partial snapshots are refused before they are believed.
const maxHeld = 8

func read(f *sportmonks.Fixture, before State, final bool) (State, []Problem) {
	if before.ID != key(f.ID) {
		before = State{}
	}
	r := reader{f: f, before: &before, final: final, balls: ordered(f.Balls)}
	r.head()
	r.count()
	if r.partial() {
		r.problem(PartialBalls, "balls are missing that were listed before")
		if !final && before.Held < maxHeld {
			before.Held++
			return before, r.problems
		}
		if len(r.s.Innings) == 0 {
			r.s.Innings, r.s.Current = slices.Clone(before.Innings), before.Current
			r.tallies = make([]tally, len(r.s.Innings))
			r.kept = true
		}
	}
	r.begin()
	r.phase()
	r.ends()
	r.chase()
	r.result()
	r.stoppages()
	r.day()
	r.crease()
	r.words()
	return r.s, r.problems
}

// reader makes one state, step by step.
type reader struct {
	f        *sportmonks.Fixture
	before   *State
	final    bool
	balls    []*sportmonks.Ball // ordered
	s        State
	kept     bool    // the innings are those before: the snapshot has none
	tallies  []tally // of s.Innings, by index
	problems []Problem
}

func (r *reader) problem(kind ProblemKind, format string, args ...any) {
	p := Problem{kind, fmt.Sprintf(format, args...)}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// head fills what does not depend on play.
func (r *reader) head() {
	f, b := r.f, r.before
	r.s = State{
		ID:       key(f.ID),
		Format:   format(f, b),
		Round:    fit(f.Round, 80),
		Local:    team(f.Localteam, f.LocalID, b.Local),
		Visitor:  team(f.Visitorteam, f.VisitorID, b.Visitor),
		FollowOn: f.FollowOn,
		Note:     fit(f.Note, 240),
	}
	r.s.PerOver = r.perOver(r.s.Format)
	if r.s.PerOver == 5 && (r.s.Format == T20 || r.s.Format == Other) {
		r.s.Format = Hundred
	}
	if !r.s.Format.MultiDay() {
		r.s.Overs = cmp.Or(min(max(f.Overs, 0), 1000), b.Overs, standard(r.s.Format))
		if r.s.Format == Hundred {
			r.s.Overs = min(r.s.Overs, 100/r.s.PerOver)
		}
	}
	r.s.Toss = b.Toss
	if f.TossWonID != 0 {
		t := Toss{WinnerID: key(f.TossWonID)}
		t.Text = r.s.name(t.WinnerID) + " won the toss"
		switch f.Elected {
		case "batting":
			t.Elected = "bat"
			t.Text += " and chose to bat"
		case "bowling":
			t.Elected = "field"
			t.Text += " and chose to field"
		}
		r.s.Toss = t
	}
}

// standard is the overs a side has by the format, when the feed does not say.
func standard(f Format) int {
	switch f {
	case T20, Hundred:
		return 20
	case ODI:
		return 50
	case T10:
		return 10
	}
	return 0
}

func format(f *sportmonks.Fixture, before *State) Format {
	switch of := FormatOf(f.Type); {
	case of != Other:
		return of
	case before.Format != "":
		return before.Format
	case strings.HasPrefix(strings.ToLower(f.Status), "stump"):
		return FirstClass
	}
	return Other
}

// FormatOf is the format that the provider's type of match names: "T20I",
// "Test/5day", "4day", "List A", ...
func FormatOf(matchType string) Format {
	t := strings.ToLower(matchType)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(t, p) })
	}
	switch {
	case has("hundred", "100"):
		return Hundred
	case has("t10"):
		return T10
	case has("t20", "twenty20"):
		return T20
	case has("odi", "list a", "one day", "one-day", "odm"):
		return ODI
	case has("test"):
		return Test
	case has("day", "mdm", "first class", "first-class"):
		return FirstClass
	}
	return Other
}

func team(t sportmonks.Team, id int, before Team) Team {
	k := key(id)
	if t.ID == 0 && t.Name == "" && before.ID == k {
		return before
	}
	return Team{ID: k, Name: cmp.Or(fit(t.Name, 80), fit(t.Code, 16), "Team "+k), Code: fit(t.Code, 16), Image: fit(t.Image, 240)}
}

// key writes an id; no id is "".
func key(id int) string {
	if id == 0 {
		return ""
	}
	return strconv.Itoa(id)
}

// perOver is the length of an over. Only The Hundred says so by its type, with 5;
// others show it by the labels, once two overs are complete and most agree.
func (r *reader) perOver(format Format) int {
	type over struct{ innings, number int }
	var longest [11]int // overs by their last label
	complete, n := 0, 0
	var cur over
	for _, b := range r.balls {
		o := over{b.Innings, b.At.Overs}
		if o != cur {
			if n > 0 && o.innings == cur.innings {
				longest[min(n, 10)]++
				complete++
			}
			cur, n = o, 0
		}
		if b.Legal() {
			n = max(n, b.At.Balls)
		}
	}
	for _, n := range []int{4, 5, 6, 8} {
		if complete >= 2 && 2*longest[n] > complete {
			return n
		}
	}
	if n := r.before.PerOver; n > 0 {
		return n
	}
	if format == Hundred {
		return 5
	}
	return 6
}

// ordered is the balls by innings and id, each id once, in its last version;
// balls that cannot be placed are left out.
func ordered(all []sportmonks.Ball) []*sportmonks.Ball {
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
	for i, b := range balls {
		if i > 0 && b.ID == balls[last].ID && b.Innings == balls[last].Innings {
			balls[last] = b
			continue
		}
		if i > 0 {
			last++
		}
		balls[last] = b
	}
	return balls[:min(last+1, len(balls))]
}

// tally is what the balls of one innings add up to.
type tally struct {
	balls                []*sportmonks.Ball
	runs, wickets, legal int
	extras               Extras
	batters              map[int]*line
	since                Partnership
	complete             bool // the balls explain the total: details can be counted from them
	gap                  bool // the labels skip a ball
	over, inOver         int  // label of the last over, and its legal balls
}

// line is one batter's part.
type line struct {
	runs, balls, fours, sixes int
	out, hurt                 bool
}

func (t *tally) line(id int) *line {
	l := t.batters[id]
	if l == nil {
		l = &line{}
		t.batters[id] = l
	}
	return l
}

func newTally(balls []*sportmonks.Ball) tally {
	t := tally{balls: balls, batters: make(map[int]*line, 11)}
	for _, b := range balls {
		wide, noBall, total, bat := b.Wide(), b.NoBall(), b.Total(), b.Bat()
		t.runs += total
		t.since.Runs += total
		t.extras.Byes += b.Score.Bye
		t.extras.LegByes += b.Score.LegBye
		for _, id := range [...]int{b.OneID, b.TwoID} {
			if id != 0 {
				t.line(id).hurt = false
			}
		}
		l := t.line(b.BatterID)
		l.hurt = false
		l.runs += bat
		switch {
		case wide:
			t.extras.Wides += b.Score.Runs
		case noBall:
			t.extras.NoBalls += b.Score.Runs - bat
		default:
			t.legal++
		}
		t.place(b, !wide && !noBall)
		if !wide {
			l.balls++
			t.since.Balls++
		}
		if b.Score.Four && bat > 0 {
			l.fours++
		}
		if b.Score.Six && bat > 0 {
			l.sixes++
		}
		if id := b.Dismissed(); id != 0 {
			l := t.line(id)
			if b.Wicket() {
				t.wickets++
				l.out = true
			} else {
				l.hurt = true
			}
			t.since = Partnership{}
		}
	}
	delete(t.batters, 0)
	return t
}

// place follows the labels: over.(legal balls of the over so far + 1).
func (t *tally) place(b *sportmonks.Ball, legal bool) {
	if b.At.Overs != t.over {
		t.gap = t.gap || b.At.Overs != t.over+1
		t.over, t.inOver = b.At.Overs, 0
	}
	t.gap = t.gap || b.At.Balls != t.inOver+1
	if legal {
		t.inOver++
	}
}

// bowled reports whether the balls are those of so many, counted as overs of per:
// as many of them, or by their labels, when umpires miscounted an over.
func (t *tally) bowled(n, per int) bool {
	done := t.inOver >= per-1 && n == (t.over+1)*per
	return t.legal == n || !t.gap && (done || n == t.over*per+min(t.inOver, per))
}

// count makes the innings: totals from the provider's rows, details from the balls.
func (r *reader) count() {
	f, per := r.f, r.s.PerOver
	rows := map[int]sportmonks.Runs{}
	numbers := []int{}
	for _, row := range f.Runs {
		if row.Innings < 1 || row.Innings > 99 {
			continue
		}
		rows[row.Innings] = row
		numbers = append(numbers, row.Innings)
	}
	byInnings := map[int][]*sportmonks.Ball{}
	balls := r.balls
	for i := 0; i < len(balls); {
		n := balls[i].Innings
		from := i
		for i < len(balls) && balls[i].Innings == n {
			i++
		}
		byInnings[n] = balls[from:i]
		numbers = append(numbers, n)
	}
	if len(balls) > 0 {
		r.s.LastBall = slices.MaxFunc(balls, func(a, b *sportmonks.Ball) int { return cmp.Compare(a.ID, b.ID) }).ID
	}
	if slices.ContainsFunc(f.Balls, func(b sportmonks.Ball) bool { return b.ID <= 0 || b.Innings == 0 }) {
		r.problem(UnplacedBall, "a ball without id or innings was left out")
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		t := newTally(byInnings[n])
		inn := Innings{Number: n, SuperOver: r.superOver(n), Listed: len(t.balls), Extras: t.extras}
		row, given := rows[n]
		if !given {
			row = t.row(per)
		}
		o := row.Overs
		bowled := o.Overs*per + o.Balls
		if given && t.legal > 0 && t.legal != bowled && t.legal == o.Overs*6+o.Balls {
			o, bowled = sportmonks.Overs{Overs: t.legal / per, Balls: t.legal % per}, t.legal // counted in sixes whatever the over
		}
		inn.TeamID = key(row.TeamID)
		inn.Runs, inn.Wickets = row.Score, row.Wickets
		inn.Overs = oversText(o, per)
		inn.Balls = bowled
		if len(t.balls) > 0 {
			inn.Unlisted = row.Score - t.runs
			penalty := inn.Unlisted == 5 || inn.Unlisted == 10 // 5 runs that belong to no ball
			t.complete = t.wickets == row.Wickets && t.bowled(bowled, per) && (inn.Unlisted == 0 || penalty)
			if inn.Explained = t.complete; t.complete {
				inn.Balls = t.legal
				inn.Extras.Penalty = inn.Unlisted
			} else {
				r.problem(Disagreement, "innings %d: the balls do not add up to the total", n)
			}
		}
		if !t.complete {
			inn.Extras = r.extras(n)
		}
		r.s.Innings = append(r.s.Innings, inn)
		r.tallies = append(r.tallies, t)
	}
	if n := len(r.s.Innings); n > 0 {
		r.s.Current = r.s.Innings[n-1].Number
	}
}

// begin adds the innings that the status says is in play and that has neither row
// nor ball yet, if it is clear who bats.
func (r *reader) begin() {
	var bats string
	next := r.s.Current + 1
	if len(r.f.Status) < 3 || len(r.s.Innings) != r.s.Current || !strings.EqualFold(r.f.Status[3:], " Innings") || r.f.Status[0] != byte('0'+next) {
		return
	}
	switch toss := r.s.Toss; {
	case next == 1 && toss.Elected == "bat":
		bats = toss.WinnerID
	case next == 1 && toss.Elected == "field":
		bats = r.s.other(toss.WinnerID)
	case next == 3 && r.superOver(3):
		bats = r.s.Innings[1].TeamID // who batted second bats first
	case next == 2, next == 4:
		bats = r.s.other(r.s.Innings[next-2].TeamID)
	}
	if bats == "" {
		return
	}
	r.s.Innings = append(r.s.Innings, Innings{Number: next, TeamID: bats, Overs: "0", SuperOver: r.superOver(next)})
	r.s.Current = next
	r.tallies = append(r.tallies, tally{})
}

// row is the total of an innings that has balls and no row yet.
func (t *tally) row(per int) sportmonks.Runs {
	row := sportmonks.Runs{Score: t.runs, Wickets: t.wickets}
	if n := len(t.balls); n > 0 {
		last := t.balls[n-1]
		row.TeamID = last.TeamID
		row.Overs = sportmonks.Overs{Overs: last.At.Overs, Balls: legal(over(t.balls))}
	}
	return row
}

// over is the balls of the last over.
func over(balls []*sportmonks.Ball) []*sportmonks.Ball {
	i := len(balls)
	for i > 0 && balls[i-1].At.Overs == balls[len(balls)-1].At.Overs {
		i--
	}
	return balls[i:]
}

func legal(balls []*sportmonks.Ball) int {
	n := 0
	for _, b := range balls {
		if b.Legal() {
			n++
		}
	}
	return n
}

// extras is what the scoreboards say.
func (r *reader) extras(n int) (e Extras) {
	for _, b := range r.f.Scoreboards {
		if b.Innings == n && b.Type == "extra" {
			e = Extras{b.Wide, b.NoBall, b.Bye, b.LegBye, b.Penalty}
		}
	}
	return e
}

// superOver: limited overs have two innings; what follows are super overs.
func (r *reader) superOver(n int) bool { return n > 2 && !r.s.Format.MultiDay() }

// partial reports that balls vanished and the totals say that they should not
// have. What the totals never explained does not count against a snapshot.
func (r *reader) partial() bool {
	if len(r.before.Innings) == 0 {
		return false
	}
	if len(r.s.Innings) == 0 {
		return true
	}
	for _, was := range r.before.Innings {
		i := slices.IndexFunc(r.s.Innings, func(n Innings) bool { return n.Number == was.Number })
		switch {
		case i < 0:
			if was.Balls > 0 {
				return true
			}
		case r.s.Innings[i].Listed < was.Listed && !r.tallies[i].complete:
			if was.Explained || r.s.Innings[i].Unlisted != was.Unlisted {
				return true
			}
		}
	}
	return false
}

// phase takes the provider's, or keeps the one before.
func (r *reader) phase() {
	phase, known := r.f.Phase()
	if !known {
		r.problem(UnknownStatus, "unknown status %q", r.f.Status)
		phase = r.before.Phase
		if phase == "" {
			phase = sportmonks.Upcoming
			if len(r.s.Innings) > 0 {
				phase = sportmonks.Live
			}
		}
		r.s.Status = r.before.Status
		r.s.Result = r.before.Result
	}
	r.s.Phase = phase
}

// stoppages counts how often play was interrupted and went on. What follows an
// interruption, an interval or a second one, is the same stoppage until play is
// live again; before play has begun there is nothing to stop.
func (r *reader) stoppages() {
	was := r.before
	r.s.Stops, r.s.Resumes = was.Stops, was.Resumes
	stopped := was.Stops > was.Resumes
	switch {
	case stopped && r.s.Phase == sportmonks.Live:
		r.s.Resumes++
	case !stopped && r.s.Phase == sportmonks.Interrupted && was.Phase != sportmonks.Interrupted && (r.s.Current > 0 || was.Phase == sportmonks.Live):
		r.s.Stops++
	}
}

// inningsBreak reports the status between two innings.
func (r *reader) inningsBreak() bool { return strings.EqualFold(r.f.Status, "Innings Break") }

// ends finds which innings are over, and how.
func (r *reader) ends() {
	finished := r.s.Phase.Over()
	for i := range r.s.Innings {
		n := &r.s.Innings[i]
		last := i == len(r.s.Innings)-1
		r.allot(n)
		spent := n.Limit > 0 && n.bowled(r.s.PerOver) >= n.Limit || n.Target > 0 && n.Runs >= n.Target
		if r.kept {
			n.Over = n.Over || finished
			continue
		}
		wickets := 10
		if n.SuperOver {
			wickets = 2
		}
		n.AllOut = n.Wickets >= wickets
		was := r.before.innings(n.Number)
		same := was != nil && was.Balls == n.Balls && was.Runs == n.Runs && was.Wickets == n.Wickets
		closed := same && was.Over && !finished && r.before.Result.IsZero() && !r.before.Pending // before rain or lunch
		n.Over = n.AllOut || spent || !last || finished || closed || r.inningsBreak()
		if !n.Over || n.AllOut || n.SuperOver || spent {
			continue
		}
		if last && finished {
			n.Declared = same && was.Declared
			continue
		}
		// The innings was cut short. A side that lost its last pair with a batter
		// absent or hurt is all out at fewer than ten; over several days the
		// others declared.
		alone := n.Wickets == 9 && r.standing(i) <= 1
		switch {
		case !r.s.Format.MultiDay():
			n.AllOut = alone && r.f.RPCTarget == 0
		case alone && !strings.Contains(strings.ToLower(r.f.Note), "declar"):
			n.AllOut = !r.couldDeclare(i)
			n.Declared = !n.AllOut
		default:
			n.Declared = true
		}
	}
}

// bowled is the balls of the overs bowled, which is what is gone of the limit:
// a miscounted over still uses up one over.
func (n *Innings) bowled(per int) int {
	whole, part, _ := strings.Cut(n.Overs, ".")
	o, _ := strconv.Atoi(whole)
	b, _ := strconv.Atoi(part)
	return o*per + b
}

// standing is how many batters of an innings came in and were neither out nor
// hurt; a large number when that is not known.
func (r *reader) standing(i int) int {
	t, n := &r.tallies[i], &r.s.Innings[i]
	if t.complete && len(t.balls) > 0 {
		in := 0
		for _, l := range t.batters {
			if !l.out && !l.hurt {
				in++
			}
		}
		return in
	}
	rows := 0
	for _, b := range r.f.Batting {
		if b.Innings == n.Number {
			rows++
		}
	}
	if rows <= n.Wickets {
		return 99
	}
	return rows - n.Wickets
}

// couldDeclare tells a declaration at the fall of the ninth wicket from a tenth
// batter missing, which look alike: who declares has a big total or is well ahead.
func (r *reader) couldDeclare(i int) bool {
	n := r.s.Innings[i]
	lead := 0
	for _, m := range r.s.Innings[:i+1] {
		if m.TeamID == n.TeamID {
			lead += m.Runs
		} else {
			lead -= m.Runs
		}
	}
	if n.Number == 1 {
		return n.Runs >= 300
	}
	return n.Number == 2 && lead > 0 || lead >= 200
}

// allot gives an innings its limit and, when it chases, its target.
func (r *reader) allot(n *Innings) {
	per := r.s.PerOver
	switch {
	case r.s.Format.MultiDay():
		if n.Number == 4 {
			n.Target = max(1-r.s.lead(n.TeamID, 3), 1)
		}
		return
	case n.SuperOver:
		n.Limit = per
		if n.Number%2 == 0 {
			if first := r.s.innings(n.Number - 1); first != nil {
				n.Target = first.Runs + 1
			}
		}
		return
	case n.Number == 2:
		t := r.target()
		n.Target, n.Limit = t.Runs, r.chaseLimit()
		return
	}
	n.Limit = r.s.Overs * per
}

// chaseLimit is the balls of the second innings of a limited-overs match.
func (r *reader) chaseLimit() int {
	if o := r.f.RPCOvers; !o.IsZero() {
		return o.Overs*r.s.PerOver + o.Balls
	}
	return r.s.Overs * r.s.PerOver
}

// target is that of a limited-overs chase: the rain rule's, else the note's, else
// one more than the first innings. A revision once seen stays until another is. In
// a super over the note is about that one.
func (r *reader) target() Target {
	first := r.s.innings(1)
	if first == nil {
		return Target{}
	}
	par := first.Runs + 1
	t := Target{Runs: par}
	superOver := r.s.innings(3) != nil
	switch noted, was := targetIn(r.f.Note), r.before.innings(2); {
	case r.f.RPCTarget > 0:
		t.Runs = r.f.RPCTarget
	case superOver && was != nil && was.Target > 0:
		t.Runs = was.Target
	case superOver:
	case noted > 0:
		t.Runs = noted
	case r.before.Target.Revised && r.before.Current <= 2:
		t.Runs = r.before.Target.Runs
	}
	limit := r.chaseLimit()
	if limit > 0 {
		t.Overs = oversText(sportmonks.Overs{Overs: limit / r.s.PerOver, Balls: limit % r.s.PerOver}, r.s.PerOver)
	}
	t.Revised = t.Runs != par || limit < r.s.Overs*r.s.PerOver
	return t
}

// chase fills target, need and lead.
func (r *reader) chase() {
	cur := r.s.innings(r.s.Current)
	if cur == nil {
		return
	}
	per := r.s.PerOver
	r.s.RunRate = rate(cur.Runs, cur.Balls)
	multi := r.s.Format.MultiDay()
	switch {
	case cur.Target > 0:
		r.s.Target = Target{Runs: cur.Target}
		left := 0
		if cur.Limit > 0 {
			left = max(cur.Limit-cur.bowled(per), 0)
		}
		if !multi && !cur.SuperOver {
			r.s.Target = r.target()
		}
		if runs := cur.Target - cur.Runs; runs > 0 && !cur.Over {
			r.s.Need = Need{TeamID: cur.TeamID, Runs: runs, Balls: left}
			r.s.NeedRate = rate(runs, left)
		}
	case cur.Over && !multi && cur.Number == 1:
		if t := r.target(); !t.Revised && targetIn(r.f.Note) == 0 && !cur.AllOut && cur.Limit > 0 && cur.bowled(per) < cur.Limit {
			return // cut short: the rain rule has yet to say what the other side gets
		}
		r.s.Target = r.target()
		r.s.Need = Need{TeamID: r.s.other(cur.TeamID), Runs: r.s.Target.Runs, Balls: r.chaseLimit()}
		r.s.NeedRate = rate(r.s.Need.Runs, r.s.Need.Balls)
	case cur.Over && cur.SuperOver && cur.Number%2 == 1:
		r.s.Target = Target{Runs: cur.Runs + 1}
		r.s.Need = Need{TeamID: r.s.other(cur.TeamID), Runs: cur.Runs + 1, Balls: per}
	case cur.Over && multi && cur.Number == 3:
		next := r.s.other(cur.TeamID)
		if runs := 1 - r.s.lead(next, 3); runs > 0 {
			r.s.Target = Target{Runs: runs}
			r.s.Need = Need{TeamID: next, Runs: runs}
		}
	}
	if multi && cur.Number >= 2 {
		r.s.Lead = r.s.lead(cur.TeamID, cur.Number)
		if n := r.s.Innings; len(n) >= 3 && n[1].TeamID == n[2].TeamID {
			r.s.FollowOn = true
		}
	}
}

// day follows day and session through the statuses, which name no day in play.
func (r *reader) day() {
	if !r.s.Format.MultiDay() {
		return
	}
	b := r.before
	r.s.Day, r.s.Session = b.Day, b.Session
	if n, ok := strings.CutPrefix(strings.ToLower(r.f.Status), "stump day "); ok {
		r.s.Day, _ = strconv.Atoi(n)
		r.s.Day = min(max(r.s.Day, 0), 9)
		return
	}
	switch r.s.Phase {
	case sportmonks.Live, sportmonks.Break, sportmonks.Interrupted:
	default:
		return
	}
	wasInterval := b.Status == "Lunch" || b.Status == "Tea" || b.Status == "Dinner"
	switch {
	case b.Day == 0 && (b.Phase == sportmonks.Upcoming || b.Phase == "") && r.s.opening():
		r.s.Day, r.s.Session = 1, 1
	case b.Phase == sportmonks.Stumps && b.Day > 0:
		r.s.Day, r.s.Session = min(b.Day+1, 9), 1
	case wasInterval && r.s.Phase != sportmonks.Break && b.Session > 0:
		r.s.Session = min(b.Session+1, 3)
	}
}

// innings is the one with that number, or nil.
func (s *State) innings(number int) *Innings {
	for i := range s.Innings {
		if s.Innings[i].Number == number {
			return &s.Innings[i]
		}
	}
	return nil
}

// lead is a side's runs less the other's, over innings 1 to last.
func (s *State) lead(teamID string, last int) int {
	lead := 0
	for _, n := range s.Innings {
		switch {
		case n.Number > last:
		case n.TeamID == teamID:
			lead += n.Runs
		default:
			lead -= n.Runs
		}
	}
	return lead
}

func (s *State) other(teamID string) string {
	switch teamID {
	case s.Local.ID:
		return s.Visitor.ID
	case s.Visitor.ID:
		return s.Local.ID
	}
	return ""
}

// name is a side's, for sentences.
func (s *State) name(teamID string) string {
	switch teamID {
	case "":
	case s.Local.ID:
		return s.Local.Name
	case s.Visitor.ID:
		return s.Visitor.Name
	}
	return "A side"
}

// opening reports a match that has hardly begun.
func (s *State) opening() bool {
	return s.Current == 0 || s.Current == 1 && s.Innings[0].Balls < 60
}
