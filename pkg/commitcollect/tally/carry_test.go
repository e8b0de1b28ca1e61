package tally

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestCarriedCountsLikeAll: workouts that are carried forward, in any number of steps, count like all workouts
// together.
func TestCarriedCountsLikeAll(t *testing.T) {
	t.Parallel()

	const day = 24 * 60 * 60

	choice := Choice{Virtual: true}

	rapid.Check(t, func(t *rapid.T) {
		g := Goal{
			Sports: SetOf(Ride, Run), Total: 1000, Parts: 3, Start: 20_000 * day,
			Target: rapid.SampledFrom([]Target{Distance, Elevation, Time, Workouts, StreakDays, StreakWeeks}).Draw(t, "target"),
		}

		var all []Entry

		at := g.Start - 3*day
		for i := range rapid.IntRange(0, 40).Draw(t, "workouts") {
			at += rapid.SampledFrom([]int64{1, 60, 119, 120, 121, 3600, 20 * 3600, day, 2 * day, 6 * day}).Draw(t, "gap")
			all = append(all, Entry{
				ActivityID: fmt.Sprint(100 + (i*7)%41), SportType: rapid.SampledFrom([]string{"Run", "Ride", "EBikeRide"}).Draw(t, "sport"),
				StartedAt: at, UTCOffset: int32(rapid.IntRange(-12, 14).Draw(t, "offset") * 3600),
				Distance: rapid.Int64Range(0, 300).Draw(t, "metres"), Elevation: 5, Moving: 60,
			})
		}

		carried := Carried{}
		for to := g.Start; to < at+9*day; to += rapid.Int64Range(1, 9*day).Draw(t, "step") {
			carried = Carry(carried, all, g, choice, Boundary(all, to))

			want, got := Count(all, g, choice), CountFrom(carried, all, g, choice)
			if got.Progress != want.Progress || got.Counted != want.Counted {
				t.Fatalf("carried to %d: %d of %d workouts, want %d of %d", carried.To, got.Progress, got.Counted, want.Progress, want.Counted)
			}

			if len(carried.Runs) > 4 {
				t.Fatalf("%d runs are carried, want those of the last days: %v", len(carried.Runs), carried.Runs)
			}
		}
	})
}

// TestBoundary lies where no twins are on its two sides.
func TestBoundary(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		starts []int64
		want   int64
	}{
		"no workouts":           {nil, 1000},
		"far apart":             {[]int64{879, 1000}, 1000},
		"one before":            {[]int64{999}, 1000},
		"one after":             {[]int64{1000}, 1000},
		"two on the same side":  {[]int64{900, 950}, 1000},
		"close":                 {[]int64{880, 1000}, 880},
		"close, after it":       {[]int64{990, 1100}, 990},
		"a chain":               {[]int64{700, 790, 900, 1010}, 700},
		"a chain with a gap":    {[]int64{600, 790, 900, 1010}, 790},
		"a second of the first": {[]int64{999, 1000, 1119}, 999},
	} {
		var all []Entry
		for _, at := range c.starts {
			all = append(all, Entry{StartedAt: at})
		}

		if diff := cmp.Diff(c.want, Boundary(all, 1000)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	var all []Entry
	for at := int64(0); at < 3*24*60*60; at += 60 {
		all = append(all, Entry{StartedAt: at})
	}

	if got := Boundary(all, 200_000); got != 200_000 {
		t.Errorf("a workout each minute for days: got %d, want that it gives up", got)
	}
}
