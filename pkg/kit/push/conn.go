package push

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// header is what the requests of a run share: their header fields, of which
// :path, which they do not share, follows the first three.
type header struct {
	bearer string
	fields []hpack.HeaderField
}

const beforePath = 3

// newHeader returns the header of fields that are given as names and values;
// those without a value are left out.
func newHeader(host, method, bearer string, fields ...string) *header {
	all := []string{":method", method, ":scheme", "https", ":authority", host, "authorization", "bearer " + bearer}
	all = append(all, fields...)
	h := &header{bearer: bearer}
	for i := 0; i < len(all); i += 2 {
		if all[i+1] != "" {
			h.fields = append(h.fields, hpack.HeaderField{Name: all[i], Value: all[i+1]})
		}
	}
	return h
}

// appendPath appends the field :path, which is number 4 of HPACK's static table, as
// a literal that is not indexed (RFC 7541, 6.2.2), in Huffman's code.
func appendPath(b []byte, path string) []byte {
	const field, huffman = 4, 128
	b = append(b, field)
	if n := hpack.HuffmanEncodeLength(path); n < 127 {
		b = append(b, huffman|byte(n))
	} else { // an integer with a 7-bit prefix (RFC 7541, 5.1)
		b = append(b, huffman|127)
		for n -= 127; n >= 128; n >>= 7 {
			b = append(b, byte(n)|128)
		}
		b = append(b, byte(n))
	}
	return hpack.AppendHuffmanString(b, path)
}

// Errors of requests that got no answer.
var (
	errClosed = errors.New("push: the connection to APNs ended")
	errUnread = errors.New("push: the connection to APNs ended before the request")
	errReset  = errors.New("push: APNs reset the request's stream")
	errSlow   = errors.New("push: APNs did not answer in time")

	errProtocol = errors.New("push: APNs broke the HTTP/2 protocol")
)

const (
	maxAnswer   = 1 << 20 // bytes; a list of 10,000 channels fits
	initialSize = 1<<16 - 1
)

// conn is one HTTP/2 connection to APNs. It implements the part of RFC 9113 that
// APNs needs: concurrent requests that each fit in one frame and in a stream's
// initial window. Requests that wait at the same time are written together, and
// answers that arrive together are handed over together.
//
// The fields of a header enter HPACK's dynamic table with the first request that has
// them, and take a byte each in those that follow. Apple advises against that for
// fields that change with each request, which only :path does: a connection has one
// provider token. Answers do not use the table, so that most need no decoder.
type conn struct {
	nc     net.Conn
	from   *bufio.Reader
	framer *http2.Framer // reads in the read loop, writes with mu held

	mu         sync.Mutex
	some       sync.Cond // out is not empty, or the connection has ended
	out        []byte    // frames to be written
	fields     *hpack.Encoder
	encoded    bytes.Buffer // that fields writes to
	header     *header      // whose fields are in the table; nil for none
	path       []byte       // scratch
	parts      [2][]byte    // header encoded: what stands before the path, and after it
	streams    map[uint32]*stream
	finished   []*stream // to be handed over
	waiting    []*line   // for room
	nextID     uint32
	primed     bool   // APNs has accepted a provider token; before that it allows one stream
	limit      uint32 // concurrent streams that APNs allows
	window     int64  // bytes that may still be sent on the connection
	size       int64  // bytes that may be sent on a new stream
	pong       chan struct{}
	framesRead uint64      // frames read
	timer      *time.Timer // calls expire at due
	due        time.Time   // zero if the timer is stopped
	closing    bool        // no new requests: APNs sent GOAWAY, or the slot replaced the connection
	ended      bool
}

// stream is a request, and its answer or error once it has ended.
type stream struct {
	answer
	err        error
	line       *line
	header     *header
	token      string    // of a request of a run
	due        time.Time // when APNs' time to answer is over, by the machine's clock, as all of the network
	framesRead uint64    // that the connection had read when the request was made
}

// line is the requests of one goroutine, which takes them when they have ended.
type line struct {
	wake chan struct{} // has an element when there is something to look at

	mu    sync.Mutex
	ended []*stream
	slow  int // pushes that ended in goroutines of their own
}

func newLine() *line { return &line{wake: make(chan struct{}, 1)} }

// take returns the requests that have ended since the last call, in the memory of
// spare.
func (l *line) take(spare []*stream) (ended []*stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended, l.ended = l.ended, spare[:0]
	return ended
}

