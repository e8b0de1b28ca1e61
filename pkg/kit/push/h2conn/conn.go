package h2conn

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	maxAnswer   = 1 << 20 // bytes; a list of 10,000 channels fits
	initialSize = 1<<16 - 1
	bufferSize  = 1 << 15 // bytes of what is read at once
)

// Conn is one connection to APNs.
//
// The fields of a header enter HPACK's dynamic table with the first request that has
// them, and take a byte each in those that follow. Apple advises against that for
// fields that change with each request, which only :path does: a connection has one
// provider token. Answers do not use the table, so that most need no decoder.
type Conn struct {
	nc     net.Conn
	from   *bufio.Reader
	framer *http2.Framer // reads in the read loop, writes with mu held

	mu       sync.Mutex
	some     sync.Cond // out is not empty, or the connection has ended
	out      []byte    // frames to be written
	fields   *hpack.Encoder
	encoded  bytes.Buffer // that fields writes to
	header   *Header      // whose fields are in the table; nil for none
	path     []byte       // scratch
	parts    [2][]byte    // header encoded: the parts before and after the path
	streams  map[uint32]*Request
	finished []*Request     // to be handed over
	waiting  []*Completions // of those that wait for room
	nextID   uint32

	primed bool   // APNs has accepted a provider token; before that it allows one stream
	limit  uint32 // concurrent streams that APNs allows
	window int64  // bytes that may still be sent on the connection
	size   int64  // bytes that may be sent on a new stream

	pong       chan struct{}
	framesRead uint64
	timer      *time.Timer // calls expire at due
	due        time.Time   // zero if the timer is stopped

	closing bool // no new requests: APNs sent GOAWAY, or the client replaced the connection
	ended   bool
}

// newConn returns a connection over nc, which has agreed to HTTP/2.
func newConn(nc net.Conn) *Conn {
	c := &Conn{
		nc:      nc,
		from:    bufio.NewReaderSize(nc, bufferSize),
		streams: map[uint32]*Request{},
		nextID:  1,
		limit:   math.MaxUint32,
		window:  initialSize,
		size:    initialSize,
	}
	c.some.L = &c.mu
	c.fields = hpack.NewEncoder(&c.encoded)
	c.timer = time.AfterFunc(math.MaxInt64, c.expire)
	c.framer = http2.NewFramer(buffer{c}, c.from)
	c.framer.SetReuseFrames()

	c.out = append(c.out, http2.ClientPreface...)
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxAnswer},
	)
	_ = c.framer.WriteWindowUpdate(0, maxAnswer)

	go c.write()
	go c.read()

	return c
}

// buffer collects what the framer writes. Its Write never fails.
type buffer struct{ c *Conn }

func (b buffer) Write(p []byte) (int, error) {
	b.c.out = append(b.c.out, p...)
	b.c.some.Signal()

	return len(p), nil
}

// write sends frames until the connection ends. Frames that are added during a
// write are sent together by the next one.
func (c *Conn) write() {
	var sending []byte

	c.mu.Lock()
	defer c.release()

	for !c.ended {
		if len(c.out) == 0 {
			c.some.Wait()
			continue
		}

		c.out, sending = sending[:0], c.out
		c.mu.Unlock()
		_, err := c.nc.Write(sending)
		c.mu.Lock()
		if err != nil {
			c.end()
		}
	}
}

// Send makes requests of POST with the same body as long as there is room for them, and
// returns how many it has made, from the first on. The path of each is dir and its Name.
//
// The Completions of the requests that are left are notified when there is room. With an
// error there will be none: the connection accepts no requests, or the body is too large.
func (c *Conn) Send(all []*Request, dir string, body []byte) (n int, err error) {
	c.mu.Lock()
	defer c.release()

	for n < len(all) && !c.closing && int64(len(body)) <= c.size && c.room(len(body)) {
		r := all[n]
		r.framesRead = c.framesRead
		c.put(r, dir, r.Name, body)

		n++
	}

	c.some.Signal()

	switch {
	case n == len(all):
	case c.closing || int64(len(body)) > c.size:
		return n, errClosed
	case !slices.Contains(c.waiting, all[n].Completions):
		c.waiting = append(c.waiting, all[n].Completions)
	}

	return n, nil
}

