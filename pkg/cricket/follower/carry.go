package follower

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
)

// CarryFollows makes the followers of a match followers of another, which replaces it: each with the team
// that they support, their preferences and exceptions, once. A user who unfollows either match is not carried, or
// carried again. A user
// who follows the other match already keeps that follow. It calls more before each follower, and stops
// when more returns false. done reports that all were carried.
func CarryFollows(ctx context.Context, db dynamo.DB, from, to match.Fixture, now func() time.Time,
	more func() bool) (done bool, err error) {
	key := dynamo.KeyIs(tables.AllFollowers, from.MatchID)

	pages := dynamo.Pages(func(after dynamo.Item) ([]FollowRow, dynamo.Item, error) {
		return dynamo.Query[FollowRow](ctx, db, tables.AllFollowers, dynamo.Range{Key: key, After: after})
	})
	for page, err := range pages {
		if err != nil {
			return false, err
		}

		for _, row := range page {
			switch {
			case row.CarriedTo == to.MatchID, row.ExpiresAt <= now().Unix():
				continue
			case !more():
				return false, nil
			}

			if err := carry(ctx, db, row, to, now()); err != nil {
				return false, err
			}
		}
	}

	return true, nil
}

// carry makes a follower a follower of another match, and records that in the follow. Both are one
// transaction, which the deletion of the account and of the follow refuse.
func carry(ctx context.Context, db dynamo.DB, row FollowRow, to match.Fixture, now time.Time) error {
	ctx = account.Require(ctx, row.UserID)

	limit := maxFollows
	limit.Max *= 2 // a carried match replaces one that the user has chosen to follow

	next := FollowRow{
		TeamID: row.TeamID, Overrides: row.Overrides, Off: row.Off,
		CreatedAt: now.UnixMilli(), ExpiresAt: to.Expiry(now, match.KeepFollow), StartTime: to.StartTime,
	}
	row.CarriedTo = to.MatchID
	followed := dynamo.Exists[FollowRow]("matchId")

	old := dynamo.Key(tables.FollowMatch, row.MatchID, row.UserID)
	mark := dynamo.Set(row, "carriedTo")
	entry := dynamo.Entry{
		Access: tables.FollowMatch, List: FollowList(row.UserID), ID: to.MatchID, ExpiresAt: next.ExpiresAt, Limit: limit,
		Existing: func(_ context.Context, ids []string) ([]string, error) { return ids, nil },
	}

	carried := dynamo.Set(next, "teamId", "preferences", "off", "createdAt", "expiresAt", "startTime")
	writes := append([]dynamo.Write{
		dynamo.UpdateWrite(old, mark, followed),
		dynamo.UpdateWrite(dynamo.Key(tables.FollowMatch, to.MatchID, row.UserID), carried, dynamo.Absent[FollowRow]("matchId")),
	}, startWrites(row.UserID, to, FollowRow{}, next.ExpiresAt, row.Off)...)

	err := entry.Write(ctx, db, writes...)

	if r, ok := errors.AsType[*dynamo.Refused](err); ok && r.Write == 1 { // the user follows the other match already
		err = dynamo.Update(ctx, db, tables.FollowMatch, old, mark, followed)
	}

	switch p, ok := errors.AsType[*problem.Error](err); {
	case dynamo.IsRefused(err), errors.Is(err, account.ErrDeleted): // the user has left meanwhile
		return nil
	case ok && p.Code == limit.Code:
		slog.WarnContext(ctx, "a follower is not carried to another match", "match", row.MatchID, "to", to.MatchID, "err", err)
		return nil
	}

	return err
}
