package follower_test

import (
	"fmt"
	"math"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// TestSampleIsRightWithinTenPercent: of 20,000 users, and of more.
func TestSampleIsRightWithinTenPercent(t *testing.T) {
	t.Parallel()

	for matchID := range 50 {
		for _, users := range []int{20_000, 100_000} {
			n := 0

			for i := range users {
				if follower.IsCounted(fmt.Sprint(900_000+matchID), fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012x", i)) {
					n += follower.Sample
				}
			}

			if off := math.Abs(float64(n-users)) / float64(users); off > 0.1 {
				t.Errorf("%d users of match %d are counted as %d", users, matchID, n)
			}
		}
	}
}

// counted returns a user who is in the sample of match 7, or who is not.
func counted(in bool) string {
	for i := 0; ; i++ {
		if user := fmt.Sprint("user ", i); follower.IsCounted("7", user) == in {
			return user
		}
	}
}

// inPlay returns a world with match 7 in play.
func inPlay(t *testing.T) *crickettest.World {
	t.Helper()
	w := crickettest.New(t)
	w.WithFCM()

	f := w.AddFixture("7")
	f.Live = match.Live
	testkit.PutRows(w.World, tables.Fixtures, f)

	return w
}

// phones returns the number of Android phones of the matches in play.
func phones(w *crickettest.World) int {
	w.T.Helper()
	n, err := follower.ReadPhones(w.T.Context(), w.DB())
	testkit.Must(w.T, err)

	return n
}

// subscribe asks for the topic of match 7, as the app of an Android phone does.
func subscribe(w *crickettest.World, user string) *activity.Started {
	w.T.Helper()
	in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: "7"}
	in.Body.Platform, in.Body.TeamID = push.Android, "11"

	out, err := testkit.Open(w.World, activity.StartActivityFunction(), activity.OpenActivities).StartActivity(w.NewContext(), in)
	testkit.Must(w.T, err)

	return out
}

// TestAudienceCountsAUserOnce, until the user unfollows the match. A user out of the sample writes nothing.
func TestAudienceCountsAUserOnce(t *testing.T) {
	t.Parallel()
	w := inPlay(t)
	user := counted(true)

	for range 3 {
		subscribe(w, user)
	}

	if got := w.CountUnits(func() { subscribe(w, counted(false)) }).Writes; got != 0 || phones(w) != follower.Sample {
		t.Errorf("%d phones, want %d; a user out of the sample costs %v write units", phones(w), follower.Sample, got)
	}

	follows := testkit.Open(w.World, follower.UnfollowMatchFunction(), follower.OpenFollows)
	in := &follower.UnfollowMatch{User: auth.User{UserID: user}, MatchID: "7"}

	for range 2 {
		if _, err := follows.UnfollowMatch(w.NewContext(), in); err == nil {
			t.Error("who does not follow the match unfollows it")
		}
	}

	if got := phones(w); got != 0 {
		t.Errorf("after the user has unfollowed the match there are %d phones", got)
	}

	subscribe(w, user)

	if got := phones(w); got != follower.Sample {
		t.Errorf("after the user has come back there are %d phones", got)
	}
}

// TestMatchesInPlayCount: the followers of a match that is to come do not.
func TestMatchesInPlayCount(t *testing.T) {
	t.Parallel()
	w := inPlay(t)
	w.AddFixture("8")
	testkit.PutRows(w.World, tables.Locks, map[string]any{"lockKey": "phones:7", "phones": 320}, map[string]any{"lockKey": "phones:8", "phones": 1600})

	if got := phones(w); got != 320 {
		t.Errorf("there are %d phones, want 320", got)
	}
}

// TestCountSurvivesACrash: whatever call is the last one, the next request of the app finds the user counted, once at most.
func TestCountSurvivesACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) bool {
		w := inPlay(t)
		user := counted(true)
		in := &activity.StartActivity{User: auth.User{UserID: user}, MatchID: "7"}
		in.Body.Platform = push.Android

		crashing := testkit.OpenWith(w.World, w.CrashingEnv(activity.StartActivityFunction(), p), activity.OpenActivities)
		if _, err := crashing.StartActivity(w.NewContext(), in); p.Ended(err) {
			subscribe(w, user)
		}

		if n := phones(w); n > follower.Sample {
			t.Errorf("%d phones are counted", n)
		}

		key := follower.ActivityList(user, "7")
		row, _, err := dynamo.Get[follower.ActivityRow](t.Context(), w.DB(), spec.Access{Table: tables.Subscriptions}, key...)
		testkit.Must(t, err)

		return row.PhoneAt != 0 && row.TTL > w.Clock.Now().Unix()
	})
}

// TestTopics: the name has the stage and the perspective, in what FCM allows.
func TestTopics(t *testing.T) {
	t.Parallel()

	if got := follower.Topic("prod", "900001", match.Neutral); got != "prod-match-900001-neutral" {
		t.Errorf("the topic is %q", got)
	}

	w := inPlay(t)
	out := subscribe(w, "ann")

	want := follower.Topic(w.Env(activity.StartActivityFunction()).Stage, "7", "11")
	if out.Body.Topic != want || out.Body.SubscribeWithin != 30 || out.Body.Channel != "" || out.Body.ActivityID != "" {
		t.Errorf("the answer is %+v, want the topic %s", out.Body, want)
	}
}
