// Package h2conn makes HTTP/2 requests to Apple's push service (RFC 9113).
//
// A Client has one connection at a time, and dials again when it has ended. A Conn has any
// number of requests in flight, and promises:
//
//   - Each request ends once, with an answer or an error. Answer.Sent reports whether APNs may
//     have acted on a request without an answer.
//   - Flow control: a request waits until the limits of APNs allow it: the number of streams,
//     and the window of the connection. Before APNs has accepted a provider token, that is one
//     request at a time.
//   - Deadlines: a request ends at its deadline. If APNs sent no frame at all in the meantime,
//     the connection ends, too.
//   - Pings: Client.Ready replaces a connection that does not answer a ping within 300 ms.
//   - Few system calls: requests that wait at the same time are written together, and answers
//     that arrive within a millisecond are read together.
//
// A request has at most one frame of body, and fits in a stream's initial window. The package
// has no other part of HTTP/2: no server push, no priorities, no trailers.
//
// net/http is not used: it opens a second connection when streams run out, does not report
// whether APNs may have acted on a request, cannot ping before a request, and takes several
// times the CPU time for a push.
package h2conn

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// Errors of requests that got no answer.
var (
	errClosed = errors.New("push: the connection to APNs ended")
	errUnread = errors.New("push: the connection to APNs ended before the request")
	errReset  = errors.New("push: APNs reset the request's stream")
	errSlow   = errors.New("push: APNs did not answer in time")

	errProtocol = errors.New("push: APNs broke the HTTP/2 protocol")
)

// Header is the header that requests share: all fields but :path.
type Header struct {
	bearer string
	fields []hpack.HeaderField
}

// beforePath is the number of fields that come before :path.
const beforePath = 3

// NewHeader returns a header with a provider token, bearer. fields are names and values in
// alternation; a field without a value is left out.
func NewHeader(host, method, bearer string, fields ...string) *Header {
	all := []string{":method", method, ":scheme", "https", ":authority", host, "authorization", "bearer " + bearer}
	all = append(all, fields...)

	h := &Header{bearer: bearer}

	for i := 0; i < len(all); i += 2 {
		if all[i+1] != "" {
			h.fields = append(h.fields, hpack.HeaderField{Name: all[i], Value: all[i+1]})
		}
	}

	return h
}

// Bearer returns the header's provider token.
func (h *Header) Bearer() string { return h.bearer }

// Answer is APNs' answer to a request.
type Answer struct {
	Status  int
	Channel string // apns-channel-id
	Body    []byte
	Sent    bool  // APNs may have acted on the request: it was sent, and no GOAWAY excludes it
	Conn    *Conn // that had the request, nil if it was not sent
}

// Request is a request to be sent by Conn.Send. When it has ended, Completions gets it, with
// an Answer or with Err.
type Request struct {
	Answer
	Err error

	Header      *Header
	Name        string    // the last part of the path
	Deadline    time.Time // by the machine's clock
	Completions *Completions

	framesRead uint64 // that the connection had read when the request was made
}

// Completions is a queue of requests that have ended. Their sender reads it.
type Completions struct {
	wake chan struct{} // has an element when there is something to look at

	mu    sync.Mutex
	ended []*Request
}

// NewCompletions returns an empty queue.
func NewCompletions() *Completions { return &Completions{wake: make(chan struct{}, 1)} }

// Wake returns a channel that gets an element when requests have ended, when a connection
// has room again, and when Notify is called. One element may stand for several of these.
func (q *Completions) Wake() <-chan struct{} { return q.wake }

// Notify adds an element to the channel of Wake.
func (q *Completions) Notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Take returns the requests that have ended since the last call. It reuses the memory of
// spare for those of the next one.
func (q *Completions) Take(spare []*Request) (ended []*Request) {
	q.mu.Lock()
	defer q.mu.Unlock()

	ended, q.ended = q.ended, spare[:0]

	return ended
}

// add adds requests that have ended.
func (q *Completions) add(ended []*Request) {
	q.mu.Lock()
	q.ended = append(q.ended, ended...)
	q.mu.Unlock()

	q.Notify()
}
