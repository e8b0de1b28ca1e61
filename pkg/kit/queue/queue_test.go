package queue_test

import (
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

var (
	start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	goals = spec.Queue{Name: "goals", MaxReceiveCount: 3, Batch: 1}
	cards = spec.Queue{Name: "cards.fifo", MaxReceiveCount: 3, Batch: 1}
)

type goal struct {
	Team   string `json:"team"`
	Minute int    `json:"minute,omitempty"`
}

// open starts a server with the queue and its dead-letter queue, under a prefix.
func open(t *testing.T) (queue.Sender, *sqs.Server) {
	t.Helper()

	c := clock.New(start, clock.Free)

	var queues *sqs.Server

	server := httptest.NewUnstartedServer(nil)
	queues = sqs.New(c, "http://"+server.Listener.Addr().String())
	server.Config.Handler = queues
	server.Start()
	t.Cleanup(func() { queues.Close(); server.Close(); c.Stop() })
	t.Cleanup(c.Work()) // the clock stands still

	for _, q := range []spec.Queue{goals, cards} {
		for _, q := range []sqs.Queue{
			{Name: "x-" + q.DeadLetter(), FIFO: q.FIFO()},
			{Name: "x-" + q.Name, FIFO: q.FIFO(), MaxReceives: q.MaxReceiveCount, DeadLetter: "x-" + q.DeadLetter()},
		} {
			if err := queues.Create(q); err != nil {
				t.Fatal(err)
			}
		}
	}

	return queue.Open(dynamodb.Config(server.URL), queues.URL("x-")), queues
}

func TestSend(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		delay, want time.Duration
	}{
		{0, 0},
		{5 * time.Second, 5 * time.Second},
		{5*time.Second + time.Millisecond, 6 * time.Second}, // never early
		{time.Nanosecond, time.Second},
		{15 * time.Minute, 15 * time.Minute},
		{time.Hour, 15 * time.Minute},
		{math.MaxInt64, 15 * time.Minute},
		{-time.Second, 0},
	} {
		s, queues := open(t)
		if err := s.Send(t.Context(), goals, goal{"ars", 12}, c.delay); err != nil {
			t.Errorf("delay %v: %v", c.delay, err)
			continue
		}

		got := queues.Messages("x-goals")
		if len(got) != 1 || got[0].Body != `{"team":"ars","minute":12}` || got[0].Visible.Sub(start) != c.want {
			t.Errorf("delay %v: got %+v, want it visible after %v", c.delay, got, c.want)
		}
	}
}

// TestSendFair: the message has its group, in a queue that is not FIFO, and its delay.
func TestSendFair(t *testing.T) {
	t.Parallel()
	s, queues := open(t)

	if err := s.SendFair(t.Context(), goals, "7", goal{"ars", 12}, 4500*time.Millisecond); err != nil {
		t.Fatal(err)
	}

	got := queues.Messages("x-goals")
	if len(got) != 1 || got[0].Body != `{"team":"ars","minute":12}` || got[0].Group != "7" || got[0].Visible.Sub(start) != 5*time.Second {
		t.Errorf("got %+v, want one of group 7, visible after 5 s", got)
	}

	if err := s.SendFair(t.Context(), goals, "a group", goal{}, 0); err == nil || !strings.HasPrefix(err.Error(), "send to goals: ") {
		t.Errorf("a group with a space: got %v, want an error that names the queue", err)
	}
}

// TestSendAll sends more messages than a batch may have, and reports the first batch of which
// one is refused.
func TestSendAll(t *testing.T) {
	t.Parallel()
	s, queues := open(t)

	var (
		sent []goal
		want []string
	)
	for n := range 23 {
		sent, want = append(sent, goal{"ars", n + 1}), append(want, fmt.Sprintf(`{"team":"ars","minute":%d}`, n+1))
	}

	for _, all := range [][]goal{nil, sent} {
		if err := queue.SendAll(t.Context(), s, goals, all); err != nil {
			t.Fatal(err)
		}
	}

	var got []string
	for _, m := range queues.Messages("x-goals") {
		got = append(got, m.Body)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	for name, q := range map[string]spec.Queue{"no queue": {Name: "fouls"}, "FIFO without a group": cards} {
		if err := queue.SendAll(t.Context(), s, q, sent[:2]); err == nil || !strings.HasPrefix(err.Error(), "send to "+q.Name+": ") {
			t.Errorf("%s: got %v, want an error that names the queue", name, err)
		}
	}
}

// TestSendFIFO: a message that is sent again is delivered again.
func TestSendFIFO(t *testing.T) {
	t.Parallel()
	s, queues := open(t)
	want := []string{`{"team":"ars"}`, `{"team":"ars"}`, `{"team":"che"}`}

	for _, team := range []string{"ars", "ars", "che"} {
		if err := s.SendFIFO(t.Context(), cards, "match#7", goal{Team: team}); err != nil {
			t.Fatal(err)
		}
	}

	var got []string
	for _, m := range queues.Messages("x-" + cards.Name) {
		got = append(got, m.Body)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestReject(t *testing.T) {
	t.Parallel()

	for reason, want := range map[string]string{
		"the message cannot be read":          "the message cannot be read",
		"line\x00one\r\nline\ttwo\u2028 \xff": "line one  line two  ?", // SQS refuses attributes with control characters
		strings.Repeat("é", 501):              strings.Repeat("é", 500) + "…",
		strings.Repeat("é", 500):              strings.Repeat("é", 500),
	} {
		for _, q := range []spec.Queue{goals, cards} {
			s, queues := open(t)
			for _, body := range []string{"no goal", "no goal"} { // one that is rejected twice is kept twice
				if err := s.Reject(t.Context(), q, "match#7", body, reason); err != nil {
					t.Fatal(err)
				}
			}

			if n := len(queues.Messages("x-" + q.Name)); n != 0 {
				t.Errorf("%d messages are in the queue %s itself", n, q.Name)
			}

			got := queues.Messages("x-" + q.DeadLetter())
			if len(got) != 2 {
				t.Fatalf("%s has %d messages, want 2", q.DeadLetter(), len(got))
			}

			if q.FIFO() && got[1].Group != "match#7" {
				t.Errorf("%s has the message in the group %q", q.DeadLetter(), got[1].Group)
			}

			if text := aws.ToString(got[1].Attributes[queue.ReasonAttribute].StringValue); got[1].Body != "no goal" || text != want {
				t.Errorf("%s has the body %q with the reason %q, want the reason %q", q.DeadLetter(), got[1].Body, text, want)
			}
		}
	}
}

func TestErrorsNameTheQueue(t *testing.T) {
	t.Parallel()

	s, _ := open(t)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no JSON":      {s.Send(t.Context(), goals, make(chan int), 0), "send to goals: "},
		"no JSON, all": {queue.SendAll(t.Context(), s, goals, []any{1, make(chan int)}), "send to goals: json: unsupported type: chan int"},
		"no queue":     {s.Send(t.Context(), spec.Queue{Name: "fouls"}, goal{}, 0), "send to fouls: "},
		"no dead one":  {s.Reject(t.Context(), spec.Queue{Name: "fouls"}, "", "x", "y"), "send to fouls-dead: "},
		"too long":     {s.Send(t.Context(), goals, goal{Team: strings.Repeat("x", 2<<20)}, 0), "send to goals: "},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) || len(c.err.Error()) > 500 {
			t.Errorf("%s: got %v, want %q and why", name, c.err, c.want)
		}
	}
}
