package commitcollect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// minted returns a world in which ann has minted two parts and has phones, and their message.
func minted(t testing.TB, phones ...string) (*commitcollecttest.World, *apns.Server, workout.Notice) {
	t.Helper()
	w := commitcollecttest.New(t, strava.Faults{})
	apple := w.WithAPNs()
	w.AddModel("trike", 12)
	w.Subscribe()
	w.SignIn("ann")
	w.Connect("ann", 77)
	w.Start("ann", commitcollecttest.Goal{})

	for _, p := range phones {
		if out := w.Ask("ann", http.MethodPost, "/devices", map[string]any{"deviceToken": phone(p)}); out.StatusCode != http.StatusCreated {
			t.Fatalf("got %d %s", out.StatusCode, out.Body)
		}
	}

	w.Upload(77, "Run", noon.Add(-time.Hour), 25_000)
	w.Pass(time.Minute)

	all := testkit.Messages[workout.Notice](w.World, workout.NoticeQueue)
	if len(all) != 1 {
		t.Fatalf("the messages are %v, want one", all)
	}

	return w, apple, all[0]
}

// phone returns the token of a phone by a letter of its name.
func phone(name string) string { return strings.Repeat(name, 64) }

// shown returns what a phone shows: titles, each once.
func shown(apple *apns.Server, name string) (all []string) {
	d, _ := apple.Device(phone(name))
	for _, a := range d.Alerts {
		all = append(all, a.Title+" / "+a.Body)
	}

	return all
}

// TestPartIsShownOnce: each phone of the user shows a part once, also after a second run.
func TestPartIsShownOnce(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "a", "b")

	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)
	for range 2 {
		testkit.Must(t, s.SendNotice(w.NewContext(), m))
	}

	for _, p := range []string{"a", "b"} {
		same(t, "the phone "+p, shown(apple, p), []string{"2 new parts / Your workouts have earned the parts 1 to 2 of your model."})
	}

	if n := w.Logs.SumMetric(spec.Metric{Name: "NoticesDelivered"}); n != 4 {
		t.Errorf("%v notices are counted, want 4", n)
	}
}

// TestUnregisteredPhoneIsDeleted unless it was registered again since.
func TestUnregisteredPhoneIsDeleted(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "a", "b")
	apple.Answer(phone("a"), apns.Refuse(apns2.ReasonUnregistered))
	testkit.Must(t, testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotice(w.NewContext(), m))

	if row(w, "DEVICE#"+phone("a"), "DEVICE") != nil || row(w, "DEVICE#"+phone("b"), "DEVICE") == nil {
		t.Error("not just the unregistered phone was deleted")
	}

	if n := w.Logs.SumMetric(spec.Metric{Name: "NoticesGone"}); n != 1 {
		t.Errorf("%v phones are counted as unregistered, want 1", n)
	}

	same(t, "the other phone", len(shown(apple, "b")), 1)
}

// TestNoticeOfNothing: a part of a user who is gone, or without a phone, is no failure.
func TestNoticeOfNothing(t *testing.T) {
	t.Parallel()
	w, _, m := minted(t)
	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)
	testkit.Must(t, s.SendNotice(w.NewContext(), m))
	testkit.Must(t, forget(w, "ann"))
	testkit.Must(t, s.SendNotice(w.NewContext(), m))
}

// TestNoticeCrashes: a second run shows what the first has not, and nothing twice.
func TestNoticeCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) [][]string {
		w, apple, m := minted(t, "a", "b")
		apple.Answer(phone("b"), apns.Refuse(apns2.ReasonUnregistered))
		p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(notice.SendNoticesFunction(), p), notice.OpenNotifier).SendNotice(w.NewContext(), m))
		testkit.Must(t, testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotice(w.NewContext(), m))

		gone := "kept"
		if row(w, "DEVICE#"+phone("b"), "DEVICE") == nil {
			gone = "deleted"
		}

		return [][]string{shown(apple, "a"), shown(apple, "b"), {gone}}
	})
}

// TestNoticeRingsNoPhoneAgain: Apple does not answer for one of two phones. The message does not fail,
// because the user has the notice on the other.
func TestNoticeRingsNoPhoneAgain(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "a", "b")
	apple.Answer(phone("b"), slices.Repeat([]apns.Answer{apns.Refuse(apns2.ReasonServiceUnavailable)}, 20)...)

	sending, stop := context.WithTimeout(w.NewContext(), time.Minute)
	defer stop()

	testkit.Must(t, testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotice(sending, m))
	same(t, "the parts that the phones show", []int{len(shown(apple, "a")), len(shown(apple, "b"))}, []int{1, 0})

	if len(w.Logs.TakeWarnings()) == 0 {
		t.Error("it is not logged that a phone was not reached")
	}
}

