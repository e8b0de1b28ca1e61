// Package lambda runs the binaries of Lambda functions as AWS does, through the Lambda
// Runtime API: one process per concurrent invocation, which is reused while it is warm
// and killed at its timeout.
//
// The client context of an invocation holds the simulated time, and a function may wait
// for a simulated time. A free clock stands still
// while a function runs:
//
//	Lambda-Runtime-Client-Context: {"custom":{"matchday-now":"<RFC 3339>","matchday-speed":"<float, 0 is free>"}}
//	POST http://$AWS_LAMBDA_RUNTIME_API/matchday/sleep   body and answer: an RFC 3339 instant
//
// Each process has its own credentials, as in AWS, by which the simulated services
// identify it: its access key is the function's name in AWS, room-verb-noun, and its
// session token is the argument of KillProcess.
//
// The sleep answers with the simulated time once that instant has come. The
// invocation's timeout stands still meanwhile, and the answer's
// Lambda-Runtime-Deadline-Ms header gives the new deadline. Sleeps of one
// invocation take turns.
package lambda

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
)

// Function is one Lambda function.
type Function struct {
	Name           string        // "room/verb-noun"
	Path           string        // its program
	Args           []string      // of the program
	Env            []string      // "NAME=value"; the names that AWS reserves cannot be set
	Timeout        time.Duration // of one invocation, in wall time; 0 is 3 s, as in AWS
	Memory         int           // MB, only passed to the function, not enforced; 0 is 128, as in AWS
	MaxConcurrency int           // maximum of concurrent processes; 0 is without limit
}

// Config configures a Runtime. Every field is optional.
type Config struct {
	Region  string           // "us-east-1" when empty
	Idle    time.Duration    // how long a warm process is kept unused, in wall time; 0 is 10 minutes
	Init    time.Duration    // how long a process may take until it asks for its first event, in wall time; 0 is 10 s, as in AWS
	Log     func(Log)        // called with every line that functions write, from many goroutines
	Observe func(Invocation) // called with every invocation that got a process, before Invoke returns
}

// Log is a line that a function wrote to its standard output or error.
type Log struct {
	Function  string
	RequestID string // the invocation that it runs or starts for; between two invocations, the last one
	Line      string // without its line end; lines over 64 KB come in parts
	Time      time.Time
}

// Invocation is one completed run of a function.
type Invocation struct {
	Function  string
	RequestID string
	Cold      bool          // it started its process
	Scheduled time.Time     // simulated time at the call of Invoke
	Start     time.Time     // simulated time at which the process took the event; zero if none did
	Init      time.Duration // wall time from the start of a cold process to its readiness
	Duration  time.Duration // wall time from Start to the end, sleeps included
	Err       error
	In, Out   int // bytes of payload and answer
}

// Stats holds the number of a function's processes now, and its counts since Add.
type Stats struct {
	Cold, Warm, Busy int // processes that start, wait for work, and work
	Waiting          int // calls of InvokeWait that wait for a process

	Invocations, ColdStarts, Errors, Timeouts int // Errors include Timeouts
	Throttles                                 int // not counted as Invocations or Errors
}

// Limits of a synchronous invocation in AWS: 6 MB for the payload, and 6 MB plus 100
// bytes for the answer.
const (
	maxRequest  = 6 << 20
	maxResponse = 6<<20 + 100
)

// Runtime runs functions. Create it with New.
type Runtime struct {
	clock  *clock.Clock
	cfg    Config
	server *http.Server
	addr   string
	spawn  chan func()

	mu        sync.Mutex
	closed    bool
	functions map[string]*function
	processes map[string]*process // by id
	serial    int
	calls     sync.WaitGroup
	running   sync.WaitGroup // processes
}

type function struct {
	Function
	idle    []*process // the most recently used last
	waiters []*waiter
	stats   Stats // Warm and Waiting are filled in by Stats
}

// waiter is a call that waits for a process. Before wake is called, the process is set;
// nil allows the call to start one. pass holds clock work until the call holds its own
// again.
type waiter struct {
	wake    context.CancelFunc
	served  bool
	process *process
	release func()
}

