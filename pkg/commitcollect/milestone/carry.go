package milestone

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/dynamo"
)

// This file is what milestones do in a stage that keeps workouts for some days only. See the package's
// description.

// carried returns what the milestone has carried forward.
func (r Row) carried() tally.Carried {
	if r.Carried == nil {
		return tally.Carried{}
	}

	return *r.Carried
}

// save writes what a milestone has carried forward, since when it counts anew, and until when it is held. Errors:
// milestone_version_conflict.
func (s *Service) save(ctx context.Context, r Row) (Row, error) {
	next := r
	next.Version++
	err := dynamo.Update(ctx, s.db, tables.SaveMilestone, dynamo.Key(tables.SaveMilestone, r.PK, r.SK),
		dynamo.Set(next, "carried", "countsAnewAtUtc", "heldUntilUtc", "version"), dynamo.Equal[Row]("version", r.Version))

	return next, dynamo.RefusedAs(err, errVersion)
}

// anewDelay is how long the history waits for the milestones to be written that count anew: a fetch before would not
// reach back far enough. It is the timeout of the function that writes them.
const anewDelay = 30 * time.Second

// countAnew has the open ones of a user's milestones that which chooses forget what they have carried forward, in place. If
// the user is connected, it has the history fetched for them. It does nothing where all workouts are kept.
func (s *Service) countAnew(ctx context.Context, userID string, rows []Row, which func(Row) bool) error {
	now := s.now()
	goes := func(r Row) bool {
		return r.From() == item.Strava && r.IsOpen(now) && (s.keeps > 0 || r.Carried != nil) && which(r)
	}

	if !slices.ContainsFunc(rows, goes) {
		return nil
	}

	_, err := link.Read(ctx, s.db, userID)
	if err == nil { // the message first: what a row has carried is the only sign that it is needed
		err = s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: userID, Whole: true}, anewDelay)
	}

	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return err
	}

	for i, r := range rows {
		if !goes(r) {
			continue
		}

		r.Carried, r.AnewAt = nil, s.now().Unix()
		if rows[i], err = s.save(ctx, r); err != nil {
			return err
		}
	}

	return nil
}

// countOutdated has those of a user's milestones count anew, in place, that may have carried forward one of the workouts
// that are kept, or have carried what counted before the user chose what counts.
func (s *Service) countOutdated(ctx context.Context, u item.UserRow, rows []Row, entries []tally.Entry) error {
	return s.countAnew(ctx, u.UserID, rows, func(r Row) bool {
		return r.carried().MayRepeat(entries) || r.Carried != nil && r.AnewAt < u.CountsAt
	})
}

// hasHistory reports whether all workouts of the milestone have been fetched since it counts anew.
func (r Row) hasHistory(c link.Connection) bool { return r.AnewAt == 0 || c.WholeAt > r.AnewAt }

// expire carries forward the workouts of a user that are not to be kept any longer, into each milestone that is open
// or was held lately, and then has them deleted. It carries only workouts that a complete fetch would have found, as
// long as they may be kept. A milestone whose history is not complete carries nothing: its history is fetched, and its
// workouts stay as long as they may. If Strava has answered nobody for as long, each milestone counts anew. A second
// run finds them carried, and deletes what is left.
func (s *Service) expire(ctx context.Context, userID string) error {
	c, err := link.Read(ctx, s.db, userID)
	if s.keeps == 0 || errors.Is(err, link.ErrNotConnected) {
		return nil
	}

	if err != nil {
		return err
	}

	u, err := item.ReadUser(ctx, s.db, userID)
	if errors.Is(err, item.ErrNoUser) { // the account was deleted
		return nil
	}

	if err != nil {
		return err
	}

	_, rows, err := item.Listed[Row](ctx, s.db, userID)
	if err != nil {
		return err
	}

	entries, err := workout.Entries(ctx, s.db, userID, 0)
	if err != nil {
		return err
	}

	now := s.now().Truncate(time.Hour) // a second run carries the same
	last, due := now.Add(workout.Sweep-s.keeps).Unix(), now.Add(workout.Margin-s.keeps).Unix()

	for _, e := range entries { // what has not settled waits for a later run, if it may be kept until then
		if s.settling > 0 && e.StoredAt > now.Add(-s.settling).Unix() {
			due = min(due, e.StartedAt)
		}
	}

	to := tally.Boundary(entries, max(last, min(due, c.FetchedAt)))
	fetch := link.Backfill{UserID: userID}

	for _, r := range rows {
		switch {
		case r.From() != item.Strava, !r.IsOpen(now) && !r.wasHeld(now), r.Start >= to, r.carried().To >= to:
			continue
		case c.FetchedAt < last: // what came since the last complete fetch may be older than what is kept
			if fetch.Whole = true; r.AnewAt >= due {
				continue
			}

			r.Carried, r.AnewAt = nil, now.Unix()
		case r.hasHistory(c):
			r.Carried = s.carry(r, entries, u.Counts, to)
		default:
			if fetch.Whole = true; r.AnewAt >= due {
				continue
			}

			r.AnewAt = now.Unix() // some of its workouts are deleted now
		}

		if _, err := s.save(ctx, r); err != nil {
			return err
		}
	}

	if fetch.Whole || c.FetchedAt < due {
		if err := s.queue.Send(ctx, link.BackfillQueue, fetch, 0); err != nil {
			return err
		}
	}

	return s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: userID, Before: to, Stored: last}, 0)
}

