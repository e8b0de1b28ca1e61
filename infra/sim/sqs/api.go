package sqs

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxRequest bounds a request's body: a full batch, each byte as \u00xx.
const maxRequest = 8 << 20

// ServeHTTP answers the SQS API in AWS JSON 1.0. It holds clock work meanwhile,
// except while a receive waits; one who calls it with work held must not make it
// wait.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.clock.Work()()

	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("x-amzn-RequestId", newID())

	out, err := s.serve(w, r)
	if err != nil {
		w.Header().Set("x-amzn-query-error", queryCode(err.Code)+";Sender")
		w.WriteHeader(http.StatusBadRequest)

		out = map[string]string{"__type": "com.amazonaws.sqs#" + err.Code, "message": err.Message}
	}

	_ = json.MarshalWrite(w, out) // an error means that the caller has disconnected
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) (any, *Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return nil, refuse("RequestEntityTooLarge", "The request is longer than %d bytes, or broke off.", maxRequest)
	}

	action, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	if !ok || r.Method != http.MethodPost {
		return nil, refuse("InvalidAction", "Only POST with an X-Amz-Target of AmazonSQS is known here.")
	}

	out, err := s.call(r.Context(), action, body)
	if err == nil {
		return out, nil
	}

	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}

	return nil, refuse("SerializationException", "%v", err)
}

// queryCode returns the code of an error in the older query protocol. The SDK returns
// it as ErrorCode.
func queryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "QueueNameExists":
		return "QueueAlreadyExists"
	case "BatchEntryIdsNotDistinct", "BatchRequestTooLong", "EmptyBatchRequest", "InvalidBatchEntryId", "MessageNotInflight",
		"PurgeQueueInProgress", "TooManyEntriesInBatchRequest", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	}

	return code
}

func (s *Server) call(ctx context.Context, action string, body []byte) (any, error) {
	if action == "ReceiveMessage" {
		var in receiveInput
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}

		return s.receiveMessage(ctx, in)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	switch action {
	case "SendMessage":
		return callOnQueue(s, body, func(q *queue, in sendInput) (any, error) { return s.sendMessage(q, in) })
	case "SendMessageBatch":
		return callOnQueue(s, body, s.sendMessageBatch)
	case "DeleteMessage":
		return callOnQueue(s, body, func(q *queue, in handleInput) (any, error) { return struct{}{}, s.delete(q, in.ReceiptHandle) })
	case "DeleteMessageBatch":
		return callOnQueue(s, body, func(q *queue, in batchInput[handleInput]) (any, error) {
			return inBatch(in.Entries, func(e handleInput) (map[string]any, error) { return map[string]any{}, s.delete(q, e.ReceiptHandle) })
		})
	case "ChangeMessageVisibility":
		return callOnQueue(s, body, func(q *queue, in handleInput) (any, error) { return struct{}{}, s.change(q, in) })
	case "ChangeMessageVisibilityBatch":
		return callOnQueue(s, body, func(q *queue, in batchInput[handleInput]) (any, error) {
			return inBatch(in.Entries, func(e handleInput) (map[string]any, error) { return map[string]any{}, s.change(q, e) })
		})
	case "GetQueueAttributes":
		return callOnQueue(s, body, s.getQueueAttributes)
	case "SetQueueAttributes":
		return callOnQueue(s, body, s.setQueueAttributes)
	case "PurgeQueue":
		return callOnQueue(s, body, s.purgeQueue)
	case "CreateQueue":
		return decodeAndCall(body, s.createQueue)
	case "GetQueueUrl":
		return decodeAndCall(body, s.getQueueURL)
	case "ListQueues":
		return decodeAndCall(body, s.listQueues)
	case "StartMessageMoveTask":
		return decodeAndCall(body, s.startMessageMoveTask)
	}

	return nil, refuse("InvalidAction", "The action %q is not known here.", action)
}

// decodeAndCall runs an action on its decoded input.
func decodeAndCall[In any](body []byte, do func(In) (any, error)) (any, error) {
	var in In
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}

	return do(in)
}

// callOnQueue runs an action on the queue whose URL its input has.
func callOnQueue[In any](s *Server, body []byte, do func(*queue, In) (any, error)) (any, error) {
	return decodeAndCall(body, func(target struct{ QueueUrl string }) (any, error) {
		q, err := s.lookup(target.QueueUrl)
		if err != nil {
			return nil, err
		}

		return decodeAndCall(body, func(in In) (any, error) { return do(q, in) })
	})
}

