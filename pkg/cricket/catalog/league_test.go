package catalog_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

// lists decodes a page of leagues or of teams.
type lists struct {
	Leagues []catalog.League
	Teams   []catalog.TeamProfile
	Next    string
}

// TestLeaguesAreOrderedByPriorityAndTitle: pages of every size have the same order.
func TestLeaguesAreOrderedByPriorityAndTitle(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues,
		catalog.LeagueRow{
			ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "IPL", Name: "Premier League", SeasonID: "5", Image: "", Active: true},
			Title:          "",
			Priority:       0,
		},
		catalog.LeagueRow{
			ProvidedLeague: catalog.ProvidedLeague{LeagueID: "4", Code: "BBL", Name: "Big Bash", SeasonID: "6", Image: "bbl.png", Active: false},
			Title:          "A Big Bash",
			Priority:       0,
		},
		catalog.LeagueRow{
			ProvidedLeague: catalog.ProvidedLeague{LeagueID: "10", Code: "WC", Name: "World Cup", SeasonID: "7", Image: "", Active: true},
			Title:          "",
			Priority:       9,
		},
	)
	routes := w.Routes()
	want := []catalog.League{
		{ID: "10", Title: "World Cup", Name: "World Cup", Code: "WC", SeasonID: "7", Active: true, Priority: 9},
		{ID: "4", Title: "A Big Bash", Name: "Big Bash", Code: "BBL", SeasonID: "6", Image: "bbl.png"},
		{ID: "3", Title: "Premier League", Name: "Premier League", Code: "IPL", SeasonID: "5", Active: true},
	}

	for _, limit := range []int{1, 2, 3, 100} {
		var got []catalog.League
		for next := ""; len(got) == 0 || next != ""; {
			target := fmt.Sprintf("/leagues?limit=%d", limit)
			if next != "" {
				target += "&cursor=" + next
			}

			page, header := crickettest.Get[lists](t, routes, catalog.ListLeaguesFunction(), target)
			if header.Get("Cache-Control") != catalog.CacheReference || header.Get("ETag") == "" {
				t.Errorf("%s: headers %v, want Cache-Control %q and an ETag", target, header, catalog.CacheReference)
			}

			got, next = append(got, page.Leagues...), page.Next
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}

	for _, l := range want {
		got, _ := crickettest.Get[catalog.League](t, routes, catalog.GetLeagueFunction(), "/leagues/"+l.ID)
		if diff := cmp.Diff(l, got); diff != "" {
			t.Errorf("/leagues/%s (-want +got):\n%s", l.ID, diff)
		}
	}

	for _, c := range []struct {
		target string
		status int
		field  string
	}{
		{"/leagues/99", http.StatusNotFound, ""},
		{"/leagues/x", http.StatusUnprocessableEntity, "path.id"},
	} {
		if err := testkit.CheckProblemField(testkit.Call(routes, catalog.GetLeagueFunction(), c.target, "", ""), c.status, c.field); err != nil {
			t.Errorf("%s: %v", c.target, err)
		}
	}

	if err := testkit.CheckProblemField(testkit.Call(routes, catalog.ListLeaguesFunction(), "/leagues?cursor=99", "", ""),
		400, "query.cursor"); err != nil {
		t.Error(err)
	}
}

// TestReadUnitsOfPublicReads: public reads are eventually consistent, which costs half.
func TestReadUnitsOfPublicReads(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Name: "League"})
	testkit.PutRows(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "Team"})

	routes, got := w.Routes(), map[string]float64{}
	for target, fn := range map[string]app.Function{
		"/leagues":         catalog.ListLeaguesFunction(),
		"/leagues/3":       catalog.GetLeagueFunction(),
		"/seasons/5/teams": catalog.ListSeasonTeamsFunction(),
		"/teams":           catalog.ListTeamsFunction(),
		"/teams/11":        catalog.GetTeamFunction(),
	} {
		got[target] = w.CountUnits(func() { crickettest.Get[any](t, routes, fn, target) }).Reads
	}

	want := map[string]float64{"/leagues": 0.5, "/leagues/3": 0.5, "/seasons/5/teams": 0.5, "/teams": 0.5, "/teams/11": 0.5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read units (-want +got):\n%s", diff)
	}
}