// carry adds to what the milestone has carried the workouts that began before to, epoch s. What has not settled is kept
// apart until it has.
func (s *Service) carry(r Row, entries []tally.Entry, choice tally.Choice, to int64) *tally.Carried {
	g, was, now := r.Goal(), r.carried(), s.now()
	carried, due := tally.Carry(was.At(math.MaxInt64), entries, g, choice, to), was.DueAt

	for _, e := range entries {
		if s.settling > 0 && e.StartedAt >= was.To && e.StartedAt < to {
			due = max(due, e.StoredAt+int64(s.settling.Seconds()))
		}
	}

	if due > now.Unix() {
		settled := tally.Carry(was.At(now.Unix()), tally.StoredUntil(entries, now.Add(-s.settling).Unix()), g, choice, to)
		carried.Settled, carried.DueAt = &settled, due
	}

	return &carried
}

// counted is the workouts of a milestone's period, as far as they are known.
type counted struct {
	entries []tally.Entry
	names   map[string]string // of those that were read from Strava
	carried tally.Carried     // what is counted of others
	from    int64             // workouts that began before are not all known, epoch s; 0 if all are
}

// kept returns the workouts of a milestone that are kept.
func (s *Service) kept(ctx context.Context, r Row) (counted, error) {
	entries, err := s.entriesOf(ctx, r)
	carried := r.carried()
	entries = slices.DeleteFunc(entries, func(e tally.Entry) bool { return e.StartedAt < carried.To })

	from := s.keptFrom(r)
	if err == nil && r.AnewAt != 0 && r.IsOpen(s.now()) && s.keeps > 0 && r.From() == item.Strava {
		var c link.Connection
		if c, err = link.Read(ctx, s.db, r.UserID); errors.Is(err, link.ErrNotConnected) {
			err = nil
		}

		if !r.hasHistory(c) { // nothing else is kept of its history
			from = s.deletedUntil(r, workout.Margin)
		}
	}

	return counted{entries, nil, carried, from}, err
}

// keptFrom returns the time, epoch s, from which a milestone's workouts are kept, 0 if all are. An open one has
// carried the others forward. One that is closed carries nothing, and those that came since its last carry are
// deleted; keptFrom is then later than the last of these by Margin, so that Boundary can look back.
func (s *Service) keptFrom(r Row) int64 {
	now := s.now()
	if s.keeps == 0 || r.From() != item.Strava || r.IsOpen(now) || r.isSettling(now) {
		return r.carried().To
	}

	return s.deletedUntil(r, 2*workout.Margin)
}

// deletedUntil returns the time, epoch s, until which workouts of a milestone may be deleted that it has not carried
// forward, some days before now and so much later; that of the carried ones if these are all.
func (s *Service) deletedUntil(r Row, later time.Duration) int64 {
	from := s.now().Add(later - s.keeps).Unix()
	if end := r.EndsAt(); !end.IsZero() {
		from = min(from, end.Unix())
	}

	if from <= r.Start {
		return r.carried().To
	}

	return max(r.carried().To, from)
}

// withHistory returns the workouts that are kept, with those that are not from Strava. If Strava cannot be
// asked now, it returns c.
func (s *Service) withHistory(ctx context.Context, r Row, c counted) (counted, error) {
	if s.history == nil || c.from == 0 {
		return c, nil
	}

	rows, err := s.history.History(ctx, r.UserID, r.Start, c.from)
	if workout.IsPassing(err) {
		slog.InfoContext(ctx, "the history of a user cannot be read", "user", r.UserID, "err", err)
		return c, nil
	}

	out := counted{names: map[string]string{}}

	for _, e := range c.entries {
		if e.StartedAt >= c.from {
			out.entries = append(out.entries, e)
		}
	}

	for _, w := range rows {
		w.CountedAt = 0 // when it arrived is not known
		out.entries, out.names[w.ActivityID] = append(out.entries, w.Entry()), w.Name
	}

	return out, err
}

// carryAnew counts again, from Strava, what a milestone has carried forward, and writes it. A completed one also
// carries what came later and is not kept. What has changed of an open one settles as a workout that has changed now.
// entries are its workouts that are kept. If Strava cannot be asked now,
// carryAnew changes nothing; all is then false if some workouts are neither kept nor carried. Errors:
// milestone_version_conflict.
func (s *Service) carryAnew(ctx context.Context, r Row, entries []tally.Entry, choice tally.Choice) (next Row, all bool, err error) {
	c := counted{entries: entries, carried: r.carried(), from: s.keptFrom(r)}

	known, err := s.withHistory(ctx, r, c)
	if err != nil || known.from != 0 || c.from == 0 {
		return r, c.from == c.carried.To, err
	}

	g, to := r.Goal(), c.from
	counts := slices.DeleteFunc(known.entries, func(e tally.Entry) bool { return len(tally.Why(e, g, choice)) > 0 })

	if to > c.carried.To { // a later workout may be a twin of an earlier one
		to = max(c.carried.To, tally.Boundary(counts, to))
	}

	carried, was, now := tally.Carry(tally.Carried{}, counts, g, choice, to), r.carried(), s.now()
	switch {
	case r.Status == Completed:
	case !carried.Equal(was): // since when it is so is not known
		settled := was.At(now.Unix())
		carried.Settled, carried.DueAt = &settled, now.Add(s.settling).Unix()
	default:
		carried.Settled, carried.DueAt = was.Settled, was.DueAt
	}

	r.Carried = &carried
	next, err = s.save(ctx, r)

	return next, true, err
}

// moment returns a time, nil for 0.
func moment(epoch int64) *time.Time {
	if epoch == 0 {
		return nil
	}

	t := time.Unix(epoch, 0).UTC()

	return &t
}
