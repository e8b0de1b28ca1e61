package fleet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOnlyRoomsNameRooms: no string in code outside the folders of the rooms and the lists has the
// name of a room, nor has a file of the console's page: another room would be another name there.
// The simulators know no room, and the sport cricket. The kit knows the queues of the accounts.
func TestOnlyRoomsNameRooms(t *testing.T) {
	t.Parallel()

	for folder, names := range map[string][]string{"infra": rooms, "pkg/kit": others} {
		named := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)

		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(folder)), func(file string, entry fs.DirEntry, err error) error {
			switch at, _ := filepath.Rel(root, file); {
			case err != nil:
				return err
			case at == filepath.Join("infra", "rooms") || at == filepath.Join("infra", "sim") || entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || strings.HasSuffix(file, "_test.go"):
				return nil
			case filepath.Ext(file) == ".go":
				checkStrings(t, file, named)
				return nil
			case !strings.HasPrefix(at, filepath.Join("infra", "local")):
				return nil
			}

			text, err := os.ReadFile(file)
			if name := named.Find(text); name != nil {
				t.Errorf("%s names the room %s", file, name)
			}

			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkStrings fails the test for each string of a Go file in which a pattern is found.
func checkStrings(t *testing.T, file string, pattern *regexp.Regexp) {
	t.Helper()

	files := token.NewFileSet()

	src, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	ast.Inspect(src, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false // TestLayers checks them
		}

		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if name := pattern.FindString(literal.Value); name != "" {
				t.Errorf("%s: the string %s names the room %s", files.Position(literal.Pos()), literal.Value, name)
			}
		}

		return true
	})
}
