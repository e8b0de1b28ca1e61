package push

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// header is what all requests of a run share: their header fields, encoded once,
// with a gap for the path.
type header struct {
	bearer        string
	before, after []byte
}

// newHeader encodes header fields given as names and values; those without a
// value are left out. No field enters HPACK's dynamic table, so a header is
// the same on every connection.
func newHeader(host, method, bearer string, fields ...string) *header {
	var buf bytes.Buffer
	enc := hpack.NewEncoder(&buf)
	enc.SetMaxDynamicTableSize(0)
	write := func(name, value string) {
		if value != "" {
			_ = enc.WriteField(hpack.HeaderField{Name: name, Value: value}) // a Buffer takes all
		}
	}
	write(":method", method)
	write(":scheme", "https")
	write(":authority", host)
	gap := buf.Len()
	write("authorization", "bearer "+bearer)
	for i := 0; i < len(fields); i += 2 {
		write(fields[i], fields[i+1])
	}
	return &header{bearer, buf.Bytes()[:gap], buf.Bytes()[gap:]}
}

// appendPath appends the field :path, which is number 4 of HPACK's static
// table, as a literal that is not indexed (RFC 7541, 6.2.2).
func appendPath(b []byte, path string) []byte {
	const name = 4
	b = append(b, name)
	if n := len(path); n < 127 {
		b = append(b, byte(n))
	} else { // an integer with a 7-bit prefix (RFC 7541, 5.1)
		b = append(b, 127)
		for n -= 127; n >= 128; n >>= 7 {
			b = append(b, byte(n)|128)
		}
		b = append(b, byte(n))
	}
	return append(b, path...)
}

// Errors of requests that got no answer.
var (
	errClosed = errors.New("push: the connection to APNs ended")
	errUnread = errors.New("push: the connection to APNs ended before the request")
	errReset  = errors.New("push: APNs reset the request's stream")
	errSlow   = errors.New("push: APNs did not answer in time")
)

const (
	maxAnswer   = 1 << 20 // bytes; a list of 10,000 channels fits
	initialSize = 1<<16 - 1
)

// conn is one HTTP/2 connection to APNs. It implements the part of RFC 9113 that
// APNs needs: concurrent requests that each fit in one frame and in a stream's
// initial window. Requests that wait at the same time are written together.
type conn struct {
	nc     net.Conn
	framer *http2.Framer // reads in the read loop, writes with mu held

	mu         sync.Mutex
	some       sync.Cond // out is not empty, or the connection has ended
	out        []byte    // frames to be written
	block      []byte    // scratch: a header block
	streams    map[uint32]*stream
	free       []*stream
	nextID     uint32
	primed     bool   // APNs has accepted a provider token; before that it allows one stream
	limit      uint32 // concurrent streams that APNs allows
	window     int64  // bytes that may still be sent on the connection
	size       int64  // bytes that may be sent on a new stream
	changed    chan struct{}
	pong       chan struct{}
	framesRead uint64 // frames read
	closing    bool   // no new requests: APNs sent GOAWAY, or the slot replaced the connection
	ended      bool
}

// stream is a request without its answer yet.
type stream struct {
	answer
	err   error
	done  chan struct{} // has one element when answer or err is there
	timer *time.Timer
}

// take returns a free stream. give returns it to the free list.
func (c *conn) take() *stream {
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		return s
	}
	return &stream{done: make(chan struct{}, 1), timer: time.NewTimer(math.MaxInt64)}
}

func (c *conn) give(s *stream) {
	s.timer.Stop()
	s.answer, s.err = answer{body: s.body[:0]}, nil
	c.free = append(c.free, s)
}

func newConn(nc net.Conn) *conn {
	c := &conn{
		nc: nc, streams: map[uint32]*stream{}, nextID: 1,
		limit: math.MaxUint32, window: initialSize, size: initialSize,
	}
	c.some.L = &c.mu
	c.framer = http2.NewFramer(buffer{c}, bufio.NewReader(nc))
	c.framer.SetReuseFrames()
	c.out = append(c.out, http2.ClientPreface...)
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxAnswer},
	)
	_ = c.framer.WriteWindowUpdate(0, maxAnswer)
	go c.write()
	go c.read()
	return c
}