type batchInput[E any] struct{ Entries []entry[E] }

type entry[E any] struct {
	Id    string
	Input E `json:",embed"`
}

type batchOutput struct {
	Successful []map[string]any
	Failed     []batchFailure `json:",omitempty"`
}

type batchFailure struct {
	Id          string
	Code        string
	Message     string
	SenderFault bool
}

var batchID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// inBatch runs an action for each entry of a batch.
func inBatch[E any](entries []entry[E], do func(E) (map[string]any, error)) (any, error) {
	switch {
	case len(entries) == 0:
		return nil, refuse("EmptyBatchRequest", "There should be at least one entry in the request.")
	case len(entries) > maxBatch:
		return nil, refuse("TooManyEntriesInBatchRequest",
			"Maximum number of entries per request are %d. You have sent %d.", maxBatch, len(entries))
	}

	ids := map[string]bool{}

	for _, e := range entries {
		switch {
		case !batchID.MatchString(e.Id):
			return nil, refuse("InvalidBatchEntryId",
				"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		case ids[e.Id]:
			return nil, refuse("BatchEntryIdsNotDistinct", "Id %s repeated.", e.Id)
		}

		ids[e.Id] = true
	}

	out := batchOutput{Successful: []map[string]any{}}

	for _, e := range entries {
		result, err := do(e.Input)
		if refusal, ok := errors.AsType[*Error](err); ok {
			out.Failed = append(out.Failed, batchFailure{e.Id, queryCode(refusal.Code), refusal.Message, true})
			continue
		}

		result["Id"] = e.Id
		out.Successful = append(out.Successful, result)
	}

	return out, nil
}

func (s *Server) sendMessage(q *queue, in sendInput) (map[string]any, error) {
	r, err := s.send(q, in, 0)
	if err != nil {
		return nil, err
	}

	out := map[string]any{"MessageId": r.id, "MD5OfMessageBody": md5Of(*in.MessageBody)}
	if sum := md5OfAttributes(in.MessageAttributes); sum != "" {
		out["MD5OfMessageAttributes"] = sum
	}

	if sum := md5OfAttributes(in.MessageSystemAttributes); sum != "" {
		out["MD5OfMessageSystemAttributes"] = sum
	}

	if q.FIFO {
		out["SequenceNumber"] = sequence(r.sequence)
	}

	return out, nil
}

func (s *Server) sendMessageBatch(q *queue, in batchInput[sendInput]) (any, error) {
	total := 0

	for _, e := range in.Entries {
		if e.Input.MessageBody != nil {
			total += size(*e.Input.MessageBody, e.Input.MessageAttributes)
		}
	}

	if total > maxSize && len(in.Entries) <= maxBatch {
		return nil, refuse("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxSize, total)
	}

	return inBatch(in.Entries, func(e sendInput) (map[string]any, error) { return s.sendMessage(q, e) })
}

// handleInput is the input of actions on a received message.
type handleInput struct {
	ReceiptHandle     string
	VisibilityTimeout *int
}

func (s *Server) change(q *queue, in handleInput) error {
	if in.VisibilityTimeout == nil {
		return refuse("MissingParameter", "The request must contain the parameter VisibilityTimeout.")
	}

	return s.changeVisibility(q, in.ReceiptHandle, seconds(*in.VisibilityTimeout))
}

// seconds returns n seconds as a duration. A value out of range remains out of range.
func seconds(n int) time.Duration { return time.Duration(max(-1, min(n, 1<<31))) * time.Second }

type receiveInput struct {
	QueueUrl                    string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
}

func (s *Server) receiveMessage(ctx context.Context, in receiveInput) (any, error) {
	s.mu.Lock()

	q, err := s.lookup(in.QueueUrl)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}

	n, visibility, wait := 1, q.Visibility, q.Wait
	s.mu.Unlock()

	if in.MaxNumberOfMessages != nil {
		n = *in.MaxNumberOfMessages
	}

	if in.VisibilityTimeout != nil {
		visibility = seconds(*in.VisibilityTimeout)
	}

	if in.WaitTimeSeconds != nil {
		wait = seconds(*in.WaitTimeSeconds)
	}

	switch {
	case n < 1 || n > maxBatch:
		return nil, refuse("InvalidParameterValue",
			"Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.", n)
	case visibility < 0 || visibility > maxInFlight:
		return nil, refuse("InvalidParameterValue", "Value for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.")
	case wait < 0 || wait > maxWait:
		return nil, refuse("InvalidParameterValue",
			"Value for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.")
	}

	var out struct {
		Messages []receivedMessage `json:",omitempty"`
	}

	system := slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames)

	for _, m := range s.receive(ctx, q, n, wait, visibility) {
		attributes := maps.Clone(m.attributes)
		maps.DeleteFunc(attributes, func(name string, _ Attribute) bool { return !wanted(in.MessageAttributeNames, name) })

		own := q.systemAttributes(m)
		maps.DeleteFunc(own, func(name string, _ string) bool { return !wanted(system, name) })
		out.Messages = append(out.Messages, receivedMessage{
			MessageId: m.id, ReceiptHandle: m.handle(), Body: m.body, MD5OfBody: md5Of(m.body),
			Attributes: own, MessageAttributes: attributes, MD5OfMessageAttributes: md5OfAttributes(attributes),
		})
	}

	return out, nil
}

