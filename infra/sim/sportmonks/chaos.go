package sportmonks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"matchday/infra/sim/sportmonks/script"
)

// Kind is a way in which the feed can be wrong.
type Kind string

// Errors in the data of a match. Each comes with a delivery (the last two with
// the last frame), lasts for a while of the simulated time, and leaves no trace.
const (
	Late        Kind = "late ball"    // a ball and all after it are held up; its stamp is not
	WrongBall   Kind = "wrong ball"   // first sent with an error, then corrected under the same id
	DeletedBall Kind = "deleted ball" // a ball that never was follows, and is taken back
	Vanish      Kind = "vanish"       // the match is not in /livescores
	EarlyFinish Kind = "early finish" // Finished, with neither winner nor note
	WrongWinner Kind = "wrong winner" // Finished, with the other team as winner and no note
)

// Errors of a response.
const (
	TooManyRequests Kind = "429"
	ServerError     Kind = "5xx"
	Timeout         Kind = "timeout" // no answer until the caller gives up
	Truncated       Kind = "truncated JSON"
	HTML            Kind = "HTML page" // with status 200
	WrongTypes      Kind = "wrong types"
	UnknownStatus   Kind = "unknown status"
	ShortBalls      Kind = "short balls" // a part of the balls, with full totals
	DuplicateBalls  Kind = "duplicate balls"
)

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{
		Late, WrongBall, DeletedBall, Vanish, EarlyFinish, WrongWinner,
		TooManyRequests, ServerError, Timeout, Truncated, HTML, WrongTypes, UnknownStatus, ShortBalls, DuplicateBalls,
	}
}

// Fault orders errors of a kind.
type Fault struct {
	Kind  Kind
	Match int64 // only this match, and responses that carry it; 0: any
	// Ball is the delivery, from 1, that an error in the data comes with; 0: the
	// next one (for Vanish: at once).
	Ball int
	// Count is how many deliveries in a row, or responses, are hit; one when
	// neither Count nor For is set.
	Count int
	// For is how long an error in the data lasts: 10 s when not set, 30 s for
	// Vanish. For an error of responses it is how long it can hit them; without
	// Count it then hits all.
	For time.Duration
	// Resource limits errors of responses to one endpoint, such as livescores.
	Resource string
	// Status is that of a ServerError; when 0, 500, 502, 503 and 504 in turn.
	Status int
}

// pendingFault is a fault that waits for what it is to hit.
type pendingFault struct {
	Fault
	until time.Time
}

// dataError is an error in the data of a match.
type dataError struct {
	kind        Kind
	ball        int
	from, until time.Time
	instead     *script.Delivery
}

func (k Kind) inData() bool {
	return slices.Contains([]Kind{Late, WrongBall, DeletedBall, Vanish, EarlyFinish, WrongWinner}, k)
}

func (k Kind) atEnd() bool { return k == EarlyFinish || k == WrongWinner }

