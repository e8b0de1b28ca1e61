package follower

import (
	"context"
	"slices"
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
	Off       bool   `dynamodbav:"off,omitempty"` // as in FollowRow
	ExpiresAt int64  `dynamodbav:"expiresAt"`     // epoch s
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
func startWrites(userID string, f match.Fixture, before FollowRow, expires int64, off bool) []dynamo.Write {
	row := StartRow{Days: score.FormatOf(f.Type).MultiDay(), Off: off, ExpiresAt: expires}
	writes := []dynamo.Write{dynamo.UpdateWrite(startKey(userID, f.StartTime, f.MatchID), dynamo.Set(row, "days", "off", "expiresAt"))}

	if before.StartTime != "" && before.StartTime != f.StartTime {
		writes = append(writes, dynamo.DeleteWrite(startKey(userID, before.StartTime, f.MatchID)))
	}

	return writes
}

// unfollow deletes the follow of a match and its StartRow, or marks both as Off for a subscriber. It returns false
// if the caller does not follow the match.
func (s *Follows) unfollow(ctx context.Context, in *UnfollowMatch) (found bool, err error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.ListSubscriptions, SubscriptionList(in.UserID)...)
	if err != nil {
		return false, err
	}

	if len(list.IDs) > 0 {
		f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, in.MatchID)
		if err != nil {
			return false, err
		}

		if ok && IsSubscribed(list, f) {
			return s.except(ctx, in, f)
		}
	}

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

// IsSubscribed reports whether a list of subscriptions has a team of a match or its league.
func IsSubscribed(list dynamo.List, f match.Fixture) bool {
	return slices.ContainsFunc(subjectsOf(f), func(s Subject) bool { return slices.Contains(list.IDs, string(s)) })
}

// except excepts a match from the subscriptions of the caller. It returns false if it is excepted.
func (s *Follows) except(ctx context.Context, in *UnfollowMatch, f match.Fixture) (found bool, err error) {
	before, _, err := dynamo.Get[FollowRow](ctx, s.db, tables.UnfollowMatch, in.MatchID, in.UserID)
	if err != nil || before.Off {
		return false, err
	}

	now := s.now()
	row := FollowRow{Off: true, CreatedAt: now.UnixMilli(), ExpiresAt: f.Expiry(now, match.KeepFollow), StartTime: f.StartTime}
	changes := dynamo.Set(row, "off", "expiresAt", "startTime").SetIfAbsent(row, "createdAt")
	writes := startWrites(in.UserID, f, before, row.ExpiresAt, true)

	key := dynamo.Key(tables.FollowMatch, in.MatchID, in.UserID)

	writes = append([]dynamo.Write{dynamo.UpdateWrite(key, changes)}, writes...)

	return true, s.entry(in.UserID, in.MatchID, row.ExpiresAt).Write(ctx, s.db, writes...)
}

// entry returns the entry of a match in the list of a user's follows.
func (s *Follows) entry(userID, matchID string, expires int64) dynamo.Entry {
	return dynamo.Entry{
		Access: tables.FollowMatch, List: FollowList(userID), ID: matchID, ExpiresAt: expires, Limit: maxFollows,
		Existing: func(ctx context.Context, ids []string) ([]string, error) { return s.followed(ctx, userID, ids) },
	}
}

// startsPerHome is how many rows ReadStarts reads: 4 kB, half a read unit.
const startsPerHome = 32

// ReadStarts reads the matches that a user follows and that start from a time on, in the order of their starts, and
// those of calendar that the user follows through a team or a league: startsPerHome of the former at most. more reports
// that there are others of these. It is the function that knows what a user follows.
func ReadStarts(ctx context.Context, db dynamo.DB, userID string, from, now time.Time,
	calendar []match.SummaryRow) (rows []StartRow, more bool, err error) {
	all, last, err := dynamo.Query[StartRow](ctx, db, tables.UsersStarts, dynamo.Range{
		Key:   dynamo.KeyAtLeast(tables.UsersStarts, userPartition+userID, from.UTC().Format(tables.TimeLayout)),
		Limit: startsPerHome,
	})
	if err != nil {
		return nil, false, err
	}

	known := map[string]bool{}

	for _, r := range all {
		if known[r.MatchID()] = true; r.ExpiresAt > now.Unix() && !r.Off {
			rows = append(rows, r)
		}
	}

	list, _, err := dynamo.Get[dynamo.List](ctx, db, tables.ListSubscriptions, SubscriptionList(userID)...)
	if err != nil || len(list.IDs) == 0 {
		return rows, last != nil, err
	}

	for _, m := range calendar {
		if f := m.Fixture(); !known[m.MatchID] && !f.Start().Before(from) && IsSubscribed(list, f) {
			rows = append(rows, StartRow{At: m.StartTime + "/" + m.MatchID, Days: score.FormatOf(m.Type).MultiDay()})
		}
	}

	slices.SortFunc(rows, func(a, b StartRow) int { return strings.Compare(a.At, b.At) })

	return rows, last != nil, nil
}
