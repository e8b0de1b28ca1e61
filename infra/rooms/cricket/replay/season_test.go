package replay_test

import (
	"bytes"
	"testing"

	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/replay"
	"matchday/infra/testkit"
)

// TestSeason plays the first evenings of a season through the fleet. `make replay` plays all of it.
func TestSeason(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	var out, progress bytes.Buffer

	err := replay.RunSeason(t.Context(), frame.Config{Root: root, Program: testkit.Program(t, root), Out: &out, Progress: &progress}, 20)
	t.Log(out.String())

	if err != nil {
		t.Error(err)
	}
}
