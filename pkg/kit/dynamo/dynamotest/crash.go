package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// ErrCrashed is what the I/O calls of a crashed process return.
var ErrCrashed = errors.New("the process has crashed")

// Disk is the I/O of one process under test: what goes through AWS and
// RoundTripper is counted, and from its crash on, all of it fails.
type Disk struct {
	mu     sync.Mutex
	calls  int
	at     int // the call to crash at, from 1; 0 for never
	after  bool
	failed bool
}

// AWS returns cfg with its calls counted.
func (d *Disk) AWS(cfg aws.Config) aws.Config {
	cfg = with(cfg, "crash", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		err = d.do(func() error { out, meta, err = next.HandleInitialize(ctx, in); return err })
		return out, meta, err
	})
	cfg.RetryMaxAttempts = 1
	return cfg
}

// RoundTripper returns next with its requests counted.
func (d *Disk) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (out *http.Response, err error) {
		err = d.do(func() error { out, err = next.RoundTrip(r); return err })
		return out, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes one call, unless the process crashes before it; when it crashes
// after it, the call takes effect and its answer is lost.
func (d *Disk) do(call func() error) error {
	d.mu.Lock()
	d.calls++
	now := d.calls == d.at
	if d.failed || now && !d.after {
		d.failed = true
		d.mu.Unlock()
		return ErrCrashed
	}
	d.failed = d.failed || now
	d.mu.Unlock()
	err := call()
	if now {
		return ErrCrashed
	}
	return err
}

// Crash proves that a job survives a crash at every I/O call. scenario builds a
// world of its own, runs the job there with its I/O through d, then runs it
// again with I/O that works, as its trigger would, and returns what the world
// looks like then. Crash plays it once without a crash, and once for each call
// that made, crashing before and after it: all must look the same.
//
// A scenario must not fail the test for the error of the first run.
func Crash[W any](t *testing.T, scenario func(t *testing.T, d *Disk) W) {
	t.Helper()
	var whole Disk
	want := scenario(t, &whole)
	if whole.calls == 0 {
		t.Fatal("the job makes no I/O call: there is nothing to crash")
	}
	for k := 1; k <= whole.calls; k++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d after=%v", k, after), func(t *testing.T) {
				t.Parallel()
				d := Disk{at: k, after: after}
				if got := scenario(t, &d); !reflect.DeepEqual(got, want) {
					t.Errorf("after the crash and a second run:\n%+v\nwithout a crash:\n%+v", got, want)
				}
				record("crashes", t.Name())
			})
		}
	}
}
