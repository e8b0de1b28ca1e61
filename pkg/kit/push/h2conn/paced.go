package h2conn

import (
	"bufio"
	"net"
	"time"
)

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
	c.in = bufio.NewReaderSize(arriving{c}, bufferSize)

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
