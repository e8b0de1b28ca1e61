package match_test

import (
	"strings"
	"testing"
	"time"

	"matchday/pkg/cricket/match"
)

// TestSlots: a slot is 2.5 s, counted from the epoch: a minute has 24.
func TestSlots(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

	first := noon.Unix() / 60 * 24
	for after, want := range map[time.Duration]int64{
		0:                              0,
		2499 * time.Millisecond:        0,
		2500 * time.Millisecond:        1,
		time.Minute - time.Millisecond: 23,
		time.Minute:                    24,
	} {
		if got := match.SlotOf(noon.Add(after)); got != first+want {
			t.Errorf("%v after noon is slot %d of the minute, want %d", after, got-first, want)
		}
	}

	if got, want := match.SlotTime(first+25), noon.Add(62500*time.Millisecond); !got.Equal(want) {
		t.Errorf("slot 25 is due at %v, want %v", got, want)
	}
}

// TestValidID: an id is 1 to 19 digits.
func TestValidID(t *testing.T) {
	t.Parallel()

	for id, want := range map[string]bool{
		"": false, "7": true, "0": true, strings.Repeat("9", 19): true, strings.Repeat("9", 20): false,
		"x": false, "7x": false, "7x7": false, "-7": false, "7 ": false, "٧": false, "7#names": false, strings.Repeat("x", 20): false,
	} {
		if got := match.ValidID(id); got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}
