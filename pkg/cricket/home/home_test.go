package home_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/home"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
)

// answer decodes a home.
type answer struct {
	Live, Next, Results []shown
	More                bool
}

type shown struct{ ID, ActivitySince string }

// String returns the ids of the matches, with a star for an activity.
func (a answer) String() string {
	var parts []string

	for _, list := range [][]shown{a.Live, a.Next, a.Results} {
		var all []string

		for _, m := range list {
			if m.ActivitySince != "" {
				m.ID += "*"
			}

			all = append(all, m.ID)
		}

		parts = append(parts, strings.Join(all, " "))
	}

	return strings.Join(parts, " | ") + map[bool]string{true: " and more"}[a.More]
}

// homeOf returns the home of a user.
func homeOf(t *testing.T, w *crickettest.World, user string) string {
	t.Helper()
	return testkit.Decode[answer](w.World, testkit.Call(w.Routes(), home.GetHomeFunction(), "/user/home", user, "")).String()
}

// addMatch stores a match with its summary. A match that is live or over has begun.
func addMatch(w *crickettest.World, id string, start time.Time, phase sportmonks.Phase, kind string) {
	f := w.AddFixture(id)
	f.StartTime, f.Type = start.Format(tables.TimeLayout), kind
	testkit.PutRows(w.World, tables.Fixtures, f)
	w.AddSummary(f)
	setPhase(w, id, phase)
}

func setPhase(w *crickettest.World, id string, phase sportmonks.Phase) {
	r := testkit.Row[match.SummaryRow](w.World, tables.Summaries, id)
	r.Score.Phase, r.Live = phase, map[bool]string{true: match.Live}[phase == sportmonks.Live]
	testkit.PutRows(w.World, tables.Summaries, r)
}

func follow(t *testing.T, w *crickettest.World, user string, matches ...string) {
	t.Helper()

	routes := w.Routes()
	for _, id := range matches {
		if out := testkit.Call(routes, follower.FollowMatchFunction(), "/user/follow/"+id, user, "{}"); out.StatusCode != 201 {
			t.Fatalf("follow %s: %d %s", id, out.StatusCode, out.Body)
		}
	}
}

