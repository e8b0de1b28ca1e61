package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
)

// withSubjects returns a world with match 7 of the teams 11 and 12 in league 3, and as many more teams.
func withSubjects(t *testing.T, more int) *crickettest.World {
	t.Helper()
	w := crickettest.New(t)
	w.AddFixture("7")
	testkit.PutRows(w.World, tables.Leagues, catalog.LeagueRow{ProvidedLeague: catalog.ProvidedLeague{LeagueID: "3", Active: true}})

	for i := range more + 2 {
		testkit.PutRows(w.World, tables.Teams, catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: fmt.Sprint(11 + i)}})
	}

	return w
}

// TestSubscription: a user follows teams and a league, changes the preferences, and ends the subscriptions.
func TestSubscription(t *testing.T) {
	t.Parallel()
	w := withSubjects(t, 0)
	routes := w.Routes()

	call := func(fn app.Function, target, body string, status int) string {
		t.Helper()

		out := testkit.Call(routes, fn, "/user/subscriptions"+target, "ann", body)
		if out.StatusCode != status {
			t.Errorf("%s %s: %d %s, want %d", fn.Name, target, out.StatusCode, out.Body, status)
		}

		return out.Body
	}
	get := func(target string) (s follower.Subscription) {
		t.Helper()
		testkit.Must(t, json.Unmarshal([]byte(call(follower.GetSubscriptionFunction(), target, "", http.StatusOK)), &s))

		return s
	}
	list := func() string {
		t.Helper()

		var all struct{ Teams, Leagues []string }
		testkit.Must(t, json.Unmarshal([]byte(call(follower.ListSubscriptionsFunction(), "", "", http.StatusOK)), &all))

		return fmt.Sprint(all.Teams, all.Leagues)
	}

	call(follower.PutSubscriptionFunction(), "/team/99", "", http.StatusNotFound)
	call(follower.PutSubscriptionFunction(), "/league/11", "", http.StatusNotFound)
	call(follower.PutSubscriptionFunction(), "/player/11", "", http.StatusUnprocessableEntity)
	call(follower.GetSubscriptionFunction(), "/team/11", "", http.StatusNotFound)

	if got := list(); got != "[] []" {
		t.Errorf("list before the first subscription: %s", got)
	}

	call(follower.PutSubscriptionFunction(), "/team/11", "", http.StatusOK)
	call(follower.PutSubscriptionFunction(), "/league/3", "{}", http.StatusOK)
	call(follower.PutSubscriptionFunction(), "/team/12", `{"preferences":{"alerts":[],"spoilerFree":true}}`, http.StatusOK)

	if got := list(); got != "[12 11] [3]" {
		t.Errorf("list: %s, want the last one first", got)
	}

	if p := get("/team/11").Preferences; p != nil {
		t.Errorf("preferences of team 11: %+v, want none", p)
	}

	if p := get("/team/12").Preferences; p == nil || p.Alerts == nil || len(p.Alerts) > 0 || !*p.SpoilerFree || p.KeyEventsOnly != nil {
		t.Errorf("preferences of team 12: %+v, want no alerts and no spoilers", p)
	}

	created := get("/team/12").CreatedAt
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	call(follower.PutSubscriptionFunction(), "/team/12", "", http.StatusOK)

	if s := get("/team/12"); s.Preferences != nil || !s.CreatedAt.Equal(created) {
		t.Errorf("team 12 after another PUT: %+v, want no preferences and the first date", s)
	}

	call(follower.DeleteSubscriptionFunction(), "/team/11", "", http.StatusNoContent)
	call(follower.DeleteSubscriptionFunction(), "/team/11", "", http.StatusNotFound)
	call(follower.GetSubscriptionFunction(), "/team/11", "", http.StatusNotFound)

	if got := list(); got != "[12] [3]" {
		t.Errorf("list after the end of one: %s", got)
	}
}

// TestSubscriptionsAreLimited: a user with the most subscriptions can renew one, and has room after the end of one.
func TestSubscriptionsAreLimited(t *testing.T) {
	t.Parallel()

	const most = 50

	w := withSubjects(t, most)
	routes := w.Routes()

	put := func(i, status int) {
		t.Helper()

		out := testkit.Call(routes, follower.PutSubscriptionFunction(), fmt.Sprint("/user/subscriptions/team/", 11+i), "ann", "")
		if out.StatusCode != status {
			t.Errorf("subscription %d: %d %s, want %d", i, out.StatusCode, out.Body, status)
		}

		if status == http.StatusConflict {
			if err := testkit.CheckProblemCode(out, status, "too_many_subscriptions"); err != nil {
				t.Error(err)
			}
		}
	}

	for i := range most {
		put(i, http.StatusOK)
	}

	put(most, http.StatusConflict)
	put(0, http.StatusOK)
	testkit.Call(routes, follower.DeleteSubscriptionFunction(), "/user/subscriptions/team/12", "ann", "")
	put(most, http.StatusOK)
	put(1, http.StatusConflict)

	used := w.CountUnits(func() { testkit.Call(routes, follower.ListSubscriptionsFunction(), "/user/subscriptions", "ann", "") })
	if used.Reads > 1 {
		t.Errorf("the list of %d subscriptions costs %g read units, want at most 1", most, used.Reads)
	}
}

