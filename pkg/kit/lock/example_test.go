package lock_test

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
)

// A job runs while it holds the lease of its match, and leaves the match alone if
// another worker holds it.
func Example() {
	_ = func(ctx context.Context, db dynamo.DB, work func(context.Context) error) error {
		locks := &lock.Locks{DB: db, Acquire: take, Extend: extend, Release: free, TTL: 10 * time.Second, Now: time.Now}

		lease, err := locks.Take(ctx, "match:7", "invocation-1")
		if errors.Is(err, lock.ErrHeld) {
			return nil
		}

		if err != nil {
			return err
		}

		return errors.Join(work(ctx), lease.Release(context.WithoutCancel(ctx)))
	}
}
