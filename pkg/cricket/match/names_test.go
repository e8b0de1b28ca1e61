package match_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
)

// matchNames decodes the names in a match, on its page and in lists.
type matchNames struct {
	LeagueName     string
	Local, Visitor struct{ Name, Code, Color, Image string }
}

// namesOnPage and namesInList return the names of match 7 in the answers of get-match
// and list-matches.
func namesOnPage(t *testing.T, routes map[string]testkit.Route) matchNames {
	t.Helper()
	got, _ := crickettest.Get[matchNames](t, routes, match.GetMatchFunction(), "/matches/7")

	return got
}

func namesInList(t *testing.T, routes map[string]testkit.Route, query string) matchNames {
	t.Helper()

	got, _ := crickettest.Get[struct{ Matches []matchNames }](t, routes, match.ListMatchesFunction(), "/matches?"+query)
	if len(got.Matches) != 1 {
		t.Fatalf("%s: %+v, want one match", query, got)
	}

	return got.Matches[0]
}

// withFixture returns a world with match 7, just copied by a sync.
func withFixture(t *testing.T) (*crickettest.World, match.Fixture) {
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues,
		catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true}})
	testkit.PutRows(w.World, tables.Teams,
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "HAR", Name: "Harbour", Image: "har.png"}},
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "12", Code: "VAL", Name: "Valley", Image: "val.png"}})
	testkit.PutRows(w.World, tables.TeamSeasons, catalog.SeasonTeam{SeasonID: "5", TeamID: "11", Code: "HAR", Name: "Harbour"},
		catalog.SeasonTeam{SeasonID: "5", TeamID: "12", Code: "VAL", Name: "Valley"})
	f := match.Fixture{
		MatchID:       "7",
		LeagueID:      "3",
		SeasonID:      "5",
		Type:          "T20",
		LocalTeamID:   "11",
		VisitorTeamID: "12",
		StartTime:     crickettest.KickOff.Format(tables.TimeLayout),
	}
	w.SetFixtures(crickettest.Payload(f, "NS"))
	testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
	w.Override = nil

	return w, testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
}

// TestNamesFollowAdministrators: the names of an administrator are on the page of a
// match within ten minutes, and then in every list. No tick and no sync removes them.
func TestNamesFollowAdministrators(t *testing.T) {
	t.Parallel()
	w, f := withFixture(t)
	routes := w.Routes()
	lists := []string{"ids=7", "league=3", "league=T20&from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z"}
	check := func(when string, want matchNames) {
		t.Helper()

		if got := namesOnPage(t, routes); got != want {
			t.Errorf("%s, on the page (-want +got):\n%s", when, cmp.Diff(want, got))
		}

		for _, query := range lists {
			if got := namesInList(t, routes, query); got != want {
				t.Errorf("%s, in the list of %s (-want +got):\n%s", when, query, cmp.Diff(want, got))
			}
		}
	}

	var want matchNames

	want.LeagueName, want.Local.Name, want.Local.Code, want.Visitor.Name, want.Visitor.Code = "The League", "Harbour", "HAR", "Valley", "VAL"
	if got := namesInList(t, routes, "ids=7"); got != want {
		t.Errorf("names of the provider (-want +got):\n%s", cmp.Diff(want, got))
	}

	want.Local.Image, want.Visitor.Image = "har.png", "val.png"
	check("at first", want)

	testkit.Call(routes, catalog.UpdateTeamFunction(), "/teams/11", testkit.Administrator,
		`{"title":"The Harbour","shortName":"TH","color":"#0b5cad"}`)
	testkit.Call(routes, catalog.UpdateLeagueFunction(), "/leagues/3", testkit.Administrator, `{"title":"Our League"}`)
	w.MoveClock(w.Clock.Now().Add(match.KeepNames - time.Second))
	check("before ten minutes have passed", want)
	w.MoveClock(w.Clock.Now().Add(time.Second))

	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "Our League", "The Harbour", "TH", "#0b5cad"
	check("after ten minutes", want)

	// Neither a tick nor a sync changes the names.
	w.MoveClock(crickettest.At(0))
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
	w.TickAt(w.Ticker(), 0)
	check("in play", want)
	w.SetFixtures(crickettest.Payload(f, "1st Innings"))
	testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
	check("after a sync", want)

	testkit.Call(routes, catalog.UpdateTeamFunction(), "/teams/11", testkit.Administrator, `{"title":"","shortName":"","color":""}`)
	testkit.Call(routes, catalog.UpdateLeagueFunction(), "/leagues/3", testkit.Administrator, `{"title":""}`)
	w.MoveClock(w.Clock.Now().Add(match.KeepNames))

	want.LeagueName, want.Local.Name, want.Local.Code, want.Local.Color = "The League", "Harbour", "HAR", ""
	check("after the titles were removed", want)
}