// TestHome: the home has what the user follows, by the state of the match, with the user's activity.
func TestHome(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	now := w.Clock.Now()

	addMatch(w, "1", now.Add(-time.Hour), sportmonks.Live, "T20")
	addMatch(w, "2", now.Add(-50*time.Hour), sportmonks.Live, "Test")
	addMatch(w, "3", now.Add(time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "4", now.Add(30*time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "5", now.Add(-20*time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "6", now.Add(-7*24*time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "7", now.Add(-time.Hour), sportmonks.Live, "T20")
	follow(t, w, "ann", "4", "3", "2", "1", "5", "6")
	follow(t, w, "bob", "7")
	setPhase(w, "5", sportmonks.Result)
	setPhase(w, "6", sportmonks.Result)

	if got, want := homeOf(t, w, "ann"), "1 2 | 3 4 | 5"; got != want {
		t.Errorf("home %q, want %q", got, want)
	}

	start := testkit.Call(w.WithPhones().Routes(), activity.StartActivityFunction(), "/user/activity/1", "ann",
		fmt.Sprintf(`{"pushToken":%q}`, crickettest.Token("ann")))
	if start.StatusCode != 201 {
		t.Fatalf("start-activity: %d %s", start.StatusCode, start.Body)
	}

	testkit.Call(w.Routes(), follower.UnfollowMatchFunction(), "/user/follow/3", "ann", "")

	if got, want := homeOf(t, w, "ann"), "1* 2 | 4 | 5"; got != want {
		t.Errorf("home with an activity and without 3: %q, want %q", got, want)
	}

	w.MoveClock(now.Add(12 * time.Hour)) // the activity has ended
	setPhase(w, "1", sportmonks.Result)

	// The end of a match removes its follows, and its result stays.
	done, err := follower.RemoveFollows(t.Context(), w.DB(), "1", func() bool { return true })
	if err != nil || !done {
		t.Fatal(done, err)
	}

	if got, want := homeOf(t, w, "ann"), "2 | 4 | 1 5"; got != want {
		t.Errorf("home after the end of 1: %q, want %q", got, want)
	}

	if got, want := homeOf(t, w, "eve"), " |  | "; got != want {
		t.Errorf("home of nobody: %q, want %q", got, want)
	}
}

// TestHomeOfASubscriber: the home has the matches of followed teams and leagues, but for those that were unfollowed.
func TestHomeOfASubscriber(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	now := w.Clock.Now()

	testkit.PutRows(w.World, tables.Teams, catalog.TeamRow{ProvidedTeam: catalog.ProvidedTeam{TeamID: "11"}})
	addMatch(w, "1", now.Add(-time.Hour), sportmonks.Live, "T20")
	addMatch(w, "2", now.Add(time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "3", now.Add(50*time.Hour), sportmonks.Upcoming, "T20")
	addMatch(w, "4", now.Add(-20*time.Hour), sportmonks.Result, "T20")
	follow(t, w, "ann", "3")

	if got, want := homeOf(t, w, "ann"), " | 3 | "; got != want {
		t.Errorf("home before the subscription: %q, want %q", got, want)
	}

	routes := w.Routes()

	for _, c := range []struct {
		fn     app.Function
		target string
		want   string // the home afterwards
	}{
		{follower.PutSubscriptionFunction(), "/user/subscriptions/team/11", "1 | 2 3 | 4"},
		{follower.UnfollowMatchFunction(), "/user/follow/2", "1 | 3 | 4"},
		{follower.UnfollowMatchFunction(), "/user/follow/3", "1 |  | 4"},
		{follower.FollowMatchFunction(), "/user/follow/2", "1 | 2 | 4"},
		{follower.DeleteSubscriptionFunction(), "/user/subscriptions/team/11", " | 2 | "},
	} {
		if out := testkit.Call(routes, c.fn, c.target, "ann", ""); out.StatusCode >= 300 {
			t.Fatalf("%s: %d %s", c.target, out.StatusCode, out.Body)
		}

		if got := homeOf(t, w, "ann"); got != c.want {
			t.Errorf("after %s %s: %q, want %q", c.fn.Name, c.target, got, c.want)
		}
	}
}

// TestMovedMatchIsOnceOnHome: a match that is followed again after it was moved has one row, which an unfollow
// deletes.
func TestMovedMatchIsOnceOnHome(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	now := w.Clock.Now()

	addMatch(w, "1", now.Add(time.Hour), sportmonks.Upcoming, "T20")
	follow(t, w, "ann", "1")
	addMatch(w, "1", now.Add(3*time.Hour), sportmonks.Upcoming, "T20")
	follow(t, w, "ann", "1", "1")

	starts := func() (all []string) {
		for _, r := range testkit.Rows[follower.StartRow](w.World, tables.Follows) {
			if strings.HasSuffix(r.At, "/1") {
				all = append(all, r.At)
			}
		}

		return all
	}

	if diff := cmp.Diff([]string{now.Add(3*time.Hour).Format(tables.TimeLayout) + "/1"}, starts()); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}

	testkit.Call(w.Routes(), follower.UnfollowMatchFunction(), "/user/follow/1", "ann", "")

	if got := starts(); len(got) > 0 || len(w.Follows()) > 0 {
		t.Errorf("after the unfollow: starts %q, follows %+v", got, w.Follows())
	}
}

// TestHomeHasWhatIsNext: of many followed matches those in play come first, then two results and the next.
func TestHomeHasWhatIsNext(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	now := w.Clock.Now()

	var all []string

	for i := range 20 {
		id := fmt.Sprint(100 + i)
		addMatch(w, id, now.Add(time.Duration(i-10)*13*time.Hour-time.Minute), sportmonks.Upcoming, "T20")
		all = append(all, id)
	}

	slices.Reverse(all) // the order in which they are followed does not matter
	follow(t, w, "ann", all...)

	for i := range 10 {
		setPhase(w, fmt.Sprint(100+i), sportmonks.Result)
	}

	setPhase(w, "110", sportmonks.Live)

	if got, want := homeOf(t, w, "ann"), "110 | 111 112 | 109 108 and more"; got != want {
		t.Errorf("home %q, want %q", got, want)
	}
}

// TestReadUnitsOfHome: a home costs at most 4 read units, and so does a page of activities, whatever the number of
// matches, follows and activities.
func TestReadUnitsOfHome(t *testing.T) {
	t.Parallel()

	for _, n := range []int{10, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			now := w.Clock.Now()

			var rows []any

			for i := range n {
				id := fmt.Sprint(1_000_000 + i)
				addMatch(w, id, now.Add(time.Duration(i-n/2)*time.Hour), sportmonks.Upcoming, "T20")

				rows = append(rows, follower.StartRow{
					Partition: "#USER#" + fan, At: now.Add(time.Duration(i-n/2)*time.Hour).Format(tables.TimeLayout) + "/" + id, ExpiresAt: 2e9,
				})
			}

			testkit.PutRows(w.World, tables.Follows, rows...)

			for i := range n {
				s := w.Subscribe(fmt.Sprint(1_000_000+i), fan, "")
				s.PushToken = strings.Repeat(s.PushToken, 2) + s.PushToken[:32]
				w.AddActivities(s)
			}

			routes := w.Routes()

			for target, fn := range map[string]func() float64{
				"home": func() float64 {
					testkit.Call(routes, home.GetHomeFunction(), "/user/home", fan, "") // reads the calendar for the next minute

					return w.CountUnits(func() { testkit.Call(routes, home.GetHomeFunction(), "/user/home", fan, "") }).Reads
				},
				"activities": func() float64 {
					return w.CountUnits(func() { testkit.Call(routes, home.ListActivitiesFunction(), "/user/activities", fan, "") }).Reads
				},
			} {
				if got := fn(); got > 4 {
					t.Errorf("%d follows: %s costs %g read units, want at most 4", n, target, got)
				} else {
					t.Logf("%d follows: %s costs %g read units", n, target, got)
				}
			}
		})
	}
}

// fan is a user id of the length that Cognito gives.
const fan = "7f6c1f0e-5d0a-4c5e-9b57-0000000a0001"

// TestListActivities: all activities of the caller are listed once, on pages of any size, until they end.
func TestListActivities(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	now := w.Clock.Now()

	var want []string

	for i := range 7 {
		for n := range i%3 + 1 {
			s := w.Subscribe(fmt.Sprint(100+i), fmt.Sprint("ann's phone ", i, n), "11")
			s.UserID = "ann"
			w.AddActivities(s)
			want = append(want, fmt.Sprint(100+i, " ", crickettest.TokenID(fmt.Sprint("ann's phone ", i, n))))
		}
	}

	w.Subscribe("100", "bob", "")

	list := func(user string, limit int) (all []string) {
		for next := ""; ; {
			target := fmt.Sprint("/user/activities?limit=", limit, next)
			page := testkit.Decode[struct {
				Activities []home.Activity
				Next       string
			}](w.World, testkit.Call(w.Routes(), home.ListActivitiesFunction(), target, user, ""))

			for _, a := range page.Activities {
				all = append(all, fmt.Sprint(a.MatchID, " ", a.ActivityID))

				if a.TeamID != "11" || !a.Since.Equal(now) || a.ExpiresAt.Before(now) {
					t.Errorf("activity %+v", a)
				}
			}

			if next = "&cursor=" + url.QueryEscape(page.Next); page.Next == "" {
				return all
			}
		}
	}

	for _, limit := range []int{1, 2, 3, 4} {
		if diff := cmp.Diff(want, list("ann", limit)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}

	if got := list("eve", 4); len(got) > 0 {
		t.Errorf("activities of nobody: %q", got)
	}

	w.MoveClock(now.Add(24 * time.Hour)) // they expire

	if got := list("ann", 4); len(got) > 0 {
		t.Errorf("expired activities: %q", got)
	}
}

// TestActivityOfAChannelIsListed: an activity without a push token is listed while it may be on a lock screen.
func TestActivityOfAChannelIsListed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()
	addMatch(w, "1", w.Clock.Now(), sportmonks.Live, "T20")
	w.RegisterPhones("18.0", "ann")

	if out := testkit.Call(w.Routes(), activity.StartActivityFunction(), "/user/activity/1", "ann", "{}"); out.StatusCode != 201 {
		t.Fatalf("start-activity: %d %s", out.StatusCode, out.Body)
	}

	listed := func() int {
		return len(testkit.Decode[struct{ Activities []home.Activity }](w.World,
			testkit.Call(w.Routes(), home.ListActivitiesFunction(), "/user/activities", "ann", "")).Activities)
	}

	if got := listed(); got != 1 {
		t.Errorf("%d activities, want 1", got)
	}

	w.MoveClock(w.Clock.Now().Add(12 * time.Hour))

	if got := listed(); got != 0 {
		t.Errorf("%d activities after 12 h, want none", got)
	}
}
