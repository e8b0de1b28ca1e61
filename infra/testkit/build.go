package testkit

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BuildFunctions builds functions of the module in root, as a deployment does, into a folder
// of binaries as fleet.Config wants it: "cricket/..." are those of a room, "cricket/tick" is one.
func BuildFunctions(t testing.TB, root, dir string, functions ...string) {
	t.Helper()
	for _, pattern := range functions {
		room, _, _ := strings.Cut(pattern, "/")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(dir, room)+"/", "./functions/"+pattern)
		cmd.Dir = root
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
