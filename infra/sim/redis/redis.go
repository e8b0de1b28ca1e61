// Package redis is a Redis server in this process: miniredis, whose keys expire by a clock.
package redis

import (
	"errors"
	"net"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"matchday/infra/sim/engine"
)

// Endpoint is the environment variable with the URL of a running server, a cluster of one or
// more nodes: redis://host:port.
const Endpoint = "REDIS_URL"

// Server is a running server.
type Server struct {
	*miniredis.Miniredis
	clock func() time.Time
	addr  string

	mu  sync.Mutex
	now time.Time
}

// Start starts a server on a free port of this machine. Its keys expire by the clock now.
func Start(now func() time.Time) (*Server, error) {
	host, port, err := engine.FreeAddress() // no connection of a client takes the port while the server is closed
	if err != nil {
		return nil, err
	}

	s := &Server{Miniredis: miniredis.NewMiniRedis(), clock: now, addr: net.JoinHostPort(host, port), now: now()}

	return s, s.Restart()
}

// Addr is the address of the server, also while it is closed.
func (s *Server) Addr() string { return s.addr }

// Restart starts a server that was closed, at the same address with the same data.
func (s *Server) Restart() error {
	// A process that was forked before the close has the listener until it executes.
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := s.StartAddr(s.addr)
		if err == nil {
			break
		}

		if time.Since(began) > time.Minute || !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}

	s.Server().SetPreHook(func(c *server.Peer, _ string, _ ...string) bool {
		if scripted(c) {
			return false
		}

		s.mu.Lock()
		defer s.mu.Unlock()

		if at := s.clock(); at.After(s.now) {
			s.FastForward(at.Sub(s.now))
			s.now = at
		}

		return false
	})

	return nil
}

// scripted reports whether a script makes the call. Time stands still in it: the script holds
// the lock that FastForward takes.
func scripted(c *server.Peer) bool {
	ctx := reflect.ValueOf(c.Ctx) // of a type that miniredis does not export; nil before the first command
	return ctx.IsValid() && ctx.Elem().FieldByName("nested").Bool()
}
