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

// TestLocalFleetNamesNoRoom: no string in the code of the local fleet, the console
// and the replay's frame has the name of a room, nor has a file of the console's
// page. What is about one room is in infra/rooms.
func TestLocalFleetNamesNoRoom(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\b(` + strings.Join(rooms, "|") + `)\b`)
	root := filepath.Join("..", "..", "infra", "local")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go"):
			return err
		case filepath.Ext(path) != ".go":
			text, err := os.ReadFile(path)
			if name := named.Find(text); name != nil {
				t.Errorf("%s names the room %s", path, name)
			}
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if name := named.FindString(literal.Value); name != "" {
					t.Errorf("%s: the string %s names the room %s", files.Position(literal.Pos()), literal.Value, name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
