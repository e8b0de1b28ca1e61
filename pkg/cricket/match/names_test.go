package match_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
)

// named is how a match calls those who play, on its page and in lists.
type named struct {
	LeagueName     string
	Local, Visitor struct{ Name, Code, Color, Image string }
}

// onPage and inList are what is shown of match 7.
func onPage(t *testing.T, routes map[string]testkit.Route) named {
	t.Helper()
	got, _ := crickettest.Get[named](t, routes, match.GetMatchFunction, "/matches/7")
	return got
}

func inList(t *testing.T, routes map[string]testkit.Route, query string) named {
	t.Helper()
	got, _ := crickettest.Get[struct{ Matches []named }](t, routes, match.ListMatchesFunction, "/matches?"+query)
	if len(got.Matches) != 1 {
		t.Fatalf("%s lists %+v", query, got)
	}
	return got.Matches[0]
}

// calling is a world with match 7 as a sync has just copied it.
func calling(t *testing.T) (*crickettest.World, match.Fixture) {
	w := crickettest.New(t)
	testkit.Put(w.World, tables.Leagues, catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true}})
	testkit.Put(w.World, tables.Teams,
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "HAR", Name: "Harbour", Image: "har.png"}},
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "12", Code: "VAL", Name: "Valley", Image: "val.png"}})
	testkit.Put(w.World, tables.TeamSeasons, catalog.SeasonTeam{SeasonID: "5", TeamID: "11", Code: "HAR", Name: "Harbour"}, catalog.SeasonTeam{SeasonID: "5", TeamID: "12", Code: "VAL", Name: "Valley"})
	f := match.Fixture{MatchID: "7", LeagueID: "3", SeasonID: "5", Type: "T20", LocalTeamID: "11", VisitorTeamID: "12", StartTime: crickettest.KickOff.Format(tables.TimeLayout)}
	w.Lists(crickettest.Payload(f, "NS"))
	testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
	w.Said = nil
	return w, testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
}

// TestNames: what an administrator calls a team or a league is on the page of a
// match within ten minutes, then in every list, and nothing takes it away.
func TestNames(t *testing.T) {
	t.Parallel()
	w, f := calling(t)
	routes := w.Routes()
	lists := []string{"ids=7", "league=3", "league=T20&from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z"}
	shown := func(when string, want named) {
		t.Helper()
		if got := onPage(t, routes); got != want {
			t.Errorf("%s the page has %+v, want %+v", when, got, want)
		}
		for _, query := range lists {
			if got := inList(t, routes, query); got != want {
				t.Errorf("%s %s has %+v, want %+v", when, query, got, want)
			}
		}
	}
	var want named
	want.LeagueName, want.Local.Name, want.Local.Code, want.Visitor.Name, want.Visitor.Code = "The League", "Harbour", "HAR", "Valley", "VAL"
	if got := inList(t, routes, "ids=7"); got != want {
		t.Errorf("as the provider has it: %+v, want %+v", got, want)
	}
	want.Local.Image, want.Visitor.Image = "har.png", "val.png"
	shown("at first", want)

	testkit.Ask(routes, catalog.UpdateTeamFunction, "/teams/11", testkit.Administrator, `{"title":"The Harbour","shortName":"TH","color":"#0b5cad"}`)
	testkit.Ask(routes, catalog.UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"title":"Our League"}`)
	w.To(w.Clock.Now().Add(match.KeepNames - time.Second))
	shown("for ten minutes", want)
	w.To(w.Clock.Now().Add(time.Second))
	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "Our League", "The Harbour", "TH", "#0b5cad"
	shown("after ten minutes", want)

	// A put of the score, and a sync.
	w.To(crickettest.At(0))
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
	w.TickAt(w.Ticker(), 0)
	shown("in play", want)
	w.Lists(crickettest.Payload(f, "1st Innings"))
	testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
	shown("after a sync", want)

	testkit.Ask(routes, catalog.UpdateTeamFunction, "/teams/11", testkit.Administrator, `{"title":"","shortName":"","color":""}`)
	testkit.Ask(routes, catalog.UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"title":""}`)
	w.To(w.Clock.Now().Add(match.KeepNames))
	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "The League", "Harbour", "HAR", ""
	shown("without titles", want)
}

