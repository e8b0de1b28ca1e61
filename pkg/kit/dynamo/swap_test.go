package dynamo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// TestSwapWrite: it writes what UpdateWrite does with Set and Unchanged, or is refused like it.
func TestSwapWrite(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		is, was, next ball
		same          []string
		refused       bool
	}{
		"all are the same": {ball{Runs: 1, Bowler: "ann"}, ball{Runs: 1, Bowler: "ann"}, ball{Runs: 2, Bowler: "bob"},
			[]string{"runs", "bowler"}, false},
		"one is not": {ball{Runs: 1, Bowler: "ann"}, ball{Runs: 1, Bowler: "eve"}, ball{Runs: 2}, []string{"runs", "bowler"}, true},
		"it is not asked for": {ball{Runs: 1, Bowler: "ann"}, ball{Runs: 1, Bowler: "eve"}, ball{Runs: 2, Bowler: "eve"},
			[]string{"runs"}, false},
		"absent, as it was":      {ball{Runs: 1}, ball{Runs: 1}, ball{Runs: 2, Bowler: "bob"}, []string{"bowler"}, false},
		"present, and was not":   {ball{Runs: 1, Bowler: "ann"}, ball{Runs: 1}, ball{Runs: 2}, []string{"bowler"}, true},
		"an empty one is absent": {ball{Runs: 1, Bowler: "ann"}, ball{Runs: 1}, ball{}, []string{"runs"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls})
			db := dynamo.Open(dynamotest.WithGuard(t, cfg, umpire), prefix)

			for n := range 2 {
				is := c.is
				is.Match, is.Ball = "m", over("m", 2)[n].Ball
				must(t, dynamo.PutAll(t.Context(), db, putBalls, []ball{is}))
			}

			set := []string{"runs", "bowler"}
			err := dynamo.Transact(t.Context(), db, changeBalls, dynamo.SwapWrite(keyOf(0), c.was, c.next, set, c.same))
			other := dynamo.Transact(t.Context(), db, changeBalls,
				dynamo.UpdateWrite(keyOf(1), dynamo.Set(c.next, set...), dynamo.Unchanged(c.was, c.same...)))

			if dynamo.IsRefused(err) != c.refused || dynamo.IsRefused(other) != c.refused || !c.refused && (err != nil || other != nil) {
				t.Fatalf("got %v, and by UpdateWrite %v; refused must be %t", err, other, c.refused)
			}

			got, _, err := dynamo.Query[map[string]any](t.Context(), db, ofMatch, ofMine)
			must(t, err)
			delete(got[0], "ball")
			delete(got[1], "ball")

			if diff := cmp.Diff(got[1], got[0]); diff != "" {
				t.Errorf("the items differ (-UpdateWrite +SwapWrite):\n%s", diff)
			}
		})
	}

	if r := recovered(func() { dynamo.SwapWrite(keyOf(0), ball{}, ball{}, []string{"run"}, nil) }); r == nil {
		t.Error("an attribute that a ball lacks is no mistake")
	}
}

func recovered(do func()) (r any) {
	defer func() { r = recover() }()

	do()

	return nil
}
