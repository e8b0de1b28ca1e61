package sqs

import (
	"cmp"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

type queue struct {
	Queue
	created, modified time.Time
	maxSize           int

	messages []*message         // in the order they were sent
	receipts map[string]receipt // of a FIFO queue: by deduplication id, for 5 minutes
	purged   time.Time

	waiters []*waiter
	mapping *mapping
	timer   *deliveryTimer

	sent, received, deleted, deadLettered int
}

// receipt is the answer to a sender.
type receipt struct {
	id       string
	sequence uint64
	at       time.Time
}

type message struct {
	id         string
	body       string
	attributes map[string]Attribute
	trace      string // X-Ray's header
	group      string
	dedup      string
	sequence   uint64
	source     string // the queue from which it was moved to the dead-letter queue

	sent           time.Time
	first          time.Time // when it was first received
	visible        time.Time // from when it can be received
	received       bool      // whether it is hidden because it was received
	receives       int
	redeliverAfter time.Duration // from its deletion to one more delivery; 0 for none
}

func (m *message) inFlight(now time.Time) bool { return m.received && m.visible.After(now) }

// handle identifies one receipt of a message.
func (m *message) handle() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s#%d", m.id, m.receives))
}

func (q *queue) depth(now time.Time) Depth {
	q.expire(now)

	d := Depth{Queue: q.Name, Sent: q.sent, Received: q.received, Deleted: q.deleted, Dead: q.deadLettered}
	for _, m := range q.messages {
		d.Oldest = max(d.Oldest, now.Sub(m.sent))
		switch {
		case !m.visible.After(now):
			d.Visible++
		case m.received:
			d.InFlight++
		default:
			d.Delayed++
		}
	}

	return d
}

// expire deletes the messages that are older than the queue's retention.
func (q *queue) expire(now time.Time) {
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return now.Sub(m.sent) > q.Retention })
}

// groupsInFlight holds the groups of a FIFO queue that have a message in flight.
func (q *queue) groupsInFlight(now time.Time) map[string]bool {
	groups := map[string]bool{}

	if q.FIFO {
		for _, m := range q.messages {
			if m.inFlight(now) {
				groups[m.group] = true
			}
		}
	}

	return groups
}

// receiveNow receives messages up to the limits of n and of bytes, but at least one if
// there is one. It moves a message that was received too often to the dead-letter queue
// instead.
func (s *Server) receiveNow(q *queue, n, bytes int, visibility time.Duration) []message {
	now := s.clock.Now()
	q.expire(now)
	blocked := q.groupsInFlight(now)

	var batch []message
	for _, m := range slices.Clone(q.messages) {
		if len(batch) == n {
			break
		}

		if m.visible.After(now) {
			blocked[m.group] = q.FIFO
			continue
		}

		if blocked[m.group] {
			continue
		}

		if q.MaxReceives > 0 && m.receives >= q.MaxReceives {
			s.moveToDeadLetter(q, m)
			continue
		}

		if bytes -= eventSize(m); bytes < 0 && len(batch) > 0 {
			break
		}

		m.receives++

		m.received, m.visible = true, now.Add(visibility)
		if m.first.IsZero() {
			m.first = now
		}

		q.received++

		batch = append(batch, *m)
	}

	return batch
}

// eventSize is about how many bytes m takes in a Lambda event.
func eventSize(m *message) int {
	const rest = 1 << 10

	quoted, _ := jsontext.AppendQuote(nil, m.body)

	return len(quoted) + 2*size("", m.attributes) + rest
}

// moveToDeadLetter moves m to the dead-letter queue. It keeps its id and receive count, and
// in a standard queue its age; the dead-letter queue's delay does not apply.
func (s *Server) moveToDeadLetter(q *queue, m *message) {
	dead := s.queues[q.DeadLetter]
	q.remove(m)
	q.deadLettered++
	now := s.clock.Now()

	m.source, m.received, m.visible = q.Name, false, now
	if dead.FIFO {
		m.sent = now
	}

	s.add(dead, m)
}

// redrive sends the messages of q that are not in flight as new messages to another
// queue or, if to is nil, back to their source queues.
func (s *Server) redrive(q, to *queue) {
	now := s.clock.Now()
	q.expire(now)

	for _, m := range slices.Clone(q.messages) {
		target := to
		if target == nil {
			target = s.queues[m.source]
		}

		if target == nil || m.visible.After(now) {
			continue
		}

		q.remove(m)
		s.add(target, &message{
			id: newID(), body: m.body, attributes: m.attributes, trace: m.trace, group: m.group, dedup: m.dedup,
			sent: now, visible: now,
		})
	}
}

func (q *queue) remove(m *message) {
	if i := slices.Index(q.messages, m); i >= 0 {
		q.messages = slices.Delete(q.messages, i, i+1)
	}
}

// find looks a message up by a receipt handle. The message is nil if it is gone;
// latest reports whether the handle is of its latest receipt.
func (q *queue) find(handle string) (m *message, latest bool, err error) {
	text, err := base64.RawURLEncoding.DecodeString(handle)

	id, _, ok := strings.Cut(string(text), "#")
	if err != nil || !ok {
		return nil, false, refuse("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}

	i := slices.IndexFunc(q.messages, func(m *message) bool { return m.id == id })
	if i < 0 {
		return nil, false, nil
	}

	return q.messages[i], q.messages[i].handle() == handle, nil
}

// delete removes a message by its latest receipt handle. An older handle deletes
// nothing. In a FIFO queue an older or expired handle is an error.
func (s *Server) delete(q *queue, handle string) error {
	m, latest, err := q.find(handle)
	if err != nil || m == nil {
		return err
	}

	if q.FIFO && (!latest || !m.inFlight(s.clock.Now())) {
		return refuse("InvalidParameterValue", "Value for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")
	}

	if !latest {
		return nil
	}

	if m.redeliverAfter > 0 && (q.MaxReceives == 0 || m.receives < q.MaxReceives) {
		m.received, m.visible, m.redeliverAfter = false, s.clock.Now().Add(m.redeliverAfter), 0
	} else {
		q.remove(m)
		q.deleted++
	}

	s.arm(q)

	return nil
}

func (s *Server) changeVisibility(q *queue, handle string, visibility time.Duration) error {
	if visibility < 0 || visibility > maxInFlight {
		return refuse("InvalidParameterValue", "Value for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.")
	}

	m, latest, err := q.find(handle)
	if err != nil {
		return err
	}

	if m == nil {
		return refuse("InvalidParameterValue", "Value for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not "+
			"available for visibility timeout change.")
	}

	now := s.clock.Now()
	if !latest || !m.inFlight(now) {
		return refuse("MessageNotInflight", "The message is not in flight.")
	}

	m.visible = now.Add(visibility)

	s.arm(q)

	return nil
}

// sendInput is SendMessage's input, and what a batch's entries have in common.
type sendInput struct {
	MessageBody             *string
	DelaySeconds            *int
	MessageAttributes       map[string]Attribute
	MessageSystemAttributes map[string]Attribute
	MessageGroupId          string
	MessageDeduplicationId  string
}

// send adds a message to q, unless it repeats one.
func (s *Server) send(q *queue, in sendInput, delay time.Duration) (receipt, error) {
	if err := q.validate(in, delay); err != nil {
		return receipt{}, err
	}

	now := s.clock.Now()

	delay = cmp.Or(delay, q.Delay)
	if in.DelaySeconds != nil {
		delay = seconds(*in.DelaySeconds)
	}

	m := &message{
		id: newID(), body: *in.MessageBody, attributes: in.MessageAttributes,
		group: in.MessageGroupId, dedup: in.MessageDeduplicationId, sent: now, visible: now.Add(delay),
	}
	if header := in.MessageSystemAttributes["AWSTraceHeader"].StringValue; header != nil {
		m.trace = *header
	}

	if s.faultOf != nil && !q.FIFO {
		fate := s.faultOf(q.Name, m.body, now)
		m.visible, m.redeliverAfter = m.visible.Add(fate.Delay), fate.RedeliverAfter
	}

	if q.FIFO && m.dedup == "" {
		sum := sha256.Sum256([]byte(m.body))
		m.dedup = hex.EncodeToString(sum[:])
	}

	if q.FIFO {
		maps.DeleteFunc(q.receipts, func(_ string, r receipt) bool { return now.Sub(r.at) >= dedupInterval })

		if r, ok := q.receipts[m.dedup]; ok {
			return r, nil
		}
	}

	s.add(q, m)

	r := receipt{m.id, m.sequence, now}
	if q.FIFO {
		q.receipts[m.dedup] = r
	}

	return r, nil
}

func (s *Server) add(q *queue, m *message) {
	s.sequence++
	m.sequence = s.sequence
	q.sent++

	at := len(q.messages)
	if s.faultOf != nil && !q.FIFO { // a sender's own goroutines race: what they send at one instant is put in order
		for at > 0 && q.messages[at-1].sent.Equal(m.sent) && q.messages[at-1].body > m.body {
			at--
		}
	}

	q.messages = slices.Insert(q.messages, at, m)
	s.arm(q)
}

// newID returns a random UUID, like SQS: functions may store ids for longer than this
// server runs.
func newID() string {
	var b [16]byte

	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var fifoID = regexp.MustCompile("^[A-Za-z0-9!-/:-@\\[-`{-~]{1,128}$")

func (q *queue) validate(in sendInput, delay time.Duration) error {
	if in.MessageBody == nil || *in.MessageBody == "" {
		return refuse("MissingParameter", "The request must contain the parameter MessageBody.")
	}

	if i := strings.IndexFunc(*in.MessageBody, forbidden); i >= 0 {
		return refuse("InvalidMessageContents", "The message has a character outside the allowed set, at byte %d.", i)
	}

	if err := validateAttributes(in.MessageAttributes); err != nil {
		return err
	}

	if size(*in.MessageBody, in.MessageAttributes) > q.maxSize {
		return refuse("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", q.maxSize)
	}

	if in.DelaySeconds != nil {
		delay = seconds(*in.DelaySeconds)
	}

	if delay < 0 || delay > maxDelay {
		return refuse("InvalidParameterValue", "Value for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.")
	}

	for _, id := range []string{in.MessageGroupId, in.MessageDeduplicationId} {
		if id != "" && !fifoID.MatchString(id) {
			return refuse("InvalidParameterValue", "MessageGroupId and MessageDeduplicationId are up to 128 letters, digits and punctuation.")
		}
	}

	switch {
	case !q.FIFO && in.MessageDeduplicationId != "":
		return refuse("InvalidParameterValue", "The request includes a parameter that is not valid for this queue type: MessageDeduplicationId.")
	case q.FIFO && in.MessageGroupId == "":
		return refuse("MissingParameter", "The request must contain the parameter MessageGroupId.")
	case q.FIFO && delay != 0:
		return refuse("InvalidParameterValue", "The request includes a parameter that is not valid for this queue type: DelaySeconds.")
	case q.FIFO && in.MessageDeduplicationId == "" && !q.ContentDedup:
		return refuse("InvalidParameterValue", "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId "+
			"provided explicitly.")
	}

	return nil
}

// forbidden reports whether a message must not contain r: characters outside XML 1.0.
func forbidden(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

var (
	attributeName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	attributeType = regexp.MustCompile(`^(String|Number|Binary)(\..+)?$`)
)

func validateAttributes(attributes map[string]Attribute) error {
	const most, longest = 10, 256
	if len(attributes) > most {
		return refuse("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [%d].", len(attributes), most)
	}

	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]

		lower := strings.ToLower(name)
		if !attributeName.MatchString(name) || len(name) > longest || strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.") {
			return refuse("InvalidParameterValue", "Message attribute name %q is invalid.", name)
		}

		m := attributeType.FindStringSubmatch(a.DataType)
		switch {
		case m == nil || len(a.DataType) > longest:
			return refuse("InvalidParameterValue", "The message attribute %q has an invalid message attribute type.", name)
		case m[1] == "Binary" && (len(a.BinaryValue) == 0 || a.StringValue != nil),
			m[1] != "Binary" && (a.StringValue == nil || *a.StringValue == "" || a.BinaryValue != nil):
			return refuse("InvalidParameterValue", "The message attribute %q must contain a non-empty value of its type.", name)
		case m[1] != "Binary" && strings.ContainsFunc(*a.StringValue, forbidden):
			return refuse("InvalidMessageContents", "The message attribute %q has a character outside the allowed set.", name)
		}
	}

	return nil
}

func (a Attribute) value() []byte {
	if a.StringValue != nil {
		return []byte(*a.StringValue)
	}

	return a.BinaryValue
}

// size returns the bytes of a message that count towards the limits.
func size(body string, attributes map[string]Attribute) int {
	n := len(body)
	for name, a := range attributes {
		n += len(name) + len(a.DataType) + len(a.value())
	}

	return n
}

func md5Of(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// md5OfAttributes is the digest over the attributes by name: each one's name,
// type and value with their lengths, and 1 or 2 for text or bytes. It is "" for
// none.
// Source: SQS Developer Guide, "Calculating the MD5 message digest for message
// attributes".
func md5OfAttributes(attributes map[string]Attribute) string {
	if len(attributes) == 0 {
		return ""
	}

	h := md5.New()
	sized := func(b []byte) {
		_ = binary.Write(h, binary.BigEndian, uint32(len(b)))
		h.Write(b)
	}

	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		sized([]byte(name))
		sized([]byte(a.DataType))

		if a.StringValue != nil {
			h.Write([]byte{1})
		} else {
			h.Write([]byte{2})
		}

		sized(a.value())
	}

	return hex.EncodeToString(h.Sum(nil))
}
