package redis_test

import (
	"context"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	sim "matchday/infra/sim/redis"
)

// TestTimeMovesBetweenCommands: keys expire by the clock before each command, and time stands
// still in a script, also under a clock that moves with each look at it.
func TestTimeMovesBetweenCommands(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)

	var looks atomic.Int64

	s, err := sim.Start(func() time.Time { return noon.Add(time.Duration(looks.Add(1)) * time.Second) })
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialTimeout: time.Minute, ReadTimeout: time.Minute})

	t.Cleanup(func() { c.Close() })

	script := redis.NewScript(`
redis.call('SET', KEYS[1], 'a', 'EX', 20)
for n = 1, 50 do redis.call('GET', KEYS[1]) end
return redis.call('TTL', KEYS[1])`)
	if ttl, err := script.Run(t.Context(), c, []string{"key"}).Int(); err != nil || ttl != 20 {
		t.Errorf("in the script the key has %d s left, want 20: %v", ttl, err)
	}

	for n := 0; n < 30; n++ {
		if err := c.Get(t.Context(), "key").Err(); err == redis.Nil {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}

	t.Error("the key does not expire")
}

// TestAddressOfAClosedServer: it is the same after a restart, with the data.
func TestAddressOfAClosedServer(t *testing.T) {
	t.Parallel()

	s, err := sim.Start(time.Now)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialTimeout: time.Minute, ReadTimeout: time.Minute})

	t.Cleanup(func() { c.Close() })

	if err := c.Set(t.Context(), "key", "a", 0).Err(); err != nil {
		t.Fatal(err)
	}

	open := s.Addr()
	s.Close()

	closed := s.Addr()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}

	if closed != open || s.Addr() != open {
		t.Errorf("the address is %s, then %s, then %s", open, closed, s.Addr())
	}

	if got, err := c.Get(t.Context(), "key").Result(); err != nil || got != "a" {
		t.Errorf("after the restart the key is %q: %v", got, err)
	}
}

// TestRestartBesideNewProcesses: a process that is started while the server closes has its
// listener for a moment.
func TestRestartBesideNewProcesses(t *testing.T) {
	t.Parallel()

	s, err := sim.Start(time.Now)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)
	ctx, over := context.WithCancel(t.Context())

	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() {
			for ctx.Err() == nil {
				exec.CommandContext(ctx, "true").Run()
			}
		})
	}

	for range 500 {
		s.Close()

		if err := s.Restart(); err != nil {
			t.Error(err)
			break
		}
	}

	over()
	starts.Wait()
}
