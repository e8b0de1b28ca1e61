package milestone

import (
	"context"
	"errors"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
)

// hold has the milestones of a user, in place, that would have ended while Strava was not asked stay open until a
// complete backfill, and then end. A second run changes nothing. Errors: milestone_version_conflict.
func (s *Service) hold(ctx context.Context, userID string, rows []Row, now time.Time) error {
	late := func(r Row) bool {
		until := r.LateUntil()
		return r.From() == item.Strava && r.Status == Active && !until.IsZero() && !now.Before(until)
	}
	if !slices.ContainsFunc(rows, late) {
		return nil
	}

	c, err := link.Read(ctx, s.db, userID)
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return err
	}

	for i, r := range rows {
		if !late(r) {
			continue
		}

		held := r.heldUntil(c)
		if held == 0 {
			held = min(r.HeldUntil, now.Unix()) // the connection that it waited for has ended
		}

		if held == r.HeldUntil {
			continue
		}

		r.HeldUntil = held

		if rows[i], err = s.save(ctx, r); err != nil {
			return err
		}
	}

	return nil
}

// heldUntil returns until when workouts count that arrive after LateUntil, epoch s: for MaxHeld if there was no
// complete backfill for link.Silence, but not after the next one. It returns 0 if there was one.
func (r Row) heldUntil(c link.Connection) int64 {
	late := r.LateUntil()
	missed := func(known int64) bool { return known != 0 && late.Sub(time.Unix(known, 0)) > link.Silence }
	most := late.Add(item.MaxHeld).Unix()

	switch {
	case missed(c.KnownAt()):
		return most
	case missed(c.SilentFrom) && late.Unix() <= c.SilentTo:
		return min(c.SilentTo, most)
	}

	return 0
}

// wasHeld reports whether a milestone has ended after it was held open. What has arrived until then counts.
func (r Row) wasHeld(now time.Time) bool { return r.State(now) == Ended && r.HeldUntil != 0 }
