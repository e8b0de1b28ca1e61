package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"pgregory.net/rapid"

	"matchday/infra/sim/clock"
)

// function is a function that a mapping invokes. It records the time and the messages
// of each invocation.
type function struct {
	clock *clock.Clock
	do    func(ctx context.Context, e events.SQSEvent) ([]byte, error)

	mu      sync.Mutex
	invoked []string // "2s a b": when, and the bodies
}

func (f *function) invoke(ctx context.Context, event []byte) ([]byte, error) {
	var e events.SQSEvent
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}

	note := f.clock.Now().Sub(start).String()
	for _, r := range e.Records {
		note += " " + r.Body
	}

	f.mu.Lock()
	f.invoked = append(f.invoked, note)
	f.mu.Unlock()

	if f.do == nil {
		return nil, nil
	}

	return f.do(ctx, e)
}

func (f *fixture) poll(m Mapping, do func(context.Context, events.SQSEvent) ([]byte, error)) *function {
	f.t.Helper()

	fn := &function{clock: f.clock, do: do}
	if err := f.server.Poll(m, fn.invoke); err != nil {
		f.t.Fatal(err)
	}

	return fn
}

func (f *function) want(t *testing.T, want ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()

	if !slices.Equal(f.invoked, want) {
		t.Errorf("invoked\n%s\nwant\n%s", strings.Join(f.invoked, "\n"), strings.Join(want, "\n"))
	}
}

