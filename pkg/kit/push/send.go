package push

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/sideshow/apns2"
)

// Result is what became of a message for one token.
type Result uint8

const (
	Delivered Result = iota // APNs has it, which does not prove that a phone shows it
	Gone                    // the token is dead: remove it, unless it was registered again after Since
	Dropped                 // a Live Activity update that could not be delivered in time: the next makes up for it
	Requeue                 // not delivered for reasons that pass: send it again later
)

func (r Result) String() string {
	return [...]string{"delivered", "gone", "dropped", "requeue"}[r]
}

// Outcome is the end of one push.
type Outcome struct {
	Result Result
	Reason string    // APNs' word; empty when delivered, or when it never answered
	Since  time.Time // of Gone: when the token was known to be dead
}

// Counts sums up a run.
type Counts struct {
	Delivered, Gone, Dropped, Requeued int
	Retries                            int // pushes sent more than once, counted each time
}

// ErrLate ends a run whose message outlived its deadline.
var ErrLate = errors.New("push: the message's deadline has passed")

// Send pushes m to tokens and reports each one's outcome, one call at a time.
// Every token it takes has exactly one outcome. After an answer was lost a push
// is sent again, so a phone may get it twice: Live Activities are ordered by
// their timestamp, alerts replaced by their collapse id. Only a start, which each
// time starts another activity, is not: its outcome is a Requeue without a Reason,
// and the phone may have it.
//
// A newer state supersedes a message by ending ctx. When ctx ends, the message's
// deadline passes (ErrLate) or APNs refuses us (*Refused), Send takes no more
// tokens and returns why, after the pushes in flight have their outcome.
func (s *Sender) Send(ctx context.Context, m *Message, tokens iter.Seq[string], outcome func(token string, o Outcome)) (Counts, error) {
	ctx, stop := s.life(ctx, m)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	heads, err := s.heads(func(bearer string) *head {
		return m.head(s.lines[0].host, bearer, "apns-topic", s.topic(m))
	})
	if err != nil {
		return Counts{}, err
	}
	r := &run{Sender: s, m: m, heads: heads, fail: cancel, feed: make(chan string), outcome: outcome}
	all := true
	for token := range tokens {
		if all = r.hand(ctx, token); !all {
			break
		}
	}
	close(r.feed)
	r.workers.Wait()
	if all && r.counts.Dropped+r.counts.Requeued == 0 {
		return r.counts, nil // whatever ended ctx came too late
	}
	return r.counts, context.Cause(ctx)
}

// life is ctx, ended by the message's deadline.
func (s *Sender) life(ctx context.Context, m *Message) (context.Context, context.CancelFunc) {
	if m.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, m.deadline.Sub(s.cfg.Now()), ErrLate)
}

// run is one Send.
type run struct {
	*Sender
	m     *Message
	heads *heads
	fail  context.CancelCauseFunc

	feed    chan string
	workers sync.WaitGroup
	started int

	mu      sync.Mutex
	outcome func(string, Outcome)
	counts  Counts
}

// hand gives a token to an idle worker, or to a new one while there may be
// more. Few tokens need few connections, so these fill up one by one.
func (r *run) hand(ctx context.Context, token string) bool {
	select {
	case r.feed <- token:
		return true
	case <-ctx.Done():
		return false
	default:
	}
	if r.started < r.cfg.Connections*r.cfg.InFlight {
		l := r.lines[r.started/r.cfg.InFlight]
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

func (r *run) work(ctx context.Context, l *line, token string) {
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

// push sends to one token until its fate is known.
func (r *run) push(ctx context.Context, l *line, token string) (o Outcome, tries int) {
	if !isToken(token) { // APNs closes connections for these
		return Outcome{Result: Gone, Reason: apns2.ReasonBadDeviceToken, Since: r.cfg.Now()}, 0
	}
	a, tries, err := r.exchange(ctx, l, "/3/device/"+token, r.heads, r.m.body, r.m.once())
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

// topic is the apns-topic of a message to a device.
func (s *Sender) topic(m *Message) string {
	if m.pushType == apns2.PushTypeLiveActivity {
		return s.cfg.Bundle + ".push-type.liveactivity"
	}
	return s.cfg.Bundle
}

// isToken reports whether APNs could have given out token: bytes in
// hexadecimal, at most 100.
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
