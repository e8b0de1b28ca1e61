package match_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// TestScorecardOfTestMatch: the scorecard of the longest format costs at most four read units, and
// none of its rows is larger than some kB.
func TestScorecardOfTestMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(3, cricsheet.Test, match.SlotLength)
	w.MoveClock(crickettest.At(len(m.Frames)))
	w.TickAt(w.Ticker(), len(m.Frames)+1)

	var (
		got    match.Scorecard
		header http.Header
	)

	target := "/matches/" + crickettest.ID(m.ID) + "/scorecard"
	routes := w.Routes()
	units := w.CountUnits(func() {
		got, header = crickettest.Get[match.Scorecard](t, routes, match.GetScorecardFunction(), target)
	})

	if units.Reads > 4 || len(got.Innings) != 4 {
		t.Errorf("the scorecard of %d innings costs %g read units, want 4 at most of 4 innings", len(got.Innings), units.Reads)
	}

	if header.Get("Cache-Control") != match.CacheOver || header.Get("ETag") == "" {
		t.Errorf("the answer has the headers %v", header)
	}

	largest := 0
	for _, r := range testkit.Rows[match.CardRow](w.World, tables.Cards) {
		largest = max(largest, len(r.Card))
	}

	if largest > 4<<10 {
		t.Errorf("the largest row has %d bytes, want at most 4 kB", largest)
	}

	for _, n := range got.Innings {
		if n.Unchecked || n.Disagreements != nil || len(n.Batting)+len(n.DidNotBat) != 11 || len(n.Falls) != n.Wickets {
			t.Errorf("innings %d is %+v", n.Number, n)
		}
	}

	t.Logf("%g read units; the largest row has %d bytes", units.Reads, largest)
}

// TestPlayersAreKnownFromTheTossOn: with captains and keepers, by the names of administrators.
func TestPlayersAreKnownFromTheTossOn(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(3, cricsheet.T20, match.SlotLength)
	id := crickettest.ID(m.ID)
	testkit.PutRows(w.World, tables.Leagues,
		catalog.ProvidedLeague{LeagueID: crickettest.ID(m.League.ID), Code: m.League.Code, Name: m.League.Name, Active: true})

	row := testkit.Row[match.Fixture](w.World, tables.Fixtures, id)
	row.LocalTitle = "The Home Side"
	testkit.PutRows(w.World, tables.Fixtures, row)

	routes := w.Routes()
	target := "/matches/" + id + "/scorecard"

	if out := testkit.Call(routes, match.GetScorecardFunction(), target, "", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("before the toss: %d %s", out.StatusCode, out.Body)
	}

	d := testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector)
	for range 2 {
		w.MoveClock(crickettest.KickOff.Add(-20 * time.Minute))
		testkit.Must(t, d.DetectToss(w.NewContext()))
		w.MoveClock(crickettest.KickOff.Add(-19 * time.Minute))
		testkit.Must(t, d.DetectToss(w.NewContext()))
	}

	got, _ := crickettest.Get[match.Scorecard](t, routes, match.GetScorecardFunction(), target)
	if len(got.Teams) != 2 || got.Teams[0].Name != "The Home Side" || got.Teams[1].Name != m.Visitor.Name || len(got.Innings) != 0 {
		t.Fatalf("after the toss: %+v", got)
	}

	for _, s := range got.Teams {
		if len(s.Players) != 11 || !s.Players[0].Captain || !slices.ContainsFunc(s.Players, func(p card.Member) bool { return p.Keeper }) {
			t.Errorf("the side of %s is %+v", s.Name, s.Players)
		}
	}
}

