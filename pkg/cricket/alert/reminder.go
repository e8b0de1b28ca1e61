package alert

import (
	"context"
	"errors"
	"strconv"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Reminder sends the reminders of matches that start soon.
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
	// remindAhead is the time from the reminder to the start of the match.
	remindAhead = 15 * time.Minute
	// wholeMatch is the user id of the row that marks a match's reminder as sent.
	wholeMatch = "#MATCH"
	// notStarted is the provider's status of a match that has neither started nor
	// been delayed.
	notStarted = "NS"
)

// RemindPrematchFunction sends the reminders of matches that start soon.
func RemindPrematchFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "cricket/remind-prematch",
		Does:   "Reminds the followers of a match 15 minutes before it starts.",
		IfDown: "Users get no reminder. If the function works again before the start, the reminder is late.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.ActiveLeagues, tables.StartingSoon, tables.CheckReminder, tables.GetCached, tables.MarkReminder},
		Sends:  []spec.Queue{tables.AlertQueue},
		Memory: 128, Timeout: tables.JobTimeout,
	}, OpenReminder, (*Reminder).RemindPrematch)
}

// RemindPrematch sends an alert for each match that starts within remindAhead: once, and
// again if the match has Moved since.
//
// It marks a match after it has sent the alert. After a crash in between it sends the
// alert again with the same key, so followers are reminded once. It returns the
// errors of all matches; an error of one match does not affect the others.
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
			if f.Status == notStarted && f.EndingAt == 0 && now.Before(f.Start()) {
				errs = errors.Join(errs, r.remind(ctx, f, now))
			}
		}
	}

	return errs
}

// movedBy is the smallest change of a start for which followers get an alert.
const movedBy = time.Hour

// Moved reports whether a match was moved by an hour or more, between two starts in
// tables.TimeLayout. A text that is no time is no start.
func Moved(from, to string) bool {
	a, err := time.Parse(tables.TimeLayout, from)
	b, err2 := time.Parse(tables.TimeLayout, to)

	return err == nil && err2 == nil && b.Sub(a).Abs() >= movedBy
}

// NewMoved returns the message that a match was moved, for a match that was stored with
// another start before. The time of day is in UTC, because users have different time
// zones. The same move has the same key.
func NewMoved(before, now match.Fixture, s score.State, at time.Time) Alert {
	title := matchTitle(s)
	english := title.In(words.English)
	body := "Moved to " + now.Start().Format("Monday, 2 January, 15:04") + " UTC"
	moved := words.Say("Moved to %@ UTC", now.Start().UTC().Format("2006-01-02, 15:04")) // no names of months
	e := event.Event{
		Kind:  event.Start,
		Key:   "moved:" + before.StartTime + ":" + now.StartTime,
		Match: english,
		Title: english,
		Body:  body,
		Plain: body,
		Says:  event.Says{Match: title, Title: title, Body: moved, Plain: moved},
	}

	return NewAlert(now.MatchID, e, at.Unix())
}

// remind sends the reminder of a match, unless it was sent before for this start.
func (r *Reminder) remind(ctx context.Context, f match.Fixture, now time.Time) error {
	sent, done, err := dynamo.Get[prematchRow](ctx, r.db, tables.CheckReminder, f.MatchID, wholeMatch)
	if err != nil || done && !Moved(sent.Start, f.StartTime) {
		return err
	}

	c, _, err := match.ReadScore(ctx, r.db, f.MatchID)
	if err != nil {
		return err
	}

	title := matchTitle(c.State)
	english := title.In(words.English)

	e := event.Event{ // SendAlert sets the body
		Kind:  event.Start,
		Key:   reminderKey + f.StartTime,
		Match: english,
		Title: english,
		Says:  event.Says{Match: title, Title: title},
	}
	if err := r.queue.Send(ctx, tables.AlertQueue, NewAlert(f.MatchID, e, now.Unix()), 0); err != nil {
		return err
	}

	return dynamo.Put(ctx, r.db, tables.MarkReminder,
		prematchRow{
			MatchID: f.MatchID, UserID: wholeMatch, Start: f.StartTime, TTL: now.Add(follower.KeepClaims).Unix(),
		})
}

// matchTitle returns the names of the teams of a match, "India v Pakistan", or "Your match" if
// one is not known.
func matchTitle(s score.State) words.Text {
	if s.Local.Name == "" || s.Visitor.Name == "" {
		return words.Say("Your match")
	}

	return event.MatchWords(s.Local.Name, s.Visitor.Name)
}

// startsIn returns the text for the time to the start of a match, in minutes rounded
// up. It contains no time of day, because users have different time zones.
func startsIn(d time.Duration) words.Text {
	n := int((d + time.Minute - 1) / time.Minute)
	return words.Say(words.Count(n, "Starts in %@ minute", "Starts in %@ minutes"), strconv.Itoa(n))
}
