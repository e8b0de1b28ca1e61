package catalog_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
)

// TestTeamsHaveTitlesOfAdministrators: the API prefers the title and short name of an
// administrator to the name and code of the provider.
func TestTeamsHaveTitlesOfAdministrators(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.PutRows(w.World, tables.Teams,
		catalog.TeamRow{
			ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "HAR", Name: "Harbour", Image: "h.png", National: true},
			Title:        "",
			ShortName:    "",
			Color:        "#0b5cad",
		},
		catalog.TeamRow{
			ProvidedTeam: catalog.ProvidedTeam{TeamID: "12", Code: "VAL", Name: "Valley", Image: "", National: false},
			Title:        "A Valley",
			ShortName:    "V",
			Color:        "",
		},
	)
	routes := w.Routes()
	want := []catalog.TeamProfile{
		{ID: "12", Title: "A Valley", ShortName: "V", Name: "Valley", Code: "VAL"},
		{ID: "11", Title: "Harbour", ShortName: "HAR", Color: "#0b5cad", Name: "Harbour", Code: "HAR", Image: "h.png", National: true},
	}

	got, header := crickettest.Get[lists](t, routes, catalog.ListTeamsFunction(), "/teams")
	if diff := cmp.Diff(lists{Teams: want}, got); diff != "" {
		t.Errorf("/teams (-want +got):\n%s", diff)
	}

	if got := header.Get("Cache-Control"); got != catalog.CacheReference {
		t.Errorf("Cache-Control of /teams: %q, want %q", got, catalog.CacheReference)
	}

	for _, v := range want {
		got, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction(), "/teams/"+v.ID)
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("/teams/%s (-want +got):\n%s", v.ID, diff)
		}
	}

	for _, c := range []struct {
		target string
		status int
		field  string
	}{
		{"/teams/99", http.StatusNotFound, ""},
		{"/teams/x", http.StatusUnprocessableEntity, "path.id"},
	} {
		if err := testkit.CheckProblemField(testkit.Call(routes, catalog.GetTeamFunction(), c.target, "", ""), c.status, c.field); err != nil {
			t.Errorf("%s: %v", c.target, err)
		}
	}
}
