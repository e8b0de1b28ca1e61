package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/spec"
)

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
