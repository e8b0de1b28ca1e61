package all_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/all"
	"matchday/pkg/fleet"
)

// TestEveryRoomHasItsValue compares the list with that of pkg/fleet. A tool that deploys reads
// the names and specs there, and links no simulator.
func TestEveryRoomHasItsValue(t *testing.T) {
	t.Parallel()

	var got, want []string
	for _, r := range all.Rooms() {
		got = append(got, r.Spec.Name)
	}

	for _, r := range fleet.Specs() {
		want = append(want, r.Name)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("add the rooms of pkg/fleet/fleet.go to Rooms in infra/rooms/all/all.go, in the same order (-want +got):\n%s", diff)
	}
}
