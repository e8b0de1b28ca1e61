package cricket

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
)

// lists are pages of leagues or of teams.
type lists struct {
	Leagues []League
	Teams   []TeamProfile
	Next    string
}

func TestLeagues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.Put(w.World, leagues,
		leagueRow{league{"3", "IPL", "Premier League", "5", "", true}, "", 0},
		leagueRow{league{"4", "BBL", "Big Bash", "6", "bbl.png", false}, "A Big Bash", 0},
		leagueRow{league{"10", "WC", "World Cup", "7", "", true}, "", 9},
	)
	routes := w.routes()
	want := []League{
		{ID: "10", Title: "World Cup", Name: "World Cup", Code: "WC", SeasonID: "7", Active: true, Priority: 9},
		{ID: "4", Title: "A Big Bash", Name: "Big Bash", Code: "BBL", SeasonID: "6", Image: "bbl.png"},
		{ID: "3", Title: "Premier League", Name: "Premier League", Code: "IPL", SeasonID: "5", Active: true},
	}
	for _, limit := range []int{1, 2, 3, 100} {
		var got []League
		for next := ""; len(got) == 0 || next != ""; {
			target := fmt.Sprintf("/leagues?limit=%d", limit)
			if next != "" {
				target += "&cursor=" + next
			}
			page, header := get[lists](t, routes, ListLeaguesFunction, target)
			if header.Get("Cache-Control") != cacheReference || header.Get("ETag") == "" {
				t.Errorf("the headers are %v", header)
			}
			got, next = append(got, page.Leagues...), page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: got %+v, want %+v", limit, got, want)
		}
	}
	for _, l := range want {
		if got, _ := get[League](t, routes, GetLeagueFunction, "/leagues/"+l.ID); got != l {
			t.Errorf("got %+v, want %+v", got, l)
		}
	}
	for target, status := range map[string]int{"/leagues/99": 404, "/leagues/x": 422} {
		if err := testkit.Blames(testkit.Ask(routes, GetLeagueFunction, target, "", ""), status, map[int]string{422: "path.id"}[status]); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := testkit.Blames(testkit.Ask(routes, ListLeaguesFunction, "/leagues?cursor=99", "", ""), 400, "query.cursor"); err != nil {
		t.Error(err)
	}
}

