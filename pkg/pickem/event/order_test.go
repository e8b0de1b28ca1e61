package event

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
)

// TestTimesOfAnEvent: the first and the last time that is valid for the start, the lock and the
// date.
func TestTimesOfAnEvent(t *testing.T) {
	t.Parallel()

	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}

		return v
	}
	noon := at("2026-03-08T12:00:00Z")

	day := noon.Truncate(24 * time.Hour)
	for name, c := range map[string]struct {
		day, starts, locks time.Time
		field              string
	}{
		"the first start":  {at("2000-01-01T00:00:00Z"), at("2000-01-01T00:00:00Z"), at("2000-01-01T00:00:00Z"), ""},
		"before the first": {at("2000-01-01T00:00:00Z"), at("1999-12-31T23:59:59Z"), at("1999-12-31T23:00:00Z"), "body.startsAt"},
		"before it in UTC": {at("2000-01-01T00:00:00Z"), at("2000-01-01T01:00:00+02:00"),
			at("2000-01-01T01:00:00+02:00"), "body.startsAt"},
		"the last start":           {at("2999-12-31T00:00:00Z"), at("2999-12-31T23:59:59Z"), at("2999-12-31T23:59:59Z"), ""},
		"after the last":           {at("2999-12-31T00:00:00Z"), at("3000-01-01T00:00:00Z"), at("2999-12-31T23:59:59Z"), "body.startsAt"},
		"locked at the start":      {day, noon, noon, ""},
		"locked after it":          {day, noon, noon.Add(1), "body.lockAt"},
		"locked in 1999":           {day, noon, at("1999-12-31T23:59:59Z"), "body.lockAt"},
		"locked in 2000":           {day, noon, at("2000-01-01T00:00:00Z"), ""},
		"two days after the date":  {noon.Add(-48 * time.Hour), noon, noon, ""},
		"later":                    {noon.Add(-48*time.Hour - 1), noon, noon, "body.date"},
		"two days before the date": {noon.Add(48 * time.Hour), noon, noon, ""},
		"earlier":                  {noon.Add(48*time.Hour + 1), noon, noon, "body.date"},
	} {
		got := ""
		if err := inOrder(c.day, c.starts, c.locks); err != nil {
			got = err.(*problem.Error).Field
		}

		if got != c.field {
			t.Errorf("%s: the wrong field is %q, want %q", name, got, c.field)
		}
	}
}

// TestEventAsShown: an upcoming event is shown as locked from its lock on, and a scored one whose
// results have changed as being updated.
func TestEventAsShown(t *testing.T) {
	t.Parallel()

	lock := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	of := func(state string, results, scored int) item.Event {
		return item.Event{
			ID:           "e",
			Name:         "Final",
			Date:         "2026/03/08",
			State:        state,
			StartsAt:     "2026-03-08T13:00:00Z",
			LockAt:       item.FormatTime(lock),
			Bonus:        5,
			RevealAtLock: true,
			ResultsRev:   results,
			ScoredRev:    scored,
		}
	}

	shown := func(state string, updating bool) Event {
		return Event{
			ID:           "e",
			Name:         "Final",
			Date:         "2026-03-08",
			State:        state,
			StartsAt:     lock.Add(time.Hour),
			LockAt:       lock,
			Bonus:        5,
			RevealAtLock: true,
			Updating:     updating,
		}
	}
	for name, c := range map[string]struct {
		event item.Event
		now   time.Time
		want  Event
	}{
		"open":              {of(item.Upcoming, 0, 0), lock.Add(-1), shown(item.Upcoming, false)},
		"locked":            {of(item.Upcoming, 0, 0), lock, shown(item.Broadcast, false)},
		"locked by the job": {of(item.Broadcast, 2, 1), lock.Add(-1), shown(item.Broadcast, false)},
		"scored":            {of(item.Scored, 2, 2), lock, shown(item.Scored, false)},
		"results changed":   {of(item.Scored, 3, 2), lock, shown(item.Scored, true)},
	} {
		if diff := cmp.Diff(c.want, newEvent(c.event, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
