// Package redis is a Redis server in this process: miniredis, whose keys expire by a clock.
package redis

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Server is a running server.
type Server struct {
	*miniredis.Miniredis
	mu  sync.Mutex
	now time.Time
}

// Start starts a server on a free port of this machine. Its keys expire by the clock now.
func Start(now func() time.Time) (*Server, error) {
	s := &Server{Miniredis: miniredis.NewMiniRedis(), now: now()}
	if err := s.Start(); err != nil {
		return nil, err
	}
	s.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if at := now(); at.After(s.now) {
			s.FastForward(at.Sub(s.now))
			s.now = at
		}
		return false
	})
	return s, nil
}
