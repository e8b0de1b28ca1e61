package sqs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// fixture is a server on a free clock, with an SDK client. The test holds clock work:
// time passes only in pass.
type fixture struct {
	*sqs.Client
	t      *testing.T
	clock  *clock.Clock
	server *Server
}

func open(t *testing.T, queues ...Queue) *fixture {
	t.Helper()

	c := clock.New(start, clock.Free)
	done := c.Work()
	t.Cleanup(done)

	var s *Server

	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	s = New(c, web.URL)
	t.Cleanup(s.Close)

	for _, q := range queues {
		if err := s.Create(q); err != nil {
			t.Fatal(err)
		}
	}

	client := sqs.New(sqs.Options{
		BaseEndpoint: &web.URL, Region: account.Region, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})

	return &fixture{client, t, c, s}
}

// pass lets time pass.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()

	if err := f.clock.Sleep(f.t.Context(), f.clock.Now().Add(d)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) send(queue, body string) {
	f.t.Helper()
	f.sendTo(queue, Message{Body: body})
}

func (f *fixture) sendTo(queue string, m Message) {
	f.t.Helper()

	if _, err := f.server.Send(queue, m); err != nil {
		f.t.Fatal(err)
	}
}

// receive receives up to ten messages with the SDK.
func (f *fixture) receive(queue string) []types.Message {
	f.t.Helper()

	out, err := f.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(f.server.URL(queue)), MaxNumberOfMessages: 10,
		MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		f.t.Fatal(err)
	}

	return out.Messages
}

func (f *fixture) delete(queue string, m types.Message) {
	f.t.Helper()

	if _, err := f.DeleteMessage(f.t.Context(),
		&sqs.DeleteMessageInput{QueueUrl: aws.String(f.server.URL(queue)), ReceiptHandle: m.ReceiptHandle}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) wantBodies(got []types.Message, want ...string) {
	f.t.Helper()

	var bodies []string
	for _, m := range got {
		bodies = append(bodies, *m.Body)
	}

	if !slices.Equal(bodies, want) {
		f.t.Errorf("after %v received %q, want %q", f.clock.Now().Sub(start), bodies, want)
	}
}

func TestSendReceiveDelete(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})

	url, err := f.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}

	sent, err := f.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: url.QueueUrl, MessageBody: aws.String("naïve <b>"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"kind":  {DataType: aws.String("String"), StringValue: aws.String("wicket")},
			"over":  {DataType: aws.String("Number.int"), StringValue: aws.String("19")},
			"trace": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 2}},
		},
		MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	f.pass(2 * time.Second)
	got := f.receive("q")
	f.wantBodies(got, "naïve <b>")

	m := got[0]
	if aws.ToString(m.MessageId) != aws.ToString(sent.MessageId) {
		t.Errorf("received id %v, sent %v", m.MessageId, sent.MessageId)
	}

	if string(m.MessageAttributes["trace"].BinaryValue) != "\x00\x01\x02" ||
		aws.ToString(m.MessageAttributes["kind"].StringValue) != "wicket" {
		t.Errorf("attributes %v", m.MessageAttributes)
	}

	if aws.ToString(m.MD5OfMessageAttributes) != aws.ToString(sent.MD5OfMessageAttributes) {
		t.Errorf("digests differ: %v and %v", m.MD5OfMessageAttributes, sent.MD5OfMessageAttributes)
	}

	want := map[string]string{
		"ApproximateReceiveCount": "1", "SentTimestamp": "1780315200000", "ApproximateFirstReceiveTimestamp": "1780315202000",
		"SenderId": "AIDALOCAL", "AWSTraceHeader": "Root=1-5759e988-bd862e3fe1be46a994272793",
	}
	if !maps.Equal(m.Attributes, want) {
		t.Errorf("got %v, want %v", m.Attributes, want)
	}

	f.wantBodies(f.receive("q"))
	f.delete("q", m)
	f.delete("q", m) // again: no error

	if d := f.server.Depth("q"); d != (Depth{Queue: "q", Sent: 1, Received: 1, Deleted: 1}) {
		t.Errorf("left %+v", d)
	}
}

