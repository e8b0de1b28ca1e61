package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// binary is testdata/function, built.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if binary = os.Getenv("LAMBDA_TEST_BINARY"); binary != "" { // see TestProcessesEndWithTheirParent
			return m.Run()
		}

		dir, err := os.MkdirTemp("", "lambda")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)

		binary = filepath.Join(dir, "bootstrap")

		build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "./testdata/function")
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("build the test function: %v\n%s", err, out))
		}

		return m.Run()
	}())
}

type answer struct {
	PID      int
	Text     string
	Env      []string
	Custom   map[string]string
	Request  string
	ARN      string
	Deadline time.Time
}

// fleet is a runtime with one function, room/do-thing.
type fleet struct {
	*Runtime
	t     *testing.T
	clock *clock.Clock

	mu   sync.Mutex
	logs []Log
	seen []Invocation
}

const thing = "room/do-thing"

func newFleet(t *testing.T, f Function) *fleet {
	t.Helper()
	fl := &fleet{t: t, clock: clock.New(start, clock.Free)}

	r, err := New(fl.clock, Config{
		Init: time.Minute, // for slow machines
		Log: func(l Log) {
			fl.mu.Lock()
			defer fl.mu.Unlock()

			fl.logs = append(fl.logs, l)
		},
		Observe: func(i Invocation) {
			fl.mu.Lock()
			defer fl.mu.Unlock()

			fl.seen = append(fl.seen, i)
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { r.Close(); fl.clock.Stop() })

	fl.Runtime = r

	f.Name = thing
	if f.Path == "" {
		f.Path = binary
	}

	if f.Timeout == 0 {
		f.Timeout = time.Minute // for slow machines
	}

	r.Add(f)

	return fl
}

func event(do, arg string) []byte {
	b, _ := json.Marshal(map[string]string{"Do": do, "Arg": arg})
	return b
}

// try invokes, holding work.
func (fl *fleet) try(do, arg string) (answer, error) {
	defer fl.clock.Work()()

	out, err := fl.Invoke(fl.t.Context(), thing, event(do, arg))

	var a answer
	if err == nil {
		err = json.Unmarshal(out, &a)
	}

	return a, err
}

func (fl *fleet) do(do, arg string) answer {
	fl.t.Helper()

	a, err := fl.try(do, arg)
	if err != nil {
		fl.t.Fatal(err)
	}

	return a
}

func (fl *fleet) last() Invocation {
	fl.mu.Lock()
	defer fl.mu.Unlock()

	return fl.seen[len(fl.seen)-1]
}

// gate is a server that answers only after the test opens it.
func gate(t *testing.T) (url string, arrived <-chan struct{}, open func()) {
	came, opened := make(chan struct{}, 16), make(chan struct{})
	open = sync.OnceFunc(func() { close(opened) })
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came <- struct{}{}

		select {
		case <-opened:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(open)

	return s.URL, came, open
}

// gone reports whether a process has ended, even if its parent has not waited for it.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "Z")
	}

	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func TestColdThenWarm(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{MaxConcurrency: 1})

	first := fl.do("echo", "one")
	if i := fl.last(); !i.Cold || i.Init <= 0 || i.Err != nil || i.In == 0 || i.Out == 0 || i.RequestID != first.Request ||
		!i.Start.Equal(start) {
		t.Errorf("first invocation: %+v", i)
	}

	second := fl.do("echo", "two")
	if i := fl.last(); i.Cold || i.Init != 0 {
		t.Errorf("second invocation: %+v", i)
	}

	if first.PID != second.PID {
		t.Errorf("got processes %d and %d, want the same process twice", first.PID, second.PID)
	}

	if second.Text != "two" || first.Request == second.Request {
		t.Errorf("got the answers %+v and %+v", first, second)
	}

	if want := "arn:aws:lambda:us-east-1:000000000000:function:room-do-thing"; first.ARN != want {
		t.Errorf("ARN %s, want %s", first.ARN, want)
	}

	if got, want := fl.Stats()[thing], (Stats{Warm: 1, Invocations: 2, ColdStarts: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestOneProcessPerConcurrentInvocation(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	url, arrived, open := gate(t)

	var (
		mu   sync.Mutex
		pids []int
		wg   sync.WaitGroup
	)
	for range 3 {
		wg.Go(func() {
			a, err := fl.try("get", url)
			if err != nil {
				t.Error(err)
			}

			mu.Lock()
			defer mu.Unlock()

			pids = append(pids, a.PID)
		})
	}

	for range 3 {
		<-arrived
	}

	if s := fl.Stats()[thing]; s.Busy != 3 || s.Warm != 0 || s.Cold != 0 {
		t.Errorf("got stats %+v while three invocations run", s)
	}

	open()
	wg.Wait()
	slices.Sort(pids)

	if len(slices.Compact(pids)) != 3 {
		t.Errorf("processes %v, want three", pids)
	}
	// The most recently used is used first, so one caller keeps one process.
	if a, b := fl.do("echo", ""), fl.do("echo", ""); a.PID != b.PID {
		t.Errorf("got process %d after process %d, want the most recently used one", a.PID, b.PID)
	}

	if s := fl.Stats()[thing]; s.Busy != 0 || s.Warm != 3 {
		t.Errorf("stats %+v, want three warm", s)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		do, arg, kind, message string
		survives               bool
	}{
		{"fail", "no such card", "errorString", "no such card", true},
		{"typed", "too late", "Card.Locked", "too late", true},
		{"panic", "index out of range", "string", "index out of range", false},
		{"exit", "", ExitError, "Runtime exited without providing a reason", false},
		{"crash", "", ExitError, "Runtime exited with error: exit status 7", false},
		{"big", "", ResponseTooLarge, "Response payload size exceeded", false},
		{"broken", "", "errorString", "torn", true},
	} {
		t.Run(c.do, func(t *testing.T) {
			t.Parallel()
			fl := newFleet(t, Function{MaxConcurrency: 1})
			before := fl.do("echo", "")
			_, err := fl.try(c.do, c.arg)

			e, ok := errors.AsType[*Error](err)
			if !ok || e.ErrorType() != c.kind || !strings.Contains(e.Message, c.message) {
				t.Fatalf("error %v, want %s: … %s", err, c.kind, c.message)
			}

			var payload struct{ ErrorType, ErrorMessage string }
			if err := json.Unmarshal(e.Payload, &payload); err != nil || payload.ErrorType != c.kind || payload.ErrorMessage != e.Message {
				t.Errorf("payload %s", e.Payload)
			}

			after := fl.do("echo", "")
			if survived := before.PID == after.PID; survived != c.survives {
				t.Errorf("the process survived: %v, want %v", survived, c.survives)
			}

			if s := fl.Stats()[thing]; s.Errors != 1 || s.Invocations != 3 || s.Warm != 1 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestTimeoutKills(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{MaxConcurrency: 1})
	before := fl.do("echo", "")
	fl.functions[thing].Timeout = 100 * time.Millisecond

	_, err := fl.try("hang", "")
	if e, ok := errors.AsType[*Error](err); !ok || e.Type != TimedOut ||
		!strings.HasSuffix(e.Message, "Error: Task timed out after 0.10 seconds") {
		t.Fatalf("error %v", err)
	}

	if !gone(before.PID) {
		t.Error("the process is still running after its timeout")
	}

	if s := fl.Stats()[thing]; s.Timeouts != 1 || s.Errors != 1 || s.Warm != 0 || s.Busy != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestInitFailures(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text")

	syscall.ForkLock.RLock() // a process that is forked meanwhile would have the file open for writing until it executes

	err := os.WriteFile(text, []byte("not a program"), 0o755)

	syscall.ForkLock.RUnlock()

	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name          string
		f             Function
		kind, message string
	}{
		{"exits", Function{Env: []string{"INIT=exit"}}, ExitError, "exit status 3"},
		{"reports", Function{Env: []string{"INIT=report"}}, "Init.NoConfig", "no configuration"},
		{"missing", Function{Path: "/nowhere/bootstrap"}, BadEntrypoint, "no such file"},
		{"no program", Function{Path: text}, BadEntrypoint, "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fl := newFleet(t, c.f)

			_, err := fl.try("echo", "")
			if e, ok := errors.AsType[*Error](err); !ok || e.Type != c.kind || !strings.Contains(e.Message, c.message) {
				t.Errorf("error %v, want %s: … %s", err, c.kind, c.message)
			}

			if got, want := fl.Stats()[thing], (Stats{Invocations: 1, ColdStarts: 1, Errors: 1}); got != want {
				t.Errorf("stats %+v, want %+v", got, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()

	fl := newFleet(t, Function{})
	for _, c := range []struct {
		name, function string
		payload        []byte
		kind           string
	}{
		{"unknown function", "room/other", nil, ResourceNotFound},
		{"payload over 6 MB", thing, make([]byte, 6<<20+1), RequestTooLarge},
	} {
		_, err := fl.Invoke(t.Context(), c.function, c.payload)
		if e, ok := errors.AsType[*Error](err); !ok || e.Type != c.kind {
			t.Errorf("%s: error %v, want %s", c.name, err, c.kind)
		}
	}

	fl.Close()

	if _, err := fl.try("echo", ""); err == nil {
		t.Error("a closed runtime ran an invocation")
	}
}

func TestThrottleOrWaitInLine(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{MaxConcurrency: 1})
	url, arrived, open := gate(t)

	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := fl.try("get", url); err != nil {
			t.Error(err)
		}
	})
	<-arrived

	if _, err := fl.try("echo", ""); !throttled(err) {
		t.Errorf("error %v, want %s", err, TooManyRequests)
	}

	for i := range 3 {
		wg.Go(func() {
			defer fl.clock.Work()()

			if _, err := fl.InvokeWait(t.Context(), thing, event("log", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
		await(t, func() bool { return fl.Stats()[thing].Waiting == i+1 })
	}

	open()
	wg.Wait()
	fl.Close() // so that every line is read

	var got []string
	for _, l := range fl.logs {
		got = append(got, l.Line)
	}

	if want := []string{"0", "also 0", "1", "also 1", "2", "also 2"}; !slices.Equal(got, want) {
		t.Errorf("invocations ran in the order %q, want the order of the calls", got)
	}

	if s := fl.Stats()[thing]; s.Throttles != 1 || s.ColdStarts != 1 || s.Invocations != 4 {
		t.Errorf("stats %+v", s)
	}
}

func throttled(err error) bool {
	e, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err)

	return ok && e.ErrorType() == TooManyRequests
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{MaxConcurrency: 1})
	url, arrived, open := gate(t)

	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := fl.try("get", url); err != nil {
			t.Error(err)
		}
	})
	<-arrived

	ctx, cancel := context.WithCancel(t.Context())

	wg.Go(func() {
		defer fl.clock.Work()()

		if _, err := fl.InvokeWait(ctx, thing, nil); err != context.Canceled {
			t.Errorf("error %v, want the context's", err)
		}
	})
	await(t, func() bool { return fl.Stats()[thing].Waiting == 1 })
	cancel()
	await(t, func() bool { return fl.Stats()[thing].Waiting == 0 })
	open()
	wg.Wait()
	fl.do("echo", "") // the place is free again
}

func TestSimulatedTime(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	until := start.Add(90 * time.Second)

	a := fl.do("sleep", until.Format(time.RFC3339Nano))
	if a.Custom["matchday-now"] != start.Format(time.RFC3339Nano) || a.Custom["matchday-speed"] != "0" {
		t.Errorf("client context %v", a.Custom)
	}

	if want := "200 " + until.Format(time.RFC3339Nano); a.Text != want {
		t.Errorf("sleep answered %q, want %q", a.Text, want)
	}

	if now := fl.clock.Now(); !now.Equal(until) {
		t.Errorf("the clock shows %v, want %v", now, until)
	}

	if a := fl.do("sleep", "tomorrow"); !strings.HasPrefix(a.Text, "400 ") {
		t.Errorf("a sleep until tomorrow answered %q", a.Text)
	}

	if a := fl.do("sleep", start.Format(time.RFC3339Nano)); a.Text != "200 "+until.Format(time.RFC3339Nano) {
		t.Errorf("a sleep until a past time answered %q", a.Text)
	}
}

// The clock moves while a call waits for a process and the running invocation sleeps.
func TestClockMovesWhileACallWaits(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{MaxConcurrency: 1})
	hold := fl.clock.Work()

	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			defer fl.clock.Work()()

			until := start.Add(time.Duration(i+1) * time.Hour)
			if _, err := fl.InvokeWait(t.Context(), thing, event("sleep", until.Format(time.RFC3339Nano))); err != nil {
				t.Error(err)
			}
		})
		await(t, func() bool { s := fl.Stats()[thing]; return s.Cold+s.Busy == 1 && s.Waiting == i })
	}

	over := make(chan time.Time, 1)

	fl.clock.At(start.Add(24*time.Hour), func() { over <- fl.clock.Now() })
	hold()
	wg.Wait()

	if s := fl.Stats()[thing]; s.Invocations != 4 || s.Errors != 0 || s.ColdStarts != 1 {
		t.Errorf("stats %+v", s)
	}

	if at := <-over; !at.Equal(start.Add(24 * time.Hour)) {
		t.Errorf("the day ended at %v: a waiting call moved the clock", at)
	}
}

func TestTimeoutStandsStillDuringSleep(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	hold := fl.clock.Work() // the sleeper stays asleep

	var wg sync.WaitGroup
	wg.Go(func() {
		if a, err := fl.try("sleep", start.Add(time.Hour).Format(time.RFC3339)); err != nil || !strings.HasPrefix(a.Text, "200 ") {
			t.Errorf("answer %+v, error %v", a, err)
		}
	})

	asleep := func() (yes, ticking bool) {
		fl.Runtime.mu.Lock()
		defer fl.Runtime.mu.Unlock()

		for _, p := range fl.processes {
			p.mu.Lock()
			defer p.mu.Unlock()

			if p.task != nil && p.task.asleep {
				return true, p.task.timer.Stop()
			}
		}

		return false, false
	}

	await(t, func() bool { yes, _ := asleep(); return yes })

	if _, ticking := asleep(); ticking {
		t.Error("the timeout ran during the sleep")
	}

	hold()
	wg.Wait()
}

func TestKilledSleeperReleasesItsWork(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	hold := fl.clock.Work()

	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := fl.try("sleep", start.Add(time.Hour).Format(time.RFC3339))
		if e, ok := errors.AsType[*Error](err); !ok || e.Type != ExitError || !strings.HasSuffix(e.Message, "signal: killed") {
			t.Errorf("error %v", err)
		}
	})
	await(t, func() bool { return fl.Stats()[thing].Busy == 1 })

	if n := fl.Kill(thing); n != 1 {
		t.Errorf("killed %d processes, want 1", n)
	}

	wg.Wait()

	if now := fl.clock.Now(); !now.Equal(start) {
		t.Errorf("the clock moved to %v while work was held", now)
	}

	over := make(chan struct{})

	fl.clock.After(time.Second, func() { close(over) })
	hold()
	<-over
}

func TestKillOneProcess(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	url, arrived, _ := gate(t)

	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := fl.try("get", url); err != nil && !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("error %v", err)
		}
	})
	<-arrived

	token := ""

	for _, v := range fl.do("env", "").Env { // in a second process, which is now warm
		if name, value, _ := strings.Cut(v, "="); name == "AWS_SESSION_TOKEN" {
			token = value
		}
	}

	if got := fl.Payload(token); got != nil {
		t.Errorf("an idle process has the payload %s", got)
	}

	if !fl.KillProcess(token) {
		t.Errorf("there is no process %q", token)
	}

	if s := fl.Stats()[thing]; s.Warm != 0 || s.Busy != 1 {
		t.Errorf("stats %+v", s)
	}

	if fl.KillProcess("nobody's") {
		t.Error("KillProcess reported success for an unknown session token")
	}

	fl.Kill(thing)
	wg.Wait()
}

