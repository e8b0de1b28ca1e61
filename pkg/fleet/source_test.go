package fleet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"matchday/pkg/spec"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// TestFunctions: every function of the spec has a folder, and every folder a function. Its main
// starts the function, which is declared with the constructor for its trigger.
func TestFunctions(t *testing.T) {
	t.Parallel()

	functions := map[string]spec.Function{}

	for _, room := range Specs() {
		for _, f := range room.Functions {
			functions[f.Name] = f
		}
	}

	folders, err := filepath.Glob(filepath.Join(root, "functions", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}

	for _, folder := range folders {
		name := path.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder))

		f, ok := functions[name]
		if !ok {
			t.Errorf("the folder functions/%s has no function in the spec", name)
			continue
		}

		delete(functions, name)

		starter, declared := started(t, filepath.Join(folder, "main.go"))
		if want := starterOf(f.On); starter != want || declared != name {
			t.Errorf("the main of %s starts %q, declared with %s; want %q, declared with %s", name, declared, starter, name, want)
		}
	}

	for name := range functions {
		t.Errorf("the function %s has no folder", name)
	}
}

// starterOf is the function of pkg/kit/app that starts a function with this trigger.
func starterOf(on spec.Trigger) string {
	switch on.(type) {
	case spec.Route:
		return "app.API"
	case spec.Schedule:
		return "app.Job"
	case spec.Queue:
		return "app.Queue"
	case spec.DeadLetters:
		return "app.DeadLetters"
	case spec.Migration:
		return "app.Migration"
	}

	return "app.Task"
}

// started returns the constructor and the name of the function that a main starts. Both are ""
// unless main is one call, such as match.GetMatchFunction().Start().
func started(t *testing.T, file string) (starter, function string) {
	t.Helper()
	src := parse(t, file)

	i := slices.IndexFunc(src.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.Name == "main"
	})
	if i < 0 || len(src.Decls) != 2 { // the imports and main
		return "", ""
	}

	body := src.Decls[i].(*ast.FuncDecl).Body.List
	if len(body) != 1 {
		return "", ""
	}

	statement, _ := body[0].(*ast.ExprStmt)
	if statement == nil {
		return "", ""
	}

	start, _ := statement.X.(*ast.CallExpr)
	if start == nil {
		return "", ""
	}

	method, _ := start.Fun.(*ast.SelectorExpr)
	if method == nil || method.Sel.Name != "Start" {
		return "", ""
	}

	made, _ := method.X.(*ast.CallExpr)
	if made == nil {
		return "", ""
	}

	from, name := selected(made.Fun)

	for _, imported := range src.Imports {
		at, err := strconv.Unquote(imported.Path.Value)
		if err != nil {
			t.Fatal(err)
		}

		if dir, ok := strings.CutPrefix(at, module); ok && path.Base(at) == from {
			return declared(t, filepath.Join(root, dir), name)
		}
	}

	return "", ""
}

// selected are the parts of a selector such as app.API.
func selected(e ast.Expr) (from, name string) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}

	x, ok := s.X.(*ast.Ident)
	if !ok {
		return "", ""
	}

	return x.Name, s.Sel.Name
}

// declared returns the constructor and the name of the function that a package declares:
//
//	func FooFunction() app.Function { return app.API(spec.Function{Name: "room/foo", …}, …) }
//
// or with what a call makes, as in app.API(reader("foo", …), …).
func declared(t *testing.T, dir, variable string) (starter, name string) {
	t.Helper()

	for _, file := range sources(t, dir) {
		if filepath.Dir(file) != filepath.Clean(dir) {
			continue
		}

		for _, d := range parse(t, file).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Name.Name != variable || len(f.Body.List) != 1 {
				continue
			}

			returned, _ := f.Body.List[0].(*ast.ReturnStmt)
			if returned == nil || len(returned.Results) != 1 {
				return "", ""
			}

			call, _ := returned.Results[0].(*ast.CallExpr)
			if call == nil || len(call.Args) == 0 {
				return "", ""
			}

			from, constructor := selected(call.Fun)
			starter = from + "." + constructor

			switch v := call.Args[0].(type) {
			case *ast.CompositeLit:
				return starter, nameOf(v)
			case *ast.CallExpr:
				return starter, path.Base(filepath.Dir(dir)) + "/" + literal(v.Args[0])
			}
		}
	}

	return "", ""
}

