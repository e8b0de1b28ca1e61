// Package sqs simulates SQS in one process, under a simulated clock.
//
// A Server speaks the AWS JSON protocol, so that the SDK's client works unchanged, and
// delivers to functions as Lambda's event source mappings do. Delays, visibility
// timeouts, batching windows and the deduplication interval run by the simulated clock,
// and a free clock never passes the time at which a message can be delivered to a
// waiting receiver.
//
// Queues live in memory.
package sqs

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
)

// The limits and defaults of the cloud: SQS Developer Guide, "Amazon SQS quotas".
const (
	maxBatch     = 10
	maxSize      = 1 << 20 // bytes of a message with its attributes, and of a batch of them
	maxDelay     = 15 * time.Minute
	maxInFlight  = 12 * time.Hour // visibility timeout
	maxWait      = 20 * time.Second
	minRetention = time.Minute
	maxRetention = 14 * 24 * time.Hour

	defaultVisibility = 30 * time.Second
	defaultRetention  = 4 * 24 * time.Hour

	dedupInterval = 5 * time.Minute
	purgeInterval = time.Minute
)

// Queue describes a queue.
type Queue struct {
	Name         string        // ends in .fifo if FIFO
	Visibility   time.Duration // how long a received message stays hidden; 0 is 30 s
	Delay        time.Duration // before a message can be received
	Retention    time.Duration // how long a message is kept; 0 is 4 days
	Wait         time.Duration // default of ReceiveMessage's WaitTimeSeconds
	DeadLetter   string        // the queue for messages that were received MaxReceives times; "" for none
	MaxReceives  int
	FIFO         bool
	ContentDedup bool // of a FIFO queue: the default of Dedup is a hash of the body
}

// Message is a message as its sender makes it, and as Messages shows it.
type Message struct {
	Body       string
	Attributes map[string]Attribute
	Delay      time.Duration // 0 for the queue's
	Group      string        // required in a FIFO queue
	Dedup      string        // FIFO only: of the messages with equal ids within 5 minutes, one is kept

	// Set by the server.
	ID       string
	Sent     time.Time
	Visible  time.Time // from when it can be received
	Receives int
	InFlight bool // received, and neither deleted nor visible again
}

// Attribute is a message attribute: String and Number types have a StringValue,
// Binary ones a BinaryValue.
type Attribute struct {
	DataType    string
	StringValue *string `json:",omitzero"`
	BinaryValue []byte  `json:",omitempty"`
}

// Depth counts the messages that a queue holds now and those that it has processed.
type Depth struct {
	Queue    string
	Visible  int
	Delayed  int
	InFlight int
	Oldest   time.Duration // age of the oldest held

	Sent     int
	Received int // deliveries, so a message may count more than once
	Deleted  int
	Dead     int // moved to the dead-letter queue
}

// Server holds the queues. Create it with New.
type Server struct {
	clock *clock.Clock
	url   string
	ctx   context.Context // of the mappings' invocations
	stop  context.CancelFunc

	mu       sync.Mutex
	queues   map[string]*queue
	faultOf  func(queue, body string, sent time.Time) Fault
	sequence uint64
	closed   bool
	invoking sync.WaitGroup
}

// New returns a server without queues. url is where it will be reached, as in
// http://localhost:9324; queue URLs begin with it.
func New(c *clock.Clock, url string) *Server {
	ctx, stop := context.WithCancel(context.Background())
	return &Server{clock: c, url: strings.TrimSuffix(url, "/"), ctx: ctx, stop: stop, queues: map[string]*queue{}}
}

// URL returns the URL of the queue with a name.
func (s *Server) URL(name string) string { return s.url + "/" + account.ID + "/" + name }

