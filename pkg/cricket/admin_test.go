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

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// fleetAPI is every route of the room, by function.
func (w *world) fleetAPI() map[string]api {
	return map[string]api{
		GetMatchFunction.Name:          serve(w, GetMatchFunction, OpenMatches, (*Matches).GetMatch),
		ListMatchesFunction.Name:       serve(w, ListMatchesFunction, OpenMatches, (*Matches).ListMatches),
		GetDisplayFunction.Name:        serve(w, GetDisplayFunction, OpenMatches, (*Matches).GetDisplay),
		ListBallsFunction.Name:         serve(w, ListBallsFunction, OpenMatches, (*Matches).ListBalls),
		ListLeagueMatchesFunction.Name: serve(w, ListLeagueMatchesFunction, OpenMatches, (*Matches).ListLeagueMatches),
		ListTeamsFunction.Name:         serve(w, ListTeamsFunction, OpenReference, (*Reference).ListTeams),
		GetTeamFunction.Name:           serve(w, GetTeamFunction, OpenReference, (*Reference).GetTeam),
		UpdateTeamFunction.Name:        serve(w, UpdateTeamFunction, OpenReference, (*Reference).UpdateTeam),
		ListSeasonTeamsFunction.Name:   serve(w, ListSeasonTeamsFunction, OpenReference, (*Reference).ListSeasonTeams),
		ListLeaguesFunction.Name:       serve(w, ListLeaguesFunction, OpenReference, (*Reference).ListLeagues),
		GetLeagueFunction.Name:         serve(w, GetLeagueFunction, OpenReference, (*Reference).GetLeague),
		UpdateLeagueFunction.Name:      serve(w, UpdateLeagueFunction, OpenReference, (*Reference).UpdateLeague),
		DeleteLeagueFunction.Name:      serve(w, DeleteLeagueFunction, OpenReference, (*Reference).DeleteLeague),
		RegisterDeviceFunction.Name:    serve(w, RegisterDeviceFunction, OpenDevices, (*Devices).RegisterDevice),
		GetDeviceFunction.Name:         serve(w, GetDeviceFunction, OpenDevices, (*Devices).GetDevice),
		DeleteDeviceFunction.Name:      serve(w, DeleteDeviceFunction, OpenDevices, (*Devices).DeleteDevice),
		UpdatePushToStartFunction.Name: serve(w, UpdatePushToStartFunction, OpenDevices, (*Devices).UpdatePushToStart),
		FollowMatchFunction.Name:       serve(w, FollowMatchFunction, OpenFollows, (*Follows).FollowMatch),
		GetFollowFunction.Name:         serve(w, GetFollowFunction, OpenFollows, (*Follows).GetFollow),
		UpdateFollowFunction.Name:      serve(w, UpdateFollowFunction, OpenFollows, (*Follows).UpdateFollow),
		UnfollowMatchFunction.Name:     serve(w, UnfollowMatchFunction, OpenFollows, (*Follows).UnfollowMatch),
		StartActivityFunction.Name:     serve(w, StartActivityFunction, OpenActivities, (*Activities).StartActivity),
		EndActivityFunction.Name:       serve(w, EndActivityFunction, OpenActivities, (*Activities).EndActivity),
		GetPreferencesFunction.Name:    serve(w, GetPreferencesFunction, OpenSettings, (*Settings).GetPreferences),
		PutPreferencesFunction.Name:    serve(w, PutPreferencesFunction, OpenSettings, (*Settings).PutPreferences),
	}
}

const administrator = "root"

// ask calls the route of a function as user, "" for nobody. The methods of the
// routes come from the spec; the administrator is in the group.
func ask(apis map[string]api, fn spec.Function, target, user, body string) events.APIGatewayV2HTTPResponse {
	e := request(fn.On.(spec.Route).Method, target, user, body)
	if user == administrator {
		e.RequestContext.Authorizer.JWT.Claims["cognito:groups"] = "[editor admin]"
	}
	return apis[fn.Name](e)
}

// problemOf is a problem document.
type problemOf struct {
	Status int
	Detail string
	Errors []struct{ Message, Location string }
}

// blames reports whether an answer is a problem document of a status that names
// a field, or none for "".
func blames(out events.APIGatewayV2HTTPResponse, status int, field string) error {
	var p problemOf
	if err := json.Unmarshal([]byte(out.Body), &p); err != nil {
		return fmt.Errorf("%d %s", out.StatusCode, out.Body)
	}
	var fields []string
	for _, e := range p.Errors {
		if e.Location != "" {
			fields = append(fields, e.Location)
		}
	}
	if out.StatusCode != status || p.Status != status || field != "" && !slices.Contains(fields, field) || field == "" && fields != nil {
		return fmt.Errorf("got %d blaming %q, want %d blaming %q: %s", out.StatusCode, fields, status, field, out.Body)
	}
	return nil
}

// inhabited is a world with something under every route: match 7 is live, and
// ann has everything that a user may have.
func inhabited(t *testing.T) *world {
	w, _ := served(t)
	at := kickOff.Add(24 * time.Hour).Unix()
	w.put(devices,
		device{UserID: "ann", DeviceToken: token("phone"), Platform: "ios", Environment: "production", ExpiresAt: at},
		device{UserID: "ann", DeviceToken: turnRow, Turn: 1, ExpiresAt: at},
		device{UserID: "#TOKEN#" + token("phone"), DeviceToken: turnRow, Owner: "ann", ExpiresAt: at})
	w.put(follows, following{follow: follow{"7", "ann"}, TeamID: "11", ExpiresAt: at})
	w.put(subscriptions, subscription{MatchID: "7", PushToken: token("activity"), UserID: "ann", ExpiresAt: at})
	w.put(preferenceTable, preferences{UserID: "ann", Preferences: Preferences{Alerts: []score.EventKind{score.TossEvent}}})
	return w
}

