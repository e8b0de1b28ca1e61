package cricket_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// inhabited returns a world with rows for every route: match 7 is live, and ann has rows of
// every kind that a user can have.
func inhabited(t *testing.T) *crickettest.World {
	w := uninhabited(t)
	at := crickettest.KickOff.Add(24 * time.Hour).Unix()
	testkit.PutRows(w.World, tables.Devices,
		follower.DeviceRow{UserID: "ann", DeviceToken: crickettest.Token("phone"), ExpiresAt: at,
			Phone: push.Phone{Platform: "ios", Environment: "production"}},
		follower.DeviceRow{UserID: "ann", DeviceToken: "~", Registrations: 1, ExpiresAt: at},
		follower.DeviceRow{UserID: "#TOKEN#" + crickettest.Token("phone"), DeviceToken: "~", Owner: "ann", ExpiresAt: at})
	testkit.PutRows(w.World, tables.Follows,
		follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "ann"}, TeamID: "11", ExpiresAt: at,
			StartTime: crickettest.KickOff.Format(tables.TimeLayout)})
	testkit.PutRows(w.World, tables.Follows,
		follower.StartRow{Partition: "#USER#ann", At: crickettest.KickOff.Format(tables.TimeLayout) + "/7", ExpiresAt: at})
	testkit.PutRows(w.World, tables.Follows,
		map[string]any{"matchId": "#USER#ann", "userId": "#FOLLOWS", "ids": []string{"7"}, "expiresAt": at, "ttl": at})
	testkit.PutRows(w.World, tables.Subscribers, follower.SubscriptionRow{Subject: "league/3", UserID: "ann"})
	testkit.PutRows(w.World, tables.Subscribers,
		map[string]any{"subject": "#USER#ann", "userId": "#SUBSCRIPTIONS", "ids": []string{"league/3"}, "expiresAt": at, "ttl": at})
	w.AddActivities(activity.Subscription{MatchID: "7", PushToken: crickettest.Token("activity"), UserID: "ann", ExpiresAt: at})
	testkit.PutRows(w.World, tables.Preferences,
		follower.PreferencesRow{UserID: "ann", Preferences: follower.Preferences{Alerts: []event.Kind{event.Toss}}})

	return w
}

// uninhabited returns the world of inhabited without ann. The end of match 9 is decided.
func uninhabited(t *testing.T) *crickettest.World {
	w := crickettest.NewWithMatches(t)
	w.SetEnd("9", crickettest.KickOff.Unix())
	testkit.PutRows(w.World, tables.Players, player.Row{PlayerID: "44", At: "#", Name: "A Bowler", Teams: []catalog.TeamRef{}})

	return w
}

// belongings returns the rows of a user.
func belongings(w *crickettest.World, user string) (all []map[string]any) {
	for _, table := range []spec.Table{
		tables.Devices, tables.Follows, tables.Subscribers, tables.Subscriptions, tables.Preferences,
	} {
		for _, row := range testkit.Rows[map[string]any](w.World, table) {
			if row["userId"] == user || row["owner"] == user {
				all = append(all, row)
			}
		}
	}

	return all
}

// A routeCase is a request to a route, in the world of inhabited.
type routeCase struct {
	fn           app.Function
	target, body string
	auth         spec.Auth
	ok           int // status for the permitted callers
	other        int // status for another user, if the rows belong to a user
}

// routeCases returns a request to every route of the room. A read whose path has no parameters
// needs no case in the list: everybody who may call it gets 200, and the path names who may.
func routeCases() []routeCase {
	cases := specialCases()

	for _, fn := range cricket.Room().Functions {
		route, _ := fn.On.(spec.Route)
		special := slices.ContainsFunc(cases, func(c routeCase) bool { return c.fn.Name == fn.Name })

		if special || route.Method != http.MethodGet || strings.Contains(route.Path, "{") {
			continue
		}

		auth := spec.Public
		if strings.HasPrefix(route.Path, "/user/") {
			auth = spec.User
		} else if strings.HasPrefix(route.Path, "/admin/") {
			auth = spec.Admin
		}

		cases = append(cases, routeCase{fn, route.Path, "", auth, http.StatusOK, http.StatusOK})
	}

	return cases
}