// TestListsAreCachedForAMinute: a process scans each table once a minute.
func TestListsAreCachedForAMinute(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	names := func() (names []string) {
		page, _ := crickettest.Get[lists](t, routes, catalog.ListLeaguesFunction(), "/leagues")
		for _, l := range page.Leagues {
			names = append(names, l.Name)
		}

		others, _ := crickettest.Get[lists](t, routes, catalog.ListTeamsFunction(), "/teams")
		for _, v := range others.Teams {
			names = append(names, v.Name)
		}

		return names
	}

	testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Name: "old"})
	testkit.PutRows(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "Old"})

	scans := w.CountCalls(func() {
		names()
		testkit.PutRows(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Name: "new"})
		testkit.PutRows(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "New"})
		w.MoveClock(w.Clock.Now().Add(59 * time.Second))

		if got := names(); !slices.Equal(got, []string{"old", "Old"}) {
			t.Errorf("after 59 s: %q, want the cached names", got)
		}
	})["Scan"]
	if scans != 2 {
		t.Errorf("%d scans of the two tables, want 2", scans)
	}

	w.MoveClock(w.Clock.Now().Add(time.Second))

	if got := names(); !slices.Equal(got, []string{"new", "New"}) {
		t.Errorf("after 60 s: %q, want the new names", got)
	}
	// Another process has its own cache.
	testkit.PutRows(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "newest"})

	if page, _ := crickettest.Get[lists](t, w.Routes(), catalog.ListTeamsFunction(), "/teams"); page.Teams[0].Name != "newest" {
		t.Errorf("teams in a new process: %+v, want the newest name", page.Teams)
	}
}

// TestListSeasonTeams: pages of every size list the teams of the season in order of id.
func TestListSeasonTeams(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var want []catalog.TeamRef

	for i := range 7 {
		ref := catalog.TeamRef{ID: fmt.Sprint(11 + i), Code: fmt.Sprint("T", i), Name: fmt.Sprint("Team ", i)}
		want = append(want, ref)
		testkit.PutRows(w.World, tables.TeamSeasons, catalog.SeasonTeam{SeasonID: "5", TeamID: ref.ID, Code: ref.Code, Name: ref.Name},
			catalog.SeasonTeam{SeasonID: "6", TeamID: ref.ID, Code: "X", Name: "Other"})
	}

	routes := w.Routes()

	type page struct {
		Teams []catalog.TeamRef
		Next  string
	}

	for _, limit := range []int{1, 3, 100} {
		var got []catalog.TeamRef
		for next := ""; len(got) == 0 || next != ""; {
			target := fmt.Sprintf("/seasons/5/teams?limit=%d", limit)
			if next != "" {
				target += "&cursor=" + next
			}

			p, _ := crickettest.Get[page](t, routes, catalog.ListSeasonTeamsFunction(), target)
			if len(p.Teams) > limit {
				t.Errorf("limit %d: a page of %d teams", limit, len(p.Teams))
			}

			got, next = append(got, p.Teams...), p.Next
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}

	if out := testkit.Call(routes, catalog.ListSeasonTeamsFunction(), "/seasons/99/teams", "", ""); out.StatusCode != 200 ||
		out.Body != "{\"teams\":[]}\n" {
		t.Errorf("unknown season: %d %q, want 200 and an empty list", out.StatusCode, out.Body)
	}
}

// leagueAndTeam are the rows that both the syncs and the administrators write.
type leagueAndTeam struct {
	League catalog.LeagueRow
	Team   catalog.TeamRow
}

// TestSyncsKeepAttributesOfAdministrators: a sync changes all attributes of the
// provider and no other.
func TestSyncsKeepAttributesOfAdministrators(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	syncNames := func(league, team string) {
		w.Override = func(path string) (int, string) {
			switch path {
			case "/leagues":
				return http.StatusOK, `{"data":[{"id":3,"name":"` + league +
					`","code":"L","season_id":5,"image_path":"l.png","title":"no","priority":1,"active":true}]}`
			case "/teams":
				return http.StatusOK, `{"data":[{"id":11,"name":"` + team +
					`","code":"T","image_path":"t.png","national_team":true,"title":"no","color":"no"}]}`
			}

			return http.StatusOK, `{"data":[],"meta":{"last_page":1}}`
		}
		w.Sync()
	}
	check := func(when string, want leagueAndTeam) {
		t.Helper()

		got := leagueAndTeam{testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3"),
			testkit.Row[catalog.TeamRow](w.World, tables.Teams, "11")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}

	syncNames("League", "Team")

	fresh := leagueAndTeam{
		catalog.LeagueRow{
			ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "L", Name: "League", SeasonID: "5", Image: "l.png", Active: true},
			Title:          "",
			Priority:       0,
		},
		catalog.TeamRow{
			ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "T", Name: "Team", Image: "t.png", National: true},
			Title:        "",
			ShortName:    "",
			Color:        "",
		},
	}
	check("after the first sync", fresh)

	edit := func(league, team string) {
		for _, out := range []struct {
			code int
			body string
		}{
			{testkit.Call(routes, catalog.UpdateLeagueFunction(), "/leagues/3", testkit.Administrator, league).StatusCode, league},
			{testkit.Call(routes, catalog.UpdateTeamFunction(), "/teams/11", testkit.Administrator, team).StatusCode, team},
		} {
			if out.code != http.StatusOK {
				t.Errorf("%s: %d, want 200", out.body, out.code)
			}
		}
	}
	edit(`{"active":false,"title":"Our League","priority":7}`, `{"title":"Our Team","shortName":"OT","color":"#00ff7f"}`)

	want := fresh
	want.League.Active, want.League.Title, want.League.Priority = false, "Our League", 7
	want.Team.Title, want.Team.ShortName, want.Team.Color = "Our Team", "OT", "#00ff7f"
	check("after an edit", want)
	syncNames("League", "Team")
	check("after a sync without changes", want)
	syncNames("League II", "Team II")

	want.League.Name, want.Team.Name = "League II", "Team II"
	check("after a sync of new names", want)

	if l, _ := crickettest.Get[catalog.League](t, routes, catalog.GetLeagueFunction(),
		"/leagues/3"); l.Title != "Our League" || l.Name != "League II" || l.Active {
		t.Errorf("get-league: %+v, want the title of the administrator and the name of the provider", l)
	}

	if v, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction(),
		"/teams/11"); v.Title != "Our Team" || v.ShortName != "OT" || v.Name != "Team II" {
		t.Errorf("get-team: %+v, want the title of the administrator and the name of the provider", v)
	}

	// An edit of one attribute leaves the others. Empty text removes a title.
	edit(`{"priority":0}`, `{"color":""}`)
	edit(`{"title":""}`, `{"title":"","shortName":""}`)
	syncNames("League II", "Team II")

	want.League.Title, want.League.Priority, want.Team.Title, want.Team.ShortName, want.Team.Color = "", 0, "", "", ""
	check("after the titles were removed", want)

	if v, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction(),
		"/teams/11"); v.Title != "Team II" || v.ShortName != "T" {
		t.Errorf("get-team: %+v, want the name and code of the provider", v)
	}
}

