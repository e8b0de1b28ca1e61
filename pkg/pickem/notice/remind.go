package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

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

// Bounds of a run. It reads the members page by page, and records how far it has come, so that the
// next run goes on there if the time is over.
const (
	remindTimeout = 5 * time.Minute
	remindBudget  = 4 * time.Minute
	remindPage    = 1_000 // members
)

// Reminder is the service that reminds members to pick.
type Reminder struct {
	db     dynamo.DB
	queue  queue.Sender
	now    func() time.Time
	page   int32
	budget time.Duration
}

// OpenReminder opens the service that reminds members.
func OpenReminder(_ context.Context, env app.Env) (*Reminder, error) {
	return &Reminder{
		db: item.OpenTable(env), queue: queue.Open(env.AWS, env.Queues), now: env.Now, page: remindPage, budget: remindBudget,
	}, nil
}

// RemindFunction reminds members to pick.
func RemindFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "pickem/remind",
		Does:   "Reminds members who have not picked every match, a day and two hours before an event locks.",
		IfDown: "Members get no reminders to pick.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{tables.FindOpenEvents, tables.FindReminded, tables.ReadCard, tables.AllMembers,
			tables.PicksOf, tables.MarkReminded},
		Sends:   []spec.Queue{Queue},
		Memory:  512,
		Timeout: remindTimeout,
	}, OpenReminder, (*Reminder).Remind)
}

// Remind queues a notice to each member who has no valid pick of some match of an event
// that locks within dayAhead, and another within hoursAhead. If lockAt changes, members are
// reminded again. Nobody is reminded of an event without matches.
//
// It holds a page of members, and ends after four minutes: the next run goes on behind the last page
// that was recorded. A second run skips reminders that are complete, and may queue notices of one
// page of an interrupted one again: a phone shows one notice for each id.
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
		errs = errors.Join(errs, s.remind(ctx, n, inWords(left), now.Add(s.budget)))
	}

	return errs
}

const noticeReached = "REACHED"

// reached is the item of a reminder that takes several runs, with the key NOTICE#{id}, REACHED: up to
// which member its notices are queued.
type reached struct {
	delivery
	After string `dynamodbav:"after"`
}

// remind queues the notice to all members whose prediction of its event is incomplete,
// unless that is recorded as done, or the card is empty. It stops at a time.
func (s *Reminder) remind(ctx context.Context, n Notice, left string, until time.Time) error {
	_, done, err := dynamo.Get[delivery](ctx, s.db, tables.FindReminded, noticeRef(n.ID), noticeDone)
	if err != nil || done {
		return err
	}

	was, known, err := dynamo.Get[reached](ctx, s.db, tables.FindReminded, noticeRef(n.ID), noticeReached)
	if err != nil {
		return err
	}

	card, _, err := item.ReadCard(ctx, s.db, n.EventID)
	if err != nil || len(card) == 0 {
		return err
	}

	next := reached{delivery: newDelivery(n, noticeRef(n.ID), noticeReached)}
	q := dynamo.Range{Key: dynamo.KeyIs(tables.AllMembers, item.UserTag), Limit: s.page}

	if known {
		q.After = dynamo.StartKey(tables.AllMembers, item.UserTag, was.After, was.After, item.UserTag)
	}

	for {
		members, last, err := dynamo.QueryFlat[struct {
			BelongsTo string `dynamodbav:"belongsto"`
		}](ctx, s.db, tables.AllMembers, q)
		if err != nil {
			return err
		}

		users := make([]string, len(members))
		for i, m := range members {
			users[i] = m.BelongsTo
		}

		if err := s.remindPage(ctx, n, left, card, users); err != nil {
			return err
		}

		if last == nil {
			break
		}

		next.After, q.After = users[len(users)-1], last
		if err := dynamo.Put(ctx, s.db, tables.MarkReminded, next); err != nil {
			return err
		}

		if !s.now().Before(until) || nearlyOver(ctx) {
			slog.InfoContext(ctx, "goes on in the next run", "notice", n.ID)
			return nil
		}
	}

	slog.InfoContext(ctx, "reminded", "notice", n.ID)

	return dynamo.Put(ctx, s.db, tables.MarkReminded, newDelivery(n, noticeRef(n.ID), noticeDone))
}

// nearlyOver reports whether the invocation has less than half a minute left.
func nearlyOver(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < 30*time.Second
}

// remindPage queues the notice to those of some members whose prediction is incomplete.
func (s *Reminder) remindPage(ctx context.Context, n Notice, left string, card []item.Match, refs []string) error {
	picks, err := s.countPicks(ctx, n.EventID, card, refs)
	if err != nil {
		return err
	}

	var none, some []string // who have picked no match, or not every match

	for _, ref := range refs {
		user := item.Member{BelongsTo: ref}.UserID()

		switch picks[ref] {
		case 0:
			none = append(none, user)
		case len(card):
		default:
			some = append(some, user)
		}
	}

	n.Body = fmt.Sprintf("You have not picked yet, and it locks in %s.", left)
	if err := Send(ctx, s.queue, n, none); err != nil {
		return err
	}

	n.Body = fmt.Sprintf("You have not picked every match yet, and it locks in %s.", left)

	return Send(ctx, s.queue, n, some)
}

// countPicks returns the number of valid picks of an event by the USER# key of the member.
func (s *Reminder) countPicks(ctx context.Context, eventID string, card []item.Match, refs []string) (map[string]int, error) {
	var (
		mu    sync.Mutex
		picks = make(map[string]int, len(refs))
	)

	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for some := range slices.Chunk(refs, 100) {
		keys := make([]dynamo.Item, len(some))
		for i, ref := range some {
			keys[i] = item.Key(ref, item.EventRef(eventID))
		}

		work.Go(func() error {
			entries, err := dynamo.GetAll[item.Prediction](ctx, s.db, tables.PicksOf, keys)

			mu.Lock()
			defer mu.Unlock()

			for _, p := range entries {
				picks[p.BelongsTo] = len(p.Picks(card))
			}

			return err
		})
	}

	return picks, work.Wait()
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
