package milestone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// EvaluateMilestonesFunction computes the milestones of a user whose workouts have changed, and
// mints the parts that they earn.
func EvaluateMilestonesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/evaluate-milestones",
		Does:   "Computes the milestones of a user whose workouts have changed, and mints the parts that they earn.",
		IfDown: "Workouts earn no parts.",
		On:     workout.ChangeQueue,
		Uses: append([]spec.Access{tables.OpenMilestones, tables.CloseMilestones, tables.ReadLedgers, tables.GetConnection,
			account.CheckDeleted}, evaluates...),
		Sends:   []spec.Queue{workout.NoticeQueue, SettleQueue, link.BackfillQueue, link.PurgeQueue},
		Emits:   []spec.Metric{PartsMissing},
		Memory:  256,
		Timeout: anewDelay,
	}, Open, (*Service).EvaluateMilestones)
}

// EvaluateMilestones computes the active milestones of a user whose workouts may have
// changed, and mints the parts that settled workouts earn. For the others it sends a message for the time
// at which they settle. It takes milestones that are closed off the list, so that later workouts do not
// read them. A second run finds the parts minted, and sends notices again that
// were not recorded. With m.Expire it then carries forward what is not to be kept any longer.
func (s *Service) EvaluateMilestones(ctx context.Context, m workout.Changed) error {
	list, rows, err := item.Listed[Row](ctx, s.db, m.UserID)
	if err != nil || len(list.IDs) == 0 && !m.Expire {
		return err
	}

	if m.Anew {
		if err := s.countAnew(ctx, m.UserID, rows, func(Row) bool { return true }); err != nil {
			return err
		}
	}

	now := s.now()
	if err := s.hold(ctx, m.UserID, rows, now); err != nil {
		return err
	}

	var (
		failed error // of one milestone, which the others do not wait for
		counts []Row
	)

	for _, r := range rows {
		switch state := r.State(now); {
		case state == Active, r.isSettling(now), r.wasHeld(now):
			counts = append(counts, r)
		case state != Paused:
			if _, err := s.notice(ctx, r); err != nil {
				failed = errors.Join(failed, fmt.Errorf("milestone %s: %w", r.MilestoneID, err))
			}
		}
	}

	if err := s.count(ctx, m.UserID, counts); err != nil {
		return errors.Join(failed, err)
	}

	if failed == nil {
		failed = s.close(ctx, m.UserID, list, rows, now)
	}

	if failed == nil && m.Expire {
		failed = s.expire(ctx, m.UserID)
	}

	return failed
}

// count computes milestones of a user, those of each source from its workouts since the first of them
// began.
func (s *Service) count(ctx context.Context, userID string, rows []Row) (failed error) {
	bySource := map[item.Source][]Row{}
	for _, r := range rows {
		bySource[r.From()] = append(bySource[r.From()], r)
	}

	sent := map[int64]bool{}

	for source, rows := range bySource {
		first := slices.MinFunc(rows, func(a, b Row) int { return cmp.Compare(a.Start, b.Start) }).Start

		entries, u, err := s.workouts(ctx, source, userID, first)
		if errors.Is(err, item.ErrNoUser) { // the account was deleted
			return nil
		}

		if err != nil {
			return errors.Join(failed, err)
		}

		if err := s.countOutdated(ctx, u, rows, entries); err != nil {
			return errors.Join(failed, err)
		}

		for _, r := range rows {
			again := func() ([]tally.Entry, tally.Choice, error) {
				entries, u, err := s.workouts(ctx, source, userID, r.Start)
				return entries, u.Counts, err
			}

			_, _, err := s.evaluate(ctx, r, s.sum(r, entries, u.Counts), again, sent)
			if errors.Is(err, account.ErrDeleted) {
				return nil
			}

			if err != nil && !errors.Is(err, errNotFound) {
				failed = errors.Join(failed, fmt.Errorf("milestone %s: %w", r.MilestoneID, err))
			}
		}
	}

	return failed
}

