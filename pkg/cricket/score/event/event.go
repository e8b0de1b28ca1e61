package event

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/tally"
	"matchday/pkg/cricket/sportmonks"
)

// Kind is a kind of what is worth telling.
type Kind string

// The kinds.
const (
	Toss      Kind = "toss"
	Start     Kind = "start" // also of the reminder before it
	Wicket    Kind = "wicket"
	Fifty     Kind = "fifty"
	Hundred   Kind = "hundred"
	Innings   Kind = "innings" // the end of one
	Target    Kind = "target"  // set or revised
	Rain      Kind = "rain"    // play stops or resumes
	SuperOver Kind = "superOver"
	Result    Kind = "result"
)

// Event is something in a match that is worth telling. Texts are never empty but
// Plain, and are bounded: Match and Title to 64 characters, Body to 160.
type Event struct {
	Kind Kind
	// Key names the event in its match, of whatever it is corrected to. Alias is
	// its other name, or "": of two events of a kind that share either, one is a
	// correction of the other.
	Key, Alias string
	After      string // the key of the event that this one puts an end to, if it does
	Match      string // "India v Pakistan"
	Title      string // "Wicket! India 45/3 (6.2)"
	Body       string
	// Plain is the body for those who do not want to know the score; "" for a
	// kind whose coming alone tells.
	Plain string
}

// List lists what has happened in a match that is worth telling, in the order of
// play, from the snapshot f and the State that was read from it. It lists
// everything so far: what is new, the keys tell. A target comes before the chase
// even when it was revised during it, and stoppages, whose place no snapshot tells,
// come after the play.
//
// No two events of a kind share a Key or an Alias. An event stays until a snapshot
// takes back what it tells, with three exceptions: a result that is corrected is
// another; so is a target that is revised, and a target goes with a chase that
// never begins; the end of an innings that was cut short goes if the match turns
// out to have ended with it.
//
// While State.Held says that a partial snapshot was refused there are no events:
// f is not what the State was read from.
func List(f sportmonks.Fixture, s score.State) []Event {
	if s.Held != 0 {
		return nil
	}
	t := teller{f: &f, s: &s, match: score.Fit(s.Local.Name, 30) + " v " + score.Fit(s.Visitor.Name, 30)}
	t.opening()
	balls := tally.Ordered(f.Balls)
	for i := range s.Innings {
		n := &s.Innings[i]
		for len(balls) > 0 && balls[0].Innings < n.Number {
			balls = balls[1:]
		}
		end := 0
		for end < len(balls) && balls[end].Innings == n.Number {
			end++
		}
		t.superOver(i)
		t.play(n, balls[:end])
		t.end(i)
		t.target(n)
	}
	t.stoppages()
	t.result()
	return t.events
}

// teller lists the events of one match.
type teller struct {
	f      *sportmonks.Fixture
	s      *score.State
	match  string
	events []Event
}

func (t *teller) tell(e Event) {
	e.Match, e.Title, e.Body = t.match, score.Fit(e.Title, 64), score.Fit(cmp.Or(e.Body, t.match), 160)
	t.events = append(t.events, e)
}

// side is a team's name, short enough to leave room for its score.
func (t *teller) side(teamID string) string { return score.Fit(t.s.TeamName(teamID), 28) }

// total is "India 45/3 (6.2)".
func (t *teller) total(teamID string, runs, wickets int, overs string) string {
	return t.side(teamID) + " " + score.ClampText(runs) + "/" + score.ClampText(wickets) + " (" + score.Fit(overs, 8) + ")"
}

// scores is "India 182/8 (20), Pakistan 180 (19.4)" in the order they first batted,
// over several days without overs; the match before an innings.
func (t *teller) scores() string {
	sides := [...]score.Team{t.s.Local, t.s.Visitor}
	if len(t.s.Innings) > 0 && t.s.Innings[0].TeamID == t.s.Visitor.ID {
		slices.Reverse(sides[:])
	}
	var texts []string
	for _, team := range sides {
		v := t.s.SideOf(team)
		if v.Score == "" {
			continue
		}
		text := t.side(team.ID) + " " + v.Score
		if !t.s.Format.MultiDay() {
			text += " (" + v.Overs + ")"
		}
		texts = append(texts, text)
	}
	return cmp.Or(strings.Join(texts, ", "), t.match)
}

// opening tells of the toss, and of the start: the match is live, or has been.
func (t *teller) opening() {
	s := t.s
	if toss := s.Toss; toss.WinnerID != "" && toss.Elected != "" {
		t.tell(Event{
			Kind:  Toss,
			Key:   "toss:" + toss.WinnerID + ":" + toss.Elected,
			Title: "Toss: " + t.side(toss.WinnerID) + " chose to " + toss.Elected,
			Plain: "Toss: " + t.side(toss.WinnerID) + " chose to " + toss.Elected, // which tells no score
		})
	}
	if s.Phase == sportmonks.Live || s.Phase != sportmonks.Upcoming && (s.Current > 0 || s.Stops > 0) {
		t.tell(Event{Kind: Start, Key: "start", Title: "Play has begun", Plain: "Play has begun."})
	}
}

