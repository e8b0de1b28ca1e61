package match_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// TestListLeagueMatches: pages of any size list each match of the league once.
func TestListLeagueMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	want := map[string]bool{}

	for i := range 30 {
		f := w.AddFixture(fmt.Sprint(100 + i))
		if i%3 == 0 {
			f.LeagueID = "4"
			testkit.PutRows(w.World, tables.Fixtures, f)

			continue
		}

		want[f.MatchID] = true
	}

	routes := w.Routes()

	for _, limit := range []int{1, 7, 20, 100} {
		got, target := map[string]bool{}, fmt.Sprintf("/admin/matches?leagueId=3&limit=%d", limit)

		next, pages := "", 0
		for ; pages == 0 || next != ""; pages++ {
			out := testkit.Call(routes, match.ListLeagueMatchesFunction(), target+next, testkit.Administrator, "")

			var page struct {
				Matches []match.Match
				Next    string
			}
			testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))

			if len(page.Matches) > limit || page.Matches == nil {
				t.Fatalf("limit %d: page %s, want a list of at most %[1]d", limit, out.Body)
			}

			for _, m := range page.Matches {
				if got[m.ID] || m.LeagueID != "3" {
					t.Errorf("match %s is listed twice, or belongs to another league", m.ID)
				}

				got[m.ID] = true
			}

			if next = page.Next; next != "" {
				next = "&cursor=" + next
			}
		}

		if !maps.Equal(got, want) || pages != (20+limit-1)/limit {
			t.Errorf("limit %d: %d pages, want %d; matches (-want +got):\n%s", limit, pages, (20+limit-1)/limit, cmp.Diff(want, got))
		}
	}

	for target, field := range map[string]string{
		"/admin/matches": "query.leagueId", "/admin/matches?leagueId=x": "query.leagueId", "/admin/matches?leagueId=3&limit=101": "query.limit",
		"/admin/matches?leagueId=3&cursor=x": "query.cursor", "/admin/matches?leagueId=3&active=1": "query.active",
	} {
		if err := testkit.CheckProblemField(testkit.Call(routes, match.ListLeagueMatchesFunction(), target, testkit.Administrator, ""),
			http.StatusUnprocessableEntity, field); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestScanIsBounded: a request makes at most scanPages calls, and returns a cursor if
// the table is longer.
func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var all []match.Fixture
	for i := range match.ScanPages*match.ScanRows + 1 {
		all = append(all, match.Fixture{
			MatchID:    fmt.Sprint(i + 1),
			LeagueCode: "ODI",
			LeagueID:   "4",
			StartTime:  crickettest.KickOff.Format(tables.TimeLayout),
		})
	}

	testkit.PutRows(w.World, tables.Fixtures, all...)
	routes := w.Routes()
	page := struct{ Next string }{}

	calls := w.CountCalls(func() {
		out := testkit.Call(routes, match.ListLeagueMatchesFunction(), "/admin/matches?leagueId=3", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))

		if !strings.Contains(out.Body, `"matches":[]`) {
			t.Errorf("got %s", out.Body)
		}
	})
	if calls["Scan"] != match.ScanPages || page.Next == "" {
		t.Errorf("calls %v and cursor %q, want %d scans and a cursor", calls, page.Next, match.ScanPages)
	}

	out := testkit.Call(routes, match.ListLeagueMatchesFunction(), "/admin/matches?leagueId=3&cursor="+page.Next, testkit.Administrator, "")
	if strings.Contains(out.Body, "next") {
		t.Errorf("last page: %s, want no cursor", out.Body)
	}
}
