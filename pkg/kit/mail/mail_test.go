package mail_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/ses"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/problem"
)

const from, to = "league@example.com", "ann@example.org"

var letter = mail.Message{
	To:      to,
	Subject: "Sign in, Zoë",
	Text:    "Open https://example.com/?token=s3cr3t",
	HTML:    `<a href="https://example.com/?token=s3cr3t">Sign in</a>`,
}

// attempts is how often the SDK tries a call.
const attempts = 4

// start serves SES, and returns a configuration whose SDK retries without a pause.
func start(t *testing.T, cfg ses.Config) (*ses.Server, aws.Config) {
	t.Helper()

	cfg.Clock = clock.New(time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC), clock.Free)
	t.Cleanup(cfg.Clock.Stop)
	t.Cleanup(cfg.Clock.Work())
	s := ses.New(cfg)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)

	return s, aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts, o.Backoff = attempts, retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	s, cfg := start(t, ses.Config{})
	sender := mail.Open(cfg, from)

	var want, got []mail.Message

	for _, change := range []func(*mail.Message){func(*mail.Message) {}, func(m *mail.Message) { m.HTML = "" },
		func(m *mail.Message) { m.Text = "" }, func(m *mail.Message) { m.Unsubscribe = "https://example.com/mails?ticket=t" }} {
		m := letter
		change(&m)

		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}

		want = append(want, m)
	}

	for _, m := range s.Mailbox(to) {
		if m.From != from {
			t.Errorf("it comes from %s", m.From)
		}

		one := mail.Message{To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML}
		if m.Headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click" {
			one.Unsubscribe = strings.Trim(m.Headers["List-Unsubscribe"], "<>")
		}

		got = append(got, one)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the mailbox differs (-want +got):\n%s", diff)
	}
}

// TestRefused: what SES refuses for good is an Invalid problem after one call, and the next
// try does not send it. What SES may take later is no problem, and is sent by the next try.
// No error contains the address or the mail.
func TestRefused(t *testing.T) {
	t.Parallel()

	times := func(n int, f ses.Fault) (all []ses.Fault) {
		for range n {
			all = append(all, f)
		}

		return all
	}
	for name, c := range map[string]struct {
		cfg    ses.Config
		faults []ses.Fault
		change func(*mail.Message)
		want   string // of the error, "" for none
		final  bool
		sent   int // with the next try's
	}{
		"rejected": {
			faults: times(1, ses.Rejected),
			want:   "no mail can be sent to this address: SES answers MessageRejected, status 400, request ",
			final:  true,
			sent:   1,
		},
		"no such address": {
			change: func(m *mail.Message) { m.To = "ann@" },
			want:   "no mail can be sent to this address: SES answers BadRequestException, status 400, request ",
			final:  true,
		},
		"a recipient unknown": {
			cfg:   ses.Config{Sandbox: true, Verified: []string{"example.com"}},
			want:  "no mail can be sent to this address: SES answers MessageRejected, status 400, request ",
			final: true,
		},
		"throttled for a while": {faults: times(attempts-1, ses.Throttled), sent: 2},
		"down for a while":      {faults: times(attempts-1, ses.Failed), sent: 2},
		"throttled": {
			faults: times(attempts, ses.Throttled),
			want:   "send a mail: SES answers TooManyRequestsException, status 429, request ",
			sent:   1,
		},
		"down": {
			faults: times(attempts, ses.Failed),
			want:   "send a mail: SES answers InternalServiceErrorException, status 500, request ",
			sent:   1,
		},
		"an answer lost": {faults: times(1, ses.AnswerLost), sent: 3}, // the SDK's retry sends it again
		"all answers lost": {
			faults: times(attempts, ses.AnswerLost),
			want:   "send a mail: operation error SESv2: SendEmail, ",
			sent:   attempts + 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, cfg := start(t, c.cfg)
			s.Fail(c.faults...)

			m := letter
			if c.change != nil {
				c.change(&m)
			}

			sender := mail.Open(cfg, from)

			err := sender.Send(t.Context(), m)
			if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}

			if got := errors.Is(err, mail.ErrRefused); got != c.final || (problem.Of(err) == problem.Invalid) != c.final {
				t.Errorf("%v is final: %v, want %v", err, got, c.final)
			}

			if err != nil {
				for _, secret := range []string{"ann", "example.org", "s3cr3t", "Zoë"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("the error contains %s: %v", secret, err)
					}
				}
			}

			_ = sender.Send(t.Context(), m)
			if got := len(s.Sent()); got != c.sent {
				t.Errorf("%d mails were sent, want %d", got, c.sent)
			}
		})
	}
}

// TestQuota: the daily quota is SES's, and no problem of the address.
func TestQuota(t *testing.T) {
	t.Parallel()
	_, cfg := start(t, ses.Config{Quota: 1})

	sender := mail.Open(cfg, from)
	if err := sender.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}

	err := sender.Send(t.Context(), letter)
	if _, ok := errors.AsType[*types.LimitExceededException](err); !ok || problem.Of(err) != problem.Internal {
		t.Errorf("got %v", err)
	}
}

// TestSuppressed: SES accepts a mail to a suppressed address.
func TestSuppressed(t *testing.T) {
	t.Parallel()
	s, cfg := start(t, ses.Config{})
	s.Suppress(to)

	if err := mail.Open(cfg, from).Send(t.Context(), letter); err != nil || len(s.Sent()) != 1 || len(s.Mailbox(to)) != 0 {
		t.Errorf("got %v, with %v", err, s.Sent())
	}
}

// TestOff: without an address to send from nothing is sent, and the error is ErrOff.
func TestOff(t *testing.T) {
	t.Parallel()

	s, cfg := start(t, ses.Config{})
	if err := mail.Open(cfg, "").Send(t.Context(),
		letter); err != error(mail.ErrOff) || mail.ErrOff.Kind != problem.Unavailable || mail.ErrOff.Code != "mail_off" || len(s.Sent()) > 0 {
		t.Errorf("got %v, with %v", err, s.Sent())
	}
}

// TestOtherErrors: an end of the context and a service that is not there are no problems,
// and reveal nothing of the mail. So does an answer that quotes the recipient.
func TestOtherErrors(t *testing.T) {
	t.Parallel()

	denied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-ErrorType", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("{\"message\":\"User `f' is not authorized to perform `ses:SendEmail' on resource " +
			"`arn:aws:ses:eu-west-1:1:identity/" + to + "'\"}"))
	}))
	t.Cleanup(denied.Close)

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	_, cfg := start(t, ses.Config{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	for name, c := range map[string]struct {
		ctx context.Context
		url string
	}{
		"denied": {t.Context(), denied.URL}, "gone": {t.Context(), gone.URL}, "ended": {ended, *cfg.BaseEndpoint},
	} {
		cfg := cfg.Copy()
		cfg.BaseEndpoint = &c.url

		err := mail.Open(cfg, from).Send(c.ctx, letter)
		if err == nil || problem.Of(err) != problem.Internal || strings.Contains(err.Error(), "ann") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
