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

// TestGuardOfSeveralTables: the guard compares each write of a transaction with the pattern of its batch.
func TestGuardOfSeveralTables(t *testing.T) {
	t.Parallel()
	cfg, prefix := CreateTables(t, []spec.Table{tallies})
	remove := tallies.On("Delete tally", "id", spec.Rate{}, spec.DeleteItem)
	r := &recorder{TB: t}
	db := dynamo.Open(WithGuard(r, cfg, spec.Function{Name: "test/count", Uses: []spec.Access{putIt, remove}}), prefix)

	put, gone := dynamo.PutWrite(tally{"1", 1}), dynamo.DeleteWrite(dynamo.Key(remove, "2"))
	for _, batches := range [][]dynamo.Batch{
		{{Access: putIt, Writes: []dynamo.Write{put}}, {Access: remove, Writes: []dynamo.Write{gone}}},
		{{Access: remove, Writes: []dynamo.Write{put}}, {Access: putIt, Writes: []dynamo.Write{gone}}},
	} {
		if err := dynamo.TransactEach(t.Context(), db, batches...); err != nil {
			t.Fatal(err)
		}
	}

	want := []string{`test/count calls PutItem as the access pattern "tallies: Delete tally", which is another operation`}
	if !slices.Equal(r.errors, want) {
		t.Errorf("failures %q, want %q", r.errors, want)
	}
}
