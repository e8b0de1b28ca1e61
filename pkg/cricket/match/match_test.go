package match_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

func TestGetMatch(t *testing.T) {
	t.Parallel()
	routes := crickettest.Served(t).Routes()
	type page struct {
		match.Match
		SeasonTeams []catalog.TeamRef
		Score       *struct{ Innings []struct{ Runs int } }
	}
	for id, want := range map[string]struct{ phase, cache, score string }{
		"7": {"live", match.CacheLive, "4/0"}, "8": {"upcoming", match.CacheIdle, ""}, "9": {"closed", match.CacheOver, ""},
	} {
		got, header := crickettest.Get[page](t, routes, match.GetMatchFunction, "/matches/"+id)
		if got.ID != id || string(got.Phase) != want.phase || header.Get("Cache-Control") != want.cache || got.Local.Score != want.score {
			t.Errorf("match %s is %+v with %v", id, got, header)
		}
		if got.LeagueName != "The League" || got.Local.Name != "Harbour" || got.Visitor.Code != "VAL" || len(got.SeasonTeams) != 2 {
			t.Errorf("match %s is not enriched: %+v", id, got)
		}
		if (got.Score != nil) != (id != "8") {
			t.Errorf("match %s has the score %+v", id, got.Score)
		}
		again := testkit.Request(http.MethodGet, "/matches/"+id, "", "")
		again.Headers["if-none-match"] = header.Get("ETag")
		if out := routes[match.GetMatchFunction.Name](again); header.Get("ETag") == "" || out.StatusCode != http.StatusNotModified || out.Body != "" {
			t.Errorf("the same match answers %d %q to its tag", out.StatusCode, out.Body)
		}
	}
}

func TestGetDisplay(t *testing.T) {
	t.Parallel()
	w := crickettest.Served(t)
	routes := w.Routes()
	for _, view := range []string{"11", "12", match.Neutral, ""} {
		query := ""
		stored := match.DisplayKey("7", match.Neutral)
		if view != "" {
			query, stored = "?team="+view, match.DisplayKey("7", view)
		}
		out := testkit.Ask(routes, match.GetDisplayFunction, "/matches/7/display"+query, "", "")
		var got, want any
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &got))
		testkit.Must(t, json.Unmarshal([]byte(testkit.Row[match.DisplayRow](w.World, tables.Displays, stored).Display), &want))
		if fmt.Sprint(got) != fmt.Sprint(want) || testkit.Header(out).Get("Cache-Control") != match.CacheLive {
			t.Errorf("%q is shown %v, want %v", view, got, want)
		}
	}

	// One that has expired is built again, with the time of its state, so that
	// the state that follows is newer.
	was := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11"))
	old := was
	old.TTL, old.Display = w.Clock.Now().Unix(), `{}`
	testkit.Put(w.World, tables.Displays, old)
	w.To(crickettest.At(1).Add(-time.Millisecond))
	for range 2 {
		out := testkit.Ask(routes, match.GetDisplayFunction, "/matches/7/display?team=11", "", "")
		if out.StatusCode != http.StatusOK || len(out.Body) < 50 {
			t.Errorf("an expired display answers %d %s", out.StatusCode, out.Body)
		}
	}
	is := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11"))
	if was.TTL, is.TTL = 0, 0; is.Hash != was.Hash || is.At > crickettest.At(0).Unix() || is.Slot != was.Slot || is.Playing != was.Playing {
		t.Errorf("it was built as %+v, want %+v", is, was)
	}
	if out := testkit.Ask(routes, match.GetDisplayFunction, "/matches/8/display", "", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("a match without a score answers %d", out.StatusCode)
	}
}

func TestListMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	var want []string
	for i := range 25 {
		f := w.Scripted(fmt.Sprint(100 + i))
		f.StartTime = crickettest.KickOff.Add(time.Duration(i/2) * time.Hour).Format(tables.TimeLayout) // two of each time
		testkit.Put(w.World, tables.Fixtures, f)
		c := match.ScoreRow{MatchID: f.MatchID, LeagueID: f.LeagueID, StartingAt: f.StartTime, StateJSON: `{}`, TTL: crickettest.KickOff.Add(time.Hour).Unix()}
		testkit.Put(w.World, tables.FixtureCache, c)
		want = append(want, f.MatchID)
	}
	stale := w.Scripted("200")
	testkit.Put(w.World, tables.FixtureCache, match.ScoreRow{MatchID: stale.MatchID, LeagueID: "3", StartingAt: stale.StartTime, StateJSON: `{}`, TTL: 1})
	routes := w.Routes()
	type list struct {
		Matches []match.Match
		Next    string
	}
	for query, all := range map[string][]string{
		"league=T20&from=2026-06-01T12:00:00Z&to=2026-06-01T23:00:00Z&limit=7":       append([]string{"200"}, want[:24]...),
		"league=T20&from=2026-06-01T13:00:00Z&to=2026-06-01T14:00:00Z":               want[2:6],
		"league=T20&from=2026-06-01T14:00:00%2B01:00&to=2026-06-01T15:00:00%2B01:00": want[2:6],
		"league=T20&from=2026-06-02T13:00:00Z&to=2026-06-02T14:00:00Z":               nil,
		"league=ODI&from=2026-06-01T12:00:00Z&to=2026-06-01T23:00:00Z":               nil,
		"league=3&limit=4":                want,
		"league=3":                        want,
		"league=4":                        nil,
		"ids=103,101,102,101,999&limit=1": want[1:4],
	} {
		var got []string
		for after := ""; ; {
			page, header := crickettest.Get[list](t, routes, match.ListMatchesFunction, "/matches?"+query+after)
			if header.Get("Cache-Control") != match.CacheIdle || page.Matches == nil {
				t.Errorf("%s answers %v, %v", query, page, header)
			}
			for _, m := range page.Matches {
				got = append(got, m.ID)
			}
			if page.Next == "" {
				break
			}
			after = "&cursor=" + url.QueryEscape(page.Next)
		}
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Errorf("%s lists %q, want %q", query, got, all)
		}
	}
}

func TestListLiveMatches(t *testing.T) {
	t.Parallel()
	routes := crickettest.Served(t).Routes()
	_, header := crickettest.Get[any](t, routes, match.ListMatchesFunction, "/matches?ids=8,7")
	if got := header.Get("Cache-Control"); got != match.CacheLive {
		t.Errorf("a list with a live match is kept %q", got)
	}
}
