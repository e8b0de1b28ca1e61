package h2conn

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"matchday/infra/testkit/h2peer"
)

// connect returns a connection and its peer, which has read the preface. It must be called in
// a synctest bubble.
func connect(t *testing.T) (*Conn, *h2peer.Peer) {
	t.Helper()
	near, p := h2peer.Pipe(t)
	c := newConn(near)

	t.Cleanup(func() {
		c.mu.Lock()
		c.end()
		c.mu.Unlock()
	})
	p.Accept()

	return c, p
}

// ask makes a request of n bytes on a goroutine of its own.
func ask(t *testing.T, c *Conn, path string, n int) <-chan result {
	t.Helper()

	got := make(chan result, 1)

	h := NewHeader("apple", "POST", "jwt", "apns-topic", "app.matchday", "apns-collapse-id", "")
	go func() {
		a, err := c.do(t.Context(), 5*time.Second, path, h, bytes.Repeat([]byte("x"), n))
		got <- result{a, err}
	}()

	synctest.Wait()

	return got
}

// active is how many requests are out.
func active(c *Conn) int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return len(c.streams)
}

type result struct {
	Answer
	err error
}

// primed is connected, with a first request answered.
func primed(t *testing.T) (*Conn, *h2peer.Peer) {
	t.Helper()
	c, p := connect(t)
	got := ask(t, c, "/first", 1)
	id, _ := p.Request()
	p.Answer(id, "200", "")

	if r := <-got; r.err != nil || r.Status != 200 {
		t.Fatalf("%+v", r)
	}

	return c, p
}

func TestRequestAndAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t)
		long := "/3/device/" + strings.Repeat("ab", 100)
		got := ask(t, c, long, 700)
		h := p.Next(http2.FrameHeaders).(*http2.MetaHeadersFrame)

		fields := map[string]string{}
		for _, f := range h.Fields {
			fields[f.Name] = f.Value
		}

		for name, want := range map[string]string{
			":method":       "POST",
			":scheme":       "https",
			":authority":    "apple",
			":path":         long,
			"authorization": "bearer jwt",
			"apns-topic":    "app.matchday",
		} {
			if fields[name] != want {
				t.Errorf("%s is %q, want %q", name, fields[name], want)
			}
		}

		if _, ok := fields["apns-collapse-id"]; ok || len(fields) != 6 {
			t.Errorf("%v", fields)
		}

		if d := p.Next(http2.FrameData).(*http2.DataFrame); len(d.Data()) != 700 || !d.StreamEnded() {
			t.Errorf("%v", d)
		}

		const body = `{"reason":"Unregistered","timestamp":1780317000123}`
		p.Answer(h.StreamID, "410", body)

		if r := <-got; r.err != nil || r.Status != 410 || string(r.Body) != body || !r.Sent || r.Conn != c {
			t.Errorf("%+v", r)
		}
	})
}

func TestFirstRequestGoesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t)

		all := []<-chan result{ask(t, c, "/a", 1), ask(t, c, "/b", 1), ask(t, c, "/c", 1)}
		if n := active(c); n != 1 {
			t.Fatalf("%d streams before a valid token", n)
		}

		id, _ := p.Request()
		p.Answer(id, "403", `{"reason":"ExpiredProviderToken"}`)
		synctest.Wait()

		if n := active(c); n != 1 {
			t.Fatalf("%d streams after a refused token", n)
		}

		id, _ = p.Request()
		p.Answer(id, "200", "")
		id, _ = p.Request()

		if n := active(c); n != 1 {
			t.Fatalf("%d streams", n)
		}

		p.Answer(id, "200", "")

		for _, got := range all {
			if r := <-got; r.err != nil {
				t.Error(r.err)
			}
		}
	})
}

func TestLimitsOfThePeer(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		settings []http2.Setting
		n        int // bytes of each request
		fit      int
		more     func(*h2peer.Peer) error
	}{
		"streams": {[]http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 2}}, 10, 2, func(p *h2peer.Peer) error {
			return p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		}},
		"window": {nil, 30_000, 2, func(p *h2peer.Peer) error { return p.WriteWindowUpdate(0, 100_000) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, p := primed(t)
				p.Must(p.WriteSettings(test.settings...))
				p.Next(http2.FrameSettings)

				go func() { // read all, so that only the limits hold it back
					for {
						if _, err := p.ReadFrame(); err != nil {
							return
						}
					}
				}()

				var all []<-chan result
				for range 4 {
					all = append(all, ask(t, c, "/x", test.n))
				}

				if n := active(c); n != test.fit {
					t.Errorf("%d requests out, want %d", n, test.fit)
				}

				p.Must(test.more(p))
				synctest.Wait()

				if n := active(c); n != len(all) {
					t.Errorf("%d requests out once there is room", n)
				}
			})
		})
	}
}

