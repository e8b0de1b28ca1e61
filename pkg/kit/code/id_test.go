package code_test

import (
	"regexp"
	"testing"
	"time"

	"matchday/pkg/kit/code"
)

// TestIDsAreUnpredictable: ids of one moment share the time, and each of the other 80 bits is set
// in about half of them, whatever the bits beside it are.
func TestIDsAreUnpredictable(t *testing.T) {
	t.Parallel()

	const n = 2000

	now := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	form := regexp.MustCompile(`^01KTECVSG0[0-9A-HJKMNP-TV-Z]{16}$`)
	seen := map[string]bool{}
	letters := [16][32]int{}

	for range n {
		id := code.NewID(now)
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%q is no ULID of %v, or not new", id, now)
		}

		seen[id] = true

		for i, r := range id[10:] {
			for j, letter := range code.Letters {
				if r == letter {
					letters[i][j]++
				}
			}
		}
	}

	for i, counts := range letters {
		for j, count := range counts {
			if count < 10 || count > 120 { // of 62.5, seven standard deviations
				t.Errorf("letter %d is %c in %d of %d ids", i+10, code.Letters[j], count, n)
			}
		}
	}

	if first, later := code.NewID(now), code.NewID(now.Add(time.Millisecond)); first >= later {
		t.Errorf("%s is not before %s, which is made a millisecond later", first, later)
	}
}

// TestNewUUID: an id is a UUID of version 4, and no other is the same.
func TestNewUUID(t *testing.T) {
	t.Parallel()

	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}

	for range 100 {
		id := code.NewUUID()
		if !form.MatchString(id) || seen[id] {
			t.Errorf("%q is no UUID of version 4, or not new", id)
		}

		seen[id] = true
	}
}