// New returns a runtime without functions, listening on a local port.
func New(c *clock.Clock, cfg Config) (*Runtime, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the Lambda Runtime API: %w", err)
	}

	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}

	if cfg.Idle == 0 {
		cfg.Idle = 10 * time.Minute
	}

	if cfg.Init == 0 {
		cfg.Init = 10 * time.Second
	}

	r := &Runtime{
		clock:     c,
		cfg:       cfg,
		addr:      l.Addr().String(),
		spawn:     make(chan func()),
		functions: map[string]*function{},
		processes: map[string]*process{},
	}

	r.server = &http.Server{Handler: guard.Handler(r.api())}
	go r.server.Serve(l)
	go r.spawner()

	return r, nil
}

// Add adds a function. It panics if the name is already in use.
func (r *Runtime) Add(f Function) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.functions[f.Name] != nil {
		panic("lambda: function " + f.Name + " added twice")
	}

	if f.Timeout == 0 {
		f.Timeout = 3 * time.Second
	}

	if f.Memory == 0 {
		f.Memory = 128
	}

	r.functions[f.Name] = &function{Function: f}
}

// Configure sets environment variables of every function, "NAME=value", as UpdateFunctionConfiguration
// does. Invocations that run now keep theirs; all later ones start in new processes.
func (r *Runtime) Configure(env ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, f := range r.functions {
		f.Env = append(slices.Clone(f.Env), env...) // the last of a name is set

		for _, p := range f.idle {
			p.retire.Stop()
			p.kill()
		}

		f.idle = nil
	}

	for _, p := range r.processes {
		p.outdated = true
	}
}

// Invoke runs a function once and returns what it answered. The caller must hold work,
// as for clock.Sleep, and holds it throughout, except while the function sleeps. Every
// error is an *Error, except the error of ctx. If MaxConcurrency processes are busy,
// Invoke fails at once with TooManyRequestsException. An invocation that has begun runs
// to its end, even if ctx ends.
func (r *Runtime) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	return r.invoke(ctx, name, payload, false)
}

// InvokeWait is Invoke for callers that queue: if MaxConcurrency processes are busy, it
// waits, first come, first served, or until ctx ends. The caller's work does not count
// while it waits.
func (r *Runtime) InvokeWait(ctx context.Context, name string, payload []byte) ([]byte, error) {
	return r.invoke(ctx, name, payload, true)
}

func (r *Runtime) invoke(ctx context.Context, name string, payload []byte, wait bool) ([]byte, error) {
	inv := Invocation{Function: name, RequestID: uuid(), Scheduled: r.clock.Now(), In: len(payload)}
	if len(payload) > maxRequest {
		return nil, &Error{
			Type:    RequestTooLarge,
			Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", maxRequest),
		}
	}

	f, p, err := r.acquire(ctx, name, wait)
	if err != nil {
		return nil, err
	}
	defer r.calls.Done()

	if p == nil {
		inv.Cold = true
		began := time.Now()
		p, err = r.start(f, inv.RequestID)
		inv.Init = time.Since(began)
	}

	var out []byte
	if err == nil {
		out, err = p.run(&inv, payload)
	}

	inv.Out, inv.Err = len(out), err
	r.release(f, p, &inv)

	if r.cfg.Observe != nil {
		r.cfg.Observe(inv)
	}

	return out, err
}

// acquire reserves one of the function's MaxConcurrency places, and a warm process if
// there is one. It counts the call.
func (r *Runtime) acquire(ctx context.Context, name string, wait bool) (*function, *process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	f := r.functions[name]
	if f == nil {
		return nil, nil, &Error{Type: ResourceNotFound, Message: "Function not found: " + name}
	}

	if r.closed {
		return nil, nil, errClosed()
	}

	var p *process

	switch n := len(f.idle); {
	case n > 0:
		p, f.idle = f.idle[n-1], f.idle[:n-1]
		p.retire.Stop()

		f.stats.Busy++
	case f.MaxConcurrency == 0 || f.stats.Busy+f.stats.Cold < f.MaxConcurrency:
		f.stats.Cold++
	case !wait:
		f.stats.Throttles++
		return nil, nil, &Error{Type: TooManyRequests, Message: "Rate Exceeded."}
	default:
		var err error
		if p, err = r.wait(ctx, f); err != nil {
			return nil, nil, err
		}
	}

	r.calls.Add(1)

	return f, p, nil
}

