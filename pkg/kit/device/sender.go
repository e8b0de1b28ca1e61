package device

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// Recipients are who gets data of users by a notification, for the privacy notice of a room.
var Recipients = []spec.Recipient{
	{Name: "Apple", Gets: "the token of the phone, and the text of each notification", Why: "to reach iPhones"},
	{Name: "Google", Gets: "the token of the phone, and the text of each notification", Why: "to reach Android phones"},
}

// Sender sends to iPhones by Apple, and to Android phones by Google. It is safe for concurrent use.
type Sender struct {
	apple  *push.Sender
	google *fcm.Sender // nil: the stage has no Android phones
	now    func() time.Time
}

// OpenSender opens the sender of a function. key and bundle name the secret and the setting of Apple, as
// for push.Settings; Google's are those of fcm.Settings. It dials nothing.
func OpenSender(ctx context.Context, env app.Env, key, bundle string) (*Sender, error) {
	c, err := push.ConfigOf(ctx, env, key, bundle)
	if err != nil {
		return nil, err
	}

	apple, err := push.Open(c)
	if err != nil {
		return nil, err
	}

	return NewSender(apple, fcm.OpenEnv(env), env.Now), nil
}

// NewSender returns a sender by the clients of Apple and Google, which is nil at a stage without Android
// phones.
func NewSender(apple *push.Sender, google *fcm.Sender, now func() time.Time) *Sender {
	return &Sender{apple, google, now}
}

// Message is a notification, encoded once for any number of phones.
type Message struct {
	apple  *push.Message
	google *fcm.Message
}

// Encode returns a notification. Errors: push.ErrTooLarge, fcm.ErrTooLarge.
func (s *Sender) Encode(a push.Alert) (*Message, error) {
	apple, err := push.Notify(a)
	if err != nil {
		return nil, err
	}

	google, err := fcm.Notify(s.now(), a)

	return &Message{apple, google}, err
}

// sendTime is the time for Apple and Google, out of the 30 s of a function that sends: the rest is for
// reading phones before, and for recording who was reached.
const sendTime = 12 * time.Second

// Delivery is the result of a notification.
type Delivery struct {
	push.Counts
	Reached []Device // Apple or Google has accepted the notification for them
	Missed  []Device // a later try can reach them
	Skipped int      // whose token is of another environment, or of Google at a stage without Android
}

// Push sends a notification to phones, and deletes those whose tokens are unregistered, unless they
// were registered again since. iPhones do not wait for Google, nor Android phones for Apple. When the
// time is over, phones that have no answer are missed. A phone displays a notification that is sent
// twice once, if it has a collapse id. Errors: apple_unavailable, google_unavailable.
func (s *Devices) Push(ctx context.Context, to *Sender, m *Message, phones iter.Seq[Device]) (Delivery, error) {
	d, refused, err := s.push(ctx, to, m, phones)
	return d, errors.Join(refused, err)
}

// push is Push. refused is the error of Apple and Google, and err that of the table.
func (s *Devices) push(ctx context.Context, to *Sender, m *Message, phones iter.Seq[Device]) (d Delivery, refused, err error) {
	var apple, google []Device

	for p := range phones {
		switch {
		case p.Takes(s.environment):
			apple = append(apple, p)
		case p.Kind == push.FCM && to.google != nil:
			google = append(google, p)
		default:
			d.Skipped++
		}
	}

	limited, stop := context.WithTimeout(ctx, s.Limit)
	defer stop()

	var (
		both   sync.WaitGroup
		byKind [2]sent
		errs   [2]error
	)

	if len(apple) > 0 {
		both.Go(func() { byKind[0], errs[0] = to.sendApple(limited, m, apple) })
	}

	if len(google) > 0 {
		both.Go(func() { byKind[1], errs[1] = to.sendGoogle(limited, m, google) })
	}

	both.Wait()

	for i, taken := range [...][]Device{apple, google} {
		d.add(byKind[i].counts)

		for _, p := range taken {
			switch o, ok := byKind[i].outcomes[p.Token]; {
			case ok && o.Result == push.Delivered:
				d.Reached = append(d.Reached, p)
			case !ok || o.Result != push.Unregistered:
				d.Missed = append(d.Missed, p)
			case int64(p.SeenAt) <= o.Since.Unix():
				same := dynamo.Unchanged(p, "userId", "seenAt")
				err = errors.Join(err, dynamo.IgnoreRefused(s.drop(ctx, p.Token, same)))
			}
		}
	}

	return d, errors.Join(errs[:]...), err
}

// sent is what one service did with a notification.
type sent struct {
	counts   push.Counts
	outcomes map[string]push.Outcome // by token
}

// sendApple sends to iPhones. Errors: apple_unavailable.
func (s *Sender) sendApple(ctx context.Context, m *Message, phones []Device) (sent, error) {
	if err := s.apple.Ready(ctx); err != nil {
		return sent{}, problem.New(problem.Unavailable, "apple_unavailable", "Apple cannot be reached").Because(err)
	}

	out := sent{outcomes: make(map[string]push.Outcome, len(phones))}
	counts, err := s.apple.Send(ctx, m.apple, tokens(phones), out.add)
	out.counts = counts

	return out, unlessLate(err)
}

// sendGoogle sends to Android phones. Errors: google_unavailable.
func (s *Sender) sendGoogle(ctx context.Context, m *Message, phones []Device) (sent, error) {
	out := sent{outcomes: make(map[string]push.Outcome, len(phones))}
	counts, err := s.google.Send(ctx, m.google, tokens(phones), out.add)
	out.counts = counts

	switch _, limited := errors.AsType[*fcm.Limited](err); {
	case limited:
		err = problem.New(problem.Unavailable, "google_unavailable", "Google takes nothing for now").Because(err)
	case errors.Is(err, fcm.ErrKey):
		err = problem.New(problem.Unavailable, "google_unavailable", "the key of Google is missing or not valid").Because(err)
	}

	return out, unlessLate(err)
}

// add adds the outcome of a token.
func (s sent) add(token string, o push.Outcome) { s.outcomes[token] = o }

// tokens returns the tokens of phones.
func tokens(phones []Device) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range phones {
			if !yield(p.Token) {
				return
			}
		}
	}
}

// unlessLate returns err, unless it is the end of the time: phones that were not reached have no outcome.
func unlessLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}

	return err
}

// add adds the counts of a service.
func (d *Delivery) add(c push.Counts) {
	d.Delivered += c.Delivered
	d.Gone += c.Gone
	d.Dropped += c.Dropped
	d.Requeued += c.Requeued
	d.Retries += c.Retries
}

// Send is Push to the phones of one user. It returns phones_not_reached if a later try can reach one of
// them. A user with a phone that was reached has the notification: that others were not is logged, because a
// later try would ring that phone again.
func (s *Devices) Send(ctx context.Context, to *Sender, m *Message, phones []Device) (push.Counts, error) {
	d, failed, err := s.push(ctx, to, m, slices.Values(phones))
	if missed := len(d.Missed); missed > 0 {
		failed = errors.Join(failed,
			problem.New(problem.Unavailable, "phones_not_reached", "%d of %d phones were not reached", missed, len(phones)))
	}

	if failed != nil && len(d.Reached) > 0 {
		slog.WarnContext(ctx, "a notification reached some phones of a user only", "reached", len(d.Reached), "err", failed)

		failed = nil
	}

	return d.Counts, errors.Join(failed, err)
}
