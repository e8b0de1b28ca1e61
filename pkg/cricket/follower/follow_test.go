package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// followed is what follow-match and get-follow answer.
type followed struct {
	MatchID, TeamID string
	ExpiresAt       time.Time
}

func TestFollow(t *testing.T) {
	t.Parallel()
	w := crickettest.Served(t) // 7 is live, 8 comes, and 9 is over
	long := w.Scripted("10")
	long.Type = "Test/5day"
	ended := w.Scripted("11")
	ended.EndingAt, ended.FinishedAt = 1, 1
	testkit.Put(w.World, tables.Fixtures, long, ended)
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
		before := len(testkit.Rows[follower.FollowRow](w.World, tables.Follows))
		out := testkit.Ask(routes, follower.FollowMatchFunction, "/user/follow/"+c.match, "ann", c.body)
		if c.status != http.StatusCreated {
			if err := testkit.Blames(out, c.status, c.field); err != nil || len(testkit.Rows[follower.FollowRow](w.World, tables.Follows)) != before {
				t.Errorf("%s %s: %v", c.match, c.body, err)
			}
			continue
		}
		want := followed{c.match, c.team, c.until.Truncate(time.Second)}
		var answer, got followed
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))
		testkit.Must(t, json.Unmarshal([]byte(testkit.Ask(routes, follower.GetFollowFunction, "/user/follow/"+c.match, "ann", "").Body), &got))
		if out.StatusCode != c.status || answer != want || got != want {
			t.Errorf("%s %s: answered %d %+v, and %+v is stored, want %+v", c.match, c.body, out.StatusCode, answer, got, want)
		}
	}

	// Following again keeps since when, and renews until when.
	first := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann")
	w.To(w.Clock.Now().Add(time.Hour))
	testkit.Ask(routes, follower.FollowMatchFunction, "/user/follow/7", "ann", "{}")
	if again := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann"); again.CreatedAt != first.CreatedAt || again.ExpiresAt <= first.ExpiresAt || again.TeamID != "" {
		t.Errorf("followed again, %+v became %+v", first, again)
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
		{"7", `{}`, 422, "body", "12"},
		{"9", `{"teamId":"12"}`, 404, "", ""},
		{"99", `{"teamId":"12"}`, 404, "", ""},
	} {
		out := testkit.Ask(routes, follower.UpdateFollowFunction, "/user/follow/"+c.match, "ann", c.body)
		if c.status != http.StatusOK {
			if err := testkit.Blames(out, c.status, c.field); err != nil {
				t.Errorf("%s %s: %v", c.match, c.body, err)
			}
		} else if out.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.match, c.body, out.StatusCode, out.Body)
		}
		if c.match == "7" {
			if got := testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann"); got.TeamID != c.team {
				t.Errorf("after %s she is a fan of %q, want %q", c.body, got.TeamID, c.team)
			}
		}
	}
	if n := len(testkit.Rows[follower.FollowRow](w.World, tables.Follows)); n != 3 {
		t.Errorf("%d matches are followed: an update has made one", n)
	}

	// A row that has expired is as none, whether or not it is gone.
	w.To(time.Unix(testkit.Row[follower.FollowRow](w.World, tables.Follows, "7", "ann").ExpiresAt, 0))
	for _, fn := range []spec.Function{follower.GetFollowFunction, follower.UpdateFollowFunction} {
		body := map[string]string{"PATCH": `{"teamId":"12"}`}[fn.On.(spec.Route).Method]
		if err := testkit.Blames(testkit.Ask(routes, fn, "/user/follow/7", "ann", body), http.StatusNotFound, ""); err != nil {
			t.Errorf("%s after it has expired: %v", fn.Name, err)
		}
	}
}

// remains are what there is when a user has left a match.
type remains struct {
	Follows    []string // "match user"
	Activities []string
}

func remainsOf(w *crickettest.World) (r remains) {
	for _, f := range testkit.Rows[follower.FollowRow](w.World, tables.Follows) {
		r.Follows = append(r.Follows, f.MatchID+" "+f.UserID)
	}
	for _, s := range testkit.Rows[activity.Subscription](w.World, tables.Subscriptions) {
		r.Activities = append(r.Activities, s.MatchID+" "+s.UserID)
	}
	slices.Sort(r.Follows)
	slices.Sort(r.Activities)
	return r
}

