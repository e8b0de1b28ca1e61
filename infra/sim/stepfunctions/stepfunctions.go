// Package stepfunctions runs Step Functions Express state machines under a simulated
// clock, from the definitions that are deployed.
//
// It supports the part of the Amazon States Language that the fleet's machines use
// (https://states-language.net/spec.html): Task, Choice, Wait, inline Map, Pass and
// Succeed, each with the fields that Parse lists. Parse rejects everything else by name.
package stepfunctions

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"matchday/infra/sim/clock"
)

// Limits of AWS.
const (
	expressLimit   = 5 * time.Minute
	mapConcurrency = 40      // of an inline Map
	payloadLimit   = 1 << 18 // bytes of a function's answer
)

// Machine is a parsed definition. Set Observe before the first Run.
type Machine struct {
	Observe func(Transition) // if set, is called for every transition, concurrently by the items of a Map

	branch  branch
	timeout time.Duration
	runs    atomic.Uint64
}

// Transition is one step of an execution.
type Transition struct {
	Execution string // its name
	Time      time.Time
	State     string
	Item      int // in the innermost Map, or -1
	Kind      Kind
	Failure   *Failure // of Retried, Caught and Failed
}

// Kind is what happened to a state.
type Kind string

// The kinds of transitions. After Entered, and any number of Retried, comes exactly one
// of the others.
const (
	Entered Kind = "entered"
	Exited  Kind = "exited"
	Retried Kind = "retried" // it failed and will be retried
	Caught  Kind = "caught"  // it failed and a catcher named the next state
	Failed  Kind = "failed"  // it failed without a catcher, or the execution's time is over: its branch fails
	Aborted Kind = "aborted" // another item failed, or the run's context ended
)

// Failure is the failure of a state or an execution.
type Failure struct {
	Code  string // "Error": States.Timeout, or a function's own error type
	Cause string
}

func (f *Failure) Error() string { return f.Code + ": " + f.Cause }

func runtimeFailure(format string, args ...any) *Failure {
	return &Failure{"States.Runtime", fmt.Sprintf(format, args...)}
}

// Invoke runs the function that a Task names. Its errors may have a method ErrorType()
// string, which gives the Failure its Code. It is called with clock work held. When ctx
// ends, a timeout or another failure has ended the Task, and the answer is dropped.
type Invoke = func(ctx context.Context, resource string, payload []byte) ([]byte, error)

// Run executes m once and returns its output. The error is a *Failure, or ctx's error
// when ctx ends. The caller holds clock work, which counts only while a state runs, so
// that the clock moves during waits and back-offs.
//
// The items of a Map each hold work of their own. A free clock starts them in order, each
// when the one before waits or has ended, so that every run is the same.
func (m *Machine) Run(ctx context.Context, c *clock.Clock, input []byte, invoke Invoke) ([]byte, error) {
	var in any
	if err := unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("execution input: %w", err)
	}

	began := c.Now()
	x := &execution{
		machine:  m,
		clock:    c,
		invoke:   invoke,
		name:     fmt.Sprintf("%s-%d", began.UTC().Format("20060102T150405"), m.runs.Add(1)),
		deadline: began.Add(m.timeout),
	}

	out, err := x.branch(ctx, &m.branch, in, noItem)
	switch {
	case errors.Is(err, errTimeout):
		return nil, x.timeoutFailure()
	case err != nil:
		return nil, err
	}

	return encode(out), nil
}
