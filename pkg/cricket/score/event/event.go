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
	"matchday/pkg/cricket/words"
)

// Kind is a kind of event.
type Kind string

// The kinds.
const (
	Toss        Kind = "toss"
	Lineup      Kind = "lineup" // both elevens are named
	Start       Kind = "start"  // also the kind of the reminder before it
	Wicket      Kind = "wicket"
	Fifty       Kind = "fifty"
	Hundred     Kind = "hundred" // also 150 and 200
	FiveWickets Kind = "fiveWickets"
	HatTrick    Kind = "hatTrick"
	Innings     Kind = "innings" // the end of one
	Stumps      Kind = "stumps"  // the end of a day's play
	Target      Kind = "target"  // set or revised
	CloseFinish Kind = "closeFinish"
	Rain        Kind = "rain" // play stops or resumes, for whatever reason
	SuperOver   Kind = "superOver"
	Result      Kind = "result"
	Award       Kind = "award" // player of the match
)

// Edition is the version of the list of events. Edition 1 had no Lineup, FiveWickets, HatTrick,
// Stumps, CloseFinish and Award, and no Hundred of 150 or 200 runs.
const Edition = 2

// Since returns the first edition that lists the event.
func (e Event) Since() int {
	switch e.Kind {
	case Lineup, FiveWickets, HatTrick, Stumps, CloseFinish, Award:
		return 2
	case Hundred:
		if !strings.HasSuffix(e.Key, ":100") {
			return 2
		}
	}

	return 1
}

// FirstStart is the Key of the start of a match. That of day 2 is "start:2".
const FirstStart = "start"

// IsStart reports whether key is the Key of the start of a match or of a day of it.
func IsStart(key string) bool { return key == FirstStart || strings.HasPrefix(key, FirstStart+":") }

// RenewalKey returns the Key of the event that replaces the activities which the start with that key
// has started. It is the key of a start, too.
func RenewalKey(start string) string { return start + ":renewed" }

// IsRenewal reports whether key is a RenewalKey.
func IsRenewal(key string) bool { return IsStart(key) && strings.HasSuffix(key, ":renewed") }

// ResumptionKey returns the Key of the nth start of play after a match had ended.
func ResumptionKey(n int) string { return resumption + strconv.Itoa(n) }

const resumption = FirstStart + ":again:"

// IsResumption reports whether key is a ResumptionKey.
func IsResumption(key string) bool { return strings.HasPrefix(key, resumption) }

// StumpsKey begins the Key of the end of a day's play. That of day 2 is "stumps:2".
const StumpsKey = "stumps:"

// ResultKey returns the Key of a result. With an empty winner it begins the keys of all results of
// that outcome.
func ResultKey(o score.Outcome, winnerID string) string {
	return "result:" + string(o) + ":" + winnerID
}

// Event is an event of a match, with the texts of its alert. Match, Title and Body are
// never empty. Match and Title have at most 64 bytes of JSON, Body at most 160.
type Event struct {
	Kind Kind
	// Key identifies the event in its match. Alias is a second key, or "". If two events
	// of a kind have a Key or Alias in common, one is a correction of the other.
	Key, Alias string
	After      string // the Key of the stoppage that this event ends, or ""
	Match      string // "India v Pakistan"
	Title      string // "Wicket! India 45/3 (6.2)"
	Body       string
	// Quiet is set for a start that is no news: it starts activities, and sends nothing to anybody
	// else. Its texts are Match and Score.
	Quiet bool
	Score words.Text // of a start: the score, or the match before the first ball
	// Provisional is set for a result after which the match may go on: State.MayGoOn.
	Provisional bool
	// Plain is the body for users who do not want to know the score. It is "" for an
	// event whose existence reveals the score.
	Plain string
	Says  Says
}

// Says has the texts of an event in all languages. In English they are those of the event, except that
// a text which is too long is shortened there, and that a result leaves out what has no key.
type Says struct {
	Match words.Text `json:"match,omitzero"`
	Title words.Text `json:"title,omitzero"`
	Body  words.Text `json:"body,omitzero"`
	Plain words.Text `json:"plain,omitzero"`
}