// TestMatchOfASubscription: a match of a followed team is followed, and can be excepted and followed again.
func TestMatchOfASubscription(t *testing.T) {
	t.Parallel()
	w := withSubjects(t, 0)
	routes := w.Routes()

	call := func(fn app.Function, target, body string) string {
		t.Helper()

		out := testkit.Call(routes, fn, target, "ann", body)
		if out.StatusCode >= 300 {
			return fmt.Sprint(out.StatusCode)
		}

		var f follower.FollowedMatch
		if out.Body != "" {
			testkit.Must(t, json.Unmarshal([]byte(out.Body), &f))
		}

		return fmt.Sprint(out.StatusCode, " ", f.TeamID, " ", f.Subscribed)
	}
	check := func(fn app.Function, target, body, want string) {
		t.Helper()

		if got := call(fn, target, body); got != want {
			t.Errorf("%s %s: %q, want %q", fn.Name, target, got, want)
		}
	}

	const subscriptions, follow = "/user/subscriptions", "/user/follow/7"

	check(follower.GetFollowFunction(), follow, "", "404")
	call(follower.PutSubscriptionFunction(), subscriptions+"/league/3", "")
	check(follower.GetFollowFunction(), follow, "", "200  true")
	call(follower.PutSubscriptionFunction(), subscriptions+"/team/12", "")
	check(follower.GetFollowFunction(), follow, "", "200 12 true")
	call(follower.PutSubscriptionFunction(), subscriptions+"/team/11", "")
	check(follower.GetFollowFunction(), follow, "", "200  true") // a fan of both is neutral

	check(follower.UnfollowMatchFunction(), follow, "", "204  false")
	check(follower.GetFollowFunction(), follow, "", "404")
	check(follower.UnfollowMatchFunction(), follow, "", "404")
	check(follower.UpdateFollowFunction(), follow, `{"teamId":"11"}`, "404")

	list := testkit.Decode[listed](w.World, testkit.Call(routes, follower.ListFollowsFunction(), "/user/follows", "ann", ""))
	if len(list.Follows) != 0 {
		t.Errorf("list-follows has %+v, want none", list.Follows)
	}

	check(follower.FollowMatchFunction(), follow, `{"teamId":"11","preferences":{"keyEventsOnly":true}}`, "201 11 false")
	check(follower.GetFollowFunction(), follow, "", "200 11 false")

	row := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann")
	if row.Off || row.Overrides == nil || !*row.Overrides.KeyEventsOnly {
		t.Errorf("the follow is %+v, want one that is not off, with preferences", row)
	}

	check(follower.UpdateFollowFunction(), follow, `{"preferences":{}}`, "200 11 false")

	if row := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann"); row.Overrides != nil || row.TeamID != "11" {
		t.Errorf("the follow is %+v, want team 11 and no preferences", row)
	}
}

// TestSubscriptionCrashes: after a crash of PUT or DELETE, the second call leaves one row and one entry in the list, or none.
func TestSubscriptionCrashes(t *testing.T) {
	t.Parallel()

	path, user := follower.SubjectPath{Kind: follower.Team, ID: "11"}, auth.User{UserID: "ann"}
	put := func(w *crickettest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, follower.OpenFollows).PutSubscription(w.NewContext(),
			&follower.PutSubscription{User: user, SubjectPath: path})

		return err
	}
	remove := func(w *crickettest.World, env app.Env) error {
		_, err := testkit.OpenWith(w.World, env, follower.OpenFollows).DeleteSubscription(w.NewContext(),
			&follower.DeleteSubscription{User: user, SubjectPath: path})

		return err
	}
	rows := func(w *crickettest.World) (all []string) {
		for _, r := range testkit.Rows[map[string]any](w.World, tables.Subscribers) {
			all = append(all, fmt.Sprint(r["subject"], r["ids"]))
		}

		return all
	}

	t.Run("put", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := withSubjects(t, 0)
			p.Ended(put(w, w.CrashingEnv(follower.PutSubscriptionFunction(), p)))
			testkit.Must(t, put(w, w.Env(follower.PutSubscriptionFunction())))

			return rows(w)
		})
	})

	t.Run("delete", func(t *testing.T) {
		t.Parallel()
		dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
			w := withSubjects(t, 0)
			testkit.Must(t, put(w, w.Env(follower.PutSubscriptionFunction())))

			if p.Ended(remove(w, w.CrashingEnv(follower.DeleteSubscriptionFunction(), p))) {
				_ = remove(w, w.Env(follower.DeleteSubscriptionFunction())) // NotFound if the crash came after the call
			}

			if got := rows(w); len(got) != 1 {
				t.Errorf("rows %q, want the empty list", got)
			}

			return rows(w)
		})
	})
}
