package notice

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// NoticeQueue has the reminders to send, in messages for up to 100 members.
var NoticeQueue = spec.Queue{Name: "bestshot-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 10, Unhurried: true}

// Notices is a message of NoticeQueue.
type Notices struct {
	Reminders []Reminder `json:"reminders"`
}

const (
	// maxReminders bounds the reminders of a message: 20 KB, and ten messages of a batch stay below the
	// 1 MiB of SQS.
	maxReminders = 100
	// senders is how many members of a message are reminded at once.
	senders = 10
)

// SendNoticesFunction reminds members on all phones.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/send-notices",
		Does:   "Reminds members on all phones.",
		IfDown: "Reminders arrive late.",
		On:     NoticeQueue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Emits:  []spec.Metric{delivered, gone},
		Memory: 256, Timeout: time.Minute, Secrets: []string{APNSKey},
	}, OpenNotifier, (*Notifier).SendNotices)
}

// SendNotices sends the reminders of a message, as SendReminder does. After the first that fails it begins
// no more, and the message comes again. A second run sends all of them again, and a phone shows each
// once. Errors: Unavailable if a retry may reach a phone.
func (s *Notifier) SendNotices(ctx context.Context, m Notices) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(senders)

	for _, r := range m.Reminders {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}

			return s.SendReminder(ctx, r)
		})
	}

	return group.Wait()
}