// superOver tells of a pair of super over innings, once its first has begun.
func (t *teller) superOver(i int) {
	n := &t.s.Innings[i]
	first := n.Number - 1 + n.Number%2
	if !n.SuperOver || n.Number != first && i > 0 && t.s.Innings[i-1].Number == first {
		return
	}
	title := "Super Over"
	if first > 3 {
		title = "Another Super Over"
	}
	t.tell(Event{Kind: SuperOver, Key: "superOver:" + strconv.Itoa(first), Title: title, Body: t.scores()})
}

// end tells of an innings that is over, unless the match ended with it: with a
// chase, whose end is the result's to tell, with a side out that is an innings
// behind, or with an innings that only the end of the match cut short.
func (t *teller) end(i int) {
	s, n := t.s, &t.s.Innings[i]
	if !n.Over {
		return
	}
	if i == len(s.Innings)-1 {
		finished := s.Phase.Over() || s.Pending
		spent := n.Limit > 0 && n.Bowled(s.PerOver) >= n.Limit
		behind := s.Format.MultiDay() && n.Number == 3 && s.LeadOf(n.TeamID, 3) < 0
		if n.Target > 0 || behind || finished && !n.AllOut && !n.Declared && !spent {
			return
		}
	}
	how, body := "End of innings: ", ""
	switch {
	case n.SuperOver:
		how = "Super Over: "
	case n.Declared:
		how = "Declared: "
	case n.AllOut:
		how = "All out: "
	}
	if s.Format.MultiDay() && n.Number > 1 {
		body = score.LeadText(s.TeamName(n.TeamID), s.LeadOf(n.TeamID, n.Number))
	}
	t.tell(Event{
		Kind:  Innings,
		Key:   n.Tag() + "end",
		Title: how + t.side(n.TeamID) + " " + score.Fit(n.Score(), 12) + " (" + score.Fit(n.Overs, 8) + ")",
		Body:  body,
	})
}

// target tells what the chase is for, after the innings before it.
func (t *teller) target(before *score.Innings) {
	s, number := t.s, 2
	if s.Format.MultiDay() {
		number = 4
	}
	if before.Number != number-1 {
		return
	}
	target, need, side := s.Target, s.NeedText, s.Opponent(before.TeamID)
	if n := s.InningsOf(number); n != nil {
		side = n.TeamID
		if s.Current > number { // the state's is that of a super over
			target, need = score.Target{Runs: n.Target}, ""
		}
	}
	if target.Runs <= 0 {
		return
	}
	title := "Target: " + score.ClampText(target.Runs)
	if target.Revised {
		title = "Revised target: " + score.ClampText(target.Runs) + " (DLS)"
	}
	t.tell(Event{
		Kind:  Target,
		Key:   "target:" + strconv.Itoa(number) + ":" + strconv.Itoa(target.Runs),
		Title: title,
		Body:  cmp.Or(need, t.side(side)+" need "+score.Count(target.Runs, "run")+" to win"),
	})
}

// stoppages does not say why play stopped: the provider does not.
func (t *teller) stoppages() {
	scores := t.scores()
	for i := range t.s.Stops {
		n := "rain:" + strconv.Itoa(i+1)
		t.tell(Event{Kind: Rain, Key: n + ":stop", Title: "Play stopped", Body: scores, Plain: "Play has stopped."})
		if i < t.s.Resumes {
			t.tell(Event{Kind: Rain, Key: n + ":resume", After: n + ":stop", Title: "Play resumes", Body: scores, Plain: "Play has resumed."})
		}
	}
}

func (t *teller) result() {
	s := t.s
	if s.Result.IsZero() || !s.Phase.Over() {
		return
	}
	title := s.Result.Text
	if score.Fit(title, 64) != title {
		short := s.Result
		short.BallsLeft = 0
		title = s.ResultText(short)
	}
	body := t.scores()
	if so := s.SuperOverScores(); so != "" {
		body += " · " + so
	}
	t.tell(Event{
		Kind:  Result,
		Key:   "result:" + string(s.Result.Kind) + ":" + s.Result.WinnerID,
		Title: title,
		Body:  body,
		Plain: "The match is over.",
	})
}

// play tells of the wickets, fifties and hundreds of an innings. They are taken
// from the balls; from the provider's rows, the wickets that the total counts and
// the balls do not list, and the runs of batters where the balls do not add up:
// when those were made is not known, and they are told last.
func (t *teller) play(n *score.Innings, balls []*sportmonks.Ball) {
	p := passage{
		teller:  t,
		n:       n,
		rows:    tally.Batting(t.f, n.Number),
		sum:     tally.Tally{Batters: make(map[int]*tally.Line, 11)},
		present: t.total(n.TeamID, n.Runs, n.Wickets, n.Overs),
	}
	p.fallen = slices.DeleteFunc(slices.Clone(p.rows), func(b sportmonks.Batting) bool { return !b.Out })
	slices.SortStableFunc(p.fallen, tally.ByFall)
	for _, b := range balls {
		p.ball(b)
	}
	listed := len(p.moments)
	for i := range p.fallen {
		if b := &p.fallen[i]; p.sum.Wickets < n.Wickets && b.PlayerID != 0 {
			if l := p.sum.Line(b.PlayerID); !l.Out && !l.Hurt {
				at := b.FallAt
				if at.IsZero() {
					at.Overs = math.MaxInt
				}
				p.wicket(at, b.PlayerID, nil)
			}
		}
	}
	if len(p.moments) > listed {
		slices.SortStableFunc(p.moments, func(a, b moment) int { return tally.ComparePlaces(a.at, b.at) })
	}
	for i := range p.rows {
		if b := &p.rows[i]; p.row(b.PlayerID) == b {
			p.milestones(sportmonks.Overs{}, b.PlayerID, 0, b.Score, b.Balls)
		}
	}
	for _, m := range p.moments {
		t.tell(m.Event)
	}
}

