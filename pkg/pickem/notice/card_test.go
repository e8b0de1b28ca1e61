package notice_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/notice"
)

// drainNotices deletes the queued notices.
func drainNotices(w *pickemtest.Room) {
	w.T.Helper()
	testkit.Drain(w.World, notice.Queue, 0, func(context.Context, notice.Notice) error { return nil })
}

// queuedByID returns the queued notices by id: "Title, Body", and the recipients, sorted.
func queuedByID(w *pickemtest.Room) (texts map[string]string, users map[string][]string) {
	w.T.Helper()

	texts, users = map[string]string{}, map[string][]string{}
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		if text := n.Title + ", " + n.Body; texts[n.ID] != "" && texts[n.ID] != text {
			w.T.Errorf("the notice %s is %q and %q, want one text", n.ID, texts[n.ID], text)
		}

		texts[n.ID] = n.Title + ", " + n.Body
		users[n.ID] = slices.Compact(slices.Sorted(slices.Values(append(users[n.ID], n.UserIDs...))))
	}

	return texts, users
}

// TestMembersAreRemindedWhileAMatchLacksAPick: also with an empty or an incomplete
// prediction, and with a pick that has become void.
func TestMembersAreRemindedWhileAMatchLacksAPick(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("all", "empty", "none", "some", "void")
	w.CreateShow(2)
	w.Pick("void", pickemtest.Show, 0, 0)
	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.WithoutKey(pickemtest.MatchOf(9, 10), "id"))
	w.Pick("all", pickemtest.Show, 0, 0)
	w.Pick("some", pickemtest.Show, 0)
	w.Pick("empty", pickemtest.Show)
	drainNotices(w)
	w.MoveClock(pickemtest.ShowLockAt.Add(-notice.HoursAhead))

	const (
		title      = ": clash-of-tides, "
		none, some = title + "You have not picked yet, and it locks in 2 hours.", title +
			"You have not picked every match yet, and it locks in 2 hours."
	)

	want := []string{"empty" + none, "none" + none, "some" + some, "void" + some}
	if got := queuedReminders(w); !slices.Equal(got, want) {
		t.Errorf("members notified (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestNobodyIsRemindedOfAnEmptyCard: the reminder is sent once the card has a match.
func TestNobodyIsRemindedOfAnEmptyCard(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(0)
	w.MoveClock(pickemtest.ShowLockAt.Add(-notice.DayAhead))

	if got := queuedReminders(w); got != nil {
		t.Errorf("reminders of an empty card: %q, want none", got)
	}

	w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(1, 10))
	w.MoveClock(w.Clock.Now().Add(15 * time.Minute))

	want := []string{"ann: clash-of-tides, You have not picked yet, and it locks in 23 hours and 45 minutes."}
	if got := queuedReminders(w); !slices.Equal(got, want) {
		t.Errorf("members notified (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestNewMatchNotifiesMembersWithPicks: also by a repeated request, under the same id.
func TestNewMatchNotifiesMembersWithPicks(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.Pick("bob", pickemtest.Show)

	for range 2 {
		w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(2, 20))
	}

	texts, users := queuedByID(w)
	if want := []string{`clash-of-tides, "Match 2" was added: pick it before it locks.`}; !slices.Equal(slices.Collect(maps.Values(texts)),
		want) {
		t.Errorf("notices (-want +got):\n%s", cmp.Diff(want, slices.Collect(maps.Values(texts))))
	}

	for id, got := range users {
		if want := []string{"ann", "bob"}; !slices.Equal(got, want) {
			t.Errorf("recipients of %s (-want +got):\n%s", id, cmp.Diff(want, got))
		}
	}
}

// TestRemovalNotifiesOnce: a repeated DELETE has the same notice id, whatever changed in
// between, and nobody is asked to pick a match that is gone.
func TestRemovalNotifiesOnce(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(3)
	w.Pick("ann", pickemtest.Show, 0, 0, 0)
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")
	w.MustAdmin(event.OrderCardFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/card", pickemtest.OrderOf(3, 2))
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), "")

	texts, _ := queuedByID(w)
	if want := []string{`clash-of-tides, "Match 1" was taken off the card. Your other picks count.`}; !slices.Equal(slices.Collect(maps.Values(texts)), want) {
		t.Errorf("notices (-want +got):\n%s", cmp.Diff(want, slices.Collect(maps.Values(texts))))
	}
}

// TestNobodyIsAskedToPickAfterTheLock: a request that is repeated after the lock notifies
// nobody.
func TestNobodyIsAskedToPickAfterTheLock(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(2)
	w.Pick("ann", pickemtest.Show, 0, 0)

	body := pickemtest.WithoutKey(pickemtest.MatchOf(9, 10), "id")
	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), body)
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")
	drainNotices(w)
	w.LockEvent(pickemtest.Show)
	w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1), body)
	w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")

	if texts, _ := queuedByID(w); len(texts) != 0 {
		t.Errorf("notices after the lock: %v, want none", texts)
	}
}
