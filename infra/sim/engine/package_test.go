package engine

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var abacus = Package{
	Name: "Abacus", Scope: "@abacus", Version: "1.2.3", Program: "bin/abacus", Endpoint: "ABACUS_URL", Server: "an abacus",
	Integrity: map[string]string{Platform(): "sha512-AAAA"},
}

// install is an npm that installs the package of abacus and logs each call.
var install = `#!/bin/sh
echo "$*" >> ../../../log
mkdir -p "node_modules/@abacus/` + Platform() + `/bin"
echo beads > "node_modules/@abacus/` + Platform() + `/bin/abacus"
`

// project returns a folder of a Go module, and a folder in it.
func project(t *testing.T) (root, deep string) {
	t.Helper()
	root = t.TempDir()

	deep = filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	return root, deep
}

// npm makes a script the program npm, or has the machine lack npm when script is "".
func npm(t *testing.T, script string) {
	t.Helper()

	bin := t.TempDir()
	if script == "" {
		t.Setenv("PATH", bin)
		return
	}

	t.Setenv("PATH", bin+":/usr/bin:/bin")
	// A process that is forked meanwhile would have the file open, and nobody could run it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestPackageIsFetchedOnce: many that look for an engine at once have npm fetch it once, in the
// pinned version with the pinned content.
func TestPackageIsFetchedOnce(t *testing.T) {
	root, deep := project(t)
	npm(t, install)

	want := filepath.Join(root, ".local", "engines", "abacus-1.2.3-"+Platform(), "node_modules", "@abacus", Platform(), "bin", "abacus")

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := abacus.Find(t.Context(), deep); got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}

	wg.Wait()

	for file, want := range map[string]string{
		filepath.Join(root, "log"): "ci --prefer-offline --no-audit --no-fund --loglevel=error --fetch-retry-mintimeout=1000 " +
			"--fetch-retry-maxtimeout=5000\n",
		filepath.Join(want, "..", "..", "..", "..", "..", "package-lock.json"): `{"lockfileVersion":3,"packages":{` +
			`"":{"dependencies":{"@abacus/` + Platform() + `":"1.2.3"}},` +
			`"node_modules/@abacus/` + Platform() + `":{"version":"1.2.3","integrity":"sha512-AAAA","hasInstallScript":true}}}`,
	} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// TestMissingPackage: the error says what to do without the engine, and a later fetch succeeds.
func TestMissingPackage(t *testing.T) {
	fails := "#!/bin/sh\nmkdir -p \"node_modules/@abacus/" + Platform() + "/bin\"\necho E404: no such package >&2\nexit 1\n"
	for name, test := range map[string]struct{ npm, want string }{
		"no npm": {"", "Abacus is fetched by npm: install Node 20 or newer, https://nodejs.org/, or start an abacus and set ABACUS_URL " +
			"to its URL"},
		"no package": {fails, "Abacus for " + Platform() + " cannot be fetched: start an abacus and set ABACUS_URL to its URL. " +
			"npm ci of @abacus/" + Platform() + "@1.2.3: exit status 1\nE404: no such package"},
		"another package": {"#!/bin/sh\n", "the npm package @abacus/" + Platform() + "@1.2.3 has no file bin/abacus"},
	} {
		t.Run(name, func(t *testing.T) {
			root, deep := project(t)
			npm(t, test.npm)

			if got, err := abacus.Find(t.Context(), deep); err == nil || err.Error() != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}

			npm(t, install)

			if got, err := abacus.Find(t.Context(), deep); err != nil || !strings.HasPrefix(got, root) {
				t.Errorf("then got %q, %v", got, err)
			}
		})
	}
}

// TestPackageOutsideOfAModule: an engine is never fetched into a folder of somebody else.
func TestPackageOutsideOfAModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := abacus.Find(t.Context(), dir)

	want := "find Abacus: " + dir + " is not in the project's folder; start there, or start an abacus and set ABACUS_URL to its URL"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
