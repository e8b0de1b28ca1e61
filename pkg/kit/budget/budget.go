// Package budget counts the requests that functions send to a provider, so that all of them
// together stay within what the provider allows.
package budget

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Period counts the requests of a budget. It names two attributes of the counter's row.
type Period struct {
	Share  spec.Share
	Begins string // the begin of the period, epoch s
	Used   string // the number of requests in it
}

// Counter counts requests in a row with the attributes of T. Each request counts in all of
// the periods. One that is counted and not sent, because of a crash, is lost for them.
type Counter[T any] struct {
	DB      dynamo.DB
	Access  spec.Access // an update of the row
	Key     dynamo.Item
	Periods []Period
	Expires string // an attribute: when the row may be deleted, epoch s; "" for never
	Now     func() time.Time
}

// Exhausted is the error of a request that a share does not allow until the period ends.
type Exhausted struct {
	Budget     spec.Budget
	RetryAfter time.Duration
}

func (e *Exhausted) Error() string { return "the budget of " + e.Budget.Name + " is used up" }

// Take counts a request. If a share is used up it counts nothing, and returns *Exhausted with
// the longest of the waits.
func (c Counter[T]) Take(ctx context.Context) error {
	return dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error {
		now := c.now()
		changes := dynamo.Set(*new(T))

		var conds []expression.ConditionBuilder

		for _, p := range c.Periods {
			changes = changes.Add(p.Used, 1)
			conds = append(conds, current[T](p, now), dynamo.Less[T](p.Used, p.Share.UpTo))
		}

		err := dynamo.Update(ctx, c.DB, c.Access, c.Key, changes, all(conds))

		refused, ok := errors.AsType[*dynamo.Refused](err)
		if !ok {
			return err
		}

		return c.begin(ctx, refused.Item, now)
	})
}

// begin counts a request in a row, and begins the periods that are over. It returns
// *dynamo.Refused if another request has begun one of them.
func (c Counter[T]) begin(ctx context.Context, row dynamo.Item, now time.Time) error {
	changes := dynamo.Set(*new(T))

	var (
		conds     []expression.ConditionBuilder
		exhausted *Exhausted
		expires   time.Time
	)

	for _, p := range c.Periods {
		begins, stored, err := number(row, p.Begins)
		if err != nil {
			return err
		}

		used, _, err := number(row, p.Used)
		if err != nil {
			return err
		}

		switch left := left(p.Share.Budget, time.Unix(begins, 0), now); {
		case left <= 0:
			changes = changes.SetNumber(p.Begins, start(p.Share.Budget, now).Unix()).SetNumber(p.Used, 1)
		case used < int64(p.Share.UpTo):
			changes = changes.Add(p.Used, 1)
			conds = append(conds, dynamo.Less[T](p.Used, p.Share.UpTo))
		case exhausted == nil || exhausted.RetryAfter < left:
			exhausted = &Exhausted{p.Share.Budget, left}
		}

		same := dynamo.Absent[T](p.Begins)
		if stored {
			same = dynamo.Equal[T](p.Begins, begins)
		}

		conds = append(conds, same)

		if end := now.Add(2 * length(p.Share.Budget)); end.After(expires) {
			expires = end
		}
	}

	if exhausted != nil {
		return exhausted
	}

	if c.Expires != "" {
		changes = changes.SetNumber(c.Expires, expires.Unix())
	}

	return dynamo.Update(ctx, c.DB, c.Access, c.Key, changes, all(conds))
}

// GiveBack takes back a request that Take has counted and that was not sent, if the periods
// last.
func (c Counter[T]) GiveBack(ctx context.Context) error {
	now := c.now()
	changes := dynamo.Set(*new(T))

	var conds []expression.ConditionBuilder

	for _, p := range c.Periods {
		changes = changes.Add(p.Used, -1)
		conds = append(conds, current[T](p, now))
	}

	return dynamo.IgnoreRefused(dynamo.Update(ctx, c.DB, c.Access, c.Key, changes, all(conds)))
}

// skew is how far the provider's clock may be behind.
const skew = time.Minute

// AtLeast raises the requests of each period to what the provider has counted, in the order of
// c.Periods, if that is more: another program may use the same budget. A period that began less than
// a minute ago is left as it is, because the number may be that of the period before.
func (c Counter[T]) AtLeast(ctx context.Context, counted ...int) error {
	now := c.now()

	for i, p := range c.Periods {
		if !now.Add(-skew).Before(start(p.Share.Budget, now)) {
			changes := dynamo.Set(*new(T)).SetNumber(p.Used, int64(counted[i]))
			cond := current[T](p, now).And(dynamo.Less[T](p.Used, counted[i]))

			if err := dynamo.IgnoreRefused(dynamo.Update(ctx, c.DB, c.Access, c.Key, changes, cond)); err != nil {
				return err
			}
		}
	}

	return nil
}

// now returns the time as rows have it.
func (c Counter[T]) now() time.Time { return c.Now().UTC().Truncate(time.Second) }

// margin is added to a period that begins with a request, because the provider counts that
// request later than Take does.
const margin = 10 * time.Second

// length returns how long a period lasts.
func length(b spec.Budget) time.Duration {
	if b.Aligned {
		return b.Per
	}

	return b.Per + margin
}

// start returns the begin of a period in which a request is the first.
func start(b spec.Budget, now time.Time) time.Time {
	if b.Aligned {
		return now.Truncate(b.Per)
	}

	return now
}

// left returns how long a period lasts from now on, 0 or less if it is over.
func left(b spec.Budget, begins, now time.Time) time.Duration {
	if b.Aligned && !begins.Equal(start(b, now)) {
		return 0
	}

	return begins.Add(length(b)).Sub(now)
}

// current holds for a row whose period lasts.
func current[T any](p Period, now time.Time) expression.ConditionBuilder {
	b := p.Share.Budget
	if b.Aligned {
		return dynamo.Equal[T](p.Begins, start(b, now).Unix())
	}

	return dynamo.Greater[T](p.Begins, now.Add(-length(b)).Unix())
}

// all holds if all of the conditions do.
func all(conds []expression.ConditionBuilder) expression.ConditionBuilder {
	c := conds[0]
	for _, o := range conds[1:] {
		c = c.And(o)
	}

	return c
}

// number returns a number of a row. ok is false if the row has none.
func number(row dynamo.Item, name string) (n int64, ok bool, err error) {
	av, ok := row[name]
	if !ok {
		return 0, false, nil
	}

	if err := attributevalue.Unmarshal(av, &n); err != nil {
		return 0, true, fmt.Errorf("read %s: %w", name, err)
	}

	return n, true, nil
}
