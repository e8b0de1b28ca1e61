package fleet

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "matchday/"

// The rooms that the fleet has or will have.
var rooms = []string{"accounts", "cricket", "pickem", "commitcollect", "bestshot", "threefc"}

// The kit is a closed list.
var kit = []string{"account", "app", "auth", "budget", "code", "device", "dynamo", "httpapi", "idem", "limit", "lock", "mail", "object", "outbox", "pg", "pg/migrate", "problem", "push", "push/h2conn", "queue", "redis", "session", "telemetry", "userpool"}

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

// The packages of a room import each other in one direction: each of a list only
// those before it. A package that is not listed fails the test.
var orders = map[string][]string{
	"cricket": {
		"tables", "sportmonks", "score", "score/tally", "score/scorer", "score/event",
		"catalog", "match", "follower", "activity", "alert", "live", "schedule", "userdata", "",
	},
	"commitcollect": {"tables", "tally", "strava", "item", "trail", "signin", "link", "workout", "model", "milestone", "notice", "profile", ""},
	"threefc":       {"tables", "item", "signin", "league", "season", "game", "player", "standing", "public", "notice", "profile", ""},
	"bestshot":      {"tables", "schema", "provider", "score", "asset", "view", "member", "tournament", "guess", "league", "settlement", "ingest", "notice", "profile", ""},
	"pickem":        {"tables", "item", "ranking", "score", "notice", "event", "league", "member", ""},
}

// apart are packages that do not import each other, though one is listed first.
var apart = map[string][]string{
	"cricket/sportmonks": {"cricket/tables"},
	"cricket/score":      {"cricket/tables"},
}

// TestOrderOfPackages checks the direction of imports inside the rooms.
func TestOrderOfPackages(t *testing.T) {
	t.Parallel()
	for room, order := range orders {
		prefix := module + "pkg/" + room
		out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, prefix+"/...").Output()
		if err != nil {
			t.Fatal(err)
		}
		place := func(pkg string) int {
			return slices.Index(order, strings.TrimPrefix(strings.TrimPrefix(pkg, prefix), "/"))
		}
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			from := place(words[0])
			if from < 0 {
				t.Errorf("%s has no place in the order of packages", words[0])
			}
			for _, imported := range words[1:] {
				if imported != prefix && !strings.HasPrefix(imported, prefix+"/") {
					continue
				}
				if place(imported) >= from || slices.Contains(apart[strings.TrimPrefix(words[0], module+"pkg/")], strings.TrimPrefix(imported, module+"pkg/")) {
					t.Errorf("%s imports %s, which is not below it", words[0], imported)
				}
			}
		}
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
