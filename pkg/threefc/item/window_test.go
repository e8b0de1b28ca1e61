package item_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
)

// TestWindow: what happens is counted for a period that begins with the first, and from its
// end on anew.
func TestWindow(t *testing.T) {
	t.Parallel()
	app := spec.Table{Name: "app", Key: spec.Key{Partition: "pk", Sort: "sk"}, TTL: "ttlEpoch"}
	count := app.On("Count", "pk, sk", spec.Rate{}, spec.GetItem, spec.PutItem)
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{app})
	db := dynamo.Open(cfg, prefix)
	limit := spec.Limit{Name: "links", Max: 3, Per: 10 * time.Minute, Code: "too_many_links"}
	noon := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after  time.Duration
		before int           // counted within the period so far
		wait   time.Duration // until the period ends
		want   item.Window
		ends   time.Duration
	}{
		{0, 0, 0, item.Window{Begins: item.Format(noon), Count: 1}, 10 * time.Minute},
		{time.Minute, 1, 9 * time.Minute, item.Window{Begins: item.Format(noon), Count: 2}, 10 * time.Minute},
		{10*time.Minute - time.Second, 2, time.Second, item.Window{Begins: item.Format(noon), Count: 3}, 10 * time.Minute},
		{10 * time.Minute, 0, 0, item.Window{Begins: item.Format(noon.Add(10 * time.Minute)), Count: 1}, 20 * time.Minute},
		{11 * time.Minute, 1, 9 * time.Minute, item.Window{Begins: item.Format(noon.Add(10 * time.Minute)), Count: 2}, 20 * time.Minute},
	} {
		now := noon.Add(c.after)
		row, _, err := dynamo.Get[item.Row[item.Window]](t.Context(), db, count, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		if n, wait := row.V().Within(limit, now); n != c.before || n > 0 && wait != c.wait {
			t.Errorf("after %v: %d are counted, and the period lasts %v, want %d and %v", c.after, n, wait, c.before, c.wait)
		}
		if err := dynamo.Transact(t.Context(), db, count, item.CountOne(row, "a", "b", "Count", limit, now)); err != nil {
			t.Fatal(err)
		}
		got, _, err := dynamo.Get[item.Row[item.Window]](t.Context(), db, count, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, *got.V()); diff != "" || got.TTL != noon.Add(c.ends).Unix() {
			t.Errorf("after %v: the row expires at %d, want %d (-want +got):\n%s", c.after, got.TTL, noon.Add(c.ends).Unix(), diff)
		}
	}
}
