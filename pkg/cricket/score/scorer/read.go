package scorer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// Read makes the state of a match from a snapshot. before is the state that the previous
// snapshot gave, or zero.
//
//   - The provider's totals are the score.
//   - A status that the provider does not document keeps the phase before.
//   - A finished match has a result only if winner, note and scores agree. Until then it
//     is Pending, in the phase before.
//   - A snapshot that lists fewer balls than before, and whose totals disagree with that,
//     is refused: Read returns the state before and a Problem. After 8 refusals in a row
//     it is accepted.
func Read(f sportmonks.Fixture, before score.State) (score.State, []Problem) {
	return read(&f, before, false)
}

// Final is Read for the last snapshot of a match, after it left the live scores. It
// refuses no snapshot. For a finished match it returns the most probable result, which
// may be Unknown.
func Final(f sportmonks.Fixture, before score.State) (score.State, []Problem) {
	return read(&f, before, true)
}

// maxHeld is how many partial snapshots in a row are refused before one is accepted.
const maxHeld = 8

func read(f *sportmonks.Fixture, before score.State, final bool) (score.State, []Problem) {
	if before.ID != score.IDText(f.ID) {
		before = score.State{}
	}

	r := reader{f: f, before: &before, final: final, balls: tally.Ordered(f.Balls)}
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
			r.tallies = make([]tally.Tally, len(r.s.Innings))
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
	r.texts()

	return r.s, r.problems
}

// reader makes one state. read calls its methods in order.
type reader struct {
	f        *sportmonks.Fixture
	before   *score.State
	final    bool
	balls    []*sportmonks.Ball // ordered
	s        score.State
	kept     bool          // the snapshot has no innings, and those before are kept
	tallies  []tally.Tally // by the index of s.Innings
	problems []Problem
}

// problem adds a problem.
func (r *reader) problem(kind ProblemKind, format string, args ...any) {
	r.problems = append(r.problems, Problem{kind, fmt.Sprintf(format, args...)})
}

// head sets what does not depend on play.
func (r *reader) head() {
	f, b := r.f, r.before
	r.s = score.State{
		ID:       score.IDText(f.ID),
		Format:   format(f, b),
		Round:    score.Fit(f.Round, 80),
		Local:    team(f.Localteam, f.LocalID, b.Local),
		Visitor:  team(f.Visitorteam, f.VisitorID, b.Visitor),
		FollowOn: f.FollowOn,
		Note:     score.Fit(f.Note, 240),
	}

	r.s.PerOver = r.perOver(r.s.Format)
	if r.s.PerOver == 5 && (r.s.Format == score.T20 || r.s.Format == score.Other) {
		r.s.Format = score.Hundred
	}

	if !r.s.Format.MultiDay() {
		r.s.Overs = cmp.Or(min(max(f.Overs, 0), 1000), b.Overs, score.Standard(r.s.Format))
		if r.s.Format == score.Hundred {
			r.s.Overs = min(r.s.Overs, 100/r.s.PerOver)
		}
	}

	r.s.Toss = b.Toss

	if f.TossWonID != 0 {
		t := score.Toss{WinnerID: score.IDText(f.TossWonID)}
		switch f.Elected {
		case "batting":
			t.Elected = "bat"
		case "bowling":
			t.Elected = "field"
		}

		r.s.Toss = t
	}
}

// format returns the format of the type, or else the format before.
func format(f *sportmonks.Fixture, before *score.State) score.Format {
	switch of := score.FormatOf(f.Type); {
	case of != score.Other:
		return of
	case before.Format != "":
		return before.Format
	case strings.HasPrefix(strings.ToLower(f.Status), "stump"):
		return score.FirstClass
	}

	return score.Other
}

// team returns a team, or the one before if the snapshot has only its id.
func team(t sportmonks.Team, id int, before score.Team) score.Team {
	k := score.IDText(id)
	if t.ID == 0 && t.Name == "" && before.ID == k {
		return before
	}

	return score.Team{
		ID:    k,
		Name:  cmp.Or(score.Fit(t.Name, 80), score.Fit(t.Code, 16), "Team "+k),
		Code:  score.Fit(t.Code, 16),
		Image: score.Fit(t.Image, 240),
	}
}

// perOver returns the balls of an over. The labels of the balls decide once two overs are
// complete and most of them agree. Before that it is the number before, or 5 for The
// Hundred, or 6.
func (r *reader) perOver(format score.Format) int {
	type over struct{ innings, number int }

	var longest [11]int // number of overs, by their last label

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

	if format == score.Hundred {
		return 5
	}

	return 6
}

