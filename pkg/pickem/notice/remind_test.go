package notice_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// queuedReminders runs the job and returns the queued notices by recipient: "bob: Title,
// Body".
func queuedReminders(w *pickemtest.Room) (all []string) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminder).Remind(w.NewContext()))

	for range w.Queues.Messages(notice.Queue.Name) {
		m := w.Receive(notice.Queue)
		w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(notice.Queue.Name), "ReceiptHandle": m.ReceiptHandle}, nil)

		var n notice.Notice
		testkit.Must(w.T, json.Unmarshal([]byte(m.Body), &n))

		for _, u := range n.UserIDs {
			all = append(all, fmt.Sprintf("%s: %s, %s", u, n.Title, n.Body))
		}
	}

	slices.Sort(all)

	return all
}

// TestMembersAreRemindedADayAndTwoHoursAhead: once each, and again if lockAt changes.
func TestMembersAreRemindedADayAndTwoHoursAhead(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	w.CreateShow(1) // starts a week after Noon, and locks an hour before
	w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 60), "far-away", 1)
	w.Pick("ann", pickemtest.Show, 0)

	locks := pickemtest.Noon.AddDate(0, 0, 7).Add(-time.Hour)

	const day, hours = ": clash-of-tides, You have not picked yet, and it locks in 24 hours.", ": clash-of-tides, You have not picked yet, " +
		"and it locks in 2 hours."
	for _, step := range []struct {
		name string
		at   time.Time
		do   func()
		want []string
	}{
		{"before the first reminder", locks.Add(-notice.DayAhead - time.Second), nil, nil},
		{"a day ahead", locks.Add(-notice.DayAhead), nil, []string{"bob" + day, "cat" + day}},
		{"again", locks.Add(-notice.DayAhead + 15*time.Minute), nil, nil},
		{"a member who joins later", locks.Add(-20 * time.Hour), func() { w.AddMembers("dan") }, nil},
		{"before the second reminder", locks.Add(-notice.HoursAhead - time.Second), nil, nil},
		{"two hours ahead, cat has picked", locks.Add(-notice.HoursAhead), func() { w.Pick("cat", pickemtest.Show, 0) },
			[]string{"bob" + hours, "dan" + hours}},
		{"again", locks.Add(-time.Minute), nil, nil},
		{"lockAt moved by an hour", locks.Add(-time.Minute), func() {
			w.MustAdmin(event.UpdateEventFunction(), "/admin/events/"+pickemtest.Show, map[string]any{"lockAt": locks.Add(time.Hour)})
		}, []string{"bob: clash-of-tides, You have not picked yet, and it locks in 1 hour and 1 minute.",
			"dan: clash-of-tides, You have not picked yet, and it locks in 1 hour and 1 minute."}},
		{"again", locks, nil, nil},
		{"lockAt moved by a day", locks, func() {
			w.MustAdmin(event.UpdateEventFunction(), "/admin/events/"+pickemtest.Show,
				map[string]any{"lockAt": locks.Add(23 * time.Hour), "startsAt": locks.Add(48 * time.Hour)})
		}, []string{"bob: clash-of-tides, You have not picked yet, and it locks in 23 hours.",
			"dan: clash-of-tides, You have not picked yet, and it locks in 23 hours."}},
		{"locked early", locks.Add(22 * time.Hour), func() {
			w.MustAdmin(event.UpdateEventFunction(), "/admin/events/"+pickemtest.Show, map[string]any{"state": item.Broadcast})
		}, nil},
		{"at lockAt", locks.Add(23 * time.Hour), func() {
			w.MustAdmin(event.UpdateEventFunction(), "/admin/events/"+pickemtest.Show,
				map[string]any{"lockAt": locks.Add(23*time.Hour + time.Second), "state": item.Upcoming})
			w.MoveClock(locks.Add(23*time.Hour + time.Second))
		}, nil},
	} {
		w.MoveClock(step.at)

		if step.do != nil {
			step.do()
		}

		if got := queuedReminders(w); !slices.Equal(got, step.want) {
			t.Errorf("%s: members notified (-want +got):\n%s", step.name, cmp.Diff(step.want, got))
		}
	}
}

// TestReminderHasAtMost100Recipients: more recipients are divided into several messages.
func TestReminderHasAtMost100Recipients(t *testing.T) {
	t.Parallel()

	w := pickemtest.New(t)
	for i := range 2*notice.MaxUsers + 1 {
		w.AddMembers(fmt.Sprintf("fan%03d", i))
	}

	w.CreateShow(1)
	w.MoveClock(pickemtest.Noon.AddDate(0, 0, 7).Add(-24 * time.Hour))
	testkit.Must(t, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminder).Remind(w.NewContext()))

	var sizes []int

	all := map[string]bool{}

	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		sizes = append(sizes, len(n.UserIDs))
		for _, u := range n.UserIDs {
			all[u] = true
		}

		if err := n.Check(); err != nil {
			t.Error(err)
		}
	}

	if want := []int{notice.MaxUsers, notice.MaxUsers, 1}; !slices.Equal(sizes, want) || len(all) != 2*notice.MaxUsers+1 {
		t.Errorf("%d members in messages of %v, want %d in %v", len(all), sizes, 2*notice.MaxUsers+1, want)
	}
}