// TestChangedPartsAreStored: a poll writes the parts that differ. With the result every part is
// written once more, to be kept for good.
func TestChangedPartsAreStored(t *testing.T) {
	t.Parallel()

	f := match.Fixture{MatchID: "7", StartTime: crickettest.KickOff.Format(tables.TimeLayout), Type: "T20"}
	now := crickettest.KickOff.Add(time.Hour)
	month, good := now.Add(30*24*time.Hour).Unix(), now.Add(50*365*24*time.Hour).Unix()

	one, two := card.Innings{Number: 1, Runs: 9}, card.Innings{Number: 2, Runs: 3}
	later := card.Innings{Number: 2, Runs: 4}
	venue := card.Match{Venue: card.Venue{Name: "The Quay"}}

	var x match.BallIndex

	for i, c := range []struct {
		what string
		card card.Card
		over bool
		want map[string]int64 // TTL by part
	}{
		{"the first", card.Card{Innings: []card.Innings{one}}, false, map[string]int64{"match": month, "S1": month}},
		{"the same", card.Card{Innings: []card.Innings{one}}, false, map[string]int64{}},
		{"another innings", card.Card{Innings: []card.Innings{one, two}}, false, map[string]int64{"S2": month}},
		{"a ball", card.Card{Innings: []card.Innings{one, later}}, false, map[string]int64{"S2": month}},
		{"the match itself", card.Card{Match: venue, Innings: []card.Innings{one, later}}, false, map[string]int64{"match": month}},
		{"no innings at all", card.Card{Match: venue}, false, map[string]int64{}},
		{"an innings is removed", card.Card{Match: venue, Innings: []card.Innings{one}}, false, map[string]int64{"S2": month}},
		{"and removed still", card.Card{Match: venue, Innings: []card.Innings{one}}, false, map[string]int64{}},
		{"and comes back", card.Card{Match: venue, Innings: []card.Innings{one, later}}, false, map[string]int64{"S2": month}},
		{"the result", card.Card{Match: venue, Innings: []card.Innings{one, later}}, true,
			map[string]int64{"match": good, "S1": good, "S2": good}},
		{"the same result", card.Card{Match: venue, Innings: []card.Innings{one, later}}, true, map[string]int64{}},
	} {
		rows, err := x.RecordCard(f, c.card, c.over, int64(i), now)
		testkit.Must(t, err)

		got := map[string]int64{}
		for _, r := range rows {
			got[r.Part] = r.TTL
			if r.LastSlot != int64(i) || r.MatchID != "7" || (len(r.Card) == 0) != (c.what == "an innings is removed") {
				t.Errorf("%s: the row is %+v", c.what, r)
			}
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: changed parts (-want +got):\n%s", c.what, diff)
		}
	}

	x.Forget()

	rows, err := x.RecordCard(f, card.Card{Match: venue, Innings: []card.Innings{one, later}}, true, 99, now)
	if err != nil || len(rows) != 3 {
		t.Errorf("after a crash %d parts are stored, %v; want all", len(rows), err)
	}
}

// TestRemovedInningsIsNotShown, and a later poll is not replaced by the toss.
func TestRemovedInningsIsNotShown(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	now := w.Clock.Now()

	var x match.BallIndex

	for i, c := range []card.Card{
		{Innings: []card.Innings{{Number: 1}, {Number: 10}, {Number: 2}}}, {Innings: []card.Innings{{Number: 1}, {Number: 10}}},
	} {
		rows, err := x.RecordCard(f, c, false, int64(10+i), now)
		testkit.Must(t, err)
		testkit.PutRows(w.World, tables.Cards, rows...)
	}

	env := w.Env(alert.DetectTossFunction())
	late := card.Card{Match: card.Match{Venue: card.Venue{Name: "Late"}}}
	testkit.Must(t, match.PutCard(w.NewContext(), dynamo.Open(env.AWS, env.Prefix), f, late, 9, now))

	got, _ := crickettest.Get[match.Scorecard](t, w.Routes(), match.GetScorecardFunction(), "/matches/7/scorecard")

	var numbers []int
	for _, n := range got.Innings {
		numbers = append(numbers, n.Number)
	}

	if diff := cmp.Diff([]int{1, 10}, numbers); diff != "" || got.Venue.Name != "" {
		t.Errorf("the venue is %q; innings (-want +got):\n%s", got.Venue.Name, diff)
	}
}
