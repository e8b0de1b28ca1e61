package lambda

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// process is one execution environment: a child that asks for events.
type process struct {
	r      *Runtime
	f      *function
	id     string
	events chan *task    // holds at most one task, which run sends
	ready  chan struct{} // closed when it asks for its first event
	gone   chan struct{} // closed when it has ended and its output is read
	exit   error         // why the process ended; set before gone is closed
	retire *time.Timer   // kills it after idling; guarded by the runtime's lock

	outdated bool // its environment has changed; guarded by the runtime's lock

	mu        sync.Mutex
	pid       int // while it lives
	killed    bool
	asked     bool
	task      *task
	request   string // id of the latest invocation
	initError *Error // the error that the process reported instead of becoming ready
}

// task is one invocation inside a process. The process's lock guards it.
type task struct {
	id      string
	payload []byte
	inv     *Invocation
	ctx     context.Context // ends with the task
	end     context.CancelFunc
	done    chan struct{} // closed when the process asks for the next event

	began     time.Time
	left      time.Duration // of the timeout, at since
	since     time.Time
	timer     *time.Timer
	asleep    bool
	sleepTurn chan struct{} // holds a token while a sleep is under way
	sleeps    sync.WaitGroup
	answered  bool
	expired   bool
	out       []byte
	err       *Error
}

// spawner starts all processes from one thread: the kernel sends a
// child its parent-death signal when the thread that started it ends.
func (r *Runtime) spawner() {
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()

	for start := range r.spawn {
		start()
	}
}

// start starts a process for f and returns it when it is ready; it counts as busy. A
// process that fails to become ready has ended and counts as a cold start.
func (r *Runtime) start(f *function, request string) (*process, error) {
	p := &process{
		r: r, f: f, request: request,
		events: make(chan *task, 1),
		ready:  make(chan struct{}),
		gone:   make(chan struct{}),
	}
	r.mu.Lock()
	r.serial++

	p.id = strconv.Itoa(r.serial)
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed()
	}

	r.processes[p.id] = p
	r.running.Add(1)
	r.mu.Unlock()

	if err := p.exec(); err != nil {
		r.removeProcess(p)
		return nil, failure(request, BadEntrypoint, "%v", err)
	}

	limit := time.NewTimer(r.cfg.Init)
	defer limit.Stop()

	select {
	case <-p.ready:
		r.mu.Lock()
		defer r.mu.Unlock()

		f.stats.Cold--
		f.stats.Busy++

		return p, nil
	case <-limit.C:
		p.kill()
		<-p.gone

		return nil, failure(request, TimedOut, "Task timed out after %.2f seconds", r.cfg.Init.Seconds())
	case <-p.gone:
		if p.initError != nil {
			return nil, p.initError
		}

		return nil, p.exitError(request)
	}
}

// outputLimit is how long the output of an ended process is read. Only a child outside
// its group can keep it open.
const outputLimit = time.Minute

// exec starts the child, and the goroutines that read it and wait for it.
func (p *process) exec() error {
	path, err := filepath.Abs(p.f.Path)
	if err != nil {
		return err
	}

	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()

	cmd := exec.Command(path, p.f.Args...)
	cmd.Dir = filepath.Dir(path)
	cmd.Env = p.env(path)
	cmd.Stdout, cmd.Stderr = in, in
	cmd.SysProcAttr = sysProcAttr()

	started := make(chan error)
	p.r.spawn <- func() { started <- cmd.Start() }

	if err := <-started; err != nil {
		out.Close()
		return err
	}

	p.mu.Lock()
	p.pid = cmd.Process.Pid
	killed := p.killed
	p.mu.Unlock()

	if killed {
		p.kill()
	}

	read := make(chan struct{})
	go func() {
		defer close(read)

		p.read(out)
	}()
	go func() {
		p.exit = cmd.Wait()
		p.kill() // its children
		p.mu.Lock()
		p.pid = 0
		p.mu.Unlock()

		_ = out.SetReadDeadline(time.Now().Add(outputLimit))

		<-read
		out.Close()
		p.r.removeProcess(p)
		close(p.gone)
	}()

	return nil
}

