package tally

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix()
	goal  = Goal{Sports: SetOf(Ride), Target: Distance, Total: 1_000_000, Parts: 12, Start: march}
)

// ride returns a ride of 20 km with 300 m of ascent, some seconds after March began.
func ride(id int, after int64, change ...func(*Entry)) Entry {
	e := Entry{ActivityID: fmt.Sprint(id), SportType: "Ride", StartedAt: march + after, Distance: 20_000, Elevation: 300}
	for _, c := range change {
		c(&e)
	}

	return e
}

func TestWhy(t *testing.T) {
	t.Parallel()

	everything := Choice{Virtual: true, EBike: true, Handcycle: true, Manual: true, Private: true}

	as := func(sport string) func(*Entry) { return func(e *Entry) { e.SportType = sport } }
	for name, c := range map[string]struct {
		entry  Entry
		goal   Goal
		choice Choice
		want   []Reason
	}{
		"a ride":                  {entry: ride(1, 0), goal: goal},
		"a gravel ride":           {entry: ride(1, 0, as("GravelRide")), goal: goal},
		"a mountain bike ride":    {entry: ride(1, 0, as("MountainBikeRide")), goal: goal},
		"a trail run for runs":    {entry: ride(1, 0, as("TrailRun")), goal: Goal{Sports: SetOf(Run), Target: Distance, Total: 1, Parts: 1}},
		"a swim for swims":        {entry: ride(1, 0, as("Swim")), goal: Goal{Sports: SetOf(Swim), Target: Distance, Total: 1, Parts: 1}},
		"a run for rides":         {entry: ride(1, 0, as("Run")), goal: goal, want: []Reason{OtherSport}},
		"yoga":                    {entry: ride(1, 0, as("Yoga")), goal: goal, want: []Reason{OtherSport}},
		"a second too early":      {entry: ride(1, -1), goal: goal, want: []Reason{BeforeStart}},
		"a virtual ride":          {entry: ride(1, 0, as("VirtualRide")), goal: goal, want: []Reason{VirtualOff}},
		"a virtual ride, chosen":  {entry: ride(1, 0, as("VirtualRide")), goal: goal, choice: Choice{Virtual: true}},
		"an e-bike ride":          {entry: ride(1, 0, as("EBikeRide")), goal: goal, want: []Reason{EBikeOff}},
		"an e-bike ride, chosen":  {entry: ride(1, 0, as("EMountainBikeRide")), goal: goal, choice: Choice{EBike: true}},
		"a handcycle":             {entry: ride(1, 0, as("Handcycle")), goal: goal, want: []Reason{HandcycleOff}},
		"a velomobile, chosen":    {entry: ride(1, 0, as("Velomobile")), goal: goal, choice: Choice{Handcycle: true}},
		"entered by hand":         {entry: ride(1, 0, func(e *Entry) { e.Manual = true }), goal: goal, want: []Reason{ManualOff}},
		"entered by hand, chosen": {entry: ride(1, 0, func(e *Entry) { e.Manual = true }), goal: goal, choice: Choice{Manual: true}},
		"private":                 {entry: ride(1, 0, func(e *Entry) { e.Private = true }), goal: goal, want: []Reason{PrivateOff}},
		"private, chosen":         {entry: ride(1, 0, func(e *Entry) { e.Private = true }), goal: goal, choice: Choice{Private: true}},
		"flagged": {
			entry:  ride(1, 0, func(e *Entry) { e.Flagged = true }),
			goal:   goal,
			choice: everything,
			want:   []Reason{IsFlagged},
		},
		"deleted, of another sport": {
			entry: ride(1, 0, as("Run"), func(e *Entry) { e.Deleted = true }),
			goal:  goal,
			want:  []Reason{Deleted, OtherSport},
		},
		"no distance":                 {entry: ride(1, 0, func(e *Entry) { e.Distance = 0 }), goal: goal, want: []Reason{NoValue}},
		"no ascent, for the distance": {entry: ride(1, 0, func(e *Entry) { e.Elevation = 0 }), goal: goal},
		"no ascent": {
			entry: ride(1, 0, func(e *Entry) { e.Elevation = 0 }),
			goal:  Goal{Sports: SetOf(Ride), Target: Elevation, Total: 1, Parts: 1},
			want:  []Reason{NoValue},
		},
		// The local day decides: in Sydney, 11 hours ahead, the first of March began on the last of February.
		"in the first local hour": {
			entry: ride(1, -11*3600, func(e *Entry) { e.UTCOffset = 11 * 3600 }),
			goal:  Goal{Sports: SetOf(Ride), Target: Distance, Total: 1, Parts: 1, StartDay: "2026-03-01"},
		},
		"in the last local hour before": {
			entry: ride(1, -11*3600-1, func(e *Entry) { e.UTCOffset = 11 * 3600 }),
			goal:  Goal{Sports: SetOf(Ride), Target: Distance, Total: 1, Parts: 1, StartDay: "2026-03-01"},
			want:  []Reason{BeforeStart},
		},
		"on the last day": {entry: ride(1, 86399), goal: Goal{Sports: SetOf(Ride), Target: Distance, Total: 1, Parts: 1, EndDay: "2026-03-01"}},
		"on the day after": {
			entry: ride(1, 86400),
			goal:  Goal{Sports: SetOf(Ride), Target: Distance, Total: 1, Parts: 1, EndDay: "2026-03-01"},
			want:  []Reason{AfterEnd},
		},
	} {
		if got := Why(c.entry, c.goal, c.choice); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestTwins: a workout that two devices recorded counts once.
func TestTwins(t *testing.T) {
	t.Parallel()

	far := func(m int64) func(*Entry) { return func(e *Entry) { e.Distance = m } }
	lasts := func(s int64) func(*Entry) { return func(e *Entry) { e.Elapsed = s } }
	for name, c := range map[string]struct {
		entries []Entry
		want    map[string]string
	}{
		"two minutes apart":                {[]Entry{ride(8, 0), ride(9, 120)}, map[string]string{"9": "8"}},
		"a second more":                    {[]Entry{ride(8, 0), ride(9, 121)}, map[string]string{}},
		"five percent longer":              {[]Entry{ride(8, 0, far(19_000)), ride(9, 5)}, map[string]string{"9": "8"}},
		"a metre more":                     {[]Entry{ride(8, 0, far(18_999)), ride(9, 5)}, map[string]string{}},
		"50 m, of very little":             {[]Entry{ride(8, 0, far(100)), ride(9, 5, far(150))}, map[string]string{"9": "8"}},
		"51 m, of very little":             {[]Entry{ride(8, 0, far(100)), ride(9, 5, far(151))}, map[string]string{}},
		"the shorter id is the lower":      {[]Entry{ride(10, 0), ride(9, 5)}, map[string]string{"10": "9"}},
		"times that differ":                {[]Entry{ride(8, 0, lasts(600)), ride(9, 5, lasts(901))}, map[string]string{}},
		"times that differ little":         {[]Entry{ride(8, 0, lasts(600)), ride(9, 5, lasts(900))}, map[string]string{"9": "8"}},
		"a fifth of a long time":           {[]Entry{ride(8, 0, lasts(8000)), ride(9, 5, lasts(10_000))}, map[string]string{"9": "8"}},
		"a time that is not known":         {[]Entry{ride(8, 0, lasts(0)), ride(9, 5, lasts(10_000))}, map[string]string{"9": "8"}},
		"three of one":                     {[]Entry{ride(7, 0), ride(8, 60), ride(9, 110)}, map[string]string{"8": "7", "9": "7"}},
		"the last is only near to a twin":  {[]Entry{ride(7, 0), ride(8, 100), ride(9, 200)}, map[string]string{"8": "7"}},
		"of two originals, the lower":      {[]Entry{ride(7, 0), ride(8, 200), ride(9, 100)}, map[string]string{"9": "7"}},
		"what does not count has no twins": {[]Entry{ride(7, 0, func(e *Entry) { e.Flagged = true }), ride(8, 0)}, map[string]string{}},
	} {
		got := Count(c.entries, goal, DefaultChoice)
		if !cmp.Equal(got.TwinOf, c.want) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(c.want, got.TwinOf))
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()

	entries := []Entry{
		ride(1, 0), ride(2, 3600), ride(3, 3605), ride(4, -50), ride(7, -90_000),
		ride(5, -9000, func(e *Entry) { e.Flagged = true }), ride(6, 90, func(e *Entry) { e.SportType = "Run" }),
	}

	want := Sum{Progress: 40_000, Counted: 2, BeforeStart: 2, TwinOf: map[string]string{"3": "2"}, Why: map[string][]Reason{
		"3": {Duplicate}, "4": {BeforeStart}, "7": {BeforeStart}, "5": {BeforeStart, IsFlagged}, "6": {OtherSport},
	}}
	if got := Count(entries, goal, DefaultChoice); !cmp.Equal(got, want) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestCountIgnoresTheOrder: the order in which activities arrive changes nothing, and the
// original of a duplicate always counts.
func TestCountIgnoresTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []Entry
		for i := range rapid.IntRange(0, 30).Draw(t, "n") {
			entries = append(entries, ride(95+i, rapid.Int64Range(-300, 600).Draw(t, "after"), func(e *Entry) {
				e.Distance = rapid.Int64Range(0, 300).Draw(t, "metres")
			}))
		}

		a, b := Count(entries, goal, DefaultChoice), Count(rapid.Permutation(entries).Draw(t, "order"), goal, DefaultChoice)
		if !cmp.Equal(a, b) {
			t.Fatal(cmp.Diff(a, b))
		}

		for twin, original := range a.TwinOf {
			if a.Why[original] != nil || !slices.Equal(a.Why[twin], []Reason{Duplicate}) {
				t.Fatalf("%s is a duplicate of %s, which does not count: %v", twin, original, a.Why)
			}
		}

		if a.Counted+len(a.Why) != len(entries) {
			t.Fatalf("%d count and %d do not, of %d", a.Counted, len(a.Why), len(entries))
		}
	})
}

