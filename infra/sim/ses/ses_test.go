package ses_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
	"matchday/infra/sim/ses"
)

var noon = time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

const from, ann, bob = "league@example.com", "ann@example.org", "bob@example.net"

// start serves a simulator, whose clock shows noon and stands still while the test works.
// The client makes each call once.
func start(t *testing.T, cfg ses.Config) (*ses.Server, *sesv2.Client) {
	t.Helper()

	cfg.Clock = clock.New(noon, clock.Free)
	t.Cleanup(cfg.Clock.Stop)
	t.Cleanup(cfg.Clock.Work())
	s := ses.New(cfg)
	server := httptest.NewServer(guard.Handler(s))
	t.Cleanup(server.Close)

	return s, sesv2.NewFromConfig(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
}

// mail returns a mail to addresses.
func mail(to ...string) *sesv2.SendEmailInput {
	text := func(text string) *types.Content { return &types.Content{Data: &text, Charset: aws.String("UTF-8")} }

	return &sesv2.SendEmailInput{
		FromEmailAddress: aws.String(from), Destination: &types.Destination{ToAddresses: to},
		Content: &types.EmailContent{
			Simple: &types.Message{
				Subject: text("Sign in: Zoë"),
				Body:    &types.Body{Text: text("https://example.com/?a=1&b=2"), Html: text("<p>Hello")},
			},
		},
	}
}

// code returns what a call answers: the code and the text of an error, "" for success.
func code(t *testing.T, client *sesv2.Client, in *sesv2.SendEmailInput) string {
	t.Helper()

	_, err := client.SendEmail(t.Context(), in)
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode() + ": " + e.ErrorMessage()
	}

	if err != nil {
		return "no answer"
	}

	return ""
}

// TestDelivery: a mail is in the mailbox of its recipient, whatever the case of the address,
// unless the address is suppressed.
func TestDelivery(t *testing.T) {
	t.Parallel()
	s, client := start(t, ses.Config{})
	s.Suppress("Bob@example.net")

	out, err := client.SendEmail(t.Context(), mail(ann, bob))
	if err != nil {
		t.Fatal(err)
	}

	m := ses.Mail{
		ID:      *out.MessageId,
		At:      noon,
		From:    from,
		To:      ann,
		Subject: "Sign in: Zoë",
		Text:    "https://example.com/?a=1&b=2",
		HTML:    "<p>Hello",
	}
	dropped := m
	dropped.To, dropped.Suppressed = bob, true

	if diff := cmp.Diff([]ses.Mail{m}, s.Mailbox("ANN@example.org")); diff != "" {
		t.Errorf("the mailbox differs (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]ses.Mail{m, dropped}, s.Sent()); diff != "" {
		t.Errorf("the mails sent differ (-want +got):\n%s", diff)
	}

	if got := s.Mailbox(bob); got != nil {
		t.Errorf("a suppressed address gets %v", got)
	}

	if again, err := client.SendEmail(t.Context(), mail(ann)); err != nil || *again.MessageId == *out.MessageId {
		t.Errorf("the next mail has the id %s, %v", aws.ToString(again.MessageId), err)
	}
}

// TestRefusals: the types of SES's errors, and nothing is sent.
func TestRefusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		cfg    ses.Config
		change func(*sesv2.SendEmailInput)
		want   string
	}{
		"no recipient": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses = nil },
			want:   "BadRequestException: Destination has no recipients",
		},
		"too many": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.CcAddresses = make([]string, 50) },
			want:   "BadRequestException: Recipient count exceeds 50.",
		},
		"no domain": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = "ann" },
			want:   "BadRequestException: Missing final '@domain'",
		},
		"a name": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = "Ann <ann@example.org>" },
			want:   "BadRequestException: Illegal address",
		},
		"two in one": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = ann + ", " + bob },
			want:   "BadRequestException: Illegal address",
		},
		"a letter of Unicode": {
			change: func(in *sesv2.SendEmailInput) { in.Destination.ToAddresses[0] = "zoë@example.org" },
			want:   "BadRequestException: Local address or domain contains non-ASCII characters",
		},
		"a line in a subject": {
			change: func(in *sesv2.SendEmailInput) { *in.Content.Simple.Subject.Data = "a\r\nBcc: " + bob },
			want:   "BadRequestException: Header values illegal: Subject",
		},
		"no subject": {
			change: func(in *sesv2.SendEmailInput) { *in.Content.Simple.Subject.Data = "" },
			want:   "BadRequestException: Subject has no Data",
		},
		"no body": {
			change: func(in *sesv2.SendEmailInput) { in.Content.Simple.Body = &types.Body{} },
			want:   "BadRequestException: Body has neither Text nor Html",
		},
		"a line in a header": {
			change: func(in *sesv2.SendEmailInput) {
				in.Content.Simple.Headers = []types.MessageHeader{{Name: aws.String("X-A"), Value: aws.String("a\r\nBcc: " + bob)}}
			},
			want: "BadRequestException: Header values illegal",
		},
		"a colon in the name of a header": {
			change: func(in *sesv2.SendEmailInput) {
				in.Content.Simple.Headers = []types.MessageHeader{{Name: aws.String("X:A"), Value: aws.String("a")}}
			},
			want: "BadRequestException: Header values illegal",
		},
		"too many headers": {
			change: func(in *sesv2.SendEmailInput) {
				for range 16 {
					in.Content.Simple.Headers = append(in.Content.Simple.Headers, types.MessageHeader{Name: aws.String("X-A"), Value: aws.String("a")})
				}
			},
			want: "BadRequestException: Headers has more than 15 members",
		},
		"no charset": {
			change: func(in *sesv2.SendEmailInput) { in.Content.Simple.Subject.Charset = nil },
			want:   `BadRequestException: the charset "" cannot encode the content`,
		},
		"raw": {change: func(in *sesv2.SendEmailInput) {
			in.Content = &types.EmailContent{Raw: &types.RawMessage{Data: []byte("x")}}
		}, want: `BadRequestException: the simulator cannot read the request: json: unknown field "Raw"`},
		"what it does not do": {
			change: func(in *sesv2.SendEmailInput) { in.ConfigurationSetName = aws.String("x") },
			want:   `BadRequestException: the simulator cannot read the request: json: unknown field "ConfigurationSetName"`,
		},
		"another sender": {
			cfg: ses.Config{Verified: []string{"example.net"}}, change: func(*sesv2.SendEmailInput) {},
			want: "MessageRejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: " + from,
		},
		"the sandbox": {
			cfg: ses.Config{Verified: []string{"example.com"}, Sandbox: true}, change: func(*sesv2.SendEmailInput) {},
			want: "MessageRejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: " + ann,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := start(t, c.cfg)
			in := mail(ann)
			c.change(in)

			if got := code(t, client, in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}

			if got := s.Sent(); got != nil {
				t.Errorf("it sends %v", got)
			}
		})
	}
}

