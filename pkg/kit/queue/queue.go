// Package queue sends typed messages to the queues of the spec, and moves messages
// that cannot be processed to the dead-letter queue with the reason.
package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"matchday/pkg/spec"
)

// ReasonAttribute is the message attribute with the reason of a rejected message.
const ReasonAttribute = "reason"

// Sender sends messages to the queues of one stage.
type Sender struct {
	client *sqs.Client
	base   string
}

// Open returns a sender to the queues whose URLs are base followed by a name.
func Open(cfg aws.Config, base string) Sender {
	return Sender{client: sqs.NewFromConfig(cfg), base: base}
}

// Send puts message, as JSON, into q. SQS delivers it at least once, after delay:
// whole seconds, rounded up, at most 15 minutes.
func (s Sender) Send(ctx context.Context, q spec.Queue, message any, delay time.Duration) error {
	return s.send(ctx, q.Name, message, &sqs.SendMessageInput{DelaySeconds: delaySeconds(delay)})
}

// SendFair puts message into q as Send does, as one of a group. q is a standard queue: its
// messages have no order. Of the messages that wait, SQS first delivers those of groups that use
// little of the consumers' time.
func (s Sender) SendFair(ctx context.Context, q spec.Queue, group string, message any, delay time.Duration) error {
	return s.send(ctx, q.Name, message, &sqs.SendMessageInput{MessageGroupId: &group, DelaySeconds: delaySeconds(delay)})
}

// delaySeconds returns a delay as SQS takes it.
func delaySeconds(delay time.Duration) int32 {
	delay = min(max(delay, 0), 15*time.Minute)
	return int32((delay + time.Second - 1) / time.Second)
}

// SendText puts a text unchanged into a queue that is not FIFO.
func (s Sender) SendText(ctx context.Context, q spec.Queue, text string) error {
	if _, err := s.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(s.base + q.Name), MessageBody: &text}); err != nil {
		return fmt.Errorf("send to %s: %w", q.Name, err)
	}

	return nil
}

// DeadLetter is a message of a dead-letter queue.
type DeadLetter struct {
	ID     string
	Body   string
	Reason string // why it was rejected; "" for a message that SQS moved
}

// Delay delivers a message that was received but not processed again after delay, instead of
// after the visibility timeout.
func (s Sender) Delay(ctx context.Context, q spec.Queue, receipt string, delay time.Duration) error {
	in := &sqs.ChangeMessageVisibilityInput{
		QueueUrl:          aws.String(s.base + q.Name),
		ReceiptHandle:     &receipt,
		VisibilityTimeout: int32(delay / time.Second),
	}
	if _, err := s.client.ChangeMessageVisibility(ctx, in); err != nil {
		return fmt.Errorf("delay a message of %s: %w", q.Name, err)
	}

	return nil
}

// SendAll puts messages, as JSON, into a queue that is not FIFO, in batches of ten. Each
// is delivered at least once. After an error any of them may be in the queue.
func SendAll[M any](ctx context.Context, s Sender, q spec.Queue, messages []M) error {
	url := aws.String(s.base + q.Name)
	for part := range slices.Chunk(messages, maxBatch) {
		in := &sqs.SendMessageBatchInput{QueueUrl: url}

		for i, m := range part {
			body, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("send to %s: %w", q.Name, err)
			}

			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
				Id:          aws.String(strconv.Itoa(i)),
				MessageBody: aws.String(string(body)),
			})
		}

		out, err := s.client.SendMessageBatch(ctx, in)
		if err == nil && len(out.Failed) > 0 {
			err = fmt.Errorf("%d of %d messages are refused: %s", len(out.Failed), len(part), aws.ToString(out.Failed[0].Code))
		}

		if err != nil {
			return fmt.Errorf("send to %s: %w", q.Name, err)
		}
	}

	return nil
}

// maxBatch is SQS's limit of messages in a batch. All together may have 1 MiB.
const maxBatch = 10

// SendFIFO puts message, as JSON, into a FIFO queue. SQS delivers it at least once, after the
// earlier messages of its group were processed. Equal messages are not deduplicated: SQS would
// do so for five minutes only, so a job must tolerate repeats anyway.
func (s Sender) SendFIFO(ctx context.Context, q spec.Queue, group string, message any) error {
	return s.send(ctx, q.Name, message, &sqs.SendMessageInput{MessageGroupId: &group, MessageDeduplicationId: aws.String(rand.Text())})
}

func (s Sender) send(ctx context.Context, name string, message any, in *sqs.SendMessageInput) error {
	body, err := json.Marshal(message)
	if err == nil {
		in.QueueUrl, in.MessageBody = aws.String(s.base+name), aws.String(string(body))
		_, err = s.client.SendMessage(ctx, in)
	}

	if err != nil {
		return fmt.Errorf("send to %s: %w", name, err)
	}

	return nil
}

// Reject moves a message of q to its dead-letter queue, with the reason. A message of a FIFO
// queue keeps its group.
func (s Sender) Reject(ctx context.Context, q spec.Queue, group, body, reason string) error {
	reason = attributeText(reason)

	in := &sqs.SendMessageInput{
		QueueUrl:    aws.String(s.base + q.DeadLetter()),
		MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			ReasonAttribute: {DataType: aws.String("String"), StringValue: &reason},
		},
	}
	if q.FIFO() {
		id := rand.Text()
		in.MessageGroupId, in.MessageDeduplicationId = &group, &id
	}

	if _, err := s.client.SendMessage(ctx, in); err != nil {
		return fmt.Errorf("send to %s: %w", q.DeadLetter(), err)
	}

	return nil
}

// attributeText returns text as a message attribute can hold it: control characters become
// spaces, and the text ends after maxReason characters.
func attributeText(text string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}

		return ' '
	}, strings.ToValidUTF8(text, "?"))
	if cut := []rune(clean); len(cut) > maxReason {
		return string(cut[:maxReason]) + "…"
	}

	return clean
}

const maxReason = 500 // characters; the limit of SQS is the size of the message