// belongings are the rows of a user.
func (w *world) belongings(user string) (all []map[string]any) {
	for _, table := range []spec.Table{devices, follows, subscriptions, preferenceTable} {
		for _, row := range rows[map[string]any](w, table) {
			if row["userId"] == user || row["owner"] == user {
				all = append(all, row)
			}
		}
	}
	return all
}

// TestAuthorization calls every route of the room as nobody, as ann, whose
// things they are, as bob, and as an administrator, who is nobody special to
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
	callers := []string{"", "bob", administrator, "ann"} // ann last: she may change what is hers
	routes := 0
	for _, fn := range Room.Functions {
		route, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}
		routes++
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
			want := map[string]int{"": c.ok, "ann": c.ok, "bob": c.ok, administrator: c.ok}
			switch c.auth {
			case spec.User:
				want = map[string]int{"": 401, "ann": c.ok, "bob": c.other, administrator: c.other}
			case spec.Admin:
				want = map[string]int{"": 401, "ann": 403, "bob": 403, administrator: c.ok}
			}
			w := inhabited(t)
			apis := w.fleetAPI()
			before := w.belongings("ann")
			empty, _ := served(t)
			elsewhere := empty.fleetAPI() // where ann has nothing
			for _, user := range callers {
				was := w.reference()
				out := ask(apis, c.fn, c.target, user, c.body)
				if out.StatusCode != want[user] {
					t.Errorf("%q is answered with %d %s, want %d", user, out.StatusCode, out.Body, want[user])
				}
				if out.StatusCode >= 400 {
					if err := blames(out, want[user], ""); err != nil {
						t.Error(err)
					}
				}
				cache, own := headerOf(out).Get("Cache-Control"), !strings.HasPrefix(c.target, "/user/activity")
				switch {
				case out.StatusCode >= 300:
				case c.auth == spec.Public && !strings.HasPrefix(cache, "public, max-age="), c.auth != spec.Public && own && cache != noStore:
					t.Errorf("%q is told to cache as %q", user, cache)
				}
				if is := w.reference(); !reflect.DeepEqual(is, was) && (c.auth != spec.Admin || user != administrator) {
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
				if there := ask(elsewhere, c.fn, c.target, user, c.body); there.StatusCode != out.StatusCode || there.Body != out.Body {
					t.Errorf("%q is answered with %d %s where ann has something, and with %d %s where she has not", user, out.StatusCode, out.Body, there.StatusCode, there.Body)
				}
			}
		})
	}
	if len(cases) != routes {
		t.Errorf("%d routes are tried, of %d", len(cases), routes)
	}
	t.Logf("%d routes, each called by %d: %d calls", routes, len(callers), routes*len(callers))
}

func TestListLeagueMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]bool{}
	for i := range 30 {
		f := w.scripted(fmt.Sprint(100 + i))
		if i%3 == 0 {
			f.LeagueID = "4"
			w.put(fixtures, f)
			continue
		}
		want[f.MatchID] = true
	}
	apis := w.fleetAPI()
	for _, limit := range []int{1, 7, 20, 100} {
		got, target := map[string]bool{}, fmt.Sprintf("/admin/matches?leagueId=3&limit=%d", limit)
		next, pages := "", 0
		for ; pages == 0 || next != ""; pages++ {
			out := ask(apis, ListLeagueMatchesFunction, target+next, administrator, "")
			var page struct {
				Matches []Match
				Next    string
			}
			must(t, json.Unmarshal([]byte(out.Body), &page))
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
				next = "&after=" + next
			}
		}
		if !maps.Equal(got, want) || pages != (20+limit-1)/limit {
			t.Errorf("by %d: %d matches on %d pages, want %d", limit, len(got), pages, len(want))
		}
	}
	for target, field := range map[string]string{
		"/admin/matches": "query.leagueId", "/admin/matches?leagueId=x": "query.leagueId", "/admin/matches?leagueId=3&limit=101": "query.limit",
		"/admin/matches?leagueId=3&after=x": "query.after", "/admin/matches?leagueId=3&active=1": "query.active",
	} {
		if err := blames(ask(apis, ListLeagueMatchesFunction, target, administrator, ""), http.StatusUnprocessableEntity, field); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestScanIsBounded reads a table that is longer than what one request reads.
func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []any
	for i := range scanPages*scanRows + 1 {
		all = append(all, fixture{MatchID: fmt.Sprint(i + 1), LeagueCode: "ODI", LeagueID: "4", StartTime: kickOff.Format(timeLayout)})
	}
	w.putAll(fixtures, all)
	apis := w.fleetAPI()
	page := struct{ Next string }{}
	calls := w.count(func() {
		out := ask(apis, ListLeagueMatchesFunction, "/admin/matches?leagueId=3", administrator, "")
		must(t, json.Unmarshal([]byte(out.Body), &page))
		if !strings.Contains(out.Body, `"matches":[]`) {
			t.Errorf("got %s", out.Body)
		}
	})
	if calls["Scan"] != scanPages || page.Next == "" {
		t.Errorf("it makes %v and goes on after %q", calls, page.Next)
	}
	out := ask(apis, ListLeagueMatchesFunction, "/admin/matches?leagueId=3&after="+page.Next, administrator, "")
	if strings.Contains(out.Body, "next") {
		t.Errorf("the last page is %s", out.Body)
	}
}

// putAll stores many rows.
func (w *world) putAll(table spec.Table, all []any) {
	w.t.Helper()
	must(w.t, dynamo.PutAll(w.t.Context(), dynamo.Open(w.aws, w.prefix), spec.Access{Table: table}, all))
}
