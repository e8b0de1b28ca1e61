package h2conn

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

// pingTimeout is how long a connection may take to answer a ping.
const pingTimeout = 300 * time.Millisecond

// Client has one connection to an endpoint, and dials again when it has ended. It is safe
// for concurrent use. Make one with NewClient.
type Client struct {
	Host string // for NewHeader: the endpoint's host, with its port if it is not 443
	Addr string // host:port to dial

	// Dial opens the transport of a connection, which agrees to HTTP/2. NewClient sets it to
	// TLS over TCP to Addr. The context has the client's time limit.
	Dial func(ctx context.Context) (net.Conn, error)

	tls     *tls.Config
	timeout time.Duration // of a dial

	dials  atomic.Uint64
	mu     sync.Mutex
	conn   *Conn
	bearer string // the only provider token that conn carries
	err    error  // of the last dial
}

// NewClient returns a client of an endpoint, https://host[:port]. It does not dial. roots
// signs the server's certificate; nil stands for the system's authorities. timeout limits a
// dial with its TLS handshake.
func NewClient(endpoint string, roots *x509.CertPool, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("push: an endpoint is https://host[:port], not %q", endpoint)
	}

	port := u.Port()
	if port == "" {
		port = "443"
	}

	c := &Client{Host: u.Host, Addr: net.JoinHostPort(u.Hostname(), port), timeout: timeout}
	c.Dial = c.dialTLS
	c.tls = &tls.Config{
		ServerName: u.Hostname(),
		RootCAs:    roots,
		NextProtos: []string{http2.NextProtoTLS},
		MinVersion: tls.VersionTLS12,

		ClientSessionCache:          tls.NewLRUClientSessionCache(1), // a redial costs less
		DynamicRecordSizingDisabled: true,                            // records of 16 kB from the start
	}

	return c, nil
}

// Conn returns the client's connection for requests with the provider token bearer. It
// dials if there is none. Of concurrent callers one dials, and all get its result.
//
// A connection carries one token: APNs refuses a second one within 20 minutes of
// the first, and the fleet's next token may be due sooner after the dial.
func (c *Client) Conn(ctx context.Context, bearer string) (*Conn, error) {
	before := c.dials.Load()
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.conn != nil && c.bearer != bearer {
		c.conn.Retire()
	}

	if c.conn != nil && c.conn.usable() {
		return c.conn, nil
	}

	if c.dials.Load() != before && c.err != nil {
		return nil, c.err
	}

	c.conn, c.err = c.dial(ctx)
	c.bearer = bearer
	c.dials.Add(1)

	return c.conn, c.err
}

func (c *Client) dial(ctx context.Context) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	nc, err := c.Dial(ctx)
	if err != nil {
		return nil, err
	}

	return newConn(nc), nil
}

func (c *Client) dialTLS(ctx context.Context) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, err
	}

	t := tls.Client(newPaced(nc), c.tls)
	if err = t.HandshakeContext(ctx); err == nil && t.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		err = fmt.Errorf("push: %s does not speak HTTP/2", c.Addr)
	}

	if err != nil {
		_ = nc.Close()
		return nil, err
	}

	return t, nil
}

// Do makes one request, and waits for its answer until the timeout. If it returns an error,
// APNs may or may not have acted on the request: see Answer.Sent.
func (c *Client) Do(ctx context.Context, timeout time.Duration, path string, h *Header, body []byte) (Answer, error) {
	conn, err := c.Conn(ctx, h.bearer)
	if err != nil {
		return Answer{}, err
	}

	return conn.do(ctx, timeout, path, h, body)
}

// Ready replaces the connection if it does not answer a ping within 300 ms. If there is
// none and open is set, it dials one.
func (c *Client) Ready(ctx context.Context, bearer string, open bool) error {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()

	if conn == nil && !open {
		return nil
	}

	if conn != nil && conn.usable() {
		ping, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()

		conn.ping(ping)
	}

	_, err := c.Conn(ctx, bearer)

	return err
}

// Close ends the connection after its last answer.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.conn != nil {
		c.conn.Retire()
	}
}