func (l *line) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func newConn(nc net.Conn) *conn {
	c := &conn{
		nc: nc, from: bufio.NewReaderSize(nc, 1<<15), streams: map[uint32]*stream{}, nextID: 1,
		limit: math.MaxUint32, window: initialSize, size: initialSize,
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

// release hands over the requests that have ended, and unlocks mu.
func (c *conn) release() {
	for i := 0; i < len(c.finished); {
		l := c.finished[i].line
		l.mu.Lock()
		for ; i < len(c.finished) && c.finished[i].line == l; i++ {
			l.ended = append(l.ended, c.finished[i])
		}
		l.mu.Unlock()
		l.poke()
	}
	c.finished = c.finished[:0]
	c.mu.Unlock()
}

// usable reports whether the connection accepts requests.
func (c *conn) usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closing
}

// hasEnded reports whether the connection has ended.
func (c *conn) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// retire accepts no new requests, and ends the connection after its last answer.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.release()
	c.close()
}

// close accepts no new requests. The caller holds mu, as for all methods below that
// do not say otherwise.
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
	c.timer.Stop()
	_ = c.nc.Close()
	for id := range c.streams {
		c.finish(id, errClosed)
	}
	c.wake()
	c.some.Signal()
}

// wake makes all lines that wait for room check again.
func (c *conn) wake() {
	for _, l := range c.waiting {
		l.poke()
	}
	c.waiting = c.waiting[:0]
}