func TestReceiveAsksForAttributes(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q", Visibility: time.Second})
	f.sendTo("q", Message{Body: "m", Attributes: map[string]Attribute{
		"a.b": {DataType: "String", StringValue: aws.String("1")},
		"a.c": {DataType: "String", StringValue: aws.String("2")},
		"d":   {DataType: "String", StringValue: aws.String("3")},
	}})

	for _, tc := range []struct{ names, want []string }{
		{nil, nil},
		{[]string{"d", "x"}, []string{"d"}},
		{[]string{"a.*"}, []string{"a.b", "a.c"}},
		{[]string{".*"}, []string{"a.b", "a.c", "d"}},
	} {
		out, err := f.ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: aws.String(f.server.URL("q")), MessageAttributeNames: tc.names})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("%v (%v)", out, err)
		}

		m := out.Messages[0]
		if got := slices.Sorted(maps.Keys(m.MessageAttributes)); !slices.Equal(got, tc.want) || len(m.Attributes) != 0 {
			t.Errorf("%q gives %q and %v", tc.names, got, m.Attributes)
		}

		if has := m.MD5OfMessageAttributes != nil; has != (len(tc.want) > 0) {
			t.Errorf("%q: a digest: %v", tc.names, has)
		}

		f.pass(time.Second)
	}
}

func TestDigestOfAttributes(t *testing.T) {
	t.Parallel()
	// The body of the digest, spelled out: lengths are big-endian, in four bytes.
	spelled := "\x00\x00\x00\x01b\x00\x00\x00\x06Binary\x02\x00\x00\x00\x02\xff\x00" +
		"\x00\x00\x00\x04kind\x00\x00\x00\x06String\x01\x00\x00\x00\x03six"

	got := md5OfAttributes(map[string]Attribute{
		"kind": {DataType: "String", StringValue: aws.String("six")},
		"b":    {DataType: "Binary", BinaryValue: []byte{0xff, 0}},
	})
	if want := md5Of(spelled); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVisibilityAndDeadLetters(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "dead"}, Queue{Name: "q", Visibility: 10 * time.Second, DeadLetter: "dead", MaxReceives: 2})
	f.send("q", "m")
	first := f.receive("q")
	f.wantBodies(first, "m")
	f.pass(9 * time.Second)
	f.wantBodies(f.receive("q"))
	f.pass(time.Second)
	second := f.receive("q")
	f.wantBodies(second, "m")

	if got := second[0].Attributes["ApproximateReceiveCount"]; got != "2" {
		t.Errorf("received %s times, want 2", got)
	}

	f.delete("q", first[0]) // an old handle: no error, and no effect
	f.pass(10 * time.Second)
	f.wantBodies(f.receive("q"))
	dead := f.receive("dead")
	f.wantBodies(dead, "m")

	want := map[string]string{"ApproximateReceiveCount": "3", "DeadLetterQueueSourceArn": ARN("q"), "SentTimestamp": "1780315200000"}
	for name, value := range want {
		if got := dead[0].Attributes[name]; got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}

	if *dead[0].MessageId != *first[0].MessageId {
		t.Error("it has another id")
	}

	f.pass(defaultVisibility)

	if d := f.server.Depth("q"); d != (Depth{Queue: "q", Sent: 1, Received: 2, Dead: 1}) {
		t.Errorf("q: %+v", d)
	}

	if _, err := f.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(ARN("dead"))}); err != nil {
		t.Fatal(err)
	}

	again := f.receive("q")
	f.wantBodies(again, "m")

	if *again[0].MessageId == *first[0].MessageId || again[0].Attributes["ApproximateReceiveCount"] != "1" {
		t.Errorf("it is not a new message: %v", again[0].Attributes)
	}

	_, err := f.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(ARN("nowhere"))})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("got %v, want ResourceNotFoundException", err)
	}
}

func TestChangeVisibility(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	url := aws.String(f.server.URL("q"))
	change := func(m types.Message, seconds int32) error {
		_, err := f.ChangeMessageVisibility(t.Context(),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds})
		return err
	}

	f.send("q", "m")

	m := f.receive("q")[0]
	if err := change(m, 100); err != nil {
		t.Fatal(err)
	}

	f.pass(99 * time.Second)
	f.wantBodies(f.receive("q"))

	if err := change(m, 0); err != nil {
		t.Fatal(err)
	}

	if err := change(m, 5); !is[*types.MessageNotInflight](err) {
		t.Errorf("got %v, want MessageNotInflight", err)
	}

	m = f.receive("q")[0]

	batch, err := f.ChangeMessageVisibilityBatch(t.Context(),
		&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0},
			{Id: aws.String("b"), ReceiptHandle: aws.String("?")},
			{Id: aws.String("c"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 43201},
		}})
	if err != nil {
		t.Fatal(err)
	}

	if len(batch.Successful) != 1 || len(batch.Failed) != 2 || *batch.Failed[0].Code != "ReceiptHandleIsInvalid" ||
		!batch.Failed[0].SenderFault {
		t.Errorf("got %+v", batch)
	}

	f.wantBodies(f.receive("q"), "m")
}

