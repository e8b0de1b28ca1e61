package templatetests

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"matchday/infra/stacks"
	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// deploy synthesizes the lab from programs, at a commit, and returns the template of the room.
func deploy(t *testing.T, programs, commit string) template {
	t.Helper()
	rooms := []spec.Room{lab}
	s, err := stage.Read(rooms, map[string]string{"stage": "small", "agnostic": "true", "canary": "10", "commit": commit},
		func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	dir := assemble(t, stacks.Config{Stage: s, Rooms: rooms, Dist: programs})
	tmpl := template{Name: s.Stack(lab.Name), Stage: s, Room: lab, Rooms: rooms}
	if err := tmpl.read(dir, tmpl.Name+".template.json"); err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// TestDeploymentOfOneFunction: a deployment of another commit changes nothing but the commit in the
// outputs. If the code of one function is other, the function, its version and its alias change.
func TestDeploymentOfOneFunction(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	if err := build(programs, stage.Stage{Arch: "arm64", Programs: true}, []spec.Room{lab}); err != nil {
		t.Fatal(err)
	}

	before := deploy(t, programs, "0a1b2c3d4e5f")
	same := deploy(t, programs, "1a1b2c3d4e5f")
	if diff := gocmp.Diff(before.Resources, same.Resources); diff != "" {
		t.Errorf("another commit of the same code changes resources (-before +after):\n%s", diff)
	}

	const changed = "lab/do-work"
	program := filepath.Join(programs, changed, "bootstrap")
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, append(text, "other code"...), 0o755); err != nil {
		t.Fatal(err)
	}

	after := deploy(t, programs, "2a1b2c3d4e5f")
	var got []string
	all := maps.Clone(before.Resources)
	maps.Copy(all, after.Resources)
	for id := range all {
		was, is := before.Resources[id], after.Resources[id]
		if !gocmp.Equal(was, is) {
			got = append(got, cmp.Or(is.Type, was.Type+" removed")+" "+hash.ReplaceAllString(strings.SplitN(id, "CurrentVersion", 2)[0], ""))
		}
	}
	slices.Sort(got)
	want := []string{
		"AWS::Lambda::Alias Livedowork",
		"AWS::Lambda::Function dowork",
		"AWS::Lambda::Version dowork",
		"AWS::Lambda::Version removed dowork",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("what the code of %s changes (-want +got):\n%s", changed, diff)
	}
}

// TestChangeInTheKit: a change in the kit changes the programs that use it, and no others.
func TestChangeInTheKit(t *testing.T) {
	t.Parallel()
	const without, with = "accounts/get-account", "pickem/remind" // push messages
	dir, root := t.TempDir(), ".."
	file, err := filepath.Abs(filepath.Join(root, "pkg", "kit", "push", "message.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other, overlay := filepath.Join(dir, "message.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(other, append(text, "\nfunc init() { println(`other code`) }\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace":{%q:%q}}`, file, other), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := func(args ...string) map[string]string { // the programs
		out := t.TempDir()
		command := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out}, args,
			[]string{"./functions/" + without, "./functions/" + with})...)
		command.Dir = root
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		programs := map[string]string{}
		for _, f := range []string{without, with} {
			text, err := os.ReadFile(filepath.Join(out, filepath.Base(f)))
			if err != nil {
				t.Fatal(err)
			}
			programs[f] = string(text)
		}
		return programs
	}
	before, after := compile(), compile("-overlay", overlay)
	if before[without] != after[without] {
		t.Errorf("the program of %s changes with a package that it does not use", without)
	}
	if before[with] == after[with] {
		t.Errorf("the program of %s does not change with a package that it uses", with)
	}
}
