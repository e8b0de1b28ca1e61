package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Clock tells the time, and waits for it.
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

// clock is the local stage's: the fleet on one machine lives by a virtual clock,
// whose time and speed come with each invocation. Deployed functions never make
// use of it, whatever they are sent.
type clock struct {
	runtime string // address of the local runtime; "" in the cloud

	at    time.Time // fleet time when the wall clock was at wall
	wall  time.Time
	speed float64 // fleet seconds per second; 0 while the fleet's clock stands still
}

// begin sets the clock by the invocation's client context.
func (c *clock) begin(ctx context.Context) {
	lc, ok := lambdacontext.FromContext(ctx)
	if c.runtime == "" || !ok {
		return
	}
	at, err := time.Parse(time.RFC3339Nano, lc.ClientContext.Custom["matchday-now"])
	if err != nil {
		return
	}
	c.speed, _ = strconv.ParseFloat(lc.ClientContext.Custom["matchday-speed"], 64)
	c.at, c.wall = at, time.Now()
}

func (c *clock) now() time.Time {
	if c.wall.IsZero() {
		return time.Now()
	}
	return c.at.Add(time.Duration(float64(time.Since(c.wall)) * c.speed)).UTC()
}

// sleep asks the local runtime to wait, for only it knows when the fleet's clock
// gets there.
func (c *clock) sleep(ctx context.Context, until time.Time) error {
	if !until.After(c.now()) {
		return nil
	}
	// The invocation's deadline stands still while it sleeps; ctx does not know.
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
	body, err := io.ReadAll(io.LimitReader(out.Body, 1024))
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(body)))
	if err != nil {
		return fmt.Errorf("the local clock answers %s: %w", out.Status, err)
	}
	c.at, c.wall = at, time.Now()
	return nil
}
