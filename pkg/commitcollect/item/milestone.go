package item

import (
	"context"
	"time"

	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/dynamo"
)

// States of a milestone. A row is never stored as Ended: it follows from the row's last day.
const (
	Active    = "ACTIVE"
	Paused    = "PAUSED"
	Completed = "COMPLETED"
	Abandoned = "ABANDONED"
	Ended     = "ENDED"
)

// Life is what decides whether a milestone is open. A row of a milestone embeds it.
type Life struct {
	Status    string `dynamodbav:"status"`
	EndDay    string `dynamodbav:"periodEndDay,omitempty"`
	CreatedAt int64  `dynamodbav:"createdAtUtc"`           // epoch s
	ResumedAt int64  `dynamodbav:"resumedAtUtc,omitempty"` // when it was resumed or its goal changed last, epoch s; 0 if never
	// HeldUntil is until when it is open after LateUntil, because Strava had not been asked, epoch s; 0 if it was.
	HeldUntil int64 `dynamodbav:"heldUntilUtc,omitempty"`
}

// Late is how long after a workout it may be uploaded, and edited without a webhook.
const Late = 7 * 24 * time.Hour

// MaxHeld bounds how long after LateUntil a milestone is held open.
const MaxHeld = 30 * 24 * time.Hour

// dayBehind is how much later than in UTC a day ends anywhere.
const dayBehind = 12 * time.Hour

// EndsAt returns when the last day of the milestone is over everywhere, the zero time if it has none.
func (l Life) EndsAt() time.Time {
	last, err := time.Parse(time.DateOnly, l.EndDay)
	if err != nil {
		return time.Time{}
	}

	return last.Add(24*time.Hour + dayBehind)
}

// LateUntil returns until when the workouts of a milestone with a last day may be late, the zero time if it has
// none: they have Late to arrive after that day, and after the milestone was created, changed or resumed.
func (l Life) LateUntil() time.Time {
	end, begun := l.EndsAt(), time.Unix(max(l.CreatedAt, l.ResumedAt), 0)

	switch {
	case end.IsZero():
		return end
	case end.Before(begun):
		end = begun
	}

	return end.Add(Late)
}

// ClosesAt returns when a milestone with a last day counts no workout any more that arrives, the zero time
// if it has none.
func (l Life) ClosesAt() time.Time {
	late, held := l.LateUntil(), time.Unix(l.HeldUntil, 0)
	if !late.IsZero() && held.After(late) {
		return held
	}

	return late
}

// State returns the status at a time. An active milestone with a last day has ended when it closes. A
// paused one does not end: its workouts count when it is resumed.
func (l Life) State(now time.Time) string {
	if closes := l.ClosesAt(); l.Status != Active || closes.IsZero() || now.Before(closes) {
		return l.Status
	}

	return Ended
}

// IsOpen reports whether workouts count for the milestone, now or when it is resumed.
func (l Life) IsOpen(now time.Time) bool {
	s := l.State(now)
	return s == Active || s == Paused
}

// Listed returns the list of a user's milestones that are open, or have been so lately, and those
// of them that exist, in no order.
func Listed[R any](ctx context.Context, db dynamo.DB, userID string) (list dynamo.List, rows []R, err error) {
	list, _, err = dynamo.Get[dynamo.List](ctx, db, tables.OpenMilestones, User(userID), MilestoneList)
	if err != nil || len(list.IDs) == 0 {
		return list, nil, err
	}

	keys := make([]dynamo.Item, len(list.IDs))
	for i, id := range list.IDs {
		keys[i] = dynamo.Key(tables.OpenMilestones, User(userID), Milestone(id))
	}

	rows, err = dynamo.GetAll[R](ctx, db, tables.OpenMilestones, keys)

	return list, rows, err
}
