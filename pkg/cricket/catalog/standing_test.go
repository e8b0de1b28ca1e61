package catalog_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
)

// provide has the provider answer with a table of season 5.
func provide(w *crickettest.World, body string, status int) *catalog.Syncer {
	w.T.Helper()

	env := w.Env(catalog.SyncStandingsFunction())
	env.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/standings/season/5") {
			w.T.Errorf("request for %s, want the table of season 5", r.URL.Path)
		}

		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
	})

	return testkit.OpenWith(w.World, env, catalog.OpenSyncer)
}

const (
	second = `{"resource":"standings","legend_id":92,"team_id":12,"stage_id":11,"season_id":5,"league_id":3,"position":2,"points":9,
		"played":5,"won":4,"lost":0,"draw":0,"noresult":1,"runs_for":711,"overs_for":80,"runs_against":"690","overs_against":"79.1",
		"netto_run_rate":-0.05,"recent_form":null}`
	first = `{"resource":"standings","legend_id":92,"team_id":11,"stage_id":11,"season_id":5,"league_id":3,"position":1,"points":20,
		"played":14,"won":10,"lost":4,"draw":0,"noresult":0,"runs_for":2282,"overs_for":263.5,"runs_against":2188,"overs_against":272.4,
		"netto_run_rate":0.625,"recent_form":["L","W","l","W","L"],"updated_at":"2019-02-10T08:19:25.000000Z"}`
)

// TestStandings: the table of a league's season is the provider's, in order, with the display names of the teams. A table
// that cannot be read stays as it was, and one without teams is none.
func TestStandings(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Leagues,
		catalog.ProvidedLeague{LeagueID: "3", Code: "T20", SeasonID: "5", Active: true},
		catalog.ProvidedLeague{LeagueID: "4", Code: "OLD", SeasonID: "6"})
	testkit.PutRows(w.World, tables.Teams,
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Name: "Harbour", Code: "HAR"}, Title: "The Harbour Lights"})

	get := func() (page struct {
		LeagueID, SeasonID string
		ReadAt             *time.Time
		Teams              []catalog.StandingRow
	}) {
		t.Helper()

		page = testkit.Decode[struct {
			LeagueID, SeasonID string
			ReadAt             *time.Time
			Teams              []catalog.StandingRow
		}](w.World, testkit.Call(w.Routes(), catalog.GetStandingsFunction(), "/leagues/3/standings", "", ""))

		return page
	}

	if page := get(); page.ReadAt != nil || page.SeasonID != "5" || len(page.Teams) != 0 {
		t.Errorf("before the first sync: %+v", page)
	}

	testkit.Must(t, provide(w, `{"data":[`+second+`,`+first+`,`+first+`]}`, http.StatusOK).SyncStandings(w.NewContext()))

	want := []catalog.StandingRow{
		{
			Position: 1, TeamID: "11", Title: "The Harbour Lights", ShortName: "HAR", Played: 14, Won: 10, Lost: 4, Points: 20,
			NetRunRate: "+0.625", For: "2282/263.5", Against: "2188/272.4", Form: []string{"L", "W", "L", "W", "L"},
		},
		{
			Position: 2, TeamID: "12", Played: 5, Won: 4, NoResult: 1, Points: 9,
			NetRunRate: "-0.050", For: "711/80.0", Against: "690/79.1", Form: []string{},
		},
	}

	page := get()
	if diff := cmp.Diff(want, page.Teams); diff != "" || !page.ReadAt.Equal(w.Clock.Now()) {
		t.Errorf("read at %v, the table (-want +got):\n%s", page.ReadAt, diff)
	}

	w.MoveClock(w.Clock.Now().Add(time.Hour))

	for name, answer := range map[string]struct {
		body   string
		status int
		fails  bool
	}{
		"the same":       {`{"data":[` + first + `,` + second + `]}`, http.StatusOK, false},
		"empty":          {`{"data":[]}`, http.StatusOK, false},
		"none":           {`{"message":"No record of this id."}`, http.StatusNotFound, false},
		"an error":       {`{"message":"Server Error"}`, http.StatusInternalServerError, true},
		"no JSON":        {`<html>`, http.StatusOK, true},
		"an odd element": {`{"data":[7,` + first + `,` + second + `]}`, http.StatusOK, false},
	} {
		if err := provide(w, answer.body, answer.status).SyncStandings(w.NewContext()); (err != nil) != answer.fails {
			t.Errorf("%s: %v", name, err)
		}

		if diff := cmp.Diff(page, get()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}

	testkit.Must(t, provide(w, `{"data":[`+second+`]}`, http.StatusOK).SyncStandings(w.NewContext()))

	if after := get(); len(after.Teams) != 1 || !after.ReadAt.Equal(w.Clock.Now()) {
		t.Errorf("after a change: %+v", after)
	}

	used := w.CountUnits(func() { testkit.Call(w.Routes(), catalog.GetStandingsFunction(), "/leagues/3/standings", "", "") })
	if used.Reads > 2 {
		t.Errorf("the table costs %g read units, want at most 2", used.Reads)
	}
}
