package notice

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
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
)

// SendNoticesFunction reminds members, and tells them of their points, on all phones.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/send-notices",
		Does:   "Reminds members, and tells them of their points, on all phones.",
		IfDown: "Reminders and notices of points arrive late.",
		On:     NoticeQueue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Emits:  []spec.Metric{delivered, gone},
		Memory: 256, Timeout: time.Minute, Secrets: []string{APNSKey, fcm.Key},
	}, OpenNotifier, (*Notifier).SendNotices)
}

// SendNotices sends the notices of a message, reminders as SendReminder does. Notices of points are not sent
// after pointsLifetime. After the first that fails it begins no more, and the message comes again. A second
// run sends all of them again, and a phone shows each once. Errors: Unavailable if a retry may reach a phone.
func (s *Notifier) SendNotices(ctx context.Context, m Notices) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(senders)

	send := func(do func() error) {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}

			return do()
		})
	}

	for _, r := range m.Reminders {
		send(func() error { return s.SendReminder(ctx, r) })
	}

	for _, p := range m.Points {
		send(func() error { return s.notify(ctx, p.UserID, p.alert()) })
	}

	return group.Wait()
}
