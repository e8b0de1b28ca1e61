package limit_test

import (
	"fmt"
	"testing"
	"time"

	"matchday/pkg/kit/limit"
	"matchday/pkg/spec"
)

// TestLocal: a process allows each key its part of a limit, and again when the period is over. It
// forgets keys that have done nothing since.
func TestLocal(t *testing.T) {
	t.Parallel()

	per := spec.Limit{Name: "things", Max: 12, Per: time.Minute, Code: "too_many_things"}
	c := limit.NewLocal(4)
	now := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	allowed := func(key string) (n int) {
		for range 10 {
			if c.Take(per, key, now) == nil {
				n++
			}
		}

		return n
	}

	for _, key := range []string{"ann", "bob"} {
		if got := allowed(key); got != 3 {
			t.Errorf("%s did it %d times, want 3", key, got)
		}
	}

	now = now.Add(time.Minute)

	if got := allowed("ann"); got != 3 {
		t.Errorf("a minute later: %d times, want 3", got)
	}

	if err := limit.NewLocal(100).Take(per, "ann", now); err != nil {
		t.Errorf("of more processes than the limit: %v, want one time each", err)
	}

	for i := range 3000 {
		now = now.Add(time.Second)
		if err := c.Take(per, fmt.Sprint(i), now); err != nil {
			t.Fatal(err)
		}
	}

	if got := c.Len(); got > 1000 {
		t.Errorf("%d keys are kept, want at most 1000", got)
	}
}
