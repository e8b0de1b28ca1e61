package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "matchday/"

// The kit is a closed list.
var kit = []string{"account", "app", "auth", "bearer", "budget", "code", "device", "dynamo", "httpapi", "idem", "limit", "lock", "mail", "object",
	"outbox", "pg", "pg/migrate", "problem", "push", "push/fcm", "push/h2conn", "queue", "redis", "session", "telemetry", "userpool"}

// A rule forbids imports. It is about the packages for which From holds, and
// complains of each import for which Forbids holds. Direct imports are enough:
// the rule applies to every package on the way.
type rule struct {
	Name    string
	From    func(pkg string) bool
	Forbids func(pkg, imported string) bool
	Tests   bool // the rule also holds for the imports of _test.go files
}

var rules = []rule{
	{
		Name: "rooms meet only by queues", Tests: true,
		From:    func(pkg string) bool { return roomOf(pkg) != "" },
		Forbids: func(pkg, imported string) bool { return roomOf(imported) != "" && roomOf(imported) != roomOf(pkg) },
	},
	{
		Name:    "the kit and the spec know no room",
		From:    below("pkg/kit", "pkg/spec"),
		Forbids: func(_, imported string) bool { return roomOf(imported) != "" || below("pkg/fleet")(imported) },
	},
	{
		Name: "the spec imports the standard library only",
		From: below("pkg/spec"),
		Forbids: func(_, imported string) bool {
			return strings.Contains(imported, ".") || strings.HasPrefix(imported, module)
		},
	},
	{
		Name: "what is deployed does not know where it runs",
		From: below("pkg", "functions"),
		Forbids: func(_, imported string) bool {
			return below("infra")(imported) || strings.Contains(imported, "aws-cdk-go")
		},
	},
	{
		Name: "simulators import simulators and libraries only", Tests: true,
		From: below("infra/sim"),
		Forbids: func(_, imported string) bool {
			return strings.HasPrefix(imported, module) && !below("infra/sim")(imported)
		},
	},
	{
		Name:    "only tests and test packages import the test kit",
		From:    func(pkg string) bool { return !below("infra/testkit")(pkg) && !strings.HasSuffix(pkg, "test") },
		Forbids: func(_, imported string) bool { return below("infra/testkit")(imported) },
	},
	{
		Name: "the local fleet knows rooms through infra/rooms only", Tests: true,
		From:    below("infra/local"),
		Forbids: func(_, imported string) bool { return roomOf(imported) != "" },
	},
	{
		Name: "the tools know rooms through pkg/fleet and infra/rooms/all only", Tests: true,
		From:    below("infra/tools"),
		Forbids: func(_, imported string) bool { return roomOf(imported) != "" },
	},
}

// oneWay finds the sentence of a room's package comment in which the room declares the order of
// its packages: "Imports go one way: tables <- item <- league, event <- pickem."
var oneWay = regexp.MustCompile(`Imports go one way: ([^.]+)\.`)

// parseOrder returns, for each package of a sentence, those that it may import: all that are
// left of it in a chain, directly or through other packages. Packages between two arrows do not
// import each other. Semicolons separate chains.
func parseOrder(sentence string) map[string][]string {
	order := map[string][]string{}

	for chain := range strings.SplitSeq(sentence, ";") {
		var left []string

		for group := range strings.SplitSeq(chain, "<-") {
			var here []string

			for name := range strings.SplitSeq(group, ",") {
				name = strings.TrimSpace(name)
				here = append(here, name)
				order[name] = append(order[name], left...)
			}

			left = here
		}
	}

	for range order { // a path has at most so many steps
		for name, direct := range order {
			for _, below := range direct {
				order[name] = append(order[name], order[below]...)
			}

			slices.Sort(order[name])
			order[name] = slices.Compact(order[name])
		}
	}

	return order
}

// misplaced returns what is wrong with the packages of a room, whose comment is doc. imports has
// the imports of each, by its path below the room's; the path of the room's own package is the
// name of the room.
func misplaced(room, doc string, imports map[string][]string) (wrong []string) {
	order := map[string][]string{room: nil}
	if m := oneWay.FindStringSubmatch(strings.Join(strings.Fields(doc), " ")); m != nil {
		order = parseOrder(m[1])
	} else if len(imports) > 1 {
		const lacks = `the comment of package %s lacks the order of its packages: "Imports go one way: tables <- … <- %s."`
		return []string{fmt.Sprintf(lacks, room, room)}
	}

	for _, name := range slices.Sorted(maps.Keys(imports)) {
		below, ok := order[name]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s has no place in the order of packages in the comment of package %s", name, room))
			continue
		}

		for _, imported := range imports[name] {
			if imported == name || !slices.Contains(below, imported) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s, which is not left of it in the comment of package %s", name, imported, room))
			}
		}
	}

	for _, name := range slices.Sorted(maps.Keys(order)) {
		if _, ok := imports[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("the comment of package %s orders %s, which does not exist", room, name))
		}

		if slices.Contains(order[name], name) {
			wrong = append(wrong, fmt.Sprintf("the order in the comment of package %s has %s left of itself", room, name))
		}
	}

	return wrong
}