// failing answers that the messages with these bodies failed.
func failing(bodies ...string) func(context.Context, events.SQSEvent) ([]byte, error) {
	return func(_ context.Context, e events.SQSEvent) ([]byte, error) {
		var r events.SQSEventResponse

		for _, m := range e.Records {
			if slices.Contains(bodies, m.Body) {
				r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}

		return json.Marshal(r)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	fn := f.poll(Mapping{Queue: "q", BatchSize: 2}, nil)
	f.send("q", "a")
	f.sendTo("q", Message{Body: "later", Delay: 90 * time.Second})
	f.send("q", "b")
	f.send("q", "c")
	fn.want(t) // nothing, while the sender is at work
	f.pass(time.Hour)
	fn.want(t, "0s a b", "0s c", "1m30s later")

	if d := f.server.Depth("q"); d != (Depth{Queue: "q", Sent: 4, Received: 4, Deleted: 4}) {
		t.Errorf("left %+v", d)
	}
}

// TestClockWaitsForDelivery releases its clock work as soon as the message is sent. The
// clock must not jump to the timer before the message is handled.
func TestClockWaitsForDelivery(t *testing.T) {
	t.Parallel()

	c := clock.New(start, clock.Free)
	s := New(c, "http://sqs")
	t.Cleanup(s.Close)

	if err := s.Create(Queue{Name: "first"}); err != nil {
		t.Fatal(err)
	}

	if err := s.Create(Queue{Name: "second"}); err != nil {
		t.Fatal(err)
	}

	handled := make(chan time.Duration, 1)

	if err := s.Poll(Mapping{Queue: "first"}, func(context.Context, []byte) ([]byte, error) {
		_, err := s.Send("second", Message{Body: "m"})
		return nil, err
	}); err != nil {
		t.Fatal(err)
	}

	if err := s.Poll(Mapping{Queue: "second"}, func(context.Context, []byte) ([]byte, error) {
		handled <- c.Now().Sub(start)
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}

	done := c.Work()
	c.After(time.Nanosecond, func() {})
	c.After(time.Hour, func() {})

	if _, err := s.Send("first", Message{Body: "m"}); err != nil {
		t.Fatal(err)
	}

	done()

	if at := <-handled; at != 0 {
		t.Errorf("handled at %v, want before the clock moved", at)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "dead.fifo", FIFO: true},
		Queue{Name: "q.fifo", FIFO: true, Visibility: time.Second, DeadLetter: "dead.fifo", MaxReceives: 1})
	f.poll(Mapping{Queue: "q.fifo"}, failing("m"))

	var got events.SQSEvent

	f.poll(Mapping{Queue: "dead.fifo"}, func(_ context.Context, e events.SQSEvent) ([]byte, error) { got = e; return nil, nil })
	f.sendTo("q.fifo", Message{Body: "m", Group: "g", Dedup: "d", Attributes: map[string]Attribute{
		"n": {DataType: "Number", StringValue: aws.String("4")}, "b": {DataType: "Binary", BinaryValue: []byte("x")},
	}})
	f.pass(time.Minute)

	if len(got.Records) != 1 {
		t.Fatalf("got %+v", got)
	}

	r := got.Records[0]
	if r.EventSourceARN != "arn:aws:sqs:eu-west-1:000000000000:dead.fifo" || r.EventSource != "aws:sqs" || r.AWSRegion != "eu-west-1" ||
		r.Md5OfBody != "6f8f57715090da2632453988d9a1501b" || r.MessageId == "" || r.ReceiptHandle == "" || len(r.Md5OfMessageAttributes) != 32 {
		t.Errorf("record %+v", r)
	}

	if n, b := r.MessageAttributes["n"], r.MessageAttributes["b"]; n.DataType != "Number" || *n.StringValue != "4" || n.BinaryValue != nil ||
		string(b.BinaryValue) != "x" || b.StringValue != nil {
		t.Errorf("attributes %+v", r.MessageAttributes)
	}

	for name, want := range map[string]string{
		"ApproximateReceiveCount":          "2",
		"SentTimestamp":                    "1780315201000",
		"ApproximateFirstReceiveTimestamp": "1780315200000",
		"SequenceNumber":                   "00000000000000000002",
		"MessageGroupId":                   "g",
		"MessageDeduplicationId":           "d",
		"DeadLetterQueueSourceArn":         ARN("q.fifo"),
		"SenderId":                         "AIDALOCAL",
	} {
		if r.Attributes[name] != want {
			t.Errorf("%s is %q, want %q", name, r.Attributes[name], want)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		answer string // ID stands for the id of message b
		err    error
		want   string // messages that are delivered again
	}{
		"nothing":         {},
		"null":            {answer: `null`},
		"an object":       {answer: `{}`},
		"null failures":   {answer: `{"batchItemFailures": null}`},
		"no failures":     {answer: `{"batchItemFailures": []}`},
		"another answer":  {answer: `{"ok": true}`},
		"one failure":     {answer: `{"batchItemFailures": [{"itemIdentifier": "ID"}]}`, want: "b"},
		"it twice":        {answer: `{"batchItemFailures": [{"itemIdentifier": "ID"}, {"itemIdentifier": "ID"}]}`, want: "b"},
		"unknown id":      {answer: `{"batchItemFailures": [{"itemIdentifier": "ID"}, {"itemIdentifier": "x"}]}`, want: "a b c"},
		"empty id":        {answer: `{"batchItemFailures": [{"itemIdentifier": ""}]}`, want: "a b c"},
		"null id":         {answer: `{"batchItemFailures": [{"itemIdentifier": null}]}`, want: "a b c"},
		"another key":     {answer: `{"batchItemFailures": [{"ItemIdentifier": "ID"}]}`, want: "a b c"},
		"not a list":      {answer: `{"batchItemFailures": "ID"}`, want: "a b c"},
		"not JSON":        {answer: `{"batchItem`, want: "a b c"},
		"an error":        {err: errors.New("x"), want: "a b c"},
		"error and reply": {answer: `{}`, err: errors.New("x"), want: "a b c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, Queue{Name: "q", Visibility: 10 * time.Second})
			first := true

			fn := f.poll(Mapping{Queue: "q"}, func(_ context.Context, e events.SQSEvent) ([]byte, error) {
				if !first {
					return nil, nil
				}

				first = false

				return []byte(strings.ReplaceAll(tc.answer, "ID", e.Records[1].MessageId)), tc.err
			})
			for _, body := range []string{"a", "b", "c"} {
				f.send("q", body)
			}

			f.pass(time.Minute)

			want := []string{"0s a b c"}
			if tc.want != "" {
				want = append(want, "10s "+tc.want)
			}

			fn.want(t, want...)
		})
	}
}

func TestPoison(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "dead"}, Queue{Name: "q", Visibility: 10 * time.Second, DeadLetter: "dead", MaxReceives: 3})
	fn := f.poll(Mapping{Queue: "q"}, failing("poison"))
	f.send("q", "poison")
	f.send("q", "good")
	f.pass(time.Minute)
	fn.want(t, "0s poison good", "10s poison", "20s poison")

	if d := f.server.Depth("q"); d != (Depth{Queue: "q", Sent: 2, Received: 4, Deleted: 1, Dead: 1}) {
		t.Errorf("q: %+v", d)
	}

	dead := f.server.Messages("dead")
	if len(dead) != 1 || dead[0].Body != "poison" || dead[0].Receives != 3 || !dead[0].Visible.Equal(start.Add(30*time.Second)) {
		t.Errorf("dead: %+v", dead)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})

	fn := f.poll(Mapping{Queue: "q", BatchSize: 1, MaxConcurrency: 2}, func(ctx context.Context, e events.SQSEvent) ([]byte, error) {
		d, err := time.ParseDuration(e.Records[0].Body)
		if err != nil {
			return nil, err
		}

		return nil, f.clock.Sleep(ctx, f.clock.Now().Add(d))
	})
	for _, d := range []string{"10s", "3s", "4s", "2s", "1s"} {
		f.send("q", d)
	}

	f.pass(time.Minute)
	fn.want(t, "0s 10s", "0s 3s", "3s 4s", "7s 2s", "9s 1s")
}

