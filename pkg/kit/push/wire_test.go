package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"

	"matchday/infra/sim/apns"
	"matchday/infra/testkit/h2peer"
)

// relay passes connections on to a server, and counts the bytes of both directions. It never
// answers the first connections, of the number silent.
func relay(t *testing.T, server *apns.Server, silent int) (addr string, wire *atomic.Int64) {
	t.Helper()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { l.Close() })

	wire = new(atomic.Int64)
	forward := func(to, from net.Conn) {
		defer to.Close()

		for buf := make([]byte, 1<<15); ; {
			n, err := from.Read(buf)
			wire.Add(int64(n))

			if _, failed := to.Write(buf[:n]); failed != nil || err != nil {
				return
			}
		}
	}

	go func() {
		for n := 0; ; n++ {
			near, err := l.Accept()
			if err != nil {
				return
			}

			if n < silent {
				defer near.Close()
				continue
			}

			far, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "https://"))
			if err != nil {
				near.Close()
				continue
			}

			go forward(far, near)
			go forward(near, far)
		}
	}()

	return l.Addr().String(), wire
}

// TestBytesOnTheWire: a push of 700 bytes costs at most 870 bytes within TLS's records
// and with its answer, and 40 more when it and its answer have records of their own. A header
// block that is written out takes 330 more.
func TestBytesOnTheWire(t *testing.T) {
	t.Parallel()
	server, s := apple(t)

	addr, wire := relay(t, server, 0)
	for _, c := range s.clients {
		c.Addr = addr
	}

	m := must(Update(State{Content: map[string]string{"text": strings.Repeat("x", 623)}, Time: start}))(t)

	to := tokens(5000)
	if counts, err := s.Send(t.Context(), m, slices.Values(to), nil); err != nil || counts.Delivered != len(to) || m.Bytes() != 700 {
		t.Fatalf("%+v, %v for a message of %d bytes", counts, err, m.Bytes())
	}

	if n := int(wire.Load()) / len(to); n > 910 {
		t.Errorf("%d bytes for each push", n)
	}
}

// over returns a Sender whose only connection is to the peer, which has accepted the provider
// token. It must be called in a synctest bubble.
func over(t *testing.T, inFlight int) (*Sender, *h2peer.Peer) {
	t.Helper()

	s, err := Open(Config{
		TeamID: team, KeyID: keyID, Bundle: bundle, Key: newKey(t), Now: time.Now,
		Endpoint: "https://apple", Connections: 1, InFlight: inFlight,
	})
	if err != nil {
		t.Fatal(err)
	}

	near, p := h2peer.Pipe(t)
	dials := 0
	s.clients[0].Dial = func(context.Context) (net.Conn, error) {
		if dials++; dials > 1 {
			return nil, errors.New("there is one connection")
		}

		return near, nil
	}

	first := make(chan error)

	go func() {
		counts, err := s.Send(t.Context(), update(t, 0), slices.Values(tokens(1)), nil)
		if counts.Delivered != 1 {
			err = fmt.Errorf("%+v, %w", counts, err)
		}

		first <- err
	}()

	p.Accept()
	id, _ := p.Request()
	p.Answer(id, "200", "")
	p.Must(<-first)

	return s, p
}

// limitStreams sets how many requests the peer allows at once.
func limitStreams(p *h2peer.Peer, n uint32) {
	p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n}))
	p.Next(http2.FrameSettings)
}

