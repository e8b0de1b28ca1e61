// Package lock is a lease on a key: it has one holder at a time, until the holder releases it or
// it expires. The caller provides the table.
//
// A lease can expire while its holder is stalled, so the lock alone protects nothing. The
// holder's writes must have a condition of their own: on the lease's Fence, or on another number
// that only increases.
package lock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// ErrHeld reports that somebody else holds the lease. It is expected.
var ErrHeld = errors.New("the lock is held")

// Locks takes leases from one table by its three access patterns.
type Locks struct {
	DB                       dynamo.DB
	Acquire, Extend, Release spec.Access
	TTL                      time.Duration
	Now                      func() time.Time
}

// Lease is a held lock. Fence is the time of acquisition in epoch milliseconds. It
// is higher than that of every lease of the key that expired before.
type Lease struct {
	Fence int64

	locks  *Locks
	key    string
	holder string
}

// row is an item of the table, beside its key.
type row struct {
	Holder      string `dynamodbav:"holder"`
	ExpiresAtMs int64  `dynamodbav:"expiresAtMs"` // epoch ms: what conditions compare
	ExpiresAt   int64  `dynamodbav:"expiresAt"`   // epoch s, later than ExpiresAtMs: DynamoDB deletes the item some time after it
	Fence       int64  `dynamodbav:"fence"`
}

// Take leases key to holder. It returns ErrHeld if another holder has the lease.
//
// holder names one run of a process. A holder that already has the lease gets it again, because
// the answer to its first call may have been lost.
func (l *Locks) Take(ctx context.Context, key, holder string) (*Lease, error) {
	now := l.Now()
	r := l.row(now)
	r.Holder, r.Fence = holder, now.UnixMilli()
	free := dynamo.Absent[row]("holder").Or(dynamo.Less[row]("expiresAtMs", now.UnixMilli()), dynamo.Equal[row]("holder", holder))

	item, err := attributevalue.MarshalMap(r)
	if err == nil {
		maps.Copy(item, dynamo.Key(l.Acquire, key))
		err = dynamo.Put(ctx, l.DB, l.Acquire, item, free)
	}

	if err != nil {
		return nil, dynamo.RefusedAs(err, held(key))
	}

	return &Lease{Fence: r.Fence, locks: l, key: key, holder: holder}, nil
}

// Extend restarts the lease's TTL. It returns ErrHeld if the lease was lost.
func (l *Lease) Extend(ctx context.Context) error {
	r := l.locks.row(l.locks.Now())
	err := dynamo.Update(ctx, l.locks.DB, l.locks.Extend, dynamo.Key(l.locks.Extend, l.key),
		dynamo.Set(r, "expiresAtMs", "expiresAt"), l.mine())

	return dynamo.RefusedAs(err, held(l.key))
}

// Release ends the lease. It does nothing if the lease was lost.
func (l *Lease) Release(ctx context.Context) error {
	_, err := dynamo.Delete(ctx, l.locks.DB, l.locks.Release, dynamo.Key(l.locks.Release, l.key), l.mine())
	return dynamo.IgnoreRefused(err)
}

// mine is the condition that the holder still has the lease.
func (l *Lease) mine() expression.ConditionBuilder { return dynamo.Equal[row]("holder", l.holder) }

// row returns the times of a lease that begins now.
func (l *Locks) row(now time.Time) row {
	until := now.Add(l.TTL)
	return row{ExpiresAtMs: until.UnixMilli(), ExpiresAt: until.Unix() + 1}
}

func held(key string) error { return fmt.Errorf("%s: %w", key, ErrHeld) }
