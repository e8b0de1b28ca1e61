package workout

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Strava's limits of reads of an application, until it grants more:
// https://developers.strava.com/docs/rate-limits/
const (
	perQuarter = 100 // in each quarter of an hour
	perDay     = 1000
)

// backfillShare is the part of the limits that backfills may use. The rest is for webhooks,
// whose users wait for a part.
const backfillShare = 0.7

// allowance is the calls that the backfills, or the events, of one user may use, so that nobody
// uses up those of others: by connecting again and again, or by a program that edits activities.
type allowance struct {
	sk              string // of its budget, under the user
	quarter, perDay int
}

var (
	// The backfills of a quarter of an hour list 5,800 activities.
	backfillCalls = allowance{item.Calls, perQuarter * 3 / 10, perDay / 10}
	eventCalls    = allowance{item.EventCalls, perQuarter * 2 / 10, perDay / 10}
)

// window is the shorter of the periods of the limits.
const window = 15 * time.Minute

// budget is the calls to Strava in the present windows: those of all functions, or those of
// a user's allowance.
type budget struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Quarter int64  `dynamodbav:"quarter,omitempty"` // start of the window, epoch s
	Day     int64  `dynamodbav:"day"`               // start of the window, epoch s
	Used    int    `dynamodbav:"used"`              // in the quarter
	UsedDay int    `dynamodbav:"usedDay"`
}

// take counts a call to Strava, of which a share of the limits may be used. It returns a
// strava.Error of the kind Limited if none is left.
func take(ctx context.Context, db dynamo.DB, now time.Time, share float64) error {
	key := dynamo.Key(tables.TakeBudget, item.Budget, item.Meta)
	return takeOf(ctx, db, tables.TakeBudget, key, now, int(share*perQuarter), int(share*perDay))
}

// takeOfUser counts a call of an allowance of a user, as take. It counts each page of each
// backfill, so that it does not matter what has them begin. A deleted user gets
// account.ErrDeleted.
func takeOfUser(ctx context.Context, db dynamo.DB, userID string, of allowance, now time.Time) error {
	key := dynamo.Key(tables.TakeCalls, item.User(userID), of.sk)
	return takeOf(account.Require(ctx, userID), db, tables.TakeCalls, key, now, of.quarter, of.perDay)
}

// giveBack takes back a call that takeOfUser has counted in this window, and that was not made.
func giveBack(ctx context.Context, db dynamo.DB, userID string, of allowance, now time.Time) error {
	key := dynamo.Key(tables.TakeCalls, item.User(userID), of.sk)
	same := dynamo.Equal[budget]("quarter", now.UTC().Truncate(window).Unix())
	return dynamo.IgnoreRefused(dynamo.Update(ctx, db, tables.TakeCalls, key, dynamo.Add[budget]("used", -1).Add("usedDay", -1), same))
}

// takeOf counts a call in the budget with the key, which has so many calls for a quarter of an
// hour and for a day.
func takeOf(ctx context.Context, db dynamo.DB, a spec.Access, key dynamo.Item, now time.Time, most, mostDay int) error {
	now = now.UTC()
	quarter, day := now.Truncate(window), now.Truncate(24*time.Hour)
	for try := 0; ; try++ {
		if err := dynamo.BackOff(ctx, try); err != nil {
			return err
		}
		same := dynamo.Equal[budget]("quarter", quarter.Unix()).And(dynamo.Less[budget]("used", most), dynamo.Less[budget]("usedDay", mostDay))
		err := dynamo.Update(ctx, db, a, key, dynamo.Add[budget]("used", 1).Add("usedDay", 1), same)
		refused, ok := errors.AsType[*dynamo.Refused](err)
		if !ok {
			return err
		}
		var was budget
		if err := attributevalue.UnmarshalMap(refused.Item, &was); err != nil {
			return err
		}
		if was.Day != day.Unix() {
			was.UsedDay = 0
		}
		switch {
		case was.UsedDay >= mostDay:
			return &strava.Error{Kind: strava.Limited, RetryAfter: day.Add(24 * time.Hour).Sub(now), Msg: "the calls of the day are used up"}
		case was.Quarter == quarter.Unix():
			return &strava.Error{Kind: strava.Limited, RetryAfter: quarter.Add(window).Sub(now), Msg: "the calls of this quarter of an hour are used up"}
		}
		first := budget{Quarter: quarter.Unix(), Day: day.Unix(), Used: 1, UsedDay: was.UsedDay + 1}
		err = dynamo.Update(ctx, db, a, key, dynamo.Set(first, "quarter", "day", "used", "usedDay"), dynamo.Unchanged(was, "quarter"))
		if !dynamo.IsRefused(err) {
			return err
		}
	}
}