// TestRunWithinLimits: a run has as many pushes in flight as it may and as the peer
// allows, sends on when there is room, and takes answers in any order.
func TestRunWithinLimits(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		inFlight int
		streams  uint32
		want     int
		together int // answers
	}{
		"of the peer":                      {10, 3, 3, 3},
		"of the sender":                    {4, 100, 4, 4},
		"of the peer, answer by answer":    {10, 3, 3, 1},
		"of the sender, answer by answer":  {4, 100, 4, 1},
		"of the sender, with answers of 3": {4, 100, 4, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, p := over(t, test.inFlight)
				limitStreams(p, test.streams)

				to := tokens(11)
				got := make(chan Counts)

				go func() {
					counts, err := s.Send(t.Context(), update(t, 1), slices.Values(to), nil)
					if err != nil {
						t.Error(err)
					}

					got <- counts
				}()

				var ids []uint32
				for left := len(to); left > 0; {
					for len(ids) < min(left, test.want) {
						id, _ := p.Request()
						ids = append(ids, id)
					}

					p.Quiet()
					slices.Reverse(ids)

					var frames bytes.Buffer

					fr := http2.NewFramer(&frames, nil)

					n := min(test.together, len(ids))
					for _, id := range ids[:n] {
						p.Must(fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true}))
					}

					_, err := p.Conn.Write(frames.Bytes())
					p.Must(err)

					ids, left = ids[n:], left-n
				}

				if counts := <-got; counts != (Counts{Delivered: len(to)}) {
					t.Errorf("%+v", counts)
				}
			})
		})
	}
}

// TestRunWithoutRoom: a run ends although the peer never gives the connection room, and
// takes no more tokens then it has places for.
func TestRunWithoutRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := over(t, 5)
		limitStreams(p, 0)

		counts, err := s.Send(t.Context(), update(t, 1), slices.Values(tokens(7)), nil)
		if want := (Counts{Dropped: 7, Retries: 7 * 7}); err != nil || counts != want {
			t.Errorf("%+v, %v; want %+v", counts, err, want)
		}

		if f, err := p.ReadFrame(); err != io.EOF {
			t.Errorf("got %v, %v; want the end of the connection", f, err)
		}
	})
}

// TestTokensAreSentAtOnce: a token is sent although the next one is not known yet.
func TestTokensAreSentAtOnce(t *testing.T) {
	t.Parallel()
	_, s := apple(t)
	ended := make(chan string, 1)

	counts, err := s.Send(t.Context(), update(t, 1), func(yield func(string) bool) {
		for _, token := range tokens(600) {
			if !yield(token) {
				t.Error("no more are taken")
			}

			if got := <-ended; got != token {
				t.Errorf("the outcome of %s, want %s", got, token)
			}
		}
	}, func(token string, _ Outcome) { ended <- token })
	if err != nil || counts.Delivered != 600 {
		t.Errorf("%+v, %v", counts, err)
	}
}

// TestStopInFlight: a run whose context ends cancels the pushes in flight and reports
// each token that it took.
func TestStopInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := over(t, 2)
		newer := errors.New("a newer state")
		ctx, cancel := context.WithCancelCause(t.Context())
		taken, reported := 0, 0
		got := make(chan error)

		go func() {
			_, err := s.Send(ctx, update(t, 1), func(yield func(string) bool) {
				for _, token := range tokens(10_000) {
					taken++
					if !yield(token) {
						taken--
						return
					}
				}
			}, func(_ string, o Outcome) {
				reported++

				if o.Result != Dropped {
					t.Errorf("outcome %+v", o)
				}
			})
			got <- err
		}()

		a, _ := p.Request()
		b, _ := p.Request()

		synctest.Wait()
		cancel(newer)

		canceled := []uint32{p.Next(http2.FrameRSTStream).Header().StreamID, p.Next(http2.FrameRSTStream).Header().StreamID}

		if err := <-got; err != newer || taken != reported {
			t.Errorf("%v; %d outcomes of %d tokens", err, reported, taken)
		}

		slices.Sort(canceled)

		if diff := cmp.Diff([]uint32{a, b}, canceled); diff != "" {
			t.Errorf("canceled (-want +got):\n%s", diff)
		}

		go func() { // on the same connection, because there is no other
			_, err := s.Send(t.Context(), update(t, 2), slices.Values(tokens(1)), nil)
			got <- err
		}()

		id, _ := p.Request()
		p.Answer(id, "200", "")
		p.Must(<-got)
	})
}