// TestThresholds: all parts are earned exactly when the milestone is complete, whatever
// its total, and a part more never takes less.
func TestThresholds(t *testing.T) {
	t.Parallel()

	if got := goal.Earned(2 * goal.Total); got != 12 {
		t.Errorf("twice the total earns %d parts, want 12", got)
	}

	for km := range int64(101) {
		g := Goal{Total: 1000 * max(1, km), Parts: 12}
		if got := []int{g.Earned(g.Total - 1), g.Earned(g.Total)}; !slices.Equal(got, []int{11, 12}) {
			t.Errorf("%d km: got %v parts one metre before the end and at it, want 11 and 12", km, got)
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		g := Goal{Total: rapid.Int64Range(1, 1<<40).Draw(t, "total"), Parts: rapid.IntRange(1, 40).Draw(t, "parts")}
		progress := rapid.Int64Range(0, 1<<41).Draw(t, "progress")

		n := g.Earned(progress)
		if n > 0 && progress < g.Threshold(n) || n < g.Parts && progress >= g.Threshold(n+1) {
			t.Fatalf("%d m of %d earn %d of %d parts", progress, g.Total, n, g.Parts)
		}

		if rest := g.Remaining(progress); n < g.Parts && (rest < 1 || g.Earned(progress+rest) <= n || g.Earned(progress+rest-1) > n) ||
			n == g.Parts && rest != 0 {
			t.Fatalf("%d m of %d: %d more to the next part of %d", progress, g.Total, rest, g.Parts)
		}

		if g.Threshold(g.Parts) != g.Total {
			t.Fatalf("the last part is earned at %d of %d", g.Threshold(g.Parts), g.Total)
		}
	})
}