// List returns the events of a match up to the snapshot f, from which s was read, in
// the order of play. A new event has a new key. A target is listed before the chase,
// even if it was revised during the chase. Stoppages follow the play, because a
// snapshot does not contain their time.
//
// No two events of a kind share a Key or an Alias. An event stays listed until a
// snapshot retracts it, with these exceptions:
//
//   - A corrected result and a revised target are other events, with other keys.
//   - A target is no longer listed if its chase never begins.
//   - The start of the second and later days is listed only while play is on, the end of a day only
//     at stumps, and a close finish only during the chase.
//   - The end of an innings that was cut short is no longer listed if the match turns
//     out to have ended with it.
//
// While s.Held is not 0 it returns no events, because s was not read from f.
func List(f sportmonks.Fixture, s score.State) []Event {
	if s.Held != 0 {
		return nil
	}

	l := lister{f: &f, s: &s, match: MatchWords(score.Fit(s.Local.Name, 30), score.Fit(s.Visitor.Name, 30))}
	l.opening()

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

		l.superOver(i)
		l.play(n, balls[:end])
		l.end(i)
		l.target(n)
	}

	l.closeFinish()
	l.stoppages()
	l.stumps()
	l.result()

	return l.events
}

// lister collects the events of one match.
type lister struct {
	f      *sportmonks.Fixture
	s      *score.State
	match  words.Text
	events []Event
}

// MatchWords returns "India v Pakistan".
func MatchWords(local, visitor string) words.Text { return words.Say("%@ v %@", local, visitor) }

// add appends an event whose Says.Title is set. Its default body is the match. Its texts are those of
// Says in English, unless they are set.
func (l *lister) add(e Event) {
	e.Says.Match = l.match
	if e.Says.Body.IsZero() {
		e.Says.Body = l.match
	}

	english := func(t words.Text) string { return t.In(words.English) }

	e.Match, e.Plain = english(l.match), english(e.Says.Plain)
	e.Title = score.Fit(cmp.Or(e.Title, english(e.Says.Title)), 64)
	e.Body = score.Fit(cmp.Or(e.Body, english(e.Says.Body)), 160)
	l.events = append(l.events, e)
}

// side returns a team's name, short enough to leave room for its score.
func (l *lister) side(teamID string) string { return score.Fit(l.s.TeamName(teamID), 28) }

// name returns a team's name where there is room for it.
func (l *lister) name(teamID string) string { return score.Fit(l.s.TeamName(teamID), 80) }

// total returns "India 45/3 (6.2)".
func (l *lister) total(teamID string, runs, wickets int, overs string) string {
	return l.side(teamID) + " " + score.ClampText(runs) + "/" + score.ClampText(wickets) + " (" + score.Fit(overs, 8) + ")"
}

// scores returns "India 182/8 (20), Pakistan 180 (19.4)", in the order in which the
// sides first batted; in multi-day matches without overs. Before the first innings it
// returns the match.
func (l *lister) scores() words.Text {
	sides := [...]score.Team{l.s.Local, l.s.Visitor}
	if len(l.s.Innings) > 0 && l.s.Innings[0].TeamID == l.s.Visitor.ID {
		slices.Reverse(sides[:])
	}

	var texts []string

	for _, team := range sides {
		v := l.s.SideOf(team)
		if v.Score == "" {
			continue
		}

		text := l.side(team.ID) + " " + v.Score
		if !l.s.Format.MultiDay() {
			text += " (" + v.Overs + ")"
		}

		texts = append(texts, text)
	}

	if len(texts) == 0 {
		return l.match
	}

	return words.Verbatim(strings.Join(texts, ", "))
}

