// Package queue sends typed messages to the queues of the spec, and moves those
// that can never be handled to their dead-letter queue with the reason.
package queue

import (
	"context"
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
	body, err := json.Marshal(message)
	if err == nil {
		_, err = s.client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:     aws.String(s.base + q.Name),
			MessageBody:  aws.String(string(body)),
			DelaySeconds: int32((delay + time.Second - 1) / time.Second),
		})
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w", q.Name, err)
	}
	return nil
}

// Reject puts a message that can never be handled into q's dead-letter queue.
func (s Sender) Reject(ctx context.Context, q spec.Queue, body, reason string) error {
	reason = sayable(reason)
	_, err := s.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:    aws.String(s.base + q.Dead()),
		MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			ReasonAttribute: {DataType: aws.String("String"), StringValue: &reason},
		},
	})
	if err != nil {
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
