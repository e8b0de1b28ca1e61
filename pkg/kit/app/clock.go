package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Clock returns the time, and waits until a time.
type Clock struct {
	Now func() time.Time
	// Sleep returns at until, or with ctx's error when ctx ends first.
	Sleep func(ctx context.Context, until time.Time) error
}

func sleep(ctx context.Context, until time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(until)):
		return nil
	}
}

// fleetClock is the clock of the local stage. The local fleet has a simulated clock: each
// invocation contains its time and speed. Deployed functions ignore them.
type fleetClock struct {
	runtime string // address of the local runtime
	last    atomic.Pointer[reading]
}

// reading is one reading of the fleet's clock.
type reading struct {
	at    time.Time // fleet time when the wall clock was at wall
	wall  time.Time
	speed float64 // fleet seconds per second; 0 while the fleet's clock stands still
}

// timed sets the clock before each invocation.
type timed struct {
	lambda.Handler
	*fleetClock
}

func (t timed) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	t.begin(ctx)
	return t.Handler.Invoke(ctx, payload)
}

// begin sets the clock from the invocation's client context.
func (c *fleetClock) begin(ctx context.Context) {
	lc, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return
	}

	at, err := time.Parse(time.RFC3339Nano, lc.ClientContext.Custom["matchday-now"])
	if err != nil {
		return
	}

	speed, _ := strconv.ParseFloat(lc.ClientContext.Custom["matchday-speed"], 64)
	c.last.Store(&reading{at, time.Now(), speed})
}

func (c *fleetClock) now() time.Time {
	r := c.last.Load()
	if r == nil {
		return time.Now()
	}

	return r.at.Add(time.Duration(float64(time.Since(r.wall)) * r.speed)).UTC()
}

// sleep asks the local runtime to answer at until, because only the runtime knows when the
// fleet's clock reaches that time. A runtime without that clock, such as SAM CLI's, has no address
// or answers 404: then it waits by the clock of this machine.
func (c *fleetClock) sleep(ctx context.Context, until time.Time) error {
	left := until.Sub(c.now())
	if left <= 0 {
		return nil
	}

	if c.runtime == "" {
		return sleep(ctx, time.Now().Add(left))
	}
	// The invocation's deadline does not move while it sleeps, but ctx does not know that.
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://"+c.runtime+"/matchday/sleep",
		strings.NewReader(until.Format(time.RFC3339Nano)))
	if err != nil {
		return err
	}

	out, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer out.Body.Close()

	if out.StatusCode == http.StatusNotFound {
		return sleep(ctx, time.Now().Add(left))
	}

	body, err := io.ReadAll(io.LimitReader(out.Body, 1024))
	if err != nil {
		return err
	}

	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(body)))
	if err != nil {
		return fmt.Errorf("the local clock answers %s: %w", out.Status, err)
	}

	speed := 0.0
	if before := c.last.Load(); before != nil {
		speed = before.speed
	}

	c.last.Store(&reading{at, time.Now(), speed})

	return nil
}