// TestWaitForRoomEndsWithTheCaller: a caller that gives up while it waits for room leaves the
// connection to the others. One whose patience ran out ends it if the peer sent nothing.
func TestWaitForRoomEndsWithTheCaller(t *testing.T) {
	t.Parallel()

	for name, usable := range map[string]bool{"gives up": true, "runs out of patience": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, p := primed(t)
				p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0}))
				p.Next(http2.FrameSettings)

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()

				if usable {
					time.AfterFunc(time.Second, cancel)
				}

				_, err := c.do(ctx, 2*time.Second, "/x", NewHeader("apple", "POST", "jwt", "apns-topic", "app.matchday"), nil)
				if want := map[bool]error{true: context.Canceled, false: errSlow}[usable]; err != want {
					t.Errorf("got %v, want %v", err, want)
				}

				if c.usable() != usable {
					t.Errorf("usable is %v", !usable)
				}
			})
		})
	}
}

// TestBodyOfTheWholeWindow: a body may fill the window of its stream, and no body may be
// larger, because a request is one frame of data.
func TestBodyOfTheWholeWindow(t *testing.T) {
	t.Parallel()

	for n, fits := range map[int]bool{1000: true, 1001: false} {
		synctest.Test(t, func(t *testing.T) {
			c, p := primed(t)
			p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000}))
			p.Next(http2.FrameSettings)

			got := ask(t, c, "/x", n)
			if !fits {
				if r := <-got; r.err != errClosed {
					t.Errorf("%d bytes: %+v, want errClosed", n, r)
				}

				return
			}

			if active(c) != 1 {
				t.Fatalf("%d bytes are not sent: %+v", n, <-got)
			}

			id, _ := p.Request()
			p.Answer(id, "200", "")

			if r := <-got; r.err != nil {
				t.Errorf("%d bytes: %v", n, r.err)
			}
		})
	}
}

func TestGoAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		first, kept, lost := ask(t, c, "/first", 1), ask(t, c, "/kept", 1), ask(t, c, "/lost", 1)
		early, _ := p.Request()
		id, _ := p.Request()
		p.Request()
		p.Must(p.WriteGoAway(id, http2.ErrCodeNo, []byte(`{"reason":"Shutdown"}`)))

		if r := <-lost; r.err != errUnread || r.Sent {
			t.Errorf("a request beyond the last: %+v", r)
		}

		if c.usable() {
			t.Error("a connection takes requests after GOAWAY")
		}

		if r := <-ask(t, c, "/more", 1); r.err != errClosed {
			t.Errorf("%+v", r)
		}

		p.Answer(early, "200", "")

		if r := <-first; r.err != nil || r.Status != 200 {
			t.Errorf("a request before the last: %+v", r)
		}

		p.Answer(id, "200", "")

		if r := <-kept; r.err != nil || r.Status != 200 {
			t.Errorf("the last request: %+v", r)
		}

		if _, err := p.ReadFrame(); err != io.EOF {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}

// TestRetiredConnection takes no new requests: a request that waits for room is notified, and after the
// last answer it is closed.
func TestRetiredConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}))
		p.Next(http2.FrameSettings)

		out := ask(t, c, "/out", 1)
		id, _ := p.Request()
		waits := ask(t, c, "/waits", 1)
		began := time.Now()

		c.Retire()

		if r := <-waits; r.err != errClosed || time.Since(began) != 0 {
			t.Errorf("who waits for room gets %+v after %v, want errClosed at once", r, time.Since(began))
		}

		p.Answer(id, "200", "")

		if r := <-out; r.err != nil || r.Status != 200 {
			t.Errorf("the last answer: %+v", r)
		}

		if _, err := p.ReadFrame(); err != io.EOF || !c.Ended() {
			t.Errorf("the connection is open: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		c.Retire()

		if _, err := p.ReadFrame(); err != io.EOF || !c.Ended() {
			t.Errorf("a connection without requests is open: %v", err)
		}
	})
}

