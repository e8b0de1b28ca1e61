package cricket_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// inhabited is a world with something under every route: match 7 is live, and
// ann has everything that a user may have.
func inhabited(t *testing.T) *crickettest.World {
	w := crickettest.Served(t)
	at := crickettest.KickOff.Add(24 * time.Hour).Unix()
	testkit.Put(w.World, tables.Devices,
		follower.DeviceRow{UserID: "ann", DeviceToken: crickettest.Token("phone"), Platform: "ios", Environment: "production", ExpiresAt: at},
		follower.DeviceRow{UserID: "ann", DeviceToken: "~", Turn: 1, ExpiresAt: at},
		follower.DeviceRow{UserID: "#TOKEN#" + crickettest.Token("phone"), DeviceToken: "~", Owner: "ann", ExpiresAt: at})
	testkit.Put(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "ann"}, TeamID: "11", ExpiresAt: at})
	testkit.Put(w.World, tables.Subscriptions, activity.Subscription{MatchID: "7", PushToken: crickettest.Token("activity"), UserID: "ann", ExpiresAt: at})
	testkit.Put(w.World, tables.Preferences, follower.PreferencesRow{UserID: "ann", Preferences: follower.Preferences{Alerts: []event.Kind{event.Toss}}})
	return w
}

// belongings are the rows of a user.
func belongings(w *crickettest.World, user string) (all []map[string]any) {
	for _, table := range []spec.Table{tables.Devices, tables.Follows, tables.Subscriptions, tables.Preferences} {
		for _, row := range testkit.Rows[map[string]any](w.World, table) {
			if row["userId"] == user || row["owner"] == user {
				all = append(all, row)
			}
		}
	}
	return all
}

