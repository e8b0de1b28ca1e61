package apns

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

type linkKey struct{}

// link is one connection of a provider, below TLS.
type link struct {
	net.Conn
	server *Server
	mute   atomic.Bool

	mu       sync.Mutex
	active   int  // requests being answered
	requests int  // pushes so far
	valid    bool // a valid token was seen
	leaving  bool
	bearer   string
	bearerAt time.Time
}

// enter reports whether one more request may run now: before a valid token was
// seen a connection has one stream.
func (l *link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid && l.active > 0 {
		return false
	}
	l.active++
	return true
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// expire lets the connection change its provider token at once.
func (l *link) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bearerAt = time.Time{}
}

// Read gives nothing more once the link is mute, until the other side hangs up.
func (l *link) Read(b []byte) (int, error) {
	for {
		n, err := l.Conn.Read(b)
		if err != nil || !l.mute.Load() {
			return n, err
		}
	}
}

// Write swallows what a mute link should say.
func (l *link) Write(b []byte) (int, error) {
	if l.mute.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}

// Close forgets the link.
func (l *link) Close() error {
	l.server.linkMu.Lock()
	defer l.server.linkMu.Unlock()
	delete(l.server.links, l)
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
	l := &link{Conn: c, server: n.server}
	n.server.count("Connection")
	n.server.linkMu.Lock()
	defer n.server.linkMu.Unlock()
	n.server.links[l] = struct{}{}
	return l, nil
}

// Drop closes every connection, as a network does to a frozen client.
func (s *Server) Drop() {
	for _, l := range s.open() {
		_ = l.Close()
	}
}

// Mute makes every open connection a dead one that nobody closed: what is sent
// on it is lost, and nothing comes back. New connections work.
func (s *Server) Mute() {
	for _, l := range s.open() {
		l.mute.Store(true)
	}
}

func (s *Server) open() (links []*link) {
	s.linkMu.Lock()
	defer s.linkMu.Unlock()
	for l := range s.links {
		links = append(links, l)
	}
	return links
}
