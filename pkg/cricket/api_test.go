package cricket_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/home"
	"matchday/pkg/cricket/match"
	"matchday/pkg/kit/app"
)

// TestInvalidRequestsAreRefused: the problem has a code and the invalid field.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	routes := crickettest.NewWithMatches(t).Routes()
	dates := "/matches?league=T20&from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z"

	body := fmt.Sprintf(`{"pushToken":%q}`, crickettest.Token("fan"))
	for _, c := range []struct {
		fn                 app.Function
		target, user, body string
		status             int
		field              string
	}{
		{match.GetMatchFunction(), "/matches/1", "", "", 404, ""},
		{match.GetMatchFunction(), "/matches/x", "", "", 422, "path.id"},
		{match.GetMatchFunction(), "/matches/12345678901234567890", "", "", 422, "path.id"},
		{match.GetMatchFunction(), "/matches/7?color=red", "", "", 422, "query.color"},
		{match.GetDisplayFunction(), "/matches/1/display", "", "", 404, ""},
		{match.GetDisplayFunction(), "/matches/x/display", "", "", 422, "path.id"},
		{match.GetDisplayFunction(), "/matches/7/display?team=x", "", "", 422, "query.team"},
		{match.GetDisplayFunction(), "/matches/7/display?team=99", "", "", 400, "query.team"},
		{match.ListBallsFunction(), "/matches/1/balls", "", "", 404, ""},
		{match.ListBallsFunction(), "/matches/7/balls?cursor=x", "", "", 422, "query.cursor"},
		{match.ListBallsFunction(), "/matches/7/balls?cursor=S9-99-1", "", "", 400, "query.cursor"},
		{match.ListBallsFunction(), "/matches/7/balls?innings=0", "", "", 422, "query.innings"},
		{match.ListBallsFunction(), "/matches/7/balls?innings=x", "", "", 422, "query.innings"},
		{match.ListBallsFunction(), "/matches/7/balls?after=-1", "", "", 422, "query.after"},
		{match.ListBallsFunction(), "/matches/7/balls?after=99999999999999999999", "", "", 422, "query.after"},
		{match.GetScorecardFunction(), "/matches/1/scorecard", "", "", 404, ""},
		{match.GetScorecardFunction(), "/matches/8/scorecard", "", "", 404, ""},
		{match.GetScorecardFunction(), "/matches/x/scorecard", "", "", 422, "path.id"},
		{match.GetScorecardFunction(), "/matches/7/scorecard?innings=1", "", "", 422, "query.innings"},
		{match.ListMatchesFunction(), "/matches", "", "", 400, "query.ids"},
		{match.ListMatchesFunction(), "/matches?ids=7&league=T20", "", "", 400, "query.ids"},
		{match.ListMatchesFunction(), "/matches?ids=7,x", "", "", 400, "query.ids"},
		{match.ListMatchesFunction(), "/matches?ids=7,,8", "", "", 400, "query.ids"},
		{match.ListMatchesFunction(), "/matches?ids=" + strings.Repeat("1,", 25) + "1", "", "", 422, "query.ids"},
		{match.ListMatchesFunction(), "/matches?league=" + strings.Repeat("x", 33), "", "", 422, "query.league"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{match.ListMatchesFunction(), "/matches?league=T20&to=2026-06-01T00:00:00Z", "", "", 400, "query.from"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=yesterday&to=2026-06-01T00:00:00Z", "", "", 422, "query.from"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=2026-06-01T00:00:00Z&to=2026-07-02T00:00:01Z", "", "", 400, "query.to"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59-23:59", "", "", 400, "query.to"},
		{match.ListMatchesFunction(), dates + "&limit=0", "", "", 422, "query.limit"},
		{match.ListMatchesFunction(), dates + "&limit=101", "", "", 422, "query.limit"},
		{match.ListMatchesFunction(), dates + "&cursor=x", "", "", 422, "query.cursor"},
		{match.ListMatchesFunction(), dates + "&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "query.cursor"},
		{match.ListMatchesFunction(), dates + "&cursor=2026-06-03T00:00:00Z/7", "", "", 400, "query.cursor"},
		{match.ListMatchesFunction(), dates + "&cursor=2026-05-31T23:59:59Z/7", "", "", 400, "query.cursor"},
		{match.ListMatchesFunction(), "/matches?league=3&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "query.cursor"},
		{match.ListMatchesFunction(), "/matches?ids=7&cursor=2026-06-01T00:00:00Z/7", "", "", 400, "query.cursor"},
		{activity.StartActivityFunction(), "/user/activity/7", "", body, 401, ""},
		{activity.StartActivityFunction(), "/user/activity/x", "fan", body, 422, "path.matchId"},
		{activity.StartActivityFunction(), "/user/activity/1", "fan", body, 404, ""},
		{activity.StartActivityFunction(), "/user/activity/9", "fan", body, 409, ""},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", "", 400, ""},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", "{", 400, ""},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", "[]", 422, "body"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{}`, 409, ""},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":""}`, 422, "body.pushToken"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":"` + crickettest.Token("fan") + `a"}`, 422, "body.pushToken"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":"beef"}`, 422, "body.pushToken"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("g", 64) + `"}`, 422, "body.pushToken"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("0", 63) + `"}`, 422, "body.pushToken"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", `{"pushToken":"` + strings.Repeat("0", 202) + `"}`, 422, "body.pushToken"},
		{activity.EndActivityFunction(), "/user/activity/7/" + strings.Repeat("0", 42), "fan", "", 422, "path.activityId"},
		{match.ListMatchesFunction(), "/matches?ids=7&ids=8", "", "", 422, "query.ids"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=0001-01-01T00:00:00Z", "", "", 400, "query.to"},
		{match.ListMatchesFunction(), "/matches?league=T20&to=0001-01-01T00:00:00Z", "", "", 400, "query.from"},
		{match.ListMatchesFunction(), "/matches?league=T20&from=0001-01-01T00:00:00Z&to=2026-06-01T00:00:00Z", "", "", 400, "query.to"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", strings.Replace(body, "{", `{"userId":"another",`, 1), 422, "body"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", strings.Replace(body, "{", `{"teamId":"99",`, 1), 400, "body.teamId"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan",
			strings.Replace(body, "{", `{"teamId":"`+strings.Repeat("1", 65<<10)+`",`, 1), 413, ""},
		{activity.EndActivityFunction(), "/user/activity/7/" + crickettest.TokenID("fan"), "", "", 401, ""},
		{activity.EndActivityFunction(), "/user/activity/7/" + crickettest.TokenID("fan"), "fan", "", 404, ""},
		{activity.EndActivityFunction(), "/user/activity/7/" + crickettest.Token("fan"), "fan", "", 422, "path.activityId"},
	} {
		out := testkit.Call(routes, c.fn, c.target, c.user, c.body)

		var problem testkit.Problem
		if err := json.Unmarshal([]byte(out.Body), &problem); err != nil || problem.Status != out.StatusCode {
			t.Errorf("%s %.90s answers %d %.200s, want a problem document", c.fn.Name, c.target, out.StatusCode, out.Body)
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
			t.Errorf("%s %.90s answers %.300s, want the field %s", c.fn.Name, c.target, out.Body, c.field)
		}

		if header := testkit.Header(out); header.Get("Content-Type") != "application/problem+json" || header.Get("ETag") != "" {
			t.Errorf("%s %.90s answers with the headers %v", c.fn.Name, c.target, header)
		}
	}
}

// TestProblemCodes: the codes are part of the API and do not change.
func TestProblemCodes(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	w.AddActivities(activity.Subscription{MatchID: "7", PushToken: crickettest.Token("fan"), UserID: "ann"})
	routes := w.Routes()

	body := fmt.Sprintf(`{"pushToken":%q}`, crickettest.Token("fan"))
	for _, c := range []struct {
		fn                 app.Function
		target, user, body string
		status             int
		code               string
	}{
		{match.GetMatchFunction(), "/matches/99", "", "", 404, "match_not_found"},
		{match.ListTeamMatchesFunction(), "/teams/11/matches?cursor=N--------------------/7", "", "", 400, "bad_cursor"},
		{match.ListMatchesOfLeagueFunction(), "/leagues/3/matches?cursor=P--------------------/7", "", "", 400, "bad_cursor"},
		{match.SearchFunction(), "/search?q=!", "", "", 400, "bad_request"},
		{home.GetHomeFunction(), "/user/home", "", "", 401, "unauthenticated"},
		{home.ListActivitiesFunction(), "/user/activities?cursor=99", "fan", "", 400, "bad_cursor"},
		{match.ListBallsFunction(), "/matches/99/balls", "", "", 404, "match_not_found"},
		{match.ListBallsFunction(), "/matches/7/balls?cursor=S9-99-1", "", "", 400, "bad_cursor"},
		{match.GetDisplayFunction(), "/matches/7/display?team=99", "", "", 400, "team_not_in_match"},
		{catalog.ListLeaguesFunction(), "/leagues?cursor=99", "", "", 400, "bad_cursor"},
		{catalog.GetLeagueFunction(), "/leagues/99", "", "", 404, "league_not_found"},
		{catalog.GetTeamFunction(), "/teams/99", "", "", 404, "team_not_found"},
		{match.ListMatchesFunction(), "/matches?league=3&cursor=ZZZZZZZZZZZZZZZZZZZZ/7", "", "", 400, "bad_cursor"},
		{match.ListMatchesFunction(), "/matches", "", "", 400, "bad_request"},
		{match.ListMatchesFunction(), "/matches?limit=0", "", "", 422, "invalid"},
		{follower.GetDeviceFunction(), "/user/device", "fan", "", 404, "device_not_found"},
		{follower.GetDeviceFunction(), "/user/device", "", "", 401, "unauthenticated"},
		{follower.GetFollowFunction(), "/user/follow/7", "fan", "", 404, "not_followed"},
		{activity.StartActivityFunction(), "/user/activity/99", "fan", body, 404, "match_not_found"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", strings.Replace(body, "{", `{"teamId":"99",`, 1), 400, "team_not_in_match"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", "{}", 409, "push_token_required"},
		{activity.StartActivityFunction(), "/user/activity/7", "fan", body, 409, "activity_of_another_user"},
		{activity.EndActivityFunction(), "/user/activity/7/" + crickettest.TokenID("fan"), "fan", "", 404, "activity_not_found"},
	} {
		if err := testkit.CheckProblemCode(testkit.Call(routes, c.fn, c.target, c.user, c.body), c.status, c.code); err != nil {
			t.Errorf("%s %s: %v", c.fn.Name, c.target, err)
		}
	}
}

// TestLimitsOfPages: the pages of every list have 1 to 100 items.
func TestLimitsOfPages(t *testing.T) {
	t.Parallel()
	routes := crickettest.NewWithMatches(t).Routes()

	for _, c := range []struct {
		fn     app.Function
		target string
	}{
		{catalog.ListTeamsFunction(), "/teams?"},
		{catalog.ListLeaguesFunction(), "/leagues?"},
		{catalog.ListSeasonTeamsFunction(), "/seasons/5/teams?"},
		{match.ListMatchesFunction(), "/matches?league=3&"},
		{match.ListMatchesFunction(), "/matches?live=true&"},
		{match.ListMatchesFunction(), "/matches?date=2026-06-01&"},
		{match.ListLeagueMatchesFunction(), "/admin/matches?leagueId=3&"},
	} {
		for limit, want := range map[int]int{-1: 422, 0: 422, 1: 200, 100: 200, 101: 422} {
			if out := testkit.Call(routes, c.fn, fmt.Sprint(c.target, "limit=", limit), testkit.Administrator, ""); out.StatusCode != want {
				t.Errorf("%slimit=%d: %d %s, want %d", c.target, limit, out.StatusCode, out.Body, want)
			}
		}
	}
}

// TestRequestIsAnsweredWhileATableHangs: the answer is Unavailable and comes before the
// invocation times out.
func TestRequestIsAnsweredWhileATableHangs(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	env := w.Env(match.GetMatchFunction())
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	call, err := match.GetMatchFunction().Open(t.Context(), env)
	testkit.Must(t, err)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(w.NewContext(), match.GetMatchFunction().Timeout)
		defer cancel()

		out, err := call.(app.Route)(ctx, testkit.Request(http.MethodGet, "/matches/7", "", ""))
		testkit.Must(t, err)

		if err := testkit.CheckProblemField(out, http.StatusServiceUnavailable, ""); err != nil || ctx.Err() != nil {
			t.Errorf("error %v, context %v; want Unavailable before the timeout", err, ctx.Err())
		}
	})
}

