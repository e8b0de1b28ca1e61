package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

// TestReadUnitsOfPublicReads: public reads are eventually consistent, which costs half.
// The longest list of ids costs three halves of a unit a match: the fixture, the score and
// the names. Balls are read consistently, and so is what a missing display is built of.
func TestReadUnitsOfPublicReads(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	ids := make([]string, match.MaxIDs)
	for i := range ids {
		ids[i] = fmt.Sprint(100 + i)
		f := w.AddFixture(ids[i])
		f.LastSlot = 1
		testkit.PutRows(w.World, tables.Fixtures, f)
		row := match.ScoreRow{
			MatchID:    f.MatchID,
			LeagueID:   f.LeagueID,
			StartingAt: f.StartTime,
			StateJSON:  `{"id":"` + f.MatchID + `"}`,
			TTL:        crickettest.KickOff.Unix() + 3600,
		}
		testkit.PutRows(w.World, tables.FixtureCache, row)

		now := crickettest.KickOff.Unix()
		testkit.PutRows(w.World, tables.FixtureCache, match.Names{MatchID: match.NamesKey(f.MatchID), ReadAt: now, TTL: now + 3600})
		testkit.PutRows(w.World, tables.Displays,
			match.DisplayRow{CacheKey: match.DisplayKey(f.MatchID, match.Neutral), Display: `{}`, TTL: now + 3600})
	}

	routes := w.Routes()
	got := map[string]float64{}

	for target, fn := range map[string]app.Function{
		"/matches?ids=" + strings.Join(ids, ","): match.ListMatchesFunction(),
		"/matches/100":                           match.GetMatchFunction(),
		"/matches/100/display":                   match.GetDisplayFunction(),
		"/matches/100/display?team=11":           match.GetDisplayFunction(), // is not stored yet
		"/matches/100/balls":                     match.ListBallsFunction(),
	} {
		name, _, _ := strings.Cut(target, ",")
		got[name] = w.CountUnits(func() { crickettest.Get[any](t, routes, fn, target) }).Reads
	}

	want := map[string]float64{
		"/matches?ids=100":             match.MaxIDs * 1.5,
		"/matches/100":                 1.5,
		"/matches/100/display":         1.5,
		"/matches/100/display?team=11": 3.5,
		"/matches/100/balls":           2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read units (-want +got):\n%s", diff)
	}

	if got := testkit.Call(routes, match.ListMatchesFunction(), "/matches?ids=1,"+strings.Join(ids, ","), "", ""); got.StatusCode != 422 {
		t.Errorf("one id more than the maximum: status %d, want 422", got.StatusCode)
	}
}