// wait releases the lock and waits for a place. The place that it returns with is
// already counted.
func (r *Runtime) wait(ctx context.Context, f *function) (*process, error) {
	ctx, wake := context.WithCancel(ctx)
	defer wake()

	w := &waiter{wake: wake}
	f.waiters = append(f.waiters, w)
	r.mu.Unlock()
	// Sleep releases the work. The time a year from now never comes first: the
	// holder of the place works, or sleeps until an earlier time.
	for ctx.Err() == nil {
		_ = r.clock.Sleep(ctx, r.clock.Now().AddDate(1, 0, 0))
	}

	r.mu.Lock()
	if w.served {
		w.release()
		return w.process, nil
	}

	f.waiters = slices.DeleteFunc(f.waiters, func(o *waiter) bool { return o == w })

	if r.closed {
		return nil, errClosed()
	}

	return nil, ctx.Err()
}

// release counts the invocation and gives its place to the first waiter. It keeps p
// warm if the process has not ended.
func (r *Runtime) release(f *function, p *process, inv *Invocation) {
	r.mu.Lock()
	defer r.mu.Unlock()

	s := &f.stats

	s.Invocations++
	if inv.Cold {
		s.ColdStarts++
	}

	if inv.Err != nil {
		s.Errors++
	}

	if e, ok := errors.AsType[*Error](inv.Err); ok && e.Type == TimedOut {
		s.Timeouts++
	}

	if p == nil {
		s.Cold-- // it never became busy
	} else {
		s.Busy--

		if p.outdated {
			p.kill()
		}

		if r.processes[p.id] == nil || p.wasKilled() {
			p = nil
		}
	}

	if len(f.waiters) > 0 && !r.closed {
		w := f.waiters[0]
		f.waiters = f.waiters[1:]

		w.served, w.process, w.release = true, p, r.clock.Work()
		if p != nil {
			s.Busy++
		} else {
			s.Cold++
		}

		w.wake()
	} else if p != nil {
		f.idle = append(f.idle, p)
		p.retire = time.AfterFunc(r.cfg.Idle, func() { r.retireIdle(p) })
	}
}

// retireIdle kills a process unless it is busy.
func (r *Runtime) retireIdle(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if i := slices.Index(p.f.idle, p); i >= 0 {
		p.f.idle = slices.Delete(p.f.idle, i, i+1)
		p.kill()
	}
}

// Kill kills the processes of a function, idle or busy, and returns how many it
// killed. Their invocations fail with Runtime.ExitError.
func (r *Runtime) Kill(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()

	n := 0

	for _, p := range r.processes {
		if p.f.Name == name {
			p.kill()

			n++
		}
	}

	if f := r.functions[name]; f != nil {
		f.idle = nil
	}

	return n
}

// KillProcess kills the process with a session token, as Kill does, and reports
// whether there is one.
func (r *Runtime) KillProcess(token string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	p := r.processes[token]
	if p == nil {
		return false
	}

	p.kill()
	p.f.idle = slices.DeleteFunc(p.f.idle, func(o *process) bool { return o == p })

	return true
}

// Payload returns the event of the invocation that the process with a session token
// runs, or nil.
func (r *Runtime) Payload(token string) []byte {
	r.mu.Lock()
	p := r.processes[token]
	r.mu.Unlock()

	if p == nil {
		return nil
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	if p.task == nil {
		return nil
	}

	return p.task.payload
}

// Running returns the session token of a process that runs an invocation of a function, "" if
// none does. Of several it is any.
func (r *Runtime) Running(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	for token, p := range r.processes {
		if p.f.Name == name {
			p.mu.Lock()
			runs := p.task != nil
			p.mu.Unlock()

			if runs {
				return token
			}
		}
	}

	return ""
}

// Stats returns the state of every function, by name.
func (r *Runtime) Stats() map[string]Stats {
	r.mu.Lock()
	defer r.mu.Unlock()

	all := make(map[string]Stats, len(r.functions))
	for name, f := range r.functions {
		s := f.stats
		s.Warm, s.Waiting = len(f.idle), len(f.waiters)
		all[name] = s
	}

	return all
}

// Close kills every process. It returns when all have ended and every call of Invoke
// has returned. Call it before the clock is stopped.
func (r *Runtime) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}

	r.closed = true
	for _, p := range r.processes {
		p.kill()
	}

	for _, f := range r.functions {
		f.idle = nil
		for _, w := range f.waiters {
			w.wake()
		}
	}
	r.mu.Unlock()
	r.calls.Wait()
	r.running.Wait()
	close(r.spawn)
	r.server.Close()
}

// uuid returns a random identifier in the form of AWS's request ids.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// slug returns a function's name in AWS: room-verb-noun.
func slug(name string) string { return strings.ReplaceAll(name, "/", "-") }
