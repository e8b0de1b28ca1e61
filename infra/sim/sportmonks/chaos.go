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

// Kind is a kind of error in the feed.
type Kind string

// Errors in the data of a match. Each starts with a delivery (the last two with the
// last frame) and ends after some simulated time. Then the feed is correct again.
const (
	Late        Kind = "late ball"    // a ball and all later ones appear late; the ball's timestamp does not change
	WrongBall   Kind = "wrong ball"   // first sent with an error, then corrected under the same id
	DeletedBall Kind = "deleted ball" // an invented ball follows and is deleted later
	Vanish      Kind = "vanish"       // the match is not in /livescores
	EarlyFinish Kind = "early finish" // Finished, with neither winner nor note
	WrongWinner Kind = "wrong winner" // Finished, with the other team as winner and no note
)

// Errors of a response.
const (
	TooManyRequests Kind = "429"
	ServerError     Kind = "5xx"
	Timeout         Kind = "timeout" // no answer until the caller closes the connection
	Truncated       Kind = "truncated JSON"
	HTML            Kind = "HTML page" // with status 200
	WrongTypes      Kind = "wrong types"
	UnknownStatus   Kind = "unknown status"
	ShortBalls      Kind = "short balls" // only a part of the balls, with the full totals
	DuplicateBalls  Kind = "duplicate balls"
)

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{
		Late, WrongBall, DeletedBall, Vanish, EarlyFinish, WrongWinner,
		TooManyRequests, ServerError, Timeout, Truncated, HTML, WrongTypes, UnknownStatus, ShortBalls, DuplicateBalls,
	}
}

// Fault requests errors of a kind.
type Fault struct {
	Kind  Kind
	Match int64 // only this match, and responses that carry it; 0: any
	// Ball is the delivery, from 1, with which an error in the data starts. 0 is the
	// next one (for Vanish: at once).
	Ball int
	// Count is the number of consecutive deliveries, or of responses, that get the
	// error. It is 1 if neither Count nor For is set.
	Count int
	// For is the duration of an error in the data: 10 s if not set, 30 s for Vanish. For
	// an error of responses it is the time during which responses can get it; without
	// Count all of them do.
	For time.Duration
	// Resource limits errors of responses to one endpoint, such as livescores.
	Resource string
	// Status is the status of a ServerError. If 0, it is 500, 502, 503 and 504 in turn.
	Status int
}

// pendingFault is a fault that waits for its delivery or response.
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

// Inject adds a fault.
func (s *Server) Inject(f Fault) error {
	if !slices.Contains(Kinds(), f.Kind) {
		return fmt.Errorf("unknown fault %q", f.Kind)
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

// schedule attaches a fault to its delivery.
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
		return fmt.Errorf("delivery %d of match %d is not in the future", f.Ball, p.match.ID)
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

// Chaos injects random errors, the same for a seed in every run. Errors in the data
// depend on the match and its delivery; errors of a response depend on the simulated
// time and the request.
type Chaos struct {
	Seed uint64
	// Rates are probabilities from 0 to 1: per delivery for errors in the data, per
	// match for errors at its end, per response for the others.
	Rates map[Kind]float64
	// Lasting overrides the duration of an error in the data.
	Lasting map[Kind]time.Duration
}

// Chaos replaces the current Chaos. The zero Chaos ends it.
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

// Habits holds the error rates of the real feed: one ball in seven is first sent with
// an error. The other rates are estimates.
func Habits() map[Kind]float64 {
	return map[Kind]float64{WrongBall: 1.0 / 7, DeletedBall: 0.005, Late: 0.02, EarlyFinish: 0.2, WrongWinner: 0.05}
}

// Counts returns how often each kind has happened.
func (s *Server) Counts() map[Kind]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

// deliveryRand returns the random numbers of a delivery, the same in every run.
func (s *Server) deliveryRand(k Kind, match int64, ball int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, k, match, " ", ball)

	return rand.New(rand.NewPCG(s.chaos.Seed, h.Sum64()))
}

func (s *Server) chance(k Kind, p *playback, ball int) bool {
	rate := s.chaos.Rates[k]
	return rate > 0 && s.deliveryRand(k, p.match.ID, ball).Float64() < rate
}

// deliveryDelay returns the delay of a delivery.
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

// falseWicketGap is the minimum time from the end of one invented wicket of a match to
// the next. Without it, two consecutive ones of the same batter would look like one
// that lasts longer.
const falseWicketGap = time.Minute

// startDataErrors starts the errors of a delivery that appears now. ball is -1 for the
// last frame.
func (s *Server) startDataErrors(p *playback, ball int, now time.Time) {
	start := func(k Kind, length time.Duration) {
		t := dataError{kind: k, ball: ball, from: now, until: now.Add(length)}
		r := s.deliveryRand(k, p.match.ID, ball)
		r.Float64() // the first number decided whether the error happens

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

// takeFault reports whether a response that contains the match gets this error, or any
// response if match is 0. It counts the use of the fault.
func (s *Server) takeFault(k Kind, c *call, match int64) bool {
	_, _, ok := s.takeFaultVariant(k, c, match)
	return ok
}

// takeFaultVariant is takeFault. It also returns the fault and a number that selects
// one of its variants.
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
				o.until = c.now // the Count of the fault is reached
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

// responseRand returns the random numbers of a response, or of a match in it, the same
// in every run.
func (s *Server) responseRand(k Kind, c *call, match int64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, k, c.now.UnixNano(), c.resource, c.id, c.q.Get("page"), " ", match)

	return rand.New(rand.NewPCG(s.chaos.Seed, h.Sum64()))
}

// carries reports whether a fault applies to a response, or to a match in it.
func (c *call) carries(want, match int64) bool {
	switch {
	case want == 0:
		return true
	case match != 0:
		return want == match
	}

	return c.resource == "livescores" || c.resource == "fixtures" && (c.id == 0 || c.id == want)
}

// errorAnswer sends an error in place of the data, if the request gets one.
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
			status = []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
				http.StatusGatewayTimeout}[variant%4]
		}

		return fail(status, "Server Error")
	}

	if s.takeFault(HTML, c, 0) {
		page := "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>\n"
		return answer{status: http.StatusOK, html: true, parts: [][]byte{[]byte(page)}}
	}

	return answer{}
}

// corrupt applies the errors of the data format to a good answer.
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
