package threefc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
	"matchday/infra/rooms/all"
	"matchday/infra/rooms/threefc"
	"matchday/infra/testkit"
)

const root = "../../.."

// TestReplay plays small seasons through the fleet, the last with faults, and twice.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program := testkit.Program(t, root)

	others, err := all.Beside("threefc")
	testkit.Must(t, err)

	run := func(t *testing.T, sessions, games int, seed uint64, faults *uint64) string {
		t.Helper()

		var out bytes.Buffer

		err := threefc.Replay(t.Context(), replay.Config{
			Root:    root,
			Program: program,
			Others:  others,
			Seed:    seed,
			Faults:  faults,
			Out:     &out,
		}, sessions, games)
		if err != nil || strings.Count("\n"+out.String(), "\nok ") != sessions*games {
			t.Errorf("%v\n%s", err, &out)
		}

		return out.String()
	}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		run(t, 3, 2, 4, nil)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()

		seed := uint64(7)
		if diff := cmp.Diff(run(t, 3, 1, 5, &seed), run(t, 3, 1, 5, &seed)); diff != "" {
			t.Errorf("the same seed gives another run (-first +second):\n%s", diff)
		}
	})
}
