package push

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
	"golang.org/x/net/http2/hpack"
)

// peer is the other end of a conn, frame by frame.
type peer struct {
	*http2.Framer
	t  *testing.T
	nc net.Conn
}

// pair returns a conn and its peer, which has read the preface. It must be
// called in a synctest bubble.
func pair(t *testing.T) (*conn, *peer) {
	t.Helper()
	near, far := net.Pipe()
	c := newConn(near)
	t.Cleanup(func() {
		c.mu.Lock()
		c.end()
		c.mu.Unlock()
		far.Close()
	})
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(far, preface); err != nil || string(preface) != http2.ClientPreface {
		t.Fatalf("preface %q, %v", preface, err)
	}
	p := &peer{http2.NewFramer(far, far), t, far}
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.next(http2.FrameSettings)
	p.next(http2.FrameWindowUpdate)
	return c, p
}

// next reads a frame, which must be of this type.
func (p *peer) next(want http2.FrameType) http2.Frame {
	p.t.Helper()
	f, err := p.ReadFrame()
	if err != nil || f.Header().Type != want {
		p.t.Fatalf("got %v, %v; want %v", f, err, want)
	}
	return f
}

// request reads a request and returns its stream and path.
func (p *peer) request() (id uint32, path string) {
	p.t.Helper()
	h := p.next(http2.FrameHeaders).(*http2.MetaHeadersFrame)
	p.next(http2.FrameData)
	return h.StreamID, h.PseudoValue("path")
}

// answer answers a stream, its header block in two frames.
func (p *peer) answer(id uint32, status, body string) {
	p.t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range []hpack.HeaderField{{Name: ":status", Value: status}, {Name: "apns-id", Value: "1"}} {
		if err := enc.WriteField(f); err != nil {
			p.t.Fatal(err)
		}
	}
	b := block.Bytes()
	p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b[:1], EndStream: body == ""}))
	p.must(p.WriteContinuation(id, true, b[1:]))
	if body != "" {
		p.must(p.WriteDataPadded(id, true, []byte(body), make([]byte, 7)))
	}
}

func (p *peer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// ask makes a request of n bytes on a goroutine of its own.
func ask(t *testing.T, c *conn, path string, n int) <-chan result {
	t.Helper()
	got := make(chan result, 1)
	h := newHeader("apple", "POST", "jwt", "apns-topic", bundle, "apns-collapse-id", "")
	go func() {
		a, err := c.do(t.Context(), 5*time.Second, path, h, bytes.Repeat([]byte("x"), n))
		got <- result{a, err}
	}()
	synctest.Wait()
	return got
}

// active is how many requests are out.
func active(c *conn) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams)
}

type result struct {
	answer
	err error
}

// primed is pair, with a first request answered.
func primed(t *testing.T) (*conn, *peer) {
	t.Helper()
	c, p := pair(t)
	got := ask(t, c, "/first", 1)
	id, _ := p.request()
	p.answer(id, "200", "")
	if r := <-got; r.err != nil || r.status != 200 {
		t.Fatalf("%+v", r)
	}
	return c, p
}

func TestRequestAndAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		long := "/3/device/" + strings.Repeat("ab", 100)
		got := ask(t, c, long, 700)
		h := p.next(http2.FrameHeaders).(*http2.MetaHeadersFrame)
		fields := map[string]string{}
		for _, f := range h.Fields {
			fields[f.Name] = f.Value
		}
		for name, want := range map[string]string{":method": "POST", ":scheme": "https", ":authority": "apple", ":path": long, "authorization": "bearer jwt", "apns-topic": bundle} {
			if fields[name] != want {
				t.Errorf("%s is %q, want %q", name, fields[name], want)
			}
		}
		if _, ok := fields["apns-collapse-id"]; ok || len(fields) != 6 {
			t.Errorf("%v", fields)
		}
		if d := p.next(http2.FrameData).(*http2.DataFrame); len(d.Data()) != 700 || !d.StreamEnded() {
			t.Errorf("%v", d)
		}
		p.answer(h.StreamID, "410", `{"reason":"Unregistered","timestamp":1780317000123}`)
		if r := <-got; r.err != nil || r.status != 410 || r.reason != "Unregistered" || !r.since.Equal(start.Add(123*time.Millisecond)) {
			t.Errorf("%+v", r)
		}
	})
}

func TestFirstRequestGoesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		all := []<-chan result{ask(t, c, "/a", 1), ask(t, c, "/b", 1), ask(t, c, "/c", 1)}
		if n := active(c); n != 1 {
			t.Fatalf("%d streams before a valid token", n)
		}
		id, _ := p.request()
		p.answer(id, "403", `{"reason":"ExpiredProviderToken"}`)
		synctest.Wait()
		if n := active(c); n != 1 {
			t.Fatalf("%d streams after a refused token", n)
		}
		id, _ = p.request()
		p.answer(id, "200", "")
		id, _ = p.request()
		if n := active(c); n != 1 {
			t.Fatalf("%d streams", n)
		}
		p.answer(id, "200", "")
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
		more     func(*peer) error
	}{
		"streams": {[]http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 2}}, 10, 2, func(p *peer) error {
			return p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		}},
		"window": {nil, 30_000, 2, func(p *peer) error { return p.WriteWindowUpdate(0, 100_000) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, p := primed(t)
				p.must(p.WriteSettings(test.settings...))
				p.next(http2.FrameSettings)
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
				p.must(test.more(p))
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
				p.must(p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0}))
				p.next(http2.FrameSettings)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if usable {
					time.AfterFunc(time.Second, cancel)
				}
				_, err := c.do(ctx, 2*time.Second, "/x", newHeader("apple", "POST", "jwt", "apns-topic", bundle), nil)
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
			p.must(p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000}))
			p.next(http2.FrameSettings)
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
			id, _ := p.request()
			p.answer(id, "200", "")
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
		early, _ := p.request()
		id, _ := p.request()
		p.request()
		p.must(p.WriteGoAway(id, http2.ErrCodeNo, []byte(`{"reason":"Shutdown"}`)))
		if r := <-lost; r.err != errUnread || r.asked {
			t.Errorf("a request beyond the last: %+v", r)
		}
		if c.usable() {
			t.Error("a connection takes requests after GOAWAY")
		}
		if r := <-ask(t, c, "/more", 1); r.err != errClosed {
			t.Errorf("%+v", r)
		}
		p.answer(early, "200", "")
		if r := <-first; r.err != nil || r.status != 200 {
			t.Errorf("a request before the last: %+v", r)
		}
		p.answer(id, "200", "")
		if r := <-kept; r.err != nil || r.status != 200 {
			t.Errorf("the last request: %+v", r)
		}
		if _, err := p.ReadFrame(); err != io.EOF {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}

func TestResetOfAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		got := ask(t, c, "/x", 1)
		id, _ := p.request()
		p.must(p.WriteRSTStream(id, http2.ErrCodeRefusedStream))
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
		id, _ := p.request()
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
				id, _ := p.request()
				if alive {
					time.Sleep(4 * time.Second)
					p.must(p.WritePing(false, [8]byte{1}))
					if f := p.next(http2.FramePing).(*http2.PingFrame); !f.IsAck() || f.Data != [8]byte{1} {
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
				if f := p.next(http2.FrameRSTStream); f.Header().StreamID != id {
					t.Errorf("%v", f)
				}
				p.answer(id, "200", "") // too late: nobody waits
				p.must(p.WritePing(false, [8]byte{2}))
				p.next(http2.FramePing)
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
				f := p.next(http2.FramePing).(*http2.PingFrame)
				if answered {
					p.must(p.WritePing(true, f.Data))
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
			p.must(err)
			if w, ok := f.(*http2.WindowUpdateFrame); ok {
				if credit += int(w.Increment); credit > maxAnswer+initialSize {
					t.Fatalf("the window has %d bytes more than it began with", credit-maxAnswer-initialSize)
				}
				f, err = p.ReadFrame()
				p.must(err)
			}
			p.next(http2.FrameData)
			if credit -= len(big) + 8; credit < 0 {
				t.Fatal("the window is full")
			}
			p.answer(f.Header().StreamID, "400", big)
			if r := <-got; r.err != nil || len(r.body) != len(big) {
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
		h := newHeader("apple", "POST", "jwt")
		for range 3 {
			if a, err := c.do(t.Context(), time.Minute, "/x", h, []byte("x")); err == nil && a.status == 0 && len(sent) == 0 {
				t.Error("an answer out of nothing")
			}
		}
	})
}