// ARN returns the Amazon Resource Name of the queue with a name.
func ARN(name string) string {
	return "arn:aws:sqs:" + account.Region + ":" + account.ID + ":" + name
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// Create adds a queue. Its dead-letter queue must be there already.
func (s *Server) Create(q Queue) error {
	if q.Visibility == 0 {
		q.Visibility = defaultVisibility
	}

	if q.Retention == 0 {
		q.Retention = defaultRetention
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	return s.create(q)
}

func (s *Server) create(q Queue) error {
	base, fifo := strings.CutSuffix(q.Name, ".fifo")
	if !validName.MatchString(base) || len(q.Name) > 80 || fifo != q.FIFO {
		return refuse("InvalidParameterValue", "A queue's name is at most 80 letters, digits, - and _, with .fifo at the end of a FIFO "+
			"queue's; %q is not.", q.Name)
	}

	if s.queues[q.Name] != nil {
		return refuse("QueueNameExists", "The queue %s exists.", q.Name)
	}

	if err := s.check(q); err != nil {
		return err
	}

	now := s.clock.Now()
	s.queues[q.Name] = &queue{Queue: q, created: now, modified: now, maxSize: maxSize, receipts: map[string]receipt{}}

	return nil
}

// check refuses settings out of range.
func (s *Server) check(q Queue) error {
	for _, d := range []struct {
		name             string
		value, low, high time.Duration
	}{
		{"VisibilityTimeout", q.Visibility, 0, maxInFlight},
		{"DelaySeconds", q.Delay, 0, maxDelay},
		{"MessageRetentionPeriod", q.Retention, minRetention, maxRetention},
		{"ReceiveMessageWaitTimeSeconds", q.Wait, 0, maxWait},
	} {
		if d.value < d.low || d.value > d.high {
			return refuse("InvalidAttributeValue", "%s of %v is not between %v and %v.", d.name, d.value, d.low, d.high)
		}
	}

	if q.ContentDedup && !q.FIFO {
		return refuse("InvalidAttributeName", "ContentBasedDeduplication is for FIFO queues.")
	}

	if (q.DeadLetter != "") != (q.MaxReceives > 0) || q.MaxReceives < 0 || q.MaxReceives > 1000 {
		return refuse("InvalidAttributeValue", "A dead-letter queue goes with a receive count from 1 to 1000.")
	}

	if q.DeadLetter != "" {
		dead := s.queues[q.DeadLetter]
		if dead == nil || dead.FIFO != q.FIFO || q.DeadLetter == q.Name {
			return refuse("InvalidAttributeValue",
				"%s needs another queue of its own type as its dead-letter queue; %s is not one.", q.Name, q.DeadLetter)
		}
	}

	return nil
}

// Send puts a message into a queue and returns its id. Its errors are of type
// *Error.
func (s *Server) Send(queue string, m Message) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	q, err := s.lookup(queue)
	if err != nil {
		return "", err
	}

	in := sendInput{MessageBody: &m.Body, MessageAttributes: m.Attributes, MessageGroupId: m.Group, MessageDeduplicationId: m.Dedup}
	r, err := s.send(q, in, m.Delay)

	return r.id, err
}

// Fault is an injected fault of a message in a standard queue. SQS itself reorders and
// repeats messages.
type Fault struct {
	Delay          time.Duration // added to the time at which the message becomes visible
	RedeliverAfter time.Duration // from its deletion to one more delivery; 0 for none
}

// InjectFaults calls faultOf for every message that is sent to a standard queue from now
// on. nil ends it. While it is set, messages that are sent at the same simulated time
// are ordered by their bodies, so that every run is the same.
func (s *Server) InjectFaults(fate func(queue, body string, sent time.Time) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.faultOf = fate
}

// Depth counts a queue's messages. It returns zero for an unknown queue.
func (s *Server) Depth(queue string) Depth {
	s.mu.Lock()
	defer s.mu.Unlock()

	if q := s.queues[queue]; q != nil {
		return q.depth(s.clock.Now())
	}

	return Depth{Queue: queue}
}

// Stats counts every queue's messages, in the order of the queues' names.
func (s *Server) Stats() []Depth {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.clock.Now()

	stats := make([]Depth, 0, len(s.queues))
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		stats = append(stats, s.queues[name].depth(now))
	}

	return stats
}

// Messages returns the messages of a queue, oldest first, without receiving them.
func (s *Server) Messages(queue string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()

	q := s.queues[queue]
	if q == nil {
		return nil
	}

	now := s.clock.Now()
	q.expire(now)

	out := make([]Message, 0, len(q.messages))
	for _, m := range q.messages {
		out = append(out, Message{
			Body: m.body, Attributes: m.attributes, Group: m.group, Dedup: m.dedup,
			ID: m.id, Sent: m.sent, Visible: m.visible, Receives: m.receives, InFlight: m.inFlight(now),
		})
	}

	return out
}

// Close stops the mappings, ends the contexts of their invocations, and waits until
// these have returned. Waiting receives return empty.
func (s *Server) Close() {
	s.mu.Lock()

	s.closed = true
	for _, q := range s.queues {
		s.arm(q)

		for _, w := range q.waiters {
			w.end()
		}
	}
	s.mu.Unlock()
	s.stop()
	s.invoking.Wait()
}

// lookup finds a queue by its name or URL.
func (s *Server) lookup(name string) (*queue, error) {
	q := s.queues[name[strings.LastIndex(name, "/")+1:]]
	if q == nil {
		return nil, refuse("QueueDoesNotExist", "The specified queue does not exist.")
	}

	return q, nil
}

// Error is an error of the SQS API, with its code and message.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func refuse(code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