// opening adds the toss, the elevens, the start of a match that is live or has been, and the start of
// the present day of a match of several days, or of a reserve day.
func (l *lister) opening() {
	s := l.s
	if toss := s.Toss; toss.WinnerID != "" && toss.Elected != "" {
		key := "Toss: %@ chose to bat"
		if toss.Elected != "bat" {
			key = "Toss: %@ chose to field"
		}

		chosen := words.Say(key, l.side(toss.WinnerID))
		l.add(Event{
			Kind: Toss,
			Key:  "toss:" + toss.WinnerID + ":" + toss.Elected,
			Says: Says{Title: chosen, Plain: chosen}, // a toss reveals no score
		})
	}

	l.lineup()

	if s.Phase == sportmonks.Live || s.Phase != sportmonks.Upcoming && (s.Current > 0 || s.Stops > 0) {
		l.add(Event{
			Kind:  Start,
			Key:   FirstStart,
			Says:  Says{Title: words.Say("Play has begun"), Plain: words.Say("Play has begun.")},
			Score: l.scores(),
		})
	}

	if s.Day > 1 && s.Phase == sportmonks.Live {
		title := words.Say("Play has begun on day %@", strconv.Itoa(s.Day))
		if !s.Format.MultiDay() {
			title = words.Say("Play resumes on the reserve day")
		}

		l.add(Event{
			Kind:  Start,
			Key:   FirstStart + ":" + strconv.Itoa(s.Day),
			Says:  Says{Title: title, Body: l.scores(), Plain: words.Say("Play has begun for the day.")},
			Score: l.scores(),
		})
	}
}

// superOver adds a super over, once the first of its two innings has begun.
func (l *lister) superOver(i int) {
	n := &l.s.Innings[i]

	first := n.Number - 1 + n.Number%2
	if !n.SuperOver || n.Number != first && i > 0 && l.s.Innings[i-1].Number == first {
		return
	}

	title := words.Say("Super Over")
	if first > 3 {
		title = words.Say("Another Super Over")
	}

	l.add(Event{Kind: SuperOver, Key: "superOver:" + strconv.Itoa(first), Says: Says{Title: title, Body: l.scores()}})
}

// end adds the end of an innings, unless the match ended with it, which is the result's
// event: a chase, an innings defeat, or an innings that was cut short by the end of the
// match.
func (l *lister) end(i int) {
	s, n := l.s, &l.s.Innings[i]
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

	how := "End of innings: %@"

	switch {
	case n.SuperOver:
		how = "Super Over: %@"
	case n.Declared:
		how = "Declared: %@"
	case n.AllOut:
		how = "All out: %@"
	}

	total := l.side(n.TeamID) + " " + score.Fit(n.Score(), 12) + " (" + score.Fit(n.Overs, 8) + ")"
	e := Event{Kind: Innings, Key: n.Tag() + "end", Says: Says{Title: words.Say(how, total)}}

	if s.Format.MultiDay() && n.Number > 1 {
		e.Says.Body = score.LeadWords(l.name(n.TeamID), s.LeadOf(n.TeamID, n.Number))
	}

	l.add(e)
}

// target adds the target of the chase after the innings before.
func (l *lister) target(before *score.Innings) {
	s, number := l.s, 2
	if s.Format.MultiDay() {
		number = 4
	}

	if before.Number != number-1 {
		return
	}

	target, need, side := s.Target, s.Need, s.Opponent(before.TeamID)
	if n := s.InningsOf(number); n != nil {
		side = n.TeamID
		if s.Current > number { // the state's target is that of a super over
			target, need = score.Target{Runs: n.Target}, score.Need{}
		}
	}

	if target.Runs <= 0 {
		return
	}

	title := words.Say("Target: %@", score.ClampText(target.Runs))
	if target.Revised {
		title = words.Say("Revised target: %@ (DLS)", score.ClampText(target.Runs))
	}

	body := score.NeedWords(l.side(side), target.Runs, 0)
	if need.Runs > 0 {
		body = score.NeedWords(l.name(need.TeamID), need.Runs, need.Balls)
	}

	l.add(Event{
		Kind: Target,
		Key:  "target:" + strconv.Itoa(number) + ":" + strconv.Itoa(target.Runs),
		Says: Says{Title: title, Body: body},
	})
}

