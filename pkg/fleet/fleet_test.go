package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/spec"
)

const module = "matchday/"

// The rooms that the fleet has or will have: the second level of every folder.
var rooms = []string{"cricket", "pickem", "commitcollect", "bestshot", "threefc"}

// The kit is a closed list.
var kit = []string{"app", "auth", "dynamo", "httpapi", "lock", "problem", "push", "queue", "telemetry"}

// TestLayers keeps the rooms apart and the kit below them.
func TestLayers(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		from := place(pkg)
		for dep := range strings.FieldsSeq(deps) {
			if complaint := forbidden(pkg, from, dep, place(dep)); complaint != "" {
				t.Errorf("%s imports %s: %s", pkg, dep, complaint)
			}
		}
	}
}

func forbidden(pkg, from, dep, to string) string {
	isRoom := func(p string) bool { return slices.Contains(rooms, p) }
	switch {
	case isRoom(from) && isRoom(to) && from != to:
		return "rooms meet only by queues"
	case (from == "kit" || from == "spec") && isRoom(to):
		return "the kit knows no room"
	case from == "spec" && strings.Contains(dep, "."):
		return "the spec imports the standard library alone"
	case strings.HasPrefix(pkg, module+"functions/") && (to == "infra" || strings.Contains(dep, "aws-cdk-go")):
		return "a function links no infrastructure"
	case isRoom(from) && to == "infra":
		return "a room does not know where it runs"
	}
	return ""
}

// place is the room, or kit, spec, fleet, or infra, that a package belongs to.
func place(pkg string) string {
	path, ok := strings.CutPrefix(pkg, module)
	if !ok {
		return ""
	}
	parts := strings.Split(path, "/")
	if parts[0] == "pkg" || parts[0] == "functions" {
		return parts[1]
	}
	return parts[0]
}

// TestKitIsClosed has whoever adds a package to the kit say so here.
func TestKitIsClosed(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", module+"pkg/kit/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for pkg := range strings.Lines(string(out)) {
		got = append(got, strings.TrimPrefix(strings.TrimSpace(pkg), module+"pkg/kit/"))
	}
	if !slices.Equal(got, kit) {
		t.Errorf("the kit is %q, want %q", got, kit)
	}
}

// TestFunctions pairs every function of the spec with its folder, whose main
// names that function.
func TestFunctions(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "functions")
	mains, err := filepath.Glob(filepath.Join(root, "*", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]bool{}
	for _, m := range mains {
		name, err := filepath.Rel(root, filepath.Dir(m))
		if err != nil {
			t.Fatal(err)
		}
		folders[filepath.ToSlash(name)] = true
	}
	for _, room := range Rooms() {
		for _, f := range room.Functions {
			if !folders[f.Name] {
				t.Errorf("the function %s has no folder", f.Name)
				continue
			}
			delete(folders, f.Name)
			text, err := os.ReadFile(filepath.Join(root, f.Name, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			if value := variable(f.Name) + ","; !strings.Contains(string(text), value) {
				t.Errorf("the main of %s does not start %s", f.Name, value)
			}
		}
	}
	for name := range folders {
		t.Errorf("the folder %s has no function in the spec", name)
	}
}

// variable is the name of a function's value: cricket.GetMatchFunction.
func variable(function string) string {
	room, name, _ := strings.Cut(function, "/")
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return room + "." + b.String() + "Function"
}

// TestSpec checks what every value of the spec must satisfy.
func TestSpec(t *testing.T) {
	t.Parallel()
	for _, room := range Rooms() {
		patterns := map[string]spec.Access{}
		for _, a := range room.Access {
			if _, twice := patterns[a.ID()]; twice {
				t.Errorf("two access patterns are called %q", a.ID())
			}
			patterns[a.ID()] = a
			if !slices.ContainsFunc(room.Tables, func(t spec.Table) bool { return t.Name == a.Table.Name }) {
				t.Errorf("%q is of a table that the room does not have", a.ID())
			}
			if a.Index != "" && !slices.ContainsFunc(a.Table.Indexes, func(x spec.Index) bool { return x.Name == a.Index }) {
				t.Errorf("%q is of an index that the table does not have", a.ID())
			}
		}
		for _, f := range room.Functions {
			if !strings.HasPrefix(f.Name, room.Name+"/") || f.Does == "" || f.IfDown == "" || f.On == nil || f.Memory == 0 || f.Timeout == 0 {
				t.Errorf("%s is not described in full", f.Name)
			}
			for _, a := range f.Uses {
				if _, ok := patterns[a.ID()]; !ok {
					t.Errorf("%s uses %q, which the room does not list", f.Name, a.ID())
				}
			}
		}
	}
}