// Inject orders a fault.
func (s *Server) Inject(f Fault) error {
	if !slices.Contains(Kinds(), f.Kind) {
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if !f.Kind.inData() {
		o := &pendingFault{Fault: f}
		if f.For > 0 {
			o.until = now.Add(f.For)
		} else if f.Count == 0 {
			o.Count = 1
		}
		s.pendingFaults = append(s.pendingFaults, o)
		return nil
	}
	if f.Match != 0 {
		e, err := s.playbackOf(f.Match, now)
		if err != nil {
			return err
		}
		return s.schedule(e.playback, f, now)
	}
	for _, e := range s.fixtures {
		if e.playback != nil {
			e.playback.advance(s, now)
			if err := s.schedule(e.playback, f, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// schedule puts a fault where its delivery will find it.
func (s *Server) schedule(p *playback, f Fault, now time.Time) error {
	if f.For <= 0 {
		f.For = s.duration(f.Kind)
	}
	if f.Kind == Vanish && f.Ball == 0 {
		p.dataErrors = append(p.dataErrors, dataError{kind: Vanish, from: now, until: now.Add(f.For)})
		s.counts[Vanish]++
		return nil
	}
	shown := p.match.Frames[p.shown-1].Deliveries
	from := f.Ball - 1
	switch {
	case f.Kind.atEnd():
		p.pendingFaults[-1] = append(p.pendingFaults[-1], pendingFault{Fault: f})
		return nil
	case f.Ball == 0:
		from = shown
	case from < shown || from >= len(p.match.Deliveries):
		return fmt.Errorf("delivery %d of match %d is not to come", f.Ball, p.match.ID)
	}
	for n := range max(1, f.Count) {
		p.pendingFaults[from+n] = append(p.pendingFaults[from+n], pendingFault{Fault: f})
	}
	return nil
}

func (s *Server) duration(k Kind) time.Duration {
	if d := s.chaos.Lasting[k]; d > 0 {
		return d
	}
	if k == Vanish {
		return 30 * time.Second
	}
	return 10 * time.Second
}

// Chaos is errors that happen by themselves, the same for a seed every time:
// those in the data depend on the match and its delivery, those of a response on
// the simulated time and what is asked for.
type Chaos struct {
	Seed uint64
	// Rates are chances from 0 to 1: of each delivery for errors in the data, of
	// each match for those of its end, of each response for the others.
	Rates map[Kind]float64
	// Lasting is how long an error in the data lasts, where it is not as long as
	// one that is ordered.
	Lasting map[Kind]time.Duration
}

// Chaos replaces the chaos before it; the zero Chaos ends it.
func (s *Server) Chaos(c Chaos) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, e := range s.fixtures {
		if e.playback != nil {
			e.playback.advance(s, now)
		}
	}
	s.chaos = c
}

// Habits are the rates of chaos that the real feed shows by itself: one ball
// in seven is first sent with an error. The other rates are estimates.
func Habits() map[Kind]float64 {
	return map[Kind]float64{WrongBall: 1.0 / 7, DeletedBall: 0.005, Late: 0.02, EarlyFinish: 0.2, WrongWinner: 0.05}
}

// Counts returns how often each kind has happened.
func (s *Server) Counts() map[Kind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// deliveryRand is the same stream of chance for a delivery every time.
func (s *Server) deliveryRand(k Kind, match int64, ball int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, k, match, " ", ball)
	return rand.New(rand.NewPCG(s.chaos.Seed, h.Sum64()))
}

func (s *Server) chance(k Kind, p *playback, ball int) bool {
	rate := s.chaos.Rates[k]
	return rate > 0 && s.deliveryRand(k, p.match.ID, ball).Float64() < rate
}

// deliveryDelay is the delay of a delivery.
func (s *Server) deliveryDelay(p *playback, ball int) (late time.Duration) {
	for _, o := range p.pendingFaults[ball] {
		if o.Kind == Late {
			late = max(late, o.For)
		}
	}
	if late == 0 && s.chance(Late, p, ball) {
		late = s.duration(Late)
	}
	return late
}

// falseWicketGap is the least time from the end of one invented wicket of a match to
// the next: two in a row of one batter would be one that lasts longer.
const falseWicketGap = time.Minute

// startDataErrors starts what is wrong with a delivery that appears now; ball is -1 for
// the last frame.
func (s *Server) startDataErrors(p *playback, ball int, now time.Time) {
	start := func(k Kind, length time.Duration) {
		t := dataError{kind: k, ball: ball, from: now, until: now.Add(length)}
		r := s.deliveryRand(k, p.match.ID, ball)
		r.Float64() // spent on whether it happens
		switch k {
		case WrongBall:
			t.instead = script.Mistyped(p.match, ball, r)
		case DeletedBall:
			t.instead = script.Phantom(p.match, ball, r)
		}
		if t.instead != nil && len(t.instead.Dismissals) > 0 {
			if now.Before(p.falseWicketUntil.Add(falseWicketGap)) {
				return
			}
			p.falseWicketUntil = t.until
		}
		p.dataErrors = append(p.dataErrors, t)
		s.counts[k]++
	}
	for _, o := range p.pendingFaults[ball] {
		if o.Kind != Late {
			start(o.Kind, o.For)
		}
	}
	delete(p.pendingFaults, ball)
	for _, k := range Kinds() {
		if k.inData() && k != Late && k.atEnd() == (ball < 0) && s.chance(k, p, ball) {
			start(k, s.duration(k))
		}
	}
}

// takeFault reports whether a response error happens to a request that carries a
// match, or to any when match is 0, and uses it up.
func (s *Server) takeFault(k Kind, c *call, match int64) bool {
	_, _, ok := s.takeFaultVariant(k, c, match)
	return ok
}

// takeFaultVariant is hit, with the order and a number that tells its variants apart.
func (s *Server) takeFaultVariant(k Kind, c *call, match int64) (f Fault, variant int, ok bool) {
	s.pendingFaults = slices.DeleteFunc(s.pendingFaults, func(o *pendingFault) bool {
		return !o.until.IsZero() && !c.now.Before(o.until)
	})
	for _, o := range s.pendingFaults {
		if o.Kind != k || o.Resource != "" && o.Resource != c.resource || !c.carries(o.Match, match) {
			continue
		}
		if o.Count > 0 {
			if o.Count--; o.Count == 0 {
				o.until = c.now // used up
			}
		}
		s.counts[k]++
		return o.Fault, s.counts[k] - 1, true
	}
	if rate := s.chaos.Rates[k]; rate > 0 {
		if dice := s.responseRand(k, c, match); dice.Float64() < rate {
			s.counts[k]++
			return Fault{Kind: k}, dice.IntN(12), true
		}
	}
	return Fault{}, 0, false
}

// responseRand is the same stream of chance for a response, or for a match in it, every
// time.
func (s *Server) responseRand(k Kind, c *call, match int64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, k, c.now.UnixNano(), c.resource, c.id, c.q.Get("page"), " ", match)
	return rand.New(rand.NewPCG(s.chaos.Seed, h.Sum64()))
}

// carries reports whether a response, or match in it, is what an order wants.
func (c *call) carries(want, match int64) bool {
	switch {
	case want == 0:
		return true
	case match != 0:
		return want == match
	}
	return c.resource == "livescores" || c.resource == "fixtures" && (c.id == 0 || c.id == want)
}

// errorAnswer answers with an error in place of the data, when one is due.
func (s *Server) errorAnswer(c *call) answer {
	if s.takeFault(Timeout, c, 0) {
		return answer{hang: true}
	}
	if f, _, ok := s.takeFaultVariant(TooManyRequests, c, 0); ok {
		wait := f.For
		if wait <= 0 {
			wait = 5 * time.Second
		}
		return tooMany(wait)
	}
	if f, variant, ok := s.takeFaultVariant(ServerError, c, 0); ok {
		status := f.Status
		if status == 0 {
			status = []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}[variant%4]
		}
		return fail(status, "Server Error")
	}
	if s.takeFault(HTML, c, 0) {
		page := "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>\n"
		return answer{status: http.StatusOK, html: true, parts: [][]byte{[]byte(page)}}
	}
	return answer{}
}

// corrupt does to a good answer what is due to it.
func (s *Server) corrupt(c *call, a answer) answer {
	if _, variant, ok := s.takeFaultVariant(WrongTypes, c, 0); ok {
		a.parts = [][]byte{rewriteTypes(bytes.Join(a.parts, nil), variant)}
	}
	if s.takeFault(Truncated, c, 0) {
		whole := bytes.Join(a.parts, nil)
		a.parts = [][]byte{whole[:len(whole)*2/3]}
	}
	return a
}

// rewriteTypes rewrites a body in one of three ways: numbers as strings, null for
// every list in an object, or includes wrapped as {"data": ...}, as version 1
// did.
func rewriteTypes(body []byte, variant int) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return body
	}
	out, err := json.Marshal(rewrite(v, variant%3, false))
	if err != nil {
		return body
	}
	return out
}

func rewrite(v any, variant int, inside bool) any {
	switch x := v.(type) {
	case json.Number:
		if variant == 0 {
			return string(x)
		}
	case []any:
		if inside && variant == 1 {
			return nil
		}
		for i := range x {
			x[i] = rewrite(x[i], variant, false)
		}
		if inside && variant == 2 {
			return map[string]any{"data": x}
		}
	case map[string]any:
		_, resource := x["resource"]
		for k := range x {
			x[k] = rewrite(x[k], variant, resource)
		}
		if resource && inside && variant == 2 {
			return map[string]any{"data": x}
		}
	}
	return v
}