// TestNamesAreKept: the page reads the reference data once in ten minutes.
func TestNamesAreKept(t *testing.T) {
	t.Parallel()
	w, _ := calling(t)
	routes := w.Routes()
	for i, want := range []map[string]int{
		{"GetItem": 6, "Query": 1, "UpdateItem": 1}, // match, score and names; then league and two teams
		{"GetItem": 3},
		{"GetItem": 3},
	} {
		if calls := w.Count(func() { onPage(t, routes) }); !reflect.DeepEqual(calls, want) {
			t.Errorf("page %d takes the calls %v, want %v", i+1, calls, want)
		}
	}
	w.To(w.Clock.Now().Add(match.KeepNames))
	if calls := w.Count(func() { onPage(t, routes) }); calls["UpdateItem"] != 1 {
		t.Errorf("after ten minutes it takes the calls %v", calls)
	}
	if calls := w.Count(func() { inList(t, routes, "ids=7") }); !reflect.DeepEqual(calls, map[string]int{"BatchGetItem": 3}) {
		t.Errorf("a list takes the calls %v", calls)
	}
}

// TestNoNames: a match without the row has names all the same, and gets the row
// back from a sync alone.
func TestNoNames(t *testing.T) {
	t.Parallel()
	w, f := calling(t)
	routes := w.Routes()
	onPage(t, routes)
	first := testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7"))
	testkit.Must(t, w.Drop(tables.FixtureCache, match.NamesKey("7")))
	if got := onPage(t, routes); got.LeagueName != "The League" || got.Local.Image != "har.png" {
		t.Errorf("the page has %+v", got)
	}
	if got := inList(t, routes, "ids=7"); got.Local.Name != "Harbour" || got.Local.Code != "HAR" {
		t.Errorf("the list has %+v", got)
	}
	if n := len(testkit.Rows[match.Names](w.World, tables.FixtureCache)); n != 1 {
		t.Errorf("a page has made the row: there are %d", n)
	}
	w.Lists(crickettest.Payload(f, "NS"))
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction, schedule.OpenSyncer).SyncFixtures(w.Ctx()))
	}
	sync()
	w.Said = nil
	onPage(t, routes)
	if got := testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7")); !reflect.DeepEqual(got, first) {
		t.Errorf("after a sync it is %+v, want %+v", got, first)
	}
	// What is there no sync replaces.
	kept := first
	kept.Local.Title = "Kept"
	testkit.Put(w.World, tables.FixtureCache, kept)
	w.Lists(crickettest.Payload(f, "NS"))
	sync()
	if got := testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7")); !reflect.DeepEqual(got, kept) {
		t.Errorf("a sync makes of it %+v", got)
	}
}

// TestNamesExpire has the row go between being read and being written.
func TestNamesExpire(t *testing.T) {
	t.Parallel()
	w, _ := calling(t)
	env := w.Env(match.GetMatchFunction)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") {
			testkit.Must(t, w.Drop(tables.FixtureCache, match.NamesKey("7")))
		}
		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, match.OpenMatches)
	page, err := s.GetMatch(w.Ctx(), &match.GetMatch{ID: "7"})
	testkit.Must(t, err)
	if page.Body.LeagueName != "The League" || len(page.Body.Teams) != 2 {
		t.Errorf("the page is %+v", page.Body)
	}
	if n := len(testkit.Rows[match.Names](w.World, tables.FixtureCache)); n != 1 {
		t.Errorf("the row is back: there are %d", n)
	}
}

// TestNamesFallBack: of what the reference data does not know, the provider's
// words stand.
func TestNamesFallBack(t *testing.T) {
	t.Parallel()
	w, f := calling(t)
	testkit.Must(t, w.Drop(tables.Teams, "12"))
	testkit.Must(t, w.Drop(tables.Leagues, "3"))
	m := testkit.Open(w.World, match.GetMatchFunction, match.OpenMatches)
	n, err := m.Names(w.Ctx(), f, score.State{})
	testkit.Must(t, err)
	if n.League != "The League" || n.Visitor.Title != "Valley" || n.Visitor.ShortName != "VAL" || n.Local.Image != "har.png" {
		t.Errorf("the names are %+v", n)
	}
}
