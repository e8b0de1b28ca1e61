package mail_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/ses"
	"matchday/pkg/kit/mail"
)

// A service opens its sender with env.AWS and env.Setting, in the place of cfg and the
// address. The simulated SES refuses an address without a domain.
func Example() {
	c := clock.New(time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC), clock.Free)
	defer c.Stop()
	defer c.Work()()

	s := ses.New(ses.Config{Clock: c})

	server := httptest.NewServer(s)
	defer server.Close()

	cfg := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}

	sender := mail.Open(cfg, "league@example.com")
	for _, to := range []string{"ann@example.org", "ann"} {
		err := sender.Send(context.Background(), mail.Message{To: to, Subject: "The game is over", Text: "Red has won."})
		fmt.Println(err == nil, errors.Is(err, mail.ErrRefused))
	}

	for _, m := range s.Mailbox("ann@example.org") {
		fmt.Println(m.Subject + ": " + m.Text)
	}
	// Output:
	// true false
	// false true
	// The game is over: Red has won.
}
