package scorer

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// noteResult is the result in a note.
type noteResult struct {
	score.Result
	tied, drawn, none, abandoned bool
}

// readNote reads the provider's note: "X won by 6 wickets (with 4 balls remaining)", "Match
// tied (X won the Super Over)", "No result", and so on. It ignores the names of the
// teams: Tied House may win.
func (r *reader) readNote() noteResult {
	note := strings.ToLower(r.f.Note)
	names := r.names()
	text := blank(note, names)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}

	v := noteResult{
		tied:      has("tied", "match tie", "a tie"),
		drawn:     has("drawn", "match draw"),
		none:      has("no result"),
		abandoned: has("abandon", "washed out"),
	}
	switch {
	case has("super over", "super-over", "eliminator", "super five"):
		v.Decider = score.SuperOver
	case has("bowl-out", "bowl out", "bowlout"):
		v.Decider = score.BowlOut
	}

	switch {
	case has("d/l", "dls", "duckworth"):
		v.Method = "DLS"
	case has("vjd"):
		v.Method = "VJD"
	case has("award", "conced", "forfeit", "walkover", "default"):
		v.Method = "awarded"
	case has("1st innings", "first innings"):
		v.Method = "first innings score"
	case has("fewer wickets"):
		v.Method = "fewer wickets lost"
	default:
		v.Method = remark(r.f.Note)
	}

	for _, verb := range [...]string{" won", " win", " beat", " defeat"} {
		i := strings.Index(text, verb)
		if i < 0 || strings.HasPrefix(text[i+len(verb):], " the toss") {
			continue
		}

		if v.WinnerID = r.named(note[:i], names); v.WinnerID == "" {
			continue
		}

		after := note[i+len(verb):]

		_, by, _ := strings.Cut(after, "by ")
		if v.Innings = strings.HasPrefix(strings.TrimPrefix(by, "an "), "innings"); v.Innings {
			_, by, _ = strings.Cut(by, "and ")
		}

		if n := leadingInt(by); n > 0 && v.Decider == "" {
			if strings.HasPrefix(strings.TrimLeft(by, "0123456789 "), "wicket") {
				v.Wickets = n
			} else {
				v.Runs = n
			}
		}

		if _, left, _ := strings.Cut(after, "with "); v.Wickets > 0 && strings.Contains(left, "ball") {
			v.BallsLeft = leadingInt(left)
		}

		break
	}

	return v
}

// names returns the full names of the local and the visiting team in lower case.
func (r *reader) names() [2]string {
	return [2]string{
		strings.ToLower(cmp.Or(r.f.Localteam.Name, r.s.Local.Name)),
		strings.ToLower(cmp.Or(r.f.Visitorteam.Name, r.s.Visitor.Name)),
	}
}

// blank replaces the names in a text by underscores, whole words only.
func blank(text string, names [2]string) string {
	if len(names[0]) < len(names[1]) {
		names[0], names[1] = names[1], names[0]
	}

	for _, n := range names {
		for i := 0; n != ""; {
			at := strings.Index(text[i:], n)
			if at < 0 {
				break
			}

			at += i

			i = at + len(n)
			if (at == 0 || !isLetter(text[at-1])) && (i == len(text) || !isLetter(text[i])) {
				text = text[:at] + strings.Repeat("_", len(n)) + text[i:]
			}
		}
	}

	return text
}

// remark returns the parenthesis at the end of a note, unless it is about the balls left
// or the winner.
func remark(note string) string {
	note, closed := strings.CutSuffix(strings.TrimSpace(note), ")")

	i := strings.LastIndexByte(note, '(')
	if !closed || i < 0 || strings.Contains(note[i:], "remaining") || strings.Contains(note[i:], " won") {
		return ""
	}

	return score.Fit(note[i+1:], 40)
}

// named returns the id of the team whose name text ends with, or else of the only team
// that it names, or "". If both teams have the same name it returns the provider's
// winner.
func (r *reader) named(text string, names [2]string) string {
	text = strings.TrimSpace(text)

	sides := [2]score.Team{r.s.Local, r.s.Visitor}
	if winner := score.IDText(r.f.WinnerID); names[0] == names[1] && (winner == sides[0].ID || winner == sides[1].ID) {
		return winner
	}

	best, length := "", 0

	for i, t := range sides {
		for _, n := range [...]string{names[i], strings.ToLower(t.Code)} {
			if len(n) > length && strings.HasSuffix(text, n) &&
				(len(n) == len(text) || !isLetter(text[len(text)-len(n)-1])) {
				best, length = t.ID, len(n)
			}
		}
	}

	if best != "" {
		return best
	}

	in := func(n string) bool { return strings.Contains(text, n) || strings.HasPrefix(n, text+" ") }
	switch local, visitor := in(names[0]), in(names[1]); {
	case local && !visitor:
		return sides[0].ID
	case visitor && !local:
		return sides[1].ID
	}

	return ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }

// result sets the result of a match that is over by its status.
func (r *reader) result() {
	if _, known := r.f.Phase(); !known {
		return // phase kept the result, too
	}

	switch r.s.Phase {
	case sportmonks.Result:
	case sportmonks.Closed:
		r.closed()
		return
	default:
		return
	}

	res, kind, why := r.judge()
	if why == "" {
		r.settle(res)
		return
	}

	if r.before.Phase == sportmonks.Result && r.before.Result.Confirmed {
		r.s.Result = r.before.Result // the feed had it and has lost it
		r.problem(kind, "%s", why)

		return
	}

	r.problem(kind, "%s", why)

	if r.final {
		r.settle(r.guess())
		return
	}

	r.s.Pending = true
	switch r.before.Phase {
	case "", sportmonks.Result, sportmonks.Closed:
		r.s.Phase = sportmonks.Break
	default:
		r.s.Phase = r.before.Phase
	}
}

// closed sets the result of a match that was abandoned or cancelled. It may still have a
// winner.
func (r *reader) closed() {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(r.f.Status)), "cancl") {
		r.settle(score.Result{Kind: score.Cancelled, Confirmed: true})
		return
	}

	if res, _, why := r.judge(); why == "" {
		r.settle(res)
		return
	}

	kind := score.NoResult

	switch {
	case !r.played():
		kind = score.Abandoned
	case r.s.Format.MultiDay():
		kind = score.Drawn
	}

	r.settle(score.Result{Kind: kind, Confirmed: true})
}

// played reports whether a ball was bowled.
func (r *reader) played() bool {
	return slices.ContainsFunc(r.s.Innings, func(n score.Innings) bool { return n.Balls > 0 || n.Runs > 0 })
}

// judge returns the result if winner, note and scores agree. Otherwise it returns the
// kind of the problem, and why there is no result.
func (r *reader) judge() (res score.Result, kind ProblemKind, why string) {
	v := r.readNote()
	winner := score.IDText(r.f.WinnerID)
	without := r.without(v)

	superOver := r.f.SuperOver || r.s.Current > 2 && !r.s.Format.MultiDay()
	switch {
	case winner == "" && v.WinnerID != "":
		return res, NoWinner, "finished, and the winner of the note is not set"
	case winner == "" && without == "":
		return res, NoWinner, "finished without a winner, a draw or a note"
	case winner == "" && without == score.Tied && superOver && v.Decider == "" && !r.final:
		return res, NoWinner, "finished level after a super over without a winner"
	case winner == "" && without == score.Tied && !r.level():
		return res, ResultConflict, "finished as a tie, and the scores are not level"
	case winner == "":
		return score.Result{Kind: without, Method: v.Method, Confirmed: true}, "", ""
	case winner != r.s.Local.ID && winner != r.s.Visitor.ID:
		return res, ResultConflict, "finished, and the winner plays no part"
	case without != "" && without != score.Tied:
		return res, ResultConflict, "finished with a winner and without one"
	}

	res = v.Result

	res.WinnerID, res.Kind, res.Confirmed = winner, score.Won, true
	if superOver && res.Decider == "" && r.level() {
		res.Decider = score.SuperOver
	}

	if res.Decider != "" || v.tied {
		res.Kind = score.Tied
	}

	if res.Method == "" && !r.played() {
		res.Method = "awarded" // a walkover
	}

	switch {
	case v.WinnerID == "" && r.superOverLead(winner) < 0:
		return res, ResultConflict, "finished, and winner and super over disagree"
	case v.WinnerID == "" && !v.tied && r.superOverLead(winner) <= 0:
		return res, NoWinner, "finished, and neither the note nor a super over names the winner"
	case v.WinnerID != "" && v.WinnerID != winner:
		return res, ResultConflict, "finished, and winner and note disagree"
	case !r.agrees(res):
		return res, ResultConflict, "finished, and winner and scores disagree"
	}

	return res, "", ""
}

// without returns the outcome of a match that has no winner, or "" if the feed names no
// such outcome.
func (r *reader) without(v noteResult) score.Outcome {
	outcome := strings.ToLower(r.f.DrawNoResult)
	multi := r.s.Format.MultiDay()

	switch {
	case v.tied, strings.Contains(outcome, "tie"):
		return score.Tied
	case v.none, strings.Contains(outcome, "no"), strings.Contains(outcome, "aban"), v.abandoned && v.WinnerID == "":
		if !r.played() {
			return score.Abandoned
		}

		if multi && !v.none {
			return score.Drawn
		}

		return score.NoResult
	case v.drawn, strings.Contains(outcome, "draw"), outcome != "":
		switch {
		case multi:
			return score.Drawn
		case r.level():
			return score.Tied
		case v.drawn:
			return score.Drawn
		}

		return score.NoResult
	}

	return ""
}

// totals returns the runs of a team and of its opponent, without super overs.
func (r *reader) totals(teamID string) (own, other int) {
	for _, n := range r.s.Innings {
		switch {
		case n.SuperOver:
		case n.TeamID == teamID:
			own += n.Runs
		default:
			other += n.Runs
		}
	}

	return own, other
}

// level reports whether the scores are equal or, under a rain rule, one run short of the
// target.
func (r *reader) level() bool {
	if n := r.s.InningsOf(2); n != nil && !r.s.Format.MultiDay() {
		return n.Runs == n.Target-1
	}

	a, b := r.totals(r.s.Local.ID)

	return a == b && len(r.s.Innings) > 0
}