// buffer collects what the framer writes. Its Write never fails.
type buffer struct{ c *conn }

func (b buffer) Write(p []byte) (int, error) {
	b.c.out = append(b.c.out, p...)
	b.c.some.Signal()
	return len(p), nil
}

// write sends frames until the connection ends. Frames that are added during a
// write are sent together by the next one.
func (c *conn) write() {
	var sending []byte
	c.mu.Lock()
	defer c.mu.Unlock()
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

// usable reports whether the connection accepts requests.
func (c *conn) usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closing
}

// retire accepts no new requests, and ends the connection after its last answer.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
}

// close accepts no new requests. The caller holds mu, as for all methods below.
func (c *conn) close() {
	c.closing = true
	c.wake()
	if len(c.streams) == 0 {
		c.end()
	}
}

// end closes the connection and fails the requests that wait for an answer.
func (c *conn) end() {
	if c.ended {
		return
	}
	c.ended, c.closing = true, true
	_ = c.nc.Close()
	for id := range c.streams {
		c.finish(id, errClosed)
	}
	c.wake()
	c.some.Signal()
}

// wake makes all requests that wait for room check again.
func (c *conn) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// finish ends a request: with its answer if err is nil.
func (c *conn) finish(id uint32, err error) {
	s, full := c.streams[id], !c.room(0)
	delete(c.streams, id)
	if !c.primed && err == nil && s.status != http.StatusForbidden {
		c.primed = true
	}
	s.err = err
	s.done <- struct{}{}
	if full {
		c.wake()
	}
	if c.closing && len(c.streams) == 0 {
		c.end()
	}
}

// room reports whether a request with n bytes of body may be sent now.
func (c *conn) room(n int) bool {
	limit := c.limit
	if !c.primed {
		limit = min(limit, 1)
	}
	return uint32(len(c.streams)) < limit && c.window >= int64(n)
}

// do makes a request. If it returns an error, APNs may or may not have acted on the
// request: see answer.asked.
func (c *conn) do(ctx context.Context, patience time.Duration, path string, h *header, body []byte) (answer, error) {
	c.mu.Lock()
	s := c.take()
	s.timer.Reset(patience)
	id, framesRead, err := c.send(ctx, s, path, h, body)
	if err != nil {
		c.give(s)
		c.mu.Unlock()
		return answer{}, err
	}
	c.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
		c.abandon(id, s, context.Cause(ctx), framesRead)
	case <-s.timer.C:
		c.abandon(id, s, errSlow, framesRead)
	}
	a, err := s.answer, s.err
	a.asked = err != errUnread
	if a.body = bytes.Clone(a.body); len(a.body) > 0 {
		a.read()
	}
	c.mu.Lock()
	c.give(s)
	c.mu.Unlock()
	return a, err
}

// send writes a request as soon as there is room for it. framesRead is the number of
// frames that the connection had read before. The caller holds mu; send releases it
// while it waits.
func (c *conn) send(ctx context.Context, s *stream, path string, h *header, body []byte) (id uint32, framesRead uint64, err error) {
	framesRead = c.framesRead
	for !c.closing && !c.room(len(body)) {
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-s.timer.C:
			err = errSlow
		}
		c.mu.Lock()
		if err != nil {
			c.judge(err, framesRead)
			return 0, framesRead, err
		}
	}
	if c.closing || int64(len(body)) > c.size {
		return 0, framesRead, errClosed
	}
	id = c.nextID
	c.nextID += 2
	if c.nextID > math.MaxInt32 {
		c.closing = true
	}
	c.streams[id] = s
	c.block = append(appendPath(append(c.block[:0], h.before...), path), h.after...)
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: c.block, EndHeaders: true, EndStream: len(body) == 0,
	})
	if len(body) > 0 {
		c.window -= int64(len(body))
		_ = c.framer.WriteData(id, true, body)
	}
	return id, framesRead, nil
}

