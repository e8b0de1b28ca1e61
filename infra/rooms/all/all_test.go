package all_test

import (
	"slices"
	"testing"

	"matchday/infra/rooms/all"
	"matchday/pkg/fleet"
)

// TestEveryRoomHasItsValue compares the list with that of pkg/fleet.
func TestEveryRoomHasItsValue(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, r := range all.Rooms() {
		got = append(got, r.Spec.Name)
	}
	for _, r := range fleet.Specs() {
		want = append(want, r.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rooms are %q, those of pkg/fleet %q", got, want)
	}
}
