package follower

import (
	"context"
	"errors"
	"slices"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// List is a row in the partition of a user: the ids of rows that the user has in the
// partitions of matches. cricket-match-follows has one list for each user, of the
// matches that the user follows. cricket-activity-subscriptions has one for each user
// and match, of the push tokens of the user's Live Activities. A list has the id of each
// such row, and may have ids of rows that were deleted since. It expires with the last
// of its rows.
type List struct {
	IDs       []string `dynamodbav:"ids,omitempty"`
	ExpiresAt int64    `dynamodbav:"expiresAt"` // epoch s
}

// userPartition begins the partition keys of lists. No id of a match begins so.
const userPartition = "#USER#"

// FollowList returns the key of the list of the matches that a user follows.
func FollowList(userID string) []string { return []string{userPartition + userID, "#FOLLOWS"} }

// ActivityList returns the key of the list of a user's activities of a match. All lists
// of a user are in one partition, sorted by match.
func ActivityList(userID, matchID string) []string {
	return []string{userPartition + userID, matchID}
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

// writeTries is the number of attempts of Entry.Write. An attempt fails only if another
// write of the same user succeeds.
const writeTries = 10

var errBusy = problem.New(problem.Conflict, "user_busy", "other requests of this user are in progress: try again")

// Write makes the write of the row and lists it, in one transaction. Of concurrent calls
// as many succeed as the maximum allows. A second call with the same row changes
// nothing but its attributes.
//
// It returns *dynamo.Refused if the condition of the write does not hold, the problem of
// the limit if the user already has as many other rows, and Conflict if other calls for the user
// refuse every attempt.
func (e Entry) Write(ctx context.Context, db dynamo.DB, row dynamo.Write) error {
	for range writeTries {
		list, _, err := dynamo.Get[List](ctx, db, e.Access, e.List...)
		if err != nil {
			return err
		}
		next := List{IDs: list.IDs, ExpiresAt: max(list.ExpiresAt, e.ExpiresAt)}
		if !slices.Contains(next.IDs, e.ID) {
			if len(next.IDs) >= e.Limit.Max {
				if next.IDs, err = e.Existing(ctx, next.IDs); err != nil {
					return err
				}
			}
			if len(next.IDs) >= e.Limit.Max {
				return problem.Beyond(e.Limit)
			}
			next.IDs = append(slices.Clone(next.IDs), e.ID)
		}
		err = dynamo.Transact(ctx, db, e.Access, row,
			dynamo.UpdateWrite(dynamo.Key(e.Access, e.List...), dynamo.Set(next, "ids", "expiresAt"), dynamo.Unchanged(list, "ids")))
		if r, ok := errors.AsType[*dynamo.Refused](err); !ok || r.Write == 0 {
			return err
		}
	}
	return errBusy
}
