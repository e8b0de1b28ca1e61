package notice

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// NoticeQueue has the reminders to send, in messages for up to 100 members.
var NoticeQueue = spec.Queue{Name: "bestshot-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 10, Unhurried: true}

// Notices is a message of NoticeQueue.
type Notices struct {
	Reminders []Reminder `json:"reminders,omitempty"`
	Points    []Points   `json:"points,omitempty"`
}

const (
	// maxNotices bounds the notices of a message: 40 KB, and ten messages of a batch stay below the 1 MiB of
	// SQS.
	maxNotices = 100
	// senders is how many members of a message are told at once.
	senders = 10
	// retryDelay is when members who were not reached are tried again: Apple or Google had no answer.
	retryDelay = time.Minute
)

// errLate is the error of a notice that is not begun, because the function's time is nearly over.
var errLate = problem.New(problem.Unavailable, "too_late", "the time of the run is over")

// SendNoticesFunction reminds members, and tells them of their points, on all phones.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/send-notices",
		Does:   "Reminds members, and tells them of their points, on all phones.",
		IfDown: "Reminders and notices of points arrive late.",
		On:     NoticeQueue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Sends:  []spec.Queue{NoticeQueue},
		Emits:  []spec.Metric{delivered, gone},
		Memory: 256, Timeout: time.Minute, Secrets: []string{APNSKey, fcm.Key},
	}, OpenNotifier, (*Notifier).SendNotices)
}

// SendNotices sends the notices of a message, reminders as SendReminder does. Notices of points are not sent
// after pointsLifetime. Those that fail, and those for which the time is too short, are sent as a message of
// their own, so that nobody else is told again; each such message is shorter. If all fail, the message comes
// again. A second run sends all of them again, and a phone shows each once. Errors: Unavailable if a retry may
// reach a phone.
func (s *Notifier) SendNotices(ctx context.Context, m Notices) error {
	var (
		group errgroup.Group // without a context: a member who is not reached does not stop the others
		mu    sync.Mutex
		rest  Notices
	)

	group.SetLimit(senders)

	send := func(do func() error, keep func()) {
		group.Go(func() error {
			var err error = errLate
			if end, limited := ctx.Deadline(); !limited || time.Until(end) >= reserve {
				err = do()
			}

			if err != nil {
				mu.Lock()
				defer mu.Unlock()

				keep()
			}

			return err
		})
	}

	for _, r := range m.Reminders {
		send(func() error { return s.SendReminder(ctx, r) }, func() { rest.Reminders = append(rest.Reminders, r) })
	}

	for _, p := range m.Points {
		send(func() error { return s.notify(ctx, p.UserID, p.alert()) }, func() { rest.Points = append(rest.Points, p) })
	}

	err := group.Wait()

	failed := len(rest.Reminders) + len(rest.Points)
	if err == nil || failed == len(m.Reminders)+len(m.Points) {
		return err
	}

	slog.WarnContext(ctx, "some members were not reached: they are tried again", "members", failed, "err", err)

	return s.queue.Send(ctx, NoticeQueue, rest, retryDelay)
}
