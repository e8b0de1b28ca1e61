package follower

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// StartClaim returns the key of the claim of the start of a user's activity: one row of
// cricket-prematch-notifications for all days of a match.
func StartClaim(matchID, userID string) []string {
	return []string{matchID + "#" + userID, "#START#" + userID}
}

// OwnActivity are the attributes of a StartClaim that say which activity a user has who does not follow the match:
// in the place of those of FollowRow.
type OwnActivity struct {
	ActivityAt      int64 `dynamodbav:"activityAt,omitempty"`
	ActivityEndedAt int64 `dynamodbav:"activityEndedAt,omitempty"`
}

// MarkActivity records that the user has registered an activity of the match, or has ended the only one: in the follow
// of the match or, if there is none, in the claim of its start. So no push starts a second activity for a user who
// follows only a team of the match or its league. A second call changes the time alone.
func MarkActivity(ctx context.Context, db dynamo.DB, matchID, userID string, now time.Time, ended bool) error {
	follow := dynamo.Set(FollowRow{ActivityAt: now.Unix()}, "activityAt")
	own := OwnActivity{ActivityAt: now.Unix()}

	if ended {
		follow = dynamo.Set(FollowRow{ActivityEndedAt: now.Unix()}, "activityEndedAt")
		own = OwnActivity{ActivityEndedAt: now.Unix()}
	}

	err := dynamo.Update(ctx, db, tables.UpdateFollow, dynamo.Key(tables.UpdateFollow, matchID, userID), follow,
		dynamo.Exists[FollowRow]("matchId"))
	if !dynamo.IsRefused(err) {
		return err
	}

	row := struct {
		OwnActivity
		TTL int64 `dynamodbav:"ttl"`
	}{own, now.Add(KeepClaims).Unix()}

	return dynamo.Update(ctx, db, tables.MarkOwnActivity, dynamo.Key(tables.MarkOwnActivity, StartClaim(matchID, userID)...),
		dynamo.Set(row, "activityAt", "activityEndedAt", "ttl"))
}

// KeepClaims is how long the claims of reminders and starts are kept: longer than an alert is retried, and than an activity
// lasts.
const KeepClaims = 48 * time.Hour

// NeedsStart holds for the StartClaim of a user who does not follow the match, if an activity is to be started for the
// user: as FollowRow.HasActivity and, for a renewal, NeedsRenewal say. An end that was withdrawn at reopened, epoch s, has
// ended the activities of before.
func NeedsStart(now time.Time, renewal bool, reopened int64) expression.ConditionBuilder {
	before := func(name string, at int64) expression.ConditionBuilder {
		return dynamo.Absent[OwnActivity](name).Or(dynamo.AtMost[OwnActivity](name, at))
	}

	if renewal {
		return before("activityAt", now.Add(-freshFor).Unix()).And(before("activityEndedAt", now.Add(-activityLife).Unix()))
	}

	return before("activityAt", max(now.Add(-activityLife).Unix(), reopened))
}
