package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// followed decodes the answers of follow-match and get-follow.
type followed struct {
	MatchID, TeamID string
	ExpiresAt       time.Time
}

// TestFollow: a match can be followed until it is over, as a fan of one of its teams or
// of neither. Only a follower can change the team.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := crickettest.NewWithMatches(t) // 7 is live, 8 has not started, and 9 is over
	long := w.AddFixture("10")
	long.Type = "Test/5day"
	ended := w.AddFixture("11")
	ended.EndingAt, ended.FinishedAt = 1, 1
	testkit.PutRows(w.World, tables.Fixtures, long, ended)
	routes := w.Routes()

	now := w.Clock.Now()
	for _, c := range []struct {
		match, body string
		status      int
		field, team string
		until       time.Time
	}{
		{"7", "", 201, "", "", now.Add(24*time.Hour + match.KeepFollow)},
		{"7", "{}", 201, "", "", now.Add(24*time.Hour + match.KeepFollow)},
		{"7", `{"teamId":"12"}`, 201, "", "12", now.Add(24*time.Hour + match.KeepFollow)},
		{"8", `{"teamId":"11"}`, 201, "", "11", crickettest.KickOff.Add(25*time.Hour + match.KeepFollow)},
		{"10", `{}`, 201, "", "", now.Add(6*24*time.Hour + match.KeepFollow)},
		{"7", `{"teamId":"13"}`, 400, "body.teamId", "", time.Time{}},
		{"7", `{"teamId":"neutral"}`, 201, "", "", now.Add(24*time.Hour + match.KeepFollow)},
		{"7", `{"teamId":"Neutral"}`, 422, "body.teamId", "", time.Time{}},
		{"7", `{"userId":"bob"}`, 422, "body.userId", "", time.Time{}},
		{"9", `{"teamId":"12"}`, 409, "", "", time.Time{}},
		{"11", `{}`, 409, "", "", time.Time{}},
		{"99", `{}`, 404, "", "", time.Time{}},
		{"x", `{}`, 422, "path.matchId", "", time.Time{}},
	} {
		before := len(w.Follows())

		out := testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/"+c.match, "ann", c.body)
		if c.status != http.StatusCreated {
			if err := testkit.CheckProblemField(out, c.status, c.field); err != nil || len(w.Follows()) != before {
				t.Errorf("%s %s: %v", c.match, c.body, err)
			}

			continue
		}

		want := followed{c.match, c.team, c.until.Truncate(time.Second)}

		var answer, got followed
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))
		testkit.Must(t, json.Unmarshal([]byte(testkit.Call(routes, follower.GetFollowFunction(), "/user/follow/"+c.match, "ann", "").Body), &got))

		if out.StatusCode != c.status || answer != want || got != want {
			t.Errorf("%s %s: answer %d %+v, get-follow %+v, want %+v", c.match, c.body, out.StatusCode, answer, got, want)
		}
	}

	// Following again keeps createdAt and renews expiresAt.
	first := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann")
	w.MoveClock(w.Clock.Now().Add(time.Hour))
	testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/7", "ann", "{}")

	if again := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7",
		"ann"); again.CreatedAt != first.CreatedAt || again.ExpiresAt <= first.ExpiresAt || again.TeamID != "" {
		t.Errorf("followed again (-first +second), want only a later expiry:\n%s", cmp.Diff(first, again))
	}

	for _, c := range []struct {
		match, body string
		status      int
		field, team string
	}{
		{"7", `{"teamId":"11"}`, 200, "", "11"},
		{"7", `{"teamId":"neutral"}`, 200, "", ""},
		{"7", `{"teamId":"12"}`, 200, "", "12"},
		{"7", `{"teamId":"13"}`, 400, "body.teamId", "12"},
		{"7", `{"teamId":""}`, 422, "body.teamId", "12"},
		{"7", `{}`, 400, "body", "12"},
		{"9", `{"teamId":"12"}`, 404, "", ""},
		{"99", `{"teamId":"12"}`, 404, "", ""},
	} {
		out := testkit.Call(routes, follower.UpdateFollowFunction(), "/user/follow/"+c.match, "ann", c.body)
		if c.status != http.StatusOK {
			if err := testkit.CheckProblemField(out, c.status, c.field); err != nil {
				t.Errorf("%s %s: %v", c.match, c.body, err)
			}
		} else if out.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.match, c.body, out.StatusCode, out.Body)
		} else {
			var answer followed
			testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))

			if diff := cmp.Diff(followed{c.match, c.team, w.Clock.Now().Add(24*time.Hour + match.KeepFollow).Truncate(time.Second)},
				answer); diff != "" {
				t.Errorf("the answer to %s (-want +got):\n%s", c.body, diff)
			}
		}

		if c.match == "7" {
			if got := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann"); got.TeamID != c.team {
				t.Errorf("after %s: team %q, want %q", c.body, got.TeamID, c.team)
			}
		}
	}

	if n := len(w.Follows()); n != 3 {
		t.Errorf("%d follows, want 3: an update must not create one", n)
	}

	// An expired row counts as none, even before DynamoDB deletes it.
	w.MoveClock(time.Unix(testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann").ExpiresAt, 0))

	for _, fn := range []app.Function{follower.GetFollowFunction(), follower.UpdateFollowFunction()} {
		body := map[string]string{"PATCH": `{"teamId":"12"}`}[fn.On.(spec.Route).Method]
		if err := testkit.CheckProblemField(testkit.Call(routes, fn, "/user/follow/7", "ann", body), http.StatusNotFound, ""); err != nil {
			t.Errorf("%s after the expiry: %v", fn.Name, err)
		}
	}
}

// listed decodes the answer of list-follows.
type listed struct {
	Follows []followed
	Next    string
}

// TestFollowsAreListed: a user reads the matches that the user follows, the one followed last first,
// in pages. Matches of other users, unfollowed and expired ones are not among them.
func TestFollowsAreListed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()

	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		w.AddFixture(id)
	}

	follow := func(user, id, team string) {
		t.Helper()

		body := fmt.Sprintf(`{"teamId":%q}`, team)
		if out := testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/"+id, user, body); out.StatusCode != http.StatusCreated {
			t.Fatalf("%s follows %s: %d %s", user, id, out.StatusCode, out.Body)
		}
	}

	list := func(user, query string) (got listed) {
		t.Helper()

		out := testkit.Call(routes, follower.ListFollowsFunction(), "/user/follows"+query, user, "")
		if out.StatusCode != http.StatusOK {
			t.Fatalf("%s lists %s: %d %s", user, query, out.StatusCode, out.Body)
		}

		testkit.Must(t, json.Unmarshal([]byte(out.Body), &got))

		return got
	}

	until := w.AddFixture("9").Expiry(w.Clock.Now(), match.KeepFollow)
	of := func(id, team string) followed { return followed{id, team, time.Unix(until, 0).UTC()} }

	check := func(name, user, query string, want listed) {
		t.Helper()

		if diff := cmp.Diff(want, list(user, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	check("nothing is followed", "ann", "", listed{Follows: []followed{}})

	for _, id := range []string{"1", "2", "3", "4"} {
		follow("ann", id, "11")
	}

	follow("bob", "5", "12")
	follow("ann", "2", "neutral") // again, for neither team

	check("the last first", "ann", "", listed{Follows: []followed{of("2", ""), of("4", "11"), of("3", "11"), of("1", "11")}})
	check("of another user", "bob", "", listed{Follows: []followed{of("5", "12")}})
	check("a page", "ann", "?limit=3", listed{Follows: []followed{of("2", ""), of("4", "11"), of("3", "11")}, Next: "3"})
	check("the next page", "ann", "?limit=3&cursor=3", listed{Follows: []followed{of("1", "11")}})

	testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/4", "ann", "")
	check("without an unfollowed match", "ann", "?limit=3", listed{Follows: []followed{of("2", ""), of("3", "11")}, Next: "3"})

	for _, id := range []string{"6", "7", "8", "9"} {
		follow("ann", id, "11")
	}

	// The sixth is match 4, which ann has unfollowed.
	check("at most six", "ann", "", listed{
		Follows: []followed{of("9", "11"), of("8", "11"), of("7", "11"), of("6", "11"), of("2", "")}, Next: "4",
	})

	if err := testkit.CheckProblemCode(testkit.Call(routes, follower.ListFollowsFunction(), "/user/follows?cursor=5", "ann", ""),
		http.StatusBadRequest, "bad_cursor"); err != nil {
		t.Errorf("the cursor of another user: %v", err)
	}

	w.MoveClock(time.Unix(until, 0))
	check("after the expiry", "bob", "", listed{Follows: []followed{}})
}

// TestDeletedUserListsNoFollows: a token that is still valid does not show what was followed.
func TestDeletedUserListsNoFollows(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	w.AddFixture("7")
	testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/7", "ann", "")
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})

	out := testkit.Call(routes, follower.ListFollowsFunction(), "/user/follows", "ann", "")
	if err := testkit.CheckProblemCode(out, http.StatusUnauthorized, account.ErrDeleted.Code); err != nil {
		t.Error(err)
	}
}

