package milestone

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

const (
	// SettlingMinutes is the setting with the minutes after which a workout that has not changed can mint
	// parts.
	SettlingMinutes = "SETTLING_MINUTES"
	// defaultSettling is what they are if it is absent.
	defaultSettling = time.Hour
	// maxSettling bounds them.
	maxSettling = 24 * time.Hour
)

// SettlingSetting is SettlingMinutes.
func SettlingSetting() spec.Setting {
	return spec.Setting{
		Name:      SettlingMinutes,
		Functions: []string{EvaluateMilestonesFunction().Name, RecomputeMilestoneFunction().Name},
		Does: "the minutes after which a workout that has not changed can mint parts: 60, the default; " +
			"with 0 parts are minted at once, and a bogus workout cannot be taken back",
		Like: "^([0-9]{1,3}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)$",
	}
}

// settlingOf returns the settling time of a stage.
func settlingOf(env app.Env) (time.Duration, error) {
	text := env.Setting(SettlingMinutes)
	if text == "" {
		return defaultSettling, nil
	}

	minutes, err := strconv.Atoi(text)
	if err != nil || minutes < 0 || minutes > int(maxSettling.Minutes()) {
		return 0, fmt.Errorf("%s is %q, want minutes from 0 to %.0f", SettlingMinutes, text, maxSettling.Minutes())
	}

	return time.Duration(minutes) * time.Minute, nil
}

// SettleQueue receives Settling.
var SettleQueue = spec.Queue{Name: "commitcollect-settling", MaxReceiveCount: 5, Batch: 10, Concurrency: 2}

// Settling is a message that workouts of a user are settled at a time.
type Settling struct {
	UserID string `json:"userId"`
	DueAt  int64  `json:"dueAt"` // epoch s
}

// SettleMilestonesFunction has the milestones of a user computed when workouts have settled.
func SettleMilestonesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/settle-milestones",
		Does:   "Has the milestones of a user computed when workouts have settled.",
		IfDown: "Parts are minted late: with the next workout of their user.",
		On:     SettleQueue,
		Sends:  []spec.Queue{SettleQueue, workout.ChangeQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).SettleMilestones)
}

// SettleMilestones has the milestones of a user computed at the time of the message. Until then it sends
// the message again, because SQS delays for 15 minutes at most. A second run has them computed again.
func (s *Service) SettleMilestones(ctx context.Context, m Settling) error {
	if left := time.Unix(m.DueAt, 0).Sub(s.now()); left > 0 {
		return s.queue.Send(ctx, SettleQueue, m, left)
	}

	return s.queue.SendFIFO(ctx, workout.ChangeQueue, m.UserID, workout.Changed{UserID: m.UserID})
}

// sums is what workouts add up to for a milestone.
type sums struct {
	tally.Sum
	settled int64 // the progress of the workouts that are settled
	dueAt   int64 // when the next of the others is settled, epoch s; 0 if all are
	partAt  int64 // when the next part is minted, if none of the others changes, epoch s; 0 if they earn none
}

// sum adds up the workouts of a milestone: until it is completed, those that arrived before it closes. One is settled
// if what the rules need of it has not changed for the settling time.
func (s *Service) sum(r Row, entries []tally.Entry, c tally.Choice) sums {
	g := r.Goal()
	if closes := r.ClosesAt(); !closes.IsZero() && r.Status != Completed {
		entries = tally.StoredUntil(entries, closes.Unix())
	}

	out := sums{Sum: tally.CountFrom(r.carried(), entries, g, c)}
	out.settled = out.Progress

	if s.settling == 0 {
		return out
	}

	last, wait := s.now().Add(-s.settling).Unix(), int64(s.settling.Seconds())

	var times []int64 // of the workouts that are not settled, and count, or would without another of these

	for _, e := range entries {
		if e.StoredAt > last && (len(out.Why[e.ActivityID]) == 0 || out.TwinOf[e.ActivityID] != "") {
			times = append(times, e.StoredAt)
		}
	}

	carried := r.carried()
	if carried.DueAt-wait > last { // a part of what is carried is not settled
		times = append(times, carried.DueAt-wait)
	}

	if len(times) == 0 {
		return out
	}

	slices.Sort(times)
	times = slices.Compact(times)

	progress := func(until int64) int64 {
		return tally.CountFrom(carried.At(until+wait), tally.StoredUntil(entries, until), g, c).Progress
	}
	out.settled, out.dueAt = progress(last), times[0]+wait

	earned := g.Earned(max(r.settled(), out.settled))
	if g.Earned(out.Progress) > earned {
		i := sort.Search(len(times)-1, func(i int) bool { return g.Earned(progress(times[i])) > earned })
		out.partAt = times[i] + wait
	}

	return out
}

// isSettling reports whether a milestone has ended while workouts had to settle that had arrived before.
func (r Row) isSettling(now time.Time) bool { return r.State(now) == Ended && r.DueAt != 0 }

// settled returns the highest progress of settled workouts. That of a row without it is the progress: then
// parts were minted at once.
func (r Row) settled() int64 {
	if r.Settled == nil {
		return r.Progress
	}

	return max(*r.Settled, r.Goal().Threshold(r.Awarded))
}

// announce sends a message for the time at which the next workouts settle, unless it was sent. It is sent
// before the time is stored: a worker that dies in between sends it again.
func (s *Service) announce(ctx context.Context, was, next Row, sent map[int64]bool) error {
	if next.DueAt == 0 || next.DueAt == was.DueAt || sent[next.DueAt] {
		return nil
	}

	due := Settling{UserID: was.UserID, DueAt: next.DueAt}
	if err := s.queue.Send(ctx, SettleQueue, due, time.Unix(next.DueAt, 0).Sub(s.now())); err != nil {
		return err
	}

	sent[next.DueAt] = true

	return nil
}