// specialCases returns the requests that routeCases cannot derive.
func specialCases() []routeCase {
	phone := `{"deviceToken":"` + crickettest.Token("another phone") + `","platform":"ios","environment":"production"}`
	start := `{"deviceToken":"` + crickettest.Token("phone") + `","pushToStartToken":"` + crickettest.Token("start") + `"}`

	return []routeCase{
		{match.GetMatchFunction(), "/matches/7", "", spec.Public, 200, 200},
		{match.ListMatchesFunction(), "/matches?ids=7", "", spec.Public, 200, 200},
		{match.GetDisplayFunction(), "/matches/7/display", "", spec.Public, 200, 200},
		{match.ListBallsFunction(), "/matches/7/balls", "", spec.Public, 200, 200},
		{match.GetScorecardFunction(), "/matches/7/scorecard", "", spec.Public, 200, 200},
		{match.ListTeamMatchesFunction(), "/teams/11/matches", "", spec.Public, 200, 200},
		{match.ListMatchesOfLeagueFunction(), "/leagues/3/matches", "", spec.Public, 200, 200},
		{match.SearchFunction(), "/search?q=har", "", spec.Public, 200, 200},
		{player.GetPlayerFunction(), "/players/44", "", spec.Public, 200, 200},
		{catalog.GetTeamFunction(), "/teams/11", "", spec.Public, 200, 200},
		{catalog.UpdateTeamFunction(), "/teams/11", `{"title":"H"}`, spec.Admin, 200, 0},
		{catalog.ListSeasonTeamsFunction(), "/seasons/5/teams", "", spec.Public, 200, 200},
		{catalog.GetLeagueFunction(), "/leagues/3", "", spec.Public, 200, 200},
		{catalog.GetStandingsFunction(), "/leagues/3/standings", "", spec.Public, 200, 200},
		{catalog.UpdateLeagueFunction(), "/leagues/3", `{"active":false}`, spec.Admin, 200, 0},
		{catalog.DeleteLeagueFunction(), "/leagues/3", "", spec.Admin, 204, 0},
		{match.ListLeagueMatchesFunction(), "/admin/matches?leagueId=3", "", spec.Admin, 200, 0},
		{live.ReopenMatchFunction(), "/matches/9/reopen", "", spec.Admin, 202, 0},
		{live.CorrectResultFunction(), "/matches/9/result", `{"kind":"tied"}`, spec.Admin, 202, 0},
		{follower.RegisterDeviceFunction(), "/user/device", phone, spec.User, 201, 201},
		{follower.GetDeviceFunction(), "/user/device", "", spec.User, 200, 404},
		{follower.DeleteDeviceFunction(), "/user/device/" + crickettest.TokenID("phone"), "", spec.User, 204, 404},
		{follower.UpdatePushToStartFunction(), "/user/device/push-to-start", start, spec.User, 200, 404},
		{follower.FollowMatchFunction(), "/user/follow/7", `{"teamId":"12"}`, spec.User, 201, 201},
		{follower.GetFollowFunction(), "/user/follow/7", "", spec.User, 200, 404},
		{follower.UpdateFollowFunction(), "/user/follow/7", `{"teamId":"12"}`, spec.User, 200, 404},
		{follower.UnfollowMatchFunction(), "/user/follow/7", "", spec.User, 204, 404},
		{follower.PutSubscriptionFunction(), "/user/subscriptions/team/11", "", spec.User, 200, 200},
		{follower.GetSubscriptionFunction(), "/user/subscriptions/league/3", "", spec.User, 200, 404},
		{follower.DeleteSubscriptionFunction(), "/user/subscriptions/league/3", "", spec.User, 204, 404},
		{activity.StartActivityFunction(), "/user/activity/7", `{"pushToken":"` + crickettest.Token("activity") + `"}`, spec.User, 201, 409},
		{activity.EndActivityFunction(), "/user/activity/7/" + crickettest.TokenID("activity"), "", spec.User, 204, 404},
		{follower.PutPreferencesFunction(), "/user/preferences", `{"alerts":[],"keyEventsOnly":false,"spoilerFree":true}`, spec.User, 200, 200},
	}
}

