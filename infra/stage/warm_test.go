package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/spec"
)

// TestWarm: named tables serve more at once than a new table does, and no more than the stage lets
// them use.
func TestWarm(t *testing.T) {
	t.Parallel()

	rooms := []spec.Room{{Name: "lab", Functions: []spec.Function{{
		Name: "lab/get", Uses: []spec.Access{{Table: spec.Table{Name: "lab-notes"}}, {Table: spec.Table{Name: "lab-tags"}}},
	}}}}

	const (
		like   = "must be like some-table:24000/4000, the reads and writes per second of a table, separated by commas"
		reads  = "the reads of lab-notes must be from 12000, which every table has, to reads=30000, which it may use"
		writes = "the writes of lab-notes must be from 4000, which every table has, to writes=10000, which it may use"
	)

	for text, c := range map[string]struct {
		want  map[string]Warm
		fails string
	}{
		"":                      {},
		"lab-notes:24000/4000":  {want: map[string]Warm{"lab-notes": {24_000, 4_000}}},
		"lab-notes:12000/8000":  {want: map[string]Warm{"lab-notes": {12_000, 8_000}}},
		"lab-notes:24000":       {fails: `invalid warm="lab-notes:24000": ` + like},
		"lab-books:24000/4000":  {fails: `invalid warm="lab-books:24000/4000": no room has the table lab-books`},
		"lab-notes:11999/4000":  {fails: `invalid warm="lab-notes:11999/4000": ` + reads},
		"lab-notes:30001/4000":  {fails: `invalid warm="lab-notes:30001/4000": ` + reads},
		"lab-notes:12000/10001": {fails: `invalid warm="lab-notes:12000/10001": ` + writes},
		"lab-notes:24000/4000,lab-tags:12000/9000": {
			want: map[string]Warm{"lab-notes": {24_000, 4_000}, "lab-tags": {12_000, 9_000}},
		},
	} {
		got, err := Read(rooms, map[string]string{
			"stage": "dev", "account": "123456789012", "region": "us-east-1", "reads": "30000", "writes": "10000", "warm": text,
		}, func(string) string { return "" })

		fails := ""
		if err != nil {
			fails = err.Error()
		}

		if diff := cmp.Diff(c.want, got.Warm); diff != "" || fails != c.fails {
			t.Errorf("warm=%q: error %q, want %q; tables (-want +got):\n%s", text, fails, c.fails, diff)
		}
	}
}
