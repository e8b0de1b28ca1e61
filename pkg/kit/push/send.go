package push

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sideshow/apns2"

	"matchday/pkg/kit/push/h2conn"
)

// Result is the result of a message for one token.
type Result uint8

const (
	Delivered    Result = iota // APNs accepted it, which does not prove that a phone displays it
	Unregistered               // the token is not valid, or not any more: delete it, unless it was registered again after Since
	Dropped                    // a Live Activity update was not delivered in time: the next one replaces it
	Requeue                    // not delivered for a temporary reason: send it again later
)

func (r Result) String() string {
	return [...]string{"delivered", "unregistered", "dropped", "requeue"}[r]
}

// Outcome is the end of one push.
type Outcome struct {
	Result Result
	Reason string    // APNs' reason; empty when delivered, or without an answer
	Since  time.Time // of Unregistered: since when, by Apple or else by our clock
}

// Counts are the results of a run. Gone counts the tokens that are Unregistered, as the metrics
// PushesGone, AlertsGone and NoticesGone of the rooms do.
type Counts struct {
	Delivered, Gone, Dropped, Requeued int
	Retries                            int // pushes sent more than once, counted each time
}

// ErrLate ends a run when the message's deadline passes.
var ErrLate = errors.New("push: the message's deadline has passed")

