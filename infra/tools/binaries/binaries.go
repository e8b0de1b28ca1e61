// Package binaries builds Lambda functions with the flags of a deployment.
package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

	args := []string{
		"build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc",
		"-gcflags", "all=-dwarf=false", "-ldflags", "-s -w -buildid=", "-o", out + "/",
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = root

	cmd.Env = append(append(cmd.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", strings.Join(packages, " "), err, text)
	}

	return nil
}

// Built is the environment variable with the path of the program that holds all functions.
// `make test` builds it once.
const Built = "MATCHDAY_PROGRAM"

// Local returns the path of the program infra/local of the module at root, which holds all
// functions. It builds the program unless it is Built.
func Local(ctx context.Context, root string) (program string, err error) {
	if built := os.Getenv(Built); built != "" {
		return built, nil
	}

	folder, err := filepath.Abs(filepath.Join(root, ".local", "bin"))
	if err != nil {
		return "", err
	}
	// Two tests must not write the file at once. The one that comes later finds it up to date.
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}

	lock, err := os.OpenFile(filepath.Join(folder, ".local.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()

	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}

	return filepath.Join(folder, "local"), Build(ctx, root, folder, nil, "./infra/local")
}
