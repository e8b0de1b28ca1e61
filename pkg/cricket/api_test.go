package cricket

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"
)

// routes is every route of the room, by function.
func (w *world) routes() map[string]testkit.Route {
	return map[string]testkit.Route{
		GetMatchFunction.Name:          testkit.Serve(w.World, GetMatchFunction, OpenMatches, (*Matches).GetMatch),
		ListMatchesFunction.Name:       testkit.Serve(w.World, ListMatchesFunction, OpenMatches, (*Matches).ListMatches),
		GetDisplayFunction.Name:        testkit.Serve(w.World, GetDisplayFunction, OpenMatches, (*Matches).GetDisplay),
		ListBallsFunction.Name:         testkit.Serve(w.World, ListBallsFunction, OpenMatches, (*Matches).ListBalls),
		ListLeagueMatchesFunction.Name: testkit.Serve(w.World, ListLeagueMatchesFunction, OpenMatches, (*Matches).ListLeagueMatches),
		ListTeamsFunction.Name:         testkit.Serve(w.World, ListTeamsFunction, OpenReference, (*Reference).ListTeams),
		GetTeamFunction.Name:           testkit.Serve(w.World, GetTeamFunction, OpenReference, (*Reference).GetTeam),
		UpdateTeamFunction.Name:        testkit.Serve(w.World, UpdateTeamFunction, OpenReference, (*Reference).UpdateTeam),
		ListSeasonTeamsFunction.Name:   testkit.Serve(w.World, ListSeasonTeamsFunction, OpenReference, (*Reference).ListSeasonTeams),
		ListLeaguesFunction.Name:       testkit.Serve(w.World, ListLeaguesFunction, OpenReference, (*Reference).ListLeagues),
		GetLeagueFunction.Name:         testkit.Serve(w.World, GetLeagueFunction, OpenReference, (*Reference).GetLeague),
		UpdateLeagueFunction.Name:      testkit.Serve(w.World, UpdateLeagueFunction, OpenReference, (*Reference).UpdateLeague),
		DeleteLeagueFunction.Name:      testkit.Serve(w.World, DeleteLeagueFunction, OpenReference, (*Reference).DeleteLeague),
		RegisterDeviceFunction.Name:    testkit.Serve(w.World, RegisterDeviceFunction, OpenDevices, (*Devices).RegisterDevice),
		GetDeviceFunction.Name:         testkit.Serve(w.World, GetDeviceFunction, OpenDevices, (*Devices).GetDevice),
		DeleteDeviceFunction.Name:      testkit.Serve(w.World, DeleteDeviceFunction, OpenDevices, (*Devices).DeleteDevice),
		UpdatePushToStartFunction.Name: testkit.Serve(w.World, UpdatePushToStartFunction, OpenDevices, (*Devices).UpdatePushToStart),
		FollowMatchFunction.Name:       testkit.Serve(w.World, FollowMatchFunction, OpenFollows, (*Follows).FollowMatch),
		GetFollowFunction.Name:         testkit.Serve(w.World, GetFollowFunction, OpenFollows, (*Follows).GetFollow),
		UpdateFollowFunction.Name:      testkit.Serve(w.World, UpdateFollowFunction, OpenFollows, (*Follows).UpdateFollow),
		UnfollowMatchFunction.Name:     testkit.Serve(w.World, UnfollowMatchFunction, OpenFollows, (*Follows).UnfollowMatch),
		StartActivityFunction.Name:     testkit.Serve(w.World, StartActivityFunction, OpenActivities, (*Activities).StartActivity),
		EndActivityFunction.Name:       testkit.Serve(w.World, EndActivityFunction, OpenActivities, (*Activities).EndActivity),
		GetPreferencesFunction.Name:    testkit.Serve(w.World, GetPreferencesFunction, OpenSettings, (*Settings).GetPreferences),
		PutPreferencesFunction.Name:    testkit.Serve(w.World, PutPreferencesFunction, OpenSettings, (*Settings).PutPreferences),
	}
}