// count sets the innings: totals from the provider's rows, details from the balls.
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
		t := tally.New(byInnings[n])
		inn := score.Innings{Number: n, SuperOver: r.superOver(n), Listed: len(t.Balls), Extras: t.Extras}

		row, given := rows[n]
		if !given {
			row = t.Row(per)
		}

		o := row.Overs

		bowled := o.Overs*per + o.Balls
		if t.Legal != bowled && t.Legal == o.Overs*6+o.Balls {
			// the provider counts in sixes, whatever the length of an over
			o, bowled = sportmonks.Overs{Overs: t.Legal / per, Balls: t.Legal % per}, t.Legal
		}

		inn.TeamID = score.IDText(row.TeamID)
		inn.Runs, inn.Wickets = row.Score, row.Wickets
		inn.Overs = score.OversText(o, per)

		inn.Balls = bowled
		if len(t.Balls) > 0 {
			inn.Unlisted = row.Score - t.Runs
			penalty := inn.Unlisted == 5 || inn.Unlisted == 10 // penalty runs come in fives and belong to no ball

			t.Complete = t.Wickets == row.Wickets && t.Bowled(bowled, per) && (inn.Unlisted == 0 || penalty)
			if inn.Explained = t.Complete; t.Complete {
				inn.Balls = t.Legal
				inn.Extras.Penalty = inn.Unlisted
			} else {
				r.problem(Disagreement, "innings %d: the balls do not add up to the total", n)
			}
		}

		if !t.Complete {
			inn.Extras = r.extras(n)
		}

		r.s.Innings = append(r.s.Innings, inn)
		r.tallies = append(r.tallies, t)
	}

	if n := len(r.s.Innings); n > 0 {
		r.s.Current = r.s.Innings[n-1].Number
	}
}

// begin adds the innings that is in play by the status, if it has no row and no ball yet and
// the batting team is known.
func (r *reader) begin() {
	var bats string

	next := r.s.Current + 1
	if len(r.s.Innings) != r.s.Current || r.inPlay() != next {
		return
	}

	switch toss := r.s.Toss; {
	case next == 1 && toss.Elected == "bat":
		bats = toss.WinnerID
	case next == 1 && toss.Elected == "field":
		bats = r.s.Opponent(toss.WinnerID)
	case next == 3 && r.superOver(3):
		bats = r.s.Innings[1].TeamID // the side that batted second bats first
	case next == 2, next == 4:
		bats = r.s.Opponent(r.s.Innings[next-2].TeamID)
	}

	if bats == "" {
		return
	}

	r.s.Innings = append(r.s.Innings, score.Innings{Number: next, TeamID: bats, Overs: "0", SuperOver: r.superOver(next)})
	r.s.Current = next
	r.tallies = append(r.tallies, tally.Tally{})
}

// inPlay returns the number of the innings that is in play by the status, or 0.
func (r *reader) inPlay() int {
	if phase, _ := r.f.Phase(); phase != sportmonks.Live {
		return 0
	}

	return leadingInt(strings.TrimSpace(r.f.Status))
}

// extras returns an innings' extras from the scoreboards.
func (r *reader) extras(n int) (e score.Extras) {
	for _, b := range r.f.Scoreboards {
		if b.Innings == n && b.Type == "extra" {
			e = score.Extras{Wides: b.Wide, NoBalls: b.NoBall, Byes: b.Bye, LegByes: b.LegBye, Penalty: b.Penalty}
		}
	}

	return e
}

// superOver reports whether innings n is a super over: in limited overs, the third and
// later ones are.
func (r *reader) superOver(n int) bool { return n > 2 && !r.s.Format.MultiDay() }

// partial reports whether balls or innings of the state before are missing, although the
// totals still contain them. Balls that never added up to the total may disappear.
func (r *reader) partial() bool {
	for _, was := range r.before.Innings {
		i := slices.IndexFunc(r.s.Innings, func(n score.Innings) bool { return n.Number == was.Number })
		switch {
		case i < 0:
			if was.Balls > 0 || was.Runs > 0 {
				return true
			}
		case r.s.Innings[i].Listed < was.Listed && !r.tallies[i].Complete:
			if was.Explained || r.s.Innings[i].Unlisted != was.Unlisted {
				return true
			}
		}
	}

	return false
}

// phase sets the phase of the status. For an unknown status it keeps phase, status and
// result of the state before.
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

// stoppages counts how often play was interrupted and resumed. An interval or another
// interruption belongs to the same stoppage until play is live again. Before play has
// begun, an interruption does not count.
func (r *reader) stoppages() {
	was := r.before
	r.s.Stops, r.s.Resumes = was.Stops, was.Resumes

	stopped := was.Stops > was.Resumes
	switch {
	case stopped && r.s.Phase == sportmonks.Live:
		r.s.Resumes++
	case !stopped && r.s.Phase == sportmonks.Interrupted && was.Phase != sportmonks.Interrupted &&
		(r.s.Current > 0 || was.Phase == sportmonks.Live):
		r.s.Stops++
	}
}

