package account_test

import (
	"errors"
	"testing"
	"time"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

var (
	notes    = spec.Table{Name: "notes", Key: spec.Key{Partition: "userId"}}
	putNote  = notes.On("Put note", "userId", spec.Rate{}, spec.PutItem)
	editNote = notes.On("Edit note", "userId", spec.Rate{}, spec.UpdateItem)
	getNote  = notes.On("Get note", "userId", spec.Rate{}, spec.GetItem)
	writer   = spec.Function{Name: "test/write", Uses: []spec.Access{putNote, editNote, getNote, account.CheckDeleted, account.Bury}}
)

type note struct {
	UserID string `dynamodbav:"userId"`
	Text   string `dynamodbav:"text"`
}

// TestDeletedUserWritesNothing: each kind of write is refused from the tombstone on.
func TestDeletedUserWritesNothing(t *testing.T) {
	t.Parallel()
	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{notes, account.Deleted})
	db := dynamo.Open(dynamotest.WithGuard(t, cfg, writer), prefix)
	ctx := account.Require(t.Context(), "ann")
	old := note{"ann", "old"}
	key := dynamo.Key(putNote, "ann")
	taken := dynamo.Absent[note]("userId")
	writes := map[string]func(text string) error{
		"Put": func(text string) error { return dynamo.Put(ctx, db, putNote, note{"ann", text}) },
		"Update": func(text string) error {
			return dynamo.Update(ctx, db, editNote, key, dynamo.Set(note{Text: text}, "text"))
		},
		"Transact": func(text string) error { return dynamo.Transact(ctx, db, putNote, dynamo.PutWrite(note{"ann", text})) },
	}

	read := func() note {
		n, _, err := dynamo.Get[note](t.Context(), db, getNote, "ann")
		if err != nil {
			t.Error(err)
		}

		return n
	}
	for name, write := range writes {
		if err := write(name); err != nil || read().Text != name {
			t.Errorf("%s of a user: %v, and the note is %v", name, err, read())
		}
	}

	if err := dynamo.Put(ctx, db, putNote, old, taken); !dynamo.IsRefused(err) {
		t.Errorf("a write whose own condition does not hold: %v, want a refusal", err)
	}

	if err := dynamo.Put(ctx, db, putNote, old); err != nil {
		t.Fatal(err)
	}

	for range 2 { // also by a request of the user, whose writes require that there is none
		if err := account.PutTombstone(ctx, db, "ann", time.Now()); err != nil {
			t.Fatal(err)
		}
	}

	for name, write := range writes {
		if err := write(name); !errors.Is(err, account.ErrDeleted) || dynamo.IsRefused(err) || read() != old {
			t.Errorf("%s of a deleted user: %v, and the note is %v; want ErrDeleted and %v", name, err, read(), old)
		}
	}

	if err := dynamo.Put(account.Require(t.Context(), "bob"), db, putNote, note{"bob", "new"}); err != nil {
		t.Errorf("a write of another user: %v", err)
	}
}
