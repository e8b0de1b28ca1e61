package match_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// TestGetMatchByPhase: the phase decides the Cache-Control of a match and whether it has
// a score. The ETag of an answer is a validator.
func TestGetMatchByPhase(t *testing.T) {
	t.Parallel()
	routes := crickettest.NewWithMatches(t).Routes()

	type page struct {
		match.Match
		SeasonTeams []catalog.TeamRef
		Score       *struct{ Innings []struct{ Runs int } }
	}

	for id, want := range map[string]struct{ phase, cache, score string }{
		"7": {"live", match.CacheLive, "4/0"}, "8": {"upcoming", match.CacheIdle, ""}, "9": {"closed", match.CacheOver, ""},
	} {
		got, header := crickettest.Get[page](t, routes, match.GetMatchFunction(), "/matches/"+id)
		if got.ID != id || string(got.Phase) != want.phase || header.Get("Cache-Control") != want.cache || got.Local.Score != want.score {
			t.Errorf("match %s: %+v with headers %v, want %+v", id, got, header, want)
		}

		if got.LeagueName != "The League" || got.Local.Name != "Harbour" || got.Visitor.Code != "VAL" || len(got.SeasonTeams) != 2 {
			t.Errorf("match %s: %+v, want the names of the catalog and two season teams", id, got)
		}

		if (got.Score != nil) != (id != "8") {
			t.Errorf("match %s: score %+v, want one only after the start", id, got.Score)
		}

		again := testkit.Request(http.MethodGet, "/matches/"+id, "", "")

		again.Headers["if-none-match"] = header.Get("ETag")
		if out := routes[match.GetMatchFunction().Name](again); header.Get("ETag") == "" || out.StatusCode != http.StatusNotModified ||
			out.Body != "" {
			t.Errorf("match %s with If-None-Match: %d %q, want 304 without a body", id, out.StatusCode, out.Body)
		}
	}
}

// TestResultsAreKept: the score of a match that is over is served for years, one of a match
// that was never finished for 30 days.
func TestResultsAreKept(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	routes := w.Routes()

	for phase, want := range map[sportmonks.Phase]bool{sportmonks.Result: true, sportmonks.Live: false} {
		row, err := match.NewScoreRow(f, score.State{
			ID:      "7",
			Phase:   phase,
			Local:   score.Team{ID: f.LocalTeamID},
			Innings: []score.Innings{{Number: 1, TeamID: f.LocalTeamID, Runs: 7}},
		}, 1, crickettest.KickOff)
		testkit.Must(t, err)
		testkit.PutRows(w.World, tables.FixtureCache, row)
		w.MoveClock(crickettest.KickOff.AddDate(3, 0, 0))

		page := testkit.Decode[struct{ Score *score.State }](w.World, testkit.Call(routes, match.GetMatchFunction(), "/matches/7", "", ""))
		if got := page.Score != nil; got != want {
			t.Errorf("three years after the phase %s the score is served: %v, want %v", phase, got, want)
		}

		listed := func() string {
			out := testkit.Decode[struct{ Matches []match.Match }](w.World,
				testkit.Call(routes, match.ListMatchesFunction(), "/matches?ids=7", "", ""))
			return out.Matches[0].Local.Score
		}
		if got := listed(); got != map[bool]string{true: "7/0"}[want] {
			t.Errorf("three years after the phase %s the score is listed as %q, want it listed: %v", phase, got, want)
		}
	}
}

// TestExpiredScoreIsNotListed: a list has the score of a match until the second of its expiry.
func TestExpiredScoreIsNotListed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	row, err := match.NewScoreRow(f, score.State{
		ID:      "7",
		Phase:   sportmonks.Live,
		Local:   score.Team{ID: f.LocalTeamID},
		Innings: []score.Innings{{Number: 1, TeamID: f.LocalTeamID, Runs: 7}},
	}, 1, crickettest.KickOff)
	testkit.Must(t, err)
	testkit.PutRows(w.World, tables.FixtureCache, row)

	routes := w.Routes()
	for _, c := range []struct {
		at   int64
		want string
	}{{row.TTL - 1, "7/0"}, {row.TTL, ""}} {
		w.MoveClock(time.Unix(c.at, 0))

		out := testkit.Decode[struct{ Matches []match.Match }](w.World,
			testkit.Call(routes, match.ListMatchesFunction(), "/matches?ids=7", "", ""))
		if got := out.Matches[0].Local.Score; got != c.want {
			t.Errorf("%d s before the expiry: the score is %q, want %q", row.TTL-c.at, got, c.want)
		}
	}
}

