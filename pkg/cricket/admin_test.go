package cricket

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// inhabited is a world with something under every route: match 7 is live, and
// ann has everything that a user may have.
func inhabited(t *testing.T) *world {
	w := served(t)
	at := kickOff.Add(24 * time.Hour).Unix()
	testkit.Put(w.World, devices,
		device{UserID: "ann", DeviceToken: token("phone"), Platform: "ios", Environment: "production", ExpiresAt: at},
		device{UserID: "ann", DeviceToken: "~", Turn: 1, ExpiresAt: at},
		device{UserID: "#TOKEN#" + token("phone"), DeviceToken: "~", Owner: "ann", ExpiresAt: at})
	testkit.Put(w.World, follows, following{follow: follow{"7", "ann"}, TeamID: "11", ExpiresAt: at})
	testkit.Put(w.World, subscriptions, subscription{MatchID: "7", PushToken: token("activity"), UserID: "ann", ExpiresAt: at})
	testkit.Put(w.World, preferenceTable, preferences{UserID: "ann", Preferences: Preferences{Alerts: []score.EventKind{score.TossEvent}}})
	return w
}

// belongings are the rows of a user.
func (w *world) belongings(user string) (all []map[string]any) {
	for _, table := range []spec.Table{devices, follows, subscriptions, preferenceTable} {
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
	phone := `{"deviceToken":"` + token("another phone") + `","platform":"ios","environment":"production"}`
	start := `{"deviceToken":"` + token("phone") + `","pushToStartToken":"` + token("start") + `"}`
	type row struct {
		fn           spec.Function
		target, body string
		auth         spec.Auth
		ok           int // to whom may
		other        int // to another user, where it is a user's own
	}
	cases := []row{
		{GetMatchFunction, "/matches/7", "", spec.Public, 200, 200},
		{ListMatchesFunction, "/matches?ids=7", "", spec.Public, 200, 200},
		{GetDisplayFunction, "/matches/7/display", "", spec.Public, 200, 200},
		{ListBallsFunction, "/matches/7/balls", "", spec.Public, 200, 200},
		{ListTeamsFunction, "/teams", "", spec.Public, 200, 200},
		{GetTeamFunction, "/teams/11", "", spec.Public, 200, 200},
		{UpdateTeamFunction, "/teams/11", `{"title":"H"}`, spec.Admin, 200, 0},
		{ListSeasonTeamsFunction, "/seasons/5/teams", "", spec.Public, 200, 200},
		{ListLeaguesFunction, "/leagues", "", spec.Public, 200, 200},
		{GetLeagueFunction, "/leagues/3", "", spec.Public, 200, 200},
		{UpdateLeagueFunction, "/leagues/3", `{"active":false}`, spec.Admin, 200, 0},
		{DeleteLeagueFunction, "/leagues/3", "", spec.Admin, 204, 0},
		{ListLeagueMatchesFunction, "/admin/matches?leagueId=3", "", spec.Admin, 200, 0},
		{RegisterDeviceFunction, "/user/device", phone, spec.User, 201, 201},
		{GetDeviceFunction, "/user/device", "", spec.User, 200, 404},
		{DeleteDeviceFunction, "/user/device?deviceToken=" + token("phone"), "", spec.User, 204, 404},
		{UpdatePushToStartFunction, "/user/device/push-to-start", start, spec.User, 200, 404},
		{FollowMatchFunction, "/user/follow/7", `{"teamId":"12"}`, spec.User, 201, 201},
		{GetFollowFunction, "/user/follow/7", "", spec.User, 200, 404},
		{UpdateFollowFunction, "/user/follow/7", `{"teamId":"12"}`, spec.User, 200, 404},
		{UnfollowMatchFunction, "/user/follow/7", "", spec.User, 204, 404},
		{StartActivityFunction, "/user/activity/7", `{"pushToken":"` + token("activity") + `"}`, spec.User, 201, 409},
		{EndActivityFunction, "/user/activity/7?pushToken=" + token("activity"), "", spec.User, 204, 404},
		{GetPreferencesFunction, "/user/preferences", "", spec.User, 200, 200},
		{PutPreferencesFunction, "/user/preferences", `{"alerts":[],"keyEventsOnly":false,"spoilerFree":true}`, spec.User, 200, 200},
	}
	callers := []string{"", "bob", testkit.Administrator, "ann"} // ann last: she may change what is hers
	tried := 0
	for _, fn := range Room.Functions {
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
			routes := w.routes()
			before := w.belongings("ann")
			empty := served(t)
			elsewhere := empty.routes() // where ann has nothing
			for _, user := range callers {
				was := w.reference()
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
				if is := w.reference(); !reflect.DeepEqual(is, was) && (c.auth != spec.Admin || user != testkit.Administrator) {
					t.Errorf("%q has changed what is everybody's", user)
				}
				if user == "ann" {
					continue
				}
				if !reflect.DeepEqual(w.belongings("ann"), before) {
					t.Errorf("%q has changed what is ann's", user)
				}
				if c.fn.Name == StartActivityFunction.Name {
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

func TestListLeagueMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]bool{}
	for i := range 30 {
		f := w.scripted(fmt.Sprint(100 + i))
		if i%3 == 0 {
			f.LeagueID = "4"
			testkit.Put(w.World, fixtures, f)
			continue
		}
		want[f.MatchID] = true
	}
	routes := w.routes()
	for _, limit := range []int{1, 7, 20, 100} {
		got, target := map[string]bool{}, fmt.Sprintf("/admin/matches?leagueId=3&limit=%d", limit)
		next, pages := "", 0
		for ; pages == 0 || next != ""; pages++ {
			out := testkit.Ask(routes, ListLeagueMatchesFunction, target+next, testkit.Administrator, "")
			var page struct {
				Matches []Match
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
		if err := testkit.Blames(testkit.Ask(routes, ListLeagueMatchesFunction, target, testkit.Administrator, ""), http.StatusUnprocessableEntity, field); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestScanIsBounded reads a table that is longer than what one request reads.
func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []fixture
	for i := range scanPages*scanRows + 1 {
		all = append(all, fixture{MatchID: fmt.Sprint(i + 1), LeagueCode: "ODI", LeagueID: "4", StartTime: kickOff.Format(timeLayout)})
	}
	testkit.Put(w.World, fixtures, all...)
	routes := w.routes()
	page := struct{ Next string }{}
	calls := w.Count(func() {
		out := testkit.Ask(routes, ListLeagueMatchesFunction, "/admin/matches?leagueId=3", testkit.Administrator, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))
		if !strings.Contains(out.Body, `"matches":[]`) {
			t.Errorf("got %s", out.Body)
		}
	})
	if calls["Scan"] != scanPages || page.Next == "" {
		t.Errorf("it makes %v and goes on after %q", calls, page.Next)
	}
	out := testkit.Ask(routes, ListLeagueMatchesFunction, "/admin/matches?leagueId=3&cursor="+page.Next, testkit.Administrator, "")
	if strings.Contains(out.Body, "next") {
		t.Errorf("the last page is %s", out.Body)
	}
}
