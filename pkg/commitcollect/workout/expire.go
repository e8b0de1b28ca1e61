package workout

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// This file is what a stage does that keeps workouts of Strava for some days only. See the package's
// description.

// Margin is how long before their last day workouts are carried forward and deleted. The job runs twice a day,
// so that one failed run does no harm.
const Margin = 24 * time.Hour

// Sweep is how long before their last day workouts are deleted that nobody could carry forward: the next run of the
// job begins 12 hours later, and its messages take their time.
const Sweep = 13 * time.Hour

// expire has the workouts of users expire. It does nothing in a stage that keeps them as long as the connection.
func (s *Reconciler) expire(ctx context.Context, users []link.Listed) error {
	if s.keeps == 0 {
		return nil
	}

	for _, u := range users {
		if err := s.queue.SendFIFO(ctx, ChangeQueue, u.UserID, Changed{UserID: u.UserID, Expire: true}); err != nil {
			return err
		}
	}

	return nil
}

// need is what is read of a milestone to know which workouts it needs.
type need struct {
	item.Life
	Source  item.Source    `dynamodbav:"source"`
	Start   int64          `dynamodbav:"periodStartAtUtc"`
	Carried *tally.Carried `dynamodbav:"carried"`
}

// from returns the time, epoch s, from which the milestone needs workouts.
func (n need) from() int64 {
	if n.Carried == nil {
		return n.Start
	}

	return max(n.Start, n.Carried.To)
}

// neededFrom returns the time, epoch s, from which the milestones of a user need workouts that are open at a time;
// later if there are none.
func neededFrom(ctx context.Context, db dynamo.DB, userID string, at, later int64) (int64, error) {
	_, all, err := item.Listed[need](ctx, db, userID)

	first := later
	for _, n := range all {
		if n.Source != item.Phone && n.IsOpen(time.Unix(at, 0)) {
			first = min(first, n.from())
		}
	}

	return first, err
}

// beginOfKept is begin in a stage that keeps workouts for some days only: of earlier ones it fetches those that
// a milestone has not carried forward that was open at the last complete backfill.
func (s *Ingester) beginOfKept(ctx context.Context, m link.Backfill, c link.Connection) (int64, error) {
	now := s.clock.Now()

	first, err := neededFrom(ctx, s.db, m.UserID, c.KnownAt(), now.Add(-s.keeps).Unix())
	if !m.Whole && c.FetchedAt != 0 {
		first = max(first, c.FetchedAt-int64(item.Late.Seconds()))
	}

	return first, err
}

// expire deletes the workouts that m names, with their entries in the ledgers. Before each page it reads what
// milestones need, because one may have started meanwhile.
func (s *Purger) expire(ctx context.Context, m link.Purge) error {
	err := s.drop(ctx, m.UserID, func() (func(Row) bool, error) {
		first, err := neededFrom(ctx, s.db, m.UserID, s.now().Unix(), m.Before)

		return func(w Row) bool {
			return first >= m.Before && w.StartedAt < m.Before || max(w.StartedAt, w.IngestedAt) < m.Stored
		}, err
	})
	if errors.Is(err, account.ErrDeleted) { // all rows of the user are deleted
		return nil
	}

	return err
}

// MaxListed bounds the activities that History reads.
const MaxListed = 3000

// ErrTooManyListed is returned by History for a longer list.
var ErrTooManyListed = errors.New("there are too many activities to read them all from Strava")

// History reads from Strava the activities of a user that began from one time until another, epoch s, within
// ViewReads and the calls that the user's backfills have. It stores nothing. Errors: link.ErrNotConnected, link.ErrBroken,
// ErrTooManyListed, and those of Strava, of which Limited also means that the user has no calls left.
func (s *Ingester) History(ctx context.Context, userID string, from, until int64) (rows []Row, err error) {
	for page := 1; len(rows) <= MaxListed; page++ {
		if err := s.takeOfUser(ctx, userID, userBackfills); err != nil {
			return nil, err
		}

		var listed []strava.Activity

		err := s.call(ctx, userID, ViewReads, func(access string) (err error) {
			listed, err = s.link.Strava.Activities(ctx, access, time.Unix(from-1, 0), page)
			return err
		})
		if strava.Cause(err) != nil {
			if failed := s.giveBack(ctx, userID, userBackfills); failed != nil {
				return nil, failed
			}
		}

		if err != nil {
			return nil, err
		}

		for _, a := range listed {
			if a.StartDate.Unix() >= until {
				return rows, nil
			}

			w, _ := Row{}.apply(change{id: a.Key(), athlete: a.Athlete.ID, activity: &a}, item.User(userID), s.clock.Now())
			rows = append(rows, w)
		}

		if len(listed) == 0 {
			return rows, nil
		}
	}

	return nil, ErrTooManyListed
}

// OpenHistory opens the reader of the history, nil in a stage that keeps workouts as long as the connection.
func OpenHistory(ctx context.Context, env app.Env) (*Ingester, error) {
	if link.Retention(env) == 0 {
		return nil, nil
	}

	return OpenIngester(ctx, env)
}

// Reads is what a function uses that reads the history.
var (
	Reads        = append([]spec.Access{tables.TakeCalls, account.CheckDeleted}, ToStrava...)
	ReadsSecrets = secrets
	ReadsMetrics = []spec.Metric{link.StravaInactive}
	ReadsBudgets = append(ViewReads.Shares(), userBackfills.shares...)
)

// IsPassing reports whether History has failed for a reason that is no defect: the user is not connected, or
// Strava cannot be asked now.
func IsPassing(err error) bool {
	_, strange := errors.AsType[*strava.Error](err)
	return strange || errors.Is(err, link.ErrNotConnected) || errors.Is(err, link.ErrBroken) || errors.Is(err, ErrTooManyListed)
}

// dropPayloads removes what was once stored of activities beside the attributes of Row.
func (s *Ingester) dropPayloads(ctx context.Context, userID string) error {
	type old struct {
		PK      string `dynamodbav:"PK"`
		SK      string `dynamodbav:"SK"`
		Payload string `dynamodbav:"payloadJson,omitempty"`
	}

	has := dynamo.Exists[old]("payloadJson")
	r := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListWorkouts, item.User(userID), item.Workouts), Filter: &has, Limit: 500}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]old, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[old](ctx, s.db, tables.ListWorkouts, r)
	}) {
		if err != nil {
			return err
		}

		for _, w := range page {
			err := dynamo.Update(account.Require(ctx, userID), s.db, tables.StoreWorkouts, dynamo.Key(tables.StoreWorkouts, w.PK, w.SK),
				dynamo.Remove[old]("payloadJson"), dynamo.Exists[old]("PK"))
			if err := dynamo.IgnoreRefused(err); err != nil {
				return err
			}
		}
	}

	return nil
}
