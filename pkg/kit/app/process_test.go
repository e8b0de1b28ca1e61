package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// binary is testdata/function, built as functions are.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "app")
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

// process is a function in a process of its own, on a Lambda runtime whose clock
// stands still unless all sleep.
type process struct {
	t     *testing.T
	clock *clock.Clock
	*lambda.Runtime

	mu   sync.Mutex
	logs []string
}

func run(t *testing.T, stage string, env ...string) *process {
	t.Helper()
	p := &process{t: t, clock: clock.New(noon, clock.Free)}

	r, err := lambda.New(p.clock, lambda.Config{Init: time.Minute, Log: func(l lambda.Log) {
		p.mu.Lock()
		defer p.mu.Unlock()

		p.logs = append(p.logs, l.Line)
	}})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { r.Close(); p.clock.Stop() })
	r.Add(lambda.Function{Name: "test/keep-score", Path: binary, Timeout: time.Minute, Env: append(env,
		spec.EnvStage+"="+stage, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")})
	p.Runtime = r

	return p
}

func (p *process) invoke(event string) (string, error) {
	defer p.clock.Work()()

	out, err := p.Invoke(p.t.Context(), "test/keep-score", []byte(event))

	return string(out), err
}

// failed returns the number of failures that the process has counted. It ends the
// process.
func (p *process) failed() (n float64) {
	for _, l := range p.logLines() {
		if v, ok := l[telemetry.Failed.Name].(float64); ok {
			n += v
		}
	}

	return n
}

// logLines returns the lines that the process has logged, which must be JSON. It ends
// the process, because only then all of its output has been read.
func (p *process) logLines() (lines []map[string]any) {
	p.t.Helper()
	p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, l := range p.logs {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			p.t.Fatalf("%v: %s", err, l)
		}

		lines = append(lines, m)
	}

	return lines
}

func TestTaskInItsProcess(t *testing.T) {
	t.Parallel()
	p := run(t, spec.Local, "KIND=task", spec.EnvCode+"=0a1b2c3d4e5f", spec.EnvPrefix+"=x-")

	out, err := p.invoke(`{"Do":"now"}`)
	if want := `{"Now":"2026-06-01T12:00:00Z","Stage":"local"}`; err != nil || out != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}

	out, err = p.invoke(`{"Do":"sleep","Until":"2026-06-03T08:00:00.25Z"}`)
	if want := `{"Now":"2026-06-03T08:00:00.25Z","Stage":"local"}`; err != nil || out != want {
		t.Errorf("after the sleep: got %s, %v, want %s", out, err, want)
	}

	if got := p.clock.Now(); !got.Equal(time.Date(2026, 6, 3, 8, 0, 0, 25e7, time.UTC)) {
		t.Errorf("the fleet's clock shows %v", got)
	}

	_, err = p.invoke(`{"Do":"fail"}`)
	if e, ok := errors.AsType[*lambda.Error](err); !ok || e.Message != "rain" {
		t.Errorf("a task that fails: got %v", err)
	}

	if !slices.ContainsFunc(p.logLines(), func(l map[string]any) bool {
		return l["msg"] == "failed" && l["err"] == "rain" && l["level"] == "ERROR" && l["function"] == "test-keep-score" &&
			l["room"] == "x-test" && l["requestId"] != nil && l["code"] == "0a1b2c3d4e5f"
	}) {
		t.Errorf("the process logged %v", p.logLines())
	}

	if n := p.failed(); n != 1 {
		t.Errorf("%v runs are counted as failures, want that of rain", n)
	}
}

