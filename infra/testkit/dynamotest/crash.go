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

// Process is a process under test. The I/O that it does through AWS and
// RoundTripper is counted, and from its crash on, all of it fails.
type Process struct {
	mu     sync.Mutex
	calls  int
	at     int // the call to crash at, from 1; 0 for never
	after  bool
	failed bool
}

// CrashAt is a process that crashes at a call, from 1: before it, or after it.
func CrashAt(call int, after bool) *Process { return &Process{at: call, after: after} }

// AWS returns cfg with its calls counted.
func (p *Process) AWS(cfg aws.Config) aws.Config {
	return with(cfg, "crash", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		err = p.do(func() error { out, meta, err = next.HandleInitialize(ctx, in); return err })
		return out, meta, err
	})
}

// RoundTripper returns next with its requests counted.
func (p *Process) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (out *http.Response, err error) {
		err = p.do(func() error { out, err = next.RoundTrip(r); return err })
		if err != nil && out != nil { // the answer that is lost
			out.Body.Close()
			out = nil
		}
		return out, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes one call, unless the process crashes before it; when it crashes
// after it, the call takes effect and its answer is lost.
func (p *Process) do(call func() error) error {
	p.mu.Lock()
	p.calls++
	now := p.calls == p.at
	if p.failed || now && !p.after {
		p.failed = true
		p.mu.Unlock()
		return ErrCrashed
	}
	p.failed = p.failed || now
	p.mu.Unlock()
	err := call()
	if now {
		return ErrCrashed
	}
	return err
}

// Crash proves that a job survives a crash at every I/O call. scenario builds a
// world of its own, runs the job there with its I/O through p, then runs it
// again with I/O that works, as its trigger would, and returns what the world
// looks like then. Crash plays it once without a crash, and once for each call
// that made, crashing before and after it: all must look the same.
//
// A scenario must not fail the test for the error of the first run.
func Crash[W any](t *testing.T, scenario func(t *testing.T, p *Process) W) {
	t.Helper()
	var whole Process
	want := scenario(t, &whole)
	if whole.calls == 0 {
		t.Fatal("the job makes no I/O call: there is nothing to crash")
	}
	for k := 1; k <= whole.calls; k++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d after=%v", k, after), func(t *testing.T) {
				t.Parallel()
				if got := scenario(t, CrashAt(k, after)); !reflect.DeepEqual(got, want) {
					t.Errorf("after the crash and a second run:\n%+v\nwithout a crash:\n%+v", got, want)
				}
				Record("crashes", t.Name())
			})
		}
	}
}
