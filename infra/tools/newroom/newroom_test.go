package newroom

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// step is a step of ARCHITECTURE.md: a file or a folder, with <room> for the room.
type step struct {
	place string
	// without is the file or folder that is left out; "" for a change of a file that is there.
	without string
	// change makes the step in a file that is there before.
	change func(text string) string
	// test is the package whose test fails without the step, and says that it does.
	test, name, says string
}

var steps = []step{
	{
		place: "pkg/<room>", without: "pkg/chess",
		test: "pkg/fleet", name: "TestEveryRoomIsInEachPlace", says: "the room chess lacks the folder pkg/chess",
	},
	{
		place: "functions/<room>/<verb-noun>/main.go", without: "functions/chess/get-rating",
		test: "pkg/fleet", name: "TestFunctions", says: "the function chess/get-rating has no folder",
	},
	{
		place: "events/<room>", without: "events/chess/get-rating.json",
		test: "infra/tools/events", name: "TestEveryFunctionHasItsEvents", says: "there is no chess/get-rating.json",
	},
	{
		place: "infra/rooms/<room>", without: "infra/rooms/chess",
		test: "pkg/fleet", name: "TestEveryRoomIsInEachPlace", says: "the room chess lacks the folder infra/rooms/chess",
	},
	{
		place: "pkg/fleet/fleet.go", change: func(text string) string {
			text = insert(text, "import (", "\n\t\"matchday/pkg/chess\"")
			return insert(text, "return []app.Room{", "\n\t\tchess.Room(),")
		},
		test: "pkg/fleet", name: "TestEveryRoomIsInEachPlace",
		says: "pkg/chess is of no room: add chess.Room() to the list in pkg/fleet/fleet.go",
	},
	{
		place: "infra/rooms/all/all.go", change: func(text string) string {
			text = insert(text, "import (", "\n\t\"matchday/infra/rooms/chess\"")
			return insert(text, "var values = []rooms.Room{", "\n\tchess.Room,")
		},
		test: "infra/rooms/all", name: "TestEveryRoomHasItsValue",
		says: "add the rooms of pkg/fleet/fleet.go to the values in infra/rooms/all/all.go",
	},
	{
		place: "pkg/<room>/testdata", without: "pkg/chess/testdata",
		test: "pkg/fleet", name: "TestEveryRoomIsInEachPlace", says: "the room chess lacks the file pkg/chess/testdata/contract.golden",
	},
	{
		place:  "docs/env.local.example.json",
		change: func(text string) string { return insert(text, `"Parameters": {`, "\n    \"CHESS_CLOCK\": \"blitz\",") },
		test:   "infra/tools/sam", name: "TestExample", says: "docs/env.local.example.json lacks CHESS_CLOCK",
	},
	{
		place: "docs/runbook.md",
		test:  "infra/tools/runbook", name: "TestPageIsCurrent", says: "docs/runbook.md is out of date: run `make runbook`",
	},
	{
		place: "infra/pipeline.template.json",
		test:  "infra/tools/pipeline", name: "TestTemplateIsCurrent", says: "infra/pipeline.template.json is out of date: run `make pipeline`",
	},
	{
		place: "docs/privacy.md",
		test:  "infra/tools/privacy", name: "TestPageIsCurrent", says: "docs/privacy.md is out of date: run `make privacy`",
	},
}

// insert returns a text with more after the first place of a part.
func insert(text, after, more string) string {
	before, rest, ok := strings.Cut(text, after)
	if !ok {
		panic("there is no " + after)
	}

	return before + after + more + rest
}

