package match_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

// page decodes a page of matches.
type page struct {
	Matches        []match.Match
	Next, Previous string
}

func (p page) ids() (ids []string) {
	for _, m := range p.Matches {
		ids = append(ids, m.ID)
	}

	return ids
}

// fixtureOf returns a match of league 3 between 11 and 12.
func fixtureOf(id, kind string, start time.Time) match.Fixture {
	return match.Fixture{
		MatchID: id, LeagueCode: "T20", LeagueID: "3", SeasonID: "5", StartTime: start.Format(tables.TimeLayout), Type: kind, Status: "NS",
		Round: "42nd Match", VenueName: "The Harbour Ground, Farrowdale", LocalTeamID: "11", VisitorTeamID: "12",
	}
}

// summaryOf returns a summary with names of a usual length.
func summaryOf(f match.Fixture, priority int) match.SummaryRow {
	image := "https://cdn.sportmonks.com/images/cricket/teams/11/101.png"
	league := catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{Name: "Coastal Premier League"}, Priority: priority}
	teams := []catalog.TeamRow{
		{ProvidedTeam: catalog.ProvidedTeam{TeamID: f.LocalTeamID, Name: "Farrowdale Lancers", Code: "FL", Image: image}, Color: "#0b5cad"},
		{ProvidedTeam: catalog.ProvidedTeam{TeamID: f.VisitorTeamID, Name: "Carrow Herons", Code: "CH", Image: image}, Color: "#0b5cad"},
	}

	return match.NewSummary(f, score.State{}, league, teams, 0)
}

// live returns the summary of a match in play, with a score of a usual length.
func live(r match.SummaryRow) match.SummaryRow {
	r.Live, r.LastSlot = match.Live, 1
	r.Score.Status, r.Score.Phase, r.Score.Local, r.Score.LocalOvers, r.Score.Visitor = "2nd Innings", "live", "364 & 298/8d", "98.4", "212 & 31/0"

	return r
}

// listAll reads all pages of a list, and checks their Cache-Control and limit.
func listAll(t *testing.T, routes map[string]testkit.Route, fn app.Function, target, cached string, limit int) (all []string) {
	t.Helper()

	for next := ""; ; {
		p, header := crickettest.Get[page](t, routes, fn, target+next)
		if got := header.Get("Cache-Control"); got != cached || len(p.Matches) > limit || p.Matches == nil || header.Get("ETag") == "" {
			t.Errorf("%s%s: %d matches with %v, want at most %d with Cache-Control %q", target, next, len(p.Matches), header, limit, cached)
		}

		if all = append(all, p.ids()...); p.Next == "" {
			return all
		}

		next = "&cursor=" + url.QueryEscape(p.Next)
	}
}

