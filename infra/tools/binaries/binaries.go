// Package binaries builds Lambda functions with the flags of a deployment.
package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds packages of the module at root, given as ./functions/…, into the
// folder out. env is added to the environment: GOARCH=arm64. The flags are those of
// the Makefile.
func Build(ctx context.Context, root, out string, env []string, packages ...string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=", "-o", out + "/"}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = root
	cmd.Env = append(append(cmd.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", strings.Join(packages, " "), err, text)
	}
	return nil
}

// Built is the environment variable with a folder of all binaries as BuildAll makes it. Tests
// take them from there: `make test` builds them once.
const Built = "MATCHDAY_BIN"

// BuildAll puts every function of the fleet into bin/<room>/<function>. Names are unique within
// a room only.
func BuildAll(ctx context.Context, root, bin string) error {
	rooms, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return err
	}
	for _, room := range rooms {
		if err := BuildFunctions(ctx, root, bin, room.Name()+"/..."); err != nil {
			return err
		}
	}
	return nil
}

// BuildFunctions puts functions into bin/<room>/<function>: cricket/... are those of a room,
// cricket/tick is one. It links to all of the room if they are Built.
func BuildFunctions(ctx context.Context, root, bin, functions string) error {
	room, _, _ := strings.Cut(functions, "/")
	folder := filepath.Join(bin, room)
	if built := os.Getenv(Built); built != "" {
		if err := os.Symlink(filepath.Join(built, room), folder); !os.IsExist(err) {
			return err
		}
		return nil
	}
	return Build(ctx, root, folder, nil, "./functions/"+functions)
}