// TestPageOfFollowsCostsFourUnits: with as many follows as a user may have, a page costs 4 read
// units and two calls. An empty list costs one unit and one call.
func TestPageOfFollowsCostsFourUnits(t *testing.T) {
	t.Parallel()

	type cost struct {
		Units dynamodb.Units
		Calls map[string]int
	}

	got := map[int]cost{}

	for _, n := range []int{0, 6, follower.MaxFollows} {
		w := crickettest.New(t)
		routes := w.Routes()
		at := w.Clock.Now().Add(time.Hour).Unix()
		list := dynamo.List{ExpiresAt: at, TTL: at}

		for i := range n {
			id := fmt.Sprint(9_000_000_000_000_000_000 + uint64(i)) // as long as an id can be
			list.IDs = append(list.IDs, id)
			testkit.PutRows(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: id, UserID: "ann"}, ExpiresAt: at})
		}

		if n > 0 {
			key := follower.FollowList("ann")
			testkit.PutRows(w.World, tables.Follows, struct {
				follower.Follow
				dynamo.List
			}{follower.Follow{MatchID: key[0], UserID: key[1]}, list})
		}

		var c cost

		c.Units = w.CountUnits(func() {
			c.Calls = w.CountCalls(func() { testkit.Call(routes, follower.ListFollowsFunction(), "/user/follows", "ann", "") })
		})
		got[n] = c
	}

	full := cost{dynamodb.Units{Reads: 4}, map[string]int{"BatchGetItem": 2}}
	want := map[int]cost{0: {dynamodb.Units{Reads: 1}, map[string]int{"BatchGetItem": 1}}, 6: full, follower.MaxFollows: full}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("costs by the number of follows (-want +got):\n%s", diff)
	}
}