// get calls a route as nobody and decodes its answer, which must be 200.
func get[T any](t *testing.T, routes map[string]testkit.Route, fn spec.Function, target string) (v T, header http.Header) {
	t.Helper()
	out := testkit.Ask(routes, fn, target, "", "")
	if out.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d %s", target, out.StatusCode, out.Body)
	}
	testkit.Must(t, json.Unmarshal([]byte(out.Body), &v))
	return v, testkit.Header(out)
}

// served is a world with a live match, 7, one to come, 8, and one that is over, 9.
func served(t *testing.T) *world {
	w := newWorld(t)
	testkit.Put(w.World, leagues, league{LeagueID: "3", Code: "T20", Name: "The League", SeasonID: "5", Active: true})
	testkit.Put(w.World, teams, team{TeamID: "11", Code: "HAR", Name: "Harbour"}, team{TeamID: "12", Code: "VAL", Name: "Valley"})
	testkit.Put(w.World, teamSeasons, seasonTeam{"5", "11", "HAR", "Harbour"}, seasonTeam{"5", "12", "VAL", "Valley"})
	on, coming, done := w.scripted("7"), w.scripted("8"), w.scripted("9")
	w.says(saidOf(on, "1st Innings", ballSaid{id: 1, runs: 4}), saidOf(done, "Aban."))
	w.tickAt(w.ticker(), 0)
	coming.StartTime = kickOff.Add(time.Hour).Format(timeLayout)
	testkit.Put(w.World, fixtures, coming)
	return w
}

func TestGetMatch(t *testing.T) {
	t.Parallel()
	routes := served(t).routes()
	type page struct {
		Match
		SeasonTeams []TeamRef
		Score       *struct{ Innings []struct{ Runs int } }
	}
	for id, want := range map[string]struct{ phase, cache, score string }{
		"7": {"live", cacheLive, "4/0"}, "8": {"upcoming", cacheIdle, ""}, "9": {"closed", cacheOver, ""},
	} {
		got, header := get[page](t, routes, GetMatchFunction, "/matches/"+id)
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
		if out := routes[GetMatchFunction.Name](again); header.Get("ETag") == "" || out.StatusCode != http.StatusNotModified || out.Body != "" {
			t.Errorf("the same match answers %d %q to its tag", out.StatusCode, out.Body)
		}
	}
}

func TestGetDisplay(t *testing.T) {
	t.Parallel()
	w := served(t)
	routes := w.routes()
	for _, view := range []string{"11", "12", neutral, ""} {
		query := ""
		stored := displayKey("7", neutral)
		if view != "" {
			query, stored = "?team="+view, displayKey("7", view)
		}
		out := testkit.Ask(routes, GetDisplayFunction, "/matches/7/display"+query, "", "")
		var got, want any
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &got))
		testkit.Must(t, json.Unmarshal([]byte(testkit.Row[shown](w.World, displays, stored).Display), &want))
		if fmt.Sprint(got) != fmt.Sprint(want) || testkit.Header(out).Get("Cache-Control") != cacheLive {
			t.Errorf("%q is shown %v, want %v", view, got, want)
		}
	}

	// One that has expired is built again, with the time of its state, so that
	// the state that follows is newer.
	was := testkit.Row[shown](w.World, displays, displayKey("7", "11"))
	old := was
	old.TTL, old.Display = w.Clock.Now().Unix(), `{}`
	testkit.Put(w.World, displays, old)
	w.To(at(1).Add(-time.Millisecond))
	for range 2 {
		out := testkit.Ask(routes, GetDisplayFunction, "/matches/7/display?team=11", "", "")
		if out.StatusCode != http.StatusOK || len(out.Body) < 50 {
			t.Errorf("an expired display answers %d %s", out.StatusCode, out.Body)
		}
	}
	is := testkit.Row[shown](w.World, displays, displayKey("7", "11"))
	if was.TTL, is.TTL = 0, 0; is.Hash != was.Hash || is.At > at(0).Unix() || is.Slot != was.Slot || is.Playing != was.Playing {
		t.Errorf("it was built as %+v, want %+v", is, was)
	}
	if out := testkit.Ask(routes, GetDisplayFunction, "/matches/8/display", "", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("a match without a score answers %d", out.StatusCode)
	}
}

func TestListMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 25 {
		f := w.scripted(fmt.Sprint(100 + i))
		f.StartTime = kickOff.Add(time.Duration(i/2) * time.Hour).Format(timeLayout) // two of each time
		testkit.Put(w.World, fixtures, f)
		c := cached{MatchID: f.MatchID, LeagueID: f.LeagueID, StartingAt: f.StartTime, StateJSON: `{}`, TTL: kickOff.Add(time.Hour).Unix()}
		testkit.Put(w.World, fixtureCache, c)
		want = append(want, f.MatchID)
	}
	stale := w.scripted("200")
	testkit.Put(w.World, fixtureCache, cached{MatchID: stale.MatchID, LeagueID: "3", StartingAt: stale.StartTime, StateJSON: `{}`, TTL: 1})
	routes := w.routes()
	type list struct {
		Matches []Match
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
			page, header := get[list](t, routes, ListMatchesFunction, "/matches?"+query+after)
			if header.Get("Cache-Control") != cacheIdle || page.Matches == nil {
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
	routes := served(t).routes()
	_, header := get[any](t, routes, ListMatchesFunction, "/matches?ids=8,7")
	if got := header.Get("Cache-Control"); got != cacheLive {
		t.Errorf("a list with a live match is kept %q", got)
	}
}

// TestRefusals answers whatever is wrong with a request with the place of it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	routes := served(t).routes()
	dates := "/matches?league=T20&from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z"
	body := fmt.Sprintf(`{"pushToken":%q}`, token("fan"))
	for _, c := range []struct {
		fn                 spec.Function
		target, user, body string
		status             int
		field              string
	}{
		{GetMatchFunction, "/matches/1", "", "", 404, ""},
		{GetMatchFunction, "/matches/x", "", "", 422, "path.id"},
		{GetMatchFunction, "/matches/12345678901234567890", "", "", 422, "path.id"},
		{GetMatchFunction, "/matches/7?color=red", "", "", 422, "query.color"},
		{GetDisplayFunction, "/matches/1/display", "", "", 404, ""},
		{GetDisplayFunction, "/matches/x/display", "", "", 422, "path.id"},
		{GetDisplayFunction, "/matches/7/display?team=x", "", "", 422, "query.team"},
		{GetDisplayFunction, "/matches/7/display?team=99", "", "", 400, "query.team"},
		{ListBallsFunction, "/matches/1/balls", "", "", 404, ""},
		{ListBallsFunction, "/matches/7/balls?cursor=x", "", "", 422, "query.cursor"},
		{ListBallsFunction, "/matches/7/balls?cursor=S9-99", "", "", 400, "query.cursor"},
		{ListBallsFunction, "/matches/7/balls?innings=0", "", "", 422, "query.innings"},
		{ListBallsFunction, "/matches/7/balls?innings=x", "", "", 422, "query.innings"},
		{ListBallsFunction, "/matches/7/balls?after=-1", "", "", 422, "query.after"},
		{ListBallsFunction, "/matches/7/balls?after=99999999999999999999", "", "", 422, "query.after"},
		{ListMatchesFunction, "/matches", "", "", 400, "query.ids"},
		{ListMatchesFunction, "/matches?ids=7&league=T20", "", "", 400, "query.ids"},
		{ListMatchesFunction, "/matches?ids=7,x", "", "", 400, "query.ids"},
		{ListMatchesFunction, "/matches?ids=7,,8", "", "", 400, "query.ids"},
		{ListMatchesFunction, "/matches?ids=" + strings.Repeat("1,", 100) + "1", "", "", 422, "query.ids"},
		{ListMatchesFunction, "/matches?league=" + strings.Repeat("x", 33), "", "", 422, "query.league"},
		{ListMatchesFunction, "/matches?league=T20&from=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{ListMatchesFunction, "/matches?league=T20&to=2026-06-01T00:00:00Z", "", "", 400, "query.from"},
		{ListMatchesFunction, "/matches?league=T20&from=yesterday&to=2026-06-01T00:00:00Z", "", "", 422, "query.from"},
		{ListMatchesFunction, "/matches?league=T20&from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{ListMatchesFunction, "/matches?league=T20&from=2026-06-01T00:00:00Z&to=2026-07-02T00:00:01Z", "", "", 400, "query.to"},
		{ListMatchesFunction, "/matches?league=T20&from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59-23:59", "", "", 400, "query.to"},
		{ListMatchesFunction, dates + "&limit=0", "", "", 422, "query.limit"},
		{ListMatchesFunction, dates + "&limit=101", "", "", 422, "query.limit"},
		{ListMatchesFunction, dates + "&cursor=x", "", "", 422, "query.cursor"},
		{ListMatchesFunction, dates + "&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "query.cursor"},
		{ListMatchesFunction, dates + "&cursor=2026-06-03T00:00:00Z/7", "", "", 400, "query.cursor"},
		{ListMatchesFunction, dates + "&cursor=2026-05-31T23:59:59Z/7", "", "", 400, "query.cursor"},
		{ListMatchesFunction, "/matches?league=3&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "query.cursor"},
		{ListMatchesFunction, "/matches?ids=7&cursor=2026-06-01T00:00:00Z/7", "", "", 400, "query.cursor"},
		{StartActivityFunction, "/user/activity/7", "", body, 401, ""},
		{StartActivityFunction, "/user/activity/x", "fan", body, 422, "path.matchId"},
		{StartActivityFunction, "/user/activity/1", "fan", body, 404, ""},
		{StartActivityFunction, "/user/activity/9", "fan", body, 409, ""},
		{StartActivityFunction, "/user/activity/7", "fan", "", 400, ""},
		{StartActivityFunction, "/user/activity/7", "fan", "{", 400, ""},
		{StartActivityFunction, "/user/activity/7", "fan", "[]", 422, "body"},
		{StartActivityFunction, "/user/activity/7", "fan", `{}`, 409, ""},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":""}`, 422, "body.pushToken"},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":"` + token("fan") + `a"}`, 422, "body.pushToken"},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":"beef"}`, 422, "body.pushToken"},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("g", 64) + `"}`, 422, "body.pushToken"},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("0", 63) + `"}`, 422, "body.pushToken"},
		{StartActivityFunction, "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("0", 202) + `"}`, 422, "body.pushToken"},
		{EndActivityFunction, "/user/activity/7?pushToken=" + strings.Repeat("0", 63), "fan", "", 422, "query.pushToken"},
		{ListMatchesFunction, "/matches?ids=7&ids=8", "", "", 422, "query.ids"},
		{ListMatchesFunction, "/matches?league=T20&from=0001-01-01T00:00:00Z", "", "", 400, "query.to"},
		{ListMatchesFunction, "/matches?league=T20&to=0001-01-01T00:00:00Z", "", "", 400, "query.from"},
		{ListMatchesFunction, "/matches?league=T20&from=0001-01-01T00:00:00Z&to=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{StartActivityFunction, "/user/activity/7", "fan", strings.Replace(body, "{", `{"userId":"another",`, 1), 422, "body"},
		{StartActivityFunction, "/user/activity/7", "fan", strings.Replace(body, "{", `{"teamId":"99",`, 1), 400, "body.teamId"},
		{StartActivityFunction, "/user/activity/7", "fan", strings.Replace(body, "{", `{"teamId":"`+strings.Repeat("1", 65<<10)+`",`, 1), 413, ""},
		{EndActivityFunction, "/user/activity/7?pushToken=" + token("fan"), "", "", 401, ""},
		{EndActivityFunction, "/user/activity/7?pushToken=" + token("fan"), "fan", "", 404, ""},
		{EndActivityFunction, "/user/activity/7", "fan", "", 422, "query.pushToken"},
		{EndActivityFunction, "/user/activity/7?pushToken=x", "fan", "", 422, "query.pushToken"},
	} {
		out := testkit.Ask(routes, c.fn, c.target, c.user, c.body)
		var problem testkit.Problem
		if err := json.Unmarshal([]byte(out.Body), &problem); err != nil || problem.Status != out.StatusCode {
			t.Errorf("%s %.90s answers %d %.200s, which is no problem document", c.fn.Name, c.target, out.StatusCode, out.Body)
		}
		if code, ok := strings.CutPrefix(problem.Type, "urn:problem-type:matchday:"); !ok || code == "" {
			t.Errorf("%s %.90s answers the type %q, want one with a code", c.fn.Name, c.target, problem.Type)
		}
		if out.StatusCode != c.status {
			t.Errorf("%s %.90s %.60s answers %d %.300s, want %d", c.fn.Name, c.target, c.body, out.StatusCode, out.Body, c.status)
		}
		named := slices.ContainsFunc(problem.Errors, func(e struct{ Message, Location string }) bool {
			return e.Location == c.field || c.field == "body" && strings.HasPrefix(e.Location, "body")
		})
		if c.field != "" && !named {
			t.Errorf("%s %.90s answers %.300s, which does not name %s", c.fn.Name, c.target, out.Body, c.field)
		}
		if header := testkit.Header(out); header.Get("Content-Type") != "application/problem+json" || header.Get("ETag") != "" {
			t.Errorf("%s %.90s answers with %v", c.fn.Name, c.target, header)
		}
	}
}

// TestProblemCodes: apps decide by the code of a problem.
func TestProblemCodes(t *testing.T) {
	t.Parallel()
	routes := served(t).routes()
	body := fmt.Sprintf(`{"pushToken":%q}`, token("fan"))
	for _, c := range []struct {
		fn                 spec.Function
		target, user, body string
		status             int
		code               string
	}{
		{GetMatchFunction, "/matches/99", "", "", 404, "match_not_found"},
		{ListBallsFunction, "/matches/99/balls", "", "", 404, "match_not_found"},
		{ListBallsFunction, "/matches/7/balls?cursor=S9-99", "", "", 400, "bad_cursor"},
		{GetDisplayFunction, "/matches/7/display?team=99", "", "", 400, "team_not_in_match"},
		{ListLeaguesFunction, "/leagues?cursor=99", "", "", 400, "bad_cursor"},
		{GetLeagueFunction, "/leagues/99", "", "", 404, "league_not_found"},
		{GetTeamFunction, "/teams/99", "", "", 404, "team_not_found"},
		{ListMatchesFunction, "/matches?league=3&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "bad_cursor"},
		{ListMatchesFunction, "/matches", "", "", 400, "bad_request"},
		{ListMatchesFunction, "/matches?limit=0", "", "", 422, "invalid"},
		{GetDeviceFunction, "/user/device", "fan", "", 404, "device_not_found"},
		{GetDeviceFunction, "/user/device", "", "", 401, "unauthenticated"},
		{GetFollowFunction, "/user/follow/7", "fan", "", 404, "not_followed"},
		{StartActivityFunction, "/user/activity/99", "fan", body, 404, "match_not_found"},
		{StartActivityFunction, "/user/activity/7", "fan", strings.Replace(body, "{", `{"teamId":"99",`, 1), 400, "team_not_in_match"},
		{StartActivityFunction, "/user/activity/7", "fan", "{}", 409, "push_token_required"},
		{EndActivityFunction, "/user/activity/7?pushToken=" + token("fan"), "fan", "", 404, "activity_not_found"},
	} {
		if err := testkit.Refuses(testkit.Ask(routes, c.fn, c.target, c.user, c.body), c.status, c.code); err != nil {
			t.Errorf("%s %s: %v", c.fn.Name, c.target, err)
		}
	}
}

// TestTableHangs: while the tables do not answer, a request is answered before
// its invocation is cut off, and not as our fault.
func TestTableHangs(t *testing.T) {
	t.Parallel()
	w := served(t)
	env := w.Env(GetMatchFunction)
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	s := testkit.OpenWith(w.World, env, OpenMatches)
	ctx, cancel := context.WithTimeout(w.Ctx(), 600*time.Millisecond) // the invocation's, of which half a second is for the answer
	defer cancel()
	out, err := httpapi.Lambda(GetMatchFunction, s.GetMatch)(ctx, testkit.Request(http.MethodGet, "/matches/7", "", ""))
	testkit.Must(t, err)
	if err := testkit.Blames(out, http.StatusServiceUnavailable, ""); err != nil || ctx.Err() != nil {
		t.Errorf("%v, with %v left of the invocation", err, ctx.Err())
	}
}

func TestActivityRoutes(t *testing.T) {
	t.Parallel()
	w := served(t)
	routes := w.routes()
	body := fmt.Sprintf(`{"pushToken":%q,"teamId":"11"}`, token("fan"))
	for range 2 {
		out := testkit.Ask(routes, StartActivityFunction, "/user/activity/7", "fan", body)
		if out.StatusCode != http.StatusCreated || !strings.Contains(out.Body, `"expiresAt"`) {
			t.Errorf("the start answers %d %s", out.StatusCode, out.Body)
		}
	}
	if out := testkit.Ask(routes, StartActivityFunction, "/user/activity/7", "thief", body); out.StatusCode != http.StatusConflict {
		t.Errorf("another user's start answers %d", out.StatusCode)
	}
	if s := testkit.Rows[subscription](w.World, subscriptions); len(s) != 1 || s[0].UserID != "fan" {
		t.Errorf("stored are %+v", s)
	}
	end := "/user/activity/7?pushToken=" + token("fan")
	if out := testkit.Ask(routes, EndActivityFunction, end, "thief", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("another user's end answers %d", out.StatusCode)
	}
	if out := testkit.Ask(routes, EndActivityFunction, end, "fan", ""); out.StatusCode != http.StatusNoContent || w.subscribed() != nil {
		t.Errorf("the end answers %d and leaves %q", out.StatusCode, w.subscribed())
	}
}

// TestNoRequestIsOurFault sends what clients might.
func TestNoRequestIsOurFault(t *testing.T) {
	t.Parallel()
	w := served(t)
	routes := w.routes()
	w.play(1, cricsheet.T20, slotLength)
	values := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"", "7", "8,9", "T20", "3", "11", "neutral", "-1", "0", "1e9", "NaN", "null", "[]", "S1-00", "S1-99", token("fan"),
			"2026-06-01T12:00:00Z", "2026-06-20T12:00:00+05:30", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z",
			"2026-06-01T12:00:00Z/7", "0000-00-00T00:00:00Z/0", "--------------------/1", "::::::::::::::::::::/1234567890123456789",
		}),
	)
	names := rapid.SampledFrom([]string{"ids", "league", "from", "to", "after", "limit", "team", "innings", "cursor", "pushToken", "x"})
	rapid.Check(t, func(t *rapid.T) {
		query := url.Values{}
		for range rapid.IntRange(0, 4).Draw(t, "parameters") {
			query.Add(names.Draw(t, "name"), values.Draw(t, "value"))
		}
		raw := query.Encode()
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			raw += "&%zz;=" + rapid.StringMatching(`[!-~]*`).Draw(t, "raw")
		}
		text := values.Draw(t, "body")
		fields, _ := json.Marshal(map[string]any{"pushToken": values.Draw(t, "token"), "teamId": values.Draw(t, "team")})
		body := rapid.SampledFrom([]string{text, string(fields)}).Draw(t, "which")
		id := rapid.SampledFrom([]string{"7", "8", "9", "1", "%00", "x"}).Draw(t, "id")
		for _, c := range []struct {
			fn     spec.Function
			target string
		}{
			{GetMatchFunction, "/matches/" + id}, {ListMatchesFunction, "/matches"}, {GetDisplayFunction, "/matches/" + id + "/display"},
			{ListBallsFunction, "/matches/" + id + "/balls"}, {StartActivityFunction, "/user/activity/" + id}, {EndActivityFunction, "/user/activity/" + id},
		} {
			out := testkit.Ask(routes, c.fn, c.target+"?"+raw, "fan", body)
			if out.StatusCode >= 500 || out.StatusCode < 200 {
				t.Fatalf("%s %s?%s with %q answers %d %s", c.fn.Name, c.target, raw, body, out.StatusCode, out.Body)
			}
		}
	})
}
