package stepfunctions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"matchday/infra/sim/clock"
)

// execution is one run of a machine.
type execution struct {
	machine  *Machine
	clock    *clock.Clock
	invoke   Invoke
	name     string
	deadline time.Time
}

// noItem is the index of the item outside Maps.
const noItem = -1

var (
	errTimeout = errors.New("the execution's time is over")
	errAllDone = errors.New("all branches are over")
)

// timeoutFailure is the failure of an execution that exceeds its time. No state can
// catch it.
func (x *execution) timeoutFailure() *Failure {
	return &Failure{"States.Timeout", fmt.Sprintf("the execution did not end within %v", x.machine.timeout)}
}

// branch runs states from b's start to an end. Its error is a *Failure, errTimeout when
// the execution's time is over, or ctx's error.
func (x *execution) branch(ctx context.Context, b *branch, in any, item int) (any, error) {
	for s := b.states[b.start]; ; {
		out, next, err := x.state(ctx, s, in, item)
		if err != nil || next == "" {
			return out, err
		}

		s, in = b.states[next], out
	}
}

// state runs s, retries it, and applies its catcher. It returns the next state.
func (x *execution) state(ctx context.Context, s *state, in any, item int) (out any, next string, err error) {
	x.observe(s, item, Entered, nil)
	out, next, err = x.runWithRetries(ctx, s, in, item)

	switch failure, failed := errors.AsType[*Failure](err); {
	case failed && len(s.catch) > 0 && failure.mayPass():
		x.observe(s, item, Caught, failure)
		return in, s.catch[0].next, nil
	case failed:
		x.observe(s, item, Failed, failure)
	case errors.Is(err, errTimeout):
		x.observe(s, item, Failed, x.timeoutFailure())
	case err != nil:
		x.observe(s, item, Aborted, nil)
	default:
		x.observe(s, item, Exited, nil)
	}

	return out, next, err
}

func (x *execution) runWithRetries(ctx context.Context, s *state, in any, item int) (out any, next string, err error) {
	for tries := 0; ; tries++ {
		if err := x.checkAlive(ctx); err != nil {
			return nil, "", err
		}

		out, next, err = x.runOnce(ctx, s, in, item)

		failure, failed := errors.AsType[*Failure](err)
		if !failed || !failure.mayPass() || len(s.retry) == 0 || tries == int(s.retry[0].attempts) {
			return out, next, err
		}

		x.observe(s, item, Retried, failure)

		if err := x.sleep(ctx, x.clock.Now().Add(s.retry[0].delay(tries))); err != nil {
			return nil, "", err
		}
	}
}

// mayPass reports whether States.ALL matches f. It does not match failures that a retry
// would only repeat.
func (f *Failure) mayPass() bool {
	return f.Code != "States.Runtime" && f.Code != "States.DataLimitExceeded"
}

// delay returns the pause after a number of tries. A pause that is longer than the
// execution is cut.
func (r retrier) delay(tries int) time.Duration {
	s := float64(r.interval) * math.Pow(r.backoff, float64(tries))
	return time.Duration(min(s, expressLimit.Seconds()+1) * float64(time.Second))
}

func (x *execution) observe(s *state, item int, kind Kind, f *Failure) {
	if x.machine.Observe != nil {
		x.machine.Observe(Transition{x.name, x.clock.Now(), s.name, item, kind, f})
	}
}

// runOnce runs s once. Its output is the input, or the result of a Task or a Map.
func (x *execution) runOnce(ctx context.Context, s *state, in any, item int) (out any, next string, err error) {
	out, next = in, s.next

	var result any

	switch s.kind {
	case "Choice":
		next, err = s.choose(in)
	case "Wait":
		err = x.wait(ctx, s, in)
	case "Task":
		result, err = x.runTask(ctx, s, in)
	case "Map":
		result, err = x.runMap(ctx, s, in)
	}

	if (s.kind == "Task" || s.kind == "Map") && !s.dropResult {
		out = result
	}

	return out, next, err
}

func (s *state) choose(in any) (next string, err error) {
	for _, r := range s.choices {
		v, err := r.variable.get("Variable", in)
		if err != nil {
			return "", err
		}

		if is, ok := v.(bool); ok && is == r.equals {
			return r.next, nil
		}
	}

	return s.fallback, nil
}

// wait sleeps until a whole second, as AWS does: it truncates a time to its second.
func (x *execution) wait(ctx context.Context, s *state, in any) error {
	v, err := s.timestampPath.get("TimestampPath", in)
	if err != nil {
		return err
	}

	text, _ := v.(string)

	until, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return runtimeFailure("TimestampPath: %s is not an RFC 3339 time", s.timestampPath.text)
	}

	return x.sleep(ctx, until.Truncate(time.Second))
}

