package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
)

// ErrCrashed is the error of the I/O calls of a crashed process.
var ErrCrashed = errors.New("the process has crashed")

// CacheCall names the calls of a cache. Its client recovers by itself from the loss of what it
// asks a new connection.
const CacheCall = "cache"

// Process is a simulated process that may crash. It counts the I/O calls that are
// made through AWS and RoundTripper. After its crash all of them fail with
// ErrCrashed.
type Process struct {
	mu     sync.Mutex
	calls  int
	at     int // the call to crash at, from 1; 0 for never
	after  bool
	once   bool // it survives: only that call fails
	failed bool
	lost   string // the call that failed
	ended  bool   // by Ended
	hidden bool   // by Ended: the run hid the failure of a call
	spared bool   // by Ended: the run may hide it
}

// CrashAt returns a process that crashes at a call, counted from 1: before the call
// takes effect, or after.
func CrashAt(call int, after bool) *Process { return &Process{at: call, after: after} }

// AWS returns a copy of cfg that makes its calls through the process.
func (p *Process) AWS(cfg aws.Config) aws.Config {
	return withMiddleware(cfg, "crash", func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		name := awsmiddleware.GetOperationName(ctx)
		if table := tableOf(in.Parameters); table != "" {
			name += " " + table
		}

		err = p.do(name, func() error { out, meta, err = next.HandleInitialize(ctx, in); return err })

		return out, meta, err
	})
}

// tableOf returns the table of a call, that of the first write of a transaction, or "".
func tableOf(params any) string {
	if in, ok := params.(*dynamodb.TransactWriteItemsInput); ok {
		switch first := in.TransactItems[0]; {
		case first.Put != nil:
			params = first.Put
		case first.Update != nil:
			params = first.Update
		case first.Delete != nil:
			params = first.Delete
		case first.ConditionCheck != nil:
			params = first.ConditionCheck
		}
	}

	if table := reflect.ValueOf(params).Elem().FieldByName("TableName"); table.IsValid() {
		return *table.Interface().(*string)
	}

	return ""
}

// RoundTripper returns a transport that makes its requests through the process, with
// next.
func (p *Process) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (out *http.Response, err error) {
		err = p.do(r.URL.Path, func() error { out, err = next.RoundTrip(r); return err })
		if err != nil && out != nil { // the process crashed after the call: the response is lost
			out.Body.Close()
			out = nil
		}

		return out, err
	})
}

// Dialer returns a dialer of connections that make each of their writes through the
// process, with dial. What a write sends is lost with the connection if the process crashes
// before it, and its answer if it crashes after it. name says what a call to an address is
// for Ended.
func (p *Process) Dialer(dial Dial, name func(address string) string) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}

		return &conn{Conn: c, process: p, name: name(address), read: make(chan struct{}, 1)}, nil
	}
}

// Dial connects to an address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// conn is a connection of a process.
type conn struct {
	net.Conn
	process *Process
	name    string
	read    chan struct{} // has something when a Read has returned
}

func (c *conn) Read(b []byte) (n int, err error) {
	n, err = c.Conn.Read(b)
	select {
	case c.read <- struct{}{}:
	default:
	}

	return n, err
}

