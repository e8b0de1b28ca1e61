package schedule_test

import (
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/tables"
)

// TestSyncsCrash: after a crash at any call, a second run of a sync completes the first.
func TestSyncsCrash(t *testing.T) {
	t.Parallel()
	for _, s := range crickettest.Syncs {
		t.Run(s.Fn.Name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Reference {
				w := crickettest.New(t)
				w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
				for _, before := range crickettest.Syncs {
					if before.Fn.Name == s.Fn.Name {
						break
					}
					testkit.Must(t, before.Do(w.World))
				}
				w.Feed.AnnounceMore(1, 3, crickettest.KickOff)
				w.MakeStale()
				s.Run(w.NewContext(), w.World, w.CrashingEnv(s.Fn, p))
				w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
				testkit.Must(t, s.Do(w.World))
				return w.Reference()
			})
		})
	}
}

// TestFailureOfASyncIsReported: a sync of which one call has failed returns an error.
func TestFailureOfASyncIsReported(t *testing.T) {
	t.Parallel()
	for _, s := range crickettest.Syncs {
		t.Run(s.Fn.Name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)
			for _, before := range crickettest.Syncs {
				testkit.Must(t, before.Do(w.World))
			}
			dynamotest.CheckFailures(t, &w.IO, func() error {
				w.Feed.AnnounceMore(1, 3, crickettest.KickOff)
				w.MakeStale()
				w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
				return s.Do(w.World)
			})
		})
	}
}