// stoppages adds the stoppages and resumptions of play. The provider gives no reason for
// a stoppage.
func (l *lister) stoppages() {
	scores := l.scores()
	for i := range l.s.Stops {
		n := "rain:" + strconv.Itoa(i+1)
		l.add(Event{
			Kind: Rain,
			Key:  n + ":stop",
			Says: Says{Title: words.Say("Play stopped"), Body: scores, Plain: words.Say("Play has stopped.")},
		})

		if i < l.s.Resumes {
			l.add(Event{
				Kind:  Rain,
				Key:   n + ":resume",
				After: n + ":stop",
				Says:  Says{Title: words.Say("Play resumes"), Body: scores, Plain: words.Say("Play has resumed.")},
			})
		}
	}
}

// result adds the result. A text that is too long for a title loses the balls left.
func (l *lister) result() {
	s := l.s
	if s.Result.IsZero() || !s.Phase.Over() {
		return
	}

	title := s.Result.Text
	if score.Fit(title, 64) != title {
		short := s.Result
		short.BallsLeft = 0
		title = s.ResultText(short)
	}

	body := l.scores().In(words.English)
	if so := s.SuperOverScores(); so != "" {
		body += " · " + so
	}

	says := Says{
		Title: score.ResultWords(s.Result, l.name(s.Result.WinnerID)),
		Body:  words.Verbatim(score.Fit(body, 160)),
		Plain: words.Say("The match is over."),
	}

	award := words.Say("Player of the match: %@", l.best())
	if l.best() != "" {
		const with = "%@ · Player of the match: %@"

		both := words.Say(with, body, l.best())
		if whole := both.In(words.English); score.Fit(whole, 160) == whole {
			body, says.Body = whole, both
		}
	}

	l.add(Event{
		Kind:  Result,
		Key:   ResultKey(s.Result.Kind, s.Result.WinnerID),
		Title: title,
		Body:  body,
		Says:  says,

		Provisional: s.MayGoOn(),
	})

	if l.best() != "" {
		l.add(Event{Kind: Award, Key: "award", Title: award.In(words.English), Body: s.Result.Text, Says: Says{Title: award, Body: says.Title}})
	}
}

// best returns the name of the player of the match, or "".
func (l *lister) best() string {
	id := cmp.Or(l.f.ManOfMatchID, l.f.ManOfMatch.ID)
	if id == 0 {
		return ""
	}

	return score.Fit(cmp.Or(l.f.ManOfMatch.Name, tally.PlayerName(l.f, id)), 40)
}

// eleven is the number of players of a side.
const eleven = 11

// lineup adds the elevens, once both sides have named theirs.
func (l *lister) lineup() {
	var local, visitor int

	for _, p := range l.f.Lineup {
		switch {
		case p.Substitute || p.TeamID == 0:
		case p.TeamID == l.f.LocalID:
			local++
		case p.TeamID == l.f.VisitorID:
			visitor++
		}
	}

	if local < eleven || visitor < eleven {
		return
	}

	named := words.Say("The playing XIs are named")

	l.add(Event{Kind: Lineup, Key: "lineup", Says: Says{Title: named, Plain: named}})
}

// closeRuns are the most runs that a close finish needs. closeOvers are the overs before the end in
// which it is one.
const (
	closeRuns  = 20
	closeOvers = 2
)

// closeFinish adds a chase in limited overs of which the last two overs are left, and 20 runs or one
// wicket. A super over has an event of its own.
func (l *lister) closeFinish() {
	s, n := l.s, l.s.InningsOf(2)
	if s.Format.MultiDay() || s.Current != 2 || n == nil || n.Over || s.Phase != sportmonks.Live || s.Need.Runs <= 0 {
		return
	}

	if s.Need.Balls <= 0 || s.Need.Balls > closeOvers*s.PerOver || s.Need.Runs > closeRuns && n.Wickets != eleven-2 {
		return
	}

	l.add(Event{
		Kind: CloseFinish,
		Key:  "closeFinish",
		Says: Says{
			Title: words.Say("Close finish: %@", l.total(n.TeamID, n.Runs, n.Wickets, n.Overs)),
			Body:  score.NeedWords(l.name(s.Need.TeamID), s.Need.Runs, s.Need.Balls),
		},
	})
}

