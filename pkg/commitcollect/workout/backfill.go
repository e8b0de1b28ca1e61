package workout

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// How far back a backfill looks.
const (
	// settled is how old an activity must be to be missed in a list: a younger one may not
	// be in it yet.
	settled = time.Hour
	// maxMissing is how many activities that the list lacks are looked for one by one.
	maxMissing = 50
)

// BackfillFunction fetches the history of a user from Strava.
func BackfillFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/backfill",
		Does:   "Fetches the history of a user from Strava.",
		IfDown: "Workouts before the connection, and those whose webhooks were lost, do not appear.",
		On:     link.BackfillQueue,
		Uses: slices.Concat([]spec.Access{tables.OpenMilestones, tables.ReadLedgers, tables.MarkSync, tables.TakeCalls,
			tables.ListWorkouts}, stores, ToStrava),
		Sends: []spec.Queue{link.BackfillQueue, EventQueue, ChangeQueue, link.PurgeQueue}, Secrets: secrets,
		Budgets: slices.Concat(backfillReads, userBackfills.shares),
		Memory:  512, Timeout: 5 * time.Minute,
	}, OpenIngester, (*Ingester).Backfill)
}

// Backfill copies the activities of a user from pages of the history, until a page is empty; a
// short page is not the last. If the calls of the user or of all users are used up, it continues
// with the same page when the next window begins. It requests one by one the workouts that are
// missing in the history, because the webhook of their deletion may have been lost.
//
// A second run reads the same pages, and writes only what differs.
func (s *Ingester) Backfill(ctx context.Context, m link.Backfill) error {
	began := s.clock.Now()
	if m.Page == 0 {
		after, err := s.begin(ctx, m)
		if errors.Is(err, link.ErrNotConnected) { // nothing is kept without a connection
			return s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: m.UserID}, 0)
		}

		if err != nil {
			return err
		}

		m.After, m.Page, m.Began = after, 1, began.Unix()
	}

	seen, whole := map[string]bool{}, m.Page == 1

	for {
		var page []strava.Activity
		// The user's calls first: a user without any left uses none of the others' calls.
		err := s.takeOfUser(ctx, m.UserID, userBackfills)

		own := err != nil // a limit is then the user's own, and no call was counted
		if !own {
			err = s.call(ctx, m.UserID, backfillReads, func(access string) (err error) {
				page, err = s.link.Strava.Activities(ctx, access, time.Unix(m.After, 0), m.Page)
				return err
			})
		}

		limited, _ := errors.AsType[*strava.Error](err)
		switch {
		case errors.Is(err, link.ErrBroken), errors.Is(err, link.ErrNotConnected):
			// The user connects again, and the history is fetched again.
			return s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID})
		case strava.Is(err, strava.Limited):
			if !own {
				if err := s.giveBack(ctx, m.UserID, userBackfills); err != nil {
					return err
				}
			}

			return s.queue.Send(ctx, link.BackfillQueue, m, limited.RetryAfter)
		case errors.Is(err, account.ErrDeleted):
			return nil
		case err != nil:
			return err
		}

		if len(page) == 0 {
			break
		}

		changes := make([]change, len(page))
		for i, a := range page {
			changes[i] = change{
				id:        a.Key(),
				athlete:   a.Athlete.ID,
				activity:  &a,
				aspect:    "create",
				eventTime: m.Began,
				listed:    true,
			}
			seen[a.Key()] = true
		}

		if err := store(ctx, s.db, m.UserID, changes, s.clock.Now()); err != nil {
			if errors.Is(err, account.ErrDeleted) {
				return nil
			}

			return err
		}

		m.Page++
	}

	if m.Whole {
		if err := s.dropPayloads(ctx, m.UserID); err != nil {
			return err
		}
	}

	if whole {
		if err := s.lookForMissing(ctx, m, seen); err != nil {
			return err
		}
	}

	if err := s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID}); err != nil {
		return err
	}

	ended, names := link.Connection{FetchedAt: m.Began, WholeAt: m.Began}, []string{"fetchedAtUtc"}
	if m.Whole {
		names = append(names, "wholeAtUtc")
	}

	key := dynamo.Key(tables.MarkSync, item.User(m.UserID), item.Connection)

	return dynamo.IgnoreRefused(dynamo.Update(ctx, s.db, tables.MarkSync, key, dynamo.Set(ended, names...),
		dynamo.Exists[link.Connection]("PK")))
}

// begin returns the time after which activities are fetched, epoch s: for the whole history the start
// of the year, or of the earliest milestone that is open.
func (s *Ingester) begin(ctx context.Context, m link.Backfill) (int64, error) {
	c, err := link.Read(ctx, s.db, m.UserID)
	if err != nil {
		return 0, err
	}

	if s.keeps > 0 {
		return s.beginOfKept(ctx, m, c)
	}

	if !m.Whole && c.FetchedAt != 0 {
		return c.FetchedAt - int64(item.Late.Seconds()), nil
	}

	now := s.clock.Now()
	first := HistoryFrom(now)

	_, milestones, err := item.Listed[struct {
		item.Life
		Start  int64       `dynamodbav:"periodStartAtUtc"`
		Source item.Source `dynamodbav:"source"`
	}](ctx, s.db, m.UserID)
	for _, milestone := range milestones {
		if milestone.IsOpen(now) && milestone.Source != item.Phone {
			first = min(first, milestone.Start)
		}
	}

	return first, err
}

