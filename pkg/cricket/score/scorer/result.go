package scorer

import (
	"cmp"
	"slices"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// verdict is what a note says of a result.
type verdict struct {
	score.Result
	tied, drawn, none, abandoned bool
}

// verdict reads the provider's note: "X won by 6 wickets (with 4 balls
// remaining)", "Match tied (X won the Super Over)", "No result", ... What a team
// is called says nothing: Tied House may win.
func (r *reader) verdict() verdict {
	note := strings.ToLower(r.f.Note)
	names := r.names()
	said := blank(note, names)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(said, p) })
	}
	v := verdict{
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
		i := strings.Index(said, verb)
		if i < 0 || strings.HasPrefix(said[i+len(verb):], " the toss") {
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
		if _, left, ok := strings.Cut(after, "with "); ok && v.Wickets > 0 && strings.Contains(left, "ball") {
			v.BallsLeft = leadingInt(left)
		}
		break
	}
	return v
}

// names is what the sides are called, in full and in lower case.
func (r *reader) names() [2]string {
	return [2]string{
		strings.ToLower(cmp.Or(r.f.Localteam.Name, r.s.Local.Name)),
		strings.ToLower(cmp.Or(r.f.Visitorteam.Name, r.s.Visitor.Name)),
	}
}

// blank puts underscores for the names in a text, whole words only.
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

// remark is what a note says in parentheses at its end, unless that tells the
// balls left or who won.
func remark(note string) string {
	note, closed := strings.CutSuffix(strings.TrimSpace(note), ")")
	i := strings.LastIndexByte(note, '(')
	if !closed || i < 0 || strings.Contains(note[i:], "remaining") || strings.Contains(note[i:], " won") {
		return ""
	}
	return score.Fit(note[i+1:], 40)
}

// named is the team that text ends with, or else the only one in it. Of two
// teams with one name it is the one that the provider calls the winner.
func (r *reader) named(text string, names [2]string) string {
	text = strings.TrimSpace(text)
	sides := [2]score.Team{r.s.Local, r.s.Visitor}
	if winner := score.IDText(r.f.WinnerID); names[0] == names[1] && (winner == sides[0].ID || winner == sides[1].ID) {
		return winner
	}
	best, length := "", 0
	for i, t := range sides {
		for _, n := range [...]string{names[i], strings.ToLower(t.Code)} {
			if n != "" && len(n) > length && strings.HasSuffix(text, n) &&
				(len(n) == len(text) || !isLetter(text[len(text)-len(n)-1])) {
				best, length = t.ID, len(n)
			}
		}
	}
	if best != "" || text == "" {
		return best
	}
	in := func(n string) bool { return n != "" && (strings.Contains(text, n) || strings.HasPrefix(n, text+" ")) }
	switch local, visitor := in(names[0]), in(names[1]); {
	case local && !visitor:
		return sides[0].ID
	case visitor && !local:
		return sides[1].ID
	}
	return ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }

// result decides a match that the provider says is over.
func (r *reader) result() {
	if _, known := r.f.Phase(); !known {
		return // with the phase before, its result
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
		r.s.Result = r.before.Result // it was known; the feed has lost it again
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

// closed is a match abandoned or cancelled. The provider may still know a winner.
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

func (r *reader) played() bool {
	return slices.ContainsFunc(r.s.Innings, func(n score.Innings) bool { return n.Balls > 0 || n.Runs > 0 })
}

// judge is the result when everything agrees; otherwise why it is not one.
func (r *reader) judge() (res score.Result, kind ProblemKind, why string) {
	v := r.verdict()
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
	case v.WinnerID == "" && res.Kind != score.Tied:
		return res, NoWinner, "finished, and the note does not say who won"
	case v.WinnerID != "" && v.WinnerID != winner:
		return res, ResultConflict, "finished, and winner and note disagree"
	case !r.agrees(res):
		return res, ResultConflict, "finished, and winner and scores disagree"
	}
	return res, "", ""
}

// without is the outcome that has no winner, if the feed says one.
func (r *reader) without(v verdict) score.Outcome {
	said := strings.ToLower(r.f.DrawNoResult)
	multi := r.s.Format.MultiDay()
	switch {
	case v.tied, strings.Contains(said, "tie"):
		return score.Tied
	case v.none, strings.Contains(said, "no"), strings.Contains(said, "aban"), v.abandoned && v.WinnerID == "":
		if !r.played() {
			return score.Abandoned
		}
		if multi && !v.none {
			return score.Drawn
		}
		return score.NoResult
	case v.drawn, strings.Contains(said, "draw"), said != "":
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

// totals is what each side made, super overs apart.
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

// level reports equal scores, or by a rain rule one short of the target.
func (r *reader) level() bool {
	a, b := r.totals(r.s.Local.ID)
	if n := r.s.InningsOf(2); n != nil && !r.s.Format.MultiDay() && r.target().Revised {
		return n.Runs == n.Target-1
	}
	return a == b && len(r.s.Innings) > 0
}

// agrees tests a winner against the scores. A rain rule, an award and a decider
// have arithmetic of their own.
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

// guess is the best word on a match whose feed never agreed: a note that names
// the winner, else the winner unless the scores say otherwise, else nothing.
func (r *reader) guess() score.Result {
	v := r.verdict()
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

// settle completes a result: margin, method, texts.
func (r *reader) settle(res score.Result) {
	s := &r.s
	revised := !s.Format.MultiDay() && r.target().Revised
	noted := r.verdict()
	if res.Kind == score.Won && res.Method == "" && revised && noted.WinnerID == "" {
		res.Method = "DLS" // a note of the result would say so itself
	}
	if res.Kind == score.Won && res.Runs == 0 && res.Wickets == 0 && res.Confirmed {
		switch res.Method {
		case "", "DLS", "VJD":
			r.margin(&res)
		}
	}
	res.Text = s.ResultText(res)
	if res.WinnerID != "" && noted.WinnerID == res.WinnerID && noted.Runs == res.Runs && noted.Wickets == res.Wickets {
		res.Text = score.Fit(strings.TrimSpace(r.f.Note), 160)
	}
	s.Result = res
	// Who lost short of the limit with fewer than ten down had nobody left to bat.
	if i := slices.IndexFunc(s.Innings, func(n score.Innings) bool { return n.Number == min(s.Current, 4) && !n.SuperOver }); i >= 0 {
		n := &s.Innings[i]
		short := n.Limit == 0 || n.Bowled(s.PerOver) < n.Limit
		if res.Kind == score.Won && res.Runs > 0 && n.TeamID != res.WinnerID && short && !revised && res.Method == "" {
			n.AllOut, n.Declared = true, false
		}
	}
}

// margin works a margin out from the scores.
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
	// A chase that went on past its target was stopped ahead of the par score: the
	// rain rule gives that as runs.
	t := &r.tallies[len(r.tallies)-1]
	if n := len(t.Balls); n > 0 && last.Number == s.Current && last.Runs-t.Balls[n-1].Total() >= target {
		res.Runs = last.Runs - (target - 1)
		return
	}
	res.Wickets = max(10-last.Wickets, 0)
	res.BallsLeft = max(last.Limit-last.Bowled(s.PerOver), 0)
}