// close takes the milestones that were closed when rows were read, and those that do not exist, off
// the list. One that has notices to send stays. If the list has changed since, the next computation
// does it.
func (s *Service) close(ctx context.Context, userID string, list dynamo.List, rows []Row, now time.Time) error {
	stays := map[string]bool{}
	for _, r := range rows {
		held := r.wasHeld(now) && now.Sub(time.Unix(r.HeldUntil, 0)) < maxSettling // what has arrived settles
		stays[r.MilestoneID] = r.IsOpen(now) || r.isSettling(now) || held || r.Noticed < r.Awarded
	}

	next := list
	next.IDs = slices.DeleteFunc(slices.Clone(list.IDs), func(id string) bool { return !stays[id] })

	if len(next.IDs) == len(list.IDs) {
		return nil
	}

	return dynamo.IgnoreRefused(dynamo.Update(account.Require(ctx, userID), s.db, tables.CloseMilestones,
		dynamo.Key(tables.CloseMilestones, item.User(userID), item.MilestoneList), dynamo.Set(next, "ids"), dynamo.Unchanged(list, "ids")))
}

// workouts returns the entries of a user's workouts of a source from the month of a time, and the user, who has chosen
// what counts.
func (s *Service) workouts(ctx context.Context, source item.Source, userID string, from int64) ([]tally.Entry, item.UserRow, error) {
	u, err := item.ReadUser(ctx, s.db, userID)
	if err != nil {
		return nil, u, err
	}

	entries, err := workout.EntriesOf(ctx, s.db, source, userID, from, workout.EndOfTime)

	return entries, u, err
}

// evaluate writes the progress of a milestone, and mints the parts that settled workouts have earned. It
// returns the milestone and the number of new parts. sent has the times for which a message was sent. If a
// concurrent write changes the milestone first, it reads the milestone again, and then its workouts, by
// again. Errors: milestone_version_conflict if that happens too often.
func (s *Service) evaluate(
	ctx context.Context, r Row, sum sums, again func() ([]tally.Entry, tally.Choice, error), sent map[int64]bool,
) (next Row, minted int, err error) {
	overtaken := false
	err = dynamo.Retry(ctx, attempts, func() (err error) {
		if next = r; overtaken {
			if next, err = s.read(ctx, r.UserID, r.MilestoneID); err != nil || !next.counts(s.now()) && !next.wasHeld(s.now()) {
				return err
			}

			entries, choice, err := again()
			if err != nil {
				return err
			}

			sum = s.sum(next, entries, choice)
		}

		// First the notices of parts whose worker died after it minted them.
		if next, err = s.notice(ctx, next); err != nil {
			return err
		}

		after, parts := next.after(sum, s.now())
		if err = s.announce(ctx, next, after, sent); err != nil {
			return err
		}

		if next, err = s.mint(ctx, next, after, parts); err != nil {
			overtaken = true
			return err
		}

		minted = len(parts)
		next, err = s.notice(ctx, next)

		return err
	})

	return next, minted, err
}

// counts reports whether the milestone is computed when that is requested: not if it is paused,
// abandoned or has ended.
func (r Row) counts(now time.Time) bool {
	state := r.State(now)
	return state == Active || state == Completed || r.isSettling(now)
}

// after returns the milestone with the progress of workouts, and the indexes of the parts
// that settled workouts earn with it.
func (r Row) after(sum sums, now time.Time) (next Row, parts []int) {
	next, g, at := r, r.Goal(), now.Unix()
	settled := max(r.settled(), sum.settled)
	next.Raw, next.Settled, next.Progress = sum.Progress, &settled, max(settled, sum.Progress)

	for n := r.Awarded + 1; n <= g.Earned(settled); n++ {
		parts = append(parts, n)
	}

	if len(parts) > 0 {
		next.Awarded, next.AwardedAt = r.Awarded+len(parts), &at
	}

	if r.Status == Active && settled >= r.TotalTarget {
		next.Status, next.CompletedAt = Completed, &at
	}

	if next.DueAt, next.PartAt = sum.dueAt, sum.partAt; next.Status == Completed {
		next.DueAt, next.PartAt = 0, 0
	}

	return next, parts
}