// TestAuthorization calls every route of the room as nobody, as ann, whose
// things they are, as bob, and as an testkit.Administrator, who is nobody special to
// what is ann's. Who may is asked of the spec, which the gateway goes by, and of
// the function, which does not rely on it.
//
// What bob is answered does not tell whether ann has it. A Live Activity's token
// is an exception: it is secret, and whose it is cannot change.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	phone := `{"deviceToken":"` + crickettest.Token("another phone") + `","platform":"ios","environment":"production"}`
	start := `{"deviceToken":"` + crickettest.Token("phone") + `","pushToStartToken":"` + crickettest.Token("start") + `"}`
	type row struct {
		fn           spec.Function
		target, body string
		auth         spec.Auth
		ok           int // to whom may
		other        int // to another user, where it is a user's own
	}
	cases := []row{
		{match.GetMatchFunction, "/matches/7", "", spec.Public, 200, 200},
		{match.ListMatchesFunction, "/matches?ids=7", "", spec.Public, 200, 200},
		{match.GetDisplayFunction, "/matches/7/display", "", spec.Public, 200, 200},
		{match.ListBallsFunction, "/matches/7/balls", "", spec.Public, 200, 200},
		{catalog.ListTeamsFunction, "/teams", "", spec.Public, 200, 200},
		{catalog.GetTeamFunction, "/teams/11", "", spec.Public, 200, 200},
		{catalog.UpdateTeamFunction, "/teams/11", `{"title":"H"}`, spec.Admin, 200, 0},
		{catalog.ListSeasonTeamsFunction, "/seasons/5/teams", "", spec.Public, 200, 200},
		{catalog.ListLeaguesFunction, "/leagues", "", spec.Public, 200, 200},
		{catalog.GetLeagueFunction, "/leagues/3", "", spec.Public, 200, 200},
		{catalog.UpdateLeagueFunction, "/leagues/3", `{"active":false}`, spec.Admin, 200, 0},
		{catalog.DeleteLeagueFunction, "/leagues/3", "", spec.Admin, 204, 0},
		{match.ListLeagueMatchesFunction, "/admin/matches?leagueId=3", "", spec.Admin, 200, 0},
		{follower.RegisterDeviceFunction, "/user/device", phone, spec.User, 201, 201},
		{follower.GetDeviceFunction, "/user/device", "", spec.User, 200, 404},
		{follower.DeleteDeviceFunction, "/user/device?deviceToken=" + crickettest.Token("phone"), "", spec.User, 204, 404},
		{follower.UpdatePushToStartFunction, "/user/device/push-to-start", start, spec.User, 200, 404},
		{follower.FollowMatchFunction, "/user/follow/7", `{"teamId":"12"}`, spec.User, 201, 201},
		{follower.GetFollowFunction, "/user/follow/7", "", spec.User, 200, 404},
		{follower.UpdateFollowFunction, "/user/follow/7", `{"teamId":"12"}`, spec.User, 200, 404},
		{follower.UnfollowMatchFunction, "/user/follow/7", "", spec.User, 204, 404},
		{activity.StartActivityFunction, "/user/activity/7", `{"pushToken":"` + crickettest.Token("activity") + `"}`, spec.User, 201, 409},
		{activity.EndActivityFunction, "/user/activity/7?pushToken=" + crickettest.Token("activity"), "", spec.User, 204, 404},
		{follower.GetPreferencesFunction, "/user/preferences", "", spec.User, 200, 200},
		{follower.PutPreferencesFunction, "/user/preferences", `{"alerts":[],"keyEventsOnly":false,"spoilerFree":true}`, spec.User, 200, 200},
	}
	callers := []string{"", "bob", testkit.Administrator, "ann"} // ann last: she may change what is hers
	tried := 0
	for _, fn := range cricket.Room.Functions {
		route, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}
		tried++
		i := slices.IndexFunc(cases, func(c row) bool { return c.fn.Name == fn.Name })
		if i < 0 {
			t.Errorf("who may call %s is not said here", fn.Name)
			continue
		}
		c := cases[i]
		if route.Auth != c.auth {
			t.Errorf("%s is open to %q by the spec, want %q", fn.Name, route.Auth, c.auth)
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
			empty := crickettest.Served(t)
			elsewhere := empty.Routes() // where ann has nothing
			for _, user := range callers {
				was := w.Reference()
				out := testkit.Ask(routes, c.fn, c.target, user, c.body)
				if out.StatusCode != want[user] {
					t.Errorf("%q is answered with %d %s, want %d", user, out.StatusCode, out.Body, want[user])
				}
				if out.StatusCode >= 400 {
					if err := testkit.Blames(out, want[user], ""); err != nil {
						t.Error(err)
					}
				}
				cache, own := testkit.Header(out).Get("Cache-Control"), !strings.HasPrefix(c.target, "/user/activity")
				switch {
				case out.StatusCode >= 300:
				case c.auth == spec.Public && !strings.HasPrefix(cache, "public, max-age="), c.auth != spec.Public && own && cache != httpapi.NoStore:
					t.Errorf("%q is told to cache as %q", user, cache)
				}
				if is := w.Reference(); !reflect.DeepEqual(is, was) && (c.auth != spec.Admin || user != testkit.Administrator) {
					t.Errorf("%q has changed what is everybody's", user)
				}
				if user == "ann" {
					continue
				}
				if !reflect.DeepEqual(belongings(w, "ann"), before) {
					t.Errorf("%q has changed what is ann's", user)
				}
				if c.fn.Name == activity.StartActivityFunction.Name {
					continue
				}
				if there := testkit.Ask(elsewhere, c.fn, c.target, user, c.body); there.StatusCode != out.StatusCode || there.Body != out.Body {
					t.Errorf("%q is answered with %d %s where ann has something, and with %d %s where she has not", user, out.StatusCode, out.Body, there.StatusCode, there.Body)
				}
			}
		})
	}
	if len(cases) != tried {
		t.Errorf("%d routes are tried, of %d", len(cases), tried)
	}
	t.Logf("%d routes, each called by %d: %d calls", tried, len(callers), tried*len(callers))
}