// TestMatchInFull: every member of a match in play, on its page and in lists.
func TestMatchInFull(t *testing.T) {
	t.Parallel()
	w, f := withFixture(t)
	f.LeagueCode, f.Round, f.VenueName = "T20", "Final", "The Quay, Harbour"
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}, crickettest.Ball{ID: 2, Out: true}))
	w.TickAt(w.Ticker(), 0)

	want := match.Match{
		ID: "7", League: "T20", LeagueID: "3", LeagueName: "The League", SeasonID: "5", StartTime: f.StartTime, Round: "Final", Type: "T20",
		Venue: "The Quay, Harbour", Status: "1st Innings", Phase: sportmonks.Live, Live: true,
		Local:   match.MatchSide{ID: "11", Name: "Harbour", Code: "HAR", Image: "har.png", Score: "4/1", Overs: "0.2"},
		Visitor: match.MatchSide{ID: "12", Name: "Valley", Code: "VAL", Image: "val.png"},
	}
	routes := w.Routes()

	page, _ := crickettest.Get[match.Match](t, routes, match.GetMatchFunction(), "/matches/7")
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("on its page (-want +got):\n%s", diff)
	}

	list, _ := crickettest.Get[struct{ Matches []match.Match }](t, routes, match.ListMatchesFunction(), "/matches?league=3")
	if diff := cmp.Diff([]match.Match{want}, list.Matches); diff != "" {
		t.Errorf("in a list (-want +got):\n%s", diff)
	}
}

// TestTitlesOfAMatchWithoutAScore: they are stored, and there is nothing to rewrite.
func TestTitlesOfAMatchWithoutAScore(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")

	for name, row := range map[string]*match.ScoreRow{"none": nil, "never polled": {}} {
		to := match.Titles{LocalTitle: name, LocalShort: "L", VisitorTitle: "V", VisitorShort: "VV"}
		testkit.Must(t, match.Retitle(w.NewContext(), w.DB(), f, to, row, score.State{}, w.Clock.Now()))

		if got := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7").Titles; got != to {
			t.Errorf("%s: the titles are %+v, want %+v", name, got, to)
		}

		var s score.State
		to.Rename(&s)

		if s.Local.Name != name || s.Local.Code != "L" || s.Visitor.Name != "V" || s.Visitor.Code != "VV" {
			t.Errorf("the score displays %+v and %+v, want %+v", s.Local, s.Visitor, to)
		}
	}

	if n := len(testkit.Rows[match.ScoreRow](w.World, tables.FixtureCache)); n != 0 {
		t.Errorf("%d scores are stored, want none", n)
	}
}

// TestNamesAreReadOnceInTenMinutes: only the first page in ten minutes reads the
// catalog.
func TestNamesAreReadOnceInTenMinutes(t *testing.T) {
	t.Parallel()
	w, _ := withFixture(t)

	routes := w.Routes()
	for i, want := range []map[string]int{
		{"GetItem": 6, "Query": 1, "UpdateItem": 1}, // match, score, names, league and two teams
		{"GetItem": 3},
		{"GetItem": 3},
	} {
		if calls := w.CountCalls(func() { namesOnPage(t, routes) }); !maps.Equal(calls, want) {
			t.Errorf("calls of page %d (-want +got):\n%s", i+1, cmp.Diff(want, calls))
		}
	}

	w.MoveClock(w.Clock.Now().Add(match.KeepNames))

	if calls := w.CountCalls(func() { namesOnPage(t, routes) }); calls["UpdateItem"] != 1 {
		t.Errorf("calls after ten minutes: %v, want an update", calls)
	}

	if calls := w.CountCalls(func() { namesInList(t, routes, "ids=7") }); !maps.Equal(calls, map[string]int{"BatchGetItem": 3}) {
		t.Errorf("calls of a list: %v, want 3 of BatchGetItem", calls)
	}
}

