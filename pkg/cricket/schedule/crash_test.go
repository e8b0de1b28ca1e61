package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		p.Ended(sync(w.CrashingEnv(schedule.SyncFixturesFunction(), p)), "/api/*/fixtures/*", "UpdateItem *-cricket-locks")
		w.MoveClock(w.Clock.Now().Add(2 * tables.JobTimeout)) // until the lease has expired
		testkit.Must(t, sync(w.Env(schedule.SyncFixturesFunction())))
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

// TestSyncsLogWhatTheyCopied: the logs state how many rows the provider has, and how many of
// them are new.
func TestSyncsLogWhatTheyCopied(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Feed.Announce(crickettest.KickOff, script.Generate(1, cricsheet.T20).Fixture)

	synced := func() (all []string) {
		already := len(w.Logs.Lines())
		for _, s := range crickettest.Syncs {
			testkit.Must(t, s.Do(w.World))
		}

		for _, l := range w.Logs.Lines()[already:] {
			if strings.HasSuffix(l.Text, " synced") {
				all = append(all, fmt.Sprint(l.Text, " ", l.Attrs))
			}
		}

		return all
	}

	want := []string{"leagues synced map[leagues:1]", "fixtures synced map[fixtures:1 new:1]", "teams synced map[new:2 teams:2]"}
	if diff := cmp.Diff(want, synced()); diff != "" {
		t.Errorf("logs of the first syncs (-want +got):\n%s", diff)
	}

	want = []string{"leagues synced map[leagues:1]", "fixtures synced map[fixtures:1 new:0]", "teams synced map[new:0 teams:2]"}
	if diff := cmp.Diff(want, synced()); diff != "" {
		t.Errorf("logs of the second syncs (-want +got):\n%s", diff)
	}
}
