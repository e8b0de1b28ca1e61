package makefile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

const root = "../../.."

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\]\(([^)]+)\)`)
	target  = regexp.MustCompile("(?:^|`|&& |; )make ([a-z-]+)")
	named   = regexp.MustCompile(`--(?:function-name|table-name) ((?:dev|prod)-[a-zA-Z-]+)`)
)

// TestDocumentsNameWhatExists: each document links to files and headings that exist, and
// names targets of the Makefile, functions and tables that exist.
func TestDocumentsNameWhatExists(t *testing.T) {
	t.Parallel()
	makefile := read(t, filepath.Join(root, "Makefile"))

	var names []string

	for _, s := range []stage.Stage{{Name: "dev"}, {Name: stage.Prod}} {
		for _, room := range fleet.Specs() {
			for _, f := range room.Functions {
				names = append(names, s.Function(f))
			}

			for _, table := range room.Tables() {
				names = append(names, s.Table(table.Name))
			}
		}
	}

	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	must(t, err)

	for _, file := range append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "ARCHITECTURE.md")) {
		text, name := read(t, file), strings.TrimPrefix(file, root+"/")
		for line := range strings.Lines(text) {
			for _, m := range target.FindAllStringSubmatch(line, -1) {
				if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
					t.Errorf("%s names make %s, which is no target", name, m[1])
				}
			}

			for _, m := range named.FindAllStringSubmatch(line, -1) {
				// A loop completes a name that ends with a hyphen.
				if !slices.Contains(names, m[1]) && !strings.HasSuffix(m[1], "-") {
					t.Errorf("%s names %s, which is neither a function nor a table", name, m[1])
				}
			}
		}

		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}

			path, fragment, _ := strings.Cut(m[1], "#")

			at := file
			if path != "" {
				at = filepath.Join(filepath.Dir(file), path)
			}

			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
				continue
			}

			if fragment != "" && !slices.Contains(anchors(read(t, at)), fragment) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// TestDocumentsExplainSettings: the runbook has a row for each setting of a deployment.
func TestDocumentsExplainSettings(t *testing.T) {
	t.Parallel()

	_, err := stage.Read([]spec.Room{}, map[string]string{"unknown": "1"}, os.Getenv)
	if err == nil {
		t.Fatal("an unknown setting is accepted")
	}

	_, list, _ := strings.Cut(err.Error(), "valid settings: ")
	runbook := read(t, filepath.Join(root, "docs", "runbook.md"))

	for _, name := range strings.Split(list, ", ") {
		if slices.Contains([]string{"stage", "arch", "commit", "sam"}, name) { // make sets them
			continue
		}

		if !regexp.MustCompile("(?m)^\\| .*`" + name + "=[a-z]*`.* \\|").MatchString(runbook) {
			t.Errorf("docs/runbook.md does not explain the setting %s=", name)
		}
	}
}

// TestDocumentsNameTheGroups: the page about deployments names the group of the administrators of each room that has
// routes for them.
func TestDocumentsNameTheGroups(t *testing.T) {
	t.Parallel()

	page := read(t, filepath.Join(root, "docs", "deploy.md"))

	for _, room := range fleet.Specs() {
		group := "`" + auth.AdminGroup(room.Name) + "`"
		has := slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
			on, ok := f.On.(spec.Route)
			return ok && on.Auth == spec.Admin
		})

		if has && !strings.Contains(page, group) {
			t.Errorf("docs/deploy.md does not name the group %s", group)
		}
	}
}

// anchors are the fragments of the headings of a document, as web sites make them.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		id := strings.ToLower(strings.ReplaceAll(m[1], " ", "-"))
		all = append(all, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(id, ""))
	}

	return all
}

func read(t *testing.T, file string) string {
	t.Helper()

	text, err := os.ReadFile(file)
	must(t, err)

	return string(text)
}
