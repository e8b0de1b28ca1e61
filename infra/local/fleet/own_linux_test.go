package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// TestFolderIsFreeAfterClose: while another process still has the file of the lock, as one that
// is forked has until it executes.
func TestFolderIsFreeAfterClose(t *testing.T) {
	t.Parallel()

	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the kernel names it
	if err != nil {
		t.Fatal(err)
	}

	own := func() *Fleet {
		f := new(Fleet)
		t.Cleanup(f.Close)

		if err := f.own(dir); err != nil {
			t.Fatal(err)
		}

		return f
	}
	first := own()

	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}

	lock := slices.IndexFunc(files, func(file string) bool {
		target, _ := os.Readlink(file)
		return target == filepath.Join(dir, "lock")
	})
	if lock < 0 {
		t.Fatal("the folder has no lock")
	}

	fd, err := strconv.Atoi(filepath.Base(files[lock]))
	if err != nil {
		t.Fatal(err)
	}

	held, err := syscall.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { syscall.Close(held) })

	if err := new(Fleet).own(dir); err == nil {
		t.Error("two fleets have one folder")
	}

	first.Close()
	own()
}
