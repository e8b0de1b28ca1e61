package football

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// faults decides what goes wrong with requests.
type faults struct {
	rates    map[Kind]float64
	injected []*injected
	now      time.Time      // of the latest request
	calls    map[string]int // requests at that time, by path
}

// injected is a fault of the next requests.
type injected struct {
	kind Kind
	left int
}

func newFaults() faults { return faults{rates: map[Kind]float64{}, calls: map[string]int{}} }

// Misbehave replaces the probabilities, from 0 to 1, of what goes wrong with each request.
// An empty map ends the misbehaviour. It fails if a kind is not of OfRequests.
func (s *Server) Misbehave(rates map[Kind]float64) error {
	for k := range rates {
		if !slices.Contains(OfRequests(), k) {
			return fmt.Errorf("unknown fault %q of a request", k)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.rates = maps.Clone(rates)
	return nil
}

// Inject lets the next n requests fail, after those that were injected before. It fails if
// the kind is not of OfRequests.
func (s *Server) Inject(k Kind, n int) error {
	if !slices.Contains(OfRequests(), k) {
		return fmt.Errorf("unknown fault %q of a request", k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 {
		s.faults.injected = append(s.faults.injected, &injected{k, n})
	}
	return nil
}

// takeFault returns the fault of a request, or "", and the dice for it. The requests for a
// path at the same time are counted, so that one that is repeated may succeed.
func (s *Server) takeFault(path string, now time.Time) (Kind, dice) {
	f := &s.faults
	if !f.now.Equal(now) {
		f.now, f.calls = now, map[string]int{}
	}
	d := dice{s.seed, fmt.Sprint(path, " ", now.UnixNano(), " ", f.calls[path])}
	f.calls[path]++
	kind := Kind("")
	if len(f.injected) > 0 {
		next := f.injected[0]
		kind = next.kind
		if next.left--; next.left == 0 {
			f.injected = f.injected[1:]
		}
	} else {
		x := d.roll("fault")
		for _, k := range OfRequests() {
			if x < f.rates[k] {
				kind = k
				break
			}
			x -= f.rates[k]
		}
	}
	if kind != "" {
		s.counts[kind]++
	}
	return kind, d
}
