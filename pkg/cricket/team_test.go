package cricket

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/kit/fault"
)

func TestTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(teams,
		teamRow{team{"11", "HAR", "Harbour", "h.png", true}, "", "", "#0b5cad"},
		teamRow{team{"12", "VAL", "Valley", "", false}, "A Valley", "V", ""},
	)
	apis := w.fleetAPI()
	want := []TeamProfile{
		{ID: "12", Title: "A Valley", ShortName: "V", Name: "Valley", Code: "VAL"},
		{ID: "11", Title: "Harbour", ShortName: "HAR", Color: "#0b5cad", Name: "Harbour", Code: "HAR", Image: "h.png", National: true},
	}
	if got, header := get[lists](t, apis["cricket/list-teams"], "/teams"); !slices.Equal(got.Teams, want) || got.Next != "" || header.Get("Cache-Control") != cacheReference {
		t.Errorf("got %+v with %v, want %+v", got, header, want)
	}
	for _, v := range want {
		if got, _ := get[TeamProfile](t, apis["cricket/get-team"], "/teams/"+v.ID); got != v {
			t.Errorf("got %+v, want %+v", got, v)
		}
	}
	for target, status := range map[string]int{"/teams/99": 404, "/teams/x": 422} {
		if err := blames(ask(apis, GetTeamFunction, target, "", ""), status, map[int]string{422: "path.id"}[status]); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestPageAfter: page by page is the whole, in order, whatever the pages' size.
func TestPageAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 0, 20, rapid.ID[int]).Draw(t, "all")
		limit := rapid.IntRange(1, 8).Draw(t, "limit")
		id := func(n int) string { return fmt.Sprint(n) }
		got, after, pages := []int{}, "", 0
		for ; pages == 0 || after != ""; pages++ {
			page, next, err := pageAfter(all, id, after, limit)
			if err != nil || page == nil || len(page) > limit {
				t.Fatalf("got %v, %v", page, err)
			}
			got, after = append(got, page...), next
		}
		if !slices.Equal(got, all) || pages != max(1, (len(all)+limit-1)/limit) {
			t.Fatalf("got %v on %d pages, want %v", got, pages, all)
		}
		if _, _, err := pageAfter(all, id, "100", limit); fault.Of(err) != fault.Invalid {
			t.Fatalf("after what is not there: %v", err)
		}
	})
}
