package replay_test

import (
	"bytes"
	"testing"

	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/replay"
	"matchday/infra/testkit"
)

// TestHabits plays each habit of the provider through the fleet. `make replay FAULTS=7` plays them with faults.
func TestHabits(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	var out, progress bytes.Buffer

	err := replay.RunHabits(t.Context(), frame.Config{Root: root, Program: testkit.Program(t, root), Out: &out, Progress: &progress})
	t.Log(out.String())

	if err != nil {
		t.Error(err)
	}
}