// TestReminderReachesThePhone: only members without a prediction get it.
func TestReminderReachesThePhone(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann", "bob")
	w.RegisterPhone("red", "ann")
	w.RegisterPhone("green", "bob")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.MoveClock(pickemtest.Noon.AddDate(0, 0, 7).Add(-2 * time.Hour))
	testkit.Must(t, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminder).Remind(w.NewContext()))
	testkit.Drain(w.World, notice.Queue, 0, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices)

	want := []string{"green: clash-of-tides, You have not picked yet, and it locks in 1 hour."}
	if got := notificationsOn(phones, "red", "green"); !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestRemindCrashes(t *testing.T) {
	t.Parallel()

	type outcome struct{ Shown, Done []string }

	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := pickemtest.New(t)
		phones := w.WithAPNs()
		w.AddMembers("ann", "bob", "cat")

		for _, u := range []string{"ann", "bob", "cat"} {
			w.RegisterPhone(u, u)
		}

		w.CreateShow(1)
		other := w.CreateEvent(pickemtest.Noon.AddDate(0, 0, 7).Add(time.Hour), "second", 1)
		w.Pick("ann", pickemtest.Show, 0)
		w.Pick("bob", other, 0)
		w.MoveClock(pickemtest.Noon.AddDate(0, 0, 6))
		p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(notice.RemindFunction(), p), notice.OpenReminder).Remind(w.NewContext()))
		again := testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminder)
		testkit.Must(t, again.Remind(w.NewContext()))
		testkit.Drain(w.World, notice.Queue, 0, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices)
		w.MoveClock(w.Clock.Now().Add(15 * time.Minute))
		testkit.Must(t, again.Remind(w.NewContext()))

		if n := len(w.Queues.Messages(notice.Queue.Name)); n != 0 {
			t.Errorf("a third run queued %d messages, want none", n)
		}

		o := outcome{Shown: notificationsOn(phones, "ann", "bob", "cat")}

		for _, r := range testkit.Rows[notice.Delivery](w.World, tables.Pickem) {
			if r.SK == notice.NoticeDone {
				o.Done = append(o.Done, r.PK)
			}
		}

		slices.Sort(o.Shown) // a failure at one event does not delay the other's
		slices.Sort(o.Done)

		return o
	})
}

func TestInWords(t *testing.T) {
	t.Parallel()

	for d, want := range map[time.Duration]string{
		time.Nanosecond:                       "1 minute",
		59*time.Minute + 29*time.Second:       "59 minutes",
		59*time.Minute + 30*time.Second:       "1 hour",
		time.Hour + time.Minute:               "1 hour and 1 minute",
		2*time.Hour - 10*time.Second:          "2 hours",
		23*time.Hour + 45*time.Minute:         "23 hours and 45 minutes",
		24 * time.Hour:                        "24 hours",
		time.Minute:                           "1 minute",
		3*time.Hour + 2*time.Minute + 9999999: "3 hours and 2 minutes",
	} {
		if got := notice.InWords(d); got != want {
			t.Errorf("%v in words is %q, want %q", d, got, want)
		}
	}
}

// TestReminderTakesSeveralRuns: each goes on behind the last page, and one that stops at any call
// repeats no more than its page.
func TestReminderTakesSeveralRuns(t *testing.T) {
	t.Parallel()

	const members, page = 11, 4

	for at, calls := 0, 1; at <= calls; at++ {
		w := pickemtest.New(t)
		for n := range members {
			w.AddMembers(fmt.Sprintf("u%02d", n))
		}

		w.CreateShow(1)
		w.Pick("u03", pickemtest.Show, 0)
		w.MoveClock(pickemtest.ShowLockAt.Add(-notice.HoursAhead))

		got, runs := map[string]int{}, 0

		for range 8 {
			env := w.Env(notice.RemindFunction())
			if runs++; runs == 2 && at > 0 {
				env.AWS = dynamotest.CrashAt(at, false).AWS(env.AWS)
			}

			if err := testkit.OpenWith(w.World, env, notice.OpenReminder).Bound(0, page).Remind(w.NewContext()); err != nil && runs != 2 {
				t.Fatal(err)
			}

			for range w.Queues.Messages(notice.Queue.Name) {
				m := w.Receive(notice.Queue)
				w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(notice.Queue.Name), "ReceiptHandle": m.ReceiptHandle}, nil)

				var n notice.Notice
				testkit.Must(t, json.Unmarshal([]byte(m.Body), &n))

				for _, u := range n.UserIDs {
					got[u]++
				}
			}
		}

		if at == 0 {
			calls = 9
		}

		again := 0

		for n := range members {
			user := fmt.Sprintf("u%02d", n)
			if picked := user == "u03"; picked != (got[user] == 0) {
				t.Errorf("a crash at call %d: %s got %d notices; has picked: %t", at, user, got[user], picked)
			}

			again += max(got[user]-1, 0)
		}

		if again > page || at == 0 && again > 0 {
			t.Errorf("a crash at call %d: %d notices were queued again, want at most a page of %d", at, again, page)
		}
	}
}
