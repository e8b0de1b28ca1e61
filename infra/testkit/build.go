package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BuildFunctions builds functions of the module in root, as a deployment does, into a folder
// of binaries as fleet.Config wants it: "cricket/..." are those of a room, "cricket/tick" is one.
// It links to those in the folder MATCHDAY_BIN, if `make test` has set it.
func BuildFunctions(t testing.TB, root, dir string, functions ...string) {
	t.Helper()
	for _, pattern := range functions {
		room, _, _ := strings.Cut(pattern, "/")
		if built := os.Getenv("MATCHDAY_BIN"); built != "" {
			if err := os.Symlink(filepath.Join(built, room), filepath.Join(dir, room)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			continue
		}
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(dir, room)+"/", "./functions/"+pattern)
		cmd.Dir = root
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