// abandon cancels a request whose caller stopped waiting, unless it has just ended.
func (c *conn) abandon(id uint32, s *stream, why error, framesRead uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams[id] == s {
		_ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
		c.finish(id, why)
		c.judge(why, framesRead)
	}
	<-s.done
}

// judge ends a connection that sent no frame until a request's patience ran out.
func (c *conn) judge(err error, framesRead uint64) {
	if err == errSlow && c.framesRead == framesRead {
		c.end()
	}
}

// ping ends the connection unless it answers before ctx ends.
func (c *conn) ping(ctx context.Context) {
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
		c.mu.Unlock()
	}
}

// read handles frames from APNs until the connection ends.
func (c *conn) read() {
	in := reader{conn: c}
	in.fields = hpack.NewDecoder(4096, in.field)
	in.fields.SetMaxStringLength(maxAnswer)
	for {
		f, err := c.framer.ReadFrame()
		c.mu.Lock()
		c.framesRead++
		if err == nil {
			err = in.handle(f)
		}
		if err != nil || c.ended {
			c.end()
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// reader is the state of the read loop.
type reader struct {
	*conn
	fields *hpack.Decoder
	stream *stream // whose header block is being read; nil when it was abandoned
	last   bool    // the header block ends its stream
	unread uint32  // bytes to give back to the connection's window
}

var errProtocol = errors.New("push: APNs broke the HTTP/2 protocol")

func (in *reader) handle(f http2.Frame) error {
	id := f.Header().StreamID
	switch f := f.(type) {
	case *http2.HeadersFrame:
		in.stream, in.last = in.streams[id], f.StreamEnded()
		return in.headers(id, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		in.stream = in.streams[id] // it may have been abandoned since
		return in.headers(id, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.DataFrame:
		if in.unread += f.Length; in.unread >= maxAnswer/2 {
			_ = in.framer.WriteWindowUpdate(0, in.unread)
			in.unread = 0
		}
		if s := in.streams[id]; s != nil {
			s.body = append(s.body, f.Data()...)
			if f.StreamEnded() {
				in.finish(id, nil)
			}
		}
	case *http2.RSTStreamFrame:
		if in.streams[id] != nil {
			in.finish(id, errReset)
		}
	case *http2.SettingsFrame:
		return in.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return in.framer.WritePing(true, f.Data)
		}
		if in.pong != nil {
			close(in.pong)
			in.pong = nil
		}
	case *http2.GoAwayFrame:
		for id := range in.streams {
			if id > f.LastStreamID {
				in.finish(id, errUnread)
			}
		}
		in.close()
	case *http2.WindowUpdateFrame:
		if id == 0 {
			in.window += int64(f.Increment)
			in.wake()
		}
	case *http2.PushPromiseFrame:
		return errProtocol
	}
	return nil
}

// headers decodes a fragment of a header block; whole marks the last one.
func (in *reader) headers(id uint32, fragment []byte, whole bool) error {
	if _, err := in.fields.Write(fragment); err != nil || !whole {
		return err
	}
	if err := in.fields.Close(); err != nil {
		return err
	}
	if in.last && in.stream != nil {
		in.finish(id, nil)
	}
	return nil
}

func (in *reader) field(f hpack.HeaderField) {
	switch {
	case in.stream == nil:
	case f.Name == ":status":
		in.stream.status, _ = strconv.Atoi(f.Value)
	case f.Name == "apns-channel-id":
		in.stream.channel = f.Value
	}
}

func (in *reader) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingMaxConcurrentStreams:
			in.limit = s.Val
		case http2.SettingInitialWindowSize:
			in.size = int64(s.Val)
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	in.wake()
	return in.framer.WriteSettingsAck()
}
