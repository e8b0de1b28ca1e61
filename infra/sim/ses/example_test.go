package ses_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/ses"
)

// A mail arrives in a mailbox. SES takes one recipient a second in its sandbox.
func Example() {
	c := clock.New(time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC), clock.Free)
	defer c.Stop()
	defer c.Work()()

	s := ses.New(ses.Config{Clock: c, Sandbox: true})

	server := httptest.NewServer(s)
	defer server.Close()

	for range 2 {
		answer, err := http.Post(server.URL+ses.SendEmail, "application/json", strings.NewReader(`{
			"FromEmailAddress": "league@example.com", "Destination": {"ToAddresses": ["ann@example.org"]},
			"Content": {"Simple": {"Subject": {"Data": "Hello"}, "Body": {"Text": {"Data": "The game begins at 7."}}}}}`))
		if err != nil {
			fmt.Println(err)
			return
		}

		answer.Body.Close()
		fmt.Println(answer.Status)
	}

	for _, m := range s.Mailbox("ann@example.org") {
		fmt.Println(m.Subject, m.Text)
	}
	// Output:
	// 200 OK
	// 429 Too Many Requests
	// Hello The game begins at 7.
}
