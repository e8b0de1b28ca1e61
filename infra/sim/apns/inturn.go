package apns

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// acceptInTurn serves connections as Config.InTurn says, until the listener is closed.
func (s *Server) acceptInTurn(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}

		go func() {
			defer c.Close()

			_ = s.serveInTurn(c.(*tls.Conn)) // the client sees its end
		}()
	}
}

// stream is a request of which not all was read.
type stream struct {
	method, path string
	header       http.Header
	body         bytes.Buffer
}

// inTurn is a connection whose requests are answered one after the other.
type inTurn struct {
	server  *Server
	request *http.Request // with the context of the connection
	frames  *http2.Framer
	fields  *hpack.Decoder
	encoder *hpack.Encoder
	block   bytes.Buffer       // that encoder writes to
	open    map[uint32]*stream // by id
	free    []*stream
	reading *stream           // whose header is being decoded
	last    uint32            // the last stream that is answered, after GOAWAY; 0 before
	names   map[string]string // canonical names of fields
	answer  answer
}

// answer collects the answer to a request.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *answer) WriteHeader(status int)      { a.status = status }

// serveInTurn answers the requests of a connection, all that it has read at once, until it ends.
func (s *Server) serveInTurn(c *tls.Conn) error {
	in := bufio.NewReaderSize(c, window)
	if _, err := io.CopyN(io.Discard, in, int64(len(http2.ClientPreface))); err != nil {
		return err
	}

	var out bytes.Buffer // whose Write does not fail

	t := &inTurn{
		server: s, request: new(http.Request).WithContext(context.WithValue(context.Background(), connectionKey{}, c.NetConn())),
		frames: http2.NewFramer(&out, in), open: map[uint32]*stream{}, names: map[string]string{}, answer: answer{header: http.Header{}},
	}
	t.frames.SetReuseFrames()
	t.fields = hpack.NewDecoder(4096, t.field)
	t.encoder = hpack.NewEncoder(&t.block)
	t.encoder.SetMaxDynamicTableSizeLimit(0)

	_ = t.frames.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: maxStreams})

	for unread := uint32(0); ; { // bytes of bodies, to give back to the window
		f, err := t.frames.ReadFrame()
		if err != nil {
			return err
		}

		if d, ok := f.(*http2.DataFrame); ok {
			unread += d.Length
		}

		if err := t.handle(f); err != nil {
			return err
		}

		if in.Buffered() > 0 {
			continue
		}

		if unread > window/4 {
			_ = t.frames.WriteWindowUpdate(0, unread)
			unread = 0
		}

		if _, err := out.WriteTo(c); err != nil {
			return err
		}
	}
}

func (t *inTurn) handle(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return t.frames.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return t.frames.WritePing(true, f.Data)
		}
	case *http2.HeadersFrame:
		if !f.HeadersEnded() {
			return http2.ConnectionError(http2.ErrCodeInternal) // no request has so long a header
		}

		t.reading = &stream{header: http.Header{}}
		if n := len(t.free); n > 0 {
			t.reading, t.free = t.free[n-1], t.free[:n-1]
		}

		if _, err := t.fields.Write(f.HeaderBlockFragment()); err != nil {
			return err
		}

		if err := t.fields.Close(); err != nil {
			return err
		}

		if t.last != 0 && f.StreamID > t.last {
			return nil
		}

		t.open[f.StreamID] = t.reading
		if f.StreamEnded() {
			return t.serve(f.StreamID)
		}
	case *http2.DataFrame:
		r, ok := t.open[f.StreamID]
		if !ok { // it was reset, or came after GOAWAY
			return nil
		}

		_, _ = r.body.Write(f.Data())

		if f.StreamEnded() {
			return t.serve(f.StreamID)
		}
	case *http2.RSTStreamFrame:
		delete(t.open, f.StreamID)
	}

	return nil
}

// field handles a field of a request.
func (t *inTurn) field(f hpack.HeaderField) {
	switch f.Name {
	case ":method":
		t.reading.method = f.Value
	case ":path":
		t.reading.path = f.Value
	case ":scheme", ":authority":
	default:
		name, ok := t.names[f.Name]
		if !ok {
			name = http.CanonicalHeaderKey(f.Name)
			t.names[f.Name] = name
		}

		t.reading.header[name] = append(t.reading.header[name], f.Value)
	}
}

// serve answers a request that was read.
func (t *inTurn) serve(id uint32) error {
	in := t.open[id]
	delete(t.open, id)

	path, query, _ := strings.Cut(in.path, "?")
	r := *t.request
	r.Method, r.URL, r.Header, r.Body = in.method, &url.URL{Path: path, RawQuery: query}, in.header, io.NopCloser(&in.body)

	clear(t.answer.header)
	t.answer.status = http.StatusOK
	t.answer.body.Reset()

	aborted := t.call(&r)

	in.body.Reset()

	for name, values := range in.header { // the lists are used again
		in.header[name] = values[:0]
	}

	t.free = append(t.free, in)

	if aborted {
		return t.frames.WriteRSTStream(id, http2.ErrCodeInternal)
	}

	t.block.Reset()
	t.write(":status", strconv.Itoa(t.answer.status))

	for name, values := range t.answer.header {
		if name == "Connection" { // close
			t.last = id
			if err := t.frames.WriteGoAway(id, http2.ErrCodeNo, nil); err != nil {
				return err
			}

			continue
		}

		for _, v := range values {
			t.write(strings.ToLower(name), v)
		}
	}

	empty := t.answer.body.Len() == 0

	err := t.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: t.block.Bytes(), EndStream: empty, EndHeaders: true})
	if err != nil || empty {
		return err
	}

	for t.answer.body.Len() > maxFrame {
		if err := t.frames.WriteData(id, false, t.answer.body.Next(maxFrame)); err != nil {
			return err
		}
	}

	return t.frames.WriteData(id, true, t.answer.body.Bytes())
}

// maxFrame is the size of a frame that each client accepts.
const maxFrame = 1 << 14

// call has the server answer. It reports whether the server aborted the request.
func (t *inTurn) call(r *http.Request) (aborted bool) {
	defer func() {
		if why := recover(); why != nil {
			if why != http.ErrAbortHandler {
				panic(why)
			}

			aborted = true
		}
	}()

	t.server.ServeHTTP(&t.answer, r)

	return false
}

func (t *inTurn) write(name, value string) {
	_ = t.encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) // a buffer takes all
}
