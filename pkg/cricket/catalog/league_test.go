package catalog_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
)

// lists are pages of leagues or of teams.
type lists struct {
	Leagues []catalog.League
	Teams   []catalog.TeamProfile
	Next    string
}

func TestLeagues(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.Put(w.World, tables.Leagues,
		catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "IPL", Name: "Premier League", SeasonID: "5", Image: "", Active: true}, Title: "", Priority: 0},
		catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "4", Code: "BBL", Name: "Big Bash", SeasonID: "6", Image: "bbl.png", Active: false}, Title: "A Big Bash", Priority: 0},
		catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "10", Code: "WC", Name: "World Cup", SeasonID: "7", Image: "", Active: true}, Title: "", Priority: 9},
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
			page, header := crickettest.Get[lists](t, routes, catalog.ListLeaguesFunction, target)
			if header.Get("Cache-Control") != catalog.CacheReference || header.Get("ETag") == "" {
				t.Errorf("the headers are %v", header)
			}
			got, next = append(got, page.Leagues...), page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: got %+v, want %+v", limit, got, want)
		}
	}
	for _, l := range want {
		if got, _ := crickettest.Get[catalog.League](t, routes, catalog.GetLeagueFunction, "/leagues/"+l.ID); got != l {
			t.Errorf("got %+v, want %+v", got, l)
		}
	}
	for target, status := range map[string]int{"/leagues/99": 404, "/leagues/x": 422} {
		if err := testkit.Blames(testkit.Ask(routes, catalog.GetLeagueFunction, target, "", ""), status, map[int]string{422: "path.id"}[status]); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := testkit.Blames(testkit.Ask(routes, catalog.ListLeaguesFunction, "/leagues?cursor=99", "", ""), 400, "query.cursor"); err != nil {
		t.Error(err)
	}
}

// TestListsAreKept reads a table once a minute, by the world's clock.
func TestListsAreKept(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	names := func() (names []string) {
		page, _ := crickettest.Get[lists](t, routes, catalog.ListLeaguesFunction, "/leagues")
		for _, l := range page.Leagues {
			names = append(names, l.Name)
		}
		others, _ := crickettest.Get[lists](t, routes, catalog.ListTeamsFunction, "/teams")
		for _, v := range others.Teams {
			names = append(names, v.Name)
		}
		return names
	}
	testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Name: "old"})
	testkit.Put(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "Old"})
	scans := w.Count(func() {
		names()
		testkit.Put(w.World, tables.Leagues, catalog.ProvidedLeague{LeagueID: "3", Name: "new"})
		testkit.Put(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "New"})
		w.To(w.Clock.Now().Add(59 * time.Second))
		if got := names(); !slices.Equal(got, []string{"old", "Old"}) {
			t.Errorf("after 59 s: %q", got)
		}
	})["Scan"]
	if scans != 2 {
		t.Errorf("the two tables were read %d times", scans)
	}
	w.To(w.Clock.Now().Add(time.Second))
	if got := names(); !slices.Equal(got, []string{"new", "New"}) {
		t.Errorf("after 60 s: %q", got)
	}
	// Another process has its own.
	testkit.Put(w.World, tables.Teams, catalog.ProvidedTeam{TeamID: "11", Name: "newest"})
	if page, _ := crickettest.Get[lists](t, w.Routes(), catalog.ListTeamsFunction, "/teams"); page.Teams[0].Name != "newest" {
		t.Errorf("a new process has %+v", page.Teams)
	}
}

func TestListSeasonTeams(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	var want []catalog.TeamRef
	for i := range 7 {
		ref := catalog.TeamRef{ID: fmt.Sprint(11 + i), Code: fmt.Sprint("T", i), Name: fmt.Sprint("Team ", i)}
		want = append(want, ref)
		testkit.Put(w.World, tables.TeamSeasons, catalog.SeasonTeam{SeasonID: "5", TeamID: ref.ID, Code: ref.Code, Name: ref.Name}, catalog.SeasonTeam{SeasonID: "6", TeamID: ref.ID, Code: "X", Name: "Other"})
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
			p, _ := crickettest.Get[page](t, routes, catalog.ListSeasonTeamsFunction, target)
			got, next = append(got, p.Teams...), p.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", limit, got, want)
		}
	}
	if out := testkit.Ask(routes, catalog.ListSeasonTeamsFunction, "/seasons/99/teams", "", ""); out.StatusCode != 200 || out.Body != "{\"teams\":[]}\n" {
		t.Errorf("a season that is not known is answered with %d %q", out.StatusCode, out.Body)
	}
}

// curated is what the syncs and the administrators make of a league and a team.
type curated struct {
	League catalog.LeagueRow
	Team   catalog.TeamRow
}

