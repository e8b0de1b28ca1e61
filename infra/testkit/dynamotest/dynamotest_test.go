package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

var (
	tallies = spec.Table{
		Name:    "tallies",
		Key:     spec.Key{Partition: "id"},
		Indexes: []spec.Index{{Name: "by-kind", Key: spec.Key{Partition: "kind", Sort: "id"}}},
	}
	getIt  = tallies.On("Get tally", "id", spec.Rate{}, spec.GetItem)
	putIt  = tallies.On("Put tally", "id", spec.Rate{}, spec.PutItem)
	addIt  = tallies.On("Add to tally", "id", spec.Rate{}, spec.UpdateItem)
	ofKind = tallies.OnIndex("by-kind", "Tallies of a kind", "kind", spec.Rate{}, spec.Query)
)

type tally struct {
	ID string `dynamodbav:"id"`
	N  int    `dynamodbav:"n"`
}

// recorder is a test that records its failures.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

func TestGuard(t *testing.T) {
	t.Parallel()
	cfg, prefix := CreateTables(t, []spec.Table{tallies})
	uses := func(all ...spec.Access) spec.Function { return spec.Function{Name: "test/count", Uses: all} }
	query := func(a spec.Access) func(dynamo.DB) error {
		return func(db dynamo.DB) error {
			_, _, err := dynamo.Query[tally](t.Context(), db, a, dynamo.Range{Key: expression.Key("kind").Equal(expression.Value("k"))})
			return err
		}
	}

	get := func(a spec.Access) func(dynamo.DB) error {
		return func(db dynamo.DB) error { _, _, err := dynamo.Get[tally](t.Context(), db, a, "1"); return err }
	}
	for _, c := range []struct {
		name string
		fn   spec.Function
		call func(dynamo.DB) error
		want string // the failure; "" for none
	}{
		{"listed", uses(putIt, getIt), get(getIt), ""},
		{"listed, of an index", uses(ofKind), query(ofKind), ""},
		{"not listed", uses(putIt), get(getIt), `test/count uses the access pattern "tallies: Get tally", which its spec does not list`},
		{"another operation", uses(putIt), get(putIt),
			`test/count calls GetItem as the access pattern "tallies: Put tally", which is another operation`},
		{"an index as the table", uses(getIt), get(tallies.OnIndex("by-kind", "Get tally", "", spec.Rate{}, spec.GetItem)),
			`test/count reads index "" as the access pattern "tallies: Get tally"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{TB: t}

			err := c.call(dynamo.Open(WithGuard(r, cfg, c.fn), prefix))
			switch {
			case c.want == "" && (err != nil || len(r.errors) > 0):
				t.Errorf("got %v and the failures %q, want neither", err, r.errors)
			case c.want != "" && !slices.Equal(r.errors, []string{c.want}):
				t.Errorf("got the failures %q, want %q", r.errors, c.want)
			}
		})
	}

	t.Run("no pattern", func(t *testing.T) {
		t.Parallel()
		r := &recorder{TB: t}
		dynamodb.NewFromConfig(WithGuard(r, cfg, uses(getIt))).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(prefix + "tallies")})

		if want := []string{"test/count calls Scan outside every access pattern"}; !slices.Equal(r.errors, want) {
			t.Errorf("got %q, want %q", r.errors, want)
		}
	})
}

// TestTablesAreIsolated: two tests at once have tables of their own. A later test gets one of
// them empty, also after many rows, and a test that is over can no longer call.
func TestTablesAreIsolated(t *testing.T) {
	t.Parallel()

	isolated := spec.Table{Name: "isolated", Key: tallies.Key}
	get, put := isolated.On("Get", "id", spec.Rate{}, spec.GetItem), isolated.On("Put", "id", spec.Rate{}, spec.PutItem, spec.BatchWriteItem)

	var (
		used   []string
		before dynamo.DB
	)

	for _, rows := range []int{1, 8*batch + 1, 0} {
		t.Run(fmt.Sprint(rows, " rows"), func(t *testing.T) {
			cfg, prefix := CreateTables(t, []spec.Table{isolated})

			_, other := CreateTables(t, []spec.Table{isolated})
			if prefix == other {
				t.Errorf("two tests at once have the prefix %s", prefix)
			}

			used = append(used, prefix, other)

			db := dynamo.Open(cfg, prefix)
			if _, ok, err := dynamo.Get[tally](t.Context(), db, get, "0"); ok || err != nil {
				t.Errorf("a new table holds %v, %v", ok, err)
			}

			all := make([]tally, rows)
			for i := range all {
				all[i] = tally{fmt.Sprint(i), i}
			}

			if err := dynamo.PutAll(t.Context(), db, put, all); err != nil {
				t.Error(err)
			}

			before = db
		})
	}

	slices.Sort(used)

	if n := len(slices.Compact(used)); n != 2 {
		t.Errorf("%d sets of tables were made, want 2", n)
	}

	if err := dynamo.Put(t.Context(), before, put, tally{"late", 1}); !errors.Is(err, errTestOver) {
		t.Errorf("a write after the test: got %v, want %v", err, errTestOver)
	}
}

// TestProcess crashes a process before and after each of its three calls.
func TestProcess(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		at       int
		after    bool
		effects  int // calls that took effect
		answered int // calls that returned without an error
	}{
		{0, false, 3, 3},
		{1, false, 0, 0},
		{1, true, 1, 0},
		{2, false, 1, 1},
		{2, true, 2, 1},
		{3, false, 2, 2},
		{3, true, 3, 2},
		{4, false, 3, 3},
	} {
		p := &Process{at: c.at, after: c.after}
		cfg, prefix := CreateTables(t, []spec.Table{tallies})
		wire := &wire{}
		db := dynamo.Open(p.AWS(cfg), prefix)
		client := &http.Client{Transport: p.RoundTripper(wire)}
		answered := 0

		for _, call := range []func() error{
			func() error { return dynamo.Put(t.Context(), db, putIt, tally{"1", 1}) },
			func() error {
				r, err := client.Get("http://provider/")
				if err == nil {
					r.Body.Close()
				}

				return err
			},
			func() error { return dynamo.Put(t.Context(), db, putIt, tally{"2", 1}) },
		} {
			switch err := call(); {
			case err == nil:
				answered++
			case !errors.Is(err, ErrCrashed):
				t.Errorf("at %d, after %v: %v, want ErrCrashed", c.at, c.after, err)
			}
		}

		effects := wire.requests

		for _, id := range []string{"1", "2"} {
			if _, ok, err := dynamo.Get[tally](t.Context(), dynamo.Open(cfg, prefix), getIt, id); err != nil {
				t.Fatal(err)
			} else if ok {
				effects++
			}
		}

		if effects != c.effects || answered != c.answered || p.calls != 3 {
			t.Errorf("at %d, after %v: %d of %d calls took effect, %d were answered, want %d and %d", c.at, c.after, effects, p.calls,
				answered, c.effects, c.answered)
		}

		if wire.open != 0 {
			t.Errorf("at %d, after %v: the body of the lost response is not closed", c.at, c.after)
		}
	}
}

// wire is the transport of a provider. It counts requests and open bodies.
type wire struct{ requests, open int }

func (w *wire) RoundTrip(*http.Request) (*http.Response, error) {
	w.requests++
	w.open++

	return &http.Response{StatusCode: http.StatusOK, Body: w}, nil
}

func (w *wire) Read([]byte) (int, error) { return 0, io.EOF }
func (w *wire) Close() error             { w.open--; return nil }

// count is a job: it counts a delivery and marks it as counted.
func count(ctx context.Context, db dynamo.DB, idempotent bool) error {
	type row struct {
		N    int  `dynamodbav:"n"`
		Done bool `dynamodbav:"done"`
	}

	notDone := dynamo.Absent[row]("done")
	add := dynamo.Add[row]("n", 1)

	done := dynamo.Set(row{Done: true}, "done")
	if idempotent { // the count and the mark in one write
		err := dynamo.Update(ctx, db, addIt, dynamo.Key(addIt, "1"), add.Set(row{Done: true}, "done"), notDone)
		return dynamo.IgnoreRefused(err)
	}

	if err := dynamo.Update(ctx, db, addIt, dynamo.Key(addIt, "1"), add, notDone); err != nil {
		return err
	}

	return dynamo.Update(ctx, db, addIt, dynamo.Key(addIt, "1"), done)
}

func counting(idempotent bool) func(*testing.T, *Process) int {
	return func(t *testing.T, p *Process) int {
		cfg, prefix := CreateTables(t, []spec.Table{tallies})
		if err := count(t.Context(), dynamo.Open(p.AWS(cfg), prefix), idempotent); !p.Ended(err) || err == nil && p.at > 0 {
			t.Error("the job returned no error after the crash")
		}

		again := dynamo.Open(cfg, prefix)
		if err := count(t.Context(), again, idempotent); err != nil && !dynamo.IsRefused(err) {
			t.Error(err)
		}

		got, _, err := dynamo.Get[tally](t.Context(), again, getIt, "1")
		if err != nil {
			t.Error(err)
		}

		return got.N
	}
}

// TestCrashBesideAReader: a client may read while it writes, as pgx does when a write is slow. A
// process that crashes after a write has the answer, whoever has read it.
func TestCrashBesideAReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		dial := func(context.Context, string, string) (net.Conn, error) { return near, nil }

		c, err := CrashAt(1, true).Dialer(dial, func(string) string { return "call" })(t.Context(), "tcp", "server")
		if err != nil {
			t.Fatal(err)
		}

		go c.Read(make([]byte, 1))

		synctest.Wait() // it reads

		go func() {
			far.Read(make([]byte, 1))
			far.Write([]byte("!"))
		}()

		if _, err := c.Write([]byte("?")); !errors.Is(err, ErrCrashed) {
			t.Errorf("the write returns %v, want %v", err, ErrCrashed)
		}

		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a process that has crashed reads")
		}
	})
}

func TestCrash(t *testing.T) {
	t.Parallel()
	CheckCrashes(t, counting(true))
}

// brokenJob is the environment variable that selects the job of TestBrokenJob.
const brokenJob = "DYNAMOTEST_BROKEN_JOB"

func TestBrokenJob(t *testing.T) {
	switch os.Getenv(brokenJob) {
	case "":
		t.Skip("TestCrashReports runs it")
	case "counts twice":
		CheckCrashes(t, counting(false))
	case "does nothing":
		CheckCrashes(t, func(*testing.T, *Process) int { return 1 })
	case "ignores its error":
		CheckCrashes(t, func(t *testing.T, p *Process) int {
			cfg, prefix := CreateTables(t, []spec.Table{tallies})
			_ = count(t.Context(), dynamo.Open(p.AWS(cfg), prefix), true)

			return 1
		})
	case "hides an error":
		CheckCrashes(t, func(t *testing.T, p *Process) int {
			cfg, prefix := CreateTables(t, []spec.Table{tallies})
			_ = count(t.Context(), dynamo.Open(p.AWS(cfg), prefix), true)
			p.Ended(nil)

			return 1
		})
	case "handles an error":
		CheckCrashes(t, func(t *testing.T, p *Process) (runs int) {
			cfg, prefix := CreateTables(t, []spec.Table{tallies})

			_ = count(t.Context(), dynamo.Open(p.AWS(cfg), prefix), true)
			if p.Ended(nil, "UpdateItem *") {
				return 2
			}

			return 1
		})
	case "is not run again":
		CheckDeaths(t, func(t *testing.T, p *Process) (counts bool) {
			cfg, prefix := CreateTables(t, []spec.Table{tallies})
			p.Ended(count(t.Context(), dynamo.Open(p.AWS(cfg), prefix), true))
			_, counts, _ = dynamo.Get[tally](t.Context(), dynamo.Open(cfg, prefix), getIt, "1")

			return counts
		})
	case "works":
		CheckCrashes(t, counting(true))
	case "hides a failure":
		CheckFailures(t, new(Process), func() error { return nil })
		checkCountFailures(t, true)
	}
}

// checkCountFailures checks a job of two calls. If hide, it hides the failure of the second.
func checkCountFailures(t *testing.T, hide bool) {
	cfg, prefix := CreateTables(t, []spec.Table{tallies})

	var p Process

	db := dynamo.Open(p.AWS(cfg), prefix)
	CheckFailures(t, &p, func() error {
		if _, _, err := dynamo.Get[tally](t.Context(), db, getIt, "1"); err != nil {
			return err
		}

		err := count(t.Context(), db, true)

		if hide {
			return nil
		}

		return err
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	checkCountFailures(t, false)
}

// TestCrashReports runs TestBrokenJob in a separate process, because it must fail.
func TestCrashReports(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		job     string
		want    []string // in its output
		without []string
		crashes int // recorded
	}{
		{"counts twice", []string{"--- FAIL: TestBrokenJob/call_2", "the state after a crash differs"},
			[]string{"--- FAIL: TestBrokenJob/call_1", "--- FAIL: TestBrokenJob/after_call_2", "call_3"}, 3},
		{"does nothing", []string{"the job makes no I/O call"}, nil, 0},
		{"ignores its error", []string{"call Ended"}, []string{"call_1"}, 0},
		{"hides an error", []string{"--- FAIL: TestBrokenJob/call_1_fails", "although its call 1, UpdateItem "},
			[]string{"--- FAIL: TestBrokenJob/call_1 ", "--- FAIL: TestBrokenJob/after_call_1"}, 2},
		{"handles an error", []string{"--- FAIL: TestBrokenJob/call_1_fails", "the state after a crash differs"},
			[]string{"reports success", "--- FAIL: TestBrokenJob/call_1 ", "--- FAIL: TestBrokenJob/after_call_1"}, 2},
		{"is not run again", []string{"--- FAIL: TestBrokenJob/call_1", "the state after a crash differs"}, []string{"call_1_", "call_2"}, 1},
		{"works", []string{"PASS"}, []string{"FAIL"}, 2},
		{"hides a failure", []string{"the run makes no I/O call", "its call 2, UpdateItem "}, []string{"its call 1"}, 0},
	} {
		t.Run(c.job, func(t *testing.T) {
			t.Parallel()

			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}

			coverage := t.TempDir()
			cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestBrokenJob$", "-test.v")

			cmd.Env = append(os.Environ(), brokenJob+"="+c.job, "MATCHDAY_COVERAGE="+coverage)

			out, err := cmd.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); failed != (c.job != "works") {
				t.Errorf("the test ended with %v", err)
			}

			for _, s := range c.want {
				if !strings.Contains(string(out), s) {
					t.Errorf("the output does not contain %q", s)
				}
			}

			for _, s := range c.without {
				if strings.Contains(string(out), s) {
					t.Errorf("the output contains %q, which it must not", s)
				}
			}

			recorded, _ := os.ReadFile(filepath.Join(coverage, "crashes"))
			if n := bytes.Count(recorded, []byte("TestBrokenJob/")); n != c.crashes {
				t.Errorf("recorded %d crash points, want %d", n, c.crashes)
			}

			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MATCHDAY_COVERAGE", dir)
	cfg, prefix := CreateTables(t, []spec.Table{tallies})

	db := dynamo.Open(WithGuard(t, cfg, spec.Function{Name: "test/count", Uses: []spec.Access{getIt, putIt}}), prefix)
	if err := dynamo.Put(t.Context(), db, putIt, tally{"1", 1}); err != nil {
		t.Fatal(err)
	}

	if _, _, err := dynamo.Get[tally](t.Context(), db, getIt, "1"); err != nil {
		t.Fatal(err)
	}

	got, err := os.ReadFile(filepath.Join(dir, "patterns"))
	if want := "tallies: Put tally\ntallies: Get tally\n"; err != nil || string(got) != want {
		t.Errorf("recorded %q, %v, want %q", got, err, want)
	}
}
