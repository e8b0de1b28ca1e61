package h2conn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestPathsOfAnyLength: the length of a path takes one byte, two or three.
func TestPathsOfAnyLength(t *testing.T) {
	t.Parallel()

	var got []hpack.HeaderField

	in := hpack.NewDecoder(0, func(f hpack.HeaderField) { got = append(got, f) })

	for _, n := range []int{0, 1, 100, 126, 127, 128, 254, 255, 256, 382, 383, 384, 16_510, 16_511, 40_000} {
		for _, letter := range []string{"a", "x", "~"} { // of 5, 7 and 13 bits
			want := strings.Repeat(letter, n)

			got = nil
			if _, err := in.Write(appendPath(nil, want)); err != nil || in.Close() != nil || len(got) != 1 || got[0].Name != ":path" ||
				got[0].Value != want {
				t.Errorf("%d times %s: %d fields, %v", n, letter, len(got), err)
			}
		}
	}
}

// TestLastStreamOfAConnection: streams are numbered up to 2^31-1, and then another connection
// is needed.
func TestLastStreamOfAConnection(t *testing.T) {
	t.Parallel()

	for next, usable := range map[uint32]bool{math.MaxInt32 - 2: true, math.MaxInt32: false} {
		synctest.Test(t, func(t *testing.T) {
			c, p := primed(t)
			c.mu.Lock()
			c.nextID = next
			c.mu.Unlock()
			got := ask(t, c, "/x", 1)

			id, _ := p.Request()
			if id != next || c.usable() != usable {
				t.Errorf("the stream is %d of %d, and the connection takes more: %t, want %t", id, next, c.usable(), usable)
			}

			p.Answer(id, "200", "")

			if r := <-got; r.err != nil || r.Status != 200 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestSendToNoConnection: no request of a run is put on a connection that takes none, or that
// is too narrow for the body. A request that waits for room is notified once.
func TestSendToNoConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		l, h := NewCompletions(), NewHeader("apple", "POST", "jwt")
		due := time.Now().Add(time.Minute)
		all := []*Request{
			{Completions: l, Header: h, Name: "aa", Deadline: due},
			{Completions: l, Header: h, Name: "bb", Deadline: due},
		}

		p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000},
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}))
		p.Next(http2.FrameSettings)

		if n, err := c.Send(all, "/3/device/", make([]byte, 1001)); n != 0 || err != errClosed {
			t.Errorf("a body of 1001 bytes: %d are sent, %v, want errClosed", n, err)
		}

		n, err := c.Send(all, "/3/device/", make([]byte, 1000))
		if n != 1 || err != nil {
			t.Errorf("with room for one: %d are sent, %v", n, err)
		}

		if n, err := c.Send(all[1:], "/3/device/", nil); n != 0 || err != nil || len(c.waiting) != 1 {
			t.Errorf("without room: %d are sent, %v, %d lines wait", n, err, len(c.waiting))
		}

		if _, path := p.Request(); path != "/3/device/aa" {
			t.Errorf("the path is %s", path)
		}

		c.Retire()

		if n, err := c.Send(all[1:], "/3/device/", nil); n != 0 || err != errClosed {
			t.Errorf("after its end: %d are sent, %v, want errClosed", n, err)
		}
	})
}

// TestEachRequestHasItsTime: of two requests each is given up when its own time is over, by one
// timer.
func TestEachRequestHasItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		began := time.Now()
		h := NewHeader("apple", "POST", "jwt")

		waited := map[time.Duration]chan time.Duration{}
		for _, patience := range []time.Duration{7 * time.Second, 3 * time.Second, 5 * time.Second} {
			waited[patience] = make(chan time.Duration, 1)
			go func() {
				if _, err := c.do(t.Context(), patience, "/x", h, []byte("x")); err != errSlow {
					t.Errorf("after %v: %v", patience, err)
				}

				waited[patience] <- time.Since(began)
			}()

			p.Request()
		}

		go func() { // so that the connection is not silent
			for range 7 {
				time.Sleep(900 * time.Millisecond)

				_ = p.WritePing(false, [8]byte{})
			}
		}()
		go func() {
			for {
				if _, err := p.ReadFrame(); err != nil {
					return
				}
			}
		}()

		for patience, took := range waited {
			if got := <-took; got != patience {
				t.Errorf("given up after %v, want %v", got, patience)
			}
		}

		if !c.usable() {
			t.Error("the connection is given up")
		}
	})
}