// TestSlowerThanVisibility: if a function takes longer than the visibility timeout, its
// messages are delivered again, and the end of the first invocation does not delete
// them.
func TestSlowerThanVisibility(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q", Visibility: 10 * time.Second})
	slow := true
	fn := f.poll(Mapping{Queue: "q"}, func(ctx context.Context, _ events.SQSEvent) ([]byte, error) {
		if slow {
			slow = false
			return nil, f.clock.Sleep(ctx, f.clock.Now().Add(15*time.Second))
		}

		return nil, f.clock.Sleep(ctx, f.clock.Now().Add(8*time.Second))
	})
	f.send("q", "m")
	f.pass(16 * time.Second)

	if d := f.server.Depth("q"); d.InFlight != 1 || d.Deleted != 0 {
		t.Errorf("after the first invocation %+v", d)
	}

	f.pass(time.Minute)
	fn.want(t, "0s m", "10s m")

	if d := f.server.Depth("q"); d.Deleted != 1 {
		t.Errorf("after the second %+v", d)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	fn := f.poll(Mapping{Queue: "q", BatchSize: 3, Window: 5 * time.Second}, nil)
	f.send("q", "a")
	f.pass(2 * time.Second)
	f.send("q", "b")
	f.pass(4 * time.Second) // the window began with message a
	f.send("q", "c")
	f.send("q", "d")
	f.pass(time.Second)
	f.send("q", "e") // the batch is full
	f.pass(time.Minute)
	fn.want(t, "5s a b", "7s c d e")
}

func TestEventSizeIsBounded(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})

	fn := f.poll(Mapping{Queue: "q"}, func(_ context.Context, e events.SQSEvent) ([]byte, error) {
		if raw, err := json.Marshal(e); err != nil || len(raw) > maxEvent {
			t.Errorf("an event of %d bytes (%v)", len(raw), err)
		}

		return nil, nil
	})
	for range 10 {
		f.send("q", strings.Repeat(`"`, 1<<20)) // two bytes each in JSON
	}

	f.pass(time.Second)

	if n := len(fn.invoked); n != 5 {
		t.Errorf("%d invocations, want 5 of two messages each", n)
	}
}

func TestFIFOMapping(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q.fifo", FIFO: true, Visibility: 10 * time.Second})
	failures := 1

	fn := f.poll(Mapping{Queue: "q.fifo", BatchSize: 2}, func(_ context.Context, e events.SQSEvent) ([]byte, error) {
		for i, m := range e.Records {
			if m.Body == "A1" && failures > 0 {
				failures--
				return failing("A1", e.Records[len(e.Records)-1].Body)(nil, events.SQSEvent{Records: e.Records[i:]})
			}
		}

		return nil, nil
	})
	for _, body := range []string{"A0", "A1", "B0", "A2", "B1", "A3"} {
		f.sendTo("q.fifo", Message{Body: body, Group: body[:1], Dedup: body})
	}

	f.pass(time.Minute)
	fn.want(t, "0s A0 A1", "0s B0 B1", "10s A1 A2", "10s A3")
}