// TestLimits: the sandbox takes a recipient a second and 200 in any 24 hours, verified ones
// only. A mail to a suppressed address counts.
func TestLimits(t *testing.T) {
	t.Parallel()

	c := clock.New(noon, clock.Free)
	t.Cleanup(c.Stop)
	t.Cleanup(c.Work())
	s := ses.New(ses.Config{Clock: c, Sandbox: true, Verified: []string{"example.com", ann}})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client := sesv2.NewFromConfig(aws.Config{
		Region:       "eu-west-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	})

	s.Suppress(ann)

	pass := func(d time.Duration) {
		t.Helper()

		if err := c.Sleep(t.Context(), c.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}

	const rate, quota = "TooManyRequestsException: Maximum sending rate exceeded.", "LimitExceededException: Daily message quota exceeded."

	send := func(want string) {
		t.Helper()

		if got := code(t, client, mail(ann)); got != want {
			t.Fatalf("after %v and %d mails: got %q, want %q", c.Now().Sub(noon), len(s.Sent()), got, want)
		}
	}
	send("")
	send(rate)
	pass(time.Second - 1)
	send(rate)
	pass(1)

	for range ses.SandboxQuota - 1 {
		send("")
		pass(time.Second)
	}

	send(quota)
	pass(noon.Add(24*time.Hour - 1).Sub(c.Now()))
	send(quota)
	pass(1)
	send("")
}

// TestFaults: each call has the next fault. Only the call whose answer is lost sends.
func TestFaults(t *testing.T) {
	t.Parallel()
	s, client := start(t, ses.Config{})
	s.Fail(ses.Throttled, ses.Failed, ses.Rejected, ses.None, ses.AnswerLost)

	var (
		got  []string
		sent []int
	)

	for range 6 {
		got = append(got, code(t, client, mail(ann)))
		sent = append(sent, len(s.Sent()))
	}

	if diff := cmp.Diff([]string{
		"TooManyRequestsException: Maximum sending rate exceeded.", "InternalServiceErrorException: injected fault",
		"MessageRejected: Email to " + ann + " rejected: injected fault", "", "no answer", "",
	}, got); diff != "" {
		t.Errorf("the answers differ (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]int{0, 0, 0, 1, 2, 3}, sent); diff != "" {
		t.Errorf("the mails sent differ (-want +got):\n%s", diff)
	}

	s.Fail(ses.Failed)
	s.Fail()

	if got := code(t, client, mail(ann)); got != "" {
		t.Errorf("without faults it answers %q", got)
	}
}

// TestOtherCalls: a call of another operation, and one that is not JSON, do nothing.
func TestOtherCalls(t *testing.T) {
	t.Parallel()
	s, client := start(t, ses.Config{})
	s.Fail(ses.AnswerLost) // stays for the next mail

	if _, err := client.GetAccount(t.Context(), &sesv2.GetAccountInput{}); err == nil ||
		!strings.Contains(err.Error(), "UnknownOperationException") {
		t.Errorf("another operation: %v", err)
	}

	s.Fail()

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, ses.SendEmail, strings.NewReader("{")))

	if w.Code != http.StatusBadRequest || w.Header().Get("X-Amzn-Errortype") != "BadRequestException" {
		t.Errorf("half a request: %d %s", w.Code, w.Body)
	}

	if got := s.Sent(); got != nil {
		t.Errorf("it sends %v", got)
	}
}
