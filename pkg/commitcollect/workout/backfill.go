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
	// maxMissing is how many activities that the list lacks a run looks for one by one.
	maxMissing = 50
)

// BackfillFunction fetches the history of a user from Strava.
func BackfillFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/backfill",
		Does:   "Fetches the history of a user from Strava.",
		IfDown: "Workouts before the connection, and those whose webhooks were lost, do not appear.",
		On:     link.BackfillQueue,
		Uses: slices.Concat([]spec.Access{tables.OpenMilestones, tables.ReadLedgers, tables.MarkSync, tables.MarkFetch, tables.TakeCalls,
			tables.ListWorkouts}, stores, ToStrava),
		Sends: []spec.Queue{link.BackfillQueue, EventQueue, ChangeQueue, link.PurgeQueue}, Secrets: secrets,
		Budgets: slices.Concat(ImportReads.Shares(), SyncReads.Shares(), userBackfills.shares), Emits: []spec.Metric{link.StravaInactive},
		Memory: 512, Timeout: 5 * time.Minute,
	}, OpenIngester, (*Ingester).Backfill)
}

// Backfill copies the activities of a user from pages of the history, until a page is empty; a
// short page is not the last. If the calls of the user or of all users are used up, it continues
// after what it has stored when the next window begins; if Strava is unavailable or the application
// inactive, later. It requests one by one the workouts that are missing in the history, because the
// webhook of their deletion may have been lost: each run those of the time that it has listed, because a
// list is the oldest first. If there are too many in the whole history, the next sync of all users looks for the others.
//
// A backfill that has waited for a day ends: the next sync of all users requests another, before those
// of other users. One that this sync requested ends when the next sync is due, or when its part of
// the day is used up: its user is then among the first of the next sync.
//
// A second run reads the same pages, and writes only what differs. A second message of the same sync
// makes no calls after the first is done.
func (s *Ingester) Backfill(ctx context.Context, m link.Backfill) error {
	began := s.clock.Now()
	if m.Asked != 0 && began.Sub(time.Unix(m.Asked, 0)) >= SyncPatience {
		return s.giveUpBackfill(ctx, m)
	}

	if m.Page == 0 {
		c, after, err := s.begin(ctx, m)
		if errors.Is(err, link.ErrNotConnected) { // nothing is kept without a connection
			return s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: m.UserID}, 0)
		}

		if err != nil {
			return err
		}

		if m.Seen != 0 && c.FetchedAt > m.Seen { // another message of the run was first, or the user; or it died after its fetch
			if err := s.markFetched(ctx, m.UserID, c.FetchedAt, c.WholeAt); err != nil {
				return err
			}

			return s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID})
		}

		m.Whole = m.Whole || c.FetchedAt == 0
		m.After, m.Page, m.Began, m.Known = after, 1, began.Unix(), c.KnownAt()
	}

	part := ImportReads
	if m.Asked != 0 {
		part = SyncReads
	}

	listed := listing{seen: map[string]bool{}, whole: m.Page == 1}

	for {
		var page []strava.Activity
		// The user's calls first: a user without any left uses none of the others' calls.
		err := s.takeOfUser(ctx, m.UserID, userBackfills)

		own := err != nil // a limit is then the user's own, and no call was counted
		if !own {
			err = s.call(ctx, m.UserID, part, func(access string) (err error) {
				page, err = s.link.Strava.Activities(ctx, access, time.Unix(m.After, 0), m.Page)
				return err
			})
		}

		cause := strava.Cause(err)
		switch {
		case errors.Is(err, link.ErrBroken), errors.Is(err, link.ErrNotConnected):
			// The user connects again, and the history is fetched again.
			return s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID})
		case cause != nil:
			if !own {
				if err := s.giveBack(ctx, m.UserID, userBackfills); err != nil {
					return err
				}
			}

			return s.backfillLater(ctx, m, listed, cause)
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
			listed.add(a)
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

	if err := s.lookForMissing(ctx, m, listed, m.Began); err != nil {
		return err
	}

	if err := s.endBackfill(ctx, m); err != nil { // before the message, whose receiver must know of it
		return err
	}

	return s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID})
}

// listing is what a run of a backfill has listed.
type listing struct {
	seen  map[string]bool // activities
	last  int64           // when the last of them began, epoch s; 0 if there are none
	whole bool            // all since Backfill.After: not if a message of before continues with a later page
}

func (l *listing) add(a strava.Activity) {
	l.seen[a.Key()] = true
	l.last = max(l.last, a.StartDate.Unix())
}

// endBackfill stores that a backfill is complete: at the connection, for the user, and in the list of
// connected users, for Reconcile.
func (s *Ingester) endBackfill(ctx context.Context, m link.Backfill) error {
	key := dynamo.Key(tables.MarkSync, item.User(m.UserID), item.Connection)

	names := []string{"fetchedAtUtc"}
	if m.Whole {
		names = append(names, "wholeAtUtc")
	}

	now := s.clock.Now()
	if m.Known != 0 && now.Sub(time.Unix(m.Known, 0)) > link.Silence {
		names = append(names, "silentFromUtc", "silentToUtc")
	}

	is := link.Connection{FetchedAt: m.Began, WholeAt: m.Began, SilentFrom: m.Known, SilentTo: now.Unix()}

	err := dynamo.Update(ctx, s.db, tables.MarkSync, key, dynamo.Set(is, names...), dynamo.Exists[link.Connection]("PK"))
	if dynamo.IgnoreRefused(err) != nil {
		return err
	}

	whole := int64(0)
	if m.Whole {
		whole = m.Began
	}

	return s.markFetched(ctx, m.UserID, m.Began, whole)
}