func TestKillMidFlight(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	url, arrived, _ := gate(t)

	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := fl.try("get", url)
		if e, ok := errors.AsType[*Error](err); !ok || e.Type != ExitError {
			t.Errorf("error %v, want %s", err, ExitError)
		}
	})
	<-arrived
	fl.do("echo", "") // another process, which is now warm

	if n := fl.Kill(thing); n != 2 {
		t.Errorf("killed %d processes, want 2", n)
	}

	wg.Wait()

	if s := fl.Stats()[thing]; s.Warm != 0 || s.Busy != 0 {
		t.Errorf("stats %+v", s)
	}

	fl.do("echo", "")
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MATCHDAY_TEST_SECRET", "of the parent")
	fl := newFleet(t, Function{Memory: 512, Env: []string{"TABLE_CARDS=cards", "AWS_REGION=elsewhere"}})
	got := map[string]string{}

	for _, v := range fl.do("env", "").Env {
		name, value, _ := strings.Cut(v, "=")
		got[name] = value
	}

	delete(got, "_X_AMZN_TRACE_ID") // set by aws-lambda-go

	want := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME":        "room-do-thing",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_RUNTIME_API":          fl.addr + "/1",
		"AWS_REGION":                      "us-east-1",
		"AWS_ACCESS_KEY_ID":               "room-do-thing",
		"AWS_SECRET_ACCESS_KEY":           "local",
		"AWS_SESSION_TOKEN":               "1",
		"LAMBDA_TASK_ROOT":                filepath.Dir(binary),
		"TABLE_CARDS":                     "cards",
		"TZ":                              ":UTC",
		"_HANDLER":                        "bootstrap",
	}

	for _, name := range []string{"PATH", "TMPDIR", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			want[name] = v
		}
	}

	if !maps.Equal(got, want) {
		t.Errorf("environment\n%v\nwant\n%v", got, want)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	fl.do("log", "hello")

	first := fl.last().RequestID
	if _, err := fl.try("crash", ""); err == nil {
		t.Fatal("no error")
	}

	second := fl.last().RequestID
	// The output of a crashing process is read before its invocation ends.
	want := []Log{{thing, first, "hello", start}, {thing, first, "also hello", start}, {thing, second, "last line", start}}

	fl.mu.Lock()
	defer fl.mu.Unlock()

	for i := range fl.logs {
		if i < 2 {
			fl.logs[i].RequestID = first // a slow reader may assign these lines to the second invocation
		}
	}

	if !slices.Equal(fl.logs, want) {
		t.Errorf("logs %+v\nwant %+v", fl.logs, want)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	url, arrived, _ := gate(t)
	warm := fl.do("echo", "").PID

	var wg sync.WaitGroup
	wg.Go(func() { // it ignores SIGTERM
		if _, err := fl.try("hang", url); err == nil {
			t.Error("no error")
		}
	})
	<-arrived

	child := fl.do("litter", "").PID
	fl.Close()
	wg.Wait()

	if !gone(warm) {
		t.Errorf("process %d outlived Close", warm)
	}

	await(t, func() bool { return gone(child) }) // its parent did not wait for it
	fl.Close()
}

func TestIdleProcessIsKilled(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	fl.cfg.Idle = time.Millisecond
	pid := fl.do("echo", "").PID

	await(t, func() bool { return gone(pid) && fl.Stats()[thing].Warm == 0 })
}

func TestEndedProcessIsNotReused(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	pid := fl.do("echo", "").PID
	syscall.Kill(pid, syscall.SIGKILL)
	await(t, func() bool { return fl.Stats()[thing].Warm == 0 })

	if fl.do("echo", "").PID == pid {
		t.Error("an ended process got an invocation")
	}
}

// On Linux the kernel kills the processes when the fleet ends, even if the fleet is
// killed.
func TestProcessesEndWithTheirParent(t *testing.T) {
	t.Parallel()

	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills a child with its parent")
	}

	if url := os.Getenv("LAMBDA_TEST_PARENT"); url != "" { // the parent: is killed while an invocation runs
		fl := newFleet(t, Function{})
		fl.try("hang", url)

		return
	}

	died := make(chan struct{})
	came := make(chan struct{})

	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		<-r.Context().Done()
		close(died)
	}))
	defer s.Close()

	parent := exec.Command(os.Args[0], "-test.run=^TestProcessesEndWithTheirParent$")

	parent.Env = append(os.Environ(), "LAMBDA_TEST_PARENT="+s.URL, "LAMBDA_TEST_BINARY="+binary)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}

	<-came
	parent.Process.Kill()
	parent.Wait()
	<-died
}

