package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/tables"
)

// TestFollowersAreCarriedIfTheMatchAgrees: match 7 was called off, and match 8 is scheduled. The second sync
// sends nothing more.
func TestFollowersAreCarriedIfTheMatchAgrees(t *testing.T) {
	t.Parallel()

	day := 24 * time.Hour
	for name, c := range map[string]struct {
		old   func(*match.Fixture)
		after time.Duration // from the start of 7 to that of 8
		next  func(*match.Fixture)
		want  bool
	}{
		"cancelled":                   {nil, day, nil, true},
		"postponed":                   {func(f *match.Fixture) { f.Status = "Postp." }, day, nil, true},
		"an hour later":               {nil, time.Hour, nil, true},
		"a day earlier":               {nil, -day, nil, true},
		"three days later":            {nil, 3 * day, nil, true},
		"four days later":             {nil, 4 * day, nil, false},
		"not called off":              {func(f *match.Fixture) { f.Status = "NS" }, day, nil, false},
		"abandoned":                   {func(f *match.Fixture) { f.Status = "Aban." }, day, nil, false},
		"the sides have changed ends": {nil, day, func(f *match.Fixture) { f.LocalTeamID, f.VisitorTeamID = "12", "11" }, true},
		"another team":                {nil, day, func(f *match.Fixture) { f.VisitorTeamID = "13" }, false},
		"another league":              {nil, day, func(f *match.Fixture) { f.LeagueID = "4" }, false},
		"another round":               {nil, day, func(f *match.Fixture) { f.Round = "2nd Match" }, false},
		"no round, the same day":      {nil, time.Hour, func(f *match.Fixture) { f.Round = "" }, true},
		"no round, another day":       {nil, day, func(f *match.Fixture) { f.Round = "" }, false},
		"called off, too":             {nil, day, func(f *match.Fixture) { f.Status = "Postp." }, false},
		"over":                        {nil, day, func(f *match.Fixture) { f.Status = "Finished" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)

			for id, code := range map[string]string{"3": "T20", "4": "ODI"} {
				testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: id, Code: code, SeasonID: "5", Active: true})
			}

			old := w.AddFixture("7")
			next := old
			old.Status, old.Round, next.Round = "Cancl.", "1st Match", "1st Match"
			next.MatchID, next.StartTime = "8", old.Start().Add(c.after).Format(tables.TimeLayout)

			if c.old != nil {
				c.old(&old)
			}

			if c.next != nil {
				c.next(&next)
			}

			old.EndingAt = 1 // or finish-match is asked to end it
			testkit.PutRows(w.World, tables.Fixtures, old)

			entry := crickettest.Payload(next, next.Status)
			w.SetFixtures(fmt.Sprintf(`{"round":%q,%s`, next.Round, entry[1:]))

			s := testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer)
			for range 2 {
				testkit.Must(t, s.SyncFixtures(w.NewContext()))
			}

			var got []live.MatchLeft

			for _, m := range testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue) {
				if m.To != "" {
					got = append(got, m)
				}
			}

			var want []live.MatchLeft
			if c.want {
				want = []live.MatchLeft{{MatchID: "7", To: "8"}}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("messages to finish-match (-want +got):\n%s", diff)
			}
		})
	}
}
