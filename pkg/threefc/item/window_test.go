package item_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
)

var (
	app   = spec.Table{Name: "app", Key: spec.Key{Partition: "pk", Sort: "sk"}, TTL: "ttlEpoch"}
	count = app.On("Count", "pk, sk", spec.Rate{}, spec.GetItem, spec.PutItem)
	links = spec.Limit{Name: "links", Max: 3, Per: 10 * time.Minute, Code: "too_many_links"}
	noon  = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
)

// TestWindow: what happens is counted for a period that begins with the first, and from its
// end on anew. The row is there until then.
func TestWindow(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{app})
	db := dynamo.Open(cfg, prefix)

	of := item.Counter{PK: "a", SK: "b", Type: "Count", Limit: links}
	for _, c := range []struct {
		after time.Duration
		wait  time.Duration // until the period ends, if it allows no more
		want  limit.Window
		ends  time.Duration
	}{
		{0, 0, limit.Window{Begins: noon, Count: 1}, 10 * time.Minute},
		{time.Minute, 0, limit.Window{Begins: noon, Count: 2}, 10 * time.Minute},
		{10*time.Minute - 2*time.Second, 0, limit.Window{Begins: noon, Count: 3}, 10 * time.Minute},
		{10*time.Minute - time.Second, time.Second, limit.Window{Begins: noon, Count: 3}, 10 * time.Minute},
		{10 * time.Minute, 0, limit.Window{Begins: noon.Add(10 * time.Minute), Count: 1}, 20 * time.Minute},
		{11 * time.Minute, 0, limit.Window{Begins: noon.Add(10 * time.Minute), Count: 2}, 20 * time.Minute},
	} {
		counted, err := of.Take(t.Context(), db, count, noon.Add(c.after))
		if c.wait > 0 {
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Code != "too_many_links" || p.RetryAfter != c.wait {
				t.Errorf("after %v: %v, want too_many_links for %v", c.after, err, c.wait)
			}
		} else if err == nil {
			err = dynamo.Transact(t.Context(), db, count, counted)
		}

		if err != nil && c.wait == 0 {
			t.Fatal(err)
		}

		got, _, err := dynamo.Get[item.Row[limit.Window]](t.Context(), db, count, "a", "b")
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(c.want, *got.V()); diff != "" || got.TTL != noon.Add(c.ends).Unix() {
			t.Errorf("after %v: the row expires at %d, want %d (-want +got):\n%s", c.after, got.TTL, noon.Add(c.ends).Unix(), diff)
		}
	}
}

// TestStoredWindows: the windows of rows that earlier versions have written are read, and
// those of new rows are written as they were.
func TestStoredWindows(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{app})
	db := dynamo.Open(cfg, prefix)

	type stored struct {
		PK        string `dynamodbav:"pk"`
		SK        string `dynamodbav:"sk"`
		Type      string `dynamodbav:"entityType"`
		CreatedAt string `dynamodbav:"createdAt"`
		UpdatedAt string `dynamodbav:"updatedAt"`
		Data      string `dynamodbav:"data"`
		Rev       int    `dynamodbav:"rev"`
		TTL       int64  `dynamodbav:"ttlEpoch"`
	}

	row := func(minute string, n string, rev int) stored {
		return stored{
			PK: "a", SK: "b", Type: "Count", CreatedAt: "2026-06-06T12:00:00Z", UpdatedAt: "2026-06-06T12:0" + minute + ":00Z",
			Data: `{"begins":"2026-06-06T12:00:00Z","count":` + n + `}`, Rev: rev, TTL: noon.Add(10 * time.Minute).Unix(),
		}
	}
	of := item.Counter{PK: "a", SK: "b", Type: "Count", Limit: links}

	for _, c := range []struct {
		was  *stored
		now  time.Time
		want stored
	}{
		{nil, noon, row("0", "1", 1)},
		{new(row("0", "2", 2)), noon.Add(time.Minute), row("1", "3", 3)},
	} {
		if c.was != nil {
			if err := dynamo.Put(t.Context(), db, count, *c.was); err != nil {
				t.Fatal(err)
			}
		}

		counted, err := of.Take(t.Context(), db, count, c.now)
		if err == nil {
			err = dynamo.Transact(t.Context(), db, count, counted)
		}

		if err != nil {
			t.Fatal(err)
		}

		got, _, err := dynamo.Get[stored](t.Context(), db, count, "a", "b")
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}
