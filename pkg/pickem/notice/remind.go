package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Members are reminded a day before an event locks, and again two hours before.
const (
	dayAhead   = 24 * time.Hour
	hoursAhead = 2 * time.Hour
)

// Reminder is the service that reminds members to pick.
type Reminder struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// OpenReminder opens the service that reminds members.
func OpenReminder(_ context.Context, env app.Env) (*Reminder, error) {
	return &Reminder{db: item.OpenTable(env), queue: queue.Open(env.AWS, env.Queues), now: env.Now}, nil
}

// RemindFunction reminds members to pick.
func RemindFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "pickem/remind",
		Does:   "Reminds members who have not picked every match, a day and two hours before an event locks.",
		IfDown: "Members get no reminders to pick.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{tables.FindOpenEvents, tables.FindReminded, tables.ReadCard, tables.AllMembers,
			tables.EntriesOf, tables.MarkReminded},
		Sends:   []spec.Queue{Queue},
		Memory:  512,
		Timeout: 2 * time.Minute,
	}, OpenReminder, (*Reminder).Remind)
}

// Remind queues a notice to each member who has no valid pick of some match of an event
// that locks within dayAhead, and another within hoursAhead. If lockAt changes, members are
// reminded again. Nobody is reminded of an event without matches.
//
// A second run skips reminders that are complete and may queue notices of an
// interrupted one again: a phone shows one notice for each id.
func (s *Reminder) Remind(ctx context.Context) error {
	now := s.now()

	events, err := item.RecentEvents(ctx, s.db, now)
	if err != nil {
		return err
	}

	var errs error

	for _, e := range events {
		left := item.ParseTime(e.LockAt).Sub(now)
		if e.State != item.Upcoming || left <= 0 || left > dayAhead {
			continue
		}

		kind := "day"
		if left <= hoursAhead {
			kind = "hours"
		}

		n := Notice{ID: strings.Join([]string{e.ID, kind, e.LockAt}, "#"), Title: e.Name, EventID: e.ID, Until: item.ParseTime(e.LockAt)}
		errs = errors.Join(errs, s.remind(ctx, n, inWords(left)))
	}

	return errs
}

// remind queues the notice to all members whose prediction of its event is incomplete,
// unless that is recorded as done, or the card is empty.
func (s *Reminder) remind(ctx context.Context, n Notice, left string) error {
	_, done, err := dynamo.Get[delivery](ctx, s.db, tables.FindReminded, noticeRef(n.ID), noticeDone)
	if err != nil || done {
		return err
	}

	card, _, err := item.ReadCard(ctx, s.db, n.EventID)
	if err != nil || len(card) == 0 {
		return err
	}

	members, err := dynamo.QueryAll[item.Member](ctx, s.db, tables.AllMembers,
		dynamo.Range{Key: dynamo.KeyIs(tables.AllMembers, item.UserTag)})
	if err != nil {
		return err
	}

	entries, err := item.ReadPredictions(ctx, s.db, n.EventID)
	if err != nil {
		return err
	}

	picks := make(map[string]int, len(entries)) // the number of valid ones, by member
	for _, p := range entries {
		picks[p.BelongsTo] = len(p.Picks(card))
	}

	var none, some []string // who have picked no match, or not every match

	for _, p := range members {
		switch picks[p.BelongsTo] {
		case 0:
			none = append(none, p.UserID())
		case len(card):
		default:
			some = append(some, p.UserID())
		}
	}

	n.Body = fmt.Sprintf("You have not picked yet, and it locks in %s.", left)
	if err := Send(ctx, s.queue, n, none); err != nil {
		return err
	}

	n.Body = fmt.Sprintf("You have not picked every match yet, and it locks in %s.", left)
	if err := Send(ctx, s.queue, n, some); err != nil {
		return err
	}

	slog.InfoContext(ctx, "reminded", "notice", n.ID, "members", len(none)+len(some))

	return dynamo.Put(ctx, s.db, tables.MarkReminded, newDelivery(n, noticeRef(n.ID), noticeDone))
}

// inWords returns a duration in words, to the minute. Notices name a duration because
// a time would depend on the time zone.
func inWords(d time.Duration) string {
	minutes := max(int(d.Round(time.Minute)/time.Minute), 1)

	var words []string

	for _, part := range []struct {
		n    int
		unit string
	}{{minutes / 60, "hour"}, {minutes % 60, "minute"}} {
		switch part.n {
		case 0:
		case 1:
			words = append(words, "1 "+part.unit)
		default:
			words = append(words, fmt.Sprint(part.n, " ", part.unit, "s"))
		}
	}

	return strings.Join(words, " and ")
}
