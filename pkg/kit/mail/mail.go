// Package mail sends mail by Amazon SES.
package mail

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"matchday/pkg/kit/problem"
)

// ErrRefused reports a mail that SES will never send: the address cannot exist, or SES
// rejects the message.
var ErrRefused = problem.New(problem.Invalid, "mail_refused", "no mail can be sent to this address")

// ErrOff reports that the stage has no address to send from.
var ErrOff = problem.New(problem.Unavailable, "mail_off", "this stage sends no mail")

// Message is a mail to one address. It has a Text, an HTML, or both.
type Message struct {
	To      string // an address without a name
	Subject string
	Text    string
	HTML    string
	// Unsubscribe is the URL that a POST of the mail provider ends such mails with (RFC 8058), "" for a mail that the
	// recipient has asked for.
	Unsubscribe string
}

// Sender sends mail from one address.
type Sender struct {
	client *sesv2.Client
	from   string
}

// Open returns a sender with an address whose domain SES must have verified. A sender with ""
// sends nothing.
func Open(cfg aws.Config, from string) Sender { return Sender{sesv2.NewFromConfig(cfg), from} }

// Send gives a mail to SES. Success means that SES accepted it, not that it arrives: SES drops a
// mail to an address on its suppression list, which has bounced or complained, without an error.
//
// Errors: ErrRefused; ErrOff; after any other error a later try may succeed, because SES is
// throttled, over its daily quota or down, or an operator must act. A mail whose error is not a
// problem may have been sent: SES has no idempotency key.
//
// No error contains the address or a part of the mail. Texts of SES quote addresses, so an error
// contains only the code of SES.
func (s Sender) Send(ctx context.Context, m Message) error {
	if s.from == "" {
		return ErrOff
	}

	body := &types.Body{}
	if m.Text != "" {
		body.Text = content(m.Text)
	}

	if m.HTML != "" {
		body.Html = content(m.HTML)
	}

	simple := &types.Message{Subject: content(m.Subject), Body: body}
	if m.Unsubscribe != "" {
		simple.Headers = []types.MessageHeader{
			{Name: aws.String("List-Unsubscribe"), Value: aws.String("<" + m.Unsubscribe + ">")},
			{Name: aws.String("List-Unsubscribe-Post"), Value: aws.String("List-Unsubscribe=One-Click")},
		}
	}

	_, err := s.client.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress: &s.from, Destination: &types.Destination{ToAddresses: []string{m.To}},
		Content: &types.EmailContent{Simple: simple},
	})
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[smithy.APIError](err); ok {
		err = &answer{e.ErrorCode(), err}
		switch e.(type) {
		case *types.MessageRejected, *types.BadRequestException:
			return ErrRefused.Because(err)
		}
	}

	return fmt.Errorf("send a mail: %w", err)
}

func content(text string) *types.Content {
	return &types.Content{Data: &text, Charset: aws.String("UTF-8")}
}

// answer is an error of SES without its text.
type answer struct {
	code  string
	cause error
}

func (a *answer) Error() string {
	text := "SES answers " + a.code
	if r, ok := errors.AsType[*awshttp.ResponseError](a.cause); ok {
		text += fmt.Sprintf(", status %d, request %s", r.HTTPStatusCode(), r.ServiceRequestID())
	}

	return text
}

func (a *answer) Unwrap() error { return a.cause }