// TestDeployedIgnoresTheFleetsClock sends a deployed function what only the local
// fleet sends.
func TestDeployedIgnoresTheFleetsClock(t *testing.T) {
	t.Parallel()
	p := run(t, "prod", "KIND=task")

	began := time.Now()
	for _, event := range []string{`{"Do":"now"}`, `{"Do":"sleep","Until":"` + began.Add(-time.Hour).Format(time.RFC3339) + `"}`} {
		out, err := p.invoke(event)
		if err != nil {
			t.Fatal(err)
		}

		var got struct{ Now time.Time }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}

		if got.Now.Before(began) || got.Now.After(time.Now()) {
			t.Errorf("%s: its clock shows %v, want the wall clock's time", event, got.Now)
		}
	}

	if got := p.clock.Now(); !got.Equal(noon) {
		t.Errorf("the fleet's clock went to %v", got)
	}
}

func TestJobInItsProcess(t *testing.T) {
	t.Parallel()

	p := run(t, spec.Local, "KIND=job", "JOB=work")
	for _, event := range []string{`{}`, `null`, `"whatever"`, `{"time":"2026-06-01T12:00:00Z"}`} {
		if _, err := p.invoke(event); err != nil {
			t.Errorf("%s: %v", event, err)
		}
	}

	for _, l := range p.logLines() {
		if l["msg"] == "metrics" || l["msg"] == "failed" {
			t.Errorf("a job without a failure logs %v", l)
		}
	}

	p = run(t, spec.Local, "KIND=job", "JOB=fail")
	if _, err := p.invoke(`{}`); err == nil || !strings.Contains(err.Error(), "rain") {
		t.Errorf("a job that fails: got %v", err)
	}

	if n := p.failed(); n != 1 {
		t.Errorf("%v runs are counted as failures, want 1", n)
	}
}

func TestAPIInItsProcess(t *testing.T) {
	t.Parallel()

	p := run(t, spec.Local, "KIND=api")
	for path, want := range map[string][2]string{
		"/overs/7":      {`"statusCode":200`, `2026-06-01T12:00:00Z`},
		"/test/overs/7": {`"statusCode":200`, `2026-06-01T12:00:00Z`}, // by a custom domain
		"/overs/0":      {`"statusCode":404`, `no such over`},
		"/overs/many":   {`"statusCode":429`, `too many overs`},
		"/overs/fail":   {`"statusCode":500`, `something went wrong on our side`},
	} {
		out, err := p.invoke(`{"version":"2.0","rawPath":"` + path + `","requestContext":{"domainName":"x","http":{"method":"GET","path":"` +
			path + `"}}}`)
		if err != nil || !strings.Contains(out, want[0]) || !strings.Contains(out, want[1]) {
			t.Errorf("%s: got %s, %v, want %s and %s", path, out, err, want[0], want[1])
		}

		if strings.Contains(out, "rain") {
			t.Errorf("%s: leaks the error: %s", path, out)
		}
	}

	if n := p.failed(); n != 1 {
		t.Errorf("%v answers are counted as failures, want that of 500", n)
	}
}

func TestQueueInItsProcess(t *testing.T) {
	t.Parallel()
	p := run(t, spec.Local, "KIND=queue")

	out, err := p.invoke(`{"Records":[{"messageId":"1","body":"{\"Do\":\"work\"}"},{"messageId":"2","body":"{\"Do\":\"fail\"}"}]}`)
	if want := `{"batchItemFailures":[{"itemIdentifier":"2"}]}`; err != nil || out != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}

	if n := p.failed(); n != 1 {
		t.Errorf("%v messages are counted as failures, want the second", n)
	}
}

// TestRejectedMessageIsLogged with its id, its queue and the reason, also if it cannot be
// moved to the dead-letter queue.
func TestRejectedMessageIsLogged(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	p := run(t, spec.Local, "KIND=queue", "AWS_ENDPOINT_URL_SQS="+server.URL, spec.EnvQueues+"="+server.URL+"/")

	out, err := p.invoke(`{"Records":[{"messageId":"7","body":"no ball"}]}`)
	if want := `{"batchItemFailures":[{"itemIdentifier":"7"}]}`; err != nil || out != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}

	var got [][3]any

	for _, l := range p.logLines() {
		if l["msg"] == "message rejected" {
			got = append(got, [3]any{l["message"], l["queue"], l["err"]})
		}
	}

	want := [][3]any{{"7", "overs", "the message cannot be read: invalid character 'o' in literal null (expecting 'u')"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rejected messages in the log (-want +got):\n%s", diff)
	}
}

