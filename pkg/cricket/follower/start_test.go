package follower_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
)

// starts lists the places of the followed matches of all users.
func starts(w *crickettest.World) (all []string) {
	for _, r := range testkit.Rows[follower.StartRow](w.World, tables.Follows) {
		if strings.Contains(r.At, "/") {
			all = append(all, r.Partition+" "+r.At)
		}
	}

	return all
}

// moved returns a world in which ann follows match 7, which was moved afterwards.
func moved(t *testing.T) *crickettest.World {
	t.Helper()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	_, err := testkit.Open(w.World, follower.FollowMatchFunction(), follower.OpenFollows).FollowMatch(w.NewContext(), followOf("7"))
	testkit.Must(t, err)

	f.StartTime = crickettest.KickOff.Add(time.Hour).Format(tables.TimeLayout)
	testkit.PutRows(w.World, tables.Fixtures, f)

	return w
}

func followOf(id string) *follower.FollowMatch {
	return &follower.FollowMatch{User: auth.User{UserID: "ann"}, MatchID: id}
}

// TestFollowOfAMovedMatchCrashes: after a crash and a second run the match has one place, that of its new start.
func TestFollowOfAMovedMatchCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := moved(t)

		_, err := testkit.OpenWith(w.World, w.CrashingEnv(follower.FollowMatchFunction(), p), follower.OpenFollows).FollowMatch(w.NewContext(), followOf("7"))
		if p.Ended(err) {
			_, err := testkit.Open(w.World, follower.FollowMatchFunction(), follower.OpenFollows).FollowMatch(w.NewContext(), followOf("7"))
			testkit.Must(t, err)
		}

		got := starts(w)
		if diff := cmp.Diff([]string{"#USER#ann 2026-06-01T13:00:00Z/7"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}

		return got
	})
}

// TestUnfollowOfAMovedMatchCrashes: after a crash and a second run the follow and its place are gone.
func TestUnfollowOfAMovedMatchCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := moved(t)
		in := &follower.UnfollowMatch{User: auth.User{UserID: "ann"}, MatchID: "7"}
		_, err := testkit.OpenWith(w.World, w.CrashingEnv(follower.UnfollowMatchFunction(), p), follower.OpenFollows).UnfollowMatch(w.NewContext(), in)
		p.Ended(err)
		// NotFound if the crash came after the last call
		testkit.Open(w.World, follower.UnfollowMatchFunction(), follower.OpenFollows).UnfollowMatch(w.NewContext(), in)

		if got := starts(w); len(got) > 0 || len(w.Follows()) > 0 {
			t.Errorf("after a crash and a second unfollow: places %q, follows %+v", got, w.Follows())
		}

		return starts(w)
	})
}

// TestStartsExpire: a place that has expired is not read, and those before the time are not.
func TestStartsExpire(t *testing.T) {
	t.Parallel()
	w := moved(t)
	now := w.Clock.Now()

	for _, c := range []struct {
		from, now time.Time
		want      int
	}{
		{now, now, 1},
		{crickettest.KickOff.Add(time.Second), now, 0},
		{now, crickettest.KickOff.Add(24*time.Hour + match.KeepFollow), 0},
	} {
		rows, more, err := follower.ReadStarts(w.NewContext(), w.DB(), "ann", c.from, c.now, nil)
		if err != nil || len(rows) != c.want || more {
			t.Errorf("from %v at %v: %+v, %v, %v, want %d", c.from, c.now, rows, more, err, c.want)
		}
	}
}