// TestOrderOfPackages checks the direction of imports inside the rooms.
func TestOrderOfPackages(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		prefix := module + "pkg/" + room.Name

		out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, prefix+"/...").Output()
		if err != nil {
			t.Fatal(err)
		}

		imports := map[string][]string{}

		for line := range strings.Lines(string(out)) {
			var own []string // the packages of the room

			for _, path := range strings.Fields(line) {
				if path == prefix {
					own = append(own, room.Name)
				} else if name, ok := strings.CutPrefix(path, prefix+"/"); ok {
					own = append(own, name)
				}
			}

			imports[own[0]] = own[1:]
		}

		for _, sentence := range misplaced(room.Name, packageComment(t, filepath.Join(root, "pkg", room.Name)), imports) {
			t.Errorf("pkg/%s: %s", room.Name, sentence)
		}
	}
}

// packageComment is the comment of the package in a folder.
func packageComment(t *testing.T, dir string) string {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}

	var text strings.Builder

	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}

		text.WriteString(src.Doc.Text())
	}

	return text.String()
}

// TestMisplaced: a package without a place, an import in the wrong direction or of a neighbour,
// and a place without a package are found.
func TestMisplaced(t *testing.T) {
	t.Parallel()

	const doc = "Package chess is a game.\n\nImports go one way: rules <- board, clock <- game;\ntables <- game <- chess. It is old.\n"

	whole := func() map[string][]string {
		return map[string][]string{
			"rules": {}, "board": {"rules"}, "clock": {}, "tables": {},
			"game": {"rules", "clock"}, "chess": {"tables", "game"},
		}
	}

	for name, c := range map[string]struct {
		doc    string
		change func(imports map[string][]string)
		want   []string
	}{
		"in order":     {doc, func(map[string][]string) {}, nil},
		"a single one": {"Package chess is a game.", func(m map[string][]string) { clear(m); m["chess"] = nil }, nil},
		"an unlisted one": {
			doc, func(m map[string][]string) { m["king"] = nil },
			[]string{"king has no place in the order of packages in the comment of package chess"},
		},
		"the wrong direction": {
			doc, func(m map[string][]string) { m["rules"] = []string{"game"} },
			[]string{"rules imports game, which is not left of it in the comment of package chess"},
		},
		"a neighbour": {
			doc, func(m map[string][]string) { m["clock"] = []string{"board"} },
			[]string{"clock imports board, which is not left of it in the comment of package chess"},
		},
		"another chain": {
			doc, func(m map[string][]string) { m["board"] = []string{"tables"} },
			[]string{"board imports tables, which is not left of it in the comment of package chess"},
		},
		"the room": {
			doc, func(m map[string][]string) { m["game"] = []string{"chess"} },
			[]string{"game imports chess, which is not left of it in the comment of package chess"},
		},
		"a place without a package": {
			doc, func(m map[string][]string) { delete(m, "clock"); m["game"] = nil },
			[]string{"the comment of package chess orders clock, which does not exist"},
		},
		"no order": {
			"Package chess is a game.", func(map[string][]string) {},
			[]string{`the comment of package chess lacks the order of its packages: "Imports go one way: tables <- … <- chess."`},
		},
		"a circle": {
			"Imports go one way: rules <- chess <- rules.",
			func(m map[string][]string) { clear(m); m["rules"], m["chess"] = nil, nil },
			[]string{
				"the order in the comment of package chess has chess left of itself",
				"the order in the comment of package chess has rules left of itself",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			imports := whole()
			c.change(imports)

			if diff := cmp.Diff(c.want, misplaced("chess", c.doc, imports)); diff != "" {
				t.Errorf("what is wrong (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLayers checks the import rules for every package of the module.
func TestLayers(t *testing.T) {
	t.Parallel()

	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}

	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}

		for _, r := range rules {
			if !r.From(p.ImportPath) {
				continue
			}

			imports := p.Imports
			if r.Tests {
				imports = slices.Concat(imports, p.TestImports, p.XTestImports)
			}

			for _, i := range imports {
				if r.Forbids(p.ImportPath, i) {
					t.Errorf("%s imports %s: %s", p.ImportPath, i, r.Name)
				}
			}
		}
	}
}

// below reports whether a package is in one of the folders or below it.
func below(folders ...string) func(pkg string) bool {
	return func(pkg string) bool {
		return slices.ContainsFunc(folders, func(f string) bool {
			return pkg == module+f || strings.HasPrefix(pkg, module+f+"/")
		})
	}
}

// rooms are the names of the fleet's rooms.
var rooms = roomNames()

func roomNames() (all []string) {
	for _, room := range Specs() {
		all = append(all, room.Name)
	}

	return all
}

// roomOf is the room that a package belongs to, or "".
func roomOf(pkg string) string {
	for _, room := range rooms {
		if below("pkg/"+room, "functions/"+room, "infra/rooms/"+room)(pkg) {
			return room
		}
	}

	return ""
}

// TestKitIsClosed makes whoever adds a package to the kit list it here.
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