func TestDelays(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q", Delay: 5 * time.Second})
	url := aws.String(f.server.URL("q"))
	f.send("q", "queue's")

	if _, err := f.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl:     url,
		MessageBody:  aws.String("own"),
		DelaySeconds: 2,
	}); err != nil {
		t.Fatal(err)
	}

	if d := f.server.Depth("q"); d.Delayed != 2 || d.Visible != 0 || d.InFlight != 0 {
		t.Errorf("at first %+v", d)
	}

	f.pass(2 * time.Second)
	f.wantBodies(f.receive("q"), "own")
	f.pass(3 * time.Second)

	if d := f.server.Depth("q"); d.Visible != 1 || d.InFlight != 1 || d.Oldest != 5*time.Second {
		t.Errorf("then %+v", d)
	}

	f.wantBodies(f.receive("q"), "queue's")
}

// TestFairQueue: a standard queue takes a group, gives it to the receiver, and delivers other
// messages of the group at the same time.
func TestFairQueue(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q", Visibility: 10 * time.Second})
	url := aws.String(f.server.URL("q"))

	for _, m := range []string{"A0", "A1"} {
		if _, err := f.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: url, MessageBody: aws.String(m), MessageGroupId: aws.String("A"),
		}); err != nil {
			t.Fatal(err)
		}
	}

	for _, want := range []string{"A0", "A1"} {
		out, err := f.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: url, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			t.Fatal(err)
		}

		f.wantBodies(out.Messages, want)

		if group := out.Messages[0].Attributes["MessageGroupId"]; group != "A" {
			t.Errorf("the group of %s is %q, want A", want, group)
		}
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q.fifo", FIFO: true, Visibility: 10 * time.Second})
	url := aws.String(f.server.URL("q.fifo"))
	sequence := ""

	for i, m := range []string{"A0", "B0", "A1", "A2", "B1"} {
		out, err := f.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: url, MessageBody: aws.String(m), MessageGroupId: aws.String(m[:1]), MessageDeduplicationId: aws.String(fmt.Sprint(i)),
		})
		if err != nil {
			t.Fatal(err)
		}

		if *out.SequenceNumber <= sequence {
			t.Errorf("%s has sequence number %s after %s", m, *out.SequenceNumber, sequence)
		}

		sequence = *out.SequenceNumber
	}

	receive := func(n int32) []types.Message {
		out, err := f.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: n})
		if err != nil {
			t.Fatal(err)
		}

		return out.Messages
	}
	a0 := receive(1)
	f.wantBodies(a0, "A0")

	b0 := receive(1) // A0 is in flight: A1 waits for it
	f.wantBodies(b0, "B0")
	f.wantBodies(receive(10))
	f.delete("q.fifo", b0[0])
	f.wantBodies(receive(10), "B1")
	f.pass(10 * time.Second) // A0 failed: it comes first again

	again := receive(10)
	f.wantBodies(again, "A0", "A1", "A2", "B1")

	if _, err := f.DeleteMessage(t.Context(),
		&sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: a0[0].ReceiptHandle}); code(err) != "InvalidParameterValue" {
		t.Errorf("an old handle gives %v, want InvalidParameterValue", err)
	}

	f.delete("q.fifo", again[0])
	f.delete("q.fifo", again[2]) // A1 remains
	f.pass(10 * time.Second)
	f.wantBodies(receive(10), "A1", "B1")
}

