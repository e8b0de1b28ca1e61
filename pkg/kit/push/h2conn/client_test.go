package h2conn

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestEndpoint: the header names the host as the endpoint does, and the port is 443 by default.
func TestEndpoint(t *testing.T) {
	t.Parallel()

	for endpoint, want := range map[string][2]string{
		"https://a":       {"a", "a:443"},
		"https://a:1":     {"a:1", "a:1"},
		"https://[::1]:2": {"[::1]:2", "[::1]:2"},
	} {
		if c, err := NewClient(endpoint, nil, time.Second); err != nil || c.Host != want[0] || c.Addr != want[1] {
			t.Errorf("%s: got %+v, %v, want %v", endpoint, c, err, want)
		}
	}

	const want = `push: an endpoint is https://host[:port], not "https://a b"`
	if _, err := NewClient("https://a b", nil, time.Second); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestNoHTTP2: a host that does not agree to HTTP/2 is not APNs.
func TestNoHTTP2(t *testing.T) {
	t.Parallel()

	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	c, err := NewClient(server.URL, roots, time.Minute)
	if err != nil {
		t.Fatal(err)
	}

	c.tls.NextProtos = nil // else the server ends the handshake itself

	_, err = c.Conn(t.Context(), "jwt")

	if want := fmt.Sprintf("push: %s does not speak HTTP/2", c.Addr); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestDialEndsWithItsTimeout: a server that accepts connections and never answers is given up
// after the timeout.
func TestDialEndsWithItsTimeout(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { l.Close() })

	c, err := NewClient("https://"+l.Addr().String(), nil, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := c.Conn(t.Context(), "jwt"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the time", err)
	}
}

// TestFailedDialIsCounted: callers that wait for a dial get its error only if it is counted.
func TestFailedDialIsCounted(t *testing.T) {
	t.Parallel()

	c, err := NewClient("https://apple", nil, time.Minute)
	if err != nil {
		t.Fatal(err)
	}

	failed := errors.New("no route to Apple")
	c.Dial = func(context.Context) (net.Conn, error) { return nil, failed }

	for dials := range uint64(3) {
		if n := c.dials.Load(); n != dials {
			t.Errorf("%d dials are counted, want %d", n, dials)
		}

		if _, err := c.Conn(t.Context(), "jwt"); err != failed {
			t.Errorf("got %v, want %v", err, failed)
		}
	}
}
