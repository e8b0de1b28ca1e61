// Package samples finds recordings of real matches and of the provider's
// responses for tests. They are not part of the repository: they lie in
// ../shared/data beside it, or in the folder that MATCHDAY_DATA names.
//
// A test skips when that folder does not exist. It fails when the folder exists but
// lacks the file that the test needs: a moved test or a renamed file is noticed.
package samples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Glob returns the paths that match a pattern below the data folder, like
// "cricsheet/*.json": at least one.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	pattern = filepath.Join(folder(t), pattern)

	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no file matches %s (%v)", pattern, err)
	}

	return paths
}

// Read returns a file of the data folder, like "sportmonks/teams.json".
func Read(t testing.TB, name string) []byte {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(folder(t), name))
	if err != nil {
		t.Fatal(err)
	}

	return data
}

// Matches returns the Cricsheet files by match: the number that begins their
// names.
func Matches(t testing.TB) map[string][]byte {
	t.Helper()

	all := map[string][]byte{}

	for _, path := range Glob(t, "cricsheet/*.json") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		id, _, _ := strings.Cut(filepath.Base(path), "_")
		all[id] = data
	}

	return all
}

// Exist reports whether the data folder exists, for tests and benchmarks that
// have data of their own instead.
func Exist() bool {
	_, err := os.Stat(dir())
	return err == nil
}

func folder(t testing.TB) string {
	t.Helper()

	if !Exist() {
		t.Skipf("the recordings are not in %s; MATCHDAY_DATA names another folder", dir())
	}

	return dir()
}

// dir returns the data folder. A test runs in the folder of its package, so the
// root of the module is the nearest folder above it that holds go.mod.
func dir() string {
	if d := os.Getenv("MATCHDAY_DATA"); d != "" {
		return d
	}

	for root, _ := os.Getwd(); root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, "../shared/data")
		}
	}

	return "../shared/data"
}