type receivedMessage struct {
	MessageId              string
	ReceiptHandle          string
	Body                   string
	MD5OfBody              string
	Attributes             map[string]string    `json:",omitempty"`
	MessageAttributes      map[string]Attribute `json:",omitempty"`
	MD5OfMessageAttributes string               `json:",omitempty"`
}

// wanted reports whether a list of names includes an attribute: by name, by prefix
// (match.*), or with all (All, .*).
func wanted(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, isPrefix := strings.CutSuffix(n, ".*")
		return n == name || n == "All" || isPrefix && strings.HasPrefix(name, prefix)
	})
}

func (s *Server) createQueue(in struct {
	QueueName  string
	Attributes map[string]string
}) (any, error) {
	if in.Attributes == nil {
		in.Attributes = map[string]string{}
	}

	fifo, ok := in.Attributes["FifoQueue"]
	if ok && fifo != "true" && fifo != "false" {
		return nil, refuse("InvalidAttributeValue", "Invalid value for the parameter FifoQueue.")
	}

	out := map[string]string{"QueueUrl": s.URL(in.QueueName)}
	if q := s.queues[in.QueueName]; q != nil {
		has := s.attributes(q)
		for name, value := range in.Attributes {
			if has[name] != value && !(name == "FifoQueue" && value == strconv.FormatBool(q.FIFO)) {
				return nil, refuse("QueueNameExists", "A queue already exists with the same name and a different value for attribute %s", name)
			}
		}

		return out, nil
	}

	delete(in.Attributes, "FifoQueue")

	if err := s.create(Queue{
		Name:       in.QueueName,
		Visibility: defaultVisibility,
		Retention:  defaultRetention,
		FIFO:       fifo == "true",
	}); err != nil {
		return nil, err
	}

	if err := s.set(s.queues[in.QueueName], in.Attributes); err != nil {
		delete(s.queues, in.QueueName)
		return nil, err
	}

	return out, nil
}

func (s *Server) getQueueURL(in struct{ QueueName string }) (any, error) {
	if _, err := s.lookup(in.QueueName); err != nil {
		return nil, err
	}

	return map[string]string{"QueueUrl": s.URL(in.QueueName)}, nil
}

func (s *Server) listQueues(in struct{ QueueNamePrefix string }) (any, error) {
	urls := []string{}

	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		if strings.HasPrefix(name, in.QueueNamePrefix) {
			urls = append(urls, s.URL(name))
		}
	}

	return map[string][]string{"QueueUrls": urls}, nil
}

