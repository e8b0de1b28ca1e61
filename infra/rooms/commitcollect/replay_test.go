package commitcollect_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
	"matchday/infra/rooms/all"
	"matchday/infra/rooms/commitcollect"
	"matchday/infra/testkit"
)

const root = "../../.."

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// TestReplay plays some weeks through the fleet, then with faults, and those twice.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program := testkit.Program(t, root)

	others, err := all.Beside("commitcollect")
	testkit.Must(t, err)

	var wrong bytes.Buffer // what went wrong in the runs with faults

	run := func(t *testing.T, athletes, weeks int, seed uint64, faults *uint64) string {
		t.Helper()

		var out bytes.Buffer

		cfg := replay.Config{Root: root, Program: program, Others: others, Seed: seed, Faults: faults, Out: &out}
		if faults != nil {
			cfg.Progress = &wrong
		}

		err := commitcollect.Replay(t.Context(), cfg, athletes, weeks)
		if err != nil || strings.Contains("\n"+out.String(), "\nFAIL") {
			t.Errorf("%v\n%s", err, &out)
		}

		return out.String()
	}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		run(t, 8, 3, 4, nil)
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()

		seed := uint64(7)
		out := run(t, 4, 3, 5, &seed)

		for _, kind := range []string{"throttled", "failed", "cut after effect"} {
			if !strings.Contains(wrong.String(), " × "+kind) {
				t.Errorf("the fault %q is missing: %s", kind, &wrong)
			}
		}

		if diff := cmp.Diff(out, run(t, 4, 3, 5, &seed)); diff != "" {
			t.Errorf("the same seed gives another run (-first +second):\n%s", diff)
		}
	})
}
