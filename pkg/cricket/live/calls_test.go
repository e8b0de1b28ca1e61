package live_test

import (
	"slices"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/pkg/cricket/match"
)

// The most DynamoDB calls for a match in a tick.
const (
	maxCallsChanged   = 8
	maxCallsUnchanged = 1
)

// TestCallsPerMatch counts the DynamoDB calls of ticks: of a process that has polled the
// match before, and of a new one in each tick.
func TestCallsPerMatch(t *testing.T) {
	t.Parallel()

	for name, every := range map[string]int{"one process": 1000, "a new process in each tick": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			w.Play(3, cricsheet.T20, match.SlotLength)
			tk := w.Ticker()
			most, sum, changed, units := 0, 0, 0, 0.0

			for n := range 24 { // slots
				var calls map[string]int

				ingested := 0
				used := w.CountUnits(func() { calls = w.CountCalls(func() { ingested = w.TickAt(tk, n).Changed }) })

				total := calls["UpdateItem"] - 1 // the claim
				for operation, times := range calls {
					if !slices.Contains([]string{"UpdateItem", "Scan", "SendMessage"}, operation) { // scans of live-index and, once a minute, of leagues
						total += times
					}
				}

				limit := maxCallsUnchanged
				if ingested > 0 {
					limit, changed, sum, most, units = maxCallsChanged, changed+1, sum+total, max(most, total), units+used.Writes-1
				}

				if total > limit {
					t.Errorf("slot %d: %d calls for the match: %v; want at most %d", n, total, calls, limit)
				}

				if n%every == every-1 {
					tk = w.Ticker()
				}
			}

			t.Logf("%d changes: %.1f calls each, at most %d; %.1f write units each", changed,
				float64(sum)/float64(changed), most, units/float64(changed))
		})
	}
}
