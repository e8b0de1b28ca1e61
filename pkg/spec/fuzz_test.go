package spec

import (
	"strings"
	"testing"
)

// FuzzParseRestored: each entry of a valid list is one table, whose name begins with its name
// in the spec.
func FuzzParseRestored(f *testing.F) {
	for _, list := range []string{"", "cricket-fixtures:r1", "cricket-fixtures:r1,pickem:r2", "pickem:r1,pickem:r2", "pickem", "pickem:",
		":r1", "pickem:R1", ",", "a:1,", "é:1", "a:12345678901234567"} {
		f.Add(list)
	}

	f.Fuzz(func(t *testing.T, list string) {
		names, err := ParseRestored(list)
		if err != nil {
			if names != nil {
				t.Errorf("%q: got %v and %v", list, names, err)
			}

			return
		}

		if list == "" && names == nil {
			return
		}

		entries := strings.Split(list, ",")
		if len(names) != len(entries) {
			t.Errorf("%q: got %d tables, want %d", list, len(names), len(entries))
		}

		for _, entry := range entries {
			name, suffix, _ := strings.Cut(entry, ":")
			if names[name] != name+"-"+suffix || suffix == "" {
				t.Errorf("%q: %s is %q", list, name, names[name])
			}
		}
	})
}
