package stepfunctions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
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
	context  map[string]any // the part of the context object that all states share
}

// data holds the values that paths read.
type data struct {
	in      any
	context map[string]any
}

// item is the element of a Map that a state processes; nil outside Maps.
type item struct {
	index int
	value any
}

var (
	errTimeout = errors.New("the execution's time is over")
	errAllDone = errors.New("all branches are over")
)

func (x *execution) run(ctx context.Context, in any) ([]byte, error) {
	out, err := x.branch(ctx, &x.machine.branch, in, nil)
	if errors.Is(err, errTimeout) {
		return nil, x.timeoutFailure()
	}
	if err != nil {
		return nil, err
	}
	return encode(out)
}

// timeoutFailure is the failure of an execution that exceeds its time. No state can
// catch it.
func (x *execution) timeoutFailure() *Failure {
	return &Failure{"States.Timeout", fmt.Sprintf("the execution did not end within %v", x.machine.timeout)}
}

// branch runs states from b's start to an end. Its error is a *Failure, errTimeout when
// the execution's time is over, or ctx's error.
func (x *execution) branch(ctx context.Context, b *branch, in any, it *item) (any, error) {
	for s := b.states[b.start]; ; {
		out, next, err := x.state(ctx, s, in, it)
		if err != nil || next == "" {
			return out, err
		}
		s, in = b.states[next], out
	}
}

// state runs s and returns the next state.
func (x *execution) state(ctx context.Context, s *state, in any, it *item) (out any, next string, err error) {
	x.observe(s, it, Entered, nil)
	out, next, caught, err := x.runWithRetries(ctx, s, in, it)
	switch failure, failed := errors.AsType[*Failure](err); {
	case failed:
		x.observe(s, it, Failed, failure)
	case errors.Is(err, errTimeout):
		x.observe(s, it, Failed, x.timeoutFailure())
	case err != nil:
		x.observe(s, it, Aborted, nil)
	case caught != nil:
		x.observe(s, it, Caught, caught)
	default:
		x.observe(s, it, Exited, nil)
	}
	return out, next, err
}

// runWithRetries runs s, retries it as its retriers demand, and then applies its
// catchers, which may turn the failure into an output.
func (x *execution) runWithRetries(ctx context.Context, s *state, in any, it *item) (out any, next string, caught *Failure, err error) {
	tries := make([]int, len(s.retry))
	for retries := 0; ; retries++ {
		if err := x.checkAlive(ctx); err != nil {
			return nil, "", nil, err
		}
		out, next, err = x.runOnce(ctx, s, data{in, x.contextOf(s, it, retries)}, it)
		failure, failed := errors.AsType[*Failure](err)
		if !failed {
			return out, next, nil, err
		}
		i := slices.IndexFunc(s.retry, func(r retrier) bool { return matches(r.names, failure) })
		if i < 0 || tries[i] == s.retry[i].attempts {
			i = slices.IndexFunc(s.catch, func(c catcher) bool { return matches(c.names, failure) })
			if i < 0 {
				return nil, "", nil, failure
			}
			out, err = s.catch[i].resultPath.apply(in, map[string]any{"Error": failure.Code, "Cause": failure.Cause})
			return out, s.catch[i].next, failure, err
		}
		x.observe(s, it, Retried, failure)
		wait := s.retry[i].delay(tries[i])
		tries[i]++
		if err := x.sleep(ctx, x.clock.Now().Add(wait)); err != nil {
			return nil, "", nil, err
		}
	}
}

// matches reports whether a retrier or catcher with these names applies to f. Wildcards
// do not match failures that a retry would only repeat.
func matches(names []string, f *Failure) bool {
	if slices.Contains(names, f.Code) {
		return true
	}
	if f.Code == "States.Runtime" || f.Code == "States.DataLimitExceeded" {
		return false
	}
	return names[0] == "States.ALL" || f.Code != "States.Timeout" && slices.Contains(names, "States.TaskFailed")
}

func (r retrier) delay(tries int) time.Duration {
	s := float64(r.interval) * math.Pow(r.backoff, float64(tries))
	if r.most > 0 {
		s = min(s, float64(r.most))
	}
	return time.Duration(min(s, expressLimit.Seconds()+1) * float64(time.Second)) // a longer sleep would end after the execution
}