// HistoryFrom returns the time from which the history of every user is fetched, epoch s: the begin
// of the year in the easternmost time zone.
func HistoryFrom(now time.Time) int64 {
	return time.Date(now.UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC).Add(-24 * time.Hour).Unix()
}

// lookForMissing sends an event for each stored workout that is missing in the list. The handler of
// the event requests the activity. It skips the workouts of an athlete who is not connected any
// more.
func (s *Ingester) lookForMissing(ctx context.Context, m link.Backfill, seen map[string]bool) error {
	c, err := link.Read(ctx, s.db, m.UserID)
	if errors.Is(err, link.ErrNotConnected) {
		return nil
	}

	if err != nil {
		return err
	}

	entries, err := Entries(ctx, s.db, m.UserID, m.After)
	if err != nil {
		return err
	}

	var keys []dynamo.Item

	for _, e := range entries {
		if !e.Deleted && !seen[e.ActivityID] && e.StartedAt > m.After && e.StartedAt <= m.Began-int64(settled.Seconds()) {
			keys = append(keys, dynamo.Key(tables.GetWorkouts, item.User(m.UserID), item.Workout(e.ActivityID)))
		}
	}

	rows, err := dynamo.GetAll[Row](ctx, s.db, tables.GetWorkouts, keys)
	if err != nil {
		return err
	}

	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.AthleteID != c.AthleteID })
	if len(rows) > maxMissing { // tomorrow's run looks for the next
		slog.WarnContext(ctx, "Strava's list lacks many activities", "user", m.UserID)

		rows = rows[:maxMissing]
	}

	events := make([]Event, len(rows))
	for i, r := range rows {
		events[i] = newEvent(c.AthleteID, r.ActivityID, m.Began)
	}

	return queue.SendAll(ctx, s.queue, EventQueue, events)
}

// Reconciler is the service of the sync.
type Reconciler struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
	keeps time.Duration // workouts, 0 for as long as the connection
}

// OpenReconciler opens the service.
func OpenReconciler(_ context.Context, env app.Env) (*Reconciler, error) {
	return &Reconciler{dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues), env.Now, link.Retention(env)}, nil
}

// brokenFor is how long a connection may be broken before its workouts are deleted. A
// connection that was revoked is found broken by the next night, and purged by the run
// after that, twelve hours later.
const brokenFor = 11 * time.Hour

// ReconcileFunction requests the latest activities of every connected user.
func ReconcileFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "commitcollect/reconcile",
		Does:   "Has the latest activities of every connected user fetched in the night, and ends connections that are broken.",
		IfDown: "Workouts whose webhooks were lost do not appear, or are kept after a revocation or for longer than the operator has set.",
		On:     spec.Schedule("cron(0 3,15 * * ? *)"),
		Uses:   []spec.Access{tables.AllConnected}, Sends: []spec.Queue{link.BackfillQueue, link.PurgeQueue, NoticeQueue, ChangeQueue},
		Memory: 256, Timeout: 5 * time.Minute,
	}, OpenReconciler, (*Reconciler).Reconcile)
}

// Reconcile requests, in the night, the latest activities of every connected user, and once a week
// the whole history, because the event of a change or a deletion of an old activity may have been
// lost. In each run it notifies users whose connection is broken, and ends those connections that have
// been broken for long, because the event of their revocation may have been lost; and it has workouts expire,
// if the stage keeps them for some days only. A second run sends the same messages again; a phone displays the
// notice once.
func (s *Reconciler) Reconcile(ctx context.Context) error {
	now := s.now().UTC()
	night, today := now.Hour() < 12, int(now.Unix()/int64((24*time.Hour).Seconds())%7)

	for shard := range item.Shards {
		r := dynamo.Range{Key: dynamo.KeyIs(tables.AllConnected, item.Connected(shard))}

		for users, err := range dynamo.Pages(func(after dynamo.Item) ([]link.Listed, dynamo.Item, error) {
			r.After = after
			return dynamo.Query[link.Listed](ctx, s.db, tables.AllConnected, r)
		}) {
			if err == nil {
				err = s.expire(ctx, users)
			}

			if err != nil {
				return err
			}

			var (
				fetches []link.Backfill
				purges  []link.Purge
				notices []Notice
			)

			for _, u := range users {
				switch {
				case u.BrokenAt == 0 && night:
					fetches = append(fetches, link.Backfill{UserID: u.UserID, Whole: shard%7 == today})
				case u.BrokenAt != 0 && u.BrokenAt <= now.Add(-brokenFor).Unix():
					purges = append(purges, link.Purge{UserID: u.UserID, Broken: true})
				}

				if u.BrokenAt != 0 {
					notices = append(notices, Notice{UserID: u.UserID, Reconnect: true})
				}
			}

			// The notices first: they are only of connections that exist.
			err := errors.Join(queue.SendAll(ctx, s.queue, NoticeQueue, notices),
				queue.SendAll(ctx, s.queue, link.BackfillQueue, fetches), queue.SendAll(ctx, s.queue, link.PurgeQueue, purges))
			if err != nil {
				return err
			}
		}
	}

	return nil
}