// TestFIFOKeepsOrder sends messages of several groups to a function that fails at
// random, stops at the first failure of a group and reports the later messages. It
// checks that each group's messages were handled once and in order, except those in the
// dead-letter queue.
func TestFIFOKeepsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := clock.New(start, clock.Free)

		done := c.Work()
		defer done()

		s := New(c, "http://sqs")
		defer s.Close()

		for _, q := range []Queue{
			{Name: "dead.fifo", FIFO: true},
			{Name: "q.fifo", FIFO: true, Visibility: 20 * time.Second, DeadLetter: "dead.fifo", MaxReceives: 4},
		} {
			if err := s.Create(q); err != nil {
				t.Fatal(err)
			}
		}

		outcomes := rapid.SliceOfN(rapid.IntRange(0, 3), 20, 20).Draw(t, "outcomes") // 0 fails
		naps := rapid.SliceOfN(rapid.IntRange(0, 5), 20, 20).Draw(t, "naps")

		var mu sync.Mutex

		step := 0
		handled := map[string][]string{}
		open := map[string]bool{}

		err := s.Poll(Mapping{
			Queue: "q.fifo", BatchSize: rapid.IntRange(1, 10).Draw(t, "batch"), MaxConcurrency: rapid.IntRange(1, 4).Draw(t, "concurrency"),
		}, func(ctx context.Context, event []byte) ([]byte, error) {
			var e events.SQSEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}

			mu.Lock()
			mine := map[string]bool{}

			for _, m := range e.Records {
				g := m.Attributes["MessageGroupId"]
				if open[g] && !mine[g] {
					t.Errorf("group %s is handled twice at once", g)
				}

				open[g], mine[g] = true, true
			}

			step++
			nap := naps[step%len(naps)]
			mu.Unlock()

			_ = c.Sleep(ctx, c.Now().Add(time.Duration(nap)*time.Second))

			mu.Lock()
			defer mu.Unlock()

			var r events.SQSEventResponse

			stopped := map[string]bool{}

			for i, m := range e.Records {
				g := m.Attributes["MessageGroupId"]
				if stopped[g] || outcomes[(step+i)%len(outcomes)] == 0 {
					stopped[g] = true

					r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})

					continue
				}

				handled[g] = append(handled[g], m.Body)
			}

			for g := range mine {
				open[g] = false
			}

			return json.Marshal(r)
		})
		if err != nil {
			t.Fatal(err)
		}

		n := rapid.IntRange(0, 30).Draw(t, "messages")
		for i := range n {
			group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
			if _, err := s.Send("q.fifo", Message{Body: fmt.Sprintf("%03d", i), Group: group, Dedup: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}

		if err := c.Sleep(context.Background(), start.Add(12*time.Hour)); err != nil {
			t.Fatal(err)
		}

		total := len(s.Messages("dead.fifo"))

		mu.Lock()
		defer mu.Unlock()

		for g, bodies := range handled {
			total += len(bodies)
			if !slices.IsSorted(bodies) {
				t.Errorf("group %s: %q", g, bodies)
			}
		}

		if d := s.Depth("q.fifo"); total != n || d.Deleted+d.Dead != n || d.Visible+d.InFlight+d.Delayed != 0 {
			t.Errorf("of %d, %d are handled or dead; %+v", n, total, d)
		}
	})
}

