// Package queue sends typed messages to the queues of the spec, and moves those
// that can never be handled to their dead-letter queue with the reason.
package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"matchday/pkg/spec"
)

// ReasonAttribute is the message attribute of a rejected message that says why.
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

// Send puts message, as JSON, into q. It is delivered at least once, after
// delay, which SQS counts in whole seconds, here rounded up, to 15 minutes.
func (s Sender) Send(ctx context.Context, q spec.Queue, message any, delay time.Duration) error {
	delay = min(max(delay, 0), 15*time.Minute)
	return s.send(ctx, q.Name, message, &sqs.SendMessageInput{DelaySeconds: int32((delay + time.Second - 1) / time.Second)})
}

// SendInTurn puts message, as JSON, into a FIFO queue. It is delivered at least
// once, when the messages of its group before it have been dealt with. Messages
// that are alike are different messages: a job that must do nothing twice sees to
// that itself, for longer than the five minutes that SQS would.
func (s Sender) SendInTurn(ctx context.Context, q spec.Queue, group string, message any) error {
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

// Reject puts a message that can never be handled into q's dead-letter queue.
func (s Sender) Reject(ctx context.Context, q spec.Queue, body, reason string) error {
	reason = sayable(reason)
	in := &sqs.SendMessageInput{
		QueueUrl:    aws.String(s.base + q.Dead()),
		MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			ReasonAttribute: {DataType: aws.String("String"), StringValue: &reason},
		},
	}
	if q.FIFO() {
		id := rand.Text()
		in.MessageGroupId, in.MessageDeduplicationId = &id, &id
	}
	if _, err := s.client.SendMessage(ctx, in); err != nil {
		return fmt.Errorf("send to %s: %w", q.Dead(), err)
	}
	return nil
}

// sayable is text as an attribute may hold it: without control characters, and
// no longer than a person reads.
func sayable(text string) string {
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

const maxReason = 500
