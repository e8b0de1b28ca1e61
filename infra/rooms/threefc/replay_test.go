package threefc_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/replay"
	"matchday/infra/rooms/threefc"
)

const root = "../../.."

// binaries builds the functions.
func binaries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, room := range []string{"accounts", "cricket", "pickem", "commitcollect", "threefc"} {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(dir, room)+"/", "./functions/"+room+"/...")
		cmd.Dir = root
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// TestReplay plays small seasons through the fleet, the last with faults, and twice.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}
	bin := binaries(t)
	run := func(t *testing.T, sessions, games int, seed uint64, faults *uint64) string {
		t.Helper()
		var out bytes.Buffer
		err := threefc.Replay(t.Context(), replay.Config{Root: root, Bin: bin, Seed: seed, Faults: faults, Out: &out}, sessions, games)
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
