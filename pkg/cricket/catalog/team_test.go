package catalog_test

import (
	"slices"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
)

func TestTeams(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	testkit.Put(w.World, tables.Teams,
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11", Code: "HAR", Name: "Harbour", Image: "h.png", National: true}, Title: "", ShortName: "", Color: "#0b5cad"},
		catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "12", Code: "VAL", Name: "Valley", Image: "", National: false}, Title: "A Valley", ShortName: "V", Color: ""},
	)
	routes := w.Routes()
	want := []catalog.TeamProfile{
		{ID: "12", Title: "A Valley", ShortName: "V", Name: "Valley", Code: "VAL"},
		{ID: "11", Title: "Harbour", ShortName: "HAR", Color: "#0b5cad", Name: "Harbour", Code: "HAR", Image: "h.png", National: true},
	}
	if got, header := crickettest.Get[lists](t, routes, catalog.ListTeamsFunction, "/teams"); !slices.Equal(got.Teams, want) || got.Next != "" || header.Get("Cache-Control") != catalog.CacheReference {
		t.Errorf("got %+v with %v, want %+v", got, header, want)
	}
	for _, v := range want {
		if got, _ := crickettest.Get[catalog.TeamProfile](t, routes, catalog.GetTeamFunction, "/teams/"+v.ID); got != v {
			t.Errorf("got %+v, want %+v", got, v)
		}
	}
	for target, status := range map[string]int{"/teams/99": 404, "/teams/x": 422} {
		if err := testkit.Blames(testkit.Ask(routes, catalog.GetTeamFunction, target, "", ""), status, map[int]string{422: "path.id"}[status]); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}