// A client that breaks the protocol of the Runtime API gets an error and does not
// affect other processes.
func TestProtocol(t *testing.T) {
	t.Parallel()
	fl := newFleet(t, Function{})
	url, arrived, open := gate(t)

	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := fl.try("get", url); err != nil {
			t.Error(err)
		}
	})
	<-arrived

	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/1/2018-06-01/runtime/invocation/next", http.StatusForbidden}, // no answer yet
		{"POST", "/1/2018-06-01/runtime/invocation/another/response", http.StatusBadRequest},
		{"POST", "/1/2018-06-01/runtime/invocation/another/error", http.StatusBadRequest},
		{"POST", "/1/matchday/sleep", http.StatusBadRequest},
		{"GET", "/9/2018-06-01/runtime/invocation/next", http.StatusForbidden},
		{"POST", "/1/2020-01-01/extension/register", http.StatusNotFound},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+fl.addr+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}

		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}

		res.Body.Close()

		if res.StatusCode != c.status {
			t.Errorf("%s %s answered %d, want %d", c.method, c.path, res.StatusCode, c.status)
		}
	}

	open()
	wg.Wait()

	res, err := http.Post("http://"+fl.addr+"/1/matchday/sleep", "", strings.NewReader(start.Format(time.RFC3339)))
	if err != nil {
		t.Fatal(err)
	}

	res.Body.Close()

	if res.StatusCode != http.StatusConflict {
		t.Errorf("a sleep outside an invocation got status %d", res.StatusCode)
	}
}

func FuzzParseError(f *testing.F) {
	f.Add([]byte(`{"errorType":"A","errorMessage":"b","stackTrace":[]}`), "")
	f.Add([]byte(`[]`), "Custom")
	f.Add([]byte(`{"errorType":7}`), "")
	f.Fuzz(func(t *testing.T, body []byte, kind string) {
		e := parseError(body, kind)
		if !json.Valid(e.Payload) {
			t.Errorf("payload %q is not JSON", e.Payload)
		}
	})
}

func await(t *testing.T, ok func() bool) {
	t.Helper()

	for !ok() {
		if t.Context().Err() != nil {
			t.FailNow()
		}

		runtime.Gosched()
	}
}

// TestConfigure: an invocation after a change of the environment has the new one, in another process,
// also if the process was busy during the change.
func TestConfigure(t *testing.T) {
	t.Parallel()

	for _, busy := range []bool{false, true} {
		fl := newFleet(t, Function{Env: []string{"TABLE_CARDS=cards"}})
		url, arrived, open := gate(t)

		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := fl.try("get", url); err != nil {
				t.Errorf("the invocation during the change failed: %v", err)
			}
		})
		<-arrived

		if !busy {
			open()
			wg.Wait()
		}

		fl.Configure("TABLE_CARDS=others")
		open()
		wg.Wait()

		if env := fl.do("env", "").Env; !slices.Contains(env, "TABLE_CARDS=others") || !fl.last().Cold {
			t.Errorf("busy %v: the environment is %v, and the process cold: %v", busy, env, fl.last().Cold)
		}
	}
}
