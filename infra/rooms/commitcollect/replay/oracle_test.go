package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
)

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

// TestMilestone: progress is of what counts, never falls, stands still in a pause, and
// earns each part once.
func TestMilestone(t *testing.T) {
	t.Parallel()

	m := &milestone{goal: goal{sports: []string{"RUN"}, total: 1000, parts: 3, start: noon}}
	a := &athlete{scope: everything, milestones: []*milestone{m}}
	add := func(metres float64, d data) *activity {
		d.metres = metres
		if d.sport == "" {
			d.sport = "Run"
		}

		if d.start.IsZero() {
			d.start = noon.Add(time.Duration(len(a.activities)) * time.Hour)
		}

		x := &activity{id: int64(len(a.activities) + 1), data: d, has: true}
		a.activities = append(a.activities, x)

		return x
	}

	type is struct {
		Raw, Best int64
		Parts     int
		Completed bool
	}

	hour := 0
	expect := func(what string, want is) {
		t.Helper()

		hour++
		a.observe(noon.Add(time.Duration(hour) * time.Hour))

		if diff := cmp.Diff(want, is{m.raw, m.best, len(m.reached), m.completed}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	first := add(333.4, data{})

	expect("333 m are no part of 334", is{333, 333, 0, false})

	first.metres = 333.6

	expect("rounded to whole metres", is{334, 334, 1, false})
	add(500, data{sport: "Ride"})
	add(500, data{start: noon.Add(-time.Second)})
	add(0, data{})
	add(500, data{flagged: true})
	expect("what does not count", is{334, 334, 1, false})

	if m.early != 1 {
		t.Errorf("%d workouts were too early, want 1", m.early)
	}

	add(330, data{start: first.start.Add(time.Minute)})
	expect("a second recording", is{334, 334, 1, false})

	first.gone = true

	expect("the first recording is deleted, the second counts", is{330, 334, 1, false})

	m.paused = true

	add(5000, data{})
	expect("a pause", is{330, 334, 1, false})

	m.paused = false

	expect("the end of the pause", is{5330, 5330, 3, true})

	if want := []time.Time{noon.Add(2 * time.Hour), noon.Add(7 * time.Hour), noon.Add(7 * time.Hour)}; !cmp.Equal(m.reached, want) {
		t.Errorf("the parts were earned at %v, want %v", m.reached, want)
	}
}

// TestHidden: without the scope, an activity that only the athlete can see is as if it were
// deleted, and what the app knows of it stays.
func TestHidden(t *testing.T) {
	t.Parallel()

	x := &activity{id: 1, data: data{sport: "Run", start: noon, metres: 10}, has: true}
	a := &athlete{scope: everything[:2], activities: []*activity{x}, counts: choice{Private: true}}
	a.observe(noon)

	x.private, x.metres = true, 20

	a.observe(noon)

	g := goal{sports: []string{"RUN"}, start: noon}
	if v := a.judge(g)[x]; !cmp.Equal(v.why, []string{"deleted"}) || x.seen.metres != 10 {
		t.Errorf("it is %v, %v m", v.why, x.seen.metres)
	}

	a.scope = everything
	a.observe(noon)

	if v := a.judge(g)[x]; len(v.why) > 0 || x.seen.metres != 20 {
		t.Errorf("with the scope it is %v, %v m", v.why, x.seen.metres)
	}
}

// TestWorldsDiffer: another seed is another year, and the same seed the same.
func TestWorldsDiffer(t *testing.T) {
	t.Parallel()

	times := func(seed uint64) (all []time.Time) {
		r := &run{World: replay.NewWorld(replay.Config{}), world: newWorld(seed, len(people), 52)}
		for _, s := range r.plan() {
			all = append(all, s.at)
		}

		return all
	}
	if one, again, other := times(1), times(1), times(2); !cmp.Equal(one, again) || cmp.Equal(one, other) || len(one) < 5000 {
		t.Errorf("a seed must give one year, of many steps: %d, %d, %d", len(one), len(again), len(other))
	}
}
