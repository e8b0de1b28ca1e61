package fcm_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"matchday/infra/sim/clock"
	sim "matchday/infra/sim/fcm"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// TestSilentBreak: a message on a connection that has broken silently is accepted by a new one, long before its answer is late.
func TestSilentBreak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(start, clock.Free)
		defer c.Work()()

		var arrived atomic.Int32

		google := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				_, _ = io.WriteString(w, `{"access_token":"access","expires_in":3600}`)
				return
			}

			arrived.Add(1)
		}))
		pipes := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
		google.Listener.Close()
		google.Listener, google.EnableHTTP2 = pipes, true
		google.StartTLS()

		defer google.Close()

		_, key := sim.NewAccount(c, sim.Config{Project: "matchday-test"})

		s, err := fcm.Open(fcm.Config{Endpoint: google.URL, Key: key(google.URL), Now: c.Now})
		if err != nil {
			t.Fatal(err)
		}

		defer s.Close()

		var wires []*wire

		roots := x509.NewCertPool()
		roots.AddCert(google.Certificate())
		s.Transport().TLSClientConfig = &tls.Config{RootCAs: roots}
		s.Transport().DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			wires = append(wires, &wire{Conn: near})
			pipes.accept <- far

			return wires[len(wires)-1], nil
		}

		for n := range 3 {
			begin := time.Now()

			if err := s.Broadcast(t.Context(), "match-42", display(t, push.Terms{})); err != nil {
				t.Fatalf("message %d: %v", n, err)
			}

			if took := time.Since(begin); len(wires) != n+1 || took > 3*time.Second {
				t.Errorf("message %d was accepted by connection %d after %s", n, len(wires), took)
			}

			wires[n].silent.Store(true)
		}

		if n := arrived.Load(); n != 3 {
			t.Errorf("%d messages arrived, want 3", n)
		}
	})
}

// wire is a connection, which swallows what is written to it while it is silent.
type wire struct {
	net.Conn
	silent atomic.Bool
}

func (w *wire) Write(b []byte) (int, error) {
	if w.silent.Load() {
		return len(b), nil
	}

	return w.Conn.Write(b)
}

// pipes is a listener whose connections are in memory, so that a synctest bubble can wait for them.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }
