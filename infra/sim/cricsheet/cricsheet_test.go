package cricsheet

import (
	"fmt"
	"strings"
	"testing"
)

func ExampleParse() {
	_, err := Parse([]byte(`{"info": {"teams": ["Ayr"], "match_type": "T20"}}`))
	fmt.Println(err)
	// Output: info.teams must name two teams, not 1
}

// TestGeneratedMatchesAreValid checks made-up matches as if they were files.
func TestGeneratedMatchesAreValid(t *testing.T) {
	t.Parallel()

	for _, f := range Formats {
		for seed := range int64(20) {
			if err := Generate(seed, f).check(); err != nil {
				t.Errorf("%v with seed %d: %v", f, seed, err)
			}

			m := GenerateFixture(seed, f)
			if err := m.check(); err != nil || len(m.Innings) != 0 {
				t.Errorf("the fixture of %v with seed %d has %d innings: %v", f, seed, len(m.Innings), err)
			}
		}
	}
}

func TestParseRefusesOtherFiles(t *testing.T) {
	t.Parallel()

	for data, want := range map[string]string{
		"":             "the file is empty",
		"<html>":       "not a JSON file",
		"[1, 2]":       "not a Cricsheet file",
		`{"data": []}`: "it lacks info.teams or info.match_type",
		`{"info": {"teams": ["A", "B"], "match_type": "T20"}, "meta": {"data_version": "2.0"}}`: `data version "2.0" is not 1.0 or 1.1`,
	} {
		if _, err := Parse([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want one with %q", data, err, want)
		}
	}
}
