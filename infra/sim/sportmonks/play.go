package sportmonks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"matchday/infra/sim/sportmonks/internal/wire"
	"matchday/infra/sim/sportmonks/script"
)

// Pace sets when the frames of a match appear.
type Pace struct {
	// Every is the time between frames. The first frame of play appears at the start
	// plus Phase. With 2.5 s each tick of the backend gets one delivery or event.
	Every, Phase time.Duration
	// Speed divides natural times (a ball every half minute, breaks, nights) if Every is
	// 0. It is 1 if not set.
	Speed float64
	// Lead and Linger are the times before the start and after the last frame during
	// which the match is in /livescores: 2 and 5 minutes if not set, none if negative.
	Lead, Linger time.Duration
	// Habits are what the provider does besides playing the script.
	Habits []Habit
}

// Progress describes how much of a match has been played. NextDue is zero if the match
// is paused or over.
type Progress struct {
	Shown, Total int
	NextDue      time.Time
}

// Innings is the score of an innings in the feed now.
type Innings struct {
	Team          string
	Runs, Wickets int
	Overs         string // 18.4, 19
}

// State describes what the provider sends of a match now, errors included.
type State struct {
	Progress
	ID             int64
	Local, Visitor script.Team
	Type           string
	Start          time.Time
	Status, Note   string
	Scores         []Innings
	Live           bool // in /livescores
	Paused         bool
	Rate           float64 // the pace with which the match was started
}

// playback is a match that is being played. Script time is 0 at the start and runs at
// rate, or stands still.
type playback struct {
	match *script.Match
	pace  Pace
	first int             // the first frame of play; the frames before it are the toss
	at    []time.Duration // script time of each frame

	base   time.Time // the instant at which script time was pos
	pos    time.Duration
	rate   float64
	paused bool

	shown    int       // number of frames shown
	appeared time.Time // the last of them
	stamp    time.Time // when it would have appeared without delay: the timestamp of its rows
	innings  []time.Time
	stamps   []time.Time // of the deliveries
	rendered [2]rendered // without and with the catcher

	pendingFaults    map[int][]pendingFault // by delivery; the last frame's under -1
	dataErrors       []dataError
	falseWicketUntil time.Time // end of the last invented wicket
}

