package push

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// pingTimeout is how long a connection may take to answer a ping.
const pingTimeout = 300 * time.Millisecond

// connSlot holds one connection, and dials again when it has ended.
type connSlot struct {
	host, addr string
	tls        *tls.Config
	timeout    time.Duration // of a dial

	dials  atomic.Uint64
	mu     sync.Mutex
	conn   *conn
	bearer string // the one provider token that conn carries, once it carries any
	err    error  // of the last dial
}

func newConnSlot(endpoint string, roots *x509.CertPool, timeout time.Duration) (*connSlot, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("push: an endpoint is https://host[:port], not %q", endpoint)
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return &connSlot{host: u.Host, addr: net.JoinHostPort(u.Hostname(), port), timeout: timeout, tls: &tls.Config{
		ServerName: u.Hostname(),
		RootCAs:    roots,
		NextProtos: []string{http2.NextProtoTLS},
		MinVersion: tls.VersionTLS12,

		ClientSessionCache:          tls.NewLRUClientSessionCache(1), // a redial costs less
		DynamicRecordSizingDisabled: true,                            // records of 16 kB from the start
	}}, nil
}

// get returns the slot's connection for requests with the provider token bearer. It
// dials if there is none. Of concurrent callers one dials, and all get its result.
//
// A connection carries one token: APNs refuses a second one within 20 minutes of
// the first, and the fleet's next token may be due sooner after the dial.
func (s *connSlot) get(ctx context.Context, bearer string) (*conn, error) {
	before := s.dials.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.bearer != bearer {
		s.conn.retire()
	}
	if s.conn != nil && s.conn.usable() {
		return s.conn, nil
	}
	if s.dials.Load() != before && s.err != nil {
		return nil, s.err
	}
	s.conn, s.err = s.dial(ctx)
	s.bearer = bearer
	s.dials.Add(1)
	return s.conn, s.err
}

func (s *connSlot) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	t := tls.Client(newPaced(nc), s.tls)
	if err = t.HandshakeContext(ctx); err == nil && t.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		err = fmt.Errorf("push: %s does not speak HTTP/2", s.addr)
	}
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	return newConn(t), nil
}

// readInterval is the shortest time between two reads of a connection. APNs may send
// each answer, of some 40 bytes, in a TLS record of its own: to be woken for each one
// costs more than the rest of a push.
const readInterval = time.Millisecond

// paced is a connection that is read at most once in readInterval, so that answers
// are read together. A read after a longer pause waits for its data only.
type paced struct {
	net.Conn
	in   *bufio.Reader // of arriving
	last time.Time     // when the last read ended
}

func newPaced(nc net.Conn) *paced {
	c := &paced{Conn: nc}
	c.in = bufio.NewReaderSize(arriving{c}, 1<<15)
	return c
}

func (c *paced) Read(p []byte) (int, error) { return c.in.Read(p) }

type arriving struct{ *paced }

// Read waits for the next multiple of readInterval: one timer wakes the readers of
// all connections.
func (c arriving) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(c.last) < readInterval {
		time.Sleep(readInterval - time.Duration(now.UnixNano())%readInterval)
	}
	n, err := c.Conn.Read(p)
	c.last = time.Now()
	return n, err
}

// do makes one request.
func (s *connSlot) do(ctx context.Context, patience time.Duration, path string, h *header, body []byte) (answer, error) {
	c, err := s.get(ctx, h.bearer)
	if err != nil {
		return answer{}, err
	}
	a, err := c.do(ctx, patience, path, h, body)
	a.conn = c
	return a, err
}

// ready replaces the slot's connection if it does not answer a ping. If there is
// none and open is set, it dials one.
func (s *connSlot) ready(ctx context.Context, bearer string, open bool) error {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c == nil && !open {
		return nil
	}
	if c != nil && c.usable() {
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		c.ping(ping)
	}
	_, err := s.get(ctx, bearer)
	return err
}

func (s *connSlot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.retire()
	}
}