func (s *Server) getQueueAttributes(q *queue, in struct{ AttributeNames []string }) (any, error) {
	all := s.attributes(q)
	for _, name := range in.AttributeNames {
		if _, ok := all[name]; !ok && name != "All" && !slices.Contains(optional, name) {
			return nil, refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}

	maps.DeleteFunc(all, func(name, _ string) bool {
		return !slices.Contains(in.AttributeNames, "All") && !slices.Contains(in.AttributeNames, name)
	})

	return map[string]map[string]string{"Attributes": all}, nil
}

// optional lists the attributes that some queues do not have.
var optional = []string{"RedrivePolicy", "FifoQueue", "ContentBasedDeduplication"}

func (s *Server) attributes(q *queue) map[string]string {
	d := q.depth(s.clock.Now())
	inSeconds := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

	out := map[string]string{
		"QueueArn":                              ARN(q.Name),
		"ApproximateNumberOfMessages":           strconv.Itoa(d.Visible),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(d.Delayed),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(d.InFlight),
		"CreatedTimestamp":                      strconv.FormatInt(q.created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(q.modified.Unix(), 10),
		"VisibilityTimeout":                     inSeconds(q.Visibility),
		"DelaySeconds":                          inSeconds(q.Delay),
		"MessageRetentionPeriod":                inSeconds(q.Retention),
		"ReceiveMessageWaitTimeSeconds":         inSeconds(q.Wait),
		"MaximumMessageSize":                    strconv.Itoa(q.maxSize),
	}
	if q.FIFO {
		out["FifoQueue"] = "true"
		out["ContentBasedDeduplication"] = strconv.FormatBool(q.ContentDedup)
	}

	if q.DeadLetter != "" {
		policy, _ := json.Marshal(redrivePolicy{ARN(q.DeadLetter), jsontext.Value(strconv.Itoa(q.MaxReceives))})
		out["RedrivePolicy"] = string(policy)
	}

	return out
}

type redrivePolicy struct {
	DeadLetterTargetArn string         `json:"deadLetterTargetArn"`
	MaxReceiveCount     jsontext.Value `json:"maxReceiveCount"` // a number, or a string that holds one
}

func (s *Server) setQueueAttributes(q *queue, in struct{ Attributes map[string]string }) (any, error) {
	return struct{}{}, s.set(q, in.Attributes)
}

// set changes all given attributes of q, or none if one is invalid.
func (s *Server) set(q *queue, attributes map[string]string) error {
	to, size := q.Queue, q.maxSize

	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		n, err := strconv.Atoi(value)

		switch name {
		case "VisibilityTimeout":
			to.Visibility = seconds(n)
		case "DelaySeconds":
			to.Delay = seconds(n)
		case "MessageRetentionPeriod":
			to.Retention = seconds(n)
		case "ReceiveMessageWaitTimeSeconds":
			to.Wait = seconds(n)
		case "MaximumMessageSize":
			if size = n; size < 1<<10 || size > maxSize {
				return refuse("InvalidAttributeValue", "MaximumMessageSize of %s is not between 1024 and %d.", value, maxSize)
			}
		case "ContentBasedDeduplication":
			to.ContentDedup, err = strconv.ParseBool(value)
		case "RedrivePolicy":
			to.DeadLetter, to.MaxReceives, err = parseRedrivePolicy(value)
		default:
			return refuse("InvalidAttributeName", "The attribute %s is not known here.", name)
		}

		if err != nil {
			return refuse("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
		}
	}

	if err := s.check(to); err != nil {
		return err
	}

	q.Queue, q.maxSize, q.modified = to, size, s.clock.Now()
	s.arm(q)

	return nil
}

// parseRedrivePolicy reads a policy; "" is none.
func parseRedrivePolicy(value string) (queue string, receives int, err error) {
	if value == "" {
		return "", 0, nil
	}

	var p redrivePolicy
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return "", 0, err
	}

	receives, err = strconv.Atoi(strings.Trim(string(p.MaxReceiveCount), `"`))

	return p.DeadLetterTargetArn[strings.LastIndex(p.DeadLetterTargetArn, ":")+1:], receives, err
}

func (s *Server) purgeQueue(q *queue, _ struct{}) (any, error) {
	now := s.clock.Now()
	if !q.purged.IsZero() && now.Sub(q.purged) < purgeInterval {
		return nil, refuse("PurgeQueueInProgress", "Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.Name)
	}

	q.purged, q.messages = now, nil
	s.arm(q)

	return struct{}{}, nil
}

func (s *Server) startMessageMoveTask(in struct{ SourceArn, DestinationArn string }) (any, error) {
	name := func(arn string) string { return arn[strings.LastIndex(arn, ":")+1:] }

	source := s.queues[name(in.SourceArn)]
	if source == nil {
		return nil, refuse("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist.")
	}

	isDead := false
	for _, q := range s.queues {
		isDead = isDead || q.DeadLetter == source.Name
	}

	if !isDead {
		return nil, refuse("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	}

	var to *queue
	if in.DestinationArn != "" {
		if to = s.queues[name(in.DestinationArn)]; to == nil || to.FIFO != source.FIFO {
			return nil, refuse("ResourceNotFoundException", "The resource that you specified for the DestinationArn parameter doesn't exist.")
		}
	}

	s.redrive(source, to)

	return map[string]string{"TaskHandle": newID()}, nil
}