// Play plays a match from start. It replaces a match with the same id. It panics if the match cannot have a
// habit of the pace.
func (s *Server) Play(m *script.Match, start time.Time, pace Pace) {
	if pace.Speed <= 0 {
		pace.Speed = 1
	}

	pace.Lead = cmp.Or(pace.Lead, 2*time.Minute)
	pace.Linger = cmp.Or(pace.Linger, 5*time.Minute)

	p := &playback{
		match: m, pace: pace, first: 1, rate: 1, base: start,
		at:            make([]time.Duration, len(m.Frames)),
		innings:       make([]time.Time, len(m.Innings)),
		pendingFaults: map[int][]pendingFault{},
	}
	if m.Frames[1].Status == "NS" {
		p.first = 2
		p.at[1] = script.BeforeToss
	}

	at := pace.Phase

	for i := p.first; i < len(m.Frames); i++ {
		if i > p.first {
			if pace.Every > 0 {
				at += pace.Every
			} else {
				at += time.Duration(float64(m.Frames[i].Wait) / pace.Speed)
			}
		}

		p.at[i] = at
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now()
	p.shown, p.appeared, p.stamp = 1, now, now

	effects, err := s.adopt(p, start)
	if err != nil {
		panic(err) // of the caller
	}

	s.addReferences(&m.Fixture, start)

	for i := range m.Deliveries {
		d := &m.Deliveries[i]

		s.scores[d.Score.ID] = d.Score
		for _, o := range d.Dismissals {
			s.scores[o.How.ID] = o.How
		}
	}

	for _, name := range []string{"Retired Not Out", "Absent Hurt"} {
		sc := script.NamedScore(name)
		s.scores[sc.ID] = sc
	}

	s.fixtures[m.ID] = &knownFixture{fixture: &m.Fixture, start: start, playback: p, effects: effects}
}

// position returns the script time at t.
func (p *playback) position(t time.Time) time.Duration {
	switch {
	case p.paused:
		return p.pos
	case p.rate == 1:
		return p.pos + t.Sub(p.base)
	}

	return p.pos + time.Duration(float64(t.Sub(p.base))*p.rate)
}

// due returns when frame i would appear without delay: never while paused.
func (p *playback) due(i int) (time.Time, bool) {
	if p.paused {
		return time.Time{}, false
	}

	d := p.at[i] - p.pos
	if p.rate != 1 {
		d = time.Duration(float64(d) / p.rate)
	}

	return p.base.Add(d), true
}

// next returns when the next frame appears, delay included, and the delay.
func (p *playback) next(s *Server) (at, stamp time.Time, late time.Duration, ok bool) {
	if p.shown == len(p.match.Frames) {
		return
	}

	stamp, ok = p.due(p.shown)
	if !ok {
		return
	}

	if n := p.match.Frames[p.shown].Deliveries; n > p.match.Frames[p.shown-1].Deliveries {
		late = s.deliveryDelay(p, n-1)
	}

	at = stamp.Add(late)
	if at.Before(p.appeared) && p.shown > p.first {
		at = p.appeared // a late ball delays the frames after it
	}

	return at, stamp, late, true
}

// advance shows the frames that are due.
func (p *playback) advance(s *Server, now time.Time) {
	for {
		at, stamp, late, ok := p.next(s)
		if !ok || at.After(now) {
			return
		}

		prev, f := p.match.Frames[p.shown-1], p.match.Frames[p.shown]
		p.shown++

		p.appeared, p.stamp = at, stamp
		for i := prev.InningsShown; i < f.InningsShown; i++ {
			p.innings[i] = stamp
		}

		if f.InningsShown > 0 && (f.Deliveries > prev.Deliveries || f.InningsOver > prev.InningsOver) {
			p.innings[f.InningsShown-1] = stamp
		}

		if f.Deliveries > prev.Deliveries {
			p.stamps = append(p.stamps, stamp)

			if late > 0 {
				s.counts[Late]++
			}

			s.startDataErrors(p, f.Deliveries-1, at)
		}

		if p.shown == len(p.match.Frames) {
			s.startDataErrors(p, -1, at)
		}

		p.dataErrors = slices.DeleteFunc(p.dataErrors, func(t dataError) bool { return t.until.Before(at) })
	}
}

// snapshot holds what the provider sends of a match at an instant.
type snapshot struct {
	script.Frame
	live           bool
	stamp          time.Time
	innings        []time.Time
	wrong, phantom map[int]*script.Delivery
	changed        []int // deliveries with an error, in order
}

func (p *playback) snapshot(now time.Time) snapshot {
	v := snapshot{Frame: p.match.Frames[p.shown-1], stamp: p.stamp, innings: p.innings}
	switch over := p.shown == len(p.match.Frames); {
	case over:
		v.live = now.Before(p.appeared.Add(p.pace.Linger))
	case p.shown > p.first:
		v.live = true
	default:
		start, ok := p.due(p.first)
		v.live = ok && !now.Before(start.Add(-p.pace.Lead))
	}

	for _, t := range p.dataErrors {
		if now.Before(t.from) || !now.Before(t.until) {
			continue
		}

		switch t.kind {
		case Vanish:
			v.live = false
		case WrongBall, DeletedBall:
			if v.wrong == nil {
				v.wrong, v.phantom = map[int]*script.Delivery{}, map[int]*script.Delivery{}
			}

			if t.kind == WrongBall {
				v.wrong[t.ball] = t.instead
			} else {
				v.phantom[t.ball] = t.instead
			}
		case EarlyFinish, WrongWinner:
			h := *v.Header
			h.Note, h.Draw, h.PlayerOfMatch = "", "", 0

			h.Winner = 0
			if t.kind == WrongWinner {
				h.Winner = p.match.Team(1 - max(0, p.match.SideOf(v.Winner))).ID
			}

			v.Header = &h
		}
	}

	touched := slices.AppendSeq(slices.Collect(maps.Keys(v.wrong)), maps.Keys(v.phantom))
	slices.Sort(touched)
	v.changed = slices.Compact(touched)

	return v
}

// rendered holds the balls shown so far as JSON, one after the other. It only grows, so
// slices of it stay valid.
type rendered struct {
	b   []byte
	end []int
}

func (p *playback) render(n int, catcher bool) *rendered {
	r := &p.rendered[0]
	if catcher {
		r = &p.rendered[1]
	}

	for i := len(r.end); i < n; i++ {
		r.b = wire.AppendBall(r.b, p.match, &p.match.Deliveries[i], p.stamps[i], catcher)
		r.end = append(r.end, len(r.b))
	}

	return r
}

// between returns the JSON of the balls with the indexes from, …, to-1.
func (r *rendered) between(from, to int) []byte {
	start := 0
	if from > 0 {
		start = r.end[from-1]
	}

	if to <= from {
		return nil
	}

	return r.b[start:r.end[to-1]]
}

// playbackOf returns the playback of a match, advanced to now.
func (s *Server) playbackOf(id int64, now time.Time) (*knownFixture, error) {
	e, ok := s.fixtures[id]
	if !ok || e.playback == nil {
		return nil, fmt.Errorf("match %d is not being played", id)
	}

	e.playback.advance(s, now)

	return e, nil
}

// Pause pauses or resumes a match.
func (s *Server) Pause(id int64, pause bool) error {
	return s.change(id, func(p *playback) { p.paused = pause })
}

// SetRate plays the remainder of a match at rate times its original pace.
func (s *Server) SetRate(id int64, rate float64) error {
	if !(rate > 0) {
		return fmt.Errorf("invalid rate %v: must be greater than 0", rate)
	}

	return s.change(id, func(p *playback) { p.rate = rate })
}

func (s *Server) change(id int64, change func(*playback)) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now()

	e, err := s.playbackOf(id, now)
	if err != nil {
		return err
	}

	p := e.playback
	p.pos, p.base = p.position(now), now
	change(p)

	return nil
}

