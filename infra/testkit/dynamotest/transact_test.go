package dynamotest

import (
	"slices"
	"testing"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// TestGuardOfTransactions checks that the guard compares each write of a transaction
// with the access pattern.
func TestGuardOfTransactions(t *testing.T) {
	t.Parallel()
	cfg, prefix := CreateTables(t, []spec.Table{tallies})
	swap := tallies.On("Swap tallies", "id", spec.Rate{}, spec.PutItem, spec.DeleteItem)

	put, gone := dynamo.PutWrite(tally{"1", 1}), dynamo.DeleteWrite(dynamo.Key(swap, "2"))
	for _, c := range []struct {
		name   string
		a      spec.Access
		uses   []spec.Access
		writes []dynamo.Write
		want   []string
	}{
		{"listed", swap, []spec.Access{swap}, []dynamo.Write{put, gone}, nil},
		{"not listed", swap, []spec.Access{getIt}, []dynamo.Write{put, gone},
			[]string{`test/count uses the access pattern "tallies: Swap tallies", which its spec does not list`}},
		{"another operation", putIt, []spec.Access{putIt}, []dynamo.Write{put, gone},
			[]string{`test/count calls DeleteItem as the access pattern "tallies: Put tally", which is another operation`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{TB: t}

			db := dynamo.Open(WithGuard(r, cfg, spec.Function{Name: "test/count", Uses: c.uses}), prefix)
			if err := dynamo.Transact(t.Context(), db, c.a, c.writes...); err != nil || !slices.Equal(r.errors, c.want) {
				t.Errorf("got %v and the failures %q, want %q", err, r.errors, c.want)
			}
		})
	}
}