// agrees reports whether the scores allow the result. It accepts any result by a rain
// rule or another method, which the scores cannot confirm.
func (r *reader) agrees(res score.Result) bool {
	if res.Method != "" || r.target().Revised && !r.s.Format.MultiDay() {
		return true
	}

	own, other := r.totals(res.WinnerID)
	if res.Kind == score.Tied {
		return own == other
	}

	return own > other && (res.Runs == 0 || res.Runs == own-other)
}

// superOverLead returns by how many runs a team leads its opponent in the last pair of
// super overs, or 0 without super overs.
func (r *reader) superOverLead(teamID string) (lead int) {
	for _, number := range [...]int{r.s.Current - 1 + r.s.Current%2, r.s.Current + r.s.Current%2} {
		switch n := r.s.InningsOf(number); {
		case n == nil || !n.SuperOver:
		case n.TeamID == teamID:
			lead += n.Runs
		default:
			lead -= n.Runs
		}
	}

	return lead
}

// guess returns the most probable result of a match whose feed never agreed: the winner
// in the note, or else the provider's winner unless the scores contradict it, or else an
// outcome without a winner, or else Unknown.
func (r *reader) guess() score.Result {
	v := r.readNote()

	res := v.Result
	switch winner := score.IDText(r.f.WinnerID); {
	case v.WinnerID != "":
		res.Kind = score.Won
		if v.tied || v.Decider != "" || v.Method == "" && r.s.Current >= 2 && r.level() {
			res.Kind = score.Tied
		}
	case winner != "" && (winner == r.s.Local.ID || winner == r.s.Visitor.ID):
		res.Kind, res.WinnerID = score.Won, winner
		if r.level() && r.s.Current >= 2 {
			res.Kind = score.Tied
			if r.f.SuperOver || r.s.Current > 2 {
				res.Decider = score.SuperOver
			}
		}

		if !r.agrees(res) {
			return score.Result{Kind: score.Unknown}
		}

		res.Confirmed = r.without(v) == "" || res.Kind == score.Tied
	default:
		if w := r.without(v); w != "" && (w != score.Tied || r.level()) {
			return score.Result{Kind: w, Confirmed: true}
		}

		return score.Result{Kind: score.Unknown}
	}

	return res
}

// settle completes a result with margin, method and text, and sets it.
func (r *reader) settle(res score.Result) {
	s := &r.s
	revised := !s.Format.MultiDay() && r.target().Revised

	note := r.readNote()
	if res.Kind == score.Won && res.Method == "" && revised && note.WinnerID == "" {
		res.Method = "DLS" // a note with the winner would have the method, too
	}

	if res.Kind == score.Won && res.Runs == 0 && res.Wickets == 0 && res.Confirmed {
		switch res.Method {
		case "", "DLS", "VJD":
			r.margin(&res)
		}
	}

	res.Text = s.ResultText(res)
	if res.WinnerID != "" && note.WinnerID == res.WinnerID && note.Runs == res.Runs && note.Wickets == res.Wickets {
		res.Text = score.Fit(strings.TrimSpace(r.f.Note), 160)
	}

	s.Result = res
	// A side that lost before its limit with fewer than ten wickets had no batter left.
	if i := slices.IndexFunc(s.Innings, func(n score.Innings) bool { return n.Number == min(s.Current, 4) && !n.SuperOver }); i >= 0 {
		n := &s.Innings[i]

		short := n.Limit == 0 || n.Bowled(s.PerOver) < n.Limit
		if res.Kind == score.Won && res.Runs > 0 && n.TeamID != res.WinnerID && short && !revised && res.Method == "" {
			n.AllOut, n.Declared = true, false
		}
	}
}

// margin sets the margin from the scores.
func (r *reader) margin(res *score.Result) {
	s := &r.s
	own, other := r.totals(res.WinnerID)

	var last *score.Innings

	batted := 0

	for i := range s.Innings {
		if n := &s.Innings[i]; !n.SuperOver {
			last = n
			if n.TeamID == res.WinnerID {
				batted++
			}
		}
	}

	if last == nil || len(s.Innings) < 2 {
		return
	}

	if s.Format.MultiDay() {
		switch {
		case last.TeamID == res.WinnerID:
			res.Wickets = max(10-last.Wickets, 0)
		case own > other:
			res.Runs = own - other
			res.Innings = batted == 1 && last.Number == 3
		}

		return
	}

	target := last.Target
	if last.TeamID != res.WinnerID {
		res.Runs = max(target-1-last.Runs, 0)
		return
	}
	// A chase that continued beyond its target was stopped ahead of the par score, which
	// the rain rule counts as a win by runs.
	t := &r.tallies[len(r.tallies)-1]
	if n := len(t.Balls); n > 0 && last.Number == s.Current && last.Runs-t.Balls[n-1].Total() >= target {
		res.Runs = last.Runs - (target - 1)
		return
	}

	res.Wickets = max(10-last.Wickets, 0)
	res.BallsLeft = max(last.Limit-last.Bowled(s.PerOver), 0)
}
