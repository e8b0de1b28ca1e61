package notice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Notice is the message that requests a notification to the phones of up to MaxUsers members. A
// phone displays it once.
type Notice struct {
	ID      string    `json:"id"` // a member gets one notice for each id
	Title   string    `json:"title"`
	Body    string    `json:"body"`
	EventID string    `json:"eventId"` // what a tap opens
	Until   time.Time `json:"until"`   // after this time it is not sent
	UserIDs []string  `json:"userIds"`
}

// MaxUsers is the largest number of members in one message.
const MaxUsers = 100

// Send queues a notice to members, in messages of MaxUsers.
func Send(ctx context.Context, q queue.Sender, n Notice, userIDs []string) error {
	for users := range slices.Chunk(userIDs, MaxUsers) {
		n.UserIDs = users
		if err := q.Send(ctx, Queue, n, 0); err != nil {
			return err
		}
	}

	return nil
}

func (n Notice) check() error {
	switch {
	case n.ID == "":
		return problem.In("id", "id must not be empty")
	case n.Title == "" || n.Body == "":
		return problem.In("body", "title and body of the notice %.80q must not be empty", n.ID)
	case n.Until.IsZero():
		return problem.In("until", "until of the notice %.80q must be set", n.ID)
	case len(n.UserIDs) == 0 || len(n.UserIDs) > MaxUsers:
		return problem.In("userIds", "the notice %.80q is for %d members: valid are 1 to %d", n.ID, len(n.UserIDs), MaxUsers)
	}

	return nil
}

// message returns the push message. A phone displays one notification for each collapse id, which
// is at most 64 bytes:
// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
func (n Notice) message(to *device.Sender) (*device.Message, error) {
	collapse := n.ID
	if len(collapse) > 64 {
		sum := sha256.Sum256([]byte(n.ID))
		collapse = hex.EncodeToString(sum[:])
	}

	m, err := to.Encode(push.Alert{
		Terms: push.Terms{Expires: n.Until}, Banner: push.Banner{Title: n.Title, Body: n.Body, Sound: "default"},
		Collapse: collapse, Thread: n.EventID, Custom: map[string]any{"eventId": n.EventID},
	})
	if errors.Is(err, push.ErrTooLarge) {
		err = problem.New(problem.Invalid, "notice_too_long", "the notice %.80q is too long: a push has at most %d bytes",
			n.ID, push.MaxPayload).Because(err)
	}

	return m, err
}

const noticeType = "notice"

// delivery is the item of a member who got a notice. With the key NOTICE#{id}, DONE it records
// that all members of a reminder were queued.
type delivery struct {
	item.Row
	TTL int64 `dynamodbav:"ttl"`
}

const (
	noticeDone = "DONE"

	// keepNotices is how long after Until a delivery is kept: longer than clocks
	// differ.
	keepNotices = 24 * time.Hour
)

func noticeRef(id string) string { return "NOTICE#" + id }

func newDelivery(n Notice, pk, sk string) delivery {
	return delivery{item.Row{PK: pk, SK: sk, Type: noticeType}, n.Until.Add(keepNotices).Unix()}
}

// Notifier is the service that sends notices.
type Notifier struct {
	db     dynamo.DB
	phones *device.Devices
	sender *device.Sender
	now    func() time.Time
}

// OpenNotifier opens the service that sends notices.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	sender, err := device.OpenSender(ctx, env, APNSKey, APNSBundle)

	return &Notifier{item.OpenTable(env), device.Open(env, tables.Phones), sender, env.Now}, err
}

// SendNoticesFunction sends a notification to members.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "pickem/send-notices",
		Does:    "Sends a notification to the phones of up to 100 members.",
		IfDown:  "Notifications arrive late. After the event has locked they are not sent.",
		On:      Queue,
		Uses:    []spec.Access{tables.FindNotices, tables.ListDevices, tables.MarkNotices, tables.DropDevice},
		Secrets: []string{APNSKey, fcm.Key},
		Emits:   []spec.Metric{noticesDelivered, noticesUnregistered, noticesRetried},
		Memory:  256, Timeout: 30 * time.Second,
	}, OpenNotifier, (*Notifier).SendNotices)
}