// TestMissingNames: a match without a row of names is still shown with names. Only a
// sync creates the row.
func TestMissingNames(t *testing.T) {
	t.Parallel()
	w, f := withFixture(t)
	routes := w.Routes()
	namesOnPage(t, routes)

	first := testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7"))
	testkit.Must(t, w.DeleteRow(tables.FixtureCache, match.NamesKey("7")))

	if got := namesOnPage(t, routes); got.LeagueName != "The League" || got.Local.Image != "har.png" {
		t.Errorf("page without the row: %+v, want the names of the catalog", got)
	}

	if got := namesInList(t, routes, "ids=7"); got.Local.Name != "Harbour" || got.Local.Code != "HAR" {
		t.Errorf("list without the row: %+v, want the names of the score", got)
	}

	if n := len(testkit.Rows[match.Names](w.World, tables.FixtureCache)); n != 1 {
		t.Errorf("%d rows after a page, want only the score", n)
	}

	w.SetFixtures(crickettest.Payload(f, "NS"))

	sync := func() {
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
	}
	sync()

	w.Override = nil

	namesOnPage(t, routes)

	if diff := cmp.Diff(first, testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7"))); diff != "" {
		t.Errorf("after a sync and a page (-want +got):\n%s", diff)
	}
	// A sync does not replace a row.
	kept := first
	kept.Local.Title = "Kept"
	testkit.PutRows(w.World, tables.FixtureCache, kept)
	w.SetFixtures(crickettest.Payload(f, "NS"))
	sync()

	if diff := cmp.Diff(kept, testkit.Row[match.Names](w.World, tables.FixtureCache, match.NamesKey("7"))); diff != "" {
		t.Errorf("after another sync (-want +got):\n%s", diff)
	}
}

// TestExpiredNamesAreNotWritten: a row that expires between its read and its update is
// not created again.
func TestExpiredNamesAreNotWritten(t *testing.T) {
	t.Parallel()
	w, _ := withFixture(t)
	env := w.Env(match.GetMatchFunction())
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") {
			testkit.Must(t, w.DeleteRow(tables.FixtureCache, match.NamesKey("7")))
		}

		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, match.OpenMatches)
	page, err := s.GetMatch(w.NewContext(), &match.GetMatch{ID: "7"})
	testkit.Must(t, err)

	if page.Body.LeagueName != "The League" || len(page.Body.Teams) != 2 {
		t.Errorf("page: %+v, want the names of the catalog", page.Body)
	}

	if n := len(testkit.Rows[match.Names](w.World, tables.FixtureCache)); n != 1 {
		t.Errorf("%d rows, want only the score", n)
	}
}

// TestFailureToReadNamesIsReported: the names are not read from a part of the catalog, and are
// not called fresh if their row was not written.
func TestFailureToReadNamesIsReported(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]bool{"with a row": true, "without a row": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, f := withFixture(t)
			if !row {
				testkit.Must(t, w.DeleteRow(tables.FixtureCache, match.NamesKey("7")))
			}

			m := testkit.Open(w.World, match.GetMatchFunction(), match.OpenMatches)
			dynamotest.CheckFailures(t, &w.IO, func() error {
				w.MoveClock(w.Clock.Now().Add(match.KeepNames))
				_, err := m.Names(w.NewContext(), f, score.State{})

				return err
			})
		})
	}
}

// TestNamesFallBack: a league or a team that the catalog does not have keeps the names
// of the provider.
func TestNamesFallBack(t *testing.T) {
	t.Parallel()
	w, f := withFixture(t)
	testkit.Must(t, w.DeleteRow(tables.Teams, "12"))
	testkit.Must(t, w.DeleteRow(tables.Leagues, "3"))
	m := testkit.Open(w.World, match.GetMatchFunction(), match.OpenMatches)
	n, err := m.Names(w.NewContext(), f, score.State{})
	testkit.Must(t, err)

	if n.League != "The League" || n.Visitor.Title != "Valley" || n.Visitor.ShortName != "VAL" || n.Local.Image != "har.png" {
		t.Errorf("names: %+v, want those of the provider for the league and the visitors", n)
	}

	if diff := cmp.Diff([]catalog.TeamRef{{ID: "11", Code: "HAR", Name: "Harbour"}, {ID: "12", Code: "VAL", Name: "Valley"}},
		n.Season); diff != "" {
		t.Errorf("teams of the season (-want +got):\n%s", diff)
	}
}