// followerRows are the follows and activities of all matches, sorted.
type followerRows struct {
	Follows    []string // "match user"
	Activities []string
}

func rowsOf(w *crickettest.World) (r followerRows) {
	for _, f := range w.Follows() {
		r.Follows = append(r.Follows, f.MatchID+" "+f.UserID)
	}

	for _, s := range w.Subscriptions() {
		r.Activities = append(r.Activities, s.MatchID+" "+s.UserID)
	}

	slices.Sort(r.Follows)
	slices.Sort(r.Activities)

	return r
}

// withFollowers returns a world in which ann and bob follow matches 7 and 8.
func withFollowers(t *testing.T) *crickettest.World {
	w := crickettest.New(t)
	for _, match := range []string{"7", "8"} {
		w.AddFixture(match)

		for i, user := range []string{"ann", "bob", "ann", "bob", "ann"} {
			testkit.PutRows(w.World, tables.Follows,
				follower.FollowRow{Follow: follower.Follow{MatchID: match, UserID: user}, ExpiresAt: crickettest.KickOff.Add(time.Hour).Unix()})
			w.AddActivities(activity.Subscription{MatchID: match, PushToken: crickettest.Token(fmt.Sprint(match, i)), UserID: user})
		}
	}

	return w
}

var withoutAnn = followerRows{
	Follows:    []string{"7 bob", "8 ann", "8 bob"},
	Activities: []string{"7 bob", "7 bob", "8 ann", "8 ann", "8 ann", "8 bob", "8 bob"},
}