// crowd is a world in which ann and bob follow matches 7 and 8, with activities
// of more than one page of a query.
func crowd(t *testing.T) *crickettest.World {
	w := crickettest.New(t)
	for _, match := range []string{"7", "8"} {
		w.Scripted(match)
		for i, user := range []string{"ann", "bob", "ann", "bob", "ann"} {
			testkit.Put(w.World, tables.Follows, follower.FollowRow{Follow: follower.Follow{MatchID: match, UserID: user}, ExpiresAt: crickettest.KickOff.Add(time.Hour).Unix()})
			testkit.Put(w.World, tables.Subscriptions, struct {
				activity.Subscription
				Pad string `dynamodbav:"pad"`
			}{activity.Subscription{MatchID: match, PushToken: crickettest.Token(fmt.Sprint(match, i)), UserID: user}, strings.Repeat("x", 300<<10)})
		}
	}
	return w
}

var withoutAnn = remains{
	Follows:    []string{"7 bob", "8 ann", "8 bob"},
	Activities: []string{"7 bob", "7 bob", "8 ann", "8 ann", "8 ann", "8 bob", "8 bob"},
}

func TestUnfollow(t *testing.T) {
	t.Parallel()
	w := crowd(t)
	routes := w.Routes()
	calls := w.Count(func() {
		if out := testkit.Ask(routes, follower.UnfollowMatchFunction, "/user/follow/7", "ann", ""); out.StatusCode != http.StatusNoContent || out.Body != "" {
			t.Errorf("unfollowing is answered with %d %s", out.StatusCode, out.Body)
		}
	})
	if got := remainsOf(w); !reflect.DeepEqual(got, withoutAnn) || calls["Query"] < 2 {
		t.Errorf("left are %+v after %v, want %+v", got, calls, withoutAnn)
	}
	for range 2 { // nothing is left to do
		if err := testkit.Blames(testkit.Ask(routes, follower.UnfollowMatchFunction, "/user/follow/7", "ann", ""), http.StatusNotFound, ""); err != nil {
			t.Error(err)
		}
	}
	// What a first run has left, though the follow is gone.
	testkit.Put(w.World, tables.Subscriptions, activity.Subscription{MatchID: "7", PushToken: crickettest.Token("late"), UserID: "ann"})
	if out := testkit.Ask(routes, follower.UnfollowMatchFunction, "/user/follow/7", "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("the rest is answered with %d %s", out.StatusCode, out.Body)
	}
	if got := remainsOf(w); !reflect.DeepEqual(got, withoutAnn) {
		t.Errorf("left are %+v, want %+v", got, withoutAnn)
	}
}

// TestUnfollowSpares has an activity become another user's between being read
// and being deleted.
func TestUnfollowSpares(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	mine := activity.Subscription{MatchID: "7", PushToken: crickettest.Token("activity"), UserID: "ann"}
	testkit.Put(w.World, tables.Subscriptions, mine)
	env := w.Env(follower.UnfollowMatchFunction)
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		out, err := next.Do(r)
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			testkit.Put(w.World, tables.Subscriptions, activity.Subscription{MatchID: "7", PushToken: mine.PushToken, UserID: "bob"})
		}
		return out, err
	})
	s := testkit.OpenWith(w.World, env, follower.OpenFollows)
	_, err := s.UnfollowMatch(w.Ctx(), &follower.UnfollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"})
	testkit.Must(t, err)
	if got := remainsOf(w); !slices.Equal(got.Activities, []string{"7 bob"}) {
		t.Errorf("left are %q", got.Activities)
	}
}

func TestUnfollowCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) remains {
		w := crowd(t)
		in := &follower.UnfollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"}
		s := testkit.OpenWith(w.World, w.Crashing(follower.UnfollowMatchFunction, p), follower.OpenFollows)
		s.UnfollowMatch(w.Ctx(), in)
		testkit.Open(w.World, follower.UnfollowMatchFunction, follower.OpenFollows).UnfollowMatch(w.Ctx(), in) // NotFound, if the crash came after the last call
		got := remainsOf(w)
		if !reflect.DeepEqual(got, withoutAnn) {
			t.Errorf("left are %+v", got)
		}
		return got
	})
}
