package clock

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func TestFreeClockJumpsInOrderWhenNothingRuns(t *testing.T) {
	t.Parallel()

	c := New(start, Free)

	var (
		mu  sync.Mutex
		got []string
	)

	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()

		got = append(got, s+" "+c.Now().Sub(start).String())
	}
	over := make(chan struct{})
	done := c.Work()
	c.After(3*time.Hour, func() { note("late"); close(over) })
	c.After(time.Second, func() {
		note("first")

		if err := c.Sleep(t.Context(), start.Add(time.Minute)); err != nil {
			t.Error(err)
		}

		note("slept")
	})
	c.After(time.Second, func() { note("second") })

	if now := c.Now(); !now.Equal(start) {
		t.Errorf("the clock moved by %v while work was open", now.Sub(start))
	}

	done()
	<-over

	want := []string{"first 1s", "second 1s", "slept 1m0s", "late 3h0m0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIdleHookSeesTheClockStandStill(t *testing.T) {
	t.Parallel()

	c := New(start, Free)
	over := make(chan struct{})

	var idles []time.Duration

	c.OnIdle(func() {
		defer c.Work()()

		idles = append(idles, c.Now().Sub(start))
	})
	done := c.Work()
	c.After(time.Second, func() {})
	c.After(2*time.Second, func() { close(over) })
	done()
	<-over

	if want := []time.Duration{0, time.Second}; !slices.Equal(idles, want) {
		t.Errorf("idle at %v, want %v", idles, want)
	}
}

func TestStoppedTimerDoesNotFire(t *testing.T) {
	t.Parallel()

	c := New(start, Free)
	done := c.Work()
	stop := c.After(time.Second, func() { t.Error("a stopped timer fired") })
	over := make(chan struct{})

	c.After(2*time.Second, func() { close(over) })

	if !stop() {
		t.Error("stop came too late, though the clock stood still")
	}

	done()
	<-over

	if stop() {
		t.Error("a second stop reports success")
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	t.Parallel()

	c := New(start, Free)

	hold := c.Work() // the clock may not move, so only the context can end the sleep
	defer hold()

	done := c.Work()
	defer done()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := c.Sleep(ctx, start.Add(time.Hour)); err != context.Canceled {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestScaledClock(t *testing.T) {
	t.Parallel()

	c := New(start, 10_000)
	over := make(chan time.Time)

	c.After(time.Minute, func() { over <- c.Now() })

	if at := <-over; at.Before(start.Add(time.Minute)) {
		t.Errorf("fired at %v, before it was due", at.Sub(start))
	}
}

func TestSleepEndsWithItsContextOnAStoppedClock(t *testing.T) {
	t.Parallel()

	c := New(start, Free)

	hold := c.Work()
	defer hold()

	ctx, cancel := context.WithCancel(t.Context())
	slept := make(chan error)

	c.At(start, func() { slept <- c.Sleep(ctx, start.Add(time.Hour)) })
	hold()
	c.Stop()
	cancel()

	if err := <-slept; err != context.Canceled {
		t.Errorf("got %v, want the context's error", err)
	}
}
