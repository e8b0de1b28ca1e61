package settlement

import (
	"strings"
	"testing"
	"time"

	"matchday/pkg/bestshot/view"
)

// FuzzParsePlace: the text of a parsed cursor parses to the same place, whose time PostgreSQL accepts.
func FuzzParsePlace(f *testing.F) {
	const id = "6f0e4a3c-2b1d-4c5e-8f70-000000000001"
	for _, cursor := range []string{
		place{time.Date(2026, 6, 6, 13, 50, 0, 123456000, time.UTC), id, 1}.String(),
		place{time.UnixMicro(-1), id, 0}.String(), "", "__", "1_2_3",
		"+1_" + id + "_+1", "0_" + strings.ToUpper(id) + "_-1", "9007199254740991_" + id + "_2147483647", "9223372036854775807_" + id + "_1",
		"-0_" + id + "_00", "1_" + id + "_1_",
	} {
		f.Add(cursor)
	}

	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := parsePlace(cursor)
		if err != nil {
			return
		}

		if p.At.Year() < -4000 || p.At.Year() > 9999 || p.Version > 1<<31-1 || p.Version < -1<<31 || !view.IsID(p.MatchID) {
			t.Errorf("%q: got %+v", cursor, p)
		}

		if again, err := parsePlace(p.String()); err != nil || again != p {
			t.Errorf("%q: got %+v and then %+v, %v", cursor, p, again, err)
		}
	})
}