// stumps adds the end of a day's play, in a match of several days.
func (l *lister) stumps() {
	s := l.s

	n := s.InningsOf(s.Current)
	if !s.Format.MultiDay() || s.Phase != sportmonks.Stumps || s.Day == 0 || n == nil {
		return
	}

	body := l.scores()
	if n.Number >= 2 {
		lead := score.LeadWords(l.name(n.TeamID), s.Lead)
		body = words.Say("%@ · "+lead.Key, append([]string{body.In(words.English)}, lead.Args...)...)
	}

	day, total := strconv.Itoa(s.Day), l.side(n.TeamID)+" "+score.Fit(n.Score(), 12)
	l.add(Event{
		Kind: Stumps,
		Key:  StumpsKey + day,
		Says: Says{Title: words.Say("Stumps, day %@: %@", day, total), Body: body},
	})
}

// play adds the wickets, fifties, hundreds, five wickets and hat-tricks of an innings. They
// come from the balls. Three come from the provider's rows: wickets that the total counts and
// the balls do not list, and, if the balls do not add up, the runs of batters and the wickets of
// bowlers. The rows do not contain the time of those, so they come last. A hat-trick is
// listed only if the balls add up.
func (l *lister) play(n *score.Innings, balls []*sportmonks.Ball) {
	p := inningsLister{
		lister:  l,
		n:       n,
		rows:    tally.Batting(l.f, n.Number),
		spells:  make(map[int]*spell, 6),
		sum:     tally.Tally{Batters: make(map[int]*tally.Line, 11)},
		present: l.total(n.TeamID, n.Runs, n.Wickets, n.Overs),
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

	if !n.Explained {
		for i := range l.f.Bowling {
			if b := &l.f.Bowling[i]; b.Innings == n.Number && b.Wickets >= 5 {
				p.fiveWickets(sportmonks.Overs{}, b.PlayerID, b.Wickets, b.Runs)
			}
		}
	}

	for _, m := range p.moments {
		l.add(m.Event)
	}
}

// spell is the part of one bowler in an innings. streak counts the wickets of the last balls.
type spell struct{ runs, wickets, streak int }

// inningsLister collects the events of an innings, ball by ball.
type inningsLister struct {
	*lister
	n       *score.Innings
	rows    []sportmonks.Batting
	fallen  []sportmonks.Batting // the rows of batters who are out, in the order in which they fell
	sum     tally.Tally          // so far
	spells  map[int]*spell
	present string // the innings' latest score
	moments []moment
}

// moment is an event and the label of its ball, zero if unknown.
type moment struct {
	at sportmonks.Overs
	Event
}

// ball adds the events of the next ball.
func (p *inningsLister) ball(b *sportmonks.Ball) {
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

	fell := false

	switch out := b.Dismissed(); {
	case b.Wicket() && (out == 0 || !s.Line(out).Out): // a batter is out once an innings
		fell = true

		p.wicket(b.At, out, b)
	case b.Retired():
		s.Line(out).Hurt = true
	}

	if p.n.Explained && b.BowlerID != 0 {
		p.bowled(b, fell && tally.Credited(b))
	}
}

// bowled adds a ball to the spell of its bowler, with the wicket that counts for the bowler, and the
// events that it completes.
func (p *inningsLister) bowled(b *sportmonks.Ball, wicket bool) {
	s := p.spells[b.BowlerID]
	if s == nil {
		s = &spell{}
		p.spells[b.BowlerID] = s
	}

	s.runs += b.Score.Runs

	if !wicket {
		s.streak = 0
		return
	}

	s.wickets++
	s.streak++

	if s.wickets == 5 {
		p.fiveWickets(b.At, b.BowlerID, s.wickets, s.runs)
	}

	if key := p.n.Tag() + "hatTrick:" + score.IDText(b.BowlerID); s.streak == 3 && !p.has(key) {
		p.moments = append(p.moments, moment{b.At, Event{
			Kind: HatTrick,
			Key:  key,
			Says: Says{
				Title: words.Say("Hat-trick for %@", p.player(b.BowlerID)),
				Body:  p.figures(s.wickets, s.runs),
			},
		}})
	}
}

// has reports whether the innings has an event with that key.
func (p *inningsLister) has(key string) bool {
	return slices.ContainsFunc(p.moments, func(m moment) bool { return m.Key == key })
}

// figures returns "5-24 · India 123/9 (18.2)".
func (p *inningsLister) figures(wickets, runs int) words.Text {
	return words.Verbatim(score.ClampText(wickets) + "-" + score.ClampText(runs) + " · " + p.score(0))
}

// player returns a player's name.
func (p *inningsLister) player(id int) string { return score.Fit(tally.PlayerName(p.f, id), 40) }

// fiveWickets adds the fifth wicket of a bowler.
func (p *inningsLister) fiveWickets(at sportmonks.Overs, id, wickets, runs int) {
	key := p.n.Tag() + "fiveWickets:" + score.IDText(id)
	if id == 0 || p.has(key) {
		return
	}

	p.moments = append(p.moments, moment{at, Event{
		Kind: FiveWickets,
		Key:  key,
		Says: Says{Title: words.Say("Five wickets for %@", p.player(id)), Body: p.figures(wickets, runs)},
	}})
}

// row returns the provider's row of a batter if the balls do not add up, otherwise nil.
func (p *inningsLister) row(id int) *sportmonks.Batting {
	if p.n.Explained {
		return nil
	}

	if i := slices.IndexFunc(p.rows, func(b sportmonks.Batting) bool { return b.PlayerID == id }); i >= 0 {
		return &p.rows[i]
	}

	return nil
}

// score returns the innings' score after the last ball that was added or, if the balls
// do not add up, at the fall of the batter out. If that is unknown it returns the latest
// score.
func (p *inningsLister) score(out int) string {
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

// milestones adds the fifty and the hundreds that a batter reached between was and runs.
func (p *inningsLister) milestones(at sportmonks.Overs, id, was, runs, faced int) {
	for _, m := range [...]struct {
		runs  int
		kind  Kind
		title string
	}{{50, Fifty, "Fifty for %@"}, {100, Hundred, "Hundred for %@"}, {150, Hundred, "150 for %@"}, {200, Hundred, "Double hundred for %@"}} {
		if id != 0 && was < m.runs && runs >= m.runs {
			p.moments = append(p.moments, moment{at, Event{
				Kind: m.kind,
				Key:  p.n.Tag() + score.IDText(id) + ":" + strconv.Itoa(m.runs),
				Says: Says{
					Title: words.Say(m.title, p.player(id)),
					Body:  words.Verbatim(score.ClampText(runs) + " (" + score.ClampText(faced) + ") · " + p.score(0)),
				},
			}})
		}
	}
}

// wicket adds the wicket of the batter out, 0 if unknown. ball is nil if it is not
// listed.
func (p *inningsLister) wicket(at sportmonks.Overs, out int, ball *sportmonks.Ball) {
	p.sum.Wickets++

	var (
		how   string
		names []string
	)

	e := Event{Kind: Wicket, Says: Says{Title: words.Say("Wicket! %@", p.score(out))}}
	if ball != nil {
		how, names = tally.How(p.f, ball)
		for i := range names {
			names[i] = score.Fit(names[i], 40)
		}

		e.Key = p.n.Tag() + "ball:" + strconv.Itoa(ball.ID)
		e.Says.Body = words.Verbatim(words.Say(how, names...).In(words.English))
	}

	if out != 0 {
		l := p.sum.Line(out)
		l.Out = true

		runs, balls := l.Runs, l.Balls
		if row := p.row(out); row != nil {
			runs, balls = row.Score, row.Balls
		}

		made := []string{strconv.Itoa(runs), strconv.Itoa(balls)}
		e.Key, e.Alias = p.n.Tag()+"out:"+score.IDText(out), e.Key
		e.Says.Body = words.Verbatim(p.player(out) + " " + made[0] + " (" + made[1] + ")")

		if ball != nil {
			e.Says.Body = words.Say("%@ "+how+" %@ (%@)", slices.Concat([]string{p.player(out)}, names, made)...)
		}
	}

	p.moments = append(p.moments, moment{at, e})
}
