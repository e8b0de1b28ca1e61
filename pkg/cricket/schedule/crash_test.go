package schedule_test

import (
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
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
				p.Ended(s.Run(w.NewContext(), w.World, w.CrashingEnv(s.Fn, p)))
				w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
				testkit.Must(t, s.Do(w.World))
				return w.Reference()
			})
		})
	}
}

// TestTitlesAreDisplayedAfterACrash: a second run of a sync displays the teams of a match that
// is over by the titles that the first run had begun to store.
func TestTitlesAreDisplayedAfterACrash(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Fixture  match.Titles
		Score    string
		Displays []string
	}
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) (o outcome) {
		w := crickettest.New(t)
		testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", SeasonID: "5", Active: true})
		f := w.AddFixture("7")
		w.SetPayload(crickettest.Payload(f, "Aban.", crickettest.Ball{ID: 1, Runs: 1}))
		w.TickAt(w.Ticker(), 0)
		w.DecideEnd("7", 1)
		w.SetFixtures(crickettest.Payload(f, "Aban."))
		testkit.PutRows(w.World, tables.Teams, catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "12"}, Title: "The Valley Kings"})
		sync := func(env app.Env) error {
			return testkit.OpenWith(w.World, env, schedule.OpenSyncer).SyncFixtures(w.NewContext())
		}
		p.Ended(sync(w.CrashingEnv(schedule.SyncFixturesFunction, p)), "/api/*/fixtures/*", "UpdateItem *-cricket-locks")
		w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
		testkit.Must(t, sync(w.Env(schedule.SyncFixturesFunction)))
		o.Fixture = testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").Titles
		row, _, err := match.ReadScore(t.Context(), w.DB(), "7")
		testkit.Must(t, err)
		o.Score = row.State.Visitor.Name
		for _, view := range f.Perspectives() {
			d := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", view))
			o.Displays = append(o.Displays, string(d.Display)+d.Hash)
			if !strings.Contains(string(d.Display), "The Valley Kings") {
				t.Errorf("the display for %s is %s, want the title", view, d.Display)
			}
		}
		return o
	})
}
