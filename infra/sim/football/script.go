package football

import (
	"fmt"
	"slices"
	"time"

	"matchday/infra/sim/openfootball"
)

// notice is the least time from when a pairing is known to the kick-off. Changes of the
// schedule are announced within it.
const notice = 12 * time.Hour

// ofSchedule reports whether the kind is decided before the kick-off of a new date.
func (k Kind) ofSchedule() bool {
	return slices.Contains([]Kind{MovedMinutes, MovedHours, MovedDay, Postponed, Replaced}, k)
}

// status is a status of the API.
type status struct {
	Code        int    `json:"code"`
	Description string `json:"description"`
	Type        string `json:"type"`
}

// The statuses.
var (
	notStarted  = status{0, "Not started", "notstarted"}
	firstHalf   = status{6, "1st half", "inprogress"}
	secondHalf  = status{7, "2nd half", "inprogress"}
	halfTime    = status{31, "Halftime", "inprogress"}
	firstExtra  = status{41, "1st extra", "inprogress"}
	secondExtra = status{42, "2nd extra", "inprogress"}
	penalties   = status{50, "Penalties", "inprogress"}
	postponed   = status{60, "Postponed", "postponed"}
	canceled    = status{70, "Canceled", "canceled"}
	interrupted = status{80, "Interrupted", "interrupted"}
	walkover    = status{91, "Walkover", "finished"}
	ended       = status{100, "Ended", "finished"}
	afterExtra  = status{110, "AET", "finished"}
	afterPens   = status{120, "AP", "finished"}
)

// script decides what the API says of an event, and when.
type script struct {
	dice
	match   openfootball.Match
	faults  map[Kind]bool
	moments []moment
	// A pause moves everything from pauseAt on.
	pauseAt time.Time
	pause   time.Duration
	// Set if another event replaces this one: its kick-off, and when the API knows it.
	again, announced time.Time
}

// moment is a change of what the API says.
type moment struct {
	at time.Time
	do func(*state)
}

func newScript(d dice, m openfootball.Match, kinds []Kind) *script {
	p := &script{dice: d, match: m, faults: map[Kind]bool{}}
	for _, k := range kinds {
		p.faults[k] = true
	}

	_, played := m.Result()
	off := func(kinds ...Kind) {
		for _, k := range kinds {
			p.faults[k] = false
		}
	}
	ofPlay := []Kind{Interrupted, LateScore, Reopened, Corrected, Overwritten, StartedEarly, StartedLate, StartedTwice}

	switch {
	case m.Void:
		off(OfEvents()...)
	case p.faults[Cancelled]:
		off(append(ofPlay, Walkover, Postponed, Replaced)...)
	case !played:
		off(append(ofPlay, Walkover)...)
	case p.faults[Walkover]:
		off(ofPlay...)
	}

	if p.faults[Replaced] {
		off(Postponed)
	}

	if p.faults[StartedEarly] {
		off(StartedLate)
	}

	return p
}

// happened returns the faults that have an effect.
func (p *script) happened() (kinds []Kind) {
	for _, k := range OfEvents() {
		if p.faults[k] {
			kinds = append(kinds, k)
		}
	}

	return kinds
}

func (p *script) at(t time.Time, do func(*state)) {
	p.moments = append(p.moments, moment{p.shifted(t), do})
}

func (p *script) shifted(t time.Time) time.Time {
	if !p.pauseAt.IsZero() && !t.Before(p.pauseAt) {
		return t.Add(p.pause)
	}

	return t
}

func (p *script) set(t time.Time, to status) { p.at(t, func(s *state) { s.status = to }) }

