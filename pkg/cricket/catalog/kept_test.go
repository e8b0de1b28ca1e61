package catalog

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestKept does not keep what could not be read.
func TestKept(t *testing.T) {
	t.Parallel()
	var k kept[int]
	now := time.Unix(1_800_000_000, 0)
	broken := errors.New("broken")
	if _, err := k.get(now, func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if got, err := k.get(now, func() ([]int, error) { return []int{1}, nil }); err != nil || !slices.Equal(got, []int{1}) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if got, err := k.get(now.Add(keepScan), func() ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}
