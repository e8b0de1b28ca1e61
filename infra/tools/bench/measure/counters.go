package measure

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Counters are I/O calls and what they carried. Those of DynamoDB are by operation;
// their bytes are of JSON, which is more than the size of the items.
type Counters struct {
	Dynamo   map[string]float64 `json:"dynamo"`
	Sent     map[string]float64 `json:"dynamoBytesSent"`
	Received map[string]float64 `json:"dynamoBytesReceived"`

	Connections float64 `json:"dynamoConnections"` // opened for the calls of DynamoDB
	SQS         float64 `json:"sqs"`
	Provider    float64 `json:"provider,omitempty"`
	Pushes      float64 `json:"pushes,omitempty"`
}

// NewCounters returns counters at zero.
func NewCounters() Counters {
	return Counters{Dynamo: map[string]float64{}, Sent: map[string]float64{}, Received: map[string]float64{}}
}

// Add adds the calls of o.
func (c *Counters) Add(o Counters) {
	for _, m := range []struct{ to, from map[string]float64 }{{c.Dynamo, o.Dynamo}, {c.Sent, o.Sent}, {c.Received, o.Received}} {
		for k, v := range m.from {
			m.to[k] += v
		}
	}

	c.Connections += o.Connections
	c.SQS += o.SQS
	c.Provider += o.Provider
	c.Pushes += o.Pushes
}

// Per returns the average of n.
func (c Counters) Per(n int) Counters {
	by := float64(n)
	each := func(m map[string]float64) map[string]float64 {
		out := map[string]float64{}
		for k, v := range m {
			out[k] = v / by
		}

		return out
	}

	return Counters{each(c.Dynamo), each(c.Sent), each(c.Received), c.Connections / by, c.SQS / by, c.Provider / by, c.Pushes / by}
}

// Sum adds up the DynamoDB calls of the operations, or of all if none is given.
func (c Counters) Sum(operations ...string) (n float64) {
	for operation, calls := range c.Dynamo {
		if len(operations) == 0 || slices.Contains(operations, operation) {
			n += calls
		}
	}

	return n
}

// String lists the calls of DynamoDB, the most frequent first.
func (c Counters) String() string {
	names := slices.SortedFunc(maps.Keys(c.Dynamo), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Dynamo[b], c.Dynamo[a]), cmp.Compare(a, b))
	})

	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = Grouped(c.Dynamo[name]) + " " + name
	}

	return strings.Join(parts, " + ")
}

// wire is the HTTP client of the AWS SDK. It sends the calls of DynamoDB to the
// engine, hands those of SQS to the simulator in this process, and counts both.
type wire struct {
	http   aws.HTTPClient // as in package app, with the SDK's limit of connections
	queues http.Handler

	mu     sync.Mutex
	counts Counters
	open   int           // calls to the engine in flight
	since  time.Time     // when the first of them was sent
	waited time.Duration // wall time with at least one call in flight
}

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service == "AmazonSQS" {
		w.mu.Lock()
		w.counts.SQS++
		w.mu.Unlock()

		out := httptest.NewRecorder()
		w.queues.ServeHTTP(out, r)

		return out.Result(), nil
	}

	w.mu.Lock()
	w.counts.Dynamo[operation]++

	w.counts.Sent[operation] += float64(r.ContentLength)
	if w.open++; w.open == 1 {
		w.since = time.Now()
	}
	w.mu.Unlock()

	out, err := w.http.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: w.connected})))
	if err != nil {
		w.done(operation, 0)
		return nil, err
	}

	out.Body = &body{ReadCloser: out.Body, done: func(n int) { w.done(operation, n) }}

	return out, nil
}

func (w *wire) connected(c httptrace.GotConnInfo) {
	if c.Reused {
		return
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	w.counts.Connections++
}

func (w *wire) done(operation string, received int) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.counts.Received[operation] += float64(received)
	if w.open--; w.open == 0 {
		w.waited += time.Since(w.since)
	}
}

// body is the body of a response. The call counts as in flight until it is closed.
type body struct {
	io.ReadCloser
	n    int
	done func(n int)
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += n

	return n, err
}

func (b *body) Close() error {
	if b.done != nil {
		b.done(b.n)
		b.done = nil
	}

	return b.ReadCloser.Close()
}