// write writes the script. It returns when the match is over, or false if it is not played
// and not given up either.
func (p *script) write() (end time.Time, ok bool) {
	planned := p.match.KickOff
	kickOff := planned

	for _, k := range []struct {
		Kind
		by time.Duration
	}{{MovedMinutes, 4 * time.Minute}, {MovedHours, 3 * time.Hour}, {MovedDay, 24 * time.Hour}} {
		if p.faults[k.Kind] {
			p.at(planned.Add(-p.between("announced "+string(k.Kind), time.Minute, notice)), func(s *state) { s.kickOff = s.kickOff.Add(k.by) })
			kickOff = kickOff.Add(k.by)
		}
	}

	announced := planned.Add(-p.between("announced", time.Minute, notice))
	if p.match.Void || p.faults[Cancelled] {
		p.set(announced, canceled)
		return announced, true
	}

	if p.faults[Postponed] || p.faults[Replaced] {
		p.set(announced, postponed)

		by := time.Duration(3+p.below(18, "postponed by")) * 24 * time.Hour
		if p.match.Round.Knockout() { // the next round waits
			by = time.Duration(2+p.below(3, "postponed by")) * 24 * time.Hour
		}

		kickOff = kickOff.Add(by)

		dated := announced.Add(p.between("new date", time.Hour, notice))
		if p.faults[Replaced] {
			p.again, p.announced = kickOff, dated
			return time.Time{}, false
		}

		p.at(dated, func(s *state) { s.status, s.kickOff = notStarted, s.kickOff.Add(by) })
	}

	if _, played := p.match.Result(); !played {
		return time.Time{}, false
	}

	if p.faults[Walkover] {
		end = kickOff.Add(p.between("walkover", 10*time.Minute, 40*time.Minute))
		p.at(end, func(s *state) { s.status, s.walkover = walkover, 1+p.below(2, "walkover of") })

		return end, true
	}

	return p.play(kickOff), true
}

// period is a period of a match: what it is called, how long it is, the pause before it,
// and the goals.
type period struct {
	status             status
	length, atMost     time.Duration
	before, beforeMost time.Duration
	goals              openfootball.Goals
}

// periods returns the periods of the match.
func (p *script) periods() []period {
	const minute = time.Minute

	score := p.match.Score

	first := p.share("1st half", *score.FullTime)
	if score.HalfTime != nil {
		first = *score.HalfTime
	}

	all := []period{
		{firstHalf, 46 * minute, 49 * minute, 0, 3 * minute, first},
		{secondHalf, 47 * minute, 53 * minute, 15 * minute, 18 * minute, minus(*score.FullTime, first)},
	}
	if score.ExtraTime != nil {
		extra := minus(*score.ExtraTime, *score.FullTime)
		first := p.share("1st extra", extra)
		all = append(all, period{firstExtra, 15 * minute, 17 * minute, 4 * minute, 6 * minute, first},
			period{secondExtra, 15 * minute, 17 * minute, minute, 2 * minute, minus(extra, first)})
	}

	return all
}

// share draws which of the goals are of the first part of a time.
func (p *script) share(what string, all openfootball.Goals) (part openfootball.Goals) {
	for side, n := range all {
		part[side] = p.below(n+1, fmt.Sprint(what, " ", side))
	}

	return part
}

func minus(a, b openfootball.Goals) openfootball.Goals {
	return openfootball.Goals{a[0] - b[0], a[1] - b[1]}
}