// do makes a request, and waits for its answer until its timeout. If it returns an error,
// APNs may or may not have acted on the request: see Answer.Sent.
func (c *Conn) do(ctx context.Context, timeout time.Duration, path string, h *Header, body []byte) (Answer, error) {
	q := NewCompletions()

	r := &Request{Header: h, Deadline: time.Now().Add(timeout), Completions: q}
	if err := c.start(ctx, r, timeout, path, body); err != nil {
		return Answer{}, err
	}

	for len(q.Take(nil)) == 0 {
		select {
		case <-q.wake:
		case <-ctx.Done():
			c.Abandon(q, context.Cause(ctx))
		}
	}

	return r.Answer, r.Err
}

// start waits for room, and sends a request.
func (c *Conn) start(ctx context.Context, r *Request, timeout time.Duration, path string, body []byte) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()

	c.mu.Lock()
	defer c.release()

	r.framesRead = c.framesRead
	for !c.closing && !c.room(len(body)) {
		c.waiting = append(c.waiting, r.Completions)
		c.release()

		var err error

		select {
		case <-r.Completions.wake:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-timer.C:
			err = errSlow
		}

		c.mu.Lock()
		if err != nil {
			c.endIfSilent(err, r.framesRead)
			return err
		}
	}

	if c.closing || int64(len(body)) > c.size {
		return errClosed
	}

	c.put(r, path, "", body)
	c.some.Signal()

	return nil
}

// Abandon cancels the requests of a queue, and ends them with the error why.
func (c *Conn) Abandon(q *Completions, why error) {
	c.mu.Lock()
	defer c.release()

	for id, r := range c.streams {
		if r.Completions == q {
			_ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
			c.finish(id, why)
		}
	}
}

// Retire accepts no new requests, and ends the connection after its last answer.
func (c *Conn) Retire() {
	c.mu.Lock()
	defer c.release()

	c.close()
}

// Ended reports whether the connection has ended.
func (c *Conn) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.ended
}

// usable reports whether the connection accepts requests.
func (c *Conn) usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return !c.closing
}

// ping ends the connection unless it answers before ctx ends.
func (c *Conn) ping(ctx context.Context) {
	c.mu.Lock()
	if c.pong == nil {
		c.pong = make(chan struct{})
		_ = c.framer.WritePing(false, [8]byte{})
	}

	pong := c.pong
	c.mu.Unlock()

	select {
	case <-pong:
	case <-ctx.Done():
		c.mu.Lock()
		c.end()
		c.release()
	}
}

// expire ends the requests whose deadline has passed, and the connection if APNs has sent
// no frame since one of them was made.
func (c *Conn) expire() {
	c.mu.Lock()
	defer c.release()

	now, silent := time.Now(), false

	c.due = time.Time{}
	for id, r := range c.streams {
		switch {
		case !r.Deadline.After(now):
			_ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
			c.finish(id, errSlow)
			silent = silent || r.framesRead == c.framesRead
		case c.due.IsZero() || r.Deadline.Before(c.due):
			c.due = r.Deadline
		}
	}

	if silent {
		c.end()
	}

	if !c.ended && !c.due.IsZero() {
		c.timer.Reset(c.due.Sub(now))
	}
}

// release hands over the requests that have ended, and unlocks mu.
func (c *Conn) release() {
	for i := 0; i < len(c.finished); {
		first := i

		q := c.finished[i].Completions
		for i < len(c.finished) && c.finished[i].Completions == q {
			i++
		}

		q.add(c.finished[first:i])
	}

	c.finished = c.finished[:0]
	c.mu.Unlock()
}