// TestUnfollowDeletesFollowAndActivities: unfollowing deletes the rows of the caller and
// the match, and no others.
func TestUnfollowDeletesFollowAndActivities(t *testing.T) {
	t.Parallel()
	w := withFollowers(t)

	routes := w.Routes()
	if out := testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/7", "ann",
		""); out.StatusCode != http.StatusNoContent || out.Body != "" {
		t.Errorf("unfollow: %d %s, want 204 without a body", out.StatusCode, out.Body)
	}

	if diff := cmp.Diff(withoutAnn, rowsOf(w)); diff != "" {
		t.Errorf("after unfollow (-want +got):\n%s", diff)
	}

	for range 2 { // nothing remains to be deleted
		if err := testkit.CheckProblemField(testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/7", "ann", ""),
			http.StatusNotFound, ""); err != nil {
			t.Error(err)
		}
	}
	// A second call deletes an activity that remains without the follow.
	w.AddActivities(activity.Subscription{MatchID: "7", PushToken: crickettest.Token("late"), UserID: "ann"})

	if out := testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/7", "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("unfollow with only an activity: %d %s, want 204", out.StatusCode, out.Body)
	}

	if diff := cmp.Diff(withoutAnn, rowsOf(w)); diff != "" {
		t.Errorf("after the second unfollow (-want +got):\n%s", diff)
	}
}

// TestCostOfUnfollowIsIndependentOfTheAudience: the units and calls of an unfollow are
// equal among few and many activities of other users.
func TestCostOfUnfollowIsIndependentOfTheAudience(t *testing.T) {
	t.Parallel()

	type cost struct {
		Units dynamodb.Units
		Calls map[string]int
	}

	costs := map[int]cost{}

	for _, others := range []int{10, 2000} {
		w := withFollowers(t)

		rows := make([]activity.Subscription, others)
		for i := range rows {
			rows[i] = activity.Subscription{MatchID: "7", PushToken: crickettest.Token(fmt.Sprint("other", i)), UserID: fmt.Sprint("other", i)}
		}

		testkit.PutRows(w.World, tables.Subscriptions, rows...)
		routes := w.Routes()

		var c cost

		c.Units = w.CountUnits(func() {
			c.Calls = w.CountCalls(func() { testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/7", "ann", "") })
		})
		costs[others] = c
	}

	// the follow in a transaction with the check of the account, three activities and their list
	want := cost{dynamodb.Units{Reads: 3, Writes: 8}, map[string]int{"GetItem": 3, "DeleteItem": 4, "TransactWriteItems": 1}}
	if diff := cmp.Diff(map[int]cost{10: want, 2000: want}, costs); diff != "" {
		t.Errorf("costs by the number of other activities (-want +got):\n%s", diff)
	}
}

// TestFollowsAreLimited: a user who follows the maximum can renew a follow, and can
// follow another match after an unfollow or an expiry. Concurrent requests do not exceed
// the maximum.
func TestFollowsAreLimited(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()

	id := func(i int) string { return fmt.Sprint(100 + i) }
	for i := range follower.MaxFollows + 2 {
		w.AddFixture(id(i))
	}

	follow := func(i int) string {
		out := testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/"+id(i), "ann", "")
		if err := testkit.CheckProblemCode(out, http.StatusConflict, "too_many_follows"); err == nil {
			return "refused"
		}

		return fmt.Sprint(out.StatusCode)
	}

	check := func(when string, i int, want string) {
		t.Helper()

		if got := follow(i); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	for i := range follower.MaxFollows - 1 {
		check("below the maximum", i, "201")
	}

	var wg sync.WaitGroup

	answers := make([]string, 3)
	for i := range answers {
		wg.Go(func() { answers[i] = follow(follower.MaxFollows - 1 + i) })
	}

	wg.Wait()

	if slices.Sort(answers); !slices.Equal(answers, []string{"201", "refused", "refused"}) || len(w.Follows()) != follower.MaxFollows {
		t.Errorf("three concurrent requests for the last place: %q, %d follows; want one of them and %d", answers,
			len(w.Follows()), follower.MaxFollows)
	}

	check("a renewal", 0, "201")
	testkit.Must(t, w.DeleteRow(tables.Follows, id(follower.MaxFollows-1), "ann"))
	testkit.Must(t, w.DeleteRow(tables.Follows, id(follower.MaxFollows), "ann"))
	testkit.Must(t, w.DeleteRow(tables.Follows, id(follower.MaxFollows+1), "ann"))
	check("after the last follow was deleted", follower.MaxFollows, "201")
	testkit.Call(routes, follower.UnfollowMatchFunction(), "/user/follow/"+id(3), "ann", "")
	check("after an unfollow", follower.MaxFollows+1, "201")
	check("without a place", 3, "refused")
	w.MoveClock(time.Unix(testkit.Row[follower.FollowRow](w.World, tables.Follows, id(5), "ann").ExpiresAt, 0))
	check("after the expiry", 3, "201")
}

// TestFollowCrashes: after a crash and a second run the follow and its list are complete.
func TestFollowCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := crickettest.New(t)
		w.AddFixture("7")

		in := &follower.FollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"}

		_, err := testkit.OpenWith(w.World, w.CrashingEnv(follower.FollowMatchFunction(), p), follower.OpenFollows).FollowMatch(w.NewContext(),
			in)
		if p.Ended(err) {
			_, err := testkit.Open(w.World, follower.FollowMatchFunction(), follower.OpenFollows).FollowMatch(w.NewContext(), in)
			testkit.Must(t, err)
		}

		return append(testkit.Row[dynamo.List](w.World, tables.Follows, follower.FollowList("ann")...).IDs, rowsOf(w).Follows...)
	})
}

