package sqs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"matchday/infra/sim/account"
)

// Mapping is an event source mapping of Lambda: it delivers the messages of a queue to a
// function.
type Mapping struct {
	Queue          string
	BatchSize      int           // messages of an invocation; 0 is 10
	Window         time.Duration // how long to wait for a batch to fill; not for FIFO queues
	MaxConcurrency int           // invocations at once; 0 is 5, with which Lambda begins
}

type mapping struct {
	Mapping
	invoke  func(ctx context.Context, event []byte) ([]byte, error)
	running int
}

// Limits of event source mappings: Lambda Developer Guide, "Using Lambda with
// Amazon SQS".
const (
	defaultConcurrency = 5
	maxMappedBatch     = 10_000
	maxWindow          = 5 * time.Minute
	maxEvent           = 6 << 20 // bytes
)

// waiter is a receive that waits for a message.
type waiter struct {
	n          int
	visibility time.Duration
	got        []message
	end        context.CancelFunc
	resumed    chan struct{} // closed when the receive holds clock work again
}

// deliveryTimer is a timer for the next delivery. The queue's current one delivers; one
// that was replaced while it fired does nothing.
type deliveryTimer struct {
	at   time.Time
	stop func() bool
}

// Poll calls invoke with the messages of a queue, as an events.SQSEvent in JSON, as
// soon as they are visible and fewer than MaxConcurrency invocations run, until Close.
// A queue has at most one mapping. invoke answers like a function with
// ReportBatchItemFailures: with nothing, or with batchItemFailures. The messages that
// it reports are delivered again after the visibility timeout; the other ones are
// deleted. If it returns an error or an invalid answer, the whole batch is delivered
// again. In a FIFO queue a group with a failed message waits until then. A function
// that continues after a failure in a group must also report the later messages of the
// group: as in AWS, a message that is not reported is deleted. invoke is called with
// clock work held, which counts until its outcome is applied. On a free clock an
// invocation begins when the sender of its messages waits or has ended, and before time
// passes. Therefore every run has the same batches.
func (s *Server) Poll(m Mapping, invoke func(ctx context.Context, event []byte) ([]byte, error)) error {
	if m.BatchSize == 0 {
		m.BatchSize = maxBatch
	}

	if m.MaxConcurrency == 0 {
		m.MaxConcurrency = defaultConcurrency
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	q, err := s.lookup(m.Queue)
	if err != nil {
		return fmt.Errorf("map %s: %w", m.Queue, err)
	}

	switch {
	case q.mapping != nil:
		err = fmt.Errorf("map %s: the queue already has a mapping", m.Queue)
	case m.BatchSize < 1 || m.BatchSize > maxMappedBatch || m.Window < 0 || m.Window > maxWindow || m.MaxConcurrency < 1:
		err = fmt.Errorf("map %s: the batch size, window or concurrency is out of range", m.Queue)
	case q.FIFO && (m.Window > 0 || m.BatchSize > maxBatch):
		err = fmt.Errorf("map %s: a FIFO queue has batches of at most %d, and no window", m.Queue, maxBatch)
	case m.BatchSize > maxBatch && m.Window < time.Second:
		err = fmt.Errorf("map %s: a batch over %d needs a window of at least 1 s", m.Queue, maxBatch)
	case q.Visibility == 0:
		err = fmt.Errorf("map %s: the visibility timeout must not be 0", m.Queue)
	}

	if err != nil {
		return err
	}

	q.mapping = &mapping{Mapping: m, invoke: invoke}
	s.arm(q)

	return nil
}

// due returns when q next has a message for a receiver that is ready.
func (s *Server) due(q *queue, now time.Time) (at time.Time, ok bool) {
	mapped := q.mapping != nil && q.mapping.running < q.mapping.MaxConcurrency
	if s.closed || !mapped && len(q.waiters) == 0 {
		return time.Time{}, false
	}

	soonest := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	ready, oldest := 0, now

	blocked := q.groupsInFlight(now)
	for _, m := range q.messages {
		if m.visible.After(now) {
			soonest(m.visible)
			blocked[m.group] = q.FIFO
		} else if !blocked[m.group] {
			ready++

			if m.visible.Before(oldest) {
				oldest = m.visible
			}
		}
	}

	switch {
	case ready == 0:
	case len(q.waiters) > 0 || ready >= q.mapping.BatchSize:
		soonest(now)
	default:
		soonest(latest(now, oldest.Add(q.mapping.Window)))
	}

	return at, ok
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}

	return b
}

// arm sets q's wake to when it is due. It is called with the lock held after every
// change. A timer that is due now fires before a free clock moves, but only after all
// other goroutines have released their work.
func (s *Server) arm(q *queue) {
	now := s.clock.Now()
	if q.timer != nil && !q.timer.at.After(now) && !s.closed {
		return // it fires at once and sets the next one
	}

	at, ok := s.due(q, now)
	if q.timer != nil {
		if ok && q.timer.at.Equal(at) {
			return
		}

		q.timer.stop()
		q.timer = nil
	}

	if ok {
		w := &deliveryTimer{at: at}
		w.stop = s.clock.At(at, func() { s.deliver(q, w) })
		q.timer = w
	}
}