// In all methods below, the caller holds mu.

// close accepts no new requests.
func (c *Conn) close() {
	c.closing = true
	c.wake()

	if len(c.streams) == 0 {
		c.end()
	}
}

// end closes the connection and fails the requests that wait for an answer.
func (c *Conn) end() {
	if c.ended {
		return
	}

	c.ended, c.closing = true, true
	c.timer.Stop()

	_ = c.nc.Close()
	for id := range c.streams {
		c.finish(id, errClosed)
	}

	c.wake()
	c.some.Signal()
}

// endIfSilent ends a connection that sent no frame until a request timed out.
func (c *Conn) endIfSilent(err error, framesRead uint64) {
	if err == errSlow && c.framesRead == framesRead {
		c.end()
	}
}

// wake notifies all that wait for room.
func (c *Conn) wake() {
	for _, q := range c.waiting {
		q.Notify()
	}

	c.waiting = c.waiting[:0]
}

// finish ends a request: with its answer if err is nil.
func (c *Conn) finish(id uint32, err error) {
	r, full := c.streams[id], !c.room(0)
	delete(c.streams, id)

	if !c.primed && err == nil && r.Status != http.StatusForbidden {
		c.primed = true
	}

	r.Err, r.Sent, r.Conn = err, err != errUnread, c

	c.finished = append(c.finished, r)
	if full {
		c.wake()
	}

	if c.closing && len(c.streams) == 0 {
		c.end()
	}
}

// room reports whether a request with n bytes of body may be sent now.
func (c *Conn) room(n int) bool {
	limit := c.limit
	if !c.primed {
		limit = min(limit, 1)
	}

	return uint32(len(c.streams)) < limit && c.window >= int64(n)
}

// put writes a request, for which there must be room. Its path is dir and name.
func (c *Conn) put(r *Request, dir, name string, body []byte) {
	id := c.nextID
	if c.nextID += 2; c.nextID > math.MaxInt32 {
		c.closing = true
	}

	c.streams[id] = r
	if c.due.IsZero() || r.Deadline.Before(c.due) {
		c.due = r.Deadline
		c.timer.Reset(time.Until(r.Deadline))
	}

	flags := http2.FlagHeadersEndHeaders
	if len(body) == 0 {
		flags |= http2.FlagHeadersEndStream
	}

	at := len(c.out)
	c.out = appendFrame(c.out, 0, http2.FrameHeaders, flags, id)
	c.encode(r.Header)
	c.out = append(c.out, c.parts[0]...)
	c.path = append(append(c.path[:0], dir...), name...)
	c.out = appendPath(c.out, unsafe.String(unsafe.SliceData(c.path), len(c.path))) // which keeps no reference
	c.out = append(c.out, c.parts[1]...)
	n := len(c.out) - at - frameHeader
	c.out[at], c.out[at+1], c.out[at+2] = byte(n>>16), byte(n>>8), byte(n)

	if len(body) > 0 {
		c.window -= int64(len(body))
		c.out = appendFrame(c.out, len(body), http2.FrameData, http2.FlagDataEndStream, id)
		c.out = append(c.out, body...)
	}
}

// encode sets parts to the encoding of h for the next request. A field that is not in the table
// enters it.
func (c *Conn) encode(h *Header) {
	if c.header == h {
		return
	}

	c.header = nil
	c.encoded.Reset()

	known := true
	gap := 0

	for i, f := range h.fields {
		if i == beforePath {
			gap = c.encoded.Len()
		}

		at := c.encoded.Len()
		_ = c.fields.WriteField(f) // a Buffer takes all
		known = known && c.encoded.Len() == at+1
	}

	c.parts[0] = append(c.parts[0][:0], c.encoded.Bytes()[:gap]...)

	c.parts[1] = append(c.parts[1][:0], c.encoded.Bytes()[gap:]...)
	if known { // every field is one byte, an index: the table stays as it is
		c.header = h
	}
}
