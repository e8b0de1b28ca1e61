package pgtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"matchday/infra/testkit"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// CheckStatements checks the statements of all .sql files in and below a folder, without the
// migrations: the migrated database can prepare each, each has a comment, and the Go code beside
// the file uses each as a field of the variable sql.
func CheckStatements(t *testing.T, d spec.SQLDatabase, folder string) {
	t.Helper()

	if len(filesIn(t, folder)) == 0 {
		t.Errorf("there is no .sql file in %s", folder)
	}

	for _, problem := range wrongStatements(t, d, folder) {
		t.Error(problem)
	}
}

// wrongStatements returns what CheckStatements reports.
func wrongStatements(t *testing.T, d spec.SQLDatabase, folder string) (problems []string) {
	t.Helper()

	db, err := pgx.Connect(t.Context(), Shared(t).URL("", Create(t, d)))
	testkit.Must(t, err)
	defer db.Close(t.Context())

	for _, file := range filesIn(t, folder) {
		report := func(format string, args ...any) {
			problems = append(problems, filepath.Base(file)+": "+fmt.Sprintf(format, args...))
		}

		text, err := os.ReadFile(file)
		testkit.Must(t, err)

		all, err := pg.ParseStatements(string(text))
		if err != nil {
			report("%v", err)
		}

		used := statementsUsed(t, filepath.Dir(file))

		for _, s := range all {
			if _, err := db.Prepare(t.Context(), "", s.SQL); err != nil {
				report("%s: %v", s.Name, err)
			}

			if s.Comment == "" {
				report("%s has no comment that says what it promises", s.Name)
			}

			if !used[s.Name] {
				report("no code uses sql.%s", s.Name)
			}
		}
	}

	return problems
}

// filesIn returns the .sql files in and below a folder, without the migrations.
func filesIn(t *testing.T, folder string) (files []string) {
	t.Helper()

	testkit.Must(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "migrations":
			return fs.SkipDir
		case filepath.Ext(path) == ".sql":
			files = append(files, path)
		}

		return nil
	}))

	return files
}

var use = regexp.MustCompile(`\bsql\.(\w+)`)

// statementsUsed returns the names of the statements that the Go files of a folder use, without
// its tests.
func statementsUsed(t *testing.T, folder string) map[string]bool {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	testkit.Must(t, err)

	names := map[string]bool{}

	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}

		text, err := os.ReadFile(file)
		testkit.Must(t, err)

		for _, m := range use.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
	}

	return names
}
