package alert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/push"
)

// addSubscriber stores a user who follows a team or a league, and the user's phones: the first is the one that was used
// last. Their tokens are derived from their names.
func addSubscriber(w *crickettest.World, user string, subject follower.Subject, o *follower.Overrides, phones ...string) {
	w.T.Helper()
	now := w.Clock.Now()
	testkit.PutRows(w.World, tables.Subscribers, follower.SubscriptionRow{Subject: subject, UserID: user, Overrides: o})

	for i, phone := range phones {
		testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{
			UserID: user, DeviceToken: crickettest.Token(phone), OSMajor: 17, PushToStart: crickettest.Token(phone + " starts"),
			Phone:     push.Phone{Platform: "ios", Environment: "production"},
			UpdatedAt: now.Add(-time.Duration(i) * time.Minute).UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
		})
	}
}

// rings returns how often the phones rang that did.
func rings(w *crickettest.World, phones ...string) map[string]int {
	all := map[string]int{}

	for _, phone := range phones {
		if n := ringCount(w, phone); n != 0 {
			all[phone] = n
		}
	}

	return all
}

// TestSubscribersGetAlerts: followers of both teams and of the league get the alert once on each of their phones, unless the
// subscription does not want it.
func TestSubscribersGetAlerts(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)

	addFollower(w, "follows", "11")
	addSubscriber(w, "home", "team/11", nil, "home 1", "home 2")
	addSubscriber(w, "home", "league/3", nil)
	addSubscriber(w, "away", "team/12", nil, "away 1")
	addSubscriber(w, "league", "league/3", nil, "league 1")
	addSubscriber(w, "another", "team/13", nil, "another 1")
	addSubscriber(w, "quiet", "team/11", &follower.Overrides{KeyEventsOnly: new(true)}, "quiet 1")
	addSubscriber(w, "unfollowed", "league/3", nil, "unfollowed 1")
	testkit.PutRows(w.World, tables.Follows, follower.FollowRow{
		Follow: follower.Follow{MatchID: "7", UserID: "unfollowed"}, Off: true, ExpiresAt: w.Clock.Now().Add(time.Hour).Unix(),
	})

	a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
	for range 2 { // the second run sends nothing
		testkit.Must(t, a.SendAlert(w.NewContext(), wicketAlert(w)))
	}

	want := map[string]int{"follows": 1, "home 1": 1, "home 2": 1, "away 1": 1, "league 1": 1}

	got := rings(w, "follows", "home 1", "home 2", "away 1", "league 1", "another 1", "quiet 1", "unfollowed 1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phones that rang (-want +got):\n%s", diff)
	}
}

// TestSubscribersGetAlertsAfterACrash: whatever call of an alert fails or is the last one, each phone shows it once.
func TestSubscribersGetAlertsAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]int {
		w := worldWithFollowedMatch(t)
		addFollower(w, "b", "11")

		for _, user := range []string{"a", "c", "e"} {
			addSubscriber(w, user, "team/11", nil, user+" 1", user+" 2")
		}

		addSubscriber(w, "d", "league/3", nil, "d 1")
		sendWithCrash(w, p, wicketAlert(w), alert.BatchSizes{Message: 2, Part: 1, Page: 2})

		shown := map[string]int{}
		for _, phone := range []string{"a 1", "a 2", "b", "c 1", "c 2", "d 1", "e 1", "e 2"} {
			shown[phone] = len(alertsOf(w, phone))
		}

		return shown
	})
}

// TestActivityOfASubscriber: the start of play starts one activity, on the phone that was used last, unless the user has
// one of the match. Then the app's ends, and the next start begins another.
func TestActivityOfASubscriber(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	now := w.Clock.Now()
	storeDisplays(w)

	addSubscriber(w, "new", "team/11", nil, "new 1", "new 2")
	addSubscriber(w, "has one", "league/3", nil, "has one 1")
	addSubscriber(w, "has ended", "league/3", nil, "has ended 1")
	addSubscriber(w, "by hand", "league/3", nil, "by hand 1")
	setPreferences(w, "by hand", follower.Preferences{Alerts: follower.DefaultPreferences().Alerts, ManualStart: true})

	for user, ended := range map[string]bool{"has one": false, "has ended": true} {
		testkit.Must(t, follower.MarkActivity(w.NewContext(), w.DB(), "7", user, now.Add(-time.Minute), ended))
	}

	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), startAlert(w)))

	started := func() map[string]bool {
		all := map[string]bool{}

		for _, phone := range []string{"new 1", "new 2", "has one 1", "has ended 1", "by hand 1"} {
			if d, _ := w.Phones.Device(crickettest.Token(phone + " starts")); len(d.Alerts) > 0 {
				all[phone] = true
			}
		}

		return all
	}
	if diff := cmp.Diff(map[string]bool{"new 1": true, "has ended 1": true}, started()); diff != "" {
		t.Errorf("phones with a started activity (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(map[string]int{"new 2": 1, "has one 1": 1, "by hand 1": 1},
		rings(w, "new 1", "new 2", "has one 1", "has ended 1", "by hand 1")); diff != "" {
		t.Errorf("phones that rang (-want +got):\n%s", diff)
	}
}

// TestRegistrationOfASubscriber: an activity that a subscriber registers and ends is in the claim of its start.
func TestRegistrationOfASubscriber(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	s := activity.NewActivities(w.Env(activity.StartActivityFunction()), nil)

	in := &activity.StartActivity{User: auth.User{UserID: "ann"}, MatchID: "7"}
	in.Body.PushToken = push.Token(crickettest.Token("card"))
	out, err := s.StartActivity(w.NewContext(), in)
	testkit.Must(t, err)

	claim := func() follower.OwnActivity {
		return testkit.Row[follower.OwnActivity](w.World, tables.Prematch, follower.StartClaim("7", "ann")...)
	}
	if got := claim(); got.ActivityAt != w.Clock.Now().Unix() || got.ActivityEndedAt != 0 {
		t.Errorf("after the registration: %+v", got)
	}

	e := activity.NewActivities(w.Env(activity.EndActivityFunction()), nil)
	_, err = e.EndActivity(w.NewContext(), &activity.EndActivity{User: in.User, MatchID: "7", ActivityID: out.Body.ActivityID})
	testkit.Must(t, err)

	if got := claim(); got.ActivityAt != 0 || got.ActivityEndedAt != w.Clock.Now().Unix() {
		t.Errorf("after the end: %+v", got)
	}
}