// TestValue: metres of the distance or of the ascent, never less than none.
func TestValue(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		e    Entry
		t    Target
		want int64
	}{{ride(1, 0), Distance, 20_000}, {ride(1, 0), Elevation, 300}, {Entry{Distance: -1}, Distance, 0}, {Entry{Elevation: -1}, Elevation, 0}} {
		if got := c.e.Value(c.t); got != c.want {
			t.Errorf("%+v is worth %d %s, want %d", c.e, got, c.t, c.want)
		}
	}
}

// TestSports: each sport type of Strava belongs to one family, and several families may count.
func TestSports(t *testing.T) {
	t.Parallel()

	for sport, want := range map[string]Family{
		"GravelRide": Ride, "TrailRun": Run, "Swim": Swim, "Walk": Walk, "Hike": Hike, "Rowing": Row, "VirtualRow": Row, "Wheelchair": Wheelchair,
		"Yoga": "", "": "",
	} {
		e := ride(1, 0, func(e *Entry) { e.SportType = sport })
		for _, f := range Families {
			for _, sports := range []Set{SetOf(f), SetOf(f, Swim)} {
				counts := want != "" && (f == want || want == Swim && sports.Has(Swim))
				g := Goal{Sports: sports, Target: Workouts, Total: 1, Parts: 1}

				if got := len(Why(e, g, DefaultChoice)) == 0; got != counts {
					t.Errorf("a %s counts for %v: %v, want %v", sport, sports, got, counts)
				}
			}
		}
	}

	if SetOf("CHESS") != 0 || SetOf(Families...).Has("") {
		t.Error("a sport that does not exist counts")
	}
}