// TestSyncsKeepWhatIsCurated has the provider change everything that is its own.
func TestSyncsKeepWhatIsCurated(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	words := func(league, team string) {
		w.Said = func(path string) (int, string) {
			switch path {
			case "/leagues":
				return http.StatusOK, `{"data":[{"id":3,"name":"` + league + `","code":"L","season_id":5,"image_path":"l.png","title":"no","priority":1,"active":true}]}`
			case "/teams":
				return http.StatusOK, `{"data":[{"id":11,"name":"` + team + `","code":"T","image_path":"t.png","title":"no","color":"no"}]}`
			}
			return http.StatusOK, `{"data":[],"meta":{"last_page":1}}`
		}
		w.Sync()
	}
	now := func() curated {
		return curated{testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3"), testkit.Row[catalog.TeamRow](w.World, tables.Teams, "11")}
	}
	words("League", "Team")
	fresh := curated{catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Code: "L", Name: "League", SeasonID: "5", Image: "l.png", Active: true}, Title: "", Priority: 0}, catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "T", Name: "Team", Image: "t.png", National: false}, Title: "", ShortName: "", Color: ""}}
	if got := now(); got != fresh {
		t.Errorf("new, they are %+v, want %+v", got, fresh)
	}

	edit := func(league, team string) {
		for _, out := range []struct {
			code int
			body string
		}{
			{testkit.Ask(routes, catalog.UpdateLeagueFunction, "/leagues/3", testkit.Administrator, league).StatusCode, league},
			{testkit.Ask(routes, catalog.UpdateTeamFunction, "/teams/11", testkit.Administrator, team).StatusCode, team},
		} {
			if out.code != http.StatusOK {
				t.Errorf("%s is answered with %d", out.body, out.code)
			}
		}
	}
	edit(`{"active":false,"title":"Our League","priority":7}`, `{"title":"Our Team","shortName":"OT","color":"#00ff7f"}`)
	want := fresh
	want.League.Active, want.League.Title, want.League.Priority = false, "Our League", 7
	want.Team.Title, want.Team.ShortName, want.Team.Color = "Our Team", "OT", "#00ff7f"
	if got := now(); got != want {
		t.Errorf("edited, they are %+v, want %+v", got, want)
	}
	words("League", "Team") // nothing new
	if got := now(); got != want {
		t.Errorf("after a sync of nothing they are %+v, want %+v", got, want)
	}
	words("League II", "Team II")
	want.League.Name, want.Team.Name = "League II", "Team II"
	if got := now(); got != want {
		t.Errorf("after a sync they are %+v, want %+v", got, want)
	}
	if l, _ := crickettest.Get[catalog.League](t, routes, catalog.GetLeagueFunction, "/leagues/3"); l.Title != "Our League" || l.Name != "League II" || l.Active {
		t.Errorf("shown is %+v", l)
	}
	if v, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction, "/teams/11"); v.Title != "Our Team" || v.ShortName != "OT" || v.Name != "Team II" {
		t.Errorf("shown is %+v", v)
	}

	// One attribute alone, and empty text for the provider's words again.
	edit(`{"priority":0}`, `{"color":""}`)
	edit(`{"title":""}`, `{"title":"","shortName":""}`)
	words("League II", "Team II")
	want.League.Title, want.League.Priority, want.Team.Title, want.Team.ShortName, want.Team.Color = "", 0, "", "", ""
	if got := now(); got != want {
		t.Errorf("without edits they are %+v, want %+v", got, want)
	}
	if v, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction, "/teams/11"); v.Title != "Team II" || v.ShortName != "T" {
		t.Errorf("shown is %+v", v)
	}
}

// TestDeletedLeague comes back for as long as the provider has it.
func TestDeletedLeague(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	w.Said = func(string) (int, string) {
		return http.StatusOK, `{"data":[{"id":3,"name":"League","code":"L","season_id":5}]}`
	}
	sync := func() {
		testkit.Must(t, testkit.Open(w.World, catalog.SyncLeaguesFunction, catalog.OpenSyncer).SyncLeagues(w.Ctx()))
	}
	sync()
	fresh := testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3")
	testkit.Ask(routes, catalog.UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"active":false,"title":"Ours"}`)
	remove := func() int {
		return testkit.Ask(routes, catalog.DeleteLeagueFunction, "/leagues/3", testkit.Administrator, "").StatusCode
	}
	if got := remove(); got != http.StatusNoContent || len(testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues)) != 0 {
		t.Errorf("deleting is answered with %d", got)
	}
	if got := remove(); got != http.StatusNotFound {
		t.Errorf("deleting again is answered with %d", got)
	}
	sync()
	if got := testkit.Row[catalog.LeagueRow](w.World, tables.Leagues, "3"); got != fresh {
		t.Errorf("back is %+v, want it as it was when it was new: %+v", got, fresh)
	}
	remove()
	w.Said = func(string) (int, string) { return http.StatusOK, `{"data":[]}` }
	sync()
	if n := len(testkit.Rows[catalog.ProvidedLeague](w.World, tables.Leagues)); n != 0 {
		t.Error("a league that the provider has no more is back")
	}
}

func TestCurationRefusals(t *testing.T) {
	t.Parallel()
	w := crickettest.Served(t)
	routes := w.Routes()
	want := w.Reference()
	league, team := catalog.UpdateLeagueFunction, catalog.UpdateTeamFunction
	for _, c := range []struct {
		what   string
		body   string
		status int
		field  string
	}{
		{"/leagues/3", `{}`, 400, "body"},
		{"/leagues/3", `{"name":"x"}`, 422, "body.name"},
		{"/leagues/3", `{"active":"yes"}`, 422, "body.active"},
		{"/leagues/3", `{"title":" x"}`, 422, "body.title"},
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
		if err := testkit.Blames(testkit.Ask(routes, fn, c.what, testkit.Administrator, c.body), c.status, c.field); err != nil {
			t.Errorf("%s %s: %v", c.what, c.body, err)
		}
	}
	if got := w.Reference(); !reflect.DeepEqual(got, want) {
		t.Errorf("refused requests have changed\n%+v\nto\n%+v", want, got)
	}
}
