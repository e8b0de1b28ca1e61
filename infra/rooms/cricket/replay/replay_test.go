package replay_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/cricket/replay"
	"matchday/infra/testkit"
)

const root = "../../../.."

func run(t *testing.T, program, folder string) (string, error) {
	t.Helper()
	return runWith(t, program, folder, nil)
}

func runWith(t *testing.T, program, folder string, faults *uint64) (string, error) {
	t.Helper()
	out, _, err := runWrong(t, program, folder, faults)

	return out, err
}

// runWrong is runWith, and returns what went wrong, too.
func runWrong(t *testing.T, program, folder string, faults *uint64) (text, happened string, err error) {
	t.Helper()

	var out, wrong bytes.Buffer

	err = replay.Run(t.Context(), replay.Config{
		// the answer with all is too large for a busy machine to read in time
		Config: frame.Config{Folder: folder, Root: root, Program: program, Faults: faults, Out: &out, Progress: &wrong}, AtOnce: 25,
	})

	return out.String(), wrong.String(), err
}

// TestReplay plays matches of every shape that a Cricsheet file can have through
// the fleet.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program := testkit.Program(t, root)
	t.Run("ok", func(t *testing.T) {
		dir := t.TempDir()

		all := shapes()
		for name, s := range all {
			write(t, dir, name, s.json())
		}

		out, err := run(t, program, dir)
		t.Log(out)

		if err != nil {
			t.Error(err)
		}

		if n := strings.Count("\n"+out, "\nok "); n != len(all) {
			t.Errorf("%d of %d matches are ok", n, len(all))
		}
	})
	t.Run("faults", func(t *testing.T) {
		dir := t.TempDir()

		all := faults()
		for name, f := range all {
			write(t, dir, name, f.data)
		}

		out, err := run(t, program, dir)
		t.Log(out)

		if !errors.Is(err, frame.ErrFailed) {
			t.Errorf("the error is %v", err)
		}

		for name, f := range all {
			if !strings.Contains(out, f.want) {
				t.Errorf("%s: the output lacks %q", name, f.want)
			}
		}

		if n := strings.Count("\n"+out, "\nFAIL "); n != len(all) {
			t.Errorf("%d of %d files fail", n, len(all))
		}
	})
	t.Run("everything goes wrong", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"both all out", "super over", "chase with balls left"} {
			write(t, dir, name, shapes()[name].json())
		}

		seed := uint64(7)
		first, happened, err := runWrong(t, program, dir, &seed)
		t.Log(first)

		if err != nil {
			t.Error(err)
		}

		for _, kind := range []string{"wrong ball", "5xx", "drop", "lost", "two at once", "delayed", "held back", "redelivered"} {
			if !strings.Contains(happened, kind+" ") || strings.Contains(happened, kind+" 0") {
				t.Errorf("the fault %s did not happen", kind)
			}
		}

		if again, err := runWith(t, program, dir, &seed); again != first {
			t.Errorf("the same seed gives another run (%v):\n%s", err, again)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if _, err := run(t, program, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no .json file") {
			t.Errorf("the error of an empty folder is %v", err)
		}

		if _, err := run(t, program, filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "DIR=folder") {
			t.Errorf("the error of a missing folder is %v", err)
		}
	})
}
