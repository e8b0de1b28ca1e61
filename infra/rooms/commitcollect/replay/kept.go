package replay

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// checkKept checks that no workout of Strava is stored for longer than the retention.
func (r *run) checkKept(ctx context.Context, a *athlete) {
	rows := dynamodb.NewQueryPaginator(r.Fleet.DB, &dynamodb.QueryInput{
		TableName: aws.String(r.Fleet.Table("CommitCollect")), KeyConditionExpression: aws.String("PK = :user AND begins_with(SK, :workouts)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":user":     &types.AttributeValueMemberS{Value: "USER#" + a.user},
			":workouts": &types.AttributeValueMemberS{Value: "WORKOUT#STRAVA#"},
		},
	})
	since := r.Clock.Now().Add(-time.Duration(r.cfg.Retention) * day)

	for rows.HasMorePages() {
		page, err := rows.NextPage(ctx)
		if err != nil {
			a.fail("the workouts: %v", err)
			return
		}

		for _, row := range page.Items {
			text, _ := row["ingestedAtUtc"].(*types.AttributeValueMemberN)
			if text == nil {
				a.fail("%s a workout does not say since when it is stored: %v", r.date(), row)
				continue
			}

			at, err := strconv.ParseInt(text.Value, 10, 64)
			late := fmt.Sprint(time.Unix(at, 0).Before(since), err)
			equal(r, a, "a workout that is stored since "+text.Value+" is kept for too long", late, "false <nil>")
		}
	}
}
