package spec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/spec"
)

func TestParseRestored(t *testing.T) {
	t.Parallel()

	for list, want := range map[string]map[string]string{
		"":                              nil,
		"cricket-fixtures:r1":           {"cricket-fixtures": "cricket-fixtures-r1"},
		"3fc-{stage}-app:r1":            {"3fc-{stage}-app": "3fc-{stage}-app-r1"},
		"DisplayStateCache:r2,pickem:3": {"DisplayStateCache": "DisplayStateCache-r2", "pickem": "pickem-3"},
	} {
		got, err := spec.ParseRestored(list)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q (-want +got): %v\n%s", list, err, diff)
		}
	}

	const form = " must be the name of a table, and what was appended to it: cricket-fixtures:r1"
	for list, want := range map[string]string{
		"pickem":              `"pickem"` + form,
		"pickem:":             `"pickem:"` + form,
		"pickem:R1":           `"pickem:R1"` + form,
		"pickem:r1, pickem:r": `" pickem:r"` + form,
		"pickem:r1,pickem:r2": "the table pickem is listed twice",
	} {
		if _, err := spec.ParseRestored(list); err == nil || err.Error() != want {
			t.Errorf("the error of %q is %v, want %s", list, err, want)
		}
	}
}