// Send pushes m to tokens. It calls outcome exactly once for each token that it takes, never
// concurrently. It does not take the token at which it ends the iteration.
//
// A push whose answer was lost is sent again, so a phone may get it twice. That does no harm: a
// phone orders Live Activity states by their timestamp, and replaces alerts by their collapse
// id. A start is not sent again, because each one starts another activity: its outcome is
// Requeue without a Reason, and the phone may have received it.
//
// End ctx to stop a message that a newer state replaces. Send takes no more tokens when ctx
// ends, when the message's deadline passes (ErrLate), or when APNs refuses the credentials or
// the message (*Refused). It then waits for the pushes in flight, and returns the cause.
func (s *Sender) Send(ctx context.Context, m *Message, tokens iter.Seq[string], outcome func(token string, o Outcome)) (Counts, error) {
	ctx, stop := s.life(ctx, m)
	defer stop()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	template, err := s.template(func(bearer string) *h2conn.Header {
		return m.header(s.clients[0].Host, bearer, "apns-topic", s.topic(m))
	})
	if err != nil {
		return Counts{}, err
	}

	r := &run{Sender: s, m: m, template: template, fail: cancel, outcome: outcome}
	r.feed.space = make(chan struct{}, 1)
	all := true

	for token := range tokens {
		if !isToken(token) { // APNs closes the connection on these
			r.mu.Lock()
			r.report(token, r.unregistered(apns2.ReasonBadDeviceToken, time.Time{}), 0)
			r.mu.Unlock()

			continue
		}

		if all = r.feed.put(ctx, token); !all {
			break
		}
		// Lanes start one after the other, so that few tokens use few connections.
		if n := int(r.feed.added.Load()); n > len(r.lanes)*r.cfg.InFlight && len(r.lanes) < r.cfg.Connections {
			l := &lane{run: r, client: r.clients[len(r.lanes)], completions: h2conn.NewCompletions()}
			r.lanes = append(r.lanes, l)
			r.workers.Go(func() { l.work(ctx) })
		}
	}

	r.feed.wake(true)
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

// errStuck is the error of pushes for which a connection never had room.
var errStuck = errors.New("push: the connection has no room")

// run is one Send. Its lanes take tokens from the feed, each as many as it has room for.
type run struct {
	*Sender
	m        *Message
	template *headerTemplate
	fail     context.CancelCauseFunc

	feed    feed
	lanes   []*lane
	workers sync.WaitGroup

	mu      sync.Mutex
	outcome func(string, Outcome)
	counts  Counts
}

// report counts the outcome of a push. The caller holds mu.
func (r *run) report(token string, o Outcome, tries int) {
	r.counts.Retries += max(tries-1, 0)

	switch o.Result {
	case Delivered:
		r.counts.Delivered++
	case Unregistered:
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

// unregistered returns the outcome of an unregistered token.
func (r *run) unregistered(reason string, since time.Time) Outcome {
	if since.IsZero() {
		since = r.cfg.Now()
	}

	return Outcome{Result: Unregistered, Reason: reason, Since: since}
}

// push sends to one token until its outcome is known, after a first try.
func (r *run) push(ctx context.Context, client *h2conn.Client, token string, first attempt) (o Outcome, tries int) {
	a, tries, err := r.exchange(ctx, client, "/3/device/"+token, r.template, r.m.body, r.m.once(), &first)
	switch _, refused := errors.AsType[*Refused](err); {
	case refused:
		r.fail(err)
	case err == nil && a.next() == unregister:
		return r.unregistered(a.reason, a.since), tries
	case err == nil:
		return Outcome{Result: Delivered}, tries
	}

	o = Outcome{Result: Requeue, Reason: a.reason}
	if r.m.fleeting() {
		o.Result = Dropped
	}

	return o, tries
}

// lane sends a run's pushes on one connection, and on another when it has ended. A
// push that does not succeed at once is sent again by a goroutine of its own.
type lane struct {
	*run
	client      *h2conn.Client
	completions *h2conn.Completions
	conns       []*h2conn.Conn // that may have requests of the lane

	tokens []string          // scratch
	todo   []*h2conn.Request // taken and not sent yet
	busy   int               // pushes that were sent, and whose outcome is not known
	done   []*h2conn.Request // scratch: requests that ended
	free   []*h2conn.Request // to be used again

	slow atomic.Int32 // pushes that ended in goroutines of their own since the last collect
}

func (l *lane) work(ctx context.Context) {
	ended := ctx.Done()
	for {
		l.collect(ctx)

		more := l.take()
		if len(l.todo)+l.busy == 0 && !more {
			for _, r := range l.free {
				l.requests.Put(r)
			}

			return
		}

		if ctx.Err() == nil {
			l.send(ctx)
		} else {
			ended = nil

			for _, c := range l.conns {
				c.Abandon(l.completions, context.Cause(ctx))
			}

			if len(l.todo) > 0 {
				l.retry(ctx, context.Cause(ctx))
				continue
			}
		}

		var stuck <-chan time.Time
		if l.busy == 0 && len(l.todo) > 0 { // there is no room, and no answer to this lane will make room
			stuck = time.After(l.cfg.AnswerTimeout)
		}

		select {
		case <-l.completions.Wake():
		case <-ended:
		case <-stuck:
			l.retry(ctx, errStuck)
		}
	}
}

// collect reports the outcomes of the requests that have ended, and starts the next
// try of those that have none yet.
func (l *lane) collect(ctx context.Context) {
	l.done = l.completions.Take(l.done)
	l.busy -= len(l.done) + int(l.slow.Swap(0))
	again := l.done[:0]
	l.mu.Lock()
	for _, r := range l.done {
		a := read(r.Answer)
		switch next := a.next(); {
		case r.Err == nil && next == done:
			l.report(r.Name, Outcome{Result: Delivered}, 1)
		case r.Err == nil && next == unregister:
			l.report(r.Name, l.unregistered(a.reason, a.since), 1)
		default:
			again = append(again, r)
			continue
		}

		l.recycle(r)
	}
	l.mu.Unlock()

	for _, r := range again {
		l.again(ctx, r)
	}
}

// take takes tokens from the feed for all free places, and reports whether there may be more.
func (l *lane) take() (more bool) {
	l.tokens, more = l.feed.take(l.tokens[:0], l.cfg.InFlight-l.busy-len(l.todo), l.completions)
	for _, token := range l.tokens {
		if len(l.free) == 0 {
			r := l.requests.Get().(*h2conn.Request)
			r.Completions = l.completions
			l.free = append(l.free, r)
		}

		last := len(l.free) - 1
		r := l.free[last]
		l.free = l.free[:last]
		r.Name = token
		l.todo = append(l.todo, r)
	}

	return more
}

// send sends what the connection has room for.
func (l *lane) send(ctx context.Context) {
	if len(l.todo) == 0 {
		return
	}

	h := l.template.current.Load()

	c, err := l.client.Conn(ctx, h.Bearer())
	if err == nil {
		if !slices.Contains(l.conns, c) {
			l.conns = append(slices.DeleteFunc(l.conns, (*h2conn.Conn).Ended), c)
		}

		due := time.Now().Add(l.cfg.AnswerTimeout)
		for _, r := range l.todo {
			r.Header, r.Deadline = h, due
		}

		var n int

		n, err = c.Send(l.todo, "/3/device/", l.m.body)
		l.busy += n
		l.todo = slices.Delete(l.todo, 0, n)
	}

	if err != nil {
		l.retry(ctx, err)
	}
}

// retry ends the first try of all that was not sent.
func (l *lane) retry(ctx context.Context, err error) {
	for _, r := range l.todo {
		r.Err, r.Header = err, l.template.current.Load()
		l.again(ctx, r)
	}

	l.todo = l.todo[:0]
}

// again continues with a push after its first try.
func (l *lane) again(ctx context.Context, r *h2conn.Request) {
	token, first := r.Name, attempt{read(r.Answer), r.Err, r.Header}
	first.Body = nil

	l.recycle(r)

	end := func() {
		o, tries := l.push(ctx, l.client, token, first)
		l.mu.Lock()
		defer l.mu.Unlock()

		l.report(token, o, tries)
	}
	if ctx.Err() != nil { // it ends at once
		end()
		return
	}

	l.busy++
	l.workers.Go(func() {
		end()
		l.slow.Add(1)
		l.completions.Notify()
	})
}

// recycle keeps a request for another push.
func (l *lane) recycle(r *h2conn.Request) {
	r.Answer, r.Err, r.Name = h2conn.Answer{Body: r.Body[:0]}, nil, ""
	l.free = append(l.free, r)
}

// feed is a queue of tokens from one goroutine to the lanes, which take them by
// batches.
type feed struct {
	ring   [1024]string
	added  atomic.Uint32
	taken  atomic.Uint32
	hungry atomic.Bool   // lanes are waiting
	space  chan struct{} // has an element when half of the ring is free

	mu     sync.Mutex            // held by take
	lanes  []*h2conn.Completions // of the lanes that wait for tokens
	closed bool
}

// put adds a token. It returns false if ctx ended.
func (f *feed) put(ctx context.Context, token string) bool {
	n := f.added.Load()
	for full := true; full; {
		full = n-f.taken.Load() == uint32(len(f.ring))

		select {
		case <-ctx.Done():
			return false
		default:
		}

		if full {
			select {
			case <-f.space:
			case <-ctx.Done():
			}
		}
	}

	f.ring[n%uint32(len(f.ring))] = token
	f.added.Store(n + 1)

	if f.hungry.Load() {
		f.wake(false)
	}

	return true
}

// wake notifies the lanes that wait for tokens. After the last call no more come.
func (f *feed) wake(last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = last
	f.hungry.Store(false)

	for _, lane := range f.lanes {
		lane.Notify()
	}

	f.lanes = f.lanes[:0]
}

// take appends at most n tokens to to, and reports whether there may be more. If
// there are fewer, lane is notified when one is added.
func (f *feed) take(to []string, n int, lane *h2conn.Completions) (tokens []string, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for next := f.taken.Load(); ; {
		for ; n > 0 && next != f.added.Load(); n-- {
			to = append(to, f.ring[next%uint32(len(f.ring))])
			next++
		}

		f.taken.Store(next)

		if f.added.Load()-next <= uint32(len(f.ring)/2) {
			select {
			case f.space <- struct{}{}:
			default:
			}
		}

		if n <= 0 || f.closed {
			return to, !f.closed || next != f.added.Load()
		}

		if f.hungry.Load() && slices.Contains(f.lanes, lane) {
			return to, true
		}

		f.lanes = append(f.lanes, lane)
		f.hungry.Store(true) // check again: put may have added a token before
	}
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

	for i := range len(token) {
		if !hexadecimal[token[i]] {
			return false
		}
	}

	return true
}

// hexadecimal is true for the digits.
var hexadecimal = func() (is [256]bool) {
	for _, c := range "0123456789abcdefABCDEF" {
		is[c] = true
	}

	return is
}()
