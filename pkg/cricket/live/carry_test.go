package live_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// replaced returns a world whose match 7 was cancelled and is listed again as 8, two days later. ann supports
// the home team, bob nobody, cora follows 8 already as a fan of the visitors, and dan's account is deleted.
func replaced(t *testing.T) (*crickettest.World, live.MatchLeft) {
	w := crickettest.New(t)
	old, next := w.AddFixture("7"), w.AddFixture("8")
	old.Status = "Cancl."
	next.StartTime = crickettest.KickOff.Add(48 * time.Hour).Format(tables.TimeLayout)
	testkit.PutRows(w.World, tables.Fixtures, old, next)

	until := w.Clock.Now().Add(time.Hour).Unix()
	row := func(id, user, team string, until int64) follower.FollowRow {
		return follower.FollowRow{Follow: follower.Follow{MatchID: id, UserID: user}, TeamID: team, ExpiresAt: until}
	}

	testkit.PutRows(w.World, tables.Follows, row("7", "ann", "11", until), row("7", "bob", "", until), row("7", "cora", "11", until),
		row("8", "cora", "12", until), row("7", "dan", "11", until), row("7", "expired", "11", 1))
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "dan"})

	return w, live.MatchLeft{MatchID: "7", To: "8"}
}

// follows are the followers of match 8, with their teams, and the matches in the list of each user.
func follows(w *crickettest.World) map[string]string {
	all := map[string]string{}

	for _, f := range w.Follows() {
		if f.MatchID == "8" {
			all[f.UserID] = f.TeamID
		}
	}

	for user := range maps.Clone(all) {
		list, _, err := dynamo.Get[dynamo.List](w.NewContext(), w.DB(), spec.Access{Table: tables.Follows}, follower.FollowList(user)...)
		testkit.Must(w.T, err)

		all[user] += fmt.Sprint(" ", list.IDs)
	}

	return all
}

// carried are the follows after the message of replaced.
var carried = map[string]string{"ann": "11 [8]", "bob": " [8]", "cora": "12 []"}

func TestFollowersAreCarriedToTheNewID(t *testing.T) {
	t.Parallel()
	w, m := replaced(t)
	s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)

	testkit.Must(t, s.FinishMatch(w.NewContext(), m))

	if diff := cmp.Diff(carried, follows(w)); diff != "" {
		t.Errorf("followers of the new match (-want +got):\n%s", diff)
	}

	moved := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)
	if len(moved) != 1 || moved[0].MatchID != "8" || moved[0].Body != "Moved to Wednesday, 3 June, 12:00 UTC" {
		t.Errorf("the alerts %+v are sent, want one that the match was moved", moved)
	}
}

// TestWhoHasLeftIsNotCarried: a user who unfollows the old match before, or the new one after, follows
// nothing after a second run.
func TestWhoHasLeftIsNotCarried(t *testing.T) {
	t.Parallel()

	for name, left := range map[string][]string{"the old match before": {"7", "ann"}, "the new match after": {"8", "ann"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, m := replaced(t)
			s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)

			if left[0] == "8" {
				testkit.Must(t, s.FinishMatch(w.NewContext(), m))
			}

			out := testkit.Call(w.Routes(), follower.UnfollowMatchFunction(), "/user/follow/"+left[0], left[1], "")
			if out.StatusCode != 204 {
				t.Fatalf("the answer to unfollow is %d %s", out.StatusCode, out.Body)
			}

			testkit.Must(t, s.FinishMatch(w.NewContext(), m))

			if got := slices.Sorted(maps.Keys(follows(w))); !slices.Equal(got, []string{"bob", "cora"}) {
				t.Errorf("the followers are %v, want bob and cora", got)
			}
		})
	}
}

// TestNobodyIsCarriedToAMatchThatEnded: nor to one that is unknown.
func TestNobodyIsCarriedToAMatchThatEnded(t *testing.T) {
	t.Parallel()
	w, m := replaced(t)
	s := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	w.SetEnd("8", 1)

	testkit.Must(t, s.FinishMatch(w.NewContext(), m))
	testkit.Must(t, s.FinishMatch(w.NewContext(), live.MatchLeft{MatchID: "7", To: "9"}))

	if err := s.FinishMatch(w.NewContext(), live.MatchLeft{MatchID: "7", To: "x"}); err == nil {
		t.Error("a message with an id that is not valid is accepted")
	}

	if got := slices.Sorted(maps.Keys(follows(w))); !slices.Equal(got, []string{"cora"}) {
		t.Errorf("the followers are %v, want cora", got)
	}
}

func TestCrashWhileCarryingIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]string {
		w, m := replaced(t)
		s := testkit.OpenWith(w.World, w.CrashingEnv(live.FinishMatchFunction(), p), live.OpenFinisher)
		p.Ended(s.FinishMatch(w.NewContext(), m))

		restarted := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
		testkit.Must(t, restarted.FinishMatch(w.NewContext(), m))

		all := follows(w)
		for _, a := range testkit.Messages[alert.Alert](w.World, tables.AlertQueue) {
			all[a.Key] = a.Body
		}

		return all
	})
}

// TestCarryingPausesWhenTimeIsUp: the message is sent again, and goes on.
func TestCarryingPausesWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	w, _ := replaced(t)

	var rows [2]match.Fixture
	for i, id := range []string{"7", "8"} {
		rows[i] = testkit.Row[match.Fixture](w.World, tables.Fixtures, id)
	}

	db := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher).DB()

	runs := 0

	for done := false; !done; runs++ {
		once := 0

		var err error
		done, err = follower.CarryFollows(w.NewContext(), db, rows[0], rows[1], w.Clock.Now, func() bool { once++; return once == 1 })
		testkit.Must(t, err)

		if runs > 10 {
			t.Fatal("it does not end")
		}
	}

	if diff := cmp.Diff(carried, follows(w)); diff != "" {
		t.Errorf("followers of the new match (-want +got):\n%s", diff)
	}

	if runs < 3 {
		t.Errorf("%d runs of one follower each, want 3 or more", runs)
	}
}