// play writes the match from its start on, and returns when it is over. The start is the kick-off, give or take
// three minutes, unless a fault makes it another.
func (p *script) play(kickOff time.Time) time.Time {
	switch {
	case p.faults[StartedEarly]:
		kickOff = kickOff.Add(-p.between("started early", 2*time.Minute, 20*time.Minute))
	case p.faults[StartedLate]:
		kickOff = kickOff.Add(p.between("started late", 5*time.Minute, 40*time.Minute))
	}

	if p.faults[StartedTwice] {
		first := kickOff
		p.at(first, func(s *state) { s.status, s.period, s.periods = firstHalf, first, 1 })

		again := first.Add(p.between("started for", 2*time.Minute, 12*time.Minute))
		p.at(again, func(s *state) { s.status, s.period, s.periods = notStarted, time.Time{}, 0 })
		kickOff = again.Add(p.between("started again", time.Minute, 25*time.Minute))
	}

	hide := p.faults[LateScore] && p.roll("late score from the start") < 0.5
	if hide {
		p.at(kickOff, func(s *state) { s.hidden = everything })
	}

	now := kickOff
	all := p.periods()
	lastGoal := struct {
		at           time.Time
		period, side int
	}{}

	for i, part := range all {
		name := part.status.Description
		start := now.Add(p.between(name+" begins", part.before, part.beforeMost))
		now = start.Add(p.between(name+" lasts", part.length, part.atMost))
		began := p.shifted(start)
		p.at(start, func(s *state) { s.status, s.period, s.periods = part.status, began, i+1 })

		if part.status == secondHalf && p.faults[Interrupted] {
			stop := start.Add(p.between("interrupted", time.Minute, 40*time.Minute))
			p.set(stop, interrupted)
			p.pauseAt, p.pause = stop, p.between("interrupted for", 20*time.Minute, 90*time.Minute)
			p.set(stop, secondHalf)
		}

		for side, n := range part.goals {
			for g := range n {
				at := start.Add(p.between(fmt.Sprint(name, " ", side, " ", g), time.Minute, now.Sub(start)))
				p.at(at, func(s *state) { s.goals[i][side]++ })

				if at.After(lastGoal.at) {
					lastGoal.at, lastGoal.period, lastGoal.side = at, i, side
				}
			}
		}

		if i == 0 {
			p.set(now, halfTime)
		}
	}

	last := all[len(all)-1].status

	result := ended
	if p.match.Score.ExtraTime != nil {
		result = afterExtra
	}

	if shootout := p.match.Score.Penalties; shootout != nil {
		start := now.Add(p.between("penalties begin", 3*time.Minute, 5*time.Minute))
		began := p.shifted(start)
		p.at(start, func(s *state) { s.status, s.period = penalties, began })
		now = start.Add(p.between("penalties last", 8*time.Minute, 15*time.Minute))
		p.at(now, func(s *state) { s.shootout = shootout })

		last, result = penalties, afterPens
	}

	end, shown := now, now
	p.set(end, result)

	if p.faults[LateScore] {
		if !hide {
			p.at(end, func(s *state) { s.hidden = display })
		}

		shown = end.Add(p.between("late score", 3*time.Minute, 90*time.Minute))
		p.at(shown, func(s *state) { s.hidden = nothing })
	}

	if p.faults[Corrected] {
		at, period, by := end, len(all)-1, openfootball.Goals{}
		switch side := p.below(2, "wrong side"); {
		case p.match.Score.Penalties != nil: // it stays a draw
			by = openfootball.Goals{1, 1}
		case !lastGoal.at.IsZero() && p.roll("wrong by a goal less") < 0.5:
			at, period, by[lastGoal.side] = lastGoal.at, lastGoal.period, -1
		default:
			by[side] = 1
		}

		add := func(by openfootball.Goals) func(*state) {
			return func(s *state) {
				s.goals[period][0] += by[0]
				s.goals[period][1] += by[1]
			}
		}
		p.at(at, add(by))
		p.at(shown.Add(p.between("corrected", 5*time.Minute, 324*time.Minute)), add(minus(openfootball.Goals{}, by)))
	}

	if p.faults[Reopened] {
		again := end.Add(p.between("reopened", time.Minute, 15*time.Minute))
		p.set(again, last)
		end = again.Add(p.between("reopened for", 2*time.Minute, 10*time.Minute))
		p.set(end, result)
	}

	if p.faults[Overwritten] {
		after := p.between("overwritten soon", 20*time.Second, 4*time.Minute) // before a poll in five minutes
		if p.roll("overwritten late") < 0.5 {
			after = p.between("overwritten", 10*time.Minute, 5*time.Hour)
		}

		p.at(end.Add(after), func(s *state) { s.locked = true })
	}

	return p.shifted(end)
}

// hidden is what the scores lack.
type hidden int

const (
	nothing hidden = iota
	display
	everything
)

// state is what is so at a time.
type state struct {
	status   status
	kickOff  time.Time
	period   time.Time // when the period began
	periods  int       // that have begun
	goals    [4]openfootball.Goals
	shootout *openfootball.Goals
	hidden   hidden
	walkover int  // the winner, 1 or 2
	locked   bool // the provider changed something else
}

// views returns what the API says of the event, and from when on.
func (p *script) views() []view {
	s := state{status: notStarted, kickOff: p.match.KickOff}
	all := []view{s.view()}

	slices.SortStableFunc(p.moments, func(a, b moment) int { return a.at.Compare(b.at) })

	for i, m := range p.moments {
		m.do(&s)

		if i+1 < len(p.moments) && p.moments[i+1].at.Equal(m.at) {
			continue
		}

		v := s.view()
		v.at = m.at

		v.changes = v.since(all[len(all)-1])
		if s.locked {
			v.changes, s.locked = append(v.changes, "providerLock.status", "providerLock.statusSource"), false
		}

		if len(v.changes) > 0 {
			all = append(all, v)
		}
	}

	return all
}