// TestNoticeIsRepeated: Apple does not answer. The message fails, and the next delivery shows the part, once.
func TestNoticeIsRepeated(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "b")
	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)

	apple.Answer(phone("b"), slices.Repeat([]apns.Answer{apns.Refuse(apns2.ReasonServiceUnavailable)}, 20)...)

	sending, stop := context.WithTimeout(w.NewContext(), time.Minute)
	defer stop()

	var failed *problem.Error
	if err := s.SendNotice(sending, m); !errors.As(err, &failed) || failed.Code != "phones_not_reached" {
		t.Errorf("got %v, want that a phone was not reached", err)
	}

	same(t, "the parts that phone b shows", len(shown(apple, "b")), 0)
	apple.Answer(phone("b"))
	w.MoveClock(w.Clock.Now().Add(notice.SendNoticesFunction().VisibilityTimeout()))
	testkit.Must(t, s.SendNotice(w.NewContext(), m))

	same(t, "the parts that phone b shows then", len(shown(apple, "b")), 1)

	if row(w, "DEVICE#"+phone("b"), "DEVICE") == nil {
		t.Error("the phone is deleted")
	}

	w.Logs.TakeWarnings()
}

// TestRegistrationEnds: a phone is the user's until the second in which its registration
// ends, though its row is still there.
func TestRegistrationEnds(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")
	w.Ask("ann", http.MethodPost, "/devices", map[string]any{"deviceToken": phone("a")})
	s := testkit.Open(w.World, notice.SendNoticesFunction(), func(_ context.Context, env app.Env) (*device.Devices, error) {
		return device.Open(env, tables.Phones), nil
	})

	end := w.Clock.Now().Add(push.KeepDevice)
	for _, c := range []struct {
		before time.Duration
		want   int
	}{{time.Second, 1}, {0, 0}} {
		w.MoveClock(end.Add(-c.before))
		phones, err := s.Of(w.NewContext(), "ann")
		testkit.Must(t, err)
		same(t, fmt.Sprint("phones ", c.before, " before the end"), len(phones), c.want)
	}
}

// TestPhoneBelongsToItsLastUser: a phone on which another signs in shows that user's parts
// only, and only its user deletes it.
func TestPhoneBelongsToItsLastUser(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "a")
	w.SignIn("bob")
	w.Ask("bob", http.MethodPost, "/devices", map[string]any{"deviceToken": phone("a")})
	testkit.Must(t, testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotice(w.NewContext(), m))

	if got := shown(apple, "a"); got != nil {
		t.Errorf("the phone of bob shows %v", got)
	}

	id := string(push.Token(phone("a")).ID())
	refused(t, "ann deletes it", w.Ask("ann", http.MethodDelete, "/devices/"+id, nil), 404, "device_not_found")

	if out := w.Ask("bob", http.MethodDelete, "/devices/"+id, nil); out.StatusCode != http.StatusNoContent {
		t.Errorf("bob deletes it: %d %s", out.StatusCode, out.Body)
	}

	refused(t, "bob deletes it again", w.Ask("bob", http.MethodDelete, "/devices/"+id, nil), 404, "device_not_found")
}

// TestTextsOfNotices: of messages of this version, and of the one before, which had one part each.
func TestTextsOfNotices(t *testing.T) {
	t.Parallel()
	w, apple, m := minted(t, "a")
	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)

	for _, n := range []workout.Notice{
		{UserID: "ann", MilestoneID: m.MilestoneID, PartIndex: 1},
		{UserID: "ann", MilestoneID: m.MilestoneID, PartIndex: 2, From: 1, Complete: true},
		{UserID: "ann", MilestoneID: m.MilestoneID, PartIndex: 7},
		{UserID: "ann", Reconnect: true}, // it is connected
	} {
		testkit.Must(t, s.SendNotice(w.NewContext(), n))
	}

	same(t, "the phone", shown(apple, "a"), []string{
		"A new part: Part 1 / Your workouts have earned part 1 of your model.",
		"Your model is complete / Your workouts have earned the parts 1 to 2 of your model.",
	})
}

// TestBrokenConnectionIsNoticed by the next run of the sync, once on each phone.
func TestBrokenConnectionIsNoticed(t *testing.T) {
	t.Parallel()
	w, apple, _ := minted(t, "a")
	w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(workout.NoticeQueue.Name)}, nil)

	c := connection(w, "ann")
	c["status"] = link.Broken
	listed := testkit.Row[stored](w.World, tables.Main, item.Connected(item.Shard("ann")), "USER#ann")
	listed["brokenAtUtc"] = w.Clock.Now().Unix()
	testkit.PutRows(w.World, tables.Main, c, listed)

	s := testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier)

	for range 2 {
		testkit.Must(t, testkit.Open(w.World, workout.ReconcileFunction(), workout.OpenReconciler).Reconcile(w.NewContext()))
	}

	all := testkit.Messages[workout.Notice](w.World, workout.NoticeQueue)
	same(t, "the messages", all, slices.Repeat([]workout.Notice{{UserID: "ann", Reconnect: true}}, 2))

	for _, m := range all {
		testkit.Must(t, s.SendNotice(w.NewContext(), m))
	}

	same(t, "the phone", shown(apple, "a"), []string{
		"Connect Strava again / Strava has ended the connection. Your workouts do not count until you connect again.",
	})
}
