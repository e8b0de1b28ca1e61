package apns

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

type connectionKey struct{}

// connection is one connection of a provider, below TLS.
type connection struct {
	net.Conn
	server *Server
	mute   atomic.Bool

	mu        sync.Mutex
	active    int  // requests being answered
	requests  int  // pushes so far
	valid     bool // a valid token was seen
	goingAway bool
	bearer    string
	bearerAt  time.Time
}

// beginRequest reports whether one more request may run now: before a valid token was
// seen a connection has one stream.
func (l *connection) beginRequest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	if !l.valid && l.active > 0 {
		return false
	}

	l.active++

	return true
}

func (l *connection) endRequest() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.active--
}

// expire lets the connection change its provider token at once.
func (l *connection) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.bearerAt = time.Time{}
}

// Read returns no data while the link is mute. It returns when the other side closes
// the connection.
func (l *connection) Read(b []byte) (int, error) {
	for {
		n, err := l.Conn.Read(b)
		if err != nil || !l.mute.Load() {
			return n, err
		}
	}
}

// Write discards the bytes of a mute connection.
func (l *connection) Write(b []byte) (int, error) {
	if l.mute.Load() {
		return len(b), nil
	}

	return l.Conn.Write(b)
}

// Close closes the link and removes it from the server's list.
func (l *connection) Close() error {
	l.server.connectionMu.Lock()
	defer l.server.connectionMu.Unlock()

	delete(l.server.connections, l)

	return l.Conn.Close()
}

type listener struct {
	net.Listener
	server *Server
}

func (n listener) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}

	l := &connection{Conn: c, server: n.server}
	n.server.count("Connection")
	n.server.connectionMu.Lock()
	defer n.server.connectionMu.Unlock()

	n.server.connections[l] = struct{}{}

	return l, nil
}

// Drop closes every connection, as a network does to a frozen client.
func (s *Server) Drop() {
	for _, l := range s.open() {
		_ = l.Close()
	}
}

// Mute makes every open connection lose all data in both directions without closing it.
// New connections work.
func (s *Server) Mute() {
	for _, l := range s.open() {
		l.mute.Store(true)
	}
}

func (s *Server) open() (links []*connection) {
	s.connectionMu.Lock()
	defer s.connectionMu.Unlock()

	for l := range s.connections {
		links = append(links, l)
	}

	return links
}