// Progress returns how much of a match has been played.
func (s *Server) Progress(id int64) (Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	e, err := s.playbackOf(id, s.clock.Now())
	if err != nil {
		return Progress{}, err
	}

	return s.progress(e.playback), nil
}

func (s *Server) progress(p *playback) Progress {
	at, _, _, _ := p.next(s)
	return Progress{Shown: p.shown, Total: len(p.match.Frames), NextDue: at}
}

// State returns what the provider sends of a match now.
func (s *Server) State(id int64) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now()

	e, err := s.playbackOf(id, now)
	if err != nil {
		return State{}, err
	}

	p := e.playback
	v := e.snapshot(now)

	st := State{
		Progress: s.progress(p), ID: id, Local: e.fixture.Local, Visitor: e.fixture.Visitor, Type: e.fixture.Type, Start: e.startAt(now),
		Status: v.Status, Note: v.Note, Live: v.live, Paused: p.paused, Rate: p.rate,
	}
	for i, c := range p.match.Cards(v.Frame, v.wrong, v.phantom) {
		overs := fmt.Sprintf("%d.%d", c.Overs/10, c.Overs%10)
		if c.Overs%10 == 0 {
			overs = overs[:len(overs)-2]
		}

		st.Scores = append(st.Scores, Innings{p.match.Team(p.match.Innings[i].Side).Name, c.Runs, c.Wickets, overs})
	}

	return st, nil
}

// Playing returns the ids of the matches that Play added, in order.
func (s *Server) Playing() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()

	var ids []int64

	for id, e := range s.fixtures {
		if e.playback != nil && e.playback.match.ID == id {
			ids = append(ids, id)
		}
	}

	slices.Sort(ids)

	return ids
}