// mint writes the milestone and its new parts, if anything has changed, and returns the
// milestone as it is then.
func (s *Service) mint(ctx context.Context, was, next Row, parts []int) (Row, error) {
	same := was.Raw == next.Raw && was.Progress == next.Progress && was.settled() == next.settled() && was.DueAt == next.DueAt &&
		was.PartAt == next.PartAt
	if same && was.Status == next.Status && len(parts) == 0 {
		return next, nil
	}

	next.Version = was.Version + 1
	changes := dynamo.Set(next, "progressValue", "rawProgress", "settledValue", "settleDueAtUtc", "partDueAtUtc", "partsAwardedCount",
		"status", "version", "lastAwardedAtUtc", "completedAtUtc")

	key, unchanged := dynamo.Key(tables.SaveMilestone, was.PK, was.SK), dynamo.Equal[Row]("version", was.Version)
	if len(parts) == 0 {
		return next, dynamo.Update(ctx, s.db, tables.SaveMilestone, key, changes, unchanged)
	}

	_, all, err := model.Read(ctx, s.db, was.ModelID)
	if err != nil {
		return next, err
	}

	byIndex := map[int]model.Part{}
	for _, p := range all {
		byIndex[p.PartIndex] = p
	}

	writes := []dynamo.Write{dynamo.UpdateWrite(key, changes, unchanged)}

	for _, n := range parts {
		p, ok := byIndex[n]
		if !ok {
			telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(PartsMissing, 1)},
				slog.String("model", was.ModelID), slog.Int("part", n), slog.String("milestone", was.MilestoneID), slog.String("user", was.UserID))

			return next, fmt.Errorf("%w: part %d of %s", errPart, n, was.ModelID)
		}

		writes = append(writes, dynamo.PutWrite(award{
			PK: was.PK, SK: item.Award(was.MilestoneID, n), EntityType: "Award", MilestoneID: was.MilestoneID, ModelID: was.ModelID,
			PartIndex: n, PartName: p.PartName, MeshFile: p.MeshFile, AttachPoint: p.AttachPoint, AwardedAt: s.now().Unix(),
			Progress: next.settled(),
		}, dynamo.Absent[award]("PK")))
	}

	// No part is minted while the user's rows are deleted: it would stay.
	return next, dynamo.Transact(account.Require(ctx, was.UserID), s.db, tables.MintParts, writes...)
}

// notice writes the trail of each minted part that has had no notice, sends one message for all of
// them, and records that. A second run writes the same entry. The parts are those that were minted
// last, all at once, because notice comes before others are minted.
func (s *Service) notice(ctx context.Context, r Row) (Row, error) {
	if r.Noticed >= r.Awarded {
		return r, nil
	}

	was := r
	r.Noticed = r.Awarded

	return r, outbox.Deliver(func() error {
		first := was.Noticed + 1
		for n := first; n <= was.Awarded; n++ {
			s.trail.Write(ctx, trail.Entry{
				Event: trail.MilestonePartMint, Result: trail.Success, UserID: r.UserID, CorrelationID: "milestone:" + r.MilestoneID,
				Data: map[string]string{"partIndex": strconv.Itoa(n)}, ID: fmt.Sprintf("%s-%02d", r.MilestoneID, n), At: time.Unix(*r.AwardedAt, 0),
			})
		}

		m := workout.Notice{UserID: r.UserID, MilestoneID: r.MilestoneID, PartIndex: was.Awarded, Complete: was.Awarded == was.PartsTotal}
		if first < was.Awarded {
			m.From = first
		}

		return s.queue.Send(ctx, workout.NoticeQueue, m, 0)
	}, func() error {
		key := dynamo.Key(tables.MarkNoticed, r.PK, r.SK)
		return dynamo.Update(ctx, s.db, tables.MarkNoticed, key, dynamo.Set(r, "partsNoticedCount"), dynamo.Unchanged(was, "partsNoticedCount"))
	})
}

// ErrNoAward is returned for a part that is not minted.
var ErrNoAward = errors.New("the part is not minted")

// PartOf returns the last part that a message is about: ErrNoAward if it is not minted.
func PartOf(ctx context.Context, db dynamo.DB, m workout.Notice) (Award, error) {
	rows, err := dynamo.QueryAll[award](ctx, db, tables.GetAwards, dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.GetAwards, item.User(m.UserID), item.Award(m.MilestoneID, m.PartIndex)), Consistent: true,
	})
	if err == nil && len(rows) == 0 {
		err = ErrNoAward
	}

	if err != nil {
		return Award{}, err
	}

	return rows[0].view(), nil
}