// finish ends a request: with its answer if err is nil.
func (c *conn) finish(id uint32, err error) {
	s, full := c.streams[id], !c.room(0)
	delete(c.streams, id)
	if !c.primed && err == nil && s.status != http.StatusForbidden {
		c.primed = true
	}
	s.err, s.asked, s.conn = err, err != errUnread, c
	c.finished = append(c.finished, s)
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

// put writes a request, for which there must be room. Its path is folder and name.
func (c *conn) put(s *stream, folder, name string, body []byte) {
	id := c.nextID
	if c.nextID += 2; c.nextID > math.MaxInt32 {
		c.closing = true
	}
	c.streams[id] = s
	if c.due.IsZero() || s.due.Before(c.due) {
		c.due = s.due
		c.timer.Reset(time.Until(s.due))
	}
	flags := http2.FlagHeadersEndHeaders
	if len(body) == 0 {
		flags |= http2.FlagHeadersEndStream
	}
	at := len(c.out)
	c.out = appendFrame(c.out, 0, http2.FrameHeaders, flags, id)
	c.encode(s.header)
	c.out = append(c.out, c.parts[0]...)
	c.path = append(append(c.path[:0], folder...), name...)
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

const frameHeader = 9 // bytes

func appendFrame(b []byte, n int, kind http2.FrameType, flags http2.Flags, id uint32) []byte {
	return append(b, byte(n>>16), byte(n>>8), byte(n), byte(kind), byte(flags), byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

// encode sets parts to h as the next request must have it. A field that is not in the
// table enters it.
func (c *conn) encode(h *header) {
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

// do makes a request. If it returns an error, APNs may or may not have acted on the
// request: see answer.asked. The caller does not hold mu.
func (c *conn) do(ctx context.Context, patience time.Duration, path string, h *header, body []byte) (answer, error) {
	l := newLine()
	s := &stream{line: l, header: h, due: time.Now().Add(patience)}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	c.mu.Lock()
	s.framesRead = c.framesRead
	for !c.closing && !c.room(len(body)) {
		c.waiting = append(c.waiting, l)
		c.release()
		var err error
		select {
		case <-l.wake:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-timer.C:
			err = errSlow
		}
		c.mu.Lock()
		if err != nil {
			c.judge(err, s.framesRead)
			c.release()
			return answer{}, err
		}
	}
	if c.closing || int64(len(body)) > c.size {
		c.release()
		return answer{}, errClosed
	}
	c.put(s, path, "", body)
	c.some.Signal()
	c.release()
	for len(l.take(nil)) == 0 {
		select {
		case <-l.wake:
		case <-ctx.Done():
			c.abandon(l, context.Cause(ctx))
		}
	}
	s.read()
	return s.answer, s.err
}

// send makes requests to devices as long as there is room for them, and returns how
// many. The line of those that are left is poked when there is room; with errClosed
// there will be none. The caller does not hold mu.
func (c *conn) send(all []*stream, body []byte) (n int, err error) {
	c.mu.Lock()
	defer c.release()
	for n < len(all) && !c.closing && int64(len(body)) <= c.size && c.room(len(body)) {
		s := all[n]
		s.framesRead = c.framesRead
		c.put(s, "/3/device/", s.token, body)
		n++
	}
	c.some.Signal()
	switch {
	case n == len(all):
	case c.closing || int64(len(body)) > c.size:
		return n, errClosed
	case !slices.Contains(c.waiting, all[n].line):
		c.waiting = append(c.waiting, all[n].line)
	}
	return n, nil
}

// abandon cancels the requests of a line. The caller does not hold mu.
func (c *conn) abandon(l *line, why error) {
	c.mu.Lock()
	defer c.release()
	for id, s := range c.streams {
		if s.line == l {
			_ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
			c.finish(id, why)
		}
	}
}

// expire cancels the requests whose answers are late. The caller does not hold mu.
func (c *conn) expire() {
	c.mu.Lock()
	defer c.release()
	now, silent := time.Now(), false
	c.due = time.Time{}
	for id, s := range c.streams {
		switch {
		case !s.due.After(now):
			_ = c.framer.WriteRSTStream(id, http2.ErrCodeCancel)
			c.finish(id, errSlow)
			silent = silent || s.framesRead == c.framesRead
		case c.due.IsZero() || s.due.Before(c.due):
			c.due = s.due
		}
	}
	if silent {
		c.end()
	}
	if !c.ended && !c.due.IsZero() {
		c.timer.Reset(c.due.Sub(now))
	}
}

// judge ends a connection that sent no frame until a request's patience ran out.
func (c *conn) judge(err error, framesRead uint64) {
	if err == errSlow && c.framesRead == framesRead {
		c.end()
	}
}

// ping ends the connection unless it answers before ctx ends. The caller does not
// hold mu.
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
		c.release()
	}
}

// read handles frames from APNs until the connection ends.
func (c *conn) read() {
	in := reader{conn: c}
	in.answers = hpack.NewDecoder(0, in.field)
	in.answers.SetMaxStringLength(maxAnswer)
	for {
		if _, err := c.from.Peek(frameHeader); err == nil && in.plain() {
			continue
		}
		f, err := c.framer.ReadFrame()
		c.mu.Lock()
		c.framesRead++
		if err == nil {
			err = in.handle(f)
		}
		if err != nil || c.ended {
			c.end()
			c.release()
			return
		}
		c.release()
	}
}

// reader is the state of the read loop.
type reader struct {
	*conn
	answers *hpack.Decoder
	stream  *stream // whose header block is being read; nil when it was abandoned
	partial bool    // more of the header block follows
	last    bool    // the header block ends its stream
	unread  uint32  // bytes to give back to the connection's window
}

// plain handles the frames that are read already as long as they are of the two kinds
// that nearly all are: a whole answer without a body that begins with the status 200,
// which is number 8 of HPACK's static table, and room on the connection. It reports
// whether there was one.
func (in *reader) plain() (some bool) {
	const ok = 0x80 | 8
	b, _ := in.from.Peek(in.from.Buffered())
	all := len(b)
	in.mu.Lock()
	defer in.release()
	for !in.partial && len(b) > frameHeader {
		n := frameHeader + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
		if len(b) < n || n == frameHeader {
			break
		}
		kind, flags, id := http2.FrameType(b[3]), http2.Flags(b[4]), binary.BigEndian.Uint32(b[5:])&math.MaxInt32
		switch body := b[frameHeader:n]; {
		case kind == http2.FrameHeaders && flags == http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream && body[0] == ok:
			if s := in.streams[id]; s != nil {
				s.status = http.StatusOK
				in.finish(id, nil)
			}
		case kind == http2.FrameWindowUpdate && id == 0 && len(body) == 4:
			in.window += int64(binary.BigEndian.Uint32(body) & math.MaxInt32)
			in.wake()
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		in.framesRead++
		b = b[n:]
	}
	_, _ = in.from.Discard(all - len(b))
	return len(b) < all
}

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
	in.partial = !whole
	if _, err := in.answers.Write(fragment); err != nil || !whole {
		return err
	}
	if err := in.answers.Close(); err != nil {
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
		case http2.SettingHeaderTableSize:
			in.fields.SetMaxDynamicTableSizeLimit(s.Val)
			in.header = nil
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	in.wake()
	return in.framer.WriteSettingsAck()
}