// TestActivityBelongsToItsUser: another user can neither take over nor end an activity.
func TestActivityBelongsToItsUser(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	routes := w.Routes()

	body := fmt.Sprintf(`{"pushToken":%q,"teamId":"11"}`, crickettest.Token("fan"))
	for range 2 {
		out := testkit.Call(routes, activity.StartActivityFunction(), "/user/activity/7", "fan", body)
		if out.StatusCode != http.StatusCreated || !strings.Contains(out.Body, `"expiresAt"`) {
			t.Errorf("start-activity: %d %s, want 201", out.StatusCode, out.Body)
		}
	}

	if out := testkit.Call(routes, activity.StartActivityFunction(), "/user/activity/7", "thief",
		body); out.StatusCode != http.StatusConflict {
		t.Errorf("start-activity of another user: %d, want 409", out.StatusCode)
	}

	if s := w.Subscriptions(); len(s) != 1 || s[0].UserID != "fan" {
		t.Errorf("stored activities: %+v, want one of ann", s)
	}

	end := "/user/activity/7/" + crickettest.TokenID("fan")
	if out := testkit.Call(routes, activity.EndActivityFunction(), end, "thief", ""); out.StatusCode != http.StatusNotFound {
		t.Errorf("end-activity of another user: %d, want 404", out.StatusCode)
	}

	if out := testkit.Call(routes, activity.EndActivityFunction(), end, "fan",
		""); out.StatusCode != http.StatusNoContent || w.Subscribers() != nil {
		t.Errorf("end-activity: %d, subscribers %q; want 204 and none", out.StatusCode, w.Subscribers())
	}
}