func (p *process) env(path string) []string {
	env := []string{"TZ=:UTC"}

	for _, name := range []string{"PATH", "TMPDIR", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}

	p.r.mu.Lock()
	env = append(env, p.f.Env...)
	p.r.mu.Unlock()

	return append(env,
		"AWS_ACCESS_KEY_ID="+slug(p.f.Name),
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_SESSION_TOKEN="+p.id,
		"AWS_LAMBDA_RUNTIME_API="+p.r.addr+"/"+p.id,
		"AWS_LAMBDA_FUNCTION_NAME="+slug(p.f.Name),
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(p.f.Memory),
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_REGION="+p.r.cfg.Region,
		"LAMBDA_TASK_ROOT="+filepath.Dir(path),
		"_HANDLER="+filepath.Base(path),
	)
}

// read passes on the child's lines until every process that holds its output has closed
// it.
func (p *process) read(out *os.File) {
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}

		if p.r.cfg.Log == nil {
			continue
		}

		p.mu.Lock()
		request := p.request
		p.mu.Unlock()
		p.r.cfg.Log(Log{Function: p.f.Name, RequestID: request, Line: string(line), Time: p.r.clock.Now()})
	}
}

// kill ends the process and everything in its group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.killed = true
	if p.pid != 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

func (p *process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.killed
}

// removeProcess removes a process that has ended or could not be started.
func (r *Runtime) removeProcess(p *process) {
	r.retireIdle(p)
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.processes, p.id)
	r.running.Done()
}

// run sends the process an event and waits until it requests the next one, or ends.
func (p *process) run(inv *Invocation, payload []byte) ([]byte, error) {
	t := &task{
		id: inv.RequestID, payload: payload, inv: inv,
		done:      make(chan struct{}),
		sleepTurn: make(chan struct{}, 1),
		left:      p.f.Timeout,
	}

	t.ctx, t.end = context.WithCancel(context.Background())
	p.events <- t

	dead := false

	select {
	case <-t.done:
	case <-p.gone:
		dead = true
	}

	p.mu.Lock()
	p.task = nil

	t.end()

	if t.timer != nil {
		t.timer.Stop()
		inv.Duration = time.Since(t.began)
	}
	p.mu.Unlock()
	t.sleeps.Wait() // after this the call holds its work again

	switch {
	case t.answered && t.err != nil:
		return nil, t.err
	case t.answered:
		return t.out, nil
	case t.expired:
		return nil, failure(t.id, TimedOut, "Task timed out after %.2f seconds", p.f.Timeout.Seconds())
	case dead:
		return nil, p.exitError(t.id)
	}

	panic("lambda: an invocation ended without an answer")
}

func (p *process) exitError(request string) *Error {
	if p.exit == nil {
		return failure(request, ExitError, "Runtime exited without providing a reason")
	}

	return failure(request, ExitError, "Runtime exited with error: %v", p.exit)
}

// begin makes t the current task of the process and starts its timeout. It does nothing
// if the process has ended.
func (p *process) begin(t *task) (deadline time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if t.ctx.Err() != nil {
		return time.Time{}, false
	}

	p.task, p.request = t, t.id
	t.began = time.Now()
	t.inv.Start = p.r.clock.Now()

	return p.resume(t), true
}

// resume starts t's timeout again, and pause stops it. The caller holds the lock.
func (p *process) resume(t *task) (deadline time.Time) {
	t.since = time.Now()
	t.timer = time.AfterFunc(t.left, func() {
		p.mu.Lock()

		expired := p.task == t && !t.asleep
		if expired {
			t.expired = true
		}
		p.mu.Unlock()

		if expired {
			p.kill()
		}
	})

	return t.since.Add(t.left)
}

func (p *process) pause(t *task) {
	t.timer.Stop()
	t.left -= time.Since(t.since)
}