func (x *execution) runTask(ctx context.Context, s *state, in any) (any, error) {
	until := x.deadline
	if s.timeout > 0 {
		if t := x.clock.Now().Add(s.timeout.duration()); t.Before(until) {
			until = t
		}
	}

	answers := make(chan []byte, 1) // not a variable: the function may answer after await has returned

	err := x.await(ctx, until, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}

		answer, err := x.invoke(ctx, s.resource, encode(in))
		if err != nil {
			return taskFailure(err)
		}

		answers <- answer

		return nil
	})
	switch {
	case errors.Is(err, errTimeout) && x.clock.Now().Before(x.deadline):
		return nil, &Failure{"States.Timeout", fmt.Sprintf("%s did not answer within %v", s.resource, s.timeout.duration())}
	case err != nil:
		return nil, err
	}

	var result any

	if answer := <-answers; len(answer) > payloadLimit {
		return nil, &Failure{"States.DataLimitExceeded",
			fmt.Sprintf("the answer of %s is %d bytes, over the limit of %d", s.resource, len(answer), payloadLimit)}
	} else if len(answer) > 0 {
		if err := unmarshal(answer, &result); err != nil {
			return nil, runtimeFailure("the answer of %s is not JSON: %v", s.resource, err)
		}
	}

	return result, nil
}

// taskFailure converts an error to the Failure that Lambda's answer causes.
func taskFailure(err error) *Failure {
	code, message := "States.TaskFailed", err.Error()
	if typed, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err); ok {
		code, message = cmp.Or(typed.ErrorType(), code), typed.Error()
	}

	cause, _ := json.Marshal(map[string]string{"errorType": code, "errorMessage": message})

	return &Failure{code, string(cause)}
}

func (x *execution) runMap(ctx context.Context, s *state, in any) (any, error) {
	v, err := s.itemsPath.get("ItemsPath", in)
	if err != nil {
		return nil, err
	}

	items, ok := v.([]any)
	if !ok {
		return nil, runtimeFailure("ItemsPath: %s is not an array", s.itemsPath.text)
	}

	if most := min(cmp.Or(s.concurrency, mapConcurrency), mapConcurrency); len(items) > int(most) {
		return nil, runtimeFailure("MaxConcurrency: %d items are unsupported; supported: %d, which run at once", len(items), most)
	}

	// The branches that still run when await returns end at once: each of their waits ends
	// with the context.
	var running sync.WaitGroup
	defer running.Wait()

	out := make([]any, len(items))
	branches := make([]func(context.Context) error, len(items))
	running.Add(len(items))

	for i := range items {
		branches[i] = func(ctx context.Context) (err error) {
			defer running.Done()

			if ctx.Err() != nil {
				return ctx.Err()
			}

			out[i], err = x.branch(ctx, &s.processor.branch, items[i], i)

			return err
		}
	}

	return out, x.await(ctx, x.deadline, branches...)
}

// await starts fs, each with its own clock work, and releases the caller's work while
// it waits. It returns
//
//   - nil when all have returned,
//   - the error of the first that fails,
//   - errTimeout at the time until,
//   - the error of ctx when that ends.
//
// It does not wait for those that still run; their context has ended. AWS does not stop
// a function either.
func (x *execution) await(ctx context.Context, until time.Time, fs ...func(context.Context) error) error {
	outer := ctx

	ctx, end := context.WithCancelCause(outer)
	defer end(nil)

	if len(fs) == 0 {
		return nil
	}

	var left atomic.Int64
	left.Store(int64(len(fs)))

	resumed := make(chan struct{})

	stops := make([]func() bool, len(fs))
	for i, f := range fs {
		stops[i] = x.clock.At(x.clock.Now(), func() {
			err := f(ctx)
			if err != nil || left.Add(-1) == 0 {
				end(cmp.Or(err, errAllDone))
				<-resumed // the caller holds its work again before this one's is released
			}
		})
	}

	if x.clock.Sleep(ctx, until) == nil {
		end(errTimeout)
	}

	close(resumed)

	for i, stop := range stops {
		if stop() {
			_ = fs[i](ctx) // it has not started: start it, so that it returns with the error of ctx
		}
	}

	switch cause := context.Cause(ctx); {
	case cause == errAllDone:
		return nil
	case outer.Err() != nil:
		return outer.Err() // not context.Cause: that is the failure of another item
	default:
		return cause
	}
}

// sleep waits until t. The caller's work does not count meanwhile.
func (x *execution) sleep(ctx context.Context, t time.Time) error {
	if t.After(x.deadline) {
		t = x.deadline
	}

	if t.After(x.clock.Now()) {
		_ = x.clock.Sleep(ctx, t) // checkAlive returns the reason
	}

	return x.checkAlive(ctx)
}

func (x *execution) checkAlive(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}

	if !x.clock.Now().Before(x.deadline) {
		return errTimeout
	}

	return nil
}

// encode returns the JSON form of data, which was decoded from JSON.
func encode(v any) []byte {
	var b bytes.Buffer

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)

	if err := e.Encode(v); err != nil {
		panic(err)
	}

	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