// TestUnfollowSparesOtherUsers: an activity that another user registers between the
// read of the list and the delete remains.
func TestUnfollowSparesOtherUsers(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	mine := activity.Subscription{MatchID: "7", PushToken: crickettest.Token("activity"), UserID: "ann"}
	w.AddActivities(mine)
	testkit.PutRows(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: "7", UserID: "ann"}})
	env := w.Env(follower.UnfollowMatchFunction())
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		out, err := next.Do(r)
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			testkit.PutRows(w.World, tables.Subscriptions, activity.Subscription{MatchID: "7", PushToken: mine.PushToken, UserID: "bob"})
		}

		return out, err
	})
	s := testkit.OpenWith(w.World, env, follower.OpenFollows)
	_, err := s.UnfollowMatch(w.NewContext(), &follower.UnfollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"})
	testkit.Must(t, err)

	if got := rowsOf(w); !slices.Equal(got.Activities, []string{"7 bob"}) {
		t.Errorf("activities %q, want that of bob", got.Activities)
	}
}

func TestUnfollowCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) followerRows {
		w := withFollowers(t)
		in := &follower.UnfollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"}
		s := testkit.OpenWith(w.World, w.CrashingEnv(follower.UnfollowMatchFunction(), p), follower.OpenFollows)
		_, err := s.UnfollowMatch(w.NewContext(), in)
		p.Ended(err)
		// NotFound if the crash came after the last call
		testkit.Open(w.World, follower.UnfollowMatchFunction(), follower.OpenFollows).UnfollowMatch(w.NewContext(), in)

		got := rowsOf(w)
		if diff := cmp.Diff(withoutAnn, got); diff != "" {
			t.Errorf("after a crash and a second unfollow (-want +got):\n%s", diff)
		}

		return got
	})
}

// TestRemoveFollowsReadsAllPages removes more follows than fit a page of a query.
func TestRemoveFollowsReadsAllPages(t *testing.T) {
	t.Parallel()

	w := crickettest.New(t)
	for i := range 30 {
		testkit.PutRows(w.World, tables.Follows, map[string]any{
			"matchId": "7", "userId": fmt.Sprint("fan ", i), "padding": strings.Repeat("x", 100_000), // 10 rows fill a page of 1 MB
		})
	}

	testkit.PutRows(w.World, tables.Follows, map[string]any{"matchId": "8", "userId": "fan of another"})

	if done, err := follower.RemoveFollows(t.Context(), w.DB(), "7", func() bool { return true }); err != nil || !done {
		t.Errorf("done %v, %v; want true", done, err)
	}

	left := testkit.Rows[follower.Follow](w.World, tables.Follows)
	if diff := cmp.Diff([]follower.Follow{{MatchID: "8", UserID: "fan of another"}}, left); diff != "" {
		t.Errorf("follows left (-want +got):\n%s", diff)
	}
}
