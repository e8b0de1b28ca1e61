package fcm

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// Answer is what a message gets instead of delivery. The zero Answer delivers.
type Answer struct {
	Status     int    // 0 delivers
	Code       string // FCM's error code
	Text       string // what is wrong
	Field      string // that is not valid
	RetryAfter time.Duration
	Slow       time.Duration // simulated time until the answer
	Drop       bool          // close the connection instead of answering
	Applied    bool          // deliver the message although the answer is an error or lost
	Times      int           // number of messages that get it; 0 for all later ones
}

// Answer scripts what the next messages to a token or topic get, in order, in place of any earlier
// script; after the last they are delivered again. The script of "" is for every recipient without one.
func (s *Server) Answer(to string, script ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.scripts[to] = slices.Clone(script)
}

// Chaos injects random faults. Rates are between 0 and 1, of messages. A fault depends on the seed, the
// recipient and the simulated time; of the messages to a recipient at one instant only the first gets it.
type Chaos struct {
	Seed uint64

	Quota       float64 // 429, with Retry-After
	Internal    float64 // 500
	Unavailable float64 // 503
	Drop        float64 // the connection ends before the phone has the message
	Lost        float64 // the connection ends after the phone has it
	Slow        float64
	SlowBy      time.Duration
}

// Chaos replaces the current Chaos. The zero Chaos ends it.
func (s *Server) Chaos(c Chaos) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.chaos, s.chaosAt = c, map[string]time.Time{}
}

// next returns the answer to the next message to a recipient.
func (s *Server) next(to string, now time.Time) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, key := range [...]string{to, ""} {
		script := s.scripts[key]
		if len(script) == 0 {
			continue
		}

		a := script[0]
		if a.Times > 0 {
			if script[0].Times--; script[0].Times == 0 {
				s.scripts[key] = script[1:]
			}
		}

		return a
	}

	kind, a := s.chaos.answer(to, now)
	if kind == "" || s.chaosAt[to].Equal(now) {
		return Answer{}
	}

	s.chaosAt[to] = now
	s.counts["chaos "+kind]++

	return a
}

// answer returns the fault of the first message to a recipient at an instant.
func (c Chaos) answer(to string, at time.Time) (kind string, a Answer) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(to))

	x := rand.New(rand.NewPCG(c.Seed^uint64(at.UnixNano()), h.Sum64())).Float64()
	for _, t := range [...]struct {
		rate float64
		kind string
		Answer
	}{
		{c.Quota, "429", Answer{Status: http.StatusTooManyRequests, Code: "QUOTA_EXCEEDED", RetryAfter: time.Minute}},
		{c.Internal, "500", Answer{Status: http.StatusInternalServerError, Code: "INTERNAL"}},
		{c.Unavailable, "503", Answer{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE"}},
		{c.Drop, "drop", Answer{Drop: true, Status: http.StatusServiceUnavailable}},
		{c.Lost, "lost", Answer{Drop: true}},
		{c.Slow, "slow", Answer{Slow: c.SlowBy}},
	} {
		if x < t.rate {
			return t.kind, t.Answer
		}

		x -= t.rate
	}

	return "", Answer{}
}