// TestGetDisplay: each perspective gets its stored display. An expired display is built
// again with the time of its state.
func TestGetDisplay(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	routes := w.Routes()

	for _, view := range []string{"11", "12", match.Neutral, ""} {
		query := ""

		stored := match.DisplayKey("7", match.Neutral)
		if view != "" {
			query, stored = "?team="+view, match.DisplayKey("7", view)
		}

		out := testkit.Call(routes, match.GetDisplayFunction(), "/matches/7/display"+query, "", "")

		var got, want any
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &got))
		testkit.Must(t, json.Unmarshal([]byte(testkit.Row[match.DisplayRow](w.World, tables.Displays, stored).Display), &want))

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("perspective %q (-want +got):\n%s", view, diff)
		}

		if got := testkit.Header(out).Get("Cache-Control"); got != match.CacheLive {
			t.Errorf("perspective %q: Cache-Control %q, want %q", view, got, match.CacheLive)
		}
	}

	// The rebuilt display has the time of its state, so that the next state is newer.
	was := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11"))
	old := was
	old.TTL, old.Display = w.Clock.Now().Unix(), `{}`
	testkit.PutRows(w.World, tables.Displays, old)
	w.MoveClock(crickettest.At(1).Add(-time.Millisecond))

	for range 2 {
		out := testkit.Call(routes, match.GetDisplayFunction(), "/matches/7/display?team=11", "", "")
		if out.StatusCode != http.StatusOK || !strings.Contains(out.Body, `"score":"4/0"`) {
			t.Errorf("expired display: %d %s, want 200 and a display with the score", out.StatusCode, out.Body)
		}
	}

	w.MoveClock(w.Clock.Now().Add(match.KeepShown)) // it expires now, and is rebuilt once more

	if out := testkit.Call(routes, match.GetDisplayFunction(), "/matches/7/display?team=11", "", ""); out.StatusCode != http.StatusOK {
		t.Errorf("a display that expires now: %d %s", out.StatusCode, out.Body)
	}

	is := testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", "11"))

	was.TTL = w.Clock.Now().Add(match.KeepShown).Unix()
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("rebuilt display (-want +got):\n%s", diff)
	}

	if out := testkit.Call(routes, match.GetDisplayFunction(), "/matches/8/display", "", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("match without a score: %d, want 404", out.StatusCode)
	}
}