// TestUnansweredFirstRequest: while no token was accepted, requests go out one by one.
func TestUnansweredFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t)
		first := ask(t, c, "/a", 1)

		p.Request()
		time.Sleep(4 * time.Second)
		p.Must(p.WritePing(false, [8]byte{}))
		p.Next(http2.FramePing)

		if r := <-first; r.err != errSlow {
			t.Fatalf("%+v", r)
		}

		p.Next(http2.FrameRSTStream)
		ask(t, c, "/b", 1)
		ask(t, c, "/c", 1)

		if n := active(c); n != 1 {
			t.Errorf("%d requests are out before a token was accepted, want 1", n)
		}

		p.Request()
	})
}

func TestResetOfAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		got := ask(t, c, "/x", 1)
		id, _ := p.Request()
		p.Must(p.WriteRSTStream(id, http2.ErrCodeRefusedStream))

		if r := <-got; r.err != errReset || !c.usable() {
			t.Errorf("%+v", r)
		}
	})
}

// TestPushPromiseEndsTheConnection: APNs must not send one (RFC 9113, 8.4: we allow none).
func TestPushPromiseEndsTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		got := ask(t, c, "/x", 1)

		id, _ := p.Request()
		go p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true})

		if r := <-got; r.err == nil || c.usable() {
			t.Errorf("got %+v, and the connection is usable: %t; want an error and its end", r, c.usable())
		}
	})
}

func TestSilence(t *testing.T) {
	t.Parallel()

	for name, alive := range map[string]bool{"of a stream": true, "of the connection": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, p := primed(t)
				got := ask(t, c, "/x", 1)
				id, _ := p.Request()

				if alive {
					time.Sleep(4 * time.Second)
					p.Must(p.WritePing(false, [8]byte{1}))

					if f := p.Next(http2.FramePing).(*http2.PingFrame); !f.IsAck() || f.Data != [8]byte{1} {
						t.Errorf("%v", f)
					}
				}

				if r := <-got; r.err != errSlow {
					t.Errorf("%+v", r)
				}

				if c.usable() != alive {
					t.Errorf("usable is %v", !alive)
				}

				if !alive {
					return
				}

				if f := p.Next(http2.FrameRSTStream); f.Header().StreamID != id {
					t.Errorf("%v", f)
				}

				p.Answer(id, "200", "") // too late: nobody waits
				p.Must(p.WritePing(false, [8]byte{2}))
				p.Next(http2.FramePing)
			})
		})
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		for _, answered := range []bool{true, false} {
			ctx, cancel := context.WithTimeout(t.Context(), pingTimeout)

			go func() {
				f := p.Next(http2.FramePing).(*http2.PingFrame)
				if answered {
					p.Must(p.WritePing(true, f.Data))
				}
			}()

			c.ping(ctx)
			cancel()

			if c.usable() != answered {
				t.Errorf("usable is %v", !answered)
			}
		}
	})
}

func TestManyErrorBodiesDoNotFillTheWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		big := `{"reason":"` + strings.Repeat("x", 16_000) + `"}`
		credit := maxAnswer + initialSize

		for range 200 {
			got := ask(t, c, "/x", 1)
			f, err := p.ReadFrame()
			p.Must(err)

			if w, ok := f.(*http2.WindowUpdateFrame); ok {
				if credit += int(w.Increment); credit > maxAnswer+initialSize {
					t.Fatalf("the window has %d bytes more than it began with", credit-maxAnswer-initialSize)
				}

				f, err = p.ReadFrame()
				p.Must(err)
			}

			p.Next(http2.FrameData)

			if credit -= len(big) + 8; credit < 0 {
				t.Fatal("the window is full")
			}

			p.Answer(f.Header().StreamID, "400", big)

			if r := <-got; r.err != nil || len(r.Body) != len(big) {
				t.Fatalf("%v", r.err)
			}
		}
	})
}

// Whatever APNs sends, requests end.
func FuzzRead(f *testing.F) {
	var frames bytes.Buffer

	fr := http2.NewFramer(&frames, nil)
	_ = fr.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
	_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true})
	_ = fr.WriteGoAway(1, http2.ErrCodeNo, nil)

	f.Add(frames.Bytes())
	f.Fuzz(func(t *testing.T, sent []byte) {
		near, far := net.Pipe()
		c := newConn(near)

		go io.Copy(io.Discard, far)
		go func() {
			_, _ = far.Write(sent)
			far.Close()
		}()

		h := NewHeader("apple", "POST", "jwt")
		for range 3 {
			if a, err := c.do(t.Context(), time.Minute, "/x", h, []byte("x")); err == nil && a.Status == 0 && len(sent) == 0 {
				t.Error("an answer out of nothing")
			}
		}
	})
}