// deliver gives one batch to one waiting receiver.
func (s *Server) deliver(q *queue, w *deliveryTimer) {
	s.mu.Lock()
	if q.timer != w {
		s.mu.Unlock()
		return
	}

	q.timer = nil
	if at, ok := s.due(q, s.clock.Now()); !ok || at.After(s.clock.Now()) {
		s.arm(q)
		s.mu.Unlock()

		return
	}

	if len(q.waiters) > 0 {
		s.answerReceive(q)
		return
	}

	s.invokeMapping(q)
}

// answerReceive gives a batch to the receive that has waited longest. It releases the
// lock.
func (s *Server) answerReceive(q *queue) {
	first := q.waiters[0]

	first.got = s.receiveNow(q, first.n, maxSize*maxBatch, first.visibility)
	if len(first.got) > 0 {
		q.waiters = q.waiters[1:]
	}

	s.arm(q)
	s.mu.Unlock()

	if len(first.got) > 0 {
		first.end()
		<-first.resumed
	}
}

// invokeMapping invokes q's function with a batch. It releases the lock.
func (s *Server) invokeMapping(q *queue) {
	m := q.mapping

	batch := s.receiveNow(q, m.BatchSize, maxEvent, q.Visibility)
	if len(batch) == 0 { // all messages went to the dead-letter queue
		s.arm(q)
		s.mu.Unlock()

		return
	}

	m.running++

	s.invoking.Add(1)
	defer s.invoking.Done()

	s.arm(q)
	s.mu.Unlock()

	event, err := json.Marshal(q.event(batch))

	var answer []byte
	if err == nil {
		answer, err = m.invoke(s.ctx, event)
	}

	var done []message
	if err == nil {
		done = succeeded(batch, answer)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for _, d := range done {
		_ = s.delete(q, d.handle()) // if it has been delivered again meanwhile, it is not deleted
	}

	m.running--

	s.arm(q)
}

// succeeded returns the messages of a batch that a function's answer does not report as
// failed. Source: Lambda Developer Guide, "Implementing partial batch responses".
func succeeded(batch []message, answer []byte) []message {
	var a *struct {
		Failures []struct {
			ID *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if len(answer) > 0 && json.Unmarshal(answer, &a) != nil {
		return nil
	}

	if a == nil {
		return batch
	}

	done := slices.Clone(batch)

	for _, f := range a.Failures {
		is := func(m message) bool { return f.ID != nil && m.id == *f.ID }
		if !slices.ContainsFunc(batch, is) {
			return nil
		}

		done = slices.DeleteFunc(done, is)
	}

	return done
}

func (q *queue) event(batch []message) events.SQSEvent {
	e := events.SQSEvent{Records: make([]events.SQSMessage, 0, len(batch))}
	for _, m := range batch {
		attributes := make(map[string]events.SQSMessageAttribute, len(m.attributes))
		for name, a := range m.attributes {
			attributes[name] = events.SQSMessageAttribute{
				DataType: a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue,
				StringListValues: []string{}, BinaryListValues: [][]byte{},
			}
		}

		e.Records = append(e.Records, events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.handle(), Body: m.body, Md5OfBody: md5Of(m.body),
			Md5OfMessageAttributes: md5OfAttributes(m.attributes),
			Attributes:             q.systemAttributes(m), MessageAttributes: attributes,
			EventSourceARN: ARN(q.Name), EventSource: "aws:sqs", AWSRegion: account.Region,
		})
	}

	return e
}

// systemAttributes are the attributes that SQS itself gives a received message.
func (q *queue) systemAttributes(m message) map[string]string {
	millis := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

	out := map[string]string{
		"ApproximateReceiveCount":          strconv.Itoa(m.receives),
		"ApproximateFirstReceiveTimestamp": millis(m.first),
		"SentTimestamp":                    millis(m.sent),
		"SenderId":                         "AIDALOCAL",
	}
	for name, value := range map[string]string{"MessageGroupId": m.group, "MessageDeduplicationId": m.dedup, "AWSTraceHeader": m.trace} {
		if value != "" {
			out[name] = value
		}
	}

	if q.FIFO {
		out["SequenceNumber"] = sequence(m.sequence)
	}

	if m.source != "" {
		out["DeadLetterQueueSourceArn"] = ARN(m.source)
	}

	return out
}

func sequence(n uint64) string { return fmt.Sprintf("%020d", n) }

// receive returns up to n messages. It waits for the first if there is none. The caller
// holds clock work, which does not count while it waits.
func (s *Server) receive(ctx context.Context, q *queue, n int, wait, visibility time.Duration) []message {
	s.mu.Lock()
	batch := s.receiveNow(q, n, maxSize*maxBatch, visibility)
	s.arm(q)

	if len(batch) > 0 || wait == 0 || s.closed {
		s.mu.Unlock()
		return batch
	}

	ctx, end := context.WithCancel(ctx)
	defer end()

	w := &waiter{n: n, visibility: visibility, end: end, resumed: make(chan struct{})}
	q.waiters = append(q.waiters, w)
	s.arm(q)
	until := s.clock.Now().Add(wait)
	s.mu.Unlock()

	_ = s.clock.Sleep(ctx, until) // w.got holds the result

	close(w.resumed)

	s.mu.Lock()
	defer s.mu.Unlock()

	q.waiters = slices.DeleteFunc(q.waiters, func(other *waiter) bool { return other == w })
	s.arm(q)

	return w.got
}
