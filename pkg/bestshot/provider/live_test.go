package provider_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"matchday/infra/sim/football"
	"matchday/pkg/bestshot/provider"
)

// TestAdaptersInPlay: the score, the period and the minute of a match in play, at the first whistle of each
// period, at a goal and some minutes later. Both adapters say the same.
func TestAdaptersInPlay(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		match int
		fault football.Kind
		is    func(football.Detail) bool
		later time.Duration
		want  string
	}{
		"to be played":           {plain, "", code(0), 0, "-:-  0"},
		"the first whistle":      {plain, "", code(6), 0, "0:0 first-half 1"},
		"after ten minutes":      {goalless, "", code(6), 10 * time.Minute, "0:0 first-half 11"},
		"the first half is long": {goalless, "", code(6), 45*time.Minute + time.Second, "0:0 first-half 45"},
		"half time":              {plain, "", code(31), 0, "1:0 half-time 45"},
		"the second half":        {plain, "", code(7), 0, "1:0 second-half 46"},
		"the first extra half":   {extra, "", code(41), 0, "1:1 extra-time 91"},
		"the second extra half":  {extra, "", code(42), 0, "2:2 extra-time 106"},
		"a shoot-out":            {shootout, "", code(50), 0, "1:1 shoot-out 120"},
		"over":                   {plain, "", code(100), 0, "2:1  0"},
	} {
		for adapter, open := range adapters {
			t.Run(name+"/"+adapter, func(t *testing.T) {
				t.Parallel()

				_, events := at(t, seasonEnd, cup, nil)
				now, d := when(t, events, c.match, c.is)
				now = now.Add(c.later)
				clock, events := at(t, now, cup, nil)

				all := matches(t, open(clock, events))
				i := slices.IndexFunc(all, func(f provider.Fixture) bool { return f.ID == fmt.Sprint(d.ID) })
				f := all[i]

				minute := 0
				if f.InPlay {
					minute = f.MinuteAt(now)
				}

				if got := fmt.Sprintf("%s:%s %s %d", goals(f.Home.Score), goals(f.Away.Score), f.Period, minute); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
}

// TestInterruptedPeriod: an interrupted match is interrupted at both providers, whatever was played.
func TestInterruptedPeriod(t *testing.T) {
	t.Parallel()

	faults := map[int][]football.Kind{goalless: {football.Interrupted}}

	for adapter, open := range adapters {
		_, events := at(t, seasonEnd, cup, faults)
		now, d := when(t, events, goalless, code(80))
		clock, events := at(t, now, cup, faults)

		for _, f := range matches(t, open(clock, events)) {
			if f.ID == fmt.Sprint(d.ID) && (f.Period != provider.Interrupted || !f.InPlay) {
				t.Errorf("%s: got %+v", adapter, f)
			}
		}
	}
}

// TestMinute: the provider's minute, or that since the start of the period, within the period.
func TestMinute(t *testing.T) {
	t.Parallel()

	began := time.Date(2026, 8, 14, 18, 0, 0, 0, time.UTC)

	for name, c := range map[string]struct {
		fixture provider.Fixture
		after   time.Duration
		want    int
	}{
		"the provider's":           {provider.Fixture{Minute: 7, Period: provider.FirstHalf, PeriodStart: began}, time.Hour, 7},
		"counted":                  {provider.Fixture{Period: provider.SecondHalf, PeriodStart: began}, 10 * time.Minute, 56},
		"added time":               {provider.Fixture{Period: provider.SecondHalf, PeriodStart: began}, 50 * time.Minute, 90},
		"a start in the future":    {provider.Fixture{Period: provider.FirstHalf, PeriodStart: began}, -time.Second, 0},
		"a start long ago":         {provider.Fixture{Period: provider.FirstHalf, PeriodStart: time.Unix(1, 0)}, 0, 45},
		"no start":                 {provider.Fixture{Period: provider.FirstHalf}, 0, 0},
		"half time without start":  {provider.Fixture{Period: provider.HalfTime}, 0, 45},
		"interrupted":              {provider.Fixture{Period: provider.Interrupted, PeriodStart: began}, time.Minute, 0},
		"no period":                {provider.Fixture{PeriodStart: began}, time.Minute, 0},
		"the second half of extra": {provider.Fixture{Period: provider.ExtraTime, PeriodStart: began, ProviderStatus: "inprogress/42"}, 0, 106},
	} {
		if got := c.fixture.MinuteAt(began.Add(c.after)); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