// TestDeletedLeagueReturnsWithTheNextSync: it returns while the provider lists it,
// without the edits of administrators.
func TestDeletedLeagueReturnsWithTheNextSync(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	w.Override = func(string) (int, string) {
		return http.StatusOK, `{"data":[{"id":3,"name":"League","code":"L","season_id":5}]}`
	}
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction(), catalog.OpenSyncer).SyncLeagues(w.NewContext()))
	}
	sync()

	fresh := testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3")

	testkit.Call(routes, catalog.UpdateLeagueFunction(), "/leagues/3", testkit.Administrator, `{"active":false,"title":"Ours"}`)

	remove := func() int {
		return testkit.Call(routes, catalog.DeleteLeagueFunction(), "/leagues/3", testkit.Administrator, "").StatusCode
	}
	if got := remove(); got != http.StatusNoContent || len(testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues)) != 0 {
		t.Errorf("first delete: %d, want 204 and no row", got)
	}

	if got := remove(); got != http.StatusNotFound {
		t.Errorf("second delete: %d, want 404", got)
	}

	sync()

	if diff := cmp.Diff(fresh, testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3")); diff != "" {
		t.Errorf("after the next sync (-want +got):\n%s", diff)
	}

	remove()

	w.Override = func(string) (int, string) { return http.StatusOK, `{"data":[]}` }

	sync()

	if n := len(testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues)); n != 0 {
		t.Error("a sync has written a league that the provider does not list")
	}
}

// TestEditsAreValidated: a refused edit names the field and changes nothing.
func TestEditsAreValidated(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	routes := w.Routes()
	want := w.Reference()

	league, team := catalog.UpdateLeagueFunction(), catalog.UpdateTeamFunction()
	for _, c := range []struct {
		what   string
		body   string
		status int
		field  string
	}{
		{"/leagues/3", `{}`, 400, "body"},
		{"/leagues/3", `{"name":"x"}`, 422, "body.name"},
		{"/leagues/3", `{"active":"yes"}`, 422, "body.active"},
		{"/leagues/3", `{"title":"x\u202e"}`, 422, "body.title"},
		{"/leagues/3", `{"title":"` + strings.Repeat("x", 65) + `"}`, 422, "body.title"},
		{"/leagues/3", `{"priority":-1}`, 422, "body.priority"},
		{"/leagues/3", `{"priority":1001}`, 422, "body.priority"},
		{"/leagues/99", `{"title":"x"}`, 404, ""},
		{"/leagues/x", `{"title":"x"}`, 422, "path.id"},
		{"/teams/11", `{}`, 400, "body"},
		{"/teams/11", `{"code":"x"}`, 422, "body.code"},
		{"/teams/11", `{"color":"red"}`, 422, "body.color"},
		{"/teams/11", `{"shortName":"too long, this"}`, 422, "body.shortName"},
		{"/teams/99", `{"title":"x"}`, 404, ""},
	} {
		fn := team
		if strings.HasPrefix(c.what, "/leagues") {
			fn = league
		}

		if err := testkit.CheckProblemField(testkit.Call(routes, fn, c.what, testkit.Administrator, c.body), c.status, c.field); err != nil {
			t.Errorf("%s %s: %v", c.what, c.body, err)
		}
	}

	if diff := cmp.Diff(want, w.Reference()); diff != "" {
		t.Errorf("refused requests have changed rows (-want +got):\n%s", diff)
	}
}
