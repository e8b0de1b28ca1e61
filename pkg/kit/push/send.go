package push

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/sideshow/apns2"
)

// Result is the result of a message for one token.
type Result uint8

const (
	Delivered Result = iota // APNs accepted it, which does not prove that a phone shows it
	Gone                    // the token is invalid: delete it, unless it was registered again after Since
	Dropped                 // a Live Activity update was not delivered in time: the next one replaces it
	Requeue                 // not delivered for a temporary reason: send it again later
)

func (r Result) String() string {
	return [...]string{"delivered", "gone", "dropped", "requeue"}[r]
}

// Outcome is the end of one push.
type Outcome struct {
	Result Result
	Reason string    // APNs' reason; empty when delivered, or without an answer
	Since  time.Time // of Gone: when the token became invalid
}

// Counts are the results of a run.
type Counts struct {
	Delivered, Gone, Dropped, Requeued int
	Retries                            int // pushes sent more than once, counted each time
}

// ErrLate ends a run when the message's deadline passes.
var ErrLate = errors.New("push: the message's deadline has passed")

// Send pushes m to tokens. It calls outcome exactly once for each token that it
// takes, never concurrently.
//
// A push whose answer was lost is sent again, so a phone may get it twice. That does
// no harm: a phone orders Live Activity states by their timestamp, and replaces
// alerts by their collapse id. A start is not sent again, because each one starts
// another activity: its outcome is Requeue without a Reason, and the phone may have
// it.
//
// End ctx to stop a message that a newer state replaces. When ctx ends, the
// message's deadline passes (ErrLate) or APNs refuses the credentials or the message
// (*Refused), Send takes no more tokens, waits for the pushes in flight, and returns
// the cause.
func (s *Sender) Send(ctx context.Context, m *Message, tokens iter.Seq[string], outcome func(token string, o Outcome)) (Counts, error) {
	ctx, stop := s.life(ctx, m)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	template, err := s.template(func(bearer string) *header {
		return m.header(s.slots[0].host, bearer, "apns-topic", s.topic(m))
	})
	if err != nil {
		return Counts{}, err
	}
	r := &run{Sender: s, m: m, template: template, fail: cancel, feed: make(chan string), outcome: outcome}
	all := true
	for token := range tokens {
		if all = r.hand(ctx, token); !all {
			break
		}
	}
	close(r.feed)
	r.workers.Wait()
	if all && r.counts.Dropped+r.counts.Requeued == 0 {
		return r.counts, nil // all were delivered before ctx ended
	}
	return r.counts, context.Cause(ctx)
}

// life returns ctx with the message's deadline.
func (s *Sender) life(ctx context.Context, m *Message) (context.Context, context.CancelFunc) {
	if m.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, m.deadline.Sub(s.cfg.Now()), ErrLate)
}

// run is one Send.
type run struct {
	*Sender
	m        *Message
	template *headerTemplate
	fail     context.CancelCauseFunc

	feed    chan string
	workers sync.WaitGroup
	started int

	mu      sync.Mutex
	outcome func(string, Outcome)
	counts  Counts
}

// hand gives a token to an idle worker, or starts one if the limit allows. Workers
// fill one connection after the other, so that few tokens use few connections. It
// returns false if ctx has ended.
func (r *run) hand(ctx context.Context, token string) bool {
	select {
	case r.feed <- token:
		return true
	case <-ctx.Done():
		return false
	default:
	}
	if r.started < r.cfg.Connections*r.cfg.InFlight {
		l := r.slots[r.started/r.cfg.InFlight]
		r.started++
		r.workers.Go(func() { r.work(ctx, l, token) })
		return true
	}
	select {
	case r.feed <- token:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) work(ctx context.Context, l *connSlot, token string) {
	for ok := true; ok; token, ok = <-r.feed {
		o, tries := r.push(ctx, l, token)
		r.report(token, o, tries)
	}
}

func (r *run) report(token string, o Outcome, tries int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Retries += max(tries-1, 0)
	switch o.Result {
	case Delivered:
		r.counts.Delivered++
	case Gone:
		r.counts.Gone++
	case Dropped:
		r.counts.Dropped++
	case Requeue:
		r.counts.Requeued++
	}
	if r.outcome != nil {
		r.outcome(token, o)
	}
}

// push sends to one token until its outcome is known.
func (r *run) push(ctx context.Context, l *connSlot, token string) (o Outcome, tries int) {
	if !isToken(token) { // APNs closes the connection on these
		return Outcome{Result: Gone, Reason: apns2.ReasonBadDeviceToken, Since: r.cfg.Now()}, 0
	}
	a, tries, err := r.exchange(ctx, l, "/3/device/"+token, r.template, r.m.body, r.m.once())
	switch _, refused := errors.AsType[*Refused](err); {
	case refused:
		r.fail(err)
	case err == nil && a.next() == forget:
		o = Outcome{Result: Gone, Reason: a.reason, Since: a.since}
		if o.Since.IsZero() {
			o.Since = r.cfg.Now()
		}
		return o, tries
	case err == nil:
		return Outcome{Result: Delivered}, tries
	}
	o = Outcome{Result: Requeue, Reason: a.reason}
	if r.m.fleeting() {
		o.Result = Dropped
	}
	return o, tries
}

// topic returns the apns-topic of a message to a device.
func (s *Sender) topic(m *Message) string {
	if m.pushType == apns2.PushTypeLiveActivity {
		return s.cfg.Bundle + ".push-type.liveactivity"
	}
	return s.cfg.Bundle
}

// isToken reports whether token is 1 to 100 bytes in hexadecimal, as APNs' tokens
// are.
func isToken(token string) bool {
	if token == "" || len(token) > 200 || len(token)%2 != 0 {
		return false
	}
	for _, c := range []byte(token) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