// TestStepsAreThoseOfTheDocument: ARCHITECTURE.md lists the steps of this test.
func TestStepsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()

	_, section, ok := strings.Cut(read(t, filepath.Join(root, "ARCHITECTURE.md")), "\n## How to add a room\n")
	if !ok {
		t.Fatal(`ARCHITECTURE.md has no section "How to add a room"`)
	}

	section, _, _ = strings.Cut(section, "\n## ")

	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^[0-9]+\\. `([^`]+)`").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}

	for _, s := range steps {
		want = append(want, s.place)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the steps of ARCHITECTURE.md (-this test +document):\n%s", diff)
	}
}

// TestRoomIsAddedByTheSteps makes the room of testdata in a copy of the module. With all steps the
// checks pass, and the room is synthesized alone. Without one of them a test fails, and names the
// place.
func TestRoomIsAddedByTheSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds tests, and the CDK's app")
	}

	t.Parallel()

	c := addRoom(t)
	c.run(".", nil, "go", "vet", "./pkg/chess", "./functions/chess/...", "./infra/rooms/chess")
	c.run(".", nil, "go", "run", "./infra/tools/runbook", "docs/runbook.md")
	c.run(".", nil, "go", "run", "./infra/tools/pipeline", "infra/pipeline.template.json")
	c.run(".", nil, "go", "run", "./infra/tools/privacy", "docs/privacy.md")

	packages := []string{"pkg/chess"}
	for _, s := range steps {
		packages = append(packages, s.test)
	}

	slices.Sort(packages)
	c.build("tests", "", slices.Compact(packages)...)

	for _, s := range steps {
		if out, err := c.test("tests", s); err != nil {
			t.Errorf("with all steps %s fails: %v\n%s", s.name, err, out)
		}
	}

	if out, err := c.test("tests", step{test: "pkg/chess", name: "."}); err != nil {
		t.Errorf("the test of the room fails: %v\n%s", err, out)
	}

	for i, s := range steps {
		t.Run("without step "+s.place, func(t *testing.T) {
			c := c.in(t)
			tests := "tests"

			switch {
			case s.without != "":
				must(t, os.Rename(c.path(s.without), filepath.Join(c.outside, "left-out")))
				defer func() { must(t, os.Rename(filepath.Join(c.outside, "left-out"), c.path(s.without))) }()
			case strings.HasSuffix(s.place, ".go"): // the test is built without the step
				tests = s.name
				c.build(tests, s.place, s.test)
			default:
				with := read(t, c.path(s.place))
				must(t, os.WriteFile(c.path(s.place), []byte(read(t, filepath.Join(root, s.place))), 0o644))
				defer func() { must(t, os.WriteFile(c.path(s.place), []byte(with), 0o644)) }()
			}

			if out, err := c.test(tests, s); err == nil || !strings.Contains(out, s.says) {
				t.Errorf("without step %d the test %s ends with %v, and does not say %q:\n%s", i+1, s.name, err, s.says, out)
			}
		})
	}

	t.Run("synthesis alone", func(t *testing.T) { c.in(t).synthesize() })
}

// module is a copy of the module, with the room.
type module struct {
	t            *testing.T
	dir, outside string // outside is a folder beside it
	original     string // the absolute path of the module itself
}

// in returns the module for a subtest.
func (c module) in(t *testing.T) module {
	c.t = t
	return c
}

func (c module) path(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

// addRoom copies the module, and makes all steps in the copy but those of the files that
// make runbook, make pipeline and make privacy write.
func addRoom(t *testing.T) module {
	t.Helper()

	outside := t.TempDir()
	original, err := filepath.Abs(root)
	must(t, err)

	c := module{t, filepath.Join(outside, "module"), outside, original}
	must(t, os.Mkdir(c.dir, 0o755))

	for _, name := range []string{"pkg", "functions", "events", "infra", "docs"} {
		must(t, os.CopyFS(c.path(name), os.DirFS(filepath.Join(root, name))))
	}

	for _, name := range []string{"go.mod", "go.sum", "cdk.json"} {
		must(t, os.WriteFile(c.path(name), []byte(read(t, filepath.Join(root, name))), 0o644))
	}

	room := filepath.Join("testdata", "room")
	must(t, filepath.WalkDir(room, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		name, err := filepath.Rel(room, path)
		if err != nil {
			return err
		}

		return errors.Join(os.MkdirAll(filepath.Dir(c.path(name)), 0o755), os.WriteFile(c.path(name), []byte(read(t, path)), 0o644))
	}))

	for _, s := range steps {
		if s.change != nil {
			must(t, os.WriteFile(c.path(s.place), []byte(s.change(read(t, c.path(s.place)))), 0o644))
		}
	}

	return c
}

// flags are those of the Makefile, so that what is compiled already is not compiled again.
var flags = []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath -tags=lambda.norpc"}

// run runs a program in a folder of the copy, and returns what it prints.
func (c module) run(folder string, env []string, name string, args ...string) string {
	c.t.Helper()

	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Dir = c.path(folder)
	cmd.Env = slices.Concat(os.Environ(), flags, env)

	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}

	return string(out)
}

// build builds the tests of packages into a folder outside the copy. without is a file that is as
// in the module itself, "" for none.
func (c module) build(into, without string, packages ...string) {
	c.t.Helper()

	overlay := filepath.Join(c.outside, into+".json")
	replaced := map[string]map[string]string{"Replace": {}}

	if without != "" {
		replaced["Replace"][c.path(without)] = filepath.Join(c.original, filepath.FromSlash(without))
	}

	text, err := json.Marshal(replaced)
	must(c.t, err)
	must(c.t, os.WriteFile(overlay, text, 0o644))

	folder := filepath.Join(c.outside, into)
	must(c.t, os.MkdirAll(folder, 0o755))

	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", folder + "/"}
	for _, p := range packages {
		args = append(args, "./"+p)
	}

	c.run(".", nil, "go", args...)
}

// test runs the test of a step that was built into a folder.
func (c module) test(from string, s step) (out string, err error) {
	program := filepath.Join(c.outside, from, filepath.Base(s.test)+".test")

	cmd := exec.CommandContext(c.t.Context(), program, "-test.run", "^"+s.name+"$")
	if s.name == "." {
		cmd.Args[2] = s.name
	}

	cmd.Dir, cmd.Env = c.path(s.test), slices.Concat(os.Environ(), flags)
	text, err := cmd.CombinedOutput()

	return string(text), err
}

// synthesize synthesizes a stage of the room alone, as cdk.json's command does.
func (c module) synthesize() {
	program, out := filepath.Join(c.outside, "infra"), filepath.Join(c.outside, "templates")
	c.run(".", nil, "go", "build", "-o", program, "./infra")

	context := `{"stage":"dev","agnostic":"true","programs":"false","rooms":"chess"}`
	c.run(".", []string{"CDK_OUTDIR=" + out, "CDK_CONTEXT_JSON=" + context, "CDK_VALIDATION=false",
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20"}, program)

	var got []string

	templates, err := filepath.Glob(filepath.Join(out, "matchday-dev-*.template.json"))
	must(c.t, err)

	for _, file := range templates {
		got = append(got, strings.TrimSuffix(filepath.Base(file), ".template.json"))
	}

	if diff := cmp.Diff([]string{"matchday-dev-accounts", "matchday-dev-chess", "matchday-dev-shared"}, got); diff != "" {
		c.t.Errorf("the stacks (-want +got):\n%s", diff)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()

	text, err := os.ReadFile(file)
	must(t, err)

	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}