func (x *execution) contextOf(s *state, it *item, retries int) map[string]any {
	c := maps.Clone(x.context)
	c["State"] = map[string]any{
		"Name": s.name, "EnteredTime": stamp(x.clock.Now()), "RetryCount": json.Number(fmt.Sprint(retries)),
	}
	if it != nil {
		c["Map"] = map[string]any{"Item": map[string]any{"Index": json.Number(fmt.Sprint(it.index)), "Value": it.value}}
	}
	return c
}

func (x *execution) observe(s *state, it *item, kind Kind, f *Failure) {
	if x.machine.Observe == nil {
		return
	}
	index := -1
	if it != nil {
		index = it.index
	}
	x.machine.Observe(Transition{x.name, x.clock.Now(), s.name, index, kind, f})
}

// runOnce runs s once: InputPath, Parameters, the work, ResultSelector, ResultPath,
// OutputPath.
func (x *execution) runOnce(ctx context.Context, s *state, d data, it *item) (out any, next string, err error) {
	raw := d.in
	if d.in, err = s.inputPath.apply("InputPath", d); err != nil {
		return nil, "", err
	}
	next = s.next
	var result any
	switch s.kind {
	case "Succeed":
		result = d.in
	case "Fail":
		return nil, "", s.failure(d)
	case "Choice":
		result = d.in
		next, err = s.choose(d)
	case "Wait":
		result = d.in
		err = x.wait(ctx, s, d)
	case "Pass":
		result, err = s.parameters.apply("Parameters", d)
		if s.result.set {
			result = s.result.value
		}
	case "Task":
		result, err = x.runTask(ctx, s, d)
	case "Map":
		result, err = x.runMap(ctx, s, d, it)
	case "Parallel":
		result, err = x.runParallel(ctx, s, d, it)
	}
	if err == nil {
		result, err = s.selectResult.apply("ResultSelector", data{result, d.context})
	}
	if err == nil && (s.kind == "Pass" || s.kind == "Task" || s.kind == "Map" || s.kind == "Parallel") {
		result, err = s.resultPath.apply(raw, result)
	}
	if err == nil {
		out, err = s.outputPath.apply("OutputPath", data{result, d.context})
	}
	return out, next, err
}

func (s *state) failure(d data) error {
	f := &Failure{s.failError, s.failCause}
	for _, dynamic := range []struct {
		field string
		path  *path
		to    *string
	}{{"ErrorPath", s.errorPath, &f.Code}, {"CausePath", s.causePath, &f.Cause}} {
		if dynamic.path == nil {
			continue
		}
		v, err := dynamic.path.getRequired(dynamic.field, d)
		if err != nil {
			return err
		}
		text, ok := v.(string)
		if !ok {
			return runtimeFailure("%s: %s is not a string", dynamic.field, dynamic.path.text)
		}
		*dynamic.to = text
	}
	return f
}

func (s *state) choose(d data) (next string, err error) {
	for _, c := range s.choices {
		ok, err := c.test(d)
		if err != nil {
			return "", err
		}
		if ok {
			return c.next, nil
		}
	}
	if s.fallback == "" {
		return "", &Failure{"States.NoChoiceMatched", "no rule holds, and there is no Default"}
	}
	return s.fallback, nil
}

// wait sleeps whole seconds only, as AWS does: it truncates a time to its second.
func (x *execution) wait(ctx context.Context, s *state, d data) error {
	until := s.timestamp.Time
	switch {
	case s.seconds != nil:
		until = x.clock.Now().Add(s.seconds.duration())
	case s.secondsPath != nil:
		v, err := s.secondsPath.getRequired("SecondsPath", d)
		if err != nil {
			return err
		}
		n, _ := v.(json.Number)
		var wait seconds
		if err := wait.UnmarshalJSON([]byte(n)); err != nil {
			return runtimeFailure("SecondsPath: %s is not a whole number of seconds from 0 to 99999999", s.secondsPath.text)
		}
		until = x.clock.Now().Add(wait.duration())
	case s.timestampPath != nil:
		v, err := s.timestampPath.getRequired("TimestampPath", d)
		if err != nil {
			return err
		}
		t, ok := timestamp(v)
		if !ok {
			return runtimeFailure("TimestampPath: %s is not an RFC 3339 time", s.timestampPath.text)
		}
		until = t.Truncate(time.Second)
	default:
		until = until.Truncate(time.Second)
	}
	return x.sleep(ctx, until)
}

