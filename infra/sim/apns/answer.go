package apns

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/sideshow/apns2"
)

// Answer is what a push gets instead of delivery. The zero Answer delivers.
type Answer struct {
	Status  int // 200 or 0 delivers
	Reason  string
	Since   time.Time     // timestamp of a 410; now when zero
	Slow    time.Duration // simulated time until the answer
	Drop    bool          // close the connection instead of answering; a delivered push is delivered first
	GoAway  bool          // send GOAWAY with the answer
	Applied bool          // deliver the push although the answer is an error
	Times   int           // number of pushes that get it; 0 for all later ones

	kind string // of the fault, when Chaos injected it
}

// Refuse is Apple's answer for a reason.
func Refuse(reason string) Answer {
	a := Answer{Status: http.StatusBadRequest, Reason: reason}
	switch reason {
	case apns2.ReasonBadCertificate, apns2.ReasonBadCertificateEnvironment, apns2.ReasonExpiredProviderToken,
		apns2.ReasonForbidden, apns2.ReasonInvalidProviderToken, apns2.ReasonMissingProviderToken,
		"BadEnvironmentKeyIdInToken", "UnrelatedKeyIdInToken":
		a.Status = http.StatusForbidden
	case apns2.ReasonUnregistered, apns2.ReasonExpiredToken:
		a.Status = http.StatusGone
	case apns2.ReasonPayloadTooLarge:
		a.Status = http.StatusRequestEntityTooLarge
	case apns2.ReasonTooManyRequests, apns2.ReasonTooManyProviderTokenUpdates:
		a.Status = http.StatusTooManyRequests
	case apns2.ReasonInternalServerError:
		a.Status = http.StatusInternalServerError
	case apns2.ReasonServiceUnavailable, apns2.ReasonShutdown:
		a.Status = http.StatusServiceUnavailable
	case apns2.ReasonIdleTimeout:
		a.GoAway = true
	}

	return a
}

// Answer scripts what the next pushes to token get, in order, in place of any
// earlier script; after the last they are delivered again. The script of token
// "" is for every token without one.
func (s *Server) Answer(token string, script ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.scripts[token] = slices.Clone(script)
}

// Chaos injects random faults. Rates are between 0 and 1. Whether a token is invalid
// depends on the seed and the token; the other faults depend on the seed, the token and
// the simulated time. Of the pushes to a token at one instant only the first gets the
// fault, so the number and the order of retries do not change a run.
type Chaos struct {
	Seed uint64

	Unregistered float64 // of tokens
	BadToken     float64 // of tokens

	TooMany     float64 // of pushes, as all below
	Internal    float64
	Unavailable float64
	Outage      float64 // every push to the token at the instant gets status 503
	Drop        float64 // the connection ends before the phone has the push
	Lost        float64 // the connection ends after the phone has it
	Slow        float64
	SlowBy      time.Duration
	GoAway      float64 // GOAWAY is sent with the answer

	GoAwayEvery         int  // pushes per connection; 0 for no limit
	GoAwayAfterBadToken bool // a bad token ends its connection
}

// Chaos replaces the current Chaos. The zero Chaos ends it.
func (s *Server) Chaos(c Chaos) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.chaos, s.chaosAt = c, map[string]time.Time{}
}

// ChaosCounts returns how often each random fault happened, without invalid tokens:
// "429", "500", "503", "outage", "drop", "lost", "slow" and "GOAWAY".
func (s *Server) ChaosCounts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.chaosCounts)
}

// next returns the answer to the next push to token.
func (s *Server) next(token string, now time.Time) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, key := range [...]string{token, ""} {
		script := s.scripts[key]
		if len(script) == 0 {
			continue
		}

		a := script[0]
		if script[0].Times > 0 {
			if script[0].Times--; script[0].Times == 0 {
				s.scripts[key] = script[1:]
			}
		}

		return a
	}

	if !s.chaos.any() {
		return Answer{}
	}

	a := s.chaos.answer(token, now)
	if a.kind == "" {
		return a
	}

	if !s.chaosAt[token].Equal(now) {
		s.chaosAt[token] = now
		s.chaosCounts[a.kind]++

		return a
	}

	if a.kind != outage {
		return Answer{}
	}

	return a
}

const outage = "outage"

func (c Chaos) any() bool {
	return c.Unregistered+c.BadToken+c.TooMany+c.Internal+c.Unavailable+c.Outage+c.Drop+c.Lost+c.Slow+c.GoAway > 0
}

// answer returns the answer to the first push to token at an instant.
func (c Chaos) answer(token string, at time.Time) Answer {
	h := fnv.New64a()
	_, _ = h.Write([]byte(token))

	fate := rand.New(rand.NewPCG(c.Seed, h.Sum64()))
	switch x := fate.Float64(); {
	case x < c.Unregistered:
		return Refuse(apns2.ReasonUnregistered)
	case x < c.Unregistered+c.BadToken:
		return Refuse(apns2.ReasonBadDeviceToken)
	}

	x := rand.New(rand.NewPCG(c.Seed^uint64(at.UnixNano()), h.Sum64())).Float64()
	for _, t := range [...]struct {
		rate float64
		kind string
		Answer
	}{
		{c.TooMany, "429", Refuse(apns2.ReasonTooManyRequests)},
		{c.Internal, "500", Refuse(apns2.ReasonInternalServerError)},
		{c.Unavailable, "503", Refuse(apns2.ReasonServiceUnavailable)},
		{c.Outage, outage, Refuse(apns2.ReasonServiceUnavailable)},
		{c.Drop, "drop", Answer{Status: http.StatusServiceUnavailable, Drop: true}},
		{c.Lost, "lost", Answer{Drop: true}},
		{c.Slow, "slow", Answer{Slow: c.SlowBy}},
		{c.GoAway, "GOAWAY", Answer{GoAway: true}},
	} {
		if x < t.rate {
			t.Answer.kind = t.kind
			return t.Answer
		}

		x -= t.rate
	}

	return Answer{}
}

// sendsGoAway reports whether this answer ends the connection with GOAWAY.
func (s *Server) sendsGoAway(l *connection, no *refusal) bool {
	s.mu.Lock()
	every, afterBad := s.chaos.GoAwayEvery, s.chaos.GoAwayAfterBadToken
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()

	l.requests++

	bad := no != nil && no.reason == apns2.ReasonBadDeviceToken
	if l.goingAway || !(every > 0 && l.requests >= every || afterBad && bad) {
		return false
	}

	l.goingAway = true

	return true
}
