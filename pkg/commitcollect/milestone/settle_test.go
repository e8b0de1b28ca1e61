package milestone

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tally"
)

// change is a change of a workout at a minute: it is stored with metres, or deleted if these are 0.
type change struct {
	Minute int
	ID     string
	Slot   int // of its start: workouts of one slot are twins or overlap
	Metres int64
}

// outcome is what workouts leave when all have settled.
type outcome struct {
	Settled int64
	Minted  int
	Status  string
}

// play evaluates a milestone after each change, and whenever a message comes, until none waits. It checks
// what holds at every time.
func play(t *rapid.T, changes []change) outcome {
	const settling = time.Hour

	begin := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	now := begin
	s := &Service{now: func() time.Time { return now }, settling: settling}
	r := Row{
		Sport: tally.Run, PhoneSports: []tally.Family{tally.Run}, TargetType: tally.Distance, TotalTarget: 60_000, PartsTotal: 12,
		Source: item.Phone, Life: item.Life{Status: Active},
	}
	at := func(minute int) time.Time { return begin.Add(time.Duration(minute) * time.Minute) }

	changes = slices.SortedStableFunc(slices.Values(changes), func(a, b change) int { return cmp.Compare(a.Minute, b.Minute) })
	entries, messages := []tally.Entry{}, map[int64]bool{}
	promised := int64(0) // the time of the next part, if no workout changes

	for len(changes) > 0 || len(messages) > 0 {
		next := int64(1 << 62)
		if len(changes) > 0 {
			next = at(changes[0].Minute).Unix()
		}

		for m := range messages {
			next = min(next, m)
		}

		now = time.Unix(next, 0)
		delete(messages, next)

		for len(changes) > 0 && !at(changes[0].Minute).After(now) {
			c := changes[0]
			changes, promised = changes[1:], 0

			entries = slices.DeleteFunc(entries, func(e tally.Entry) bool { return e.ActivityID == c.ID })
			if c.Metres > 0 {
				start := begin.Add(-time.Duration(c.Slot+1) * time.Hour).Unix()
				entries = append(entries, tally.Entry{
					ActivityID: c.ID, SportType: "Run", StartedAt: start, Distance: c.Metres, Moving: 1800, Elapsed: 1800, Manual: true, StoredAt: next,
				})
			}
		}

		if r.Status != Active {
			continue
		}

		was := r
		sum := s.sum(was, entries, tally.DefaultChoice)
		r, _ = was.after(sum, now)

		if r.DueAt != 0 && r.DueAt != was.DueAt {
			messages[r.DueAt] = true
		}

		hour := next + int64(settling.Seconds())
		switch earned := r.Goal().Earned(r.Progress); {
		case *r.Settled < was.settled(), r.Awarded < was.Awarded:
			t.Fatalf("%v: what is settled falls from %+v to %+v", now, was, r)
		case r.DueAt != 0 && (r.DueAt <= next || r.DueAt > hour), r.PartAt != 0 && (r.PartAt < r.DueAt || r.PartAt > hour):
			t.Fatalf("%v: the next workouts settle at %d, the next part at %d", now, r.DueAt, r.PartAt)
		case r.Status == Active && (r.PartAt != 0) != (earned > r.Awarded):
			t.Fatalf("%v: %d parts of %d are minted, the next at %d", now, r.Awarded, earned, r.PartAt)
		case promised == next && r.Awarded == was.Awarded:
			t.Fatalf("%v: no part is minted at the time that was shown", now)
		}

		promised = r.PartAt
	}

	if r.Status == Active && (r.DueAt != 0 || *r.Settled < r.Raw) {
		t.Fatalf("in the end something is not settled: %+v", r)
	}

	return outcome{r.settled(), r.Awarded, r.Status}
}

// TestWhatIsDeletedWithinTheHourLeavesNothing: whatever is stored, edited and deleted, workouts that are
// deleted within the hour change nothing of what the others earn.
func TestWhatIsDeletedWithinTheHourLeavesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slot, metres := rapid.IntRange(0, 8), rapid.Int64Range(500, 16_000)

		stays := []change{{Minute: 0, ID: "R", Slot: 9, Metres: 1000}}

		for i := range rapid.IntRange(0, 8).Draw(t, "workouts") {
			c := change{rapid.IntRange(0, 300).Draw(t, "minute"), fmt.Sprint("M", i), slot.Draw(t, "slot"), metres.Draw(t, "metres")}
			stays = append(stays, c)

			for range rapid.IntRange(0, 2).Draw(t, "edits") {
				c.Minute += rapid.IntRange(1, 120).Draw(t, "later")
				c.Metres = rapid.OneOf(metres, rapid.Just(int64(0))).Draw(t, "edited")
				stays = append(stays, c)
			}
		}

		all := slices.Clone(stays)

		for i := range rapid.IntRange(1, 4).Draw(t, "bogus") {
			id := rapid.SampledFrom([]string{"B", "Z"}).Draw(t, "order") + fmt.Sprint(i) // before the others, or after
			c := change{rapid.IntRange(1, 300).Draw(t, "minute"), id, slot.Draw(t, "slot"), metres.Draw(t, "metres")}
			all = append(all, c)
			c.Minute, c.Metres = c.Minute+rapid.IntRange(1, 59).Draw(t, "lasts"), 0
			all = append(all, c)
		}

		if got, want := play(t, all), play(t, stays); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}
