package catalog

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestCachedListDoesNotCacheErrors: after a failed read the next call reads again.
func TestCachedListDoesNotCacheErrors(t *testing.T) {
	t.Parallel()

	var l cachedList[int]

	now := time.Unix(1_800_000_000, 0)

	broken := errors.New("broken")
	if _, err := l.get(now, func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}

	for range 2 {
		if got, err := l.get(now, func() ([]int, error) { return []int{1}, nil }); err != nil || !slices.Equal(got, []int{1}) {
			t.Errorf("got %v, %v", got, err)
		}
	}

	if got, err := l.get(now.Add(scanTTL), func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}