// TestTargets: what four workouts of three days add up to, one of which is a duplicate.
func TestTargets(t *testing.T) {
	t.Parallel()

	const day = 86_400

	moving := func(s int64) func(*Entry) { return func(e *Entry) { e.Moving = s } }
	sydney := func(e *Entry) { e.UTCOffset = 11 * 3600 }
	entries := []Entry{ // 1 March 2026 is a Sunday
		ride(1, 0, moving(600)), ride(2, 60, moving(610)), ride(3, day, moving(0)), ride(4, 2*day-1, moving(300), sydney), // on Tuesday there
		ride(5, 9*day, moving(100)), ride(6, 10*day),
	}

	for target, want := range map[Target]Sum{
		Distance:    {Progress: 100_000, Counted: 5},
		Elevation:   {Progress: 1500, Counted: 5},
		Time:        {Progress: 1000, Counted: 3},
		Workouts:    {Progress: 5, Counted: 5},
		StreakDays:  {Progress: 3, Counted: 5},
		StreakWeeks: {Progress: 3, Counted: 5},
	} {
		got := Count(entries, Goal{Sports: SetOf(Ride), Target: target, Total: 1, Parts: 1, Start: march}, DefaultChoice)
		if got.Progress != want.Progress || got.Counted != want.Counted {
			t.Errorf("%s: %d of %d workouts, want %d of %d", target, got.Progress, got.Counted, want.Progress, want.Counted)
		}
	}

	if got := Count(nil, Goal{Target: StreakDays, Total: 1, Parts: 1}, DefaultChoice).Progress; got != 0 {
		t.Errorf("no workouts are a streak of %d days", got)
	}
}

// TestDefaultChoice: what needs a motor or arms counts by choice only.
func TestDefaultChoice(t *testing.T) {
	t.Parallel()

	if want := (Choice{Virtual: true, Manual: true, Private: true}); DefaultChoice != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, DefaultChoice))
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()

	for progress, want := range map[int64]float64{0: 0, 1: 0, 333_333: 33.33, 570_000: 57, 999_999: 99.99, 1_000_000: 100, 2_000_000: 100} {
		if got := goal.Percent(progress); got != want {
			t.Errorf("%d m are %v %%, want %v", progress, got, want)
		}
	}
}

