package pg

import (
	"fmt"
	"reflect"
	"strings"
)

// Statement is a statement of a .sql file.
type Statement struct {
	Name    string
	Comment string // what the statement promises
	SQL     string
}

// heading begins the first line of each statement in a file.
const heading = "-- name: "

// ParseStatements returns the statements of a file, in their order:
//
//	-- name: CountPlayers
//	-- The number of players with at least $1 goals.
//	SELECT count(*)
//	FROM player
//	WHERE goals >= $1;
//
// The comment lines below the name are not sent to the server. The error names the statement that
// cannot be read.
func ParseStatements(file string) ([]Statement, error) {
	var all []Statement

	seen := map[string]bool{}

	before, rest, more := strings.Cut("\n"+file, "\n"+heading)
	if _, sql := cutComment(before); sql != "" {
		return nil, fmt.Errorf("the file begins with %q; expected %q", sql, heading)
	}

	for more {
		var text string

		text, rest, more = strings.Cut(rest, "\n"+heading)
		name, body, _ := strings.Cut(text, "\n")
		comment, sql := cutComment(body)

		switch {
		case sql == "":
			return nil, fmt.Errorf("the statement %s is empty", name)
		case seen[name]:
			return nil, fmt.Errorf("two statements have the name %s", name)
		}

		seen[name] = true
		all = append(all, Statement{name, comment, sql})
	}

	return all, nil
}

// cutComment separates the comment lines at the beginning of a text from the rest, which it
// returns without the last semicolon.
func cutComment(text string) (comment, rest string) {
	rest = strings.TrimSpace(text)

	for strings.HasPrefix(rest, "--") {
		line, after, _ := strings.Cut(rest, "\n")
		comment += strings.TrimSpace(strings.TrimPrefix(line, "--")) + "\n"
		rest = strings.TrimSpace(after)
	}

	return strings.TrimSpace(comment), strings.TrimSuffix(rest, ";")
}

// MustParse returns the statements of a file as the fields of a struct, which are strings with
// the names of the statements:
//
//	//go:embed club.sql
//	var file string
//
//	var sql = pg.MustParse[struct{ CountPlayers, RenamePlayer string }](file)
//
// It panics if the file cannot be read, if a statement has no field, or a field no statement.
func MustParse[T any](file string) (all T) {
	statements, err := ParseStatements(file)
	if err != nil {
		panic("pg: " + err.Error())
	}

	fields := reflect.ValueOf(&all).Elem()

	for _, s := range statements {
		f := fields.FieldByName(s.Name)
		if !f.IsValid() {
			panic("pg: no field has the name of the statement " + s.Name)
		}

		f.SetString(s.SQL)
	}

	for i := range fields.NumField() {
		if fields.Field(i).String() == "" {
			panic("pg: no statement has the name of the field " + fields.Type().Field(i).Name)
		}
	}

	return all
}
