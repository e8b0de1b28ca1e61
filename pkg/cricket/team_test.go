package cricket

import (
	"slices"
	"testing"

	"matchday/infra/testkit"
)

func TestTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.Put(w.World, teams,
		teamRow{team{"11", "HAR", "Harbour", "h.png", true}, "", "", "#0b5cad"},
		teamRow{team{"12", "VAL", "Valley", "", false}, "A Valley", "V", ""},
	)
	routes := w.routes()
	want := []TeamProfile{
		{ID: "12", Title: "A Valley", ShortName: "V", Name: "Valley", Code: "VAL"},
		{ID: "11", Title: "Harbour", ShortName: "HAR", Color: "#0b5cad", Name: "Harbour", Code: "HAR", Image: "h.png", National: true},
	}
	if got, header := get[lists](t, routes, ListTeamsFunction, "/teams"); !slices.Equal(got.Teams, want) || got.Next != "" || header.Get("Cache-Control") != cacheReference {
		t.Errorf("got %+v with %v, want %+v", got, header, want)
	}
	for _, v := range want {
		if got, _ := get[TeamProfile](t, routes, GetTeamFunction, "/teams/"+v.ID); got != v {
			t.Errorf("got %+v, want %+v", got, v)
		}
	}
	for target, status := range map[string]int{"/teams/99": 404, "/teams/x": 422} {
		if err := testkit.Blames(testkit.Ask(routes, GetTeamFunction, target, "", ""), status, map[int]string{422: "path.id"}[status]); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}