// SendNotices sends a notice to the phones of its members who have not received it, records who
// received it, and deletes phones with unregistered tokens. After Until it sends nothing.
//
// A member has received the notice if Apple accepted it for one of the phones. If a later try can
// reach a member, the message fails, so that the queue delivers it again. A notification that was
// sent, but not recorded, is then sent again, and replaces the first on the phone because of its
// collapse id.
func (s *Notifier) SendNotices(ctx context.Context, n Notice) error {
	if err := n.check(); err != nil {
		return err
	}

	if !s.now().Before(n.Until) {
		slog.WarnContext(ctx, "notice expired before it was sent", "notice", n.ID, "members", len(n.UserIDs))
		return nil
	}

	m, err := n.message(s.sender)
	if err != nil {
		return err
	}

	var broken error // of a read: the members before it get the notice

	d, err := s.phones.Push(ctx, s.sender, m, func(yield func(device.Device) bool) {
		for p, err := range s.phonesOf(ctx, n) {
			if broken = err; broken != nil || !yield(p) {
				return
			}
		}
	})
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{
		telemetry.Count(noticesDelivered, d.Delivered), telemetry.Count(noticesUnregistered, d.Gone), telemetry.Count(noticesRetried, d.Requeued),
	}, slog.String("notice", n.ID))

	got, missed := owners(d.Reached), owners(d.Missed)

	missed = slices.DeleteFunc(missed, func(user string) bool { return slices.Contains(got, user) })
	if len(missed) > 0 {
		err = errors.Join(err, problem.New(problem.Unavailable, "members_not_reached",
			"%d of %d members were not reached", len(missed), len(n.UserIDs)))
	}

	return errors.Join(broken, err, s.record(ctx, n, got))
}

// phonesOf returns the phones of the members of a notice who have not got it, up to the first
// error.
func (s *Notifier) phonesOf(ctx context.Context, n Notice) iter.Seq2[device.Device, error] {
	return func(yield func(device.Device, error) bool) {
		users, err := s.lacking(ctx, n)
		if err != nil {
			yield(device.Device{}, err)
			return
		}

		for _, user := range users {
			phones, err := s.phones.Of(ctx, user)
			if err != nil {
				yield(device.Device{}, err)
				return
			}

			for _, p := range phones {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// owners returns the users of phones, each once.
func owners(phones []device.Device) (users []string) {
	for _, p := range phones {
		if !slices.Contains(users, p.UserID) {
			users = append(users, p.UserID)
		}
	}

	return users
}

// record records that members have got a notice, except those who are removed meanwhile.
func (s *Notifier) record(ctx context.Context, n Notice, userIDs []string) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, user := range userIDs {
		work.Go(func() error {
			return dynamo.IgnoreRefused(dynamo.Transact(ctx, s.db, tables.MarkNotices,
				dynamo.CheckWrite(item.MemberKey(user), item.IsMember()), dynamo.PutWrite(newDelivery(n, item.UserRef(user), noticeRef(n.ID)))))
		})
	}

	return work.Wait()
}

// lacking returns the members of a notice who have not received it.
func (s *Notifier) lacking(ctx context.Context, n Notice) ([]string, error) {
	keys := make([]dynamo.Item, len(n.UserIDs))
	for i, user := range n.UserIDs {
		keys[i] = item.Key(item.UserRef(user), noticeRef(n.ID))
	}

	got, err := dynamo.GetAll[delivery](ctx, s.db, tables.FindNotices, keys)

	return slices.DeleteFunc(slices.Clone(n.UserIDs), func(user string) bool {
		return slices.ContainsFunc(got, func(d delivery) bool { return d.PK == item.UserRef(user) })
	}), err
}
