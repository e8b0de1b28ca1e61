package workout

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/dynamo"
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

// budget is the calls to Strava of all functions, in the present windows.
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
	now = now.UTC()
	quarter, day := now.Truncate(15*time.Minute), now.Truncate(24*time.Hour)
	key := dynamo.Key(tables.TakeBudget, item.Budget, item.Meta)
	most, mostDay := int(share*perQuarter), int(share*perDay)
	for try := 0; ; try++ {
		if err := dynamo.BackOff(ctx, try); err != nil {
			return err
		}
		same := dynamo.Equal[budget]("quarter", quarter.Unix()).And(dynamo.Less[budget]("used", most), dynamo.Less[budget]("usedDay", mostDay))
		err := dynamo.Update(ctx, db, tables.TakeBudget, key, dynamo.Add[budget]("used", 1).Add("usedDay", 1), same)
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
			return &strava.Error{Kind: strava.Limited, RetryAfter: quarter.Add(15 * time.Minute).Sub(now), Msg: "the calls of this quarter of an hour are used up"}
		}
		first := budget{Quarter: quarter.Unix(), Day: day.Unix(), Used: 1, UsedDay: was.UsedDay + 1}
		err = dynamo.Update(ctx, db, tables.TakeBudget, key, dynamo.Set(first, "quarter", "day", "used", "usedDay"), dynamo.Unchanged(was, "quarter"))
		if !dynamo.IsRefused(err) {
			return err
		}
	}
}