func (x *execution) runTask(ctx context.Context, s *state, d data) (any, error) {
	payload, err := s.parameters.apply("Parameters", d)
	if err != nil {
		return nil, err
	}
	resource := s.resource
	if s.resource == lambdaInvoke {
		request := payload.(map[string]any)
		name, ok := request["FunctionName"].(string)
		if !ok {
			return nil, runtimeFailure("Parameters: FunctionName is not a string")
		}
		resource = name
		if payload, ok = request["Payload"]; !ok {
			payload = map[string]any{}
		}
	}
	body, err := encode(payload)
	if err != nil {
		return nil, err
	}
	until := x.deadline
	if s.timeout > 0 {
		if t := x.clock.Now().Add(s.timeout.duration()); t.Before(until) {
			until = t
		}
	}
	answers := make(chan []byte, 1) // not a variable: the function may answer after await has returned
	err = x.await(ctx, until, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		answer, err := x.invoke(ctx, resource, body)
		if err != nil {
			return taskFailure(err)
		}
		answers <- answer
		return nil
	})
	switch {
	case errors.Is(err, errTimeout) && x.clock.Now().Before(x.deadline):
		return nil, &Failure{"States.Timeout", fmt.Sprintf("%s did not answer within %v", resource, s.timeout.duration())}
	case err != nil:
		return nil, err
	}
	var result any
	if answer := <-answers; len(answer) > payloadLimit {
		return nil, tooLarge(len(answer))
	} else if len(answer) > 0 {
		if err := unmarshal(answer, &result); err != nil {
			return nil, runtimeFailure("the answer of %s is not JSON: %v", resource, err)
		}
	}
	if s.resource == lambdaInvoke {
		result = map[string]any{"ExecutedVersion": "$LATEST", "StatusCode": json.Number("200"), "Payload": result}
	}
	return result, nil
}

// taskFailure converts an error to the Failure that Lambda's answer causes.
func taskFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
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

func (x *execution) runMap(ctx context.Context, s *state, d data, outer *item) (any, error) {
	v := d.in
	if s.itemsPath != nil {
		var err error
		if v, err = s.itemsPath.getRequired("ItemsPath", d); err != nil {
			return nil, err
		}
	}
	items, ok := v.([]any)
	if !ok {
		return nil, runtimeFailure("the Map's items are not an array")
	}
	limit := mapConcurrency
	if s.concurrency > 0 {
		limit = min(limit, s.concurrency)
	}
	out := make([]any, len(items))
	err := x.fanOut(ctx, len(items), limit, func(ctx context.Context, i int) error {
		it := &item{i, items[i]}
		in := items[i]
		if s.itemSelector.fill != nil {
			var err error
			if in, err = s.itemSelector.fill("ItemSelector", data{d.in, x.contextOf(s, it, 0)}); err != nil {
				return err
			}
		}
		var err error
		out[i], err = x.branch(ctx, s.processor.branch, in, it)
		return err
	})
	return out, err
}

func (x *execution) runParallel(ctx context.Context, s *state, d data, it *item) (any, error) {
	in, err := s.parameters.apply("Parameters", d)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(s.branches))
	err = x.fanOut(ctx, len(s.branches), len(s.branches), func(ctx context.Context, i int) (err error) {
		out[i], err = x.branch(ctx, s.branches[i], in, it)
		return err
	})
	return out, err
}

// fanOut calls do with 0 to n-1, limit of them at once, and returns when all have
// returned. The first error ends the contexts of the others.
func (x *execution) fanOut(ctx context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	if n == 0 {
		return nil
	}
	var taken atomic.Int64
	var working sync.WaitGroup
	worker := func(ctx context.Context) error {
		defer working.Done()
		for {
			i := int(taken.Add(1)) - 1
			if i >= n {
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := do(ctx, i); err != nil {
				return err
			}
		}
	}
	workers := slices.Repeat([]func(context.Context) error{worker}, min(n, limit))
	working.Add(len(workers))
	defer working.Wait() // they return at once: each of their waits ends with ctx
	return x.await(ctx, x.deadline, workers...)
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
		return outer.Err() // not context.Cause: that is the failure of another branch
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

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, runtimeFailure("%v", err)
	}
	if b.Len()-1 > payloadLimit {
		return nil, tooLarge(b.Len() - 1)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func tooLarge(n int) *Failure {
	return &Failure{"States.DataLimitExceeded", fmt.Sprintf("a state's data is %d bytes, over the limit of %d", n, payloadLimit)}
}
