package cost

import (
	"math"
	"testing"
)

// TestSettling: what a month of settlements uses, worked out by hand.
func TestSettling(t *testing.T) {
	t.Parallel()

	c := counters{Members: 1000, Page: 2500, Seconds: map[string]float64{settled: 0.5, cachedPage: 0.01}}

	// 120 matches of 10 times the members: 5 s each, of a function with 256 MB and of 3.5 ACU above the least.
	u, v := c.settling(10_000), c.viewing(10)
	for name, x := range map[string][2]float64{
		"time of the function": {u.LambdaGBSeconds, 120 * 5 / 4.0},
		"hours of ACU":         {u.SQLHours, 120 * 5 / 3600.0 * 3.5},
		"time of a page":       {v.LambdaGBSeconds, 10 * 200 * 0.02 / 4},
		"units of the cache":   {v.CacheUnits, 10 * 200 * 3},
	} {
		if math.Abs(x[0]-x[1]) > 1e-9*x[1] {
			t.Errorf("%s: got %v, want %v", name, x[0], x[1])
		}
	}
}

// TestCountersAreChecked: the error of a missing counter names the command that counts it.
func TestCountersAreChecked(t *testing.T) {
	t.Parallel()

	if _, err := parse(kept); err != nil {
		t.Errorf("the counters of the repository: %v", err)
	}

	for _, text := range []string{"{}", `{"members":10,"page":5,"seconds":{"a match settled":1}}`} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != "the counters lack a settlement or a page: run `make bench`" {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