// TestListsAreKept reads a table once a minute, by the world's clock.
func TestListsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	routes := w.routes()
	names := func() (names []string) {
		page, _ := get[lists](t, routes, ListLeaguesFunction, "/leagues")
		for _, l := range page.Leagues {
			names = append(names, l.Name)
		}
		others, _ := get[lists](t, routes, ListTeamsFunction, "/teams")
		for _, v := range others.Teams {
			names = append(names, v.Name)
		}
		return names
	}
	testkit.Put(w.World, leagues, league{LeagueID: "3", Name: "old"})
	testkit.Put(w.World, teams, team{TeamID: "11", Name: "Old"})
	scans := w.Count(func() {
		names()
		testkit.Put(w.World, leagues, league{LeagueID: "3", Name: "new"})
		testkit.Put(w.World, teams, team{TeamID: "11", Name: "New"})
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
	testkit.Put(w.World, teams, team{TeamID: "11", Name: "newest"})
	if page, _ := get[lists](t, w.routes(), ListTeamsFunction, "/teams"); page.Teams[0].Name != "newest" {
		t.Errorf("a new process has %+v", page.Teams)
	}
}

// TestKept does not keep what could not be read.
func TestKept(t *testing.T) {
	t.Parallel()
	var k kept[int]
	now := time.Unix(1_800_000_000, 0)
	broken := errors.New("broken")
	if _, err := k.get(now, func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if got, err := k.get(now, func() ([]int, error) { return []int{1}, nil }); err != nil || !slices.Equal(got, []int{1}) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if got, err := k.get(now.Add(keepScan), func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestListSeasonTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []TeamRef
	for i := range 7 {
		ref := TeamRef{fmt.Sprint(11 + i), fmt.Sprint("T", i), fmt.Sprint("Team ", i)}
		want = append(want, ref)
		testkit.Put(w.World, teamSeasons, seasonTeam{"5", ref.ID, ref.Code, ref.Name}, seasonTeam{"6", ref.ID, "X", "Other"})
	}
	routes := w.routes()
	type page struct {
		Teams []TeamRef
		Next  string
	}
	for _, limit := range []int{1, 3, 100} {
		var got []TeamRef
		for next := ""; len(got) == 0 || next != ""; {
			target := fmt.Sprintf("/seasons/5/teams?limit=%d", limit)
			if next != "" {
				target += "&cursor=" + next
			}
			p, _ := get[page](t, routes, ListSeasonTeamsFunction, target)
			got, next = append(got, p.Teams...), p.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", limit, got, want)
		}
	}
	if out := testkit.Ask(routes, ListSeasonTeamsFunction, "/seasons/99/teams", "", ""); out.StatusCode != 200 || out.Body != "{\"teams\":[]}\n" {
		t.Errorf("a season that is not known is answered with %d %q", out.StatusCode, out.Body)
	}
}

// curated is what the syncs and the administrators make of a league and a team.
type curated struct {
	League leagueRow
	Team   teamRow
}

// TestSyncsKeepWhatIsCurated has the provider change everything that is its own.
func TestSyncsKeepWhatIsCurated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	routes := w.routes()
	words := func(league, team string) {
		w.said = func(path string) (int, string) {
			switch path {
			case "/leagues":
				return http.StatusOK, `{"data":[{"id":3,"name":"` + league + `","code":"L","season_id":5,"image_path":"l.png","title":"no","priority":1,"active":true}]}`
			case "/teams":
				return http.StatusOK, `{"data":[{"id":11,"name":"` + team + `","code":"T","image_path":"t.png","title":"no","color":"no"}]}`
			}
			return http.StatusOK, `{"data":[],"meta":{"last_page":1}}`
		}
		w.sync()
	}
	now := func() curated {
		return curated{testkit.Row[leagueRow](w.World, leagues, "3"), testkit.Row[teamRow](w.World, teams, "11")}
	}
	words("League", "Team")
	fresh := curated{leagueRow{league{"3", "L", "League", "5", "l.png", true}, "", 0}, teamRow{team{"11", "T", "Team", "t.png", false}, "", "", ""}}
	if got := now(); got != fresh {
		t.Errorf("new, they are %+v, want %+v", got, fresh)
	}

	edit := func(league, team string) {
		for _, out := range []struct {
			code int
			body string
		}{
			{testkit.Ask(routes, UpdateLeagueFunction, "/leagues/3", testkit.Administrator, league).StatusCode, league},
			{testkit.Ask(routes, UpdateTeamFunction, "/teams/11", testkit.Administrator, team).StatusCode, team},
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
	if l, _ := get[League](t, routes, GetLeagueFunction, "/leagues/3"); l.Title != "Our League" || l.Name != "League II" || l.Active {
		t.Errorf("shown is %+v", l)
	}
	if v, _ := get[TeamProfile](t, routes, GetTeamFunction, "/teams/11"); v.Title != "Our Team" || v.ShortName != "OT" || v.Name != "Team II" {
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
	if v, _ := get[TeamProfile](t, routes, GetTeamFunction, "/teams/11"); v.Title != "Team II" || v.ShortName != "T" {
		t.Errorf("shown is %+v", v)
	}
}

// TestDeletedLeague comes back for as long as the provider has it.
func TestDeletedLeague(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	routes := w.routes()
	w.said = func(string) (int, string) {
		return http.StatusOK, `{"data":[{"id":3,"name":"League","code":"L","season_id":5}]}`
	}
	sync := func() { testkit.Must(t, testkit.Open(w.World, SyncLeaguesFunction, OpenSyncer).SyncLeagues(w.Ctx())) }
	sync()
	fresh := testkit.Row[leagueRow](w.World, leagues, "3")
	testkit.Ask(routes, UpdateLeagueFunction, "/leagues/3", testkit.Administrator, `{"active":false,"title":"Ours"}`)
	remove := func() int {
		return testkit.Ask(routes, DeleteLeagueFunction, "/leagues/3", testkit.Administrator, "").StatusCode
	}
	if got := remove(); got != http.StatusNoContent || len(testkit.Rows[league](w.World, leagues)) != 0 {
		t.Errorf("deleting is answered with %d", got)
	}
	if got := remove(); got != http.StatusNotFound {
		t.Errorf("deleting again is answered with %d", got)
	}
	sync()
	if got := testkit.Row[leagueRow](w.World, leagues, "3"); got != fresh {
		t.Errorf("back is %+v, want it as it was when it was new: %+v", got, fresh)
	}
	remove()
	w.said = func(string) (int, string) { return http.StatusOK, `{"data":[]}` }
	sync()
	if n := len(testkit.Rows[league](w.World, leagues)); n != 0 {
		t.Error("a league that the provider has no more is back")
	}
}

func TestCurationRefusals(t *testing.T) {
	t.Parallel()
	w := served(t)
	routes := w.routes()
	want := w.reference()
	league, team := UpdateLeagueFunction, UpdateTeamFunction
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
	if got := w.reference(); !reflect.DeepEqual(got, want) {
		t.Errorf("refused requests have changed\n%+v\nto\n%+v", want, got)
	}
}
