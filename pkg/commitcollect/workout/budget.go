package workout

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/budget"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Strava's limits of reads of an application, until it grants more:
// https://developers.strava.com/docs/rate-limits/
var (
	readsOfQuarter = spec.Budget{Name: "reads of Strava", Max: 100, Per: 15 * time.Minute, Aligned: true}
	readsOfDay     = spec.Budget{Name: "reads of Strava", Max: 1000, Per: 24 * time.Hour, Aligned: true}
)

// Shares of Strava's limits. Backfills leave the rest to webhooks, whose users wait for a
// part.
var (
	eventReads    = []spec.Share{{Budget: readsOfQuarter, UpTo: 100}, {Budget: readsOfDay, UpTo: 1000}}
	backfillReads = []spec.Share{{Budget: readsOfQuarter, UpTo: 70}, {Budget: readsOfDay, UpTo: 700}}
)

// What the backfills, or the events, of one user may use, so that nobody uses up the reads of
// others: by connecting again and again, or by a program that edits activities.
var (
	backfillsOfQuarter = spec.Budget{Name: "reads of Strava for a user's backfills", Max: 30, Per: 15 * time.Minute, Aligned: true}
	backfillsOfDay     = spec.Budget{Name: "reads of Strava for a user's backfills", Max: 100, Per: 24 * time.Hour, Aligned: true}
	eventsOfQuarter    = spec.Budget{Name: "reads of Strava for a user's events", Max: 20, Per: 15 * time.Minute, Aligned: true}
	eventsOfDay        = spec.Budget{Name: "reads of Strava for a user's events", Max: 100, Per: 24 * time.Hour, Aligned: true}
)

// allowance is the shares of a user, which are counted in a row under the user.
type allowance struct {
	sk     string
	shares []spec.Share
}

var (
	// The backfills of a quarter of an hour list 5,800 activities.
	userBackfills = allowance{item.Calls, []spec.Share{{Budget: backfillsOfQuarter, UpTo: 30}, {Budget: backfillsOfDay, UpTo: 100}}}
	userEvents    = allowance{item.EventCalls, []spec.Share{{Budget: eventsOfQuarter, UpTo: 20}, {Budget: eventsOfDay, UpTo: 100}}}
)

// reads is a row with the reads of Strava in the present quarter of an hour and day: those of
// all functions, or those of a user's allowance.
type reads struct {
	Quarter int64 `dynamodbav:"quarter,omitempty"` // begin, epoch s
	Day     int64 `dynamodbav:"day"`               // begin, epoch s
	Used    int   `dynamodbav:"used"`              // in the quarter
	UsedDay int   `dynamodbav:"usedDay"`
}

// counter returns the counter in a row, for shares of a quarter and of a day.
func (s *Ingester) counter(a spec.Access, key dynamo.Item, shares []spec.Share) budget.Counter[reads] {
	return budget.Counter[reads]{
		DB: s.db, Access: a, Key: key, Now: s.clock.Now,
		Periods: []budget.Period{
			{Share: shares[0], Begins: "quarter", Used: "used"},
			{Share: shares[1], Begins: "day", Used: "usedDay"},
		},
	}
}

// take counts a read of Strava, of which a share of the limits may be used. It returns a
// strava.Error of the kind Limited if none is left.
func (s *Ingester) take(ctx context.Context, shares []spec.Share) error {
	key := dynamo.Key(tables.TakeBudget, item.Budget, item.Meta)
	return limited(s.counter(tables.TakeBudget, key, shares).Take(ctx))
}

// takeOfUser counts a read of an allowance of a user, as take. Every page of a backfill
// counts, whatever started the backfill. A deleted user gets account.ErrDeleted.
func (s *Ingester) takeOfUser(ctx context.Context, userID string, of allowance) error {
	return limited(s.ofUser(userID, of).Take(account.Require(ctx, userID)))
}

// giveBack takes back a read that takeOfUser has counted in this quarter, and that was not
// made.
func (s *Ingester) giveBack(ctx context.Context, userID string, of allowance) error {
	return s.ofUser(userID, of).GiveBack(ctx)
}

func (s *Ingester) ofUser(userID string, of allowance) budget.Counter[reads] {
	return s.counter(tables.TakeCalls, dynamo.Key(tables.TakeCalls, item.User(userID), of.sk), of.shares)
}

// limited returns the error of a used-up budget as Strava's error for too many requests.
func limited(err error) error {
	if e, ok := errors.AsType[*budget.Exhausted](err); ok {
		return &strava.Error{Kind: strava.Limited, RetryAfter: e.RetryAfter, Msg: e.Error()}
	}

	return err
}
