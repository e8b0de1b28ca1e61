package dynamo

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// List is a row under the key of a user, with the ids of the user's rows in other partitions of
// the table. It contains the id of each such row, and may contain ids of rows that were deleted
// since. It expires with the last of its rows.
type List struct {
	IDs       []string `dynamodbav:"ids,omitempty"` // in the order of the last Entry.Write of each
	ExpiresAt int64    `dynamodbav:"expiresAt"`     // epoch s
	TTL       int64    `dynamodbav:"ttl"`           // the same, for tables whose TTL attribute has this name
}

// Entry is a row of a user that is to be written and listed.
type Entry struct {
	Access    spec.Access // of the row and of the list
	List      []string    // key of the list
	ID        string      // of the row in the list
	ExpiresAt int64       // of the row, epoch s
	Limit     spec.Limit  // of the rows that the user has in the list
	// Existing returns those of the listed ids whose rows exist. It is called only when
	// the list is full.
	Existing func(ctx context.Context, ids []string) ([]string, error)
}

// entryAttempts bounds Entry.Write. An attempt is refused only if another write of the same
// user succeeds.
var entryAttempts = Attempts{Max: 10, Err: errUserBusy}

var errUserBusy = problem.New(problem.Conflict, "user_busy", "other requests of this user are in progress: try again")

// Write makes the writes of the row and adds it to the end of the list, in one transaction. A row
// that is already listed moves to the end. Concurrent calls cannot exceed the limit.
//
// Errors: *Refused if the condition of one of the writes does not hold; problem.Beyond of the
// limit if the user has as many other rows; user_busy if concurrent calls for the user made
// every attempt fail.
func (e Entry) Write(ctx context.Context, db DB, writes ...Write) error {
	var refused error // of one of the writes, which is not tried again

	err := Retry(ctx, entryAttempts, func() error {
		list, _, err := Get[List](ctx, db, e.Access, e.List...)
		if err != nil {
			return err
		}

		next, err := e.listed(ctx, list)
		if err != nil {
			return err
		}

		own := UpdateWrite(Key(e.Access, e.List...), Set(next, "ids", "expiresAt", "ttl"), Unchanged(list, "ids"))

		err = Transact(ctx, db, e.Access, append(slices.Clone(writes), own)...)
		if r, ok := errors.AsType[*Refused](err); ok && r.Write < len(writes) {
			refused, err = err, nil
		}

		return err
	})

	return cmp.Or(err, refused)
}

// listed returns the list with the row at its end. It returns problem.Beyond of the limit if the row
// is new and the list is full.
func (e Entry) listed(ctx context.Context, list List) (List, error) {
	others := slices.DeleteFunc(slices.Clone(list.IDs), func(id string) bool { return id == e.ID })
	isNew := len(others) == len(list.IDs)

	if isNew && len(others) >= e.Limit.Max {
		var err error
		if others, err = e.Existing(ctx, others); err != nil {
			return List{}, err
		}

		if len(others) >= e.Limit.Max {
			return List{}, problem.Beyond(e.Limit)
		}
	}

	expires := max(list.ExpiresAt, e.ExpiresAt)

	return List{IDs: append(slices.Clone(others), e.ID), ExpiresAt: expires, TTL: expires}, nil
}
