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

// Notice asks for a notification to the phones of up to maxUsers members, each of
// whom gets it once.
type Notice struct {
	ID      string    `json:"id"` // of what is told: a member is told once for each
	Title   string    `json:"title"`
	Body    string    `json:"body"`
	EventID string    `json:"eventId"` // what a tap opens
	Until   time.Time `json:"until"`   // when it is of no use any more
	UserIDs []string  `json:"userIds"`
}

// MaxUsers is how many members one message is for.
const MaxUsers = 100

// Send has members told, in messages of maxUsers.
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
		return problem.In("id", "the notice has no id")
	case n.Title == "" || n.Body == "":
		return problem.In("body", "the notice %.80q says nothing", n.ID)
	case n.Until.IsZero():
		return problem.In("until", "the notice %.80q does not say until when", n.ID)
	case len(n.UserIDs) == 0 || len(n.UserIDs) > MaxUsers:
		return problem.In("userIds", "the notice %.80q is for %d members, not 1 to %d", n.ID, len(n.UserIDs), MaxUsers)
	}
	return nil
}

// message is what Apple gets. A phone shows one notification for each collapse id,
// for which Apple allows 64 bytes.
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
		err = problem.New(problem.Invalid, "notice_too_long", "the notice %.80q is too long", n.ID).Because(err)
	}
	return m, err
}

const noticeType = "notice"

// delivery is the item of a notice that a member has got, or, with the sort key DONE,
// that all who are to get it were found.
type delivery struct {
	item.Row
	By  string `dynamodbav:"by,omitempty"` // the run that claimed it
	TTL int64  `dynamodbav:"ttl"`
}

const (
	noticeDone = "DONE"

	// keepNotices is how long after its time it is known that a notice was sent:
	// clocks differ by less.
	keepNotices = 24 * time.Hour
)

func noticeKey(id string) string { return "NOTICE#" + id }

func newDelivery(n Notice, sk, by string) delivery {
	return delivery{item.Row{PK: noticeKey(n.ID), SK: sk, Type: noticeType}, by, n.Until.Add(keepNotices).Unix()}
}

// Notifier sends notices.
type Notifier struct {
	db       dynamo.DB
	sender   *push.Sender
	now      func() time.Time
	patience time.Duration // with Apple, for one message
}

// sendTime leaves the function, of half a minute, time to find phones before and to
// give claims back after.
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

// SendNotices sends a notice to the phones of its members, and forgets phones that
// are gone. After its time it sends nothing.
//
// Each member is claimed just before, so that nobody is told twice, whatever runs
// twice. If Apple takes the notice for none of a member's phones, the claim is given
// back, and the message fails, to be tried again; while Apple cannot be reached,
// nobody is claimed. So a second run tells those whom the first did not: but for who
// was claimed when a process died, and may have got nothing. Where Apple did not
// answer the phone may have it, and shows it once, in place of the first.
func (s *Notifier) SendNotices(ctx context.Context, n Notice) error {
	if err := n.check(); err != nil {
		return err
	}
	if !s.now().Before(n.Until) {
		slog.WarnContext(ctx, "a notice came too late", "notice", n.ID, "members", len(n.UserIDs))
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
		err = nil // who was not reached has no outcome, or one that says so
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

// claim is a member whom this run is to tell, and on which phones.
type claim struct {
	userID string
	phones []Device
}

// claim makes a member's notice this run's to send, and returns the phones that it
// is for: none for who has none, or was claimed by another run.
func (r *noticeRun) claim(ctx context.Context, userID string) ([]Device, error) {
	phones, err := DevicesOf(ctx, r.db, userID, maxDevices)
	if err != nil || len(phones) == 0 {
		return nil, err
	}
	err = dynamo.Put(ctx, r.db, tables.MarkNotice, newDelivery(r.notice, item.UserRef(userID), r.name), item.Absent("PK").Or(item.Equals("by", r.name)))
	if dynamo.IsRefused(err) {
		return nil, nil
	}
	r.claims = append(r.claims, claim{userID, phones}) // also for an error, which may have come after the claim
	return phones, err
}

// after are the members none of whose phones was reached, though one may be later,
// and the phones that are gone.
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

// unclaim gives claims back. If there are any it fails, so that the message is
// handled again.
func (r *noticeRun) unclaim(ctx context.Context, userIDs []string) error {
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)
	for _, u := range userIDs {
		work.Go(func() error {
			_, err := dynamo.Delete(wctx, r.db, tables.UnmarkNotice, item.Key(noticeKey(r.notice.ID), item.UserRef(u)), item.Equals("by", r.name))
			return dynamo.IgnoreRefused(err) // refused: it was not claimed after all
		})
	}
	if err := work.Wait(); err != nil || len(userIDs) == 0 {
		return err
	}
	return problem.New(problem.Unavailable, "members_not_reached", "%d of %d members were not reached", len(userIDs), len(r.notice.UserIDs))
}