func TestDeduplication(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "content.fifo", FIFO: true, ContentDedup: true}, Queue{Name: "id.fifo", FIFO: true})
	send := func(queue, body, dedup string) string {
		id, err := f.server.Send(queue, Message{Body: body, Group: "g", Dedup: dedup})
		if err != nil {
			t.Fatal(err)
		}

		return id
	}
	first := send("content.fifo", "x", "")

	for _, m := range f.receive("content.fifo") {
		f.delete("content.fifo", m) // its deletion does not end the deduplication interval
	}

	f.pass(5*time.Minute - time.Millisecond)

	if again := send("content.fifo", "x", ""); again != first {
		t.Error("the same content is another message within 5 minutes")
	}

	if other := send("content.fifo", "x", "own"); other == first {
		t.Error("a message with another deduplication id is dropped")
	}

	f.pass(time.Millisecond)

	if later := send("content.fifo", "x", ""); later == first {
		t.Error("the same content is the same message after 5 minutes")
	}

	send("id.fifo", "x", "1")
	send("id.fifo", "y", "1")
	send("id.fifo", "x", "2")
	f.wantBodies(f.receive("id.fifo"), "x", "x")
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"}, Queue{Name: "slow", Wait: 20 * time.Second})
	poll := func(ctx context.Context, queue string, wait int32) (got chan []types.Message) {
		got = make(chan []types.Message, 1)

		before := f.server.waiting(queue)
		go func() {
			out, err := f.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(f.server.URL(queue)), WaitTimeSeconds: wait})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}

			if err != nil {
				out = new(sqs.ReceiveMessageOutput)
			}

			got <- out.Messages
		}()

		f.until(func() bool { return f.server.waiting(queue) > before })

		return got
	}

	got := poll(t.Context(), "q", 20)

	f.sendTo("q", Message{Body: "later", Delay: 7 * time.Second})
	f.pass(8 * time.Second)
	f.wantBodies(<-got, "later")

	got = poll(t.Context(), "slow", 0)

	f.pass(19 * time.Second)

	if f.server.waiting("slow") != 1 {
		t.Error("the receive did not wait for the queue's wait time")
	}

	f.pass(2 * time.Second)
	f.wantBodies(<-got)

	first, second := poll(t.Context(), "q", 20), poll(t.Context(), "q", 20)

	f.send("q", "1")
	f.send("q", "2")
	f.pass(time.Second)
	f.wantBodies(<-first, "1")
	f.wantBodies(<-second, "2")

	ctx, cancel := context.WithCancel(t.Context())
	got = poll(ctx, "slow", 0)

	cancel()
	f.wantBodies(<-got)
	f.until(func() bool { return f.server.waiting("slow") == 0 })

	got = poll(t.Context(), "slow", 0)

	f.server.Close()
	f.wantBodies(<-got)
}

// until waits for another goroutine without moving the clock.
func (f *fixture) until(done func() bool) {
	for !done() && f.t.Context().Err() == nil {
		runtime.Gosched()
	}
}

// waiting counts the receives that wait for a queue's messages.
func (s *Server) waiting(queue string) int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.queues[queue].waiters)
}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

func code(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}

	return ""
}