// markFetched stores in the list of connected users when the last fetch of a user began, and the last of the whole
// history, unless that is 0. A fetch that dies before it is marked when it runs again: a user whose connection has a
// later time than the list would be passed over by every sync.
func (s *Ingester) markFetched(ctx context.Context, userID string, fetched, whole int64) error {
	changes := dynamo.Set(link.Listed{FetchedAt: fetched}, "fetchedAtUtc")
	if whole != 0 {
		changes = changes.SetNumber("wholeAtUtc", whole)
	}

	key := dynamo.Key(tables.MarkFetch, item.Connected(item.Shard(userID)), item.User(userID))

	return dynamo.IgnoreRefused(dynamo.Update(ctx, s.db, tables.MarkFetch, key, changes, dynamo.Exists[link.Listed]("PK")))
}

// SyncPatience is how long a backfill of a sync waits: until the next sync requests others.
const SyncPatience = 11 * time.Hour

// backfillLater has a backfill continue when Strava can be called again, or ends it. It continues with what began in the
// same second as the last activity that is listed, because not all of that may be.
func (s *Ingester) backfillLater(ctx context.Context, m link.Backfill, listed listing, cause *strava.Error) error {
	next, delay, ok := m.Next(cause, s.clock.Now(), Patience)
	if m.Asked != 0 && cause.Kind == strava.Limited && cause.RetryAfter > readsOfQuarter.Per {
		ok = false
	}

	if !ok {
		return s.giveUpBackfill(ctx, m)
	}

	m.Wait = next

	if listed.last != 0 {
		until := listed.last - 1
		if err := s.lookForMissing(ctx, m, listed, until); err != nil {
			return err
		}

		m.After, m.Page, m.Stored = until, 1, true
	}

	return s.queue.Send(ctx, link.BackfillQueue, m, delay)
}

// giveUpBackfill ends a backfill that is not complete. Its pages count.
func (s *Ingester) giveUpBackfill(ctx context.Context, m link.Backfill) error {
	if m.Asked == 0 {
		slog.WarnContext(ctx, "a backfill has waited too long for Strava", "user", m.UserID)

		if err := s.suspect(ctx, m.UserID, s.clock.Now().Unix()); err != nil {
			return err
		}
	}

	if m.Asked != 0 && m.Page < 2 && !m.Stored { // nothing was stored
		return nil
	}

	return s.queue.SendFIFO(ctx, ChangeQueue, m.UserID, Changed{UserID: m.UserID})
}

// begin returns the connection, and the time after which activities are fetched, epoch s: for the whole
// history the start of the year, or of the earliest milestone that was open at the last complete backfill.
func (s *Ingester) begin(ctx context.Context, m link.Backfill) (link.Connection, int64, error) {
	c, err := link.Read(ctx, s.db, m.UserID)
	if err != nil {
		return c, 0, err
	}

	if s.keeps > 0 {
		first, err := s.beginOfKept(ctx, m, c)
		return c, first, err
	}

	if !m.Whole && c.FetchedAt != 0 {
		return c, c.FetchedAt - int64(item.Late.Seconds()), nil
	}

	first := HistoryFrom(s.clock.Now())

	_, milestones, err := item.Listed[struct {
		item.Life
		Start  int64       `dynamodbav:"periodStartAtUtc"`
		Source item.Source `dynamodbav:"source"`
	}](ctx, s.db, m.UserID)
	for _, milestone := range milestones {
		if milestone.IsOpen(time.Unix(c.KnownAt(), 0)) && milestone.Source != item.Phone {
			first = min(first, milestone.Start)
		}
	}

	return c, first, err
}

// HistoryFrom returns the time from which the history of every user is fetched, epoch s: the begin
// of the year in the easternmost time zone.
func HistoryFrom(now time.Time) int64 {
	return time.Date(now.UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC).Add(-24 * time.Hour).Unix()
}

// lookForMissing sends an event for each stored workout that began until a time, epoch s, and is missing in the list. The
// handler of the event requests the activity. It skips the workouts of an athlete who is not connected any more.
func (s *Ingester) lookForMissing(ctx context.Context, m link.Backfill, listed listing, until int64) error {
	if !listed.whole {
		return nil
	}

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

	until = min(until, m.Began-int64(settled.Seconds()))

	for _, e := range entries {
		if !e.Deleted && !listed.seen[e.ActivityID] && e.StartedAt > m.After && e.StartedAt <= until {
			keys = append(keys, dynamo.Key(tables.GetWorkouts, item.User(m.UserID), item.Workout(e.ActivityID)))
		}
	}

	rows, err := dynamo.GetAll[Row](ctx, s.db, tables.GetWorkouts, keys)
	if err != nil {
		return err
	}

	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.AthleteID != c.AthleteID })
	if len(rows) > maxMissing {
		slog.WarnContext(ctx, "Strava's list lacks many activities", "user", m.UserID)

		rows = rows[:maxMissing]

		if m.Whole { // any other fetch is soon followed by one of the same time
			if err := s.suspect(ctx, m.UserID, m.Began+1); err != nil {
				return err
			}
		}
	}

	events := make([]Event, len(rows))
	for i, r := range rows {
		events[i] = newEvent(c.AthleteID, r.ActivityID, m.Began)
	}

	return queue.SendAll(ctx, s.queue, EventQueue, events)
}