// TestDeclarationsAreUsed: every access pattern, every metric and every budget that a room
// declares is in some function's value.
func TestDeclarationsAreUsed(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		used := map[string]bool{}
		for _, a := range room.Access() {
			used[a.Name] = true
		}

		for _, m := range room.Metrics() {
			used[m.Name] = true
		}

		for _, f := range room.Functions {
			for _, s := range f.Budgets {
				used[s.Budget.Name] = true
			}
		}

		for _, file := range sources(t, filepath.Join(root, "pkg", room.Name)) {
			variables(parse(t, file), func(variable string, value ast.Expr) {
				name := ""

				switch v := value.(type) {
				case *ast.CallExpr: // table.On(name, …), table.OnIndex(index, name, …)
					switch _, method := selected(v.Fun); method {
					case "On":
						name = literal(v.Args[0])
					case "OnIndex":
						name = literal(v.Args[1])
					default:
						return
					}
				case *ast.CompositeLit:
					if from, kind := selected(v.Type); from != "spec" || kind != "Metric" && kind != "Budget" {
						return
					}

					name = nameOf(v)
				default:
					return
				}

				if !used[name] {
					t.Errorf("%s: no function uses, emits or shares %s, %q", file, variable, name)
				}
			})
		}
	}
}

// TestLimitsAreEnforced: every limit that a room declares is in the Limits of a function.
// Code of the room or the kit reads its Max and passes it to problem.Beyond, passes it to the
// method Take of a limit.Window, or passes it on as the Limit of a type that does one of
// these. A test of the room expects its code. Every limit of a function is declared in the
// room or the kit.
func TestLimitsAreEnforced(t *testing.T) {
	t.Parallel()

	for _, room := range Specs() {
		codes, enforced, own := map[string]string{}, map[string]int{}, map[string]bool{} // by variable

		folder := filepath.Join(root, "pkg", room.Name)
		for _, file := range slices.Concat(sources(t, folder), sources(t, filepath.Join(root, "pkg", "kit"))) {
			src := parse(t, file)
			variables(src, func(variable string, value ast.Expr) {
				v, ok := value.(*ast.CompositeLit)
				if !ok {
					return
				}

				if from, kind := selected(v.Type); from == "spec" && kind == "Limit" {
					codes[variable] = fieldOf(v, "Code")
					own[variable] = own[variable] || strings.HasPrefix(file, folder)
				}
			})
			ast.Inspect(src, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr: // limit.Max, package.limit.Max
					if n.Sel.Name == "Max" {
						enforced[last(n.X)] |= 1
					}
				case *ast.CallExpr:
					if from, name := selected(n.Fun); from == "problem" && name == "Beyond" {
						enforced[last(n.Args[0])] |= 2
					}

					if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Take" && len(n.Args) > 0 { // of a limit.Window
						enforced[last(n.Args[0])] |= 3
					}
				case *ast.KeyValueExpr: // given to what enforces it
					if last(n.Key) == "Limit" {
						enforced[last(n.Value)] |= 3
					}
				}

				return true
			})
		}

		listed := map[string]bool{}

		for _, f := range room.Functions {
			for _, l := range f.Limits {
				listed[l.Code] = true
			}
		}

		tests := testText(t, folder)

		declared := map[string]bool{}
		for variable, code := range codes {
			declared[code] = true
			if !listed[code] {
				if own[variable] {
					t.Errorf("%s: no function has the limit %s, %q", room.Name, variable, code)
				}

				continue
			}

			if enforced[variable] != 3 {
				t.Errorf("%s: nothing compares with %s.Max and refuses with problem.Beyond(%s)", room.Name, variable, variable)
			}

			if !strings.Contains(tests, strconv.Quote(code)) {
				t.Errorf("%s: no test expects %q", room.Name, code)
			}
		}

		for code := range listed {
			if !declared[code] {
				t.Errorf("%s: the limit %q is not declared as a variable", room.Name, code)
			}
		}
	}
}

// last is the last name of an identifier or a selector.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}

	return ""
}

// testText is the text of all tests in and below a folder.
func testText(t *testing.T, dir string) string {
	t.Helper()

	var all strings.Builder

	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			text, e := os.ReadFile(path)
			all.Write(text)

			return e
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return all.String()
}

// nameOf is the value of the field Name, "" if it is not written as a literal.
func nameOf(v *ast.CompositeLit) string { return fieldOf(v, "Name") }