func TestErrors(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"}, Queue{Name: "q.fifo", FIFO: true})
	ctx, url, fifo := t.Context(), aws.String(f.server.URL("q")), aws.String(f.server.URL("q.fifo"))
	entries := func(ids ...string) []types.SendMessageBatchRequestEntry {
		out := []types.SendMessageBatchRequestEntry{} // the client itself rejects nil
		for _, id := range ids {
			out = append(out, types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String("m")})
		}

		return out
	}
	send := func(in sqs.SendMessageInput) error {
		if in.QueueUrl == nil {
			in.QueueUrl = url
		}

		_, err := f.SendMessage(ctx, &in)

		return err
	}
	batch := func(entries []types.SendMessageBatchRequestEntry) error {
		_, err := f.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries})
		return err
	}
	body := aws.String("m")
	big := strings.Repeat("x", 1<<19)

	bigs := entries("a", "b", "c")
	for i := range bigs {
		bigs[i].MessageBody = &big
	}

	for name, tc := range map[string]struct {
		err  error
		is   func(error) bool
		code string
	}{
		"no queue": {send(sqs.SendMessageInput{QueueUrl: aws.String(f.server.URL("x")), MessageBody: body}),
			is[*types.QueueDoesNotExist], "AWS.SimpleQueueService.NonExistentQueue"},
		"eleven": {batch(entries(strings.Split("abcdefghijk", "")...)), is[*types.TooManyEntriesInBatchRequest],
			"AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
		"none": {batch(entries()), is[*types.EmptyBatchRequest], "AWS.SimpleQueueService.EmptyBatchRequest"},
		"twice": {batch(entries("a", "a")), is[*types.BatchEntryIdsNotDistinct],
			"AWS.SimpleQueueService.BatchEntryIdsNotDistinct"},
		"entry's id": {batch(entries("a b")), is[*types.InvalidBatchEntryId], "AWS.SimpleQueueService.InvalidBatchEntryId"},
		"long batch": {batch(bigs), is[*types.BatchRequestTooLong], "AWS.SimpleQueueService.BatchRequestTooLong"},
		"long message": {send(sqs.SendMessageInput{MessageBody: aws.String(big + big + "x")}),
			is[smithy.APIError], "InvalidParameterValue"},
		"control character": {send(sqs.SendMessageInput{MessageBody: aws.String("a\x00")}),
			is[*types.InvalidMessageContents], "InvalidMessageContents"},
		"empty message": {send(sqs.SendMessageInput{MessageBody: aws.String("")}), is[smithy.APIError], "MissingParameter"},
		"long delay":    {send(sqs.SendMessageInput{MessageBody: body, DelaySeconds: 901}), is[smithy.APIError], "InvalidParameterValue"},
		"attribute's name": {send(sqs.SendMessageInput{
			MessageBody:       body,
			MessageAttributes: map[string]types.MessageAttributeValue{"AWS.x": {DataType: aws.String("String"), StringValue: body}},
		}), is[smithy.APIError], "InvalidParameterValue"},
		"attribute's type": {send(sqs.SendMessageInput{
			MessageBody:       body,
			MessageAttributes: map[string]types.MessageAttributeValue{"x": {DataType: aws.String("Text"), StringValue: body}},
		}), is[smithy.APIError], "InvalidParameterValue"},
		"attribute's value": {send(sqs.SendMessageInput{
			MessageBody:       body,
			MessageAttributes: map[string]types.MessageAttributeValue{"x": {DataType: aws.String("Binary"), StringValue: body}},
		}), is[smithy.APIError], "InvalidParameterValue"},
		"no group": {send(sqs.SendMessageInput{QueueUrl: fifo, MessageBody: body, MessageDeduplicationId: body}),
			is[smithy.APIError], "MissingParameter"},
		"no deduplication": {send(sqs.SendMessageInput{QueueUrl: fifo, MessageBody: body, MessageGroupId: body}),
			is[smithy.APIError], "InvalidParameterValue"},
		"delay in a FIFO queue": {send(sqs.SendMessageInput{
			QueueUrl:               fifo,
			MessageBody:            body,
			MessageGroupId:         body,
			MessageDeduplicationId: body,
			DelaySeconds:           1,
		}), is[smithy.APIError], "InvalidParameterValue"},
		"not a FIFO queue": {send(sqs.SendMessageInput{MessageBody: body, MessageDeduplicationId: body}),
			is[smithy.APIError], "InvalidParameterValue"},
		"receive eleven": {second(f.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 11})),
			is[smithy.APIError], "InvalidParameterValue"},
		"receive for long": {second(f.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 21})),
			is[smithy.APIError], "InvalidParameterValue"},
		"bad handle": {second(f.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: aws.String("nonsense")})),
			is[*types.ReceiptHandleIsInvalid], "ReceiptHandleIsInvalid"},
		"unknown attribute": {second(f.GetQueueAttributes(ctx,
			&sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{"Colour"}})),
			is[*types.InvalidAttributeName], "InvalidAttributeName"},
		"attribute out of range": {second(f.SetQueueAttributes(ctx,
			&sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"VisibilityTimeout": "43201"}})),
			is[*types.InvalidAttributeValue], "InvalidAttributeValue"},
		"dead letters to another kind": {second(f.SetQueueAttributes(ctx,
			&sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{
				"RedrivePolicy": `{"deadLetterTargetArn":"` + ARN("q.fifo") + `","maxReceiveCount":3}`}})),
			is[*types.InvalidAttributeValue], "InvalidAttributeValue"},
		"another queue of the name": {second(f.CreateQueue(ctx,
			&sqs.CreateQueueInput{QueueName: aws.String("q"), Attributes: map[string]string{"DelaySeconds": "3"}})),
			is[*types.QueueNameExists], "QueueAlreadyExists"},
		"bad name": {second(f.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("a b")})),
			is[smithy.APIError], "InvalidParameterValue"},
		"unknown action": {second(f.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: url})), is[smithy.APIError], "InvalidAction"},
		"not dead letter": {second(f.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(ARN("q"))})),
			is[smithy.APIError], "InvalidParameterValue"},
	} {
		if !tc.is(tc.err) || code(tc.err) != tc.code {
			t.Errorf("%s: got %v, want %s", name, tc.err, tc.code)
		}
	}

	if d := f.server.Depth("q"); d.Sent != 0 {
		t.Errorf("the queue holds rejected messages: %+v", d)
	}

	if err := send(sqs.SendMessageInput{MessageBody: aws.String(big + big)}); err != nil {
		t.Errorf("a message of 1 MiB: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestBatches(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	url := aws.String(f.server.URL("q"))

	out, err := f.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: aws.String("1")},
		{Id: aws.String("b"), MessageBody: aws.String("\x01")},
		{Id: aws.String("c"), MessageBody: aws.String("3"), DelaySeconds: 4},
	}})
	if err != nil {
		t.Fatal(err)
	}

	if len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Id != "b" || *out.Failed[0].Code != "InvalidMessageContents" {
		t.Errorf("got %+v", out)
	}

	f.pass(4 * time.Second)
	got := f.receive("q")
	f.wantBodies(got, "1", "3")

	deleted, err := f.DeleteMessageBatch(t.Context(),
		&sqs.DeleteMessageBatchInput{QueueUrl: url, Entries: []types.DeleteMessageBatchRequestEntry{
			{Id: aws.String("x"), ReceiptHandle: got[0].ReceiptHandle}, {Id: aws.String("y"), ReceiptHandle: aws.String("-")},
		}})
	if err != nil {
		t.Fatal(err)
	}

	if len(deleted.Successful) != 1 || len(deleted.Failed) != 1 {
		t.Errorf("got %+v", deleted)
	}
}

