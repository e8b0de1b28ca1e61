package event_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// shownPicks returns the entries that bob sees in the results of Show: rank, name, points and
// the number of picks; or the code of the refusal.
func shownPicks(w *pickemtest.Room) (lines []string) {
	w.T.Helper()

	out := w.Ask(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/results", "bob", "")
	if out.StatusCode >= 400 {
		return []string{pickemtest.RefusalOf(out).Code}
	}

	for _, e := range testkit.Decode[struct{ Entries []score.Entry }](w.World, out).Entries {
		picked := len(slices.DeleteFunc(slices.Clone(e.Picks), func(p score.Pick) bool { return p.Pick == nil }))
		lines = append(lines, fmt.Sprintf("%d %s %d, %d picks", e.Rank, e.Name, e.Points, picked))
	}

	return lines
}

// TestLockRevealsPicks: of an event with this option, from the lock on; without ranks until it
// is scored.
func TestLockRevealsPicks(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "cat")
	w.CreateShow(2)
	w.Pick("ann", pickemtest.Show, 0, 0)
	w.Pick("bob", pickemtest.Show, 1)

	lock := func() {
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
	}

	hidden := []string{"event_not_scored"}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"by default", func() {}, hidden},
		{"before the lock", func() {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"revealAtLock":true,"bonus":5}`)
			w.ScoreQueued()
		}, hidden},
		{"at the lock, before the job", func() { w.MoveClock(pickemtest.ShowLockAt) }, nil},
		{"after the job", func() { lock(); w.ScoreQueued() }, []string{"0 ann 0, 2 picks", "0 bob 0, 1 picks"}},
		{"with a result", func() { w.EnterResults(pickemtest.Show, 1) }, []string{"0 ann 0, 2 picks", "0 bob 10, 1 picks"}},
		{"scored", func() { w.EnterResults(pickemtest.Show, 1, 0); w.Score(pickemtest.Show) },
			[]string{"1 ann 20, 2 picks", "2 bob 10, 1 picks"}},
		{"with a cleared result", func() {
			w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(pickemtest.Show, 2)+"/result", `{"result":null}`)
			w.ScoreQueued()
		}, []string{"0 ann 0, 2 picks", "0 bob 10, 1 picks"}},
	} {
		step.do()

		if got := shownPicks(w); !slices.Equal(got, step.want) {
			t.Errorf("%s: entries (-want +got):\n%s", step.name, cmp.Diff(step.want, got))
		}
	}
}

// TestRevealingCanChangeUntilTheLock: afterwards only the present value is accepted.
func TestRevealingCanChangeUntilTheLock(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("bob")
	w.CreateShow(1)

	set := func(on bool) pickemtest.Refusal {
		return pickemtest.RefusalOf(w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator,
			map[string]any{"revealAtLock": on}))
	}

	ok, locked := pickemtest.Refusal{Status: 200}, pickemtest.Refusal{Status: 409, Code: "event_locked"}
	for _, step := range []struct {
		name string
		do   func()
		on   bool
		want pickemtest.Refusal
	}{
		{"on", func() {}, true, ok},
		{"off", func() {}, false, ok},
		{"on again", func() {}, true, ok},
		{"off at the lock", func() { w.MoveClock(pickemtest.ShowLockAt) }, false, locked},
		{"on at the lock", func() {}, true, ok},
		{"off when locked", func() { w.LockEvent(pickemtest.Show) }, false, locked},
		{"off when open again", func() {
			w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"startsAt":"2026-03-15T12:00:00Z"}`)
			w.ScoreQueued()

			if got := shownPicks(w); !slices.Equal(got, []string{"event_not_scored"}) {
				t.Errorf("an event that is open again shows %q", got)
			}
		}, false, ok},
	} {
		step.do()

		if got := set(step.on); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}

// TestRevealIsRepeated: until the picks are shown, and once more when the index must have all
// of them.
func TestRevealIsRepeated(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(1)
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"revealAtLock":true}`)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.SQS("PurgeQueue", map[string]any{"QueueUrl": w.Queues.URL(score.Queue.Name)}, nil) // the message is lost

	var queued []int // the minutes with a message

	for minute := range 40 {
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))

		if len(testkit.Messages[score.Request](w.World, score.Queue)) > 0 {
			queued = append(queued, minute+1)
		}

		w.ScoreQueued()
	}

	if want := []int{1, 16}; !slices.Equal(queued, want) {
		t.Errorf("minutes with a message (-want +got):\n%s", cmp.Diff(want, queued))
	}

	for _, r := range testkit.Rows[item.Row](w.World, tables.Pickem) {
		if r.PK == "RANKING#2026" {
			t.Errorf("the row %s %s was written, although nothing is scored", r.PK, r.SK)
		}
	}

	if got, want := shownPicks(w), []string{"0 ann 0, 1 picks"}; !slices.Equal(got, want) {
		t.Errorf("entries (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestPicksOfAnEventThatOpensAgainAreNotShown: it opens while they are written.
func TestPicksOfAnEventThatOpensAgainAreNotShown(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(1)
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"revealAtLock":true}`)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	env, _ := w.Observe(score.ScoreEventFunction(), 3, func() {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"startsAt":"2026-03-15T12:00:00Z"}`)
	}, func(pickemtest.Write) {})
	testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: pickemtest.Show}))
	e, err := item.ReadEvent(w.NewContext(), w.DB(), pickemtest.Show)
	testkit.Must(t, err)

	if got := shownPicks(w); e.RevealedAt != "" || !slices.Equal(got, []string{"event_not_scored"}) {
		t.Errorf("revealedAt is %q, and the event shows %q", e.RevealedAt, got)
	}
}
