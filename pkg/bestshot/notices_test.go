package bestshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	simfcm "matchday/infra/sim/fcm"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

// TestLeagueMembersAreReminded: a member of a league that follows the tournament is reminded without a
// guess. A member of a league that does not is not reminded.
func TestLeagueMembersAreReminded(t *testing.T) {
	t.Parallel()
	w, c, _ := season(t)
	w.Register("cyd")

	for user, follows := range map[string]bool{"bob": true, "cyd": false} {
		id := testkit.Decode[struct{ ID string }](w.World, w.Do(user, "POST", "/leagues", map[string]string{"name": user})).ID

		if follows {
			w.Do(user, "PATCH", "/leagues/"+id+"/tournaments", map[string]any{"tournaments": []string{c.ID}})
		}
	}

	w.MoveClock(bestshottest.Noon.Add(hour + time.Second))

	if diff := cmp.Diff([]string{"ann: 2 of cup from 7 13:00", "bob: 2 of cup from 7 13:00"}, text(remind(w))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRemindersOfAnEarlierDeployment: a reminder that has no pass is not sent again.
func TestRemindersOfAnEarlierDeployment(t *testing.T) {
	t.Parallel()
	w, _, _ := season(t)
	w.MoveClock(bestshottest.Noon.Add(hour + time.Second))

	_, err := pg.Do(t.Context(), w.DB, `
INSERT INTO reminder (member_id, match_id, kind)
SELECT p.id, m.id, '24h'
FROM member p
CROSS JOIN match m
WHERE m.external_id LIKE '%2'`)
	testkit.Must(t, err)

	if diff := cmp.Diff([]string{"ann: 1 of cup from 7 13:00"}, text(remind(w))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoticesReachPhones: each phone shows a reminder of a message once, also if the message comes twice.
func TestNoticesReachPhones(t *testing.T) {
	t.Parallel()
	w, _, apple := season(t)
	w.Do("bob", "POST", "/devices", map[string]string{"deviceToken": phone("c")})
	w.MoveClock(bestshottest.Noon.Add(hour + time.Second))

	r := remind(w)[0]
	other := r
	other.UserID = "bob"

	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)
	for range 2 {
		testkit.Must(t, s.SendNotices(w.NewContext(), notice.Notices{Reminders: []notice.Reminder{r, other}}))
	}

	for _, name := range []string{"a", "b", "c"} {
		if d, _ := apple.Device(phone(name)); len(d.Alerts) != 1 {
			t.Errorf("phone %s shows %d notifications, want 1", name, len(d.Alerts))
		}
	}
}

// TestMembersWhoAreNotReachedAreTriedAgain: alone, so that no other phone rings again. If nobody was reached, the message
// fails.
func TestMembersWhoAreNotReachedAreTriedAgain(t *testing.T) {
	t.Parallel()

	w := bestshottest.New(t)
	apple, google := w.WithAPNs(notice.APNSKey, notice.APNSBundle), w.WithFCM()
	token := "dQw4w9WgXcQ:APA91b-" + phone("c")
	google.Install(token)
	w.Register("ann", "bob")
	w.Do("ann", "POST", "/devices", map[string]string{"deviceToken": phone("a")})
	w.Do("bob", "POST", "/devices", map[string]string{"deviceToken": token, "platform": "android"})
	google.Answer(token, simfcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: 2})

	to := func(user string) notice.Reminder {
		return notice.Reminder{UserID: user, Tournament: "cup", Matches: 2, KickOff: bestshottest.Noon.Add(hour), ID: "cup-2h"}
	}
	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)

	testkit.Must(t, s.SendNotices(w.NewContext(), notice.Notices{Reminders: []notice.Reminder{to("bob"), to("ann")}}))

	rest := testkit.Messages[notice.Notices](w.World, notice.NoticeQueue)
	if diff := cmp.Diff([]notice.Notices{{Reminders: []notice.Reminder{to("bob")}}}, rest); diff != "" {
		t.Fatalf("tried again (-want +got):\n%s", diff)
	}

	if err := s.SendNotices(w.NewContext(), rest[0]); problem.Of(err) != problem.Unavailable {
		t.Errorf("without one who was reached: %v", err)
	}

	testkit.Drain(w.World, notice.NoticeQueue, time.Hour, s.SendNotices)

	a, _ := apple.Device(phone("a"))
	b, _ := google.Phone(token)

	if len(a.Alerts) != 1 || a.Alerts[0].Times != 1 || len(b.Notifications) != 1 || b.Notifications[0].Times != 1 {
		t.Errorf("ann has %+v, and bob %+v", a.Alerts, b.Notifications)
	}

	w.Logs.TakeWarnings()
}

// TestReminderOptOut: a member who wants no reminders gets none, and keeps the nickname. With another
// request the next match is reminded of again. The choice is in the member and in the export.
func TestReminderOptOut(t *testing.T) {
	t.Parallel()
	w, _, _ := season(t)

	for _, s := range []struct {
		wanted bool
		after  time.Duration
		want   []string
	}{
		{false, hour + time.Second, nil},
		{true, 23*hour + time.Second, []string{"ann: 2 of cup from 7 13:00"}},
	} {
		for range 2 {
			w.Do("ann", "PATCH", "/member", map[string]any{"reminders": s.wanted})
		}

		got := testkit.Decode[struct {
			NickName  string
			Reminders bool
		}](w.World, w.Do("ann", "GET", "/member", nil))
		if got.NickName != "ann" || got.Reminders != s.wanted {
			t.Errorf("the member is %+v, want reminders: %t", got, s.wanted)
		}

		if text := fmt.Sprint(exported(t, w, "ann")["member"]); !strings.Contains(text, fmt.Sprint("reminders:", s.wanted)) {
			t.Errorf("the export has %s, want reminders: %t", text, s.wanted)
		}

		w.MoveClock(bestshottest.Noon.Add(s.after))

		if diff := cmp.Diff(s.want, text(remind(w))); diff != "" {
			t.Errorf("wanted %t (-want +got):\n%s", s.wanted, diff)
		}
	}
}
