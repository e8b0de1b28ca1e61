package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"matchday/infra/sim/clock"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// typed is an error with the method ErrorType, as a function's runtime reports it.
type typed struct{ kind, text string }

func (e typed) Error() string     { return e.text }
func (e typed) ErrorType() string { return e.kind }

// run executes a definition on a free clock that starts at start. invoke may
// sleep on the clock.
func run(t *testing.T, definition, input string, invoke func(c *clock.Clock) Invoke) (output string, took time.Duration, err error) {
	t.Helper()
	m, err := Parse([]byte(definition), map[string]string{"F": "f"})
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New(start, clock.Free)
	done := c.Work()
	defer done()
	var f Invoke
	if invoke != nil {
		f = invoke(c)
	}
	out, err := m.Run(t.Context(), c, []byte(input), f)
	return string(out), c.Now().Sub(start), err
}

func echo(*clock.Clock) Invoke {
	return func(_ context.Context, _ string, payload []byte) ([]byte, error) { return payload, nil }
}

// one returns a machine of this state and, if the state does not end it, of a final
// state Z.
func one(state string) string {
	return `{"StartAt": "S", "States": {"S": ` + state + `, "Z": {"Type": "Pass", "End": true}}}`
}

func TestData(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ state, in, want string }{
		"pass":                      {`{"Type": "Pass", "End": true}`, `{"a": 1}`, `{"a":1}`},
		"numbers keep their digits": {`{"Type": "Pass", "End": true}`, `[9007199254740993, 1.50]`, `[9007199254740993,1.50]`},
		"result":                    {`{"Type": "Pass", "Result": {"b": [2]}, "End": true}`, `{"a": 1}`, `{"b":[2]}`},
		"null result":               {`{"Type": "Pass", "Result": null, "End": true}`, `{"a": 1}`, `null`},
		"result path":               {`{"Type": "Pass", "Result": 2, "ResultPath": "$.x.y", "End": true}`, `{"a": 1}`, `{"a":1,"x":{"y":2}}`},
		"result path null":          {`{"Type": "Pass", "Result": 2, "ResultPath": null, "End": true}`, `{"a": 1}`, `{"a":1}`},
		"result path into raw":      {`{"Type": "Pass", "InputPath": "$.a", "ResultPath": "$.b", "End": true}`, `{"a": 1}`, `{"a":1,"b":1}`},
		"input path":                {`{"Type": "Pass", "InputPath": "$.a[1]['b c']", "End": true}`, `{"a": [0, {"b c": 3}]}`, `3`},
		"input path null":           {`{"Type": "Pass", "InputPath": null, "End": true}`, `{"a": 1}`, `{}`},
		"output path":               {`{"Type": "Succeed", "OutputPath": "$.a"}`, `{"a": 1}`, `1`},
		"output path null":          {`{"Type": "Succeed", "OutputPath": null}`, `{"a": 1}`, `{}`},
		"parameters": {`{"Type": "Pass", "End": true, "Parameters": {"at.$": "$$.Execution.StartTime", "l": ["x", {"v.$": "$.a"}], "all.$": "$"}}`, `{"a": 1}`,
			`{"all":{"a":1},"at":"2026-06-01T12:00:00.000Z","l":["x",{"v":1}]}`},
		"context": {`{"Type": "Pass", "End": true, "Parameters": {"s.$": "$$.State.Name", "i.$": "$$.Execution.Input.a"}}`, `{"a": 1}`, `{"i":1,"s":"S"}`},
		"task":    {`{"Type": "Task", "Resource": "${F}", "End": true}`, `{"a": "<&>"}`, `{"a":"<&>"}`},
		"task with all": {`{"Type": "Task", "Resource": "f", "End": true, "InputPath": "$.a", "Parameters": {"p.$": "$.b"},
			"ResultSelector": {"r.$": "$.p"}, "ResultPath": "$.out", "OutputPath": "$.out.r"}`, `{"a": {"b": 5}}`, `5`},
		"lambda:invoke": {`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true,
			"Parameters": {"FunctionName": "${F}", "Payload.$": "$.a"}, "OutputPath": "$.Payload"}`, `{"a": [1]}`, `[1]`},
		"lambda:invoke alone": {`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true,
			"Parameters": {"FunctionName.$": "$.f"}}`, `{"f": "f"}`, `{"ExecutedVersion":"$LATEST","Payload":{},"StatusCode":200}`},
		"map": {`{"Type": "Map", "End": true, "ItemsPath": "$.l", "ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "k.$": "$.k"},
			"ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "f", "End": true}}}}`,
			`{"l": ["a", "b"], "k": 7}`, `[{"i":0,"k":7,"v":"a"},{"i":1,"k":7,"v":"b"}]`},
		"map of nothing": {`{"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Succeed"}}}}`, `[]`, `[]`},
		"more items than run at once": {`{"Type": "Map", "End": true, "MaxConcurrency": 2, "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "T",
			"States": {"T": {"Type": "Pass", "End": true}}}}`, `[1,2,3,4,5]`, `[1,2,3,4,5]`},
		"parallel": {`{"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}},
			{"StartAt": "B", "States": {"B": {"Type": "Pass", "Result": "b", "End": true}}}]}`, `1`, `[1,"b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := run(t, one(tc.state), tc.in, echo)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state, in, code, cause string
		invoke                 func(*clock.Clock) Invoke
	}{
		"fail":              {state: `{"Type": "Fail", "Error": "Match.Over", "Cause": "stumps"}`, code: "Match.Over", cause: "stumps"},
		"fail by paths":     {state: `{"Type": "Fail", "ErrorPath": "$.e", "CausePath": "$.c"}`, in: `{"e": "E", "c": "why"}`, code: "E", cause: "why"},
		"no choice":         {state: `{"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 2, "Next": "Z"}]}`, in: `{"a": 1}`, code: "States.NoChoiceMatched"},
		"nothing to choose": {state: `{"Type": "Choice", "Choices": [{"Variable": "$.b", "NumericEquals": 2, "Next": "Z"}]}`, in: `{"a": 1}`, code: "States.Runtime", cause: "$.b"},
		"nothing at a path": {state: `{"Type": "Pass", "Parameters": {"x.$": "$.b"}, "End": true}`, code: "States.Runtime", cause: "$.b"},
		"no room":           {state: `{"Type": "Pass", "Result": 1, "ResultPath": "$.a", "End": true}`, in: `[]`, code: "States.ResultPathMatchFailure"},
		"not items":         {state: `{"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Succeed"}}}}`, in: `{}`, code: "States.Runtime"},
		"not a time":        {state: `{"Type": "Wait", "TimestampPath": "$.a", "End": true}`, in: `{"a": "noon"}`, code: "States.Runtime", cause: "$.a"},
		"not seconds":       {state: `{"Type": "Wait", "SecondsPath": "$.a", "End": true}`, in: `{"a": 1.5}`, code: "States.Runtime", cause: "$.a"},
		"typed error": {state: `{"Type": "Task", "Resource": "f", "End": true}`, code: "Throttled", cause: `{"errorMessage":"slow down","errorType":"Throttled"}`,
			invoke: func(*clock.Clock) Invoke {
				return func(context.Context, string, []byte) ([]byte, error) {
					return nil, fmt.Errorf("f: %w", typed{"Throttled", "slow down"})
				}
			}},
		"plain error": {state: `{"Type": "Task", "Resource": "f", "End": true}`, code: "States.TaskFailed", cause: "boom",
			invoke: func(*clock.Clock) Invoke {
				return func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("boom") }
			}},
		"too much": {state: `{"Type": "Task", "Resource": "f", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "End": true}`, code: "States.DataLimitExceeded",
			invoke: func(*clock.Clock) Invoke {
				return func(context.Context, string, []byte) ([]byte, error) { return make([]byte, 1<<18+1), nil }
			}},
		"branch": {state: `{"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 60, "Next": "B"}, "B": {"Type": "Fail", "Error": "Late"}}},
			{"StartAt": "C", "States": {"C": {"Type": "Wait", "Seconds": 5, "Next": "D"}, "D": {"Type": "Fail", "Error": "Soon"}}}]}`, code: "Soon"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tc.in
			if in == "" {
				in = "{}"
			}
			_, _, err := run(t, one(tc.state), in, tc.invoke)
			f, ok := errors.AsType[*Failure](err)
			if !ok {
				t.Fatalf("got %v, want a failure", err)
			}
			if f.Code != tc.code || !strings.Contains(f.Cause, tc.cause) {
				t.Errorf("got %q (%s), want %q (%s)", f.Code, f.Cause, tc.code, tc.cause)
			}
		})
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	const in = `{"n": 2, "m": 3, "f": 2.5, "s": "abc", "u": "abd", "b": true, "t": "2026-06-01T12:00:00Z", "v": "2026-06-01T14:00:00+02:00", "z": null}`
	for rule, want := range map[string]bool{
		`"Variable": "$.n", "NumericEquals": 2`:                                                                           true,
		`"Variable": "$.n", "NumericEquals": 2.0`:                                                                         true,
		`"Variable": "$.s", "NumericEquals": 2`:                                                                           false,
		`"Variable": "$.n", "NumericLessThanPath": "$.m"`:                                                                 true,
		`"Variable": "$.f", "NumericGreaterThan": 2`:                                                                      true,
		`"Variable": "$.m", "NumericGreaterThanEqualsPath": "$.m"`:                                                        true,
		`"Variable": "$.m", "NumericLessThanEquals": 2`:                                                                   false,
		`"Variable": "$.s", "StringEquals": "abc"`:                                                                        true,
		`"Variable": "$.s", "StringLessThanPath": "$.u"`:                                                                  true,
		`"Variable": "$.s", "StringGreaterThanEquals": "b"`:                                                               false,
		`"Variable": "$.s", "StringMatches": "a*c"`:                                                                       true,
		`"Variable": "$.s", "StringMatches": "a*d"`:                                                                       false,
		`"Variable": "$.s", "StringMatches": "a\\*c"`:                                                                     false,
		`"Variable": "$.n", "StringMatches": "*"`:                                                                         false,
		`"Variable": "$.b", "BooleanEquals": true`:                                                                        true,
		`"Variable": "$.b", "BooleanEquals": false`:                                                                       false,
		`"Variable": "$.b", "BooleanEqualsPath": "$.b"`:                                                                   true,
		`"Variable": "$.t", "TimestampEqualsPath": "$.v"`:                                                                 true,
		`"Variable": "$.t", "TimestampLessThan": "2026-06-01T12:00:00.001Z"`:                                              true,
		`"Variable": "$.s", "TimestampLessThan": "2026-06-01T12:00:00.001Z"`:                                              false,
		`"Variable": "$$.Execution.StartTime", "TimestampEqualsPath": "$.t"`:                                              true,
		`"Variable": "$.z", "IsNull": true`:                                                                               true,
		`"Variable": "$.z", "IsPresent": true`:                                                                            true,
		`"Variable": "$.y", "IsPresent": false`:                                                                           true,
		`"Variable": "$.n", "IsNumeric": true`:                                                                            true,
		`"Variable": "$.n", "IsString": true`:                                                                             false,
		`"Variable": "$.b", "IsBoolean": true`:                                                                            true,
		`"Variable": "$.t", "IsTimestamp": true`:                                                                          true,
		`"Variable": "$.s", "IsTimestamp": false`:                                                                         true,
		`"Not": {"Variable": "$.b", "BooleanEquals": true}`:                                                               false,
		`"And": [{"Variable": "$.b", "BooleanEquals": true}, {"Variable": "$.n", "NumericEquals": 2}]`:                    true,
		`"And": [{"Variable": "$.b", "BooleanEquals": true}, {"Variable": "$.n", "NumericEquals": 3}]`:                    false,
		`"Or": [{"Variable": "$.y", "IsPresent": true}, {"Not": {"Variable": "$.n", "NumericEquals": 3}}]`:                true,
		`"Or": [{"Variable": "$.b", "BooleanEquals": false}, {"Variable": "$.n", "NumericEquals": 3}]`:                    false,
		`"And": [{"Variable": "$.y", "IsPresent": true}, {"Variable": "$.y", "NumericEquals": 3}], "Comment": "in order"`: false,
	} {
		def := `{"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [{` + rule + `, "Next": "Y"}], "Default": "N"},
			"Y": {"Type": "Pass", "Result": true, "End": true}, "N": {"Type": "Pass", "Result": false, "End": true}}}`
		got, _, err := run(t, def, in, nil)
		if err != nil || got != fmt.Sprint(want) {
			t.Errorf("%s: got %s (%v), want %v", rule, got, err, want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	failing := func(n int, err error) func(*clock.Clock) Invoke {
		return func(*clock.Clock) Invoke {
			return func(context.Context, string, []byte) ([]byte, error) {
				if n--; n < 0 {
					return []byte(`"done"`), nil
				}
				return nil, err
			}
		}
	}
	sleeping := func(d time.Duration) func(*clock.Clock) Invoke {
		return func(c *clock.Clock) Invoke {
			return func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
				return []byte(`"done"`), c.Sleep(ctx, c.Now().Add(d))
			}
		}
	}
	deaf := func(c *clock.Clock) Invoke { // a function that continues after its caller has timed out
		return func(context.Context, string, []byte) ([]byte, error) {
			return []byte(`"done"`), c.Sleep(context.Background(), c.Now().Add(time.Minute))
		}
	}
	for name, tc := range map[string]struct {
		state, in string
		invoke    func(*clock.Clock) Invoke
		took      time.Duration
		want      string // the output, or the failure's code
	}{
		"seconds":                  {state: `{"Type": "Wait", "Seconds": 7, "End": true}`, took: 7 * time.Second, want: `{}`},
		"seconds path":             {state: `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, in: `{"s": 3}`, took: 3 * time.Second, want: `{"s":3}`},
		"a time is cut":            {state: `{"Type": "Wait", "Timestamp": "2026-06-01T12:00:02.999Z", "End": true}`, took: 2 * time.Second, want: `{}`},
		"a time in a zone":         {state: `{"Type": "Wait", "TimestampPath": "$.t", "End": true}`, in: `{"t": "2026-06-01T14:00:05.5+02:00"}`, took: 5 * time.Second, want: `{"t":"2026-06-01T14:00:05.5+02:00"}`},
		"the past":                 {state: `{"Type": "Wait", "Timestamp": "2026-06-01T11:00:00Z", "End": true}`, want: `{}`},
		"retry":                    {state: `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.ALL"]}], "End": true}`, invoke: failing(3, errors.New("x")), took: (1 + 2 + 4) * time.Second, want: `"done"`},
		"retries exhausted":        {state: `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 2, "MaxAttempts": 2, "BackoffRate": 1.5}], "End": true}`, invoke: failing(3, errors.New("x")), took: 5 * time.Second, want: "States.TaskFailed"},
		"retry with a bound":       {state: `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 5, "MaxDelaySeconds": 3}], "End": true}`, invoke: failing(5, typed{"E", ""}), took: (1 + 2 + 3 + 3 + 3) * time.Second, want: `"done"`},
		"another retrier":          {state: `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["D"]}, {"ErrorEquals": ["E"], "IntervalSeconds": 9}], "End": true}`, invoke: failing(1, typed{"E", ""}), took: 9 * time.Second, want: `"done"`},
		"no retry":                 {state: `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}], "End": true}`, invoke: failing(1, typed{"E", ""}), want: "E"},
		"caught":                   {state: `{"Type": "Task", "Resource": "f", "Catch": [{"ErrorEquals": ["D"], "Next": "S"}, {"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Z"}], "End": true}`, invoke: failing(1, &Failure{"E", "why"}), want: `{"e":{"Cause":"why","Error":"E"}}`},
		"caught, result dropped":   {state: `{"Type": "Task", "Resource": "f", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Z"}], "End": true}`, in: `[1]`, invoke: failing(1, typed{"E", "why"}), want: `[1]`},
		"in time":                  {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "End": true}`, invoke: sleeping(9 * time.Second), took: 9 * time.Second, want: `"done"`},
		"timeout":                  {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "End": true}`, invoke: sleeping(11 * time.Second), took: 10 * time.Second, want: "States.Timeout"},
		"timeout comes first":      {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "End": true}`, invoke: sleeping(10 * time.Second), took: 10 * time.Second, want: "States.Timeout"},
		"timeout, context ignored": {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "End": true}`, invoke: deaf, took: 10 * time.Second, want: "States.Timeout"},
		"timeout, retried":         {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}], "End": true}`, invoke: deaf, took: 21 * time.Second, want: "States.Timeout"},
		"TaskFailed is no timeout": {state: `{"Type": "Task", "Resource": "f", "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "End": true}`, invoke: deaf, took: 10 * time.Second, want: "States.Timeout"},
		"express":                  {state: `{"Type": "Wait", "Seconds": 301, "End": true}`, took: 5 * time.Minute, want: "States.Timeout"},
		"express, in a task":       {state: `{"Type": "Task", "Resource": "f", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "End": true}`, invoke: sleeping(time.Hour), took: 5 * time.Minute, want: "States.Timeout"},
		"express, in a loop":       {state: `{"Type": "Wait", "Seconds": 50, "Next": "S"}`, took: 5 * time.Minute, want: "States.Timeout"},
		"express, in a map":        {state: `{"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 400, "End": true}}}}`, in: `[1,2]`, took: 5 * time.Minute, want: "States.Timeout"},
		"items wait together":      {state: `{"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$", "End": true}}}}`, in: `[5,30,10]`, took: 30 * time.Second, want: `[5,30,10]`},
		"items wait in turn":       {state: `{"Type": "Map", "MaxConcurrency": 1, "End": true, "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$", "End": true}}}}`, in: `[5,30,10]`, took: 45 * time.Second, want: `[5,30,10]`},
		"one item ends all":        {state: `{"Type": "Map", "Catch": [{"ErrorEquals": ["E"], "Next": "Z"}], "End": true, "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$", "Next": "T"}, "T": {"Type": "Task", "Resource": "f", "End": true}}}}`, in: `[5,30,10]`, invoke: failing(1, &Failure{"E", "why"}), took: 5 * time.Second, want: `{"Cause":"why","Error":"E"}`},
		"the whole map is retried": {state: `{"Type": "Map", "Retry": [{"ErrorEquals": ["E"]}], "End": true, "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$", "Next": "T"}, "T": {"Type": "Task", "Resource": "f", "End": true}}}}`, in: `[5,30]`, invoke: failing(1, &Failure{"E", "why"}), took: 36 * time.Second, want: `["done","done"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tc.in
			if in == "" {
				in = "{}"
			}
			got, took, err := run(t, one(tc.state), in, tc.invoke)
			if f, ok := errors.AsType[*Failure](err); ok {
				got = f.Code
			} else if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("got %s (%v), want %s", got, err, tc.want)
			}
			if took != tc.took {
				t.Errorf("it took %v, want %v", took, tc.took)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m, err := Parse([]byte(one(`{"Type": "Wait", "Seconds": 60, "End": true}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New(start, clock.Free)
	hold := c.Work() // the clock may not move
	defer hold()
	done := c.Work()
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	m.Observe = func(Transition) { cancel() }
	if _, err := m.Run(ctx, c, []byte(`{}`), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		definition string
		want       []string
	}{
		"not JSON":            {`{`, nil},
		"not an object":       {`[]`, nil},
		"no start":            {`{"States": {}}`, []string{"StartAt"}},
		"start nowhere":       {`{"StartAt": "A", "States": {}}`, []string{"StartAt", `"A"`}},
		"unknown at the top":  {`{"StartAt": "S", "Foo": 1, "States": {"S": {"Type": "Succeed"}}}`, []string{"Foo"}},
		"JSONata":             {`{"StartAt": "S", "QueryLanguage": "JSONata", "States": {"S": {"Type": "Succeed"}}}`, []string{"JSONata"}},
		"no substitution":     {one(`{"Type": "Task", "Resource": "${G}", "End": true}`), []string{"${G}"}},
		"unknown kind":        {one(`{"Type": "Dance"}`), []string{`"S"`, "Dance"}},
		"no kind":             {one(`{"End": true}`), []string{`"S"`, "Type"}},
		"unknown field":       {one(`{"Type": "Pass", "End": true, "HeartbeatSeconds": 3}`), []string{`"S"`, "HeartbeatSeconds", "Pass"}},
		"field's case":        {one(`{"Type": "Pass", "end": true}`), []string{`"S"`, "end"}},
		"misplaced field":     {one(`{"Type": "Wait", "Seconds": 1, "ResultPath": "$.a", "End": true}`), []string{`"S"`, "ResultPath"}},
		"wrong kind of value": {one(`{"Type": "Wait", "Seconds": "1", "End": true}`), []string{`"S"`, "Seconds", "string"}},
		"null":                {one(`{"Type": "Wait", "Seconds": null, "End": true}`), []string{`"S"`, "Seconds", "null"}},
		"negative":            {one(`{"Type": "Wait", "Seconds": -1, "End": true}`), []string{`"S"`, "Seconds"}},
		"two waits":           {one(`{"Type": "Wait", "Seconds": 1, "SecondsPath": "$.a", "End": true}`), []string{`"S"`, "SecondsPath"}},
		"no end":              {one(`{"Type": "Pass"}`), []string{`"S"`, "Next"}},
		"next and end":        {one(`{"Type": "Pass", "Next": "Z", "End": true}`), []string{`"S"`, "End"}},
		"next nowhere":        {one(`{"Type": "Pass", "Next": "Y"}`), []string{`"S"`, "Next", `"Y"`}},
		"catch nowhere":       {one(`{"Type": "Task", "Resource": "f", "End": true, "Catch": [{"ErrorEquals": ["E"], "Next": "Y"}]}`), []string{`"S"`, "Catch", `"Y"`}},
		"choice nowhere":      {one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Y"}]}`), []string{`"S"`, "Choices", `"Y"`}},
		"no rule":             {one(`{"Type": "Choice", "Choices": []}`), []string{`"S"`, "Choices"}},
		"no variable":         {one(`{"Type": "Choice", "Choices": [{"IsNull": true, "Next": "Z"}]}`), []string{`"S"`, "Choices", "Variable"}},
		"two comparisons":     {one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "IsString": true, "Next": "Z"}]}`), []string{`"S"`, "Choices", "IsString"}},
		"unknown comparison":  {one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "BooleanLessThan": true, "Next": "Z"}]}`), []string{`"S"`, "BooleanLessThan"}},
		"comparison's kind":   {one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": "1", "Next": "Z"}]}`), []string{`"S"`, "NumericEquals"}},
		"next inside a rule":  {one(`{"Type": "Choice", "Choices": [{"Not": {"Variable": "$.a", "IsNull": true, "Next": "Z"}, "Next": "Z"}]}`), []string{`"S"`, "Not", "Next"}},
		"path":                {one(`{"Type": "Pass", "InputPath": "$.a[*]", "End": true}`), []string{`"S"`, "InputPath", "$.a[*]"}},
		"result path":         {one(`{"Type": "Pass", "ResultPath": "$.a[0]", "End": true}`), []string{`"S"`, "ResultPath"}},
		"intrinsic":           {one(`{"Type": "Pass", "Parameters": {"a.$": "States.UUID()"}, "End": true}`), []string{`"S"`, "Parameters", "States.UUID"}},
		"twice":               {one(`{"Type": "Pass", "Parameters": {"a.$": "$", "a": 1}, "End": true}`), []string{`"S"`, "Parameters", "a.$"}},
		"ALL beside others":   {one(`{"Type": "Task", "Resource": "f", "End": true, "Retry": [{"ErrorEquals": ["E", "States.ALL"]}]}`), []string{`"S"`, "Retry", "ErrorEquals"}},
		"ALL before others":   {one(`{"Type": "Task", "Resource": "f", "End": true, "Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["E"]}]}`), []string{`"S"`, "Retry", "last"}},
		"jitter":              {one(`{"Type": "Task", "Resource": "f", "End": true, "Retry": [{"ErrorEquals": ["E"], "JitterStrategy": "FULL"}]}`), []string{`"S"`, "JitterStrategy"}},
		"integration":         {one(`{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": true}`), []string{`"S"`, "Resource", "sqs"}},
		"integration's names": {one(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "InvocationType": "Event"}, "End": true}`), []string{`"S"`, "InvocationType"}},
		"no function":         {one(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"Payload": 1}, "End": true}`), []string{`"S"`, "FunctionName"}},
		"distributed":         {one(`{"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED"}, "StartAt": "T", "States": {"T": {"Type": "Succeed"}}}}`), []string{`"S"`, "ProcessorConfig", "DISTRIBUTED"}},
		"inside a map":        {one(`{"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Pass", "Next": "Z"}}}}`), []string{`"S"`, `"T"`, "Next", `"Z"`}},
		"null branch":         {one(`{"Type": "Parallel", "End": true, "Branches": [null]}`), []string{`"S"`, "Branches"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(tc.definition), nil)
			if err == nil {
				t.Fatal("the definition was accepted, want an error")
			}
			for _, s := range tc.want {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("got the error %q, want it to contain %s", err, s)
				}
			}
		})
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state, in string
		want      []string
	}{
		"a map": {
			state: `{"Type": "Map", "Next": "Z", "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "f",
				"Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}], "Catch": [{"ErrorEquals": ["E"], "Next": "U"}], "End": true}, "U": {"Type": "Succeed"}}}}`,
			in: `[1, 2]`,
			want: []string{
				"0s S -1 entered", "0s T 0 entered", "0s T 1 entered", "0s T 0 exited", "0s T 1 retried E",
				"1s T 1 caught E", "1s U 1 entered", "1s U 1 exited", "1s S -1 exited", "1s Z -1 entered", "1s Z -1 exited",
			},
		},
		"a failure beside a wait": {
			state: `{"Type": "Parallel", "End": true, "Branches": [{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 9, "End": true}}},
				{"StartAt": "V", "States": {"V": {"Type": "Wait", "Seconds": 1, "Next": "F"}, "F": {"Type": "Fail", "Error": "E"}}}]}`,
			in: `{}`,
			want: []string{
				"0s S -1 entered", "0s W -1 entered", "0s V -1 entered", "1s V -1 exited", "1s F -1 entered", "1s F -1 failed E",
				"1s W -1 aborted", "1s S -1 failed E",
			},
		},
		"no time left": {
			state: `{"Type": "Wait", "Seconds": 301, "End": true}`,
			in:    `{}`,
			want:  []string{"0s S -1 entered", "5m0s S -1 failed States.Timeout"},
		},
		"no place for the caught error": {
			state: `{"Type": "Task", "Resource": "f", "Catch": [{"ErrorEquals": ["E"], "ResultPath": "$.e", "Next": "Z"}], "End": true}`,
			in:    `2`,
			want:  []string{"0s S -1 entered", "0s S -1 failed States.ResultPathMatchFailure"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Parse([]byte(one(tc.state)), nil)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var got []string
			m.Observe = func(tr Transition) {
				mu.Lock()
				defer mu.Unlock()
				note := fmt.Sprintf("%v %s %d %s", tr.Time.Sub(start), tr.State, tr.Item, tr.Kind)
				if tr.Failure != nil {
					note += " " + tr.Failure.Code
				}
				got = append(got, note)
			}
			c := clock.New(start, clock.Free)
			defer c.Work()()
			_, _ = m.Run(t.Context(), c, []byte(tc.in), func(_ context.Context, _ string, payload []byte) ([]byte, error) {
				if string(payload) == "2" {
					return nil, typed{"E", ""}
				}
				return nil, nil
			})
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// TestLiveLoop runs one minute of the deployed machine. Every slot ticks at its own
// time, even if other ticks are slow or fail.
func TestLiveLoop(t *testing.T) {
	t.Parallel()
	definition, err := os.ReadFile("../../machines/live-loop.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(definition, map[string]string{"PlanTicksArn": "plan-ticks", "TickArn": "tick"})
	if err != nil {
		t.Fatal(err)
	}
	type slot struct {
		Slot int64     `json:"slot"`
		Due  time.Time `json:"due"`
		At   time.Time `json:"at"`
	}
	c := clock.New(start.Add(7*time.Second), clock.Free) // EventBridge Scheduler may start the execution late
	const slots, failing, slow, stuck = 24, 3, 6, 9
	var (
		mu      sync.Mutex
		plans   int
		sleeps  int
		called  = map[int64]time.Duration{}
		order   []int64
		first   = start.Add(time.Minute)
		invoked = func(ctx context.Context, resource string, payload []byte) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			if resource == "plan-ticks" {
				if plans++; plans == 1 {
					return nil, errors.New("a cold start too slow")
				}
				var ticks []slot
				for i := range slots {
					due := first.Add(time.Duration(i) * 2500 * time.Millisecond)
					ticks = append(ticks, slot{due.UnixMilli() / 2500, due, due.Truncate(time.Second)})
				}
				return json.Marshal(map[string]any{"live": true, "ticks": ticks})
			}
			var s slot
			if err := json.Unmarshal(payload, &s); err != nil {
				return nil, err
			}
			n := s.Slot - first.UnixMilli()/2500
			called[n] = c.Now().Sub(first)
			order = append(order, n)
			nap := s.Due
			switch n {
			case failing:
				return nil, errors.New("the provider is down")
			case slow:
				nap = s.Due.Add(7 * time.Second)
			case stuck:
				nap = s.Due.Add(time.Hour)
			}
			mu.Unlock()
			err := c.Sleep(ctx, nap)
			mu.Lock()
			if err == nil {
				sleeps++
			}
			return []byte(`{"matches": 1}`), err
		}
	)
	done := c.Work()
	defer done()
	out, err := m.Run(t.Context(), c, []byte(`{"scheduledTime": "2026-06-01T12:00:00Z"}`), invoked)
	if err != nil {
		t.Fatal(err)
	}
	if plans != 2 {
		t.Errorf("planned %d times, want 2: a retry after the first failure", plans)
	}
	for i := range int64(slots) {
		want := (time.Duration(i) * 2500 * time.Millisecond).Truncate(time.Second)
		if at, ok := called[i]; !ok || at != want || order[i] != i {
			t.Errorf("tick %d was called at %v (%v) as call %d, want %v", i, at, ok, order[i], want)
		}
	}
	if want := slots - 2; sleeps != want {
		t.Errorf("%d ticks completed, want %d", sleeps, want)
	}
	if took := c.Now().Sub(first); took != 57500*time.Millisecond {
		t.Errorf("the execution ended %v after its first slot, want with its last, at 57.5s", took)
	}
	if !strings.Contains(string(out), `"live":true`) {
		t.Errorf("the output contains the Map's result: %s", out)
	}
}

func TestLiveLoopIdle(t *testing.T) {
	t.Parallel()
	definition, err := os.ReadFile("../../machines/live-loop.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(definition, map[string]string{"PlanTicksArn": "plan-ticks", "TickArn": "tick"})
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New(start, clock.Free)
	defer c.Work()()
	calls := 0
	if _, err := m.Run(t.Context(), c, []byte(`{}`), func(context.Context, string, []byte) ([]byte, error) {
		calls++
		return []byte(`{"live": false, "ticks": []}`), nil
	}); err != nil {
		t.Fatal(err)
	}
	if calls != 1 || !c.Now().Equal(start) {
		t.Errorf("%d calls until %v, want one call at the start", calls, c.Now())
	}
}

func TestRunAtSpeed(t *testing.T) {
	t.Parallel()
	m, err := Parse([]byte(one(`{"Type": "Map", "MaxConcurrency": 3, "End": true, "ItemProcessor": {"StartAt": "W", "States": {
		"W": {"Type": "Wait", "SecondsPath": "$", "Next": "T"}, "T": {"Type": "Task", "Resource": "f", "TimeoutSeconds": 60, "End": true}}}}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := clock.New(start, 1000)
		defer c.Stop()
		defer c.Work()()
		out, err := m.Run(t.Context(), c, []byte(`[5, 1, 3, 2, 4]`), echo(c))
		if err != nil || string(out) != `[5,1,3,2,4]` {
			t.Errorf("got %s (%v)", out, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	definition, err := os.ReadFile("../../machines/live-loop.asl.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(definition)
	f.Add([]byte(one(`{"Type": "Choice", "Choices": [{"And": [{"Variable": "$.a", "StringMatches": "a*\\\\b"}], "Next": "Z"}], "Default": "Z"}`)))
	f.Add([]byte(one(`{"Type": "Parallel", "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Fail", "ErrorPath": "$.a['b'][0]"}}}], "End": true}`)))
	f.Add([]byte(one(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload.$": "$$.Execution"}, "End": true}`)))
	f.Add([]byte(one(`{"Type": "Wait", "Seconds": 5, "Next": "Z"}`)))
	f.Fuzz(func(t *testing.T, definition []byte) {
		m, err := Parse(definition, map[string]string{"PlanTicksArn": "p", "TickArn": "t"})
		if err != nil {
			return
		}
		// A definition that parses runs without a panic. A loop without a wait ends with
		// ctx.
		c := clock.New(start, clock.Free)
		defer c.Work()()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var steps atomic.Int64
		m.Observe = func(Transition) {
			if steps.Add(1) > 100 {
				cancel()
			}
		}
		_, _ = m.Run(ctx, c, []byte(`{"live": true, "a": {"b": ["x"]}, "ticks": [{"at": "2026-06-01T12:00:30Z"}]}`), echo(c))
	})
}
