// Package lock is a lease on a key: one holder at a time, until it releases the
// lease or lets it run out. The table is the caller's, with these attributes:
//
//	holder       who holds it
//	expiresAtMs  when it runs out, epoch milliseconds: what the condition reads
//	expiresAt    the same in seconds, for DynamoDB's TTL, which only tidies up
//	fence        the lease's fencing number
//
// A lease can run out while its holder is stalled, so the lock alone protects
// nothing: what the holder writes must carry a fence of its own.
package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// ErrHeld says that somebody else holds the lease. It is expected.
var ErrHeld = errors.New("the lock is held")

// Locks takes leases from one table by its three access patterns.
type Locks struct {
	DB                       dynamo.DB
	Acquire, Extend, Release spec.Access
	TTL                      time.Duration
	Now                      func() time.Time
}

// Lease is a held lock. Fence is the instant of acquisition in epoch
// milliseconds: higher than that of every lease of the key that ran out before.
type Lease struct {
	Fence int64

	locks  *Locks
	key    string
	holder string
}

// Take leases key to holder, or returns ErrHeld. holder names one run of a
// process: it takes over what it holds already, for that is a take of its own
// whose answer was lost.
func (l *Locks) Take(ctx context.Context, key, holder string) (*Lease, error) {
	now := l.Now()
	item := l.row(now)
	item["fence"], item["holder"] = now.UnixMilli(), holder
	item[l.Acquire.Table.Key.Partition] = key
	err := dynamo.Put(ctx, l.DB, l.Acquire, item,
		expression.AttributeNotExists(expression.Name(l.Acquire.Table.Key.Partition)).
			Or(expression.LessThan(expression.Name("expiresAtMs"), expression.Value(now.UnixMilli()))).
			Or(expression.Equal(expression.Name("holder"), expression.Value(holder))))
	if err != nil {
		return nil, dynamo.RefusedAs(err, fmt.Errorf("%s: %w", key, ErrHeld))
	}
	return &Lease{Fence: now.UnixMilli(), locks: l, key: key, holder: holder}, nil
}

// Extend starts the lease's time anew, or returns ErrHeld when it was lost.
func (l *Lease) Extend(ctx context.Context) error {
	row := l.locks.row(l.locks.Now())
	set := expression.Set(expression.Name("expiresAtMs"), expression.Value(row["expiresAtMs"])).
		Set(expression.Name("expiresAt"), expression.Value(row["expiresAt"]))
	err := dynamo.Update(ctx, l.locks.DB, l.locks.Extend, dynamo.Key(l.locks.Extend, l.key), set, l.mine())
	if dynamo.IsRefused(err) {
		return fmt.Errorf("%s: %w", l.key, ErrHeld)
	}
	return err
}

// Release ends the lease. One that ran out and was taken by another stays his.
func (l *Lease) Release(ctx context.Context) error {
	_, err := dynamo.Delete(ctx, l.locks.DB, l.locks.Release, dynamo.Key(l.locks.Release, l.key), l.mine())
	return dynamo.IgnoreRefused(err)
}

func (l *Lease) mine() expression.ConditionBuilder {
	return expression.Equal(expression.Name("holder"), expression.Value(l.holder))
}

func (l *Locks) row(now time.Time) map[string]any {
	until := now.Add(l.TTL)
	return map[string]any{"expiresAtMs": until.UnixMilli(), "expiresAt": until.Unix() + 1}
}