func TestPollRefuses(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"}, Queue{Name: "q.fifo", FIFO: true}, Queue{Name: "taken"})
	f.poll(Mapping{Queue: "taken"}, nil)

	for name, m := range map[string]Mapping{
		"no queue":              {Queue: "x"},
		"two mappings":          {Queue: "taken"},
		"a batch too long":      {Queue: "q", BatchSize: 10_001, Window: time.Second},
		"a batch with no wait":  {Queue: "q", BatchSize: 11},
		"a window too long":     {Queue: "q", Window: 6 * time.Minute},
		"a FIFO queue's window": {Queue: "q.fifo", Window: time.Second},
		"a FIFO queue's batch":  {Queue: "q.fifo", BatchSize: 11},
		"negative concurrency":  {Queue: "q", MaxConcurrency: -1},
	} {
		if err := f.server.Poll(m, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "q"})
	began := make(chan struct{})
	ended := false
	fn := f.poll(Mapping{Queue: "q", BatchSize: 1, MaxConcurrency: 1}, func(ctx context.Context, _ events.SQSEvent) ([]byte, error) {
		close(began)

		err := f.clock.Sleep(ctx, f.clock.Now().Add(time.Hour))
		ended = true

		return nil, err
	})
	f.send("q", "a")
	f.send("q", "b")
	f.pass(time.Second)
	<-began
	f.server.Close()

	if !ended {
		t.Error("Close did not wait for the invocation")
	}

	f.send("q", "c")
	f.pass(time.Hour)
	fn.want(t, "0s a")

	if d := f.server.Depth("q"); d.Deleted != 0 || d.Visible != 3 {
		t.Errorf("left %+v", d)
	}
}

func TestPushAtSpeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(start, 1000)
		defer c.Stop()

		s := New(c, "http://sqs")
		defer s.Close()

		if err := s.Create(Queue{Name: "q", Visibility: 5 * time.Second}); err != nil {
			t.Fatal(err)
		}

		const n = 200

		var mu sync.Mutex

		seen := map[string]int{}
		over := make(chan struct{})

		if err := s.Poll(Mapping{Queue: "q", BatchSize: 7}, func(_ context.Context, event []byte) ([]byte, error) {
			var e events.SQSEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}

			var r events.SQSEventResponse

			mu.Lock()
			defer mu.Unlock()

			for i, m := range e.Records {
				if seen[m.Body]++; i == 0 && seen[m.Body] == 1 { // fails once
					r.BatchItemFailures = append(r.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
					seen[m.Body] = -1
				}
			}

			if len(seen) == n {
				select {
				case <-over:
				default:
					close(over)
				}
			}

			return json.Marshal(r)
		}); err != nil {
			t.Fatal(err)
		}

		var senders sync.WaitGroup
		for i := range 4 {
			senders.Go(func() {
				defer c.Work()()

				for j := range n / 4 {
					if _, err := s.Send("q", Message{Body: fmt.Sprint(i, j)}); err != nil {
						t.Error(err)
					}
				}
			})
		}

		senders.Wait()
		<-over
	})
}

func FuzzSucceeded(f *testing.F) {
	f.Add([]byte(`{"batchItemFailures": [{"itemIdentifier": "a"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		batch := []message{{id: "a"}, {id: "b"}}
		if done := succeeded(batch, answer); len(done) > len(batch) {
			t.Errorf("%d of %d succeeded", len(done), len(batch))
		}
	})
}

// A standard queue may reorder messages and deliver a message again after its deletion.
func TestChaos(t *testing.T) {
	t.Parallel()
	f := open(t, Queue{Name: "dead"}, Queue{Name: "q", DeadLetter: "dead", MaxReceives: 1}, Queue{Name: "p"})
	fate := func(queue, body string, _ time.Time) Fault {
		return map[string]Fault{"late": {Delay: 5 * time.Second}, "again": {RedeliverAfter: time.Minute}}[body]
	}
	f.server.InjectFaults(fate)

	p := f.poll(Mapping{Queue: "p", BatchSize: 1}, nil)
	for _, body := range []string{"plain", "late", "again"} { // sent at one instant, so in any order
		f.send("p", body)
	}

	f.send("q", "again") // the first delivery is the last
	q := f.poll(Mapping{Queue: "q"}, nil)
	f.pass(2 * time.Minute)
	p.want(t, "0s again", "0s plain", "5s late", "1m0s again")
	q.want(t, "0s again")

	if d := f.server.Depth("p"); d.Visible+d.Delayed+d.InFlight > 0 || d.Deleted != 3 {
		t.Errorf("%+v", d)
	}

	if d := f.server.Depth("dead"); d.Visible > 0 {
		t.Errorf("%+v", d)
	}

	f.server.InjectFaults(nil)
	f.send("p", "late")
	f.pass(0)
	p.want(t, "0s again", "0s plain", "5s late", "1m0s again", "2m0s late")
}