func (c *conn) Write(b []byte) (n int, err error) {
	select { // what was read before is no answer
	case <-c.read:
	default:
	}

	written := false

	err = c.process.do(c.name, func() error { n, err = c.Conn.Write(b); written = err == nil; return err })
	if errors.Is(err, ErrCrashed) {
		if written {
			go c.Read(make([]byte, 1)) // unless another goroutine reads

			<-c.read // the call has taken effect
		}

		c.Conn.Close()
	}

	return n, err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes one call. If the process crashes before the call, the call is not made. If
// it crashes after the call, the response is lost.
func (p *Process) do(name string, call func() error) error {
	p.mu.Lock()
	p.calls++

	now := p.calls == p.at
	if p.failed || now && !p.after {
		p.failed = !p.once
		p.lost = name
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

// CheckCrashes tests that a job survives a crash at every I/O call. scenario creates
// its own world, runs the job with its I/O through p, runs the job again without a
// crash, as its trigger would, and returns the resulting state. It gives the error of the
// first run to Ended. CheckCrashes runs scenario once without a crash, and twice for
// each I/O call: with a crash before the call, which leaves the same as one after the call
// before, and with a failure of that call only, which the first run must return as an error;
// and once with a crash after the last call. All runs must return the same state.
func CheckCrashes[W any](t *testing.T, scenario func(t *testing.T, p *Process) W) {
	t.Helper()

	check(t, scenario, func(k int, last bool) map[string]*Process {
		all := map[string]*Process{
			fmt.Sprintf("call %d", k):       CrashAt(k, false),
			fmt.Sprintf("call %d fails", k): {at: k, once: true},
		}
		if last {
			all[fmt.Sprintf("after call %d", k)] = CrashAt(k, true)
		}

		return all
	})
}

// CheckDeaths is CheckCrashes for a scenario that does not run the job again. It runs scenario with a crash
// before each I/O call.
func CheckDeaths[W any](t *testing.T, scenario func(t *testing.T, p *Process) W) {
	t.Helper()

	check(t, scenario, func(k int, _ bool) map[string]*Process {
		return map[string]*Process{fmt.Sprintf("call %d", k): CrashAt(k, false)}
	})
}

// check runs scenario without a crash, and with each of the processes for each of its calls.
func check[W any](t *testing.T, scenario func(t *testing.T, p *Process) W, processes func(call int, last bool) map[string]*Process) {
	t.Helper()

	var whole Process

	want := scenario(t, &whole)
	if whole.calls == 0 {
		t.Fatal("the job makes no I/O call, so no crash can be tested")
	}

	if !whole.ended {
		t.Fatal("the scenario gives the error of the first run to nobody: call Ended")
	}

	for k := 1; k <= whole.calls; k++ {
		for name, p := range processes(k, k == whole.calls) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				got := scenario(t, p)
				if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
					t.Errorf("the state after a crash differs (-without a crash +after it):\n%s", diff)
				}

				if p.hidden {
					t.Errorf("the run reports success, although its call %d, %s, has failed", p.at, p.lost)
				}

				if !p.once {
					Record("crashes", t.Name())
				}
			})
		}
	}
}

// Ended takes the error of the first run of a scenario of CheckCrashes, and reports
// whether its trigger runs it again: not if the run has handled the failure of a call.
// That is an error of the test unless spared has a pattern (path.Match) of the call: an
// operation of AWS with the name of its table, that of the first write in a transaction,
// or the path of a request.
func (p *Process) Ended(err error, spared ...string) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.ended = true
	if !p.once || p.lost == "" || err != nil {
		return true
	}

	p.spared = matches(spared, p.lost)
	p.hidden = !p.spared

	return false
}

// Spared returns the call whose failure the run has not returned, because Ended spares it,
// or "".
func (p *Process) Spared() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.spared {
		return p.lost
	}

	return ""
}

func matches(patterns []string, call string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, call)
		return ok && err == nil
	})
}

// CheckFailures tests that a run reports each failure of an I/O call. run does the same
// with every call of it, with its I/O through p, and returns its error. CheckFailures
// fails the first I/O call of the first run, the second of the second, and so on, until a
// run succeeds because it makes fewer. The failed call is not made; all others are.
//
// Calls that spared has a pattern of, as in Ended, may fail without an error of the run.
func CheckFailures(t testing.TB, p *Process, run func() error, spared ...string) {
	t.Helper()

	for k := 1; ; k++ {
		p.set(k)

		err := run()

		lost := p.set(0)
		if lost == "" {
			if k == 1 {
				t.Error("the run makes no I/O call, so no failure can be tested")
			}

			return
		}

		if err == nil && !matches(spared, lost) {
			t.Errorf("the run reports success, although its call %d, %s, has failed", k, lost)
		}
	}
}

// set has the k-th call from now on fail, or none if k is 0. It returns the call that
// has failed before, or "".
func (p *Process) set(k int) (lost string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	lost = p.lost
	p.calls, p.at, p.once, p.lost = 0, k, true, ""

	return lost
}
