package push

import (
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

// How long a connection may take to open, and to answer a ping.
const (
	dialTimeout = 5 * time.Second
	pingTimeout = 300 * time.Millisecond
)

// line is the place of one connection, redialled when it is gone.
type line struct {
	host, addr string
	tls        *tls.Config

	dials  atomic.Uint64
	mu     sync.Mutex
	conn   *conn
	bearer string // the one provider token that conn carries, once it carries any
	err    error  // of the last dial
}

func newLine(endpoint string, roots *x509.CertPool) (*line, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("push: an endpoint is https://host[:port], not %q", endpoint)
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return &line{host: u.Host, addr: net.JoinHostPort(u.Hostname(), port), tls: &tls.Config{
		ServerName: u.Hostname(),
		RootCAs:    roots,
		NextProtos: []string{http2.NextProtoTLS},
		MinVersion: tls.VersionTLS12,

		ClientSessionCache: tls.NewLRUClientSessionCache(1), // a redial costs less
	}}, nil
}

// get returns the line's connection for requests that carry the provider token
// bearer, dialling if there is none. Of many callers one dials, and they share
// its success or failure.
//
// A connection carries one token for all its life: APNs refuses a second one
// within 20 minutes of the first, and a process cannot know how soon after its
// dial the fleet's next token is due.
func (l *line) get(ctx context.Context, bearer string) (*conn, error) {
	before := l.dials.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.bearer != bearer {
		l.conn.retire()
	}
	if l.conn != nil && l.conn.usable() {
		return l.conn, nil
	}
	if l.dials.Load() != before && l.err != nil {
		return nil, l.err
	}
	l.conn, l.err = l.dial(ctx)
	l.bearer = bearer
	l.dials.Add(1)
	return l.conn, l.err
}

func (l *line) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	d := tls.Dialer{Config: l.tls}
	nc, err := d.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return nil, err
	}
	if nc.(*tls.Conn).ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		_ = nc.Close()
		return nil, fmt.Errorf("push: %s does not speak HTTP/2", l.addr)
	}
	return newConn(nc), nil
}

// do makes one request.
func (l *line) do(ctx context.Context, patience time.Duration, path string, h *head, body []byte) (answer, error) {
	c, err := l.get(ctx, h.bearer)
	if err != nil {
		return answer{}, err
	}
	a, err := c.do(ctx, patience, path, h, body)
	a.conn = c
	return a, err
}

// ready replaces the line's connection when it does not answer a ping, and opens
// one where there is none, if that is wanted.
func (l *line) ready(ctx context.Context, bearer string, open bool) error {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	if c == nil && !open {
		return nil
	}
	if c != nil && c.usable() {
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		c.ping(ping)
	}
	_, err := l.get(ctx, bearer)
	return err
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.retire()
	}
}
