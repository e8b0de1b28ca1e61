package pickem

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
)

// reminds runs the job, and returns what it has told, to whom: "bob: Title, Body".
func (w *world) reminds() (all []string) {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, RemindFunction, OpenReminder).Remind(w.Ctx()))
	for range w.Queues.Messages(noticeQueue.Name) {
		m := w.Receive(noticeQueue)
		w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(noticeQueue.Name), "ReceiptHandle": m.ReceiptHandle}, nil)
		var n Notice
		testkit.Must(w.T, json.Unmarshal([]byte(m.Body), &n))
		for _, u := range n.UserIDs {
			all = append(all, fmt.Sprintf("%s: %s, %s", u, n.Title, n.Body))
		}
	}
	slices.Sort(all)
	return all
}

func TestRemind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "cat")
	w.clash(2) // it begins a week after noon, and locks an hour before
	w.announce(noon.AddDate(0, 0, 60), "far-away", 1)
	w.pick("ann", show, 0)
	locks := noon.AddDate(0, 0, 7).Add(-time.Hour)
	const day, hours = ": clash-of-tides, You have not picked yet, and it locks in 24 hours.", ": clash-of-tides, You have not picked yet, and it locks in 2 hours."
	for _, step := range []struct {
		name string
		at   time.Time
		do   func()
		want []string
	}{
		{"too early", locks.Add(-dayAhead - time.Second), nil, nil},
		{"a day before", locks.Add(-dayAhead), nil, []string{"bob" + day, "cat" + day}},
		{"again", locks.Add(-dayAhead + 15*time.Minute), nil, nil},
		{"who comes later is not chased", locks.Add(-20 * time.Hour), func() { w.join("dan") }, nil},
		{"not yet", locks.Add(-hoursAhead - time.Second), nil, nil},
		{"two hours before, who has picked meanwhile is left alone", locks.Add(-hoursAhead), func() { w.pick("cat", show, 0) }, []string{"bob" + hours, "dan" + hours}},
		{"again", locks.Add(-time.Minute), nil, nil},
		{"it is moved by an hour", locks.Add(-time.Minute), func() {
			w.admin(UpdateEventFunction, "/admin/events/"+show, map[string]any{"lockAt": locks.Add(time.Hour)})
		}, []string{"bob: clash-of-tides, You have not picked yet, and it locks in 1 hour and 1 minute.", "dan: clash-of-tides, You have not picked yet, and it locks in 1 hour and 1 minute."}},
		{"again", locks, nil, nil},
		{"it is moved by a day", locks, func() {
			w.admin(UpdateEventFunction, "/admin/events/"+show, map[string]any{"lockAt": locks.Add(23 * time.Hour), "startsAt": locks.Add(48 * time.Hour)})
		}, []string{"bob: clash-of-tides, You have not picked yet, and it locks in 23 hours.", "dan: clash-of-tides, You have not picked yet, and it locks in 23 hours."}},
		{"it is locked before its time", locks.Add(22 * time.Hour), func() {
			w.admin(UpdateEventFunction, "/admin/events/"+show, map[string]any{"state": broadcast})
		}, nil},
		{"its time has come", locks.Add(23 * time.Hour), func() {
			w.admin(UpdateEventFunction, "/admin/events/"+show, map[string]any{"lockAt": locks.Add(23*time.Hour + time.Second), "state": upcoming})
			w.To(locks.Add(23*time.Hour + time.Second))
		}, nil},
	} {
		w.To(step.at)
		if step.do != nil {
			step.do()
		}
		if got := w.reminds(); !slices.Equal(got, step.want) {
			t.Errorf("%s: told are %q, want %q", step.name, got, step.want)
		}
	}
}

// TestRemindMany cuts members into messages of a hundred.
func TestRemindMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 2*maxUsers + 1 {
		w.join(fmt.Sprintf("fan%03d", i))
	}
	w.clash(1)
	w.To(noon.AddDate(0, 0, 7).Add(-24 * time.Hour))
	testkit.Must(t, testkit.Open(w.World, RemindFunction, OpenReminder).Remind(w.Ctx()))
	var sizes []int
	all := map[string]bool{}
	for _, n := range testkit.Messages[Notice](w.World, noticeQueue) {
		sizes = append(sizes, len(n.UserIDs))
		for _, u := range n.UserIDs {
			all[u] = true
		}
		if err := n.check(); err != nil {
			t.Error(err)
		}
	}
	if want := []int{maxUsers, maxUsers, 1}; !slices.Equal(sizes, want) || len(all) != 2*maxUsers+1 {
		t.Errorf("the messages are for %d members, %v, want %v", len(all), sizes, want)
	}
}

// TestReminded has reminders arrive.
func TestReminded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	phones := w.withPhones()
	w.join("ann", "bob")
	w.phone("red", "ann")
	w.phone("green", "bob")
	w.clash(1)
	w.pick("ann", show, 0)
	w.To(noon.AddDate(0, 0, 7).Add(-2 * time.Hour))
	testkit.Must(t, testkit.Open(w.World, RemindFunction, OpenReminder).Remind(w.Ctx()))
	testkit.Drain(w.World, noticeQueue, 0, w.notifier(w.Env(SendNoticesFunction)).SendNotices)
	want := []string{"green: clash-of-tides, You have not picked yet, and it locks in 1 hour."}
	if got := shows(phones, "red", "green"); !slices.Equal(got, want) {
		t.Errorf("the phones show %q, want %q", got, want)
	}
}

func TestRemindCrashes(t *testing.T) {
	t.Parallel()
	type outcome struct{ Shown, Done []string }
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := newWorld(t)
		phones := w.withPhones()
		w.join("ann", "bob", "cat")
		for _, u := range []string{"ann", "bob", "cat"} {
			w.phone(u, u)
		}
		w.clash(1)
		other := w.announce(noon.AddDate(0, 0, 7).Add(time.Hour), "second", 1)
		w.pick("ann", show, 0)
		w.pick("bob", other, 0)
		w.To(noon.AddDate(0, 0, 6))
		testkit.OpenWith(w.World, w.Crashing(RemindFunction, p), OpenReminder).Remind(w.Ctx())
		again := testkit.Open(w.World, RemindFunction, OpenReminder)
		testkit.Must(t, again.Remind(w.Ctx()))
		testkit.Drain(w.World, noticeQueue, 0, w.notifier(w.Env(SendNoticesFunction)).SendNotices)
		w.To(w.Clock.Now().Add(15 * time.Minute))
		testkit.Must(t, again.Remind(w.Ctx()))
		if n := len(w.Queues.Messages(noticeQueue.Name)); n != 0 {
			t.Errorf("a third run sends %d messages", n)
		}
		o := outcome{Shown: shows(phones, "ann", "bob", "cat")}
		for _, r := range testkit.Rows[told](w.World, table) {
			if r.SK == noticeDone {
				o.Done = append(o.Done, r.PK)
			}
		}
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
		if got := inWords(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