// TestRoomInPieces: room on the connection counts also if its frame arrives in pieces.
func TestRoomInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := primed(t)
		c.mu.Lock()
		c.window = 10
		c.mu.Unlock()

		got := ask(t, c, "/x", 100)
		if n := active(c); n != 0 {
			t.Fatalf("%d requests out of no room", n)
		}

		frame := appendFrame(nil, 4, http2.FrameWindowUpdate, 0, 0)
		_, err := p.Conn.Write(frame)
		p.Must(err)
		synctest.Wait()

		_, err = p.Conn.Write(binary.BigEndian.AppendUint32(nil, 90))
		p.Must(err)
		id, _ := p.Request()

		if c.window != 0 {
			t.Errorf("the window is %d, want it used up", c.window)
		}
		// Room on a stream is none on the connection.
		_, err = p.Conn.Write(appendFrame(nil, 4, http2.FrameWindowUpdate, 0, id))
		p.Must(err)
		synctest.Wait()

		_, err = p.Conn.Write(binary.BigEndian.AppendUint32(nil, 90))
		p.Must(err)
		p.Must(p.WriteWindowUpdate(id, 90))
		synctest.Wait()

		if c.window != 0 {
			t.Errorf("the window is %d after updates of a stream's", c.window)
		}

		p.Answer(id, "200", "")

		if r := <-got; r.err != nil {
			t.Error(r.err)
		}
	})
}

// TestBrokenFramesEndTheConnection: a header block that breaks off, a setting that none may have,
// and room of another size than four bytes.
func TestBrokenFramesEndTheConnection(t *testing.T) {
	t.Parallel()

	for name, send := range map[string]func(to *http2.Framer, id uint32) error{
		"a header block": func(to *http2.Framer, id uint32) error {
			return to.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x40, 5, 'a'}, EndHeaders: true, EndStream: true})
		},
		"a setting": func(to *http2.Framer, _ uint32) error {
			return to.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 2})
		},
		"room of three bytes": func(to *http2.Framer, _ uint32) error {
			return to.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, []byte{0, 0, 9})
		},
		"room of five bytes": func(to *http2.Framer, _ uint32) error {
			return to.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, []byte{0, 0, 0, 9, 0})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, p := primed(t)
			got := ask(t, c, "/x", 1)
			id, _ := p.Request()

			var frame bytes.Buffer
			p.Must(send(http2.NewFramer(&frame, nil), id))
			_, err := p.Conn.Write(frame.Bytes())
			p.Must(err)

			if r := <-got; r.err != errClosed || c.usable() {
				t.Errorf("%s: got %+v, and the connection is usable: %t; want its end", name, r, c.usable())
			}
		})
	}
}

// TestHeaderTable: APNs reads the header that was sent, whatever size of HPACK's table it
// allows and however the headers of two runs alternate.
func TestHeaderTable(t *testing.T) {
	t.Parallel()

	headers := []*Header{
		NewHeader("apple", "POST", strings.Repeat("jwt", 60), "apns-topic", "app.matchday", "apns-collapse-id", "m1/w3"),
		NewHeader("apple", "POST", strings.Repeat("jwt", 60), "apns-topic", "app.matchday", "apns-collapse-id", "m2/w1"),
	}

	for _, size := range []uint32{0, 100, 400, 4096, 1 << 16} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, p := primed(t)
				last := 0

				for i, n := range []int{0, 0, 0, 1, 1, 0, 1, 1, 1} {
					if i == 2 { // when the first header is in the table
						p.Must(p.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: size}))
						p.Next(http2.FrameSettings)
					}

					got := make(chan result, 1)

					go func() {
						a, err := c.do(t.Context(), time.Minute, "/x", headers[n], []byte("x"))
						got <- result{a, err}
					}()

					f := p.Next(http2.FrameHeaders).(*http2.MetaHeadersFrame)
					p.Next(http2.FrameData)

					var read, sent []string

					for _, field := range f.Fields {
						if field.Name != ":path" {
							read = append(read, field.Name, field.Value)
						}
					}

					for _, field := range headers[n].fields {
						sent = append(sent, field.Name, field.Value)
					}

					if diff := cmp.Diff(sent, read); diff != "" {
						t.Fatalf("request %d (-sent +read):\n%s", i, diff)
					}

					last = int(f.Length)
					p.Answer(f.StreamID, "200", "")

					if r := <-got; r.err != nil {
						t.Fatal(r.err)
					}
				}

				if small := last < 20; small != (size >= 4096) {
					t.Errorf("the block of a header that was sent before has %d bytes", last)
				}
			})
		})
	}
}
