package all

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	local "matchday/infra/local/fleet"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

// queues are the queues that functions send to, in text.
func queues(functions []spec.Function) (text string) {
	for _, f := range functions {
		for _, q := range f.Sends {
			text += f.Name + " to " + q.Name + "\n"
		}
	}

	return text
}

func namesOf(all []local.Room) (names []string) {
	for _, r := range all {
		names = append(names, r.Spec.Name)
	}

	return names
}

// TestEveryRoomHasItsValue compares the list with that of pkg/fleet. A tool that deploys reads
// the names and specs there, and links no simulator.
func TestEveryRoomHasItsValue(t *testing.T) {
	t.Parallel()

	var got, want []string
	for _, v := range values {
		got = append(got, v.Spec.Name)
	}

	for _, r := range fleet.Specs() {
		want = append(want, r.Name)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("add the rooms of pkg/fleet/fleet.go to the values in infra/rooms/all/all.go, in the same order (-want +got):\n%s", diff)
	}
}

// TestChoose: the values have the specs of the choice, in a local fleet, too.
func TestChoose(t *testing.T) {
	t.Parallel()

	name := values[1].Spec.Name

	choice, err := fleet.Choose(name, "")
	if err != nil {
		t.Fatal(err)
	}

	got, err := Choose(name)
	if err != nil {
		t.Fatal(err)
	}

	var specs, running []string

	for _, r := range got {
		specs, running = append(specs, queues(r.Room.Spec.Functions)), append(running, queues(r.Local().Fleet.Spec.Functions))
	}

	var want []string
	for _, spec := range choice.Specs() {
		want = append(want, queues(spec.Functions))
	}

	for _, got := range [][]string{specs, running} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the queues that functions send to (-want +got):\n%s", diff)
		}
	}

	beside, err := Beside(name)
	if names := namesOf(beside); err != nil || !slices.Equal(names, choice.Names()[1:]) {
		t.Errorf("beside %s there are %q, %v; want %q", name, names, err, choice.Names()[1:])
	}

	for _, choose := range []func() error{
		func() error { _, err := Choose("no-such-room"); return err },
		func() error { _, err := Beside("no-such-room"); return err },
	} {
		if choose() == nil {
			t.Error("an unknown room is no error")
		}
	}
}
