package replay_test

import (
	"bytes"
	"testing"

	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/replay"
	"matchday/infra/testkit"
)

// TestHabits plays each habit of the provider through the fleet, without and with faults.
func TestHabits(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program, seed := testkit.Program(t, root), uint64(7)

	for name, faults := range map[string]*uint64{"plain": nil, "with faults": &seed} {
		t.Run(name, func(t *testing.T) {
			var out, progress bytes.Buffer

			err := replay.RunHabits(t.Context(), frame.Config{Root: root, Program: program, Faults: faults, Out: &out, Progress: &progress})
			t.Log(out.String())

			if err != nil {
				t.Error(err)
			}
		})
	}
}