func TestQueueAttributes(t *testing.T) {
	t.Parallel()
	f := open(t)

	ctx := t.Context()
	if _, err := f.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName:  aws.String("dead.fifo"),
		Attributes: map[string]string{"FifoQueue": "true"},
	}); err != nil {
		t.Fatal(err)
	}

	in := &sqs.CreateQueueInput{QueueName: aws.String("q.fifo"), Attributes: map[string]string{
		"FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "60",
		"RedrivePolicy": `{"deadLetterTargetArn":"` + ARN("dead.fifo") + `","maxReceiveCount":3}`,
	}}

	created, err := f.CreateQueue(ctx, in)
	if err != nil {
		t.Fatal(err)
	}

	if again, err := f.CreateQueue(ctx, in); err != nil || *again.QueueUrl != *created.QueueUrl {
		t.Errorf("created again: %v (%v)", again, err)
	}

	f.pass(time.Minute)

	if _, err := f.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: created.QueueUrl, Attributes: map[string]string{
		"MessageRetentionPeriod": "120", "MaximumMessageSize": "1024", "DelaySeconds": "1", "ReceiveMessageWaitTimeSeconds": "0",
	}}); err != nil {
		t.Fatal(err)
	}

	if _, err := f.server.Send("q.fifo", Message{Body: strings.Repeat("x", 1025), Group: "g"}); err == nil {
		t.Error("a message over the queue's size limit was accepted")
	}

	f.sendTo("q.fifo", Message{Body: "m", Group: "g"})

	out, err := f.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       created.QueueUrl,
		AttributeNames: []types.QueueAttributeName{"All"},
	})
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]string{
		"QueueArn": ARN("q.fifo"), "FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "60",
		"RedrivePolicy":          `{"deadLetterTargetArn":"` + ARN("dead.fifo") + `","maxReceiveCount":3}`,
		"MessageRetentionPeriod": "120", "MaximumMessageSize": "1024", "DelaySeconds": "1", "ReceiveMessageWaitTimeSeconds": "0",
		"CreatedTimestamp": "1780315200", "LastModifiedTimestamp": "1780315260",
		"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesDelayed": "1", "ApproximateNumberOfMessagesNotVisible": "0",
	}
	if !maps.Equal(out.Attributes, want) {
		t.Errorf("got %v, want %v", out.Attributes, want)
	}

	one, err := f.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       created.QueueUrl,
		AttributeNames: []types.QueueAttributeName{"QueueArn"},
	})
	if err != nil || len(one.Attributes) != 1 {
		t.Errorf("asked for one, got %v (%v)", one, err)
	}

	f.pass(121 * time.Second)

	if held := f.server.Messages("q.fifo"); len(held) != 0 {
		t.Errorf("kept past its time: %+v", held)
	}

	list, err := f.ListQueues(ctx, &sqs.ListQueuesInput{QueueNamePrefix: aws.String("q")})
	if err != nil || !slices.Equal(list.QueueUrls, []string{*created.QueueUrl}) {
		t.Errorf("listed %v (%v)", list, err)
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	in := &sqs.PurgeQueueInput{QueueUrl: aws.String(f.server.URL("q"))}
	f.send("q", "m")
	f.receive("q")
	f.send("q", "n")

	if _, err := f.PurgeQueue(t.Context(), in); err != nil {
		t.Fatal(err)
	}

	if held := f.server.Messages("q"); len(held) != 0 {
		t.Errorf("left %+v", held)
	}

	if _, err := f.PurgeQueue(t.Context(), in); !is[*types.PurgeQueueInProgress](err) {
		t.Errorf("got %v, want PurgeQueueInProgress", err)
	}

	f.pass(time.Minute)

	if _, err := f.PurgeQueue(t.Context(), in); err != nil {
		t.Error(err)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	f.send("q", "a")
	f.receive("q")
	f.sendTo("q", Message{Body: "b", Delay: time.Minute})

	got := f.server.Messages("q")
	if len(got) != 2 || !got[0].InFlight || got[0].Receives != 1 || !got[0].Visible.Equal(start.Add(30*time.Second)) ||
		got[1].InFlight || got[1].Receives != 0 || !got[1].Visible.Equal(start.Add(time.Minute)) || got[1].Body != "b" {
		t.Errorf("got %+v", got)
	}

	if stats := f.server.Stats(); len(stats) != 1 || stats[0] != f.server.Depth("q") || stats[0].InFlight != 1 || stats[0].Delayed != 1 {
		t.Errorf("stats %+v", stats)
	}

	if f.server.Messages("x") != nil || f.server.Depth("x") != (Depth{Queue: "x"}) {
		t.Error("an unknown queue has messages")
	}
}

func FuzzServeHTTP(f *testing.F) {
	for _, s := range [][2]string{
		{"SendMessage", `{"QueueUrl":"http://x/0/q","MessageBody":"m","DelaySeconds":3,"MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"AA=="}}}`},
		{"SendMessageBatch", `{"QueueUrl":"q.fifo","Entries":[{"Id":"1","MessageBody":"m","MessageGroupId":"g"}]}`},
		{"ReceiveMessage", `{"QueueUrl":"q","MaxNumberOfMessages":10,"MessageAttributeNames":["All"],"AttributeNames":["All"]}`},
		{"DeleteMessageBatch", `{"QueueUrl":"q","Entries":[{"Id":"1","ReceiptHandle":"YSMx"}]}`},
		{"ChangeMessageVisibility", `{"QueueUrl":"q","ReceiptHandle":"YSMx","VisibilityTimeout":0}`},
		{"SetQueueAttributes", `{"QueueUrl":"q","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"a:q\",\"maxReceiveCount\":\"3\"}"}}`},
		{"CreateQueue", `{"QueueName":"n.fifo","Attributes":{"FifoQueue":"true","ContentBasedDeduplication":"true"}}`},
		{"StartMessageMoveTask", `{"SourceArn":"q"}`},
	} {
		f.Add(s[0], s[1])
	}

	f.Fuzz(func(t *testing.T, action, body string) {
		s := New(clock.New(start, clock.Free), "http://x")
		for _, q := range []Queue{{Name: "q"}, {Name: "q.fifo", FIFO: true, ContentDedup: true}} {
			if err := s.Create(q); err != nil {
				t.Fatal(err)
			}
		}

		if _, err := s.Send("q", Message{Body: "m"}); err != nil {
			t.Fatal(err)
		}

		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", "AmazonSQS."+action)

		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)

		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("status %d", w.Code)
		}
	})
}
