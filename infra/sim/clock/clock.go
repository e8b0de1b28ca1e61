// Package clock is the one clock that a local fleet lives by.
//
// It runs at real time, at a multiple of it, or free: a free clock stands still
// while any work is open and, as soon as nothing runs, jumps to the next timer.
// A free clock fires one timer at a time, in order of due time and then of
// creation, so that a run is the same run every time.
//
// One rule keeps it honest: whatever runs under the clock holds work, and only
// a holder of work may Sleep. Timer functions are given work; a goroutine that
// starts by itself (an incoming HTTP request, say) takes it with Work.
package clock

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Free is the speed of a clock that moves only when nothing runs.
const Free = 0.0

// Clock tells the fleet's time and wakes what waits for it. Make one with New.
type Clock struct {
	mu      sync.Mutex
	speed   float64
	base    time.Time // fleet time at real
	real    time.Time
	timers  timers
	seq     uint64
	work    int
	held    bool // an idle hook runs
	stopped bool
	idle    func()
	wake    *time.Timer
}

// New returns a clock that starts at start and runs at speed times real time,
// or Free.
func New(start time.Time, speed float64) *Clock {
	return &Clock{speed: speed, base: start, real: time.Now()}
}

// Now is the fleet's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Speed is how many fleet seconds pass in a real one, or Free.
func (c *Clock) Speed() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speed
}

func (c *Clock) now() time.Time {
	if c.speed == Free {
		return c.base
	}
	return c.base.Add(time.Duration(float64(time.Since(c.real)) * c.speed))
}

// OnIdle has f called each time a free clock is about to jump, with the clock
// standing still. f may use the fleet: the clock moves on after f returns and
// whatever it started is over.
func (c *Clock) OnIdle(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = f
}

// Work says that something runs, until done is called. Calling done again does
// nothing.
func (c *Clock) Work() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work++
	return sync.OnceFunc(c.release)
}

func (c *Clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work--
	c.next()
}

// At has f called on a goroutine of its own, which holds work, at t or at once
// when t has passed. stop reports whether it came in time.
func (c *Clock) At(t time.Time, f func()) (stop func() bool) {
	return c.add(t, func() {
		go func() {
			defer c.release()
			f()
		}()
	})
}

// After is At, d from now.
func (c *Clock) After(d time.Duration, f func()) (stop func() bool) {
	return c.At(c.Now().Add(d), f)
}

// Sleep waits until t. The caller must hold work; while it sleeps its work does
// not count, and when it wakes it holds it again. It returns ctx's error when
// ctx ends first.
func (c *Clock) Sleep(ctx context.Context, t time.Time) error {
	woken := make(chan struct{})
	stop := c.add(t, func() { close(woken) })
	c.release()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		if stop() {
			c.mu.Lock()
			c.work++
			c.mu.Unlock()
		} else {
			<-woken
		}
		return ctx.Err()
	}
}

// add queues fire, which runs with the clock locked and inherits one work.
func (c *Clock) add(t time.Time, fire func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	e := &timer{at: t, seq: c.seq, fire: fire}
	heap.Push(&c.timers, e)
	c.next()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped {
			return true
		}
		if e.index < 0 {
			return false
		}
		heap.Remove(&c.timers, e.index)
		c.next()
		return true
	}
}

// next fires what is due, and arranges to be called again when more will be.
// It is called with the lock held after every change.
func (c *Clock) next() {
	if c.held || c.stopped || len(c.timers) == 0 {
		return
	}
	if c.speed != Free {
		for len(c.timers) > 0 {
			wait := c.timers[0].at.Sub(c.now())
			if wait > 0 {
				c.wakeIn(time.Duration(float64(wait)/c.speed) + 1)
				return
			}
			c.fire()
		}
		return
	}
	if c.work > 0 {
		return
	}
	if c.idle != nil && c.timers[0].at.After(c.base) {
		c.held = true
		go c.beIdle(c.idle)
		return
	}
	c.jump()
}

func (c *Clock) beIdle(idle func()) {
	idle()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = false
	if c.stopped || c.work > 0 || len(c.timers) == 0 { // the hook started something: be idle again after it
		c.next()
		return
	}
	c.jump()
}

// jump moves a free clock to the next timer and fires it.
func (c *Clock) jump() {
	if at := c.timers[0].at; at.After(c.base) {
		c.base = at
	}
	c.fire()
}

func (c *Clock) fire() {
	e := heap.Pop(&c.timers).(*timer)
	c.work++
	e.fire()
}

func (c *Clock) wakeIn(d time.Duration) {
	if c.wake != nil {
		c.wake.Stop()
	}
	c.wake = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.next()
	})
}

// Stop ends the clock: no timer fires any more, and a Sleep ends with its
// context alone.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.wake != nil {
		c.wake.Stop()
	}
}

type timer struct {
	at    time.Time
	seq   uint64
	fire  func()
	index int
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	if t[i].at.Equal(t[j].at) {
		return t[i].seq < t[j].seq
	}
	return t[i].at.Before(t[j].at)
}
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *timers) Push(x any) {
	e := x.(*timer)
	e.index = len(*t)
	*t = append(*t, e)
}
func (t *timers) Pop() any {
	old := *t
	e := old[len(old)-1]
	old[len(old)-1] = nil
	e.index = -1
	*t = old[:len(old)-1]
	return e
}
