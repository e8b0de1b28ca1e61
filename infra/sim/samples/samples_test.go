package samples_test

import (
	"os"
	"path/filepath"
	"testing"

	"matchday/infra/sim/samples"
)

// probe records how a test ends instead of ending this one.
type probe struct {
	testing.TB
	skipped, failed bool
}

func (p *probe) Helper()               {}
func (p *probe) Skipf(string, ...any)  { p.skipped = true; panic(p) }
func (p *probe) Fatalf(string, ...any) { p.failed = true; panic(p) }
func (p *probe) Fatal(...any)          { p.failed = true; panic(p) }

func end(f func(testing.TB)) (p *probe) {
	p = &probe{}

	defer func() { _ = recover() }()

	f(p)

	return p
}

func TestMissingFolderSkipsAndMissingFileFails(t *testing.T) {
	for _, read := range []func(testing.TB){
		func(t testing.TB) { samples.Read(t, "cricsheet/1.json") },
		func(t testing.TB) { samples.Glob(t, "cricsheet/*.json") },
	} {
		dir := t.TempDir()
		t.Setenv("MATCHDAY_DATA", filepath.Join(dir, "absent"))

		if p := end(read); !p.skipped || p.failed || samples.Exist() {
			t.Errorf("no folder: skipped %t, failed %t", p.skipped, p.failed)
		}

		t.Setenv("MATCHDAY_DATA", dir)

		if p := end(read); p.skipped || !p.failed {
			t.Errorf("an empty folder: skipped %t, failed %t", p.skipped, p.failed)
		}

		if err := os.Mkdir(filepath.Join(dir, "cricsheet"), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(filepath.Join(dir, "cricsheet/1.json"), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}

		if p := end(read); p.skipped || p.failed {
			t.Errorf("a file: skipped %t, failed %t", p.skipped, p.failed)
		}
	}
}
