package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
	"matchday/infra/sim/clock"
)

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

// TestMilestone: progress is of what counts, never falls, stands still in a pause, and
// earns each part once.
func TestMilestone(t *testing.T) {
	t.Parallel()

	m := &milestone{goal: goal{source: atStrava, sports: []string{"RUN"}, total: 1000, parts: 3, start: noon}}
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

	g := goal{source: atStrava, sports: []string{"RUN"}, start: noon}
	if v := a.judge(g)[x]; !cmp.Equal(v.why, []string{"deleted"}) || x.seen.metres != 10 {
		t.Errorf("it is %v, %v m", v.why, x.seen.metres)
	}

	a.scope = everything
	a.observe(noon)

	if v := a.judge(g)[x]; len(v.why) > 0 || x.seen.metres != 20 {
		t.Errorf("with the scope it is %v, %v m", v.why, x.seen.metres)
	}
}

// TestListed: Strava lists what the app has lost with the connection, as it is there now, and nothing that is hidden,
// deleted or not brought yet. The athlete stays as it is.
func TestListed(t *testing.T) {
	t.Parallel()

	run := func(id int64, metres float64) *activity {
		return &activity{id: id, data: data{sport: "Run", start: noon, metres: metres}}
	}
	lost, gone, private, later := run(1, 1000), run(2, 200), run(3, 30), run(0, 4)
	gone.gone, private.private = true, true
	a := &athlete{scope: everything[:2], activities: []*activity{lost, gone, private, later}, counts: choice{Private: true}}
	g := goal{source: atStrava, target: distance, sports: []string{"RUN"}, start: noon}

	listed, _ := a.listed().sum(g, anything)
	known, _ := a.sum(g, anything)

	if listed != 1000 || known != 0 {
		t.Errorf("Strava lists %d m, and the app knows %d m, want 1000 and 0", listed, known)
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

// TestTargets: what two workouts of Sunday, one of Monday and a longer one of the next week add up to.
func TestTargets(t *testing.T) {
	t.Parallel()

	at := func(hours int, sport string, of time.Duration) *activity {
		d := data{sport: sport, start: noon.Add(time.Duration(hours) * time.Hour), metres: 1000, climb: 10, moving: of, elapsed: of}
		return &activity{id: int64(hours), data: d, has: true}
	}
	a := &athlete{scope: everything, activities: []*activity{
		at(24, "Run", time.Hour), at(26, "Walk", time.Hour), at(48, "Run", time.Hour), at(24*9, "TrailRun", 2*time.Hour),
	}}
	a.observe(noon)

	for _, tc := range []struct {
		target string
		sports []string
		want   int64
	}{
		{distance, []string{"RUN"}, 3000},
		{distance, []string{"RUN", "WALK"}, 4000},
		{climb, []string{"WALK"}, 10},
		{moving, []string{"RUN"}, 4 * 3600},
		{workouts, []string{"RUN", "WALK"}, 4},
		{streakDays, []string{"RUN"}, 2},
		{streakDays, []string{"WALK"}, 1},
		{streakWeeks, []string{"RUN"}, 3},
		{streakWeeks, []string{"SWIM"}, 0},
	} {
		got, _ := a.sum(goal{source: atStrava, sports: tc.sports, target: tc.target, start: noon}, anything)
		if got != tc.want {
			t.Errorf("%s of %v: got %d, want %d", tc.target, tc.sports, got, tc.want)
		}
	}
}

// TestBeside: of workouts that are the same one counts, and on the phone of those that overlap. Those of the
// other source do not matter.
func TestBeside(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		name    string
		later   time.Duration
		metres  float64
		elapsed time.Duration
		strava  string
		onPhone string
	}{
		{name: "two devices", later: time.Minute, metres: 10_400, elapsed: time.Hour, strava: "duplicate", onPhone: "duplicate"},
		{name: "other times", later: time.Minute, metres: 10_000, elapsed: 2 * time.Hour, onPhone: "overlap"},
		{name: "other lengths", later: time.Minute, metres: 12_000, elapsed: time.Hour, onPhone: "overlap"},
		{name: "an unknown time", later: time.Minute, metres: 10_000, strava: "duplicate", onPhone: "duplicate"},
		{name: "in the middle", later: 30 * time.Minute, metres: 10_000, elapsed: time.Hour, onPhone: "overlap"},
		{name: "at the end", later: 58 * time.Minute, metres: 10_000, elapsed: time.Hour},
		{name: "after it", later: 2 * time.Hour, metres: 10_000, elapsed: time.Hour},
	} {
		x := &activity{id: 1, key: "1", data: data{sport: "Run", start: noon, metres: 10_000, elapsed: time.Hour}, has: true}
		y := &activity{id: 2, key: "2", data: x.data, has: true}
		y.start, y.metres, y.elapsed = noon.Add(tc.later), tc.metres, tc.elapsed

		for source, want := range map[string]string{atStrava: tc.strava, onPhone: tc.onPhone} {
			a := &athlete{scope: everything, activities: []*activity{y, x}}
			if source == onPhone {
				a.uploads, a.activities = a.activities, nil
			}

			a.observe(noon)

			judged := a.judge(goal{source: source, sports: []string{"RUN"}, start: noon})
			if got := strings.Join(judged[y].why, " "); got != want || want != "" && judged[y].of != "1" || len(judged[x].why) > 0 {
				t.Errorf("%s, %s: got %q of %q, want %q", tc.name, source, got, judged[y].of, want)
			}

			other := map[string]string{atStrava: onPhone, onPhone: atStrava}[source]
			if n := len(a.judge(goal{source: other, sports: []string{"RUN"}, start: noon})); n > 0 {
				t.Errorf("%s: a goal of %s judges %d workouts of the other source", tc.name, other, n)
			}
		}
	}
}

// TestEnd: a milestone ends a week after its last day is over everywhere, or after it was resumed. One that is
// paused does not end.
func TestEnd(t *testing.T) {
	t.Parallel()

	m := &milestone{goal: goal{end: "2026-06-08"}}
	end := time.Date(2026, 6, 16, 12, 0, 0, 0, time.UTC)

	if got := []string{m.state(end.Add(-time.Second)), m.state(end)}; !cmp.Equal(got, []string{active, ended}) {
		t.Errorf("at the end it is %v", got)
	}

	m.paused = true
	if got := m.state(end); got != paused || !m.open(end) {
		t.Errorf("the paused one is %s", got)
	}

	m.paused, m.resumed = false, end
	if got := []string{m.state(end.Add(7*day - time.Second)), m.state(end.Add(7 * day))}; !cmp.Equal(got, []string{active, ended}) {
		t.Errorf("after its resumption it is %v", got)
	}
}

// TestLateInAnOutage: what came while a milestone of Strava would have ended in an outage is not late, and may be so for
// the app. For a milestone of a phone it is.
func TestLateInAnOutage(t *testing.T) {
	t.Parallel()

	w := newWorld(1, 8, 56)
	o, a := w.inactive(), &athlete{}
	m := &milestone{goal: goal{end: o.from.AddDate(0, 0, -5).Format(time.DateOnly)}}

	for _, c := range []struct {
		source string
		at     time.Time
		later  time.Duration
		want   bool
	}{
		{atStrava, o.from, 0, false},
		{atStrava, o.to, 0, false},
		{atStrava, o.to, found, true},
		{atStrava, o.to.Add(recovery + time.Hour), 0, true},
		{onPhone, o.to, 0, true},
	} {
		m.source = c.source
		if got := w.late(a, m, &activity{last: c.at}, c.later); got != c.want {
			t.Errorf("of %s, at %s, and %s later: got %v", c.source, c.at, c.later, got)
		}
	}
}

// TestAthleteWithoutAnything: an athlete whose sign-in has failed has nothing, and all that happens to others
// passes by.
func TestAthleteWithoutAnything(t *testing.T) {
	t.Parallel()

	w := newWorld(1, 8, 52)
	r := &run{World: replay.NewWorld(replay.Config{}), world: w, models: newModels()}
	r.Clock = clock.New(noon, clock.Free)
	t.Cleanup(r.Clock.Stop)

	a := w.athletes[0]
	for _, do := range []doing{
		r.drop(recent), r.drop(0), r.crop(recent), r.retype, r.postdate, r.flag, r.dropTwin, r.hide, r.show, r.abandon, r.remove, r.amend,
		r.amendLate, r.forget, r.shrink, r.relabel, r.boast, r.checkBoast, r.retract, r.pause, r.resume, r.check,
	} {
		do(t.Context(), a)
	}

	r.checkReasons(t.Context(), a, atStrava, 3)
	r.checkPhone(&athlete{})

	if len(a.problems) > 0 || len(r.present()) > 0 {
		t.Errorf("problems: %v; present: %v", a.problems, r.present())
	}
}

// TestOutagesAreCalm: what takes from an athlete, and what needs an answer of Strava, is not near an outage.
func TestOutagesAreCalm(t *testing.T) {
	t.Parallel()

	w := newWorld(1, 8, 56)
	for _, o := range w.outages() {
		if !w.end.After(o.to) || !start.Before(o.from) {
			t.Errorf("the outage from %s to %s is not in the year", o.from, o.to)
		}

		for at, want := range map[time.Time]time.Time{
			o.from.Add(-rest - 2*day):     o.from.Add(-rest - 2*day),
			o.from.Add(-rest - time.Hour): o.to.Add(recovery),
			o.from:                        o.to.Add(recovery),
			o.to.Add(recovery):            o.to.Add(recovery),
		} {
			if got := w.calm(at, day); !got.Equal(want) {
				t.Errorf("calm at %s: got %s, want %s", at, got, want)
			}
		}
	}

	for _, a := range w.athletes {
		if !w.isCalm(a.joins) {
			t.Errorf("%s joins at %s, near an outage", a.name, a.joins)
		}
	}
}
