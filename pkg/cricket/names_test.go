package cricket

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/testkit"
	"matchday/pkg/cricket/score"
)

// named is how a match calls those who play, on its page and in lists.
type named struct {
	LeagueName     string
	Local, Visitor struct{ Name, Code, Color, Image string }
}

// onPage and inList are what is shown of match 7.
func onPage(t *testing.T, routes map[string]testkit.Route) named {
	t.Helper()
	got, _ := get[named](t, routes, GetMatchFunction, "/matches/7")
	return got
}

func inList(t *testing.T, routes map[string]testkit.Route, query string) named {
	t.Helper()
	got, _ := get[struct{ Matches []named }](t, routes, ListMatchesFunction, "/matches?"+query)
	if len(got.Matches) != 1 {
		t.Fatalf("%s lists %+v", query, got)
	}
	return got.Matches[0]
}

// calling is a world with match 7 as a sync has just copied it.
func calling(t *testing.T) (*world, fixture) {
	w := newWorld(t)
	testkit.Put(w.World, leagues, leagueRow{league: league{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true}})
	testkit.Put(w.World, teams,
		teamRow{team: team{TeamID: "11", Code: "HAR", Name: "Harbour", Image: "har.png"}},
		teamRow{team: team{TeamID: "12", Code: "VAL", Name: "Valley", Image: "val.png"}})
	testkit.Put(w.World, teamSeasons, seasonTeam{"5", "11", "HAR", "Harbour"}, seasonTeam{"5", "12", "VAL", "Valley"})
	f := fixture{MatchID: "7", LeagueID: "3", SeasonID: "5", Type: "T20", LocalTeamID: "11", VisitorTeamID: "12", StartTime: kickOff.Format(timeLayout)}
	w.lists(saidOf(f, "NS"))
	testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
	w.said = nil
	return w, testkit.Row[fixture](w.World, fixtures, "7")
}

// TestNames: what an administrator calls a team or a league is on the page of a
// match within ten minutes, then in every list, and nothing takes it away.
func TestNames(t *testing.T) {
	t.Parallel()
	w, f := calling(t)
	routes := w.routes()
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

	testkit.Ask(routes, UpdateTeamFunction, "/teams/11", testkit.Administrator, `{"title":"The Harbour","shortName":"TH","color":"#0b5cad"}`)
	testkit.Ask(routes, UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"title":"Our League"}`)
	w.To(w.Clock.Now().Add(keepNames - time.Second))
	shown("for ten minutes", want)
	w.To(w.Clock.Now().Add(time.Second))
	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "Our League", "The Harbour", "TH", "#0b5cad"
	shown("after ten minutes", want)

	// A put of the score, and a sync.
	w.To(at(0))
	w.says(saidOf(f, "1st Innings", ballSaid{id: 1, runs: 4}))
	w.tickAt(w.ticker(), 0)
	shown("in play", want)
	w.lists(saidOf(f, "1st Innings"))
	testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
	shown("after a sync", want)

	testkit.Ask(routes, UpdateTeamFunction, "/teams/11", testkit.Administrator, `{"title":"","shortName":"","color":""}`)
	testkit.Ask(routes, UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"title":""}`)
	w.To(w.Clock.Now().Add(keepNames))
	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "The League", "Harbour", "HAR", ""
	shown("without titles", want)
}

// TestNamesAreKept: the page reads the reference data once in ten minutes.
func TestNamesAreKept(t *testing.T) {
	t.Parallel()
	w, _ := calling(t)
	routes := w.routes()
	for i, want := range []map[string]int{
		{"GetItem": 6, "Query": 1, "UpdateItem": 1}, // match, score and names; then league and two teams
		{"GetItem": 3},
		{"GetItem": 3},
	} {
		if calls := w.Count(func() { onPage(t, routes) }); !reflect.DeepEqual(calls, want) {
			t.Errorf("page %d takes the calls %v, want %v", i+1, calls, want)
		}
	}
	w.To(w.Clock.Now().Add(keepNames))
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
	routes := w.routes()
	onPage(t, routes)
	first := testkit.Row[names](w.World, fixtureCache, namesKey("7"))
	testkit.Must(t, w.Drop(fixtureCache, namesKey("7")))
	if got := onPage(t, routes); got.LeagueName != "The League" || got.Local.Image != "har.png" {
		t.Errorf("the page has %+v", got)
	}
	if got := inList(t, routes, "ids=7"); got.Local.Name != "Harbour" || got.Local.Code != "HAR" {
		t.Errorf("the list has %+v", got)
	}
	if n := len(testkit.Rows[names](w.World, fixtureCache)); n != 1 {
		t.Errorf("a page has made the row: there are %d", n)
	}
	w.lists(saidOf(f, "NS"))
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, SyncFixturesFunction, OpenFixtureSyncer).SyncFixtures(w.Ctx()))
	}
	sync()
	w.said = nil
	onPage(t, routes)
	if got := testkit.Row[names](w.World, fixtureCache, namesKey("7")); !reflect.DeepEqual(got, first) {
		t.Errorf("after a sync it is %+v, want %+v", got, first)
	}
	// What is there no sync replaces.
	kept := first
	kept.Local.Title = "Kept"
	testkit.Put(w.World, fixtureCache, kept)
	w.lists(saidOf(f, "NS"))
	sync()
	if got := testkit.Row[names](w.World, fixtureCache, namesKey("7")); !reflect.DeepEqual(got, kept) {
		t.Errorf("a sync makes of it %+v", got)
	}
}

// TestNamesExpire has the row go between being read and being written.
func TestNamesExpire(t *testing.T) {
	t.Parallel()
	w, _ := calling(t)
	env := w.Env(GetMatchFunction)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") {
			testkit.Must(t, w.Drop(fixtureCache, namesKey("7")))
		}
		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, OpenMatches)
	page, err := s.GetMatch(w.Ctx(), &GetMatch{ID: "7"})
	testkit.Must(t, err)
	if page.Body.LeagueName != "The League" || len(page.Body.Teams) != 2 {
		t.Errorf("the page is %+v", page.Body)
	}
	if n := len(testkit.Rows[names](w.World, fixtureCache)); n != 1 {
		t.Errorf("the row is back: there are %d", n)
	}
}

// TestNamesFallBack: of what the reference data does not know, the provider's
// words stand.
func TestNamesFallBack(t *testing.T) {
	t.Parallel()
	w, f := calling(t)
	testkit.Must(t, w.Drop(teams, "12"))
	testkit.Must(t, w.Drop(leagues, "3"))
	m := testkit.Open(w.World, GetMatchFunction, OpenMatches)
	n, err := m.names(w.Ctx(), f, score.State{})
	testkit.Must(t, err)
	if n.League != "The League" || n.Visitor.Title != "Valley" || n.Visitor.ShortName != "VAL" || n.Local.Image != "har.png" {
		t.Errorf("the names are %+v", n)
	}
}