// inningsBreak reports whether the status is that between two innings.
func (r *reader) inningsBreak() bool { return strings.EqualFold(r.f.Status, "Innings Break") }

// ends sets which innings are over, and whether they were declared or all out.
func (r *reader) ends() {
	finished := r.s.Phase.Over()
	for i := range r.s.Innings {
		n := &r.s.Innings[i]
		last := i == len(r.s.Innings)-1
		r.allot(n)

		spent := n.Limit > 0 && n.Bowled(r.s.PerOver) >= n.Limit || n.Target > 0 && n.Runs >= n.Target
		if r.kept {
			n.Over = n.Over || finished
			continue
		}

		wickets := 10
		if n.SuperOver {
			wickets = 2
		}

		n.AllOut = n.Wickets >= wickets
		was := r.before.InningsOf(n.Number)
		same := was != nil && was.Balls == n.Balls && was.Runs == n.Runs && was.Wickets == n.Wickets
		// It was over before rain or lunch, unless a status of play in it contradicts that.
		closed := same && was.Over && r.before.Result.IsZero() && !r.before.Pending && r.inPlay() != n.Number

		n.Over = n.AllOut || spent || !last || finished || closed || r.inningsBreak()
		if !n.Over || n.AllOut || n.SuperOver || spent {
			continue
		}

		if last && finished {
			n.Declared = same && was.Declared
			continue
		}
		// The innings was cut short. A side that has no second batter left, with one
		// absent or hurt, is all out with fewer than ten wickets. In multi-day matches,
		// any other side has declared.
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

// standing returns how many batters of an innings came in and are neither out nor hurt,
// or 99 if that is unknown.
func (r *reader) standing(i int) int {
	t, n := &r.tallies[i], &r.s.Innings[i]
	if t.Complete {
		in := 0

		for _, l := range t.Batters {
			if !l.Out && !l.Hurt {
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

// couldDeclare reports whether an innings that ended with nine wickets may have been
// declared. The side of a first innings needs 300 runs for that, of a second a lead, of
// a later one a lead of 200. Otherwise the last batter did not come in.
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

// allot sets the limit of an innings and, for a chase, its target.
func (r *reader) allot(n *score.Innings) {
	per := r.s.PerOver
	switch {
	case r.s.Format.MultiDay():
		if n.Number == 4 {
			n.Target = max(1-r.s.LeadOf(n.TeamID, 3), 1)
		}

		return
	case n.SuperOver:
		n.Limit = per
		if n.Number%2 == 0 {
			if first := r.s.InningsOf(n.Number - 1); first != nil {
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

// chaseLimit returns the balls allotted to the second innings of a limited-overs match.
func (r *reader) chaseLimit() int {
	if o := r.f.RPCOvers; !o.IsZero() {
		return o.Overs*r.s.PerOver + o.Balls
	}

	return r.s.Overs * r.s.PerOver
}

// target returns the target of a limited-overs chase: that of the rain rule, or else of
// the note, or else one run more than the first innings. A revised target stays until it
// is revised again. During a super over the note is about the super over.
func (r *reader) target() score.Target {
	first := r.s.InningsOf(1)
	if first == nil {
		return score.Target{}
	}

	par := first.Runs + 1
	t := score.Target{Runs: par}

	superOver := r.s.InningsOf(3) != nil
	switch noted, was := targetIn(r.f.Note), r.before.InningsOf(2); {
	case r.f.RPCTarget > 0:
		t.Runs = r.f.RPCTarget
	case superOver && was != nil && was.Target > 0:
		t.Runs = was.Target
	case superOver:
	case noted > 0:
		t.Runs = noted
	case r.before.Target.Revised:
		t.Runs = r.before.Target.Runs
	}

	limit := r.chaseLimit()
	if limit > 0 {
		t.Overs = score.OversText(sportmonks.Overs{Overs: limit / r.s.PerOver, Balls: limit % r.s.PerOver}, r.s.PerOver)
	}

	t.Revised = t.Runs != par || limit < r.s.Overs*r.s.PerOver

	return t
}

// chase sets target, need, rates and lead.
func (r *reader) chase() {
	cur := r.s.InningsOf(r.s.Current)
	if cur == nil {
		return
	}

	per := r.s.PerOver
	r.s.RunRate = score.Rate(cur.Runs, cur.Balls)

	multi := r.s.Format.MultiDay()
	switch {
	case cur.Target > 0:
		r.s.Target = score.Target{Runs: cur.Target}

		left := max(cur.Limit-cur.Bowled(per), 0)
		if !multi && !cur.SuperOver {
			r.s.Target = r.target()
		}

		if runs := cur.Target - cur.Runs; runs > 0 && !cur.Over {
			r.s.Need = score.Need{TeamID: cur.TeamID, Runs: runs, Balls: left}
			r.s.NeedRate = score.Rate(runs, left)
		}
	case cur.Over && !multi && cur.Number == 1:
		if t := r.target(); !t.Revised && targetIn(r.f.Note) == 0 && !cur.AllOut && cur.Bowled(per) < cur.Limit {
			return // cut short: the rain rule has not yet set a target
		}

		r.s.Target = r.target()
		r.s.Need = score.Need{TeamID: r.s.Opponent(cur.TeamID), Runs: r.s.Target.Runs, Balls: r.chaseLimit()}
		r.s.NeedRate = score.Rate(r.s.Need.Runs, r.s.Need.Balls)
	case cur.Over && cur.SuperOver && cur.Number%2 == 1:
		r.s.Target = score.Target{Runs: cur.Runs + 1}
		r.s.Need = score.Need{TeamID: r.s.Opponent(cur.TeamID), Runs: cur.Runs + 1, Balls: per}
	case cur.Over && multi && cur.Number == 3:
		next := r.s.Opponent(cur.TeamID)
		if runs := 1 - r.s.LeadOf(next, cur.Number); runs > 0 {
			r.s.Target = score.Target{Runs: runs}
			r.s.Need = score.Need{TeamID: next, Runs: runs}
		}
	}

	if multi && cur.Number >= 2 {
		r.s.Lead = r.s.LeadOf(cur.TeamID, cur.Number)
		if n := r.s.Innings; len(n) >= 3 && n[1].TeamID == n[2].TeamID {
			r.s.FollowOn = true
		}
	}
}

// The shortest pauses that end a session and a day of play. Statuses may be wrong for a few
// answers; a meal takes 20 minutes or more, a night ten hours.
const (
	minInterval = 5 * time.Minute
	minNight    = time.Hour
	// minReserve is the shortest interruption of a limited-overs match after which play is on a
	// reserve day. An innings lasts less than four hours, and so does rain that leaves time for play
	// on the same day.
	minReserve = 8 * time.Hour
)

// day sets day, session and pause. The status names the day only at stumps, so all are
// followed from the state before.
func (r *reader) day() {
	if !r.s.Format.MultiDay() {
		r.reserveDay()
		return
	}

	b := r.before
	r.s.Day, r.s.Session = b.Day, b.Session
	stumps, wasStumps := r.s.Phase == sportmonks.Stumps, b.Phase == sportmonks.Stumps
	meal := r.s.Phase == sportmonks.Break && !r.inningsBreak()
	wasMeal := b.Status == "Lunch" || b.Status == "Tea" || b.Status == "Dinner"

	switch r.s.Phase {
	case sportmonks.Live, sportmonks.Break, sportmonks.Interrupted:
		switch {
		case b.Day == 0 && (b.Phase == sportmonks.Upcoming || b.Phase == "") && r.s.InOpening():
			r.s.Day, r.s.Session = 1, 1
		case wasStumps && r.brief(minNight), wasMeal && !meal && r.brief(minInterval):
			r.s.Day, r.s.Session = b.Pause.Day, b.Pause.Session
		case wasStumps && b.Day > 0:
			r.s.Day, r.s.Session = min(b.Day+1, 9), 1
		case wasMeal && !meal && b.Session > 0:
			r.s.Session = min(b.Session+1, 3)
		}
	}

	switch {
	case !stumps && !meal:
	case stumps == wasStumps && meal == wasMeal:
		r.s.Pause = b.Pause
	case b.Current > 0 && !r.f.AskedAt.IsZero():
		r.s.Pause = score.Pause{Since: r.f.AskedAt.Unix(), Day: r.s.Day, Session: r.s.Session}
	}

	if n, ok := strings.CutPrefix(strings.ToLower(r.f.Status), "stump day "); ok {
		r.s.Day, _ = strconv.Atoi(n)
		r.s.Day = min(max(r.s.Day, 0), 9)
	}
}

// reserveDay sets the day of a limited-overs match that resumes on another day: a match has one
// reserve day. It sets the pause while play that had begun is interrupted.
func (r *reader) reserveDay() {
	b := r.before
	r.s.Day = b.Day

	switch {
	case r.s.Phase.Over():
	case r.s.Phase == sportmonks.Live:
		if b.Pause.Since != 0 && !r.f.AskedAt.IsZero() && !r.brief(minReserve) {
			r.s.Day = 2
		}
	case b.Pause.Since != 0:
		r.s.Pause = b.Pause
	case b.Current > 0 && !r.f.AskedAt.IsZero():
		r.s.Pause = score.Pause{Since: r.f.AskedAt.Unix(), Day: r.s.Day}
	}
}

// brief reports whether the pause of the state before was shorter than least.
func (r *reader) brief(least time.Duration) bool {
	since := r.before.Pause.Since
	return !r.f.AskedAt.IsZero() && r.f.AskedAt.Sub(time.Unix(since, 0)) < least
}
