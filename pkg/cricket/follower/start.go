package follower

import (
	"context"
	"strings"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// StartRow is a row of cricket-match-follows: a match that a user follows, in the order of the starts. It is
// written and deleted with the row of the follow. The end of a match deletes the follow alone, so that its
// result can be found. A match that is moved keeps its place until it is followed again.
type StartRow struct {
	Partition string `dynamodbav:"matchId"` // #USER#{userId}
	At        string `dynamodbav:"userId"`  // {startTime}/{matchId}
	Days      bool   `dynamodbav:"days,omitempty"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // epoch s
}

// MatchID returns the id of the match.
func (r StartRow) MatchID() string {
	_, id, _ := strings.Cut(r.At, "/")
	return id
}

// Start returns the start of the match when it was followed.
func (r StartRow) Start() time.Time {
	start, _, _ := strings.Cut(r.At, "/")
	t, _ := time.Parse(tables.TimeLayout, start) // never fails: startKey has formatted it

	return t
}

// startKey returns the key of the StartRow of a match.
func startKey(userID, startTime, matchID string) dynamo.Item {
	return dynamo.Key(tables.FollowMatch, userPartition+userID, startTime+"/"+matchID)
}

// startWrites returns the writes that put the StartRow of a follow in place of that of before.
func startWrites(userID string, f match.Fixture, before FollowRow, expires int64) []dynamo.Write {
	row := StartRow{Days: score.FormatOf(f.Type).MultiDay(), ExpiresAt: expires}
	writes := []dynamo.Write{dynamo.UpdateWrite(startKey(userID, f.StartTime, f.MatchID), dynamo.Set(row, "days", "expiresAt"))}

	if before.StartTime != "" && before.StartTime != f.StartTime {
		writes = append(writes, dynamo.DeleteWrite(startKey(userID, before.StartTime, f.MatchID)))
	}

	return writes
}

// unfollow deletes the follow of a match and its StartRow. It returns false if the caller does not follow
// the match.
func (s *Follows) unfollow(ctx context.Context, in *UnfollowMatch) (found bool, err error) {
	return dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (bool, error) {
		row, ok, err := dynamo.Get[FollowRow](ctx, s.db, tables.UnfollowMatch, in.MatchID, in.UserID)
		if err != nil || !ok {
			return false, err
		}

		writes := []dynamo.Write{
			dynamo.DeleteWrite(dynamo.Key(tables.UnfollowMatch, in.MatchID, in.UserID), dynamo.Unchanged(row, "startTime")),
		}
		if row.StartTime != "" {
			writes = append(writes, dynamo.DeleteWrite(startKey(in.UserID, row.StartTime, in.MatchID)))
		}

		return true, dynamo.Transact(ctx, s.db, tables.UnfollowMatch, writes...)
	})
}

// startsPerHome is how many rows ReadStarts reads: 4 kB, half a read unit.
const startsPerHome = 32

// ReadStarts reads the matches that a user follows and that start from a time on, in the order of their
// starts: startsPerHome at most. more reports that there are others. It is the function that knows what a
// user follows.
func ReadStarts(ctx context.Context, db dynamo.DB, userID string, from, now time.Time) (rows []StartRow, more bool, err error) {
	all, last, err := dynamo.Query[StartRow](ctx, db, tables.UsersStarts, dynamo.Range{
		Key:   dynamo.KeyAtLeast(tables.UsersStarts, userPartition+userID, from.UTC().Format(tables.TimeLayout)),
		Limit: startsPerHome,
	})

	for _, r := range all {
		if r.ExpiresAt > now.Unix() {
			rows = append(rows, r)
		}
	}

	return rows, last != nil, err
}