// TestOverlap: of workouts that take place at the same time one counts, the lowest, for a goal with Once only.
// Two minutes in common are allowed, and a workout that does not count covers no other.
func TestOverlap(t *testing.T) {
	t.Parallel()

	at := func(id string, minute, minutes, metres int64) Entry {
		return Entry{ActivityID: id, SportType: "Run", StartedAt: 10_000 + 60*minute, Elapsed: 60 * minutes, Distance: metres}
	}
	runs := Goal{Sports: SetOf(Run), Target: Distance, Total: 100_000, Parts: 4, Once: true}

	for _, c := range []struct {
		what    string
		entries []Entry
		why     map[string][]Reason
		twins   map[string]string
	}{
		{
			"one after the other",
			[]Entry{at("A", 0, 30, 5000), at("B", 28, 30, 5000)},
			map[string][]Reason{},
			map[string]string{},
		},
		{
			"three minutes in common",
			[]Entry{at("B", 27, 30, 5000), at("A", 0, 30, 5000)},
			map[string][]Reason{"B": {Overlap}},
			map[string]string{"B": "A"},
		},
		{
			"the lowest begins last",
			[]Entry{at("A", 1000, 30, 5000), at("B", 0, 1010, 5000), at("C", 10, 5, 900)},
			map[string][]Reason{"B": {Overlap}},
			map[string]string{"B": "A"},
		},
		{
			"twins, and one that overlaps",
			[]Entry{at("A", 0, 30, 5000), at("B", 1, 30, 5100), at("C", 10, 10, 2000)},
			map[string][]Reason{"B": {Duplicate}, "C": {Overlap}},
			map[string]string{"B": "A", "C": "A"},
		},
		{
			"one of the longest",
			[]Entry{at("B", 0, MaxElapsed/60, 5000), at("A", MaxElapsed/60-3, 30, 5000)},
			map[string][]Reason{"B": {Overlap}},
			map[string]string{"B": "A"},
		},
	} {
		sum := Count(c.entries, runs, DefaultChoice)
		if !cmp.Equal(sum.Why, c.why) || !cmp.Equal(sum.TwinOf, c.twins) {
			t.Errorf("%s: %v, %v, want %v, %v", c.what, sum.Why, sum.TwinOf, c.why, c.twins)
		}

		several := runs
		several.Once = false

		if sum := Count(c.entries, several, DefaultChoice); sum.Counted < len(c.entries)-1 {
			t.Errorf("%s: %d count for a goal of which several may, %v", c.what, sum.Counted, sum.Why)
		}
	}
}

// TestStoredUntil: entries of ledgers without times were stored before any time.
func TestStoredUntil(t *testing.T) {
	t.Parallel()

	all := []Entry{{ActivityID: "1"}, {ActivityID: "2", StoredAt: 100}, {ActivityID: "3", StoredAt: 101}}
	got := StoredUntil(all, 100)

	if !cmp.Equal(got, all[:2]) || len(all) != 3 || all[2].ActivityID != "3" {
		t.Errorf("got %v of %v", got, all)
	}
}

// TestDuplicateMarksNoDayOfAStreak: one workout that two devices have recorded, before and after midnight, marks the
// day of the recording that counts. So it is with workouts of a phone that overlap.
func TestDuplicateMarksNoDayOfAStreak(t *testing.T) {
	t.Parallel()

	const day = 24 * 60 * 60
	const monday = 4 * day // the first one since the epoch

	for name, c := range map[string]struct {
		once  bool
		later int64 // of the second recording, s
		want  int64 // days, and weeks
	}{
		"twins":                 {false, 60, 1},
		"twins of a phone":      {true, 60, 1},
		"overlap at Strava":     {false, 1800, 2},
		"overlap on a phone":    {true, 1800, 1},
		"one after the other":   {false, 4000, 2},
		"the same, of a phone":  {true, 4000, 2},
		"the next of the phone": {true, day, 2},
	} {
		all := []Entry{
			{ActivityID: "1", SportType: "Run", StartedAt: monday - 30, Distance: 9000, Elapsed: 3600},
			{ActivityID: "2", SportType: "Run", StartedAt: monday - 30 + c.later, Distance: 9000, Elapsed: 3600},
		}

		for _, target := range []Target{StreakDays, StreakWeeks} {
			g := Goal{Sports: SetOf(Run), Target: target, Total: 7, Parts: 7, Once: c.once}
			carried := Carry(Carried{}, all, g, DefaultChoice, monday+3*day)

			got := []int64{Count(all, g, DefaultChoice).Progress, carried.Longest}
			if diff := cmp.Diff([]int64{c.want, c.want}, got); diff != "" {
				t.Errorf("%s, %s, counted and carried (-want +got):\n%s", name, target, diff)
			}
		}
	}
}