// passage is an innings as it is told, ball by ball.
type passage struct {
	*teller
	n       *score.Innings
	rows    []sportmonks.Batting
	fallen  []sportmonks.Batting // of the rows, in the order they fell
	sum     tally.Tally          // so far
	present string               // the innings' score now
	moments []moment
}

// moment is an event and the label of its ball.
type moment struct {
	at sportmonks.Overs
	Event
}

func (p *passage) ball(b *sportmonks.Ball) {
	s := &p.sum
	if b.At.Overs != s.Over {
		s.Over, s.InOver = b.At.Overs, 0
	}
	l := s.Line(b.BatterID)
	was := l.Runs
	s.Runs += b.Total()
	l.Runs += b.Bat()
	l.Hurt = false
	if !b.Wide() {
		l.Balls++
		if !b.NoBall() {
			s.InOver++
		}
	}
	if p.row(b.BatterID) == nil {
		p.milestones(b.At, b.BatterID, was, l.Runs, l.Balls)
	}
	switch out := b.Dismissed(); {
	case b.Wicket() && (out == 0 || !s.Line(out).Out): // a batter is out once an innings
		p.wicket(b.At, out, b)
	case b.Retired():
		s.Line(out).Hurt = true
	}
}

// row is what stands for a batter in place of the balls, or nil.
func (p *passage) row(id int) *sportmonks.Batting {
	if p.n.Explained {
		return nil
	}
	if i := slices.IndexFunc(p.rows, func(b sportmonks.Batting) bool { return b.PlayerID == id }); i >= 0 {
		return &p.rows[i]
	}
	return nil
}

// score is the innings' after the last ball told, or at the fall of out, as far as
// either is known; else it is the one now.
func (p *passage) score(out int) string {
	per := max(p.s.PerOver, 1)
	if p.n.Explained && p.n.Unlisted == 0 {
		return p.total(p.n.TeamID, p.sum.Runs, p.sum.Wickets, score.OversText(sportmonks.Overs{Overs: p.sum.Over, Balls: p.sum.InOver}, per))
	}
	k := slices.IndexFunc(p.fallen, func(b sportmonks.Batting) bool { return b.PlayerID == out && !b.FallAt.IsZero() })
	if out == 0 || k < 0 || len(p.fallen) != p.n.Wickets {
		return p.present
	}
	fall := &p.fallen[k]
	return p.total(p.n.TeamID, fall.FallScore, k+1, score.OversText(fall.FallAt, per))
}

// milestones tells what a batter passed on the way from was to runs.
func (p *passage) milestones(at sportmonks.Overs, id, was, runs, faced int) {
	for _, m := range [...]struct {
		runs  int
		kind  Kind
		title string
	}{{50, Fifty, "Fifty for "}, {100, Hundred, "Hundred for "}} {
		if id != 0 && was < m.runs && runs >= m.runs {
			p.moments = append(p.moments, moment{at, Event{
				Kind:  m.kind,
				Key:   p.n.Tag() + score.IDText(id) + ":" + strconv.Itoa(m.runs),
				Title: m.title + score.Fit(tally.PlayerName(p.f, id), 40),
				Body:  score.ClampText(runs) + " (" + score.ClampText(faced) + ") · " + p.score(0),
			}})
		}
	}
}

// wicket tells that a batter is out: by a ball, unless none is listed, of which
// the batter may be unknown and 0.
func (p *passage) wicket(at sportmonks.Overs, out int, ball *sportmonks.Ball) {
	p.sum.Wickets++
	var w score.Wicket
	e := Event{Kind: Wicket, Title: "Wicket! " + p.score(out)}
	if ball != nil {
		w.How = score.Fit(tally.Dismissal(p.f, ball), 80)
		e.Key, e.Body = p.n.Tag()+"ball:"+strconv.Itoa(ball.ID), w.How
	}
	if out != 0 {
		l := p.sum.Line(out)
		l.Out = true
		w.Name, w.Runs, w.Balls = score.Fit(tally.PlayerName(p.f, out), 40), l.Runs, l.Balls
		if row := p.row(out); row != nil {
			w.Runs, w.Balls = row.Score, row.Balls
		}
		e.Key, e.Alias, e.Body = p.n.Tag()+"out:"+score.IDText(out), e.Key, w.Text()
	}
	p.moments = append(p.moments, moment{at, e})
}
