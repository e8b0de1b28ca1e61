package measure

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"

	"golang.org/x/net/http2"
)

// sink is an HTTP/2 server that accepts every request, and answers at once all that it
// has read. It costs a client as little as a server can.
type sink struct {
	url string
	ca  []byte // PEM
}

// serveSink starts a sink, which runs until the process ends.
func serveSink() (*sink, error) {
	host := httptest.NewUnstartedServer(nil)
	host.StartTLS() // it makes the certificate
	cfg := &tls.Config{Certificates: host.TLS.Certificates, NextProtos: []string{http2.NextProtoTLS}, MinVersion: tls.VersionTLS13}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: host.Certificate().Raw})
	host.Close()

	l, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		return nil, err
	}

	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}

			go func() {
				defer c.Close()

				_ = accept(c) // the client sees its end
			}()
		}
	}()

	return &sink{"https://" + l.Addr().String(), ca}, nil
}

// accept answers the requests of a connection until it ends.
func accept(c net.Conn) error {
	const window = 1 << 16

	in := bufio.NewReaderSize(c, window)
	if _, err := io.CopyN(io.Discard, in, int64(len(http2.ClientPreface))); err != nil {
		return err
	}

	var out bytes.Buffer // whose Write does not fail

	f := http2.NewFramer(&out, in)
	f.SetReuseFrames()
	_ = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1000})
	unread := uint32(0) // bytes of bodies, to give back to the window

	for {
		next, err := f.ReadFrame()
		if err != nil {
			return err
		}

		switch next := next.(type) {
		case *http2.SettingsFrame:
			if !next.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !next.IsAck() {
				_ = f.WritePing(true, next.Data)
			}
		case *http2.DataFrame:
			unread += next.Length
			if next.StreamEnded() {
				status200 := []byte{0x80 | 8} // its index in HPACK's static table
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: next.StreamID, BlockFragment: status200, EndStream: true, EndHeaders: true})
			}
		}

		if in.Buffered() > 0 {
			continue
		}

		if unread > window/4 {
			_ = f.WriteWindowUpdate(0, unread)
			unread = 0
		}

		if _, err := out.WriteTo(c); err != nil {
			return err
		}
	}
}
