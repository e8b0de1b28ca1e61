package notice

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// Notice is the message that asks for a notification to the phones of up to MaxUsers
// members. Each member gets it once.
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

// message returns the push message. A phone shows one notification for each collapse
// id, which is at most 64 bytes:
// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
func (n Notice) message() (*push.Message, error) {
	collapse := n.ID
	if len(collapse) > 64 {
		sum := sha256.Sum256([]byte(n.ID))
		collapse = hex.EncodeToString(sum[:])
	}
	m, err := push.Notify(push.Alert{
		Terms: push.Terms{Expires: n.Until}, Banner: push.Banner{Title: n.Title, Body: n.Body, Sound: "default"},
		Collapse: collapse, Thread: n.EventID, Custom: map[string]any{"eventId": n.EventID},
	})
	if errors.Is(err, push.ErrTooLarge) {
		err = problem.New(problem.Invalid, "notice_too_long", "the notice %.80q is too long: a push has at most %d bytes", n.ID, push.MaxPayload).Because(err)
	}
	return m, err
}

const noticeType = "notice"

// delivery is the item of a notice that a run has claimed for a member. With the sort
// key DONE it records that all members of a reminder were queued.
type delivery struct {
	item.Row
	By  string `dynamodbav:"by,omitempty"` // the run that claimed it
	TTL int64  `dynamodbav:"ttl"`
}

const (
	noticeDone = "DONE"

	// keepNotices is how long after Until a delivery is kept: longer than clocks
	// differ.
	keepNotices = 24 * time.Hour
)

func noticeKey(id string) string { return "NOTICE#" + id }

func newDelivery(n Notice, sk, by string) delivery {
	return delivery{item.Row{PK: noticeKey(n.ID), SK: sk, Type: noticeType}, by, n.Until.Add(keepNotices).Unix()}
}

// Notifier is the service that sends notices.
type Notifier struct {
	db       dynamo.DB
	sender   *push.Sender
	now      func() time.Time
	patience time.Duration // with Apple, for one message
}

// sendTime is the time for Apple, out of the function's 30 s: the rest is for reading
// phones before and releasing claims after.
const sendTime = 12 * time.Second

// OpenNotifier opens the service that sends notices.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	c, err := push.ConfigOf(ctx, env, APNSKey, APNSBundle)
	if err != nil {
		return nil, err
	}
	sender, err := push.Open(c)
	return &Notifier{db: item.OpenTable(env), sender: sender, now: env.Now, patience: sendTime}, err
}

// SendNotices sends a notice to the phones of its members and deletes phones that Apple
// reports as gone. After Until it sends nothing.
//
// It claims each member with a conditional write before it sends, so that no member
// gets a notice twice. If Apple accepts the notice for none of a member's phones, the
// claim is released and the message fails, so that the queue delivers it again. While
// Apple is unreachable no member is claimed. Two cases remain: a member who was claimed
// when the process died may get nothing; and a phone for which Apple's answer was lost
// may get the notice again, which replaces the first because of its collapse id.
func (s *Notifier) SendNotices(ctx context.Context, n Notice) error {
	if err := n.check(); err != nil {
		return err
	}
	if !s.now().Before(n.Until) {
		slog.WarnContext(ctx, "notice expired before it was sent", "notice", n.ID, "members", len(n.UserIDs))
		return nil
	}
	m, err := n.message()
	if err != nil {
		return err
	}
	if err := s.sender.Ready(ctx); err != nil {
		return problem.New(problem.Unavailable, "apple_unavailable", "Apple cannot be reached").Because(err)
	}
	run := noticeRun{s, n, rand.Text(), nil}
	var broken error
	tokens := func(yield func(string) bool) {
		for _, user := range n.UserIDs {
			phones, err := run.claim(ctx, user)
			if err != nil {
				broken = err
				return
			}
			for _, p := range phones {
				if !yield(p.Token) {
					return
				}
			}
		}
	}
	outcomes := map[string]push.Outcome{} // by token
	sending, stop := context.WithTimeout(ctx, s.patience)
	defer stop()
	counts, err := s.sender.Send(sending, m, tokens, func(token string, o push.Outcome) { outcomes[token] = o })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // members that were not reached have no outcome, or one that is not Delivered
	}
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{
		telemetry.Count(noticesDelivered, counts.Delivered), telemetry.Count(noticesGone, counts.Gone), telemetry.Count(noticesRetried, counts.Requeued),
	}, slog.String("notice", n.ID))
	missed, gone := run.after(outcomes)
	return errors.Join(broken, err, run.unclaim(ctx, missed), DropDevices(ctx, s.db, gone))
}

// noticeRun is one SendNotices.
type noticeRun struct {
	*Notifier
	notice Notice
	name   string // of the run, in its claims
	claims []claim
}

// claim is a member for whom this run sends, and the member's phones.
type claim struct {
	userID string
	phones []Device
}

// claim claims a member for this run and returns the member's phones: none if the
// member has none or is claimed by another run.
func (r *noticeRun) claim(ctx context.Context, userID string) ([]Device, error) {
	phones, err := DevicesOf(ctx, r.db, userID)
	if err != nil || len(phones) == 0 {
		return nil, err
	}
	err = dynamo.Put(ctx, r.db, tables.MarkNotice, newDelivery(r.notice, item.UserRef(userID), r.name), dynamo.Absent[delivery]("PK").Or(dynamo.Equal[delivery]("by", r.name)))
	if dynamo.IsRefused(err) {
		return nil, nil
	}
	r.claims = append(r.claims, claim{userID, phones}) // also after an error: the claim may have been written
	return phones, err
}

// after returns the members none of whose phones was reached, if a later try can
// succeed, and the phones that are gone.
func (r *noticeRun) after(outcomes map[string]push.Outcome) (missed []string, gone []Device) {
	for _, c := range r.claims {
		reached, later := false, false
		for _, p := range c.phones {
			switch o, ok := outcomes[p.Token]; {
			case ok && o.Result == push.Delivered:
				reached = true
			case !ok || o.Result != push.Gone:
				later = true
			case !item.ParseTime(p.SeenAt).After(o.Since):
				gone = append(gone, p)
			}
		}
		if later && !reached {
			missed = append(missed, c.userID)
		}
	}
	return missed, gone
}

// unclaim releases claims. If there are any it returns an error, so that the queue
// delivers the message again.
func (r *noticeRun) unclaim(ctx context.Context, userIDs []string) error {
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)
	for _, u := range userIDs {
		work.Go(func() error {
			_, err := dynamo.Delete(wctx, r.db, tables.UnmarkNotice, item.Key(noticeKey(r.notice.ID), item.UserRef(u)), dynamo.Equal[delivery]("by", r.name))
			return dynamo.IgnoreRefused(err) // refused: it was not claimed after all
		})
	}
	if err := work.Wait(); err != nil || len(userIDs) == 0 {
		return err
	}
	return problem.New(problem.Unavailable, "members_not_reached", "%d of %d members were not reached", len(userIDs), len(r.notice.UserIDs))
}
