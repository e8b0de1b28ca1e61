// Package clock is a simulated clock that several simulators share.
//
// It runs in real time, at a multiple of real time, or free. A free clock does not
// move while anybody holds work. When nobody does, it jumps to the next timer. It
// fires one timer at a time, in order of due time and then of creation, so every
// run is the same.
//
// Code that runs under the clock must hold work, and only a holder of work may call
// Sleep. Timer functions hold work. A goroutine that starts otherwise, such as the
// handler of an HTTP request, takes work with Work.
package clock

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Free is the speed of a clock that moves only when nothing runs.
const Free = 0.0

// Clock is a simulated clock with timers. Create it with New.
type Clock struct {
	mu         sync.Mutex
	speed      float64
	base       time.Time // simulated time at real
	real       time.Time
	timers     timers
	seq        uint64
	work       int
	inIdleHook bool // an idle hook runs
	stopped    bool
	idleHook   func()
	wake       *time.Timer
}

// New returns a clock that starts at start and runs at speed times real time,
// or Free.
func New(start time.Time, speed float64) *Clock {
	return &Clock{speed: speed, base: start, real: time.Now()}
}

// Now returns the simulated time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now()
}

// Speed returns how many simulated seconds pass in a real one, or Free.
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

// OnIdle sets a function that is called each time before a free clock jumps. f may
// start work; the clock jumps when f has returned and nobody holds work.
func (c *Clock) OnIdle(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.idleHook = f
}

// Work takes work, which the caller holds until it calls done. A second call of done
// does nothing.
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
	c.fireDue()
}

// At calls f at t, or at once if t has passed, on its own goroutine, which holds
// work. stop cancels the call; it returns false if f has started.
func (c *Clock) At(t time.Time, f func()) (stop func() bool) {
	return c.add(t, func() {
		go func() {
			defer c.release()

			f()
		}()
	})
}

// After calls At with the time d from now.
func (c *Clock) After(d time.Duration, f func()) (stop func() bool) {
	return c.At(c.Now().Add(d), f)
}

// Sleep waits until t. The caller must hold work. It holds none while it sleeps, and
// holds it again when Sleep returns. Sleep returns ctx's error if ctx ends first.
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

// add queues a timer. fire runs with the clock locked, and holds work.
func (c *Clock) add(t time.Time, fire func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.seq++
	e := &timer{at: t, seq: c.seq, fire: fire}
	heap.Push(&c.timers, e)
	c.fireDue()

	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()

		if e.index < 0 {
			return false
		}

		if c.stopped {
			return true
		}

		heap.Remove(&c.timers, e.index)
		c.fireDue()

		return true
	}
}

// fireDue fires the timers that are due, and sets a real timer for the next one. It
// must be called after every change, with the lock held.
func (c *Clock) fireDue() {
	if c.inIdleHook || c.stopped || len(c.timers) == 0 {
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

	if c.idleHook != nil && c.timers[0].at.After(c.base) {
		c.inIdleHook = true
		go c.runIdleHook(c.idleHook)

		return
	}

	c.jump()
}

func (c *Clock) runIdleHook(idle func()) {
	idle()
	c.mu.Lock()
	defer c.mu.Unlock()

	c.inIdleHook = false
	if c.stopped || c.work > 0 || len(c.timers) == 0 { // the hook started something: be idle again after it
		c.fireDue()
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

		c.fireDue()
	})
}

// Stop stops the clock. No timer fires after it, and Sleep returns only when its
// context ends.
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