// TestListMatches: every kind of query lists its matches once, on pages of any size.
func TestListMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	var want []string

	for i := range 25 {
		f := w.AddFixture(fmt.Sprint(100 + i))
		f.StartTime = crickettest.KickOff.Add(time.Duration(i/2) * time.Hour).Format(tables.TimeLayout) // two of each time
		testkit.PutRows(w.World, tables.Fixtures, f)
		c := match.ScoreRow{
			MatchID:    f.MatchID,
			LeagueID:   f.LeagueID,
			StartingAt: f.StartTime,
			StateJSON:  `{}`,
			TTL:        crickettest.KickOff.Add(time.Hour).Unix(),
		}
		testkit.PutRows(w.World, tables.FixtureCache, c)

		want = append(want, f.MatchID)
	}

	stale := w.AddFixture("200")
	testkit.PutRows(w.World, tables.FixtureCache,
		match.ScoreRow{MatchID: stale.MatchID, LeagueID: "3", StartingAt: stale.StartTime, StateJSON: `{}`, TTL: 1})
	old := w.AddFixture("300") // a result of last week
	old.StartTime = crickettest.KickOff.Add(-8 * 24 * time.Hour).Format(tables.TimeLayout)
	testkit.PutRows(w.World, tables.Fixtures, old)
	testkit.PutRows(w.World, tables.FixtureCache,
		match.ScoreRow{
			MatchID:    old.MatchID,
			LeagueID:   "3",
			StartingAt: old.StartTime,
			StateJSON:  `{}`,
			TTL:        crickettest.KickOff.Add(time.Hour).Unix(),
		})
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
			page, header := crickettest.Get[list](t, routes, match.ListMatchesFunction(), "/matches?"+query+after)

			_, text, _ := strings.Cut(query, "&limit=")
			if limit, err := strconv.Atoi(text); err == nil && !strings.HasPrefix(query, "ids=") && len(page.Matches) > limit {
				t.Errorf("%s: a page of %d matches", query, len(page.Matches))
			}

			if header.Get("Cache-Control") != match.CacheIdle || page.Matches == nil {
				t.Errorf("%s: %v with headers %v, want a list with Cache-Control %q", query, page, header, match.CacheIdle)
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

		if diff := cmp.Diff(all, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// TestMatchesByIDAreInTheOrderOfTheirStarts, and then of their ids.
func TestMatchesByIDAreInTheOrderOfTheirStarts(t *testing.T) {
	t.Parallel()

	w := crickettest.New(t)
	for id, after := range map[string]time.Duration{"7": time.Hour, "8": 0, "9": 2 * time.Hour, "10": time.Hour} {
		f := w.AddFixture(id)
		f.StartTime = crickettest.KickOff.Add(after).Format(tables.TimeLayout)
		testkit.PutRows(w.World, tables.Fixtures, f)
	}

	page, _ := crickettest.Get[struct{ Matches []match.Match }](t, w.Routes(), match.ListMatchesFunction(), "/matches?ids=7,8,9,10")

	var got []string
	for _, m := range page.Matches {
		got = append(got, m.ID)
	}

	if want := []string{"8", "10", "7", "9"}; !slices.Equal(got, want) {
		t.Errorf("matches (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestLongestRangeOfMatches: a range of times has at most 31 days.
func TestLongestRangeOfMatches(t *testing.T) {
	t.Parallel()

	routes := crickettest.New(t).Routes()
	for to, want := range map[string]int{
		"2026-05-31T23:59:59Z": http.StatusBadRequest, "2026-06-01T00:00:00Z": http.StatusOK,
		"2026-07-02T00:00:00Z": http.StatusOK, "2026-07-02T00:00:01Z": http.StatusBadRequest,
	} {
		out := testkit.Call(routes, match.ListMatchesFunction(), "/matches?league=T20&from=2026-06-01T00:00:00Z&to="+to, "", "")
		if out.StatusCode != want || want != http.StatusOK && !strings.Contains(out.Body, "query.to") {
			t.Errorf("up to %s: %d %s, want %d", to, out.StatusCode, out.Body, want)
		}
	}
}

// TestListWithLiveMatchIsCachedForASlot: one live match shortens the cache time of the
// list.
func TestListWithLiveMatchIsCachedForASlot(t *testing.T) {
	t.Parallel()
	routes := crickettest.NewWithMatches(t).Routes()

	_, header := crickettest.Get[any](t, routes, match.ListMatchesFunction(), "/matches?ids=8,7")
	if got := header.Get("Cache-Control"); got != match.CacheLive {
		t.Errorf("Cache-Control %q, want %q", got, match.CacheLive)
	}
}

// TestExpiryFollowsADelayedMatch: what belongs to a match is kept after its latest
// possible end, which is counted from now once the match should have begun.
func TestExpiryFollowsADelayedMatch(t *testing.T) {
	t.Parallel()

	start := crickettest.KickOff
	for kind, longest := range map[string]time.Duration{"T20": 24 * time.Hour, "Test": 6 * 24 * time.Hour} {
		f := match.Fixture{Type: kind, StartTime: start.Format(tables.TimeLayout)}
		for now, from := range map[time.Time]time.Time{start.Add(-time.Hour): start, start.Add(72 * time.Hour): start.Add(72 * time.Hour)} {
			if got, want := f.Expiry(now, match.KeepActivity), from.Add(longest+match.KeepActivity).Unix(); got != want {
				t.Errorf("%s at %v: expires at %d, want %d", kind, now, got, want)
			}
		}
	}
}

// TestDisplayBeforePlayFollowsTheSchedule: the display of a match that was never polled
// shows each change of the schedule.
func TestDisplayBeforePlayFollowsTheSchedule(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "8")
	routes := w.Routes()

	var got []string

	for _, status := range []string{"NS", "Postp.", "Delayed"} {
		w.SetFixtures(crickettest.Payload(f, status))
		testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
		d, _ := crickettest.Get[score.Display](t, routes, match.GetDisplayFunction(), "/matches/8/display")
		got = append(got, d.Status+", "+d.Headline)
	}

	if diff := cmp.Diff([]string{"Not started, Not started", "Postponed, Postponed", "Start delayed, Start delayed"}, got); diff != "" {
		t.Errorf("status and headline after each sync (-want +got):\n%s", diff)
	}
}

// TestScoreThatArrivesMeanwhile: a sync stores the first score of a match while its display
// is read. The answer has the display, which is not stored: the match was never polled.
func TestScoreThatArrivesMeanwhile(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	w.SetFixtures(crickettest.Payload(testkit.Row[match.Fixture](w.World, tables.Fixtures, "8"), "NS"))
	w.Trace = func(fn spec.Function, _ string, body []byte) {
		if fn.Name == match.GetDisplayFunction().Name && bytes.Contains(body, []byte(tables.Displays.Name)) {
			testkit.Must(t, testkit.Open(w.World, schedule.SyncFixturesFunction(), schedule.OpenSyncer).SyncFixtures(w.NewContext()))
		}
	}
	out, err := testkit.Open(w.World, match.GetDisplayFunction(), match.OpenMatches).GetDisplay(w.NewContext(),
		&match.GetDisplay{ID: "8", Team: match.Neutral})
	testkit.Must(t, err)

	if out.Body.Status != "Not started" {
		t.Errorf("the display is %+v, want that of a match that has not started", out.Body)
	}

	for _, d := range testkit.Rows[match.DisplayRow](w.World, tables.Displays) {
		if strings.HasPrefix(d.CacheKey, match.DisplayKey("8", "")) {
			t.Errorf("the display %+v is stored", d)
		}
	}
}
