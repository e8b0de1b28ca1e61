package milestone

import (
	"context"
	"errors"
	"log/slog"
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

// save writes what a milestone has carried forward, and since when it counts anew. Errors:
// milestone_version_conflict.
func (s *Service) save(ctx context.Context, r Row) (Row, error) {
	next := r
	next.Version++
	err := dynamo.Update(ctx, s.db, tables.SaveMilestone, dynamo.Key(tables.SaveMilestone, r.PK, r.SK),
		dynamo.Set(next, "carried", "countsAnewAtUtc", "version"), dynamo.Equal[Row]("version", r.Version))

	return next, dynamo.RefusedAs(err, errVersion)
}

// countAnew has the open ones of a user's milestones forget what they have carried forward, in place. If the
// user is connected, it has the history fetched for them. It does nothing where all workouts are kept.
func (s *Service) countAnew(ctx context.Context, userID string, rows []Row) (err error) {
	now, anew := s.now(), false

	for i, r := range rows {
		if r.From() != item.Strava || !r.IsOpen(now) || s.keeps == 0 && r.Carried == nil {
			continue
		}

		r.Carried, r.AnewAt, anew = nil, now.Unix(), true
		if rows[i], err = s.save(ctx, r); err != nil {
			return err
		}
	}

	if !anew {
		return nil
	}

	_, err = link.Read(ctx, s.db, userID)
	if errors.Is(err, link.ErrNotConnected) {
		return nil
	}

	if err != nil {
		return err
	}

	return s.queue.Send(ctx, link.BackfillQueue, link.Backfill{UserID: userID, Whole: true}, 0)
}

// hasHistory reports whether all workouts of the milestone have been fetched since it counts anew.
func (r Row) hasHistory(c link.Connection) bool { return r.AnewAt == 0 || c.WholeAt > r.AnewAt }

// expire carries forward, in each open milestone of a user, the workouts that are not to be kept any longer,
// and then has them deleted. It carries only workouts that a complete fetch would have found, as long as they may
// be kept. A milestone whose history is not complete carries nothing: its history is fetched, and its workouts
// stay as long as they may. If Strava has answered nobody for as long, each milestone counts anew. A second run
// finds them carried, and deletes what is left.
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
	last, due := now.Add(-s.keeps).Unix(), now.Add(workout.Margin-s.keeps).Unix()

	for _, e := range entries { // what has not settled waits for a later run, if it may be kept until then
		if s.settling > 0 && e.StoredAt > now.Add(-s.settling).Unix() {
			due = min(due, e.StartedAt)
		}
	}

	to := tally.Boundary(entries, max(last, min(due, c.FetchedAt)))
	fetch := link.Backfill{UserID: userID}

	for _, r := range rows {
		switch {
		case r.From() != item.Strava, !r.IsOpen(now), r.Start >= to, r.carried().To >= to:
			continue
		case c.FetchedAt < last: // what came since the last complete fetch may be older than what is kept
			if fetch.Whole = true; r.AnewAt >= due {
				continue
			}

			r.Carried, r.AnewAt = nil, now.Unix()
		case r.hasHistory(c):
			carried := tally.Carry(r.carried(), entries, r.Goal(), u.Counts, to)
			r.Carried = &carried
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

// counted is the workouts of a milestone's period, as far as they are known.
type counted struct {
	entries []tally.Entry
	names   map[string]string // of those that were read from Strava
	carried tally.Carried     // what is counted of others
}

// kept returns the workouts of a milestone that are kept.
func (s *Service) kept(ctx context.Context, r Row) (counted, error) {
	entries, err := s.entriesOf(ctx, r)
	carried := r.carried()

	return counted{slices.DeleteFunc(entries, func(e tally.Entry) bool { return e.StartedAt < carried.To }), nil, carried}, err
}

// withHistory returns the workouts that are kept, with those that are not from Strava. If Strava cannot be
// asked now, it returns c.
func (s *Service) withHistory(ctx context.Context, r Row, c counted) (counted, error) {
	if s.history == nil || c.carried.To == 0 {
		return c, nil
	}

	rows, err := s.history.History(ctx, r.UserID, r.Start, c.carried.To)
	if workout.IsPassing(err) {
		slog.InfoContext(ctx, "the history of a user cannot be read", "user", r.UserID, "err", err)
		return c, nil
	}

	out := counted{entries: slices.Clone(c.entries), names: map[string]string{}}
	for _, w := range rows {
		out.entries, out.names[w.ActivityID] = append(out.entries, w.Entry()), w.Name
	}

	return out, err
}

// carryAnew counts again, from Strava, what a milestone has carried forward, and writes it. If Strava cannot be
// asked now, it changes nothing. Errors: milestone_version_conflict.
func (s *Service) carryAnew(ctx context.Context, r Row, choice tally.Choice) (Row, error) {
	none := counted{carried: r.carried()}

	all, err := s.withHistory(ctx, r, none)
	if err != nil || all.carried.To == none.carried.To {
		return r, err
	}

	carried := tally.Carry(tally.Carried{}, all.entries, r.Goal(), choice, none.carried.To)
	r.Carried = &carried

	return s.save(ctx, r)
}

// moment returns a time, nil for 0.
func moment(epoch int64) *time.Time {
	if epoch == 0 {
		return nil
	}

	t := time.Unix(epoch, 0).UTC()

	return &t
}
