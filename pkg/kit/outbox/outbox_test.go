package outbox_test

import (
	"context"
	"errors"
	"testing"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/spec"
)

var (
	table = spec.Table{Name: "goals", Key: spec.Key{Partition: "PK"}}
	save  = table.On("Save goal", "PK", spec.Rate{}, spec.GetItem, spec.PutItem, spec.UpdateItem)
)

// goal is a row with a mark.
type goal struct {
	PK     string `dynamodbav:"PK"`
	Minute int    `dynamodbav:"minute"`
	Unsent bool   `dynamodbav:"unsent,omitempty"`
}

func put(ctx context.Context, db dynamo.DB, minute int) error {
	return dynamo.Put(ctx, db, save, goal{"x", minute, true})
}

// deliver delivers the goal that is stored, if it has a mark.
func deliver(ctx context.Context, db dynamo.DB, send func(minute int) error) error {
	g, _, err := dynamo.Get[goal](ctx, db, save, "x")
	if err != nil || !g.Unsent {
		return err
	}

	return outbox.Deliver(func() error { return send(g.Minute) }, func() error {
		return dynamo.Update(ctx, db, save, dynamo.Key(save, "x"), dynamo.Remove[goal]("unsent"), dynamo.Unchanged(g, "minute"))
	})
}

func stored(t *testing.T, db dynamo.DB) goal {
	t.Helper()

	g, _, err := dynamo.Get[goal](t.Context(), db, save, "x")
	if err != nil {
		t.Fatal(err)
	}

	return g
}

// TestMessageIsSentAtLeastOnce: wherever a request dies after its write, the next one sends the
// message, unless the mark was removed.
func TestMessageIsSentAtLeastOnce(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) goal {
		cfg, prefix := dynamotest.CreateTables(t, []spec.Table{table})

		whole, dying := dynamo.Open(cfg, prefix), dynamo.Open(p.AWS(cfg), prefix)
		if err := put(t.Context(), whole, 1); err != nil {
			t.Fatal(err)
		}

		sent := 0
		send := func(int) error { sent++; return nil }
		p.Ended(deliver(t.Context(), dying, send))

		if err := deliver(t.Context(), whole, send); err != nil {
			t.Fatal(err)
		}

		if sent < 1 || sent > 2 {
			t.Errorf("the message was sent %d times", sent)
		}

		return stored(t, whole)
	})
}

// TestMarkOfAnotherWriteStays: a write that comes between the messages and the removal has a
// mark of its own. A mark whose messages could not be sent stays, too.
func TestMarkOfAnotherWriteStays(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")
	for name, c := range map[string]struct {
		send func(context.Context, dynamo.DB) error
		err  error
		want goal
	}{
		"sent":          {func(context.Context, dynamo.DB) error { return nil }, nil, goal{"x", 1, false}},
		"not sent":      {func(context.Context, dynamo.DB) error { return broken }, broken, goal{"x", 1, true}},
		"changed since": {func(ctx context.Context, db dynamo.DB) error { return put(ctx, db, 2) }, nil, goal{"x", 2, true}},
		"sent by two": {func(ctx context.Context, db dynamo.DB) error { return deliver(ctx, db, func(int) error { return nil }) },
			nil, goal{"x", 1, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, prefix := dynamotest.CreateTables(t, []spec.Table{table})

			db := dynamo.Open(cfg, prefix)
			if err := put(t.Context(), db, 1); err != nil {
				t.Fatal(err)
			}

			if err := deliver(t.Context(), db, func(int) error { return c.send(t.Context(), db) }); !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}

			if got := stored(t, db); got != c.want {
				t.Errorf("stored %+v, want %+v", got, c.want)
			}
		})
	}
}