// fieldOf is the value of a field, "" if it is not written as a literal.
func fieldOf(v *ast.CompositeLit, name string) string {
	for _, e := range v.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := field.Key.(*ast.Ident); ok && key.Name == name {
				return literal(field.Value)
			}
		}
	}

	return ""
}

// literal is the value of a string literal, "" if e is none.
func literal(e ast.Expr) string {
	text, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}

	value, err := strconv.Unquote(text.Value)
	if err != nil {
		return ""
	}

	return value
}

// variables calls do for every variable of a package that has a value.
func variables(file *ast.File, do func(name string, value ast.Expr)) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}

		for _, s := range group.Specs {
			v := s.(*ast.ValueSpec)
			for i, value := range v.Values {
				do(v.Names[i].Name, value)
			}
		}
	}
}

// sources are the Go files in and below a folder, without tests.
func sources(t *testing.T, dir string) (files []string) {
	t.Helper()

	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return files
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}

	return f
}

// TestProblemsAreNamed: the code of every problem is a name that an app can compare, the
// field of one is a path, and its text is a sentence.
func TestProblemsAreNamed(t *testing.T) {
	t.Parallel()

	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	field := regexp.MustCompile(`^[a-zA-Z]+(\.[a-zA-Z]+)*$`)
	n := 0

	for _, file := range sources(t, filepath.Join(root, "pkg")) {
		if strings.Contains(file, "testdata") {
			continue
		}

		ast.Inspect(parse(t, file), func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}

			from, function := selected(call.Fun)
			if from != "problem" || function != "New" && function != "In" {
				return true
			}

			first, valid := call.Args[0], field
			if function == "New" {
				first, valid = call.Args[1], name
			}

			if code, ok := first.(*ast.BasicLit); ok {
				if text, _ := strconv.Unquote(code.Value); !valid.MatchString(text) {
					t.Errorf("%s: problem.%s names %q, want %v", file, function, text, valid)
				}

				n++
			}

			if text, ok := call.Args[len(call.Args)-1].(*ast.BasicLit); ok && !strings.Contains(text.Value, " ") {
				t.Errorf("%s: problem.%s has the text %s, want a sentence", file, function, text.Value)
			}

			return true
		})
	}

	if n < 50 {
		t.Errorf("only %d problems were found", n)
	}
}

// pauses are the files of the kit that take a random pause between two tries, which anybody may
// predict.
var pauses = []string{"pkg/kit/app/env.go", "pkg/kit/dynamo/dynamo.go", "pkg/kit/push/push.go"}

// TestRandomTextsCannotBePredicted: what is deployed makes ids, codes and tokens of crypto/rand
// only, and ids by one function of the kit.
func TestRandomTextsCannotBePredicted(t *testing.T) {
	t.Parallel()

	for _, file := range slices.Concat(sources(t, filepath.Join(root, "pkg")), sources(t, filepath.Join(root, "functions"))) {
		name := strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(root)+"/")
		src := parse(t, file)

		for _, imported := range src.Imports {
			if strings.HasPrefix(imported.Path.Value, `"math/rand`) && !slices.Contains(pauses, name) {
				t.Errorf("%s imports %s, want crypto/rand", name, imported.Path.Value)
			}
		}

		ast.Inspect(src, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}

			if from, what := selected(s); from == "ulid" && name != "pkg/kit/code/id.go" &&
				slices.Contains([]string{"New", "MustNew", "MustNewDefault", "Make", "DefaultEntropy", "Monotonic"}, what) {
				t.Errorf("%s uses ulid.%s, want code.NewID", name, what)
			}

			return true
		})
	}
}

// maxLine is the longest line of code, in characters. Tests and the tags of a struct may be longer.
const maxLine = 140

// TestLinesAreShort: a reader sees each line of code as a whole.
func TestLinesAreShort(t *testing.T) {
	t.Parallel()

	tagged := regexp.MustCompile("^\t+[A-Z].* `[a-z]+:\".*`( // .*)?$")

	for _, folder := range []string{"functions", "pkg", "infra"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}

			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}

			for i, line := range strings.Split(string(text), "\n") {
				if utf8.RuneCountInString(line) > maxLine && !tagged.MatchString(line) {
					t.Errorf("%s:%d has more than %d characters", file, i+1, maxLine)
				}
			}

			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