// TestPanic: the invocation fails, and the next one finds a new process.
func TestPanic(t *testing.T) {
	t.Parallel()

	for kind, event := range map[string]string{
		"task":  `{"Do":"panic"}`,
		"job":   `{}`,
		"queue": `{"Records":[{"messageId":"1","body":"{\"Do\":\"panic\"}"}]}`,
	} {
		p := run(t, spec.Local, "KIND="+kind, "JOB=panic")
		for range 2 {
			if _, err := p.invoke(event); err == nil || !strings.Contains(err.Error(), "the pavilion burns") {
				t.Errorf("%s: got %v", kind, err)
			}
		}

		if n := p.Stats()["test/keep-score"].ColdStarts; n != 2 {
			t.Errorf("%s: %d processes were started, want 2", kind, n)
		}
	}
}

// TestPanicOfAnAPI: the caller gets a problem document, the request counts as failed,
// and the process goes on.
func TestPanicOfAnAPI(t *testing.T) {
	t.Parallel()

	p := run(t, spec.Local, "KIND=api")
	for range 2 {
		out, err := p.invoke(`{"version":"2.0","rawPath":"/overs/panic","requestContext":{"http":{"method":"GET"}}}`)
		if err != nil || !strings.Contains(out, `"statusCode":500`) || !strings.Contains(out, "urn:problem-type:matchday:internal") {
			t.Errorf("got %s, %v", out, err)
		}
	}

	if n := p.failed(); n != 2 {
		t.Errorf("%v requests are counted as failures, want 2", n)
	}

	if n := p.Stats()["test/keep-score"].ColdStarts; n != 1 {
		t.Errorf("%d processes were started, want 1", n)
	}
}

func TestCannotStart(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"OPEN=fail"}, "open: there is no scorebook"},
		{[]string{"OPEN=secret"}, "open: the secret TOKEN is not set"},
	} {
		p := run(t, spec.Local, append(c.env, "KIND=task")...)
		if _, err := p.invoke(`{}`); err == nil {
			t.Errorf("%v: an event is handled", c.env)
		}

		lines := p.logLines()
		if len(lines) != 1 || lines[0]["msg"] != "cannot start" || lines[0]["err"] != c.want || lines[0]["level"] != "ERROR" ||
			lines[0]["function"] != "test-keep-score" {
			t.Errorf("%v: the process logged %v, want %q", c.env, lines, c.want)
		}
	}

	p := run(t, spec.Local, "KIND=task", "OPEN=panic")
	if _, err := p.invoke(`{}`); err == nil {
		t.Error("an event is handled after a panic")
	}

	p.Close() // so that all of its output has been read

	if !slices.ContainsFunc(p.logs, func(l string) bool { return strings.Contains(l, "the scorebook is torn") }) {
		t.Errorf("it logs %q", p.logs)
	}
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()

	fn := spec.Function{Name: "test/get-team", Does: "A team.", On: spec.Route{Method: "GET", Path: "/teams/{name}", Auth: spec.Public}}
	route := API(fn, opened, func(_ Env, ctx context.Context, in *get) (*page, error) { return in.page(ctx) })

	out, err := route.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}

	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal(out, &doc); err != nil || doc.OpenAPI != "3.1.0" || doc.Paths["/teams/{name}"] == nil {
		t.Errorf("got %s, %v", out, err)
	}

	if out, err := Job(fn, opened, func(Env, context.Context) error { return nil }).OpenAPI(); out != nil || err != nil {
		t.Errorf("a job: got %s, %v", out, err)
	}
}