// TestMatchesInPlay: those of the league with the highest priority come first, then those that started first.
func TestMatchesInPlay(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var want []string

	for i, priority := range []int{1000, 10, 9, 0} {
		for n := range 11 {
			r := live(summaryOf(fixtureOf(fmt.Sprint(9000-1000*i+n), "T20", crickettest.KickOff.Add(time.Duration(n/2)*time.Minute)), priority))
			testkit.PutRows(w.World, tables.Summaries, r)
			want = append(want, r.MatchID)
		}
	}

	testkit.PutRows(w.World, tables.Summaries, summaryOf(fixtureOf("1", "T20", crickettest.KickOff), 1000)) // has not started

	for limit, target := range map[int]string{30: "/matches?live=true", 7: "/matches?live=true&limit=7"} {
		if diff := cmp.Diff(want, listAll(t, w.Routes(), match.ListMatchesFunction(), target, match.CacheLive, limit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}

// TestMatchIsInPlayByTheFeed: a match is listed with its score from the first poll in which play has
// begun until it leaves the feed or is over.
func TestMatchIsInPlayByTheFeed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Code: "T20", SeasonID: "5", Active: true})
	f := w.AddFixture("7")
	tk, routes := w.Ticker(), w.Routes()

	listed := func() (scores []string) {
		p, _ := crickettest.Get[page](t, routes, match.ListMatchesFunction(), "/matches?live=true")
		for _, m := range p.Matches {
			scores = append(scores, m.Local.Score+" "+string(m.Phase))
		}

		return scores
	}

	for n, c := range []struct {
		payload []string
		want    []string
	}{
		{[]string{crickettest.Payload(f, "NS")}, nil},
		{[]string{crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4})}, []string{"4/0 live"}},
		{[]string{crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}, crickettest.Ball{ID: 2, Runs: 1})}, []string{"5/0 live"}},
		{nil, []string{"5/0 live"}},
		{nil, []string{"5/0 live"}},
		{nil, []string{"5/0 live"}},
		{nil, nil},
		{[]string{crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}, crickettest.Ball{ID: 2, Runs: 1})}, []string{"5/0 live"}},
		{[]string{crickettest.Payload(f, "Aban.", crickettest.Ball{ID: 1, Runs: 4}, crickettest.Ball{ID: 2, Runs: 1})}, nil},
	} {
		w.SetPayload(c.payload...)
		w.MoveClock(crickettest.At(n))
		w.TickAt(tk, n)

		if diff := cmp.Diff(c.want, listed()); diff != "" {
			t.Errorf("after slot %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestMatchesOfADay: a match is listed on each local day on which it is played.
func TestMatchesOfADay(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	at := func(text string) time.Time {
		start, err := time.Parse(tables.TimeLayout, text)
		testkit.Must(t, err)

		return start
	}
	over := summaryOf(fixtureOf("5", "Test/5day", at("2026-06-05T10:00:00Z")), 0)
	over.Score.Phase, over.Score.OverAt = "result", at("2026-06-07T15:00:00Z").Unix()
	inactive := fixtureOf("6", "T20", at("2026-06-06T12:00:00Z"))
	inactive.LeagueID = "4"
	others := fixtureOf("7", "T20", at("2026-06-06T14:30:00Z"))
	others.LocalTeamID, others.VisitorTeamID = "13", "11"

	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Active: true}, catalog.ProvidedLeague{LeagueID: "4"})
	testkit.PutRows(w.World, tables.Summaries,
		summaryOf(fixtureOf("1", "T20", at("2026-06-06T14:00:00Z")), 0),
		live(summaryOf(fixtureOf("2", "ODI", at("2026-06-05T18:00:00Z")), 0)), // passes midnight in UTC
		summaryOf(fixtureOf("3", "Test/5day", at("2026-06-03T05:00:00Z")), 0),
		summaryOf(fixtureOf("4", "4day", at("2026-06-03T06:00:00Z")), 0),
		over, summaryOf(inactive, 0), summaryOf(others, 0))

	routes := w.Routes()

	for query, want := range map[string][]string{
		"date=2026-06-02":                              {},
		"date=2026-06-03":                              {"3", "4"},
		"date=2026-06-05":                              {"3", "4", "5", "2"},
		"date=2026-06-06":                              {"3", "4", "5", "2", "1", "7"},
		"date=2026-06-07":                              {"3", "5"},
		"date=2026-06-08":                              {},
		"date=2026-06-06&timeZone=Asia/Kolkata":        {"3", "4", "5", "2", "1", "7"},
		"date=2026-06-06&timeZone=America/Los_Angeles": {"3", "4", "5", "1", "7"},
		"date=2026-06-07&timeZone=Pacific/Auckland":    {"3", "4", "5", "1", "7"},
		"date=2026-06-06&team=13":                      {"7"},
		"date=2026-06-06&team=12":                      {"3", "4", "5", "2", "1"},
		"date=2026-06-06&team=99":                      {},
	} {
		cached := match.CacheIdle
		if slices.Contains(want, "2") {
			cached = match.CacheLive
		}

		got := listAll(t, routes, match.ListMatchesFunction(), "/matches?"+query, cached, 30)
		if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// TestPagesOfADay: pages of any size list each match of the day once.
func TestPagesOfADay(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var want []string

	for i := range 40 {
		kind := map[bool]string{true: "Test", false: "T20"}[i < 12]
		r := summaryOf(fixtureOf(fmt.Sprint(100+i), kind, crickettest.KickOff.Add(time.Duration(i/2)*time.Minute)), 0)
		testkit.PutRows(w.World, tables.Summaries, r)
		want = append(want, r.MatchID)
	}

	routes := w.Routes()
	for _, limit := range []int{1, 6, 12, 13, 30, 100} {
		target := fmt.Sprint("/matches?date=2026-06-01&limit=", limit)
		if diff := cmp.Diff(want, listAll(t, routes, match.ListMatchesFunction(), target, match.CacheIdle, min(limit, 30))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}

// TestRefusedCombinations: a list is selected by one parameter, and the problem names the one that is too much.
func TestRefusedCombinations(t *testing.T) {
	t.Parallel()
	routes := crickettest.New(t).Routes()

	for query, want := range map[string]struct {
		status int
		field  string
	}{
		"live=false":                                            {400, "query.ids"},
		"live=true&ids=7":                                       {400, "query.ids"},
		"live=true&league=3":                                    {400, "query.league"},
		"live=true&date=2026-06-06":                             {400, "query.date"},
		"date=2026-06-06&ids=7":                                 {400, "query.date"},
		"date=2026-06-06&league=3":                              {400, "query.date"},
		"live=true&from=2026-06-01T00:00:00Z":                   {400, "query.from"},
		"live=true&to=2026-06-01T00:00:00Z":                     {400, "query.to"},
		"live=true&timeZone=UTC":                                {400, "query.timeZone"},
		"live=true&team=11":                                     {400, "query.team"},
		"league=3&team=11":                                      {400, "query.team"},
		"ids=7&timeZone=UTC":                                    {400, "query.timeZone"},
		"date=2026-06-06&team=11&cursor=2026-06-06T12:00:00Z/7": {400, "query.cursor"},
		"date=2026-06-06&cursor=2026-06-08T12:00:00Z/7":         {400, "query.cursor"},
		"date=2026-06-06&cursor=2026-05-06D12:00:00Z/7":         {400, "query.cursor"},
		"date=2026-06-06&cursor=--------------------/7":         {400, "query.cursor"},
		"date=2026-06-31":                                       {422, "query.date"},
		"date=tomorrow":                                         {422, "query.date"},
		"date=9999-12-31":                                       {400, "query.date"},
		"date=0000-01-01":                                       {400, "query.date"},
		"date=2026-06-06&timeZone=Asia/Atlantis":                {400, "query.timeZone"},
		"date=2026-06-06&team=x":                                {422, "query.team"},
		"live=yes":                                              {422, "query.live"},
	} {
		if err := testkit.CheckProblemField(testkit.Call(routes, match.ListMatchesFunction(), "/matches?"+query, "", ""), want.status, want.field); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}

	for _, query := range []string{"live=true&cursor=--------------------/7", "date=0001-01-01", "date=9999-12-30&timeZone=Pacific/Kiritimati"} {
		if out := testkit.Call(routes, match.ListMatchesFunction(), "/matches?"+query, "", ""); out.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s, want an empty list", query, out.StatusCode, out.Body)
		}
	}
}

// TestDayOfChangingClocks: a day has 23 to 25 hours, and begins an hour late where clocks change at midnight.
func TestDayOfChangingClocks(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ date, zone, from, to string }{
		{"2026-06-06", "", "2026-06-06T00:00:00Z", "2026-06-07T00:00:00Z"},
		{"2026-06-06", "Asia/Kolkata", "2026-06-05T18:30:00Z", "2026-06-06T18:30:00Z"},
		{"2026-03-29", "Europe/London", "2026-03-29T00:00:00Z", "2026-03-29T23:00:00Z"},
		{"2026-10-25", "Europe/London", "2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z"},
		{"2026-09-06", "America/Santiago", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
	} {
		from, to, err := match.LocalDay(c.date, c.zone)
		testkit.Must(t, err)

		got := []string{from.UTC().Format(tables.TimeLayout), to.UTC().Format(tables.TimeLayout)}
		if diff := cmp.Diff([]string{c.from, c.to}, got); diff != "" {
			t.Errorf("%s in %s (-want +got):\n%s", c.date, c.zone, diff)
		}
	}
}

// TestMatchesOfATeam: the pages lead from the matches of the last week to those to come and back, and
// to all before. A match of two teams that are not known yet is listed once.
func TestMatchesOfATeam(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var all []string

	for i := range 50 { // two at a time, from ten days ago
		f := fixtureOf(fmt.Sprint(100+i), "T20", crickettest.KickOff.Add(time.Duration(i/2-10)*24*time.Hour))
		switch i % 3 {
		case 1:
			f.LocalTeamID, f.VisitorTeamID = "13", "11"
		case 2:
			f.LocalTeamID, f.VisitorTeamID = "11", "11"
		}

		testkit.PutRows(w.World, tables.Summaries, summaryOf(f, 0))
		all = append(all, f.MatchID)
	}

	other := fixtureOf("200", "T20", crickettest.KickOff)
	other.LeagueID, other.LocalTeamID, other.VisitorTeamID = "4", "13", "12"
	testkit.PutRows(w.World, tables.Summaries, summaryOf(other, 0))

	routes := w.Routes()
	recent := all[6:] // of the last seven days, an hour before KickOff

	for fn, target := range map[*app.Function]string{
		new(match.ListTeamMatchesFunction()): "/teams/11/matches", new(match.ListMatchesOfLeagueFunction()): "/leagues/3/matches",
	} {
		for _, limit := range []int{1, 6, 20} {
			first := fmt.Sprint(target, "?limit=", limit)
			if diff := cmp.Diff(recent, listAll(t, routes, *fn, first, match.CacheIdle, limit)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", first, diff)
			}

			p, _ := crickettest.Get[page](t, routes, *fn, first)

			back := p.ids()
			for p.Previous != "" {
				p, _ = crickettest.Get[page](t, routes, *fn, first+"&cursor="+url.QueryEscape(p.Previous))
				back = append(p.ids(), back...)

				if len(p.Matches) > 0 && p.Next == "" {
					t.Errorf("%s: a page of the past has no next", first)
				}
			}

			if diff := cmp.Diff(all[:6+limit], back); diff != "" {
				t.Errorf("%s and back (-want +got):\n%s", first, diff)
			}
		}

		if err := testkit.CheckProblemField(testkit.Call(routes, *fn, target+"?cursor=N--------------------/7", "", ""), 400, "query.cursor"); err != nil {
			t.Error(err)
		}
	}

	for fn, target := range map[*app.Function]string{
		new(match.ListTeamMatchesFunction()): "/teams/99/matches", new(match.ListMatchesOfLeagueFunction()): "/leagues/99/matches",
	} {
		if p, _ := crickettest.Get[page](t, routes, *fn, target); len(p.Matches) != 0 || p.Next != "" {
			t.Errorf("%s: %+v, want an empty list", target, p)
		}
	}
}

// TestPastOfATeamWithoutMatchesToCome: the first page is empty, and leads to the past.
func TestPastOfATeamWithoutMatchesToCome(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Summaries, summaryOf(fixtureOf("7", "T20", crickettest.KickOff.AddDate(0, -1, 0)), 0))

	routes := w.Routes()
	p, _ := crickettest.Get[page](t, routes, match.ListTeamMatchesFunction(), "/teams/11/matches")
	back, _ := crickettest.Get[page](t, routes, match.ListTeamMatchesFunction(), "/teams/11/matches?cursor="+url.QueryEscape(p.Previous))

	if len(p.Matches) != 0 || len(back.Matches) != 1 || back.Previous != "" {
		t.Errorf("first page %+v, then %+v", p, back)
	}
}

// TestReadUnitsOfScreens: a screen costs at most 4 read units, with 10 matches and with 10,000.
func TestReadUnitsOfScreens(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	leagues := make([]catalog.LeagueRow, 30)
	for i := range leagues {
		leagues[i] = catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{
			LeagueID: fmt.Sprint(3 + i), Code: "CPL", Name: "Coastal Premier League", SeasonID: "1234", Active: true,
			Image: "https://cdn.sportmonks.com/images/cricket/leagues/11/101.png",
		}}
	}

	testkit.PutRows(w.World, tables.Leagues, leagues...)

	for from, to := 0, 10; from < 10_000; from, to = to, 10_000 {
		rows := make([]match.SummaryRow, 0, to-from)

		for i := from; i < to; i++ {
			kind := map[bool]string{true: "Test/5day", false: "T20"}[i%3 == 0]
			f := fixtureOf(fmt.Sprint(1_000_000+i), kind, crickettest.KickOff.Add(time.Duration(i-from)*time.Second))

			if i%4 < 2 {
				f.LocalTeamID, f.VisitorTeamID = f.VisitorTeamID, f.LocalTeamID
			}

			r := summaryOf(f, 0)
			if i%2 == 0 {
				r = live(r)
			}

			rows = append(rows, r)
		}

		testkit.PutRows(w.World, tables.Summaries, rows...)

		for target, fn := range map[string]app.Function{
			"/matches?live=true":               match.ListMatchesFunction(),
			"/matches?date=2026-06-01":         match.ListMatchesFunction(),
			"/matches?date=2026-06-01&team=11": match.ListMatchesFunction(),
			"/teams/11/matches":                match.ListTeamMatchesFunction(),
			"/leagues/3/matches":               match.ListMatchesOfLeagueFunction(),
		} {
			routes := w.Routes() // new processes, without the list of leagues
			if got := w.CountUnits(func() { crickettest.Get[any](t, routes, fn, target) }).Reads; got > 4 {
				t.Errorf("%d matches: %s costs %g read units, want at most 4", to, target, got)
			} else {
				t.Logf("%d matches: %s costs %g read units", to, target, got)
			}
		}
	}
}