// TestAuthorization calls every route without a user, as ann, who owns the rows, as bob, and
// as an administrator, who has no rights to the rows of ann. It checks the authorization of
// the spec, which the gateway enforces, and that of the function.
//
// The answers to bob are the same whether ann has rows or not. start-activity is an
// exception: the token of a Live Activity is secret and its owner cannot change.
func TestAuthorization(t *testing.T) {
	t.Parallel()

	cases := routeCases()
	callers := []string{"", "bob", testkit.Administrator, "ann"} // ann is last, because she may change her rows
	tried := 0

	for _, fn := range cricket.Room().Functions {
		route, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}

		tried++

		i := slices.IndexFunc(cases, func(c routeCase) bool { return c.fn.Name == fn.Name })
		if i < 0 {
			t.Errorf("%s has no case in this test", fn.Name)
			continue
		}

		c := cases[i]
		if route.Auth != c.auth {
			t.Errorf("the spec of %s has the authorization %q, want %q", fn.Name, route.Auth, c.auth)
		}

		t.Run(fn.Name, func(t *testing.T) {
			t.Parallel()

			want := map[string]int{"": c.ok, "ann": c.ok, "bob": c.ok, testkit.Administrator: c.ok}
			switch c.auth {
			case spec.User:
				want = map[string]int{"": 401, "ann": c.ok, "bob": c.other, testkit.Administrator: c.other}
			case spec.Admin:
				want = map[string]int{"": 401, "ann": 403, "bob": 403, testkit.Administrator: c.ok}
			}

			w := inhabited(t)
			routes := w.Routes()
			before := belongings(w, "ann")
			empty := uninhabited(t)
			elsewhere := empty.Routes() // of a world without rows of ann

			for _, user := range callers {
				was := w.Reference()

				out := testkit.Call(routes, c.fn, c.target, user, c.body)
				if out.StatusCode != want[user] {
					t.Errorf("user %q: %d %s, want %d", user, out.StatusCode, out.Body, want[user])
				}

				if out.StatusCode >= 400 {
					if err := testkit.CheckProblemField(out, want[user], ""); err != nil {
						t.Error(err)
					}
				}

				cache, own := testkit.Header(out).Get("Cache-Control"), !strings.HasPrefix(c.target, "/user/activity")
				switch {
				case out.StatusCode >= 300:
				case c.auth == spec.Public && !strings.HasPrefix(cache, "public, max-age="), c.auth != spec.Public && own && cache != httpapi.NoStore:
					t.Errorf("user %q: Cache-Control %q, want public for public reads and %q otherwise", user, cache, httpapi.NoStore)
				}

				if is := w.Reference(); !reflect.DeepEqual(is, was) && (c.auth != spec.Admin || user != testkit.Administrator) {
					t.Errorf("user %q has changed shared rows (-was +is):\n%s", user, cmp.Diff(was, is))
				}

				if user == "ann" {
					continue
				}

				if after := belongings(w, "ann"); !reflect.DeepEqual(after, before) {
					t.Errorf("user %q has changed rows of ann (-was +is):\n%s", user, cmp.Diff(before, after))
				}

				if c.fn.Name == activity.StartActivityFunction().Name {
					continue
				}

				if there := testkit.Call(elsewhere, c.fn, c.target, user, c.body); there.StatusCode != out.StatusCode || there.Body != out.Body {
					t.Errorf("user %q: %d %s with rows of ann and %d %s without, want the same", user, out.StatusCode,
						out.Body, there.StatusCode, there.Body)
				}
			}
		})
	}

	if len(cases) != tried {
		t.Errorf("%d cases for %d routes", len(cases), tried)
	}

	t.Logf("%d routes, each called by %d users: %d calls", tried, len(callers), tried*len(callers))
}

// TestFailedCallAtACap: a user with the maximum of rows is refused only if all of them could be read.
func TestFailedCallAtACap(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		fn           app.Function
		target, body string
		list         spec.Table
		row          map[string]any
		ids          int
	}{
		{activity.StartActivityFunction(), "/user/activity/7", `{"pushToken":"` + crickettest.Token("another") + `"}`,
			tables.Subscriptions, map[string]any{"matchId": "#USER#ann", "pushToken": "7", "ids": []string{}}, 10},
		{follower.FollowMatchFunction(), "/user/follow/8", `{}`, tables.Follows,
			map[string]any{"matchId": "#USER#ann", "userId": "#FOLLOWS", "ids": []string{}}, 100},
	} {
		t.Run(c.fn.Name, func(t *testing.T) {
			t.Parallel()
			w := inhabited(t)

			for i := range c.ids {
				c.row["ids"] = append(c.row["ids"].([]string), fmt.Sprint(100+i))
			}

			testkit.PutRows(w.World, c.list, c.row)
			routes := w.Routes()

			calls := w.CountCalls(func() {
				dynamotest.CheckFailures(t, &w.IO, func() error {
					return testkit.Failed(testkit.Call(routes, c.fn, c.target, "ann", c.body))
				})
			})
			if calls["BatchGetItem"] == 0 {
				t.Errorf("the calls are %v, want those that read which of the rows are still there", calls)
			}
		})
	}
}

// TestFailedCallIsReported: no answer hides that a read or a write has failed.
func TestFailedCallIsReported(t *testing.T) {
	t.Parallel()

	for _, c := range routeCases() {
		t.Run(c.fn.Name, func(t *testing.T) {
			t.Parallel()
			w := inhabited(t)
			w.MoveClock(w.Clock.Now().Add(time.Hour)) // get-match reads the names anew

			user := "ann"
			if c.auth == spec.Admin {
				user = testkit.Administrator
			}

			routes := w.Routes()
			dynamotest.CheckFailures(t, &w.IO, func() error {
				return testkit.Failed(testkit.Call(routes, c.fn, c.target, user, c.body))
			})
		})
	}
}
