package match_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

func TestListLeagueMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	want := map[string]bool{}
	for i := range 30 {
		f := w.Scripted(fmt.Sprint(100 + i))
		if i%3 == 0 {
			f.LeagueID = "4"
			testkit.Put(w.World, tables.Fixtures, f)
			continue
		}
		want[f.MatchID] = true
	}
	routes := w.Routes()
	for _, limit := range []int{1, 7, 20, 100} {
		got, target := map[string]bool{}, fmt.Sprintf("/admin/matches?leagueId=3&limit=%d", limit)
		next, pages := "", 0
		for ; pages == 0 || next != ""; pages++ {
			out := testkit.Ask(routes, match.ListLeagueMatchesFunction, target+next, testkit.Administrator, "")
			var page struct {
				Matches []match.Match
				Next    string
			}
			testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))
			if len(page.Matches) > limit || page.Matches == nil {
				t.Fatalf("a page of %d has %s", limit, out.Body)
			}
			for _, m := range page.Matches {
				if got[m.ID] || m.LeagueID != "3" {
					t.Errorf("%s comes again, or is of another league", m.ID)
				}
				got[m.ID] = true
			}
			if next = page.Next; next != "" {
				next = "&cursor=" + next
			}
		}
		if !maps.Equal(got, want) || pages != (20+limit-1)/limit {
			t.Errorf("by %d: %d matches on %d pages, want %d", limit, len(got), pages, len(want))
		}
	}
	for target, field := range map[string]string{
		"/admin/matches": "query.leagueId", "/admin/matches?leagueId=x": "query.leagueId", "/admin/matches?leagueId=3&limit=101": "query.limit",
		"/admin/matches?leagueId=3&cursor=x": "query.cursor", "/admin/matches?leagueId=3&active=1": "query.active",
	} {
		if err := testkit.Blames(testkit.Ask(routes, match.ListLeagueMatchesFunction, target, testkit.Administrator, ""), http.StatusUnprocessableEntity, field); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestScanIsBounded reads a table that is longer than what one request reads.
func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	var all []match.Fixture
	for i := range match.ScanPages*match.ScanRows + 1 {
		all = append(all, match.Fixture{MatchID: fmt.Sprint(i + 1), LeagueCode: "ODI", LeagueID: "4", StartTime: crickettest.KickOff.Format(tables.TimeLayout)})
	}
	testkit.Put(w.World, tables.Fixtures, all...)
	routes := w.Routes()
	page := struct{ Next string }{}
	calls := w.Count(func() {
		out := testkit.Ask(routes, match.ListLeagueMatchesFunction, "/admin/matches?leagueId=3", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))
		if !strings.Contains(out.Body, `"matches":[]`) {
			t.Errorf("got %s", out.Body)
		}
	})
	if calls["Scan"] != match.ScanPages || page.Next == "" {
		t.Errorf("it makes %v and goes on after %q", calls, page.Next)
	}
	out := testkit.Ask(routes, match.ListLeagueMatchesFunction, "/admin/matches?leagueId=3&cursor="+page.Next, testkit.Administrator, "")
	if strings.Contains(out.Body, "next") {
		t.Errorf("the last page is %s", out.Body)
	}
}
