package h2conn

import (
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// read handles frames from APNs until the connection ends.
func (c *Conn) read() {
	in := reader{Conn: c}
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
	*Conn
	answers *hpack.Decoder
	stream  *Request // whose header block is being read; nil when it was abandoned
	partial bool     // more of the header block follows
	last    bool     // the header block ends its stream
	unread  uint32   // bytes to give back to the connection's window
}

// plain handles frames that are already in the buffer, as long as they are of the two most
// frequent kinds: a whole answer without a body that begins with the status 200, which is number
// 8 of HPACK's static table; and a window update of the connection. It reports whether there was
// one.
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
			if r := in.streams[id]; r != nil {
				r.Status = http.StatusOK

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

// handle handles one frame. The caller holds mu.
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

		if r := in.streams[id]; r != nil {
			r.Body = append(r.Body, f.Data()...)
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

// field handles a field of an answer.
func (in *reader) field(f hpack.HeaderField) {
	switch {
	case in.stream == nil:
	case f.Name == ":status":
		in.stream.Status, _ = strconv.Atoi(f.Value)
	case f.Name == "apns-channel-id":
		in.stream.Channel = f.Value
	}
}

// settings applies the settings of APNs.
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
