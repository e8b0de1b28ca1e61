package football

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// faults decides what goes wrong with requests.
type faults struct {
	rates map[Kind]float64
	now   time.Time      // of the latest request
	calls map[string]int // requests at that time, by address
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

// takeFault returns the fault of a request, or "", and the dice for it. The requests for one
// address at the same time are counted, so that one that is repeated may succeed.
func (s *Server) takeFault(u *url.URL, now time.Time) (Kind, dice) {
	s.mu.Lock()
	defer s.mu.Unlock()

	path := u.Path
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}

	f := &s.faults
	if !f.now.Equal(now) {
		f.now, f.calls = now, map[string]int{}
	}

	d := dice{s.seed, fmt.Sprint(path, " ", now.UnixNano(), " ", f.calls[path])}
	f.calls[path]++

	x := d.roll("fault")
	for _, k := range OfRequests() {
		if x < f.rates[k] {
			s.counts[k]++
			return k, d
		}

		x -= f.rates[k]
	}

	return "", d
}