// TestNoRequestCausesAnInternalError sends arbitrary requests.
func TestNoRequestCausesAnInternalError(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t)
	routes := w.Routes()
	w.Play(1, cricsheet.T20, match.SlotLength)

	values := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"", "7", "8,9", "T20", "3", "11", "neutral", "-1", "0", "1e9", "NaN", "null", "[]", "S1-00-1", "S1-99-1", crickettest.Token("fan"),
			"2026-06-01T12:00:00Z", "2026-06-20T12:00:00+05:30", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z",
			"true", "2026-06-01", "9999-12-31", "0000-01-01", "Asia/Kolkata", "Ünïcode wörds", "2026-06-01D12:00:00Z/7", "N2026-06-01T12:00:00Z/7",
			"P0000-01-01T00:00:00Z/0", "7/" + crickettest.TokenID("fan"),
			"2026-06-01T12:00:00Z/7", "0000-00-00T00:00:00Z/0", "--------------------/1", "::::::::::::::::::::/1234567890123456789",
		}),
	)
	names := rapid.SampledFrom([]string{"ids", "league", "from", "to", "after", "limit", "team", "innings", "cursor", "pushToken", "live", "date", "timeZone", "q", "x"})

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
			fn     app.Function
			target string
		}{
			{match.GetMatchFunction(), "/matches/" + id},
			{match.ListMatchesFunction(), "/matches"},
			{match.GetDisplayFunction(), "/matches/" + id + "/display"},
			{match.ListBallsFunction(), "/matches/" + id + "/balls"},
			{match.ListTeamMatchesFunction(), "/teams/" + id + "/matches"},
			{match.ListMatchesOfLeagueFunction(), "/leagues/" + id + "/matches"},
			{match.SearchFunction(), "/search"},
			{home.GetHomeFunction(), "/user/home"},
			{home.ListActivitiesFunction(), "/user/activities"},
			{activity.StartActivityFunction(), "/user/activity/" + id},
			{activity.EndActivityFunction(), "/user/activity/" + id + "/" + crickettest.TokenID("fan")},
		} {
			out := testkit.Call(routes, c.fn, c.target+"?"+raw, "fan", body)
			if out.StatusCode >= 500 || out.StatusCode < 200 {
				t.Fatalf("%s %s?%s with %q answers %d %s", c.fn.Name, c.target, raw, body, out.StatusCode, out.Body)
			}
		}
	})
}
