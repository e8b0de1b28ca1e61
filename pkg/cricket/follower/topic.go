package follower

import (
	"context"
	"crypto/sha256"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Topic returns the name of the FCM topic of a match and perspective. It has the stage in it, because
// stages may share a Firebase project.
func Topic(stage, matchID, view string) string { return stage + "-match-" + matchID + "-" + view }

// SubscribeWithin is the time in which an app subscribes to a topic, at a random moment: Google takes 3,000
// subscriptions a second of a project, so 90,000 fans may follow a match at one moment.
const SubscribeWithin = 30 * time.Second

// phonesRow is a row of cricket-locks: about how many Android phones have the topics of a match.
type phonesRow struct {
	LockKey   string `dynamodbav:"lockKey"`
	Phones    int    `dynamodbav:"phones"`
	ExpiresAt int64  `dynamodbav:"expiresAt"` // epoch s
}

// sample is how many users one counted user stands for. Of 20,000 users about 1,250 are counted, within 35
// (the standard deviation), which is 3 %; of more users the error is smaller. One row of a match is then
// written 200 times a second when Google takes the most subscriptions, and needs no shards.
const sample = 16

// isCounted reports whether a user is one of the sample of a match.
func isCounted(matchID, userID string) bool {
	sum := sha256.Sum256([]byte(matchID + "/" + userID))
	return sum[0]%sample == 0
}

// CountPhone counts a user who asks for the topic of a match, once. A crash between the two writes leaves the
// user uncounted.
func CountPhone(ctx context.Context, db dynamo.DB, f match.Fixture, userID string, now time.Time) error {
	if !isCounted(f.MatchID, userID) {
		return nil
	}

	expires := f.Expiry(now, match.KeepActivity)
	row := ActivityRow{List: dynamo.List{ExpiresAt: expires, TTL: expires}, PhoneAt: now.Unix()}
	key := dynamo.Key(tables.RegisterActivity, ActivityList(userID, f.MatchID)...)
	set := dynamo.Set(row, "phoneAt", "expiresAt", "ttl")

	err := dynamo.Update(ctx, db, tables.RegisterActivity, key, set, dynamo.Absent[ActivityRow]("phoneAt"))
	if err != nil {
		return dynamo.IgnoreRefused(err) // refused: the user was counted before
	}

	add := dynamo.Add[phonesRow]("phones", sample).Set(phonesRow{ExpiresAt: expires}, "expiresAt")

	return dynamo.Update(ctx, db, tables.CountPhones, phonesKey(f.MatchID), add)
}

// uncountPhone takes back what CountPhone has counted. A row that has expired stays away.
func uncountPhone(ctx context.Context, db dynamo.DB, matchID string) error {
	add := dynamo.Add[phonesRow]("phones", -sample)
	return dynamo.IgnoreRefused(dynamo.Update(ctx, db, tables.CountPhones, phonesKey(matchID), add, dynamo.Exists[phonesRow]("lockKey")))
}

func phonesKey(matchID string) dynamo.Item { return dynamo.Key(tables.CountPhones, "phones:"+matchID) }

// ReadPhones returns about how many Android phones have the topics of the matches in play: within 10 %,
// from 20,000 on. It reads the live matches and one row for each, whatever the audience.
func ReadPhones(ctx context.Context, db dynamo.DB) (int, error) {
	live, err := dynamo.ScanAll[struct {
		MatchID string `dynamodbav:"matchId"`
	}](ctx, db, tables.ScanLive, nil)
	if err != nil {
		return 0, err
	}

	keys := make([]dynamo.Item, len(live))
	for i, m := range live {
		keys[i] = phonesKey(m.MatchID)
	}

	rows, err := dynamo.GetAll[phonesRow](ctx, db.Eventual(), tables.ReadPhones, keys)
	if err != nil {
		return 0, err
	}

	all := 0
	for _, row := range rows {
		all += row.Phones
	}

	return all, nil
}
