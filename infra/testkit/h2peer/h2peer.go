// Package h2peer is the server's side of an HTTP/2 connection in a test, frame by frame.
package h2peer

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Peer is the server's side of a connection.
type Peer struct {
	*http2.Framer
	Conn net.Conn
	t    *testing.T
}

// Pipe returns both sides of a connection. The test must be in a synctest bubble. Its client
// writes to near; Accept reads what a client sends first.
func Pipe(t *testing.T) (near net.Conn, p *Peer) {
	near, far := net.Pipe()

	t.Cleanup(func() { far.Close() })

	p = &Peer{http2.NewFramer(far, far), far, t}
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)

	return near, p
}

// Accept reads the client's preface, settings and window update.
func (p *Peer) Accept() {
	p.t.Helper()

	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(p.Conn, preface); err != nil || string(preface) != http2.ClientPreface {
		p.t.Fatalf("preface %q, %v", preface, err)
	}

	p.Next(http2.FrameSettings)
	p.Next(http2.FrameWindowUpdate)
}

// Next reads a frame, which must be of this type.
func (p *Peer) Next(want http2.FrameType) http2.Frame {
	p.t.Helper()

	f, err := p.ReadFrame()
	if err != nil || f.Header().Type != want {
		p.t.Fatalf("got %v, %v; want %v", f, err, want)
	}

	return f
}

// Request reads a request with a body, and returns its stream and path.
func (p *Peer) Request() (id uint32, path string) {
	p.t.Helper()
	h := p.Next(http2.FrameHeaders).(*http2.MetaHeadersFrame)
	p.Next(http2.FrameData)

	return h.StreamID, h.PseudoValue("path")
}

// Quiet fails the test if the client sends anything. It takes a millisecond of the bubble's
// time.
func (p *Peer) Quiet() {
	p.t.Helper()
	p.Must(p.Conn.SetReadDeadline(time.Now().Add(time.Millisecond)))

	if f, err := p.ReadFrame(); !errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatalf("got %v, %v; want nothing", f, err)
	}

	p.Must(p.Conn.SetReadDeadline(time.Time{}))
}

// Answer answers a stream. Its header block is in two frames.
func (p *Peer) Answer(id uint32, status, body string) {
	p.t.Helper()

	var block bytes.Buffer

	enc := hpack.NewEncoder(&block)
	for _, f := range []hpack.HeaderField{{Name: ":status", Value: status}, {Name: "apns-id", Value: "1"}} {
		p.Must(enc.WriteField(f))
	}

	b := block.Bytes()
	p.Must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b[:1], EndStream: body == ""}))
	p.Must(p.WriteContinuation(id, true, b[1:]))

	if body != "" {
		p.Must(p.WriteDataPadded(id, true, []byte(body), make([]byte, 7)))
	}
}

// Must fails the test if err is not nil.
func (p *Peer) Must(err error) {
	p.t.Helper()

	if err != nil {
		p.t.Fatal(err)
	}
}
