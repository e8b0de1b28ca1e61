package alert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
)

// Reminder sends the reminders of matches.
type Reminder struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// OpenReminder opens the service of remind-prematch.
func OpenReminder(_ context.Context, env app.Env) (*Reminder, error) {
	return &Reminder{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), now: env.Now}, nil
}

const (
	// remindAhead is how long before the start of a match its followers are
	// reminded.
	remindAhead = 15 * time.Minute
	// wholeMatch is the user of the row that marks the reminder of a match as sent.
	wholeMatch = "#MATCH"
	// asScheduled is the status of a match that has not begun and is not delayed.
	asScheduled = "NS"
)

// RemindPrematch sends a reminder for each match that starts within
// remindAhead, once for a match, also if it is moved.
//
// The match is marked after the alert was sent. After a crash in between the
// alert is sent again under the same key, and followers are reminded once. An
// error of one match does not affect the others.
func (r *Reminder) RemindPrematch(ctx context.Context) error {
	now := r.now()
	active, err := catalog.ActiveLeagues(ctx, r.db)
	if err != nil {
		return err
	}
	var errs error
	for _, l := range active {
		due, err := match.Due(ctx, r.db, l.Code, now, now.Add(remindAhead))
		errs = errors.Join(errs, err)
		for _, f := range due {
			if f.Status == asScheduled && f.EndingAt == 0 && now.Before(f.Start()) {
				errs = errors.Join(errs, r.remind(ctx, f, now))
			}
		}
	}
	return errs
}

func (r *Reminder) remind(ctx context.Context, f match.Fixture, now time.Time) error {
	_, done, err := dynamo.Get[reminded](ctx, r.db, tables.CheckReminder, f.MatchID, wholeMatch)
	if err != nil || done {
		return err
	}
	c, _, err := match.ReadScore(ctx, r.db, f.MatchID)
	if err != nil {
		return err
	}
	match := cmp.Or(versus(c.State), "Your match")
	e := event.Event{Kind: event.Start, Key: reminderKey, Match: match, Title: match} // SendAlert says when
	if err := r.queue.Send(ctx, tables.AlertQueue, NewAlert(f.MatchID, e, now.Unix()), 0); err != nil {
		return err
	}
	return dynamo.Put(ctx, r.db, tables.MarkReminder, reminded{MatchID: f.MatchID, UserID: wholeMatch, TTL: now.Add(keepReminder).Unix()})
}

// versus is the names of both teams, "India v Pakistan"; "" if they are not
// known.
func versus(s score.State) string {
	if s.Local.Name == "" || s.Visitor.Name == "" {
		return ""
	}
	return s.Local.Name + " v " + s.Visitor.Name
}

// startsIn is the text of a reminder. It counts minutes, because the time zones
// of users differ.
func startsIn(d time.Duration) string {
	n := int((d + time.Minute - 1) / time.Minute)
	if n == 1 {
		return "Starts in 1 minute"
	}
	return fmt.Sprintf("Starts in %d minutes", n)
}
