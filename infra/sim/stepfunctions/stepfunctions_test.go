package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
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

// echo answers with the function's name and the payload.
func echo(*clock.Clock) Invoke {
	return func(_ context.Context, function string, payload []byte) ([]byte, error) {
		return json.Marshal([]any{function, json.RawMessage(payload)})
	}
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
		"succeed":                   {`{"Type": "Succeed"}`, `{"a": 1}`, `{"a":1}`},
		"task":                      {`{"Type": "Task", "Resource": "${F}", "End": true}`, `{"a": "<&>"}`, `["${F}",{"a":"<&>"}]`},
		"task, result dropped":      {`{"Type": "Task", "Resource": "f", "ResultPath": null, "End": true}`, `{"a": 1}`, `{"a":1}`},
		"map": {
			`{"Type": "Map", "End": true, "ItemsPath": "$.a.l", "ItemProcessor": {"StartAt": "T", "States": {
				"T": {"Type": "Task", "Resource": "f", "End": true}}}}`,
			`{"a": {"l": ["a", "b"]}}`, `[["f","a"],["f","b"]]`,
		},
		"map, result dropped": {
			`{"Type": "Map", "End": true, "ItemsPath": "$", "ResultPath": null, "ItemProcessor": {
				"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "f", "End": true}}}}`,
			`[1, 2]`, `[1,2]`,
		},
		"map of nothing": {
			`{"Type": "Map", "End": true, "ItemsPath": "$", "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Succeed"}}}}`, `[]`, `[]`,
		},
		"as many items as run at once": {
			`{"Type": "Map", "End": true, "ItemsPath": "$", "MaxConcurrency": 3, "ItemProcessor": {"StartAt": "T", "States": {
				"T": {"Type": "Pass", "End": true}}}}`,
			`[1,2,3]`, `[1,2,3]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, _, err := run(t, one(tc.state), tc.in, echo)
			if err != nil {
				t.Fatal(err)
			}

			if want := strings.ReplaceAll(tc.want, "${F}", "f"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()

	const (
		task   = `{"Type": "Task", "Resource": "f", "End": true}`
		caught = `{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.ALL"]}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Z"}], "End": true}`
		items = `{"Type": "Map", "End": true, "ItemsPath": "$.l", "MaxConcurrency": 2, "ItemProcessor": {"StartAt": "T", "States": {
		"T": {"Type": "Succeed"}}}}`
	)

	answering := func(answer []byte, err error) func(*clock.Clock) Invoke {
		return func(*clock.Clock) Invoke {
			return func(context.Context, string, []byte) ([]byte, error) { return answer, err }
		}
	}
	for name, tc := range map[string]struct {
		state, in string
		invoke    func(*clock.Clock) Invoke
		want      Failure // its cause contains Cause
	}{
		"nothing to choose": {
			state: `{"Type": "Choice", "Choices": [{"Variable": "$.b", "BooleanEquals": true, "Next": "Z"}], "Default": "Z"}`, in: `{"a": 1}`,
			want: Failure{"States.Runtime", "$.b"},
		},
		"no items":       {state: items, in: `{}`, want: Failure{"States.Runtime", "no value at $.l"}},
		"not items":      {state: items, in: `{"l": {}}`, want: Failure{"States.Runtime", "$.l is not an array"}},
		"too many items": {state: items, in: `{"l": [1, 2, 3]}`, want: Failure{"States.Runtime", "3 items are unsupported; supported: 2"}},
		"not a time": {
			state: `{"Type": "Wait", "TimestampPath": "$.a", "End": true}`,
			in:    `{"a": "noon"}`,
			want:  Failure{"States.Runtime", "$.a"},
		},
		"typed error": {
			state: task, invoke: answering(nil, fmt.Errorf("f: %w", typed{"Throttled", "slow down"})),
			want: Failure{"Throttled", `{"errorMessage":"slow down","errorType":"Throttled"}`},
		},
		"plain error": {state: task, invoke: answering(nil, errors.New("boom")), want: Failure{"States.TaskFailed", "boom"}},
		"too much": {
			state:  caught,
			invoke: answering(make([]byte, 1<<18+1), nil),
			want:   Failure{"States.DataLimitExceeded", "262145 bytes"},
		},
		"answer in no JSON": {state: caught, invoke: answering([]byte("{"), nil), want: Failure{"States.Runtime", "the answer of f is not JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := tc.in
			if in == "" {
				in = "{}"
			}

			_, took, err := run(t, one(tc.state), in, tc.invoke)

			f, ok := errors.AsType[*Failure](err)
			if !ok {
				t.Fatalf("got %v, want a failure", err)
			}

			if f.Code != tc.want.Code || !strings.Contains(f.Cause, tc.want.Cause) || took != 0 {
				t.Errorf("got %q (%s) after %v, want %q (%s) at once", f.Code, f.Cause, took, tc.want.Code, tc.want.Cause)
			}
		})
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()

	const in = `{"yes": true, "no": false, "n": 2, "z": null, "a": {"yes": true}}`

	for rules, want := range map[string]string{
		`{"Variable": "$.yes", "BooleanEquals": true, "Next": "A"}`:                                                           "A",
		`{"Variable": "$.yes", "BooleanEquals": false, "Next": "A"}`:                                                          "Z",
		`{"Variable": "$.no", "BooleanEquals": false, "Next": "A"}`:                                                           "A",
		`{"Variable": "$.a.yes", "BooleanEquals": true, "Next": "A"}`:                                                         "A",
		`{"Variable": "$.n", "BooleanEquals": true, "Next": "A"}`:                                                             "Z",
		`{"Variable": "$.z", "BooleanEquals": false, "Next": "A"}`:                                                            "Z",
		`{"Variable": "$.no", "BooleanEquals": true, "Next": "A"}, {"Variable": "$.yes", "BooleanEquals": true, "Next": "B"}`: "B",
	} {
		definition := `{"StartAt": "S", "States": {"S": {"Type": "Choice", "Choices": [` + rules + `], "Default": "Z"},
			"A": {"Type": "Task", "Resource": "A", "End": true}, "B": {"Type": "Task", "Resource": "B", "End": true},
			"Z": {"Type": "Task", "Resource": "Z", "End": true}}}`

		got, _, err := run(t, definition, in, func(*clock.Clock) Invoke {
			return func(_ context.Context, function string, _ []byte) ([]byte, error) { return json.Marshal(function) }
		})
		if err != nil || got != strconv.Quote(want) {
			t.Errorf("%s: got %s (%v), want %s", rules, got, err, want)
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

	wait := func(next string) string { return `{"Type": "Wait", "TimestampPath": "$", ` + next + `}` }
	task := func(fields string) string {
		return `{"Type": "Task", "Resource": "f", ` + strings.ReplaceAll(fields, "ALL", `"ErrorEquals": ["States.ALL"]`) + `"End": true}`
	}

	const drop = `"Catch": [{ALL, "ResultPath": null, "Next": "Z"}], `

	items := func(states string) string {
		return `{"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor": {"StartAt": "W", "States": {` + states + `}}}`
	}
	at := func(seconds ...int) string {
		var all []string
		for _, s := range seconds {
			all = append(all, start.Add(time.Duration(s)*time.Second).Format(`"`+time.RFC3339+`"`))
		}

		return "[" + strings.Join(all, ",") + "]"
	}

	for name, tc := range map[string]struct {
		state, in string
		invoke    func(*clock.Clock) Invoke
		took      time.Duration
		want      string // the output, or the failure's code
	}{
		"a time is cut": {
			state: wait(`"End": true`),
			in:    `"2026-06-01T12:00:02.999Z"`,
			took:  2 * time.Second,
			want:  `"2026-06-01T12:00:02.999Z"`,
		},
		"a time in a zone": {
			state: wait(`"End": true`),
			in:    `"2026-06-01T14:00:05.5+02:00"`,
			took:  5 * time.Second,
			want:  `"2026-06-01T14:00:05.5+02:00"`,
		},
		"the past": {state: wait(`"End": true`), in: `"2026-06-01T11:00:00Z"`, want: `"2026-06-01T11:00:00Z"`},

		"retry": {
			state:  task(`"Retry": [{ALL}], `),
			invoke: failing(3, errors.New("x")),
			took:   (1 + 2 + 4) * time.Second,
			want:   `"done"`,
		},
		"retries exhausted": {
			state:  task(`"Retry": [{ALL, "IntervalSeconds": 2, "MaxAttempts": 2, "BackoffRate": 1.5}], `),
			invoke: failing(3, errors.New("x")),
			took:   5 * time.Second,
			want:   "States.TaskFailed",
		},
		"no retry": {state: task(`"Retry": [{ALL, "MaxAttempts": 0}], `), invoke: failing(1, typed{"E", ""}), want: "E"},
		"caught":   {state: task(drop), in: `[1]`, invoke: failing(1, typed{"E", "why"}), want: `[1]`},
		"retried, caught": {
			state:  task(`"Retry": [{ALL, "MaxAttempts": 1}], ` + drop),
			in:     `[1]`,
			invoke: failing(2, typed{"E", "why"}),
			took:   time.Second,
			want:   `[1]`,
		},

		"in time": {
			state:  task(`"TimeoutSeconds": 10, `),
			invoke: sleeping(9 * time.Second),
			took:   9 * time.Second,
			want:   `"done"`,
		},
		"timeout": {
			state:  task(`"TimeoutSeconds": 10, `),
			invoke: sleeping(11 * time.Second),
			took:   10 * time.Second,
			want:   "States.Timeout",
		},
		"timeout comes first": {
			state:  task(`"TimeoutSeconds": 10, `),
			invoke: sleeping(10 * time.Second),
			took:   10 * time.Second,
			want:   "States.Timeout",
		},
		"timeout, context ignored": {state: task(`"TimeoutSeconds": 10, `), invoke: deaf, took: 10 * time.Second, want: "States.Timeout"},
		"timeout, caught":          {state: task(`"TimeoutSeconds": 10, ` + drop), invoke: deaf, took: 10 * time.Second, want: "{}"},
		"timeout, retried": {
			state:  task(`"TimeoutSeconds": 10, "Retry": [{ALL, "MaxAttempts": 1}], `),
			invoke: deaf,
			took:   21 * time.Second,
			want:   "States.Timeout",
		},

		"express":            {state: wait(`"End": true`), in: `"2026-06-01T12:05:01Z"`, took: 5 * time.Minute, want: "States.Timeout"},
		"express, in a task": {state: task(drop), invoke: sleeping(time.Hour), took: 5 * time.Minute, want: "States.Timeout"},
		"express, in a map":  {state: items(`"W": ` + wait(`"End": true`)), in: at(400, 1), took: 5 * time.Minute, want: "States.Timeout"},

		"items wait together": {state: items(`"W": ` + wait(`"End": true`)), in: at(5, 30, 10), took: 30 * time.Second, want: at(5, 30, 10)},
		"one item ends all": {
			state:  items(`"W": ` + wait(`"Next": "T"`) + `, "T": ` + task("")),
			in:     at(30, 5, 10),
			invoke: failing(1, typed{"E", "why"}),
			took:   5 * time.Second,
			want:   "E",
		},
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

// TestTimeOfAMachine: a machine's TimeoutSeconds ends its executions, and cannot extend them.
func TestTimeOfAMachine(t *testing.T) {
	t.Parallel()

	for limit, want := range map[int]time.Duration{180: 3 * time.Minute, 900: 5 * time.Minute} {
		definition := fmt.Sprintf(`{"StartAt": "S", "TimeoutSeconds": %d, "States": {
			"S": {"Type": "Wait", "TimestampPath": "$", "End": true}}}`, limit)

		_, took, err := run(t, definition, `"2026-06-01T13:00:00Z"`, nil)
		if f, ok := errors.AsType[*Failure](err); !ok || f.Code != "States.Timeout" || took != want {
			t.Errorf("%d s: got %v after %v, want States.Timeout after %v", limit, err, took, want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()

	m, err := Parse([]byte(one(`{"Type": "Wait", "TimestampPath": "$", "End": true}`)), nil)
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
	if _, err := m.Run(ctx, c, []byte(`"2026-06-01T12:01:00Z"`), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// TestParseRefuses: what a machine of the fleet does not use is refused by its name. The error
// lists what is supported in its place.
func TestParseRefuses(t *testing.T) {
	t.Parallel()

	task := func(fields string) string {
		return one(`{"Type": "Task", "Resource": "f", "End": true, ` + fields + `}`)
	}
	choice := func(rule string) string {
		return one(`{"Type": "Choice", "Default": "Z", "Choices": [{"Variable": "$.a", "Next": "Z", ` + rule + `}]}`)
	}

	items := func(fields, states string) string {
		return one(`{"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor": {` + fields + ` "StartAt": "T", "States": {` + states + `}}}`)
	}
	for name, tc := range map[string]struct{ definition, want string }{
		"not JSON":      {`{`, "unexpected EOF"},
		"not an object": {`[]`, "wrong type: a JSON array"},
		"no start":      {`{"States": {}}`, "field StartAt is missing"},
		"start nowhere": {`{"StartAt": "A", "States": {}}`, `field StartAt: there is no state "A"`},
		"unknown at the top": {`{"StartAt": "S", "Foo": 1, "States": {"S": {"Type": "Succeed"}}}`,
			"unsupported field Foo; supported: StartAt, States, TimeoutSeconds"},
		"JSONata": {`{"StartAt": "S", "QueryLanguage": "JSONata", "States": {"S": {"Type": "Succeed"}}}`,
			"unsupported field QueryLanguage; supported: StartAt, States, TimeoutSeconds"},
		"no substitution": {one(`{"Type": "Task", "Resource": "${G}", "End": true}`), "no value for the substitution ${G}"},

		"a kind": {one(`{"Type": "Parallel", "Branches": []}`),
			`state "S": field Type: unsupported type "Parallel"; supported: Choice, Map, Pass, Succeed, Task, Wait`},
		"no kind": {one(`{"End": true}`),
			`state "S": field Type: unsupported type ""; supported: Choice, Map, Pass, Succeed, Task, Wait`},
		"a field": {one(`{"Type": "Pass", "End": true, "Result": 3}`),
			`state "S": unsupported field Result; supported: End, Next, Type (a Pass state)`},
		"a field's case": {one(`{"Type": "Pass", "end": true}`),
			`state "S": unsupported field end; supported: End, Next, Type (a Pass state)`},
		"a misplaced field": {one(`{"Type": "Wait", "TimestampPath": "$", "ResultPath": null, "End": true}`),
			`state "S": unsupported field ResultPath; supported: End, Next, TimestampPath, Type (a Wait state)`},
		"seconds of a wait": {one(`{"Type": "Wait", "Seconds": 1, "End": true}`),
			`state "S": unsupported field Seconds; supported: End, Next, TimestampPath, Type (a Wait state)`},
		"no time of a wait": {one(`{"Type": "Wait", "End": true}`), `state "S": field TimestampPath is missing (a Wait state)`},
		"a value's type":    {task(`"TimeoutSeconds": "1"`), `state "S": field TimeoutSeconds: wrong type: a JSON string (a Task state)`},
		"null":              {task(`"TimeoutSeconds": null`), `state "S": field TimeoutSeconds must not be null (a Task state)`},
		"a negative number": {task(`"TimeoutSeconds": -1`), `state "S": field TimeoutSeconds: wrong type: a JSON number -1 (a Task state)`},
		"no end":            {one(`{"Type": "Pass"}`), `state "S": fields Next and End: exactly one is required`},
		"next and end":      {one(`{"Type": "Pass", "Next": "Z", "End": true}`), `state "S": fields Next and End: exactly one is required`},
		"next nowhere":      {one(`{"Type": "Pass", "Next": "Y"}`), `state "S": field Next: there is no state "Y" beside it`},
		"catch nowhere": {task(`"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Y"}]`),
			`state "S": field Catch: there is no state "Y" beside it`},
		"a choice of nowhere": {one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "BooleanEquals": true, "Next": "Y"}], "Default": "Z"}`),
			`state "S": field Choices[0]: there is no state "Y" beside it`},
		"a default nowhere": {one(`{"Type": "Choice", "Choices": [], "Default": "Y"}`),
			`state "S": field Default: there is no state "Y" beside it`},

		"a comparison": {choice(`"NumericEquals": 1`),
			`field Choices: unsupported field NumericEquals; supported: BooleanEquals, Next, Variable (a Choice state)`},
		"logic": {choice(`"Not": {"Variable": "$.a", "BooleanEquals": true}`),
			`field Choices: unsupported field Not; supported: BooleanEquals, Next, Variable (a Choice state)`},
		"no comparison": {choice(`"Comment": "none"`), `field Choices: field BooleanEquals is missing (a Choice state)`},
		"an operand":    {choice(`"BooleanEquals": 1`), `field Choices: field BooleanEquals: wrong type: a JSON number (a Choice state)`},
		"no default":    {one(`{"Type": "Choice", "Choices": []}`), `state "S": field Default is missing (a Choice state)`},

		"a path by index": {one(`{"Type": "Wait", "TimestampPath": "$.a[0]", "End": true}`),
			`field TimestampPath: unsupported JSONPath "$.a[0]"; supported: names of members, as in $.a.b (a Wait state)`},
		"the context object": {one(`{"Type": "Wait", "TimestampPath": "$$.State.EnteredTime", "End": true}`),
			`field TimestampPath: unsupported JSONPath "$$.State.EnteredTime"; supported: names of members, as in $.a.b (a Wait state)`},
		"no path": {one(`{"Type": "Wait", "TimestampPath": "a", "End": true}`),
			`field TimestampPath: unsupported JSONPath "a"; supported: names of members, as in $.a.b (a Wait state)`},
		"a path to no member": {one(`{"Type": "Wait", "TimestampPath": "$.", "End": true}`),
			`field TimestampPath: unsupported JSONPath "$."; supported: names of members, as in $.a.b (a Wait state)`},
		"an intrinsic": {one(`{"Type": "Wait", "TimestampPath": "States.Format('{}', $.a)", "End": true}`),
			`field TimestampPath: unsupported intrinsic function States.Format('{}', $.a); supported: JSONPaths such as $.a.b (a Wait state)`},
		"a place of a result": {task(`"ResultPath": "$.a"`), `field ResultPath: unsupported "$.a"; supported: null (a Task state)`},

		"an error's name": {task(`"Retry": [{"ErrorEquals": ["States.Timeout"]}]`),
			`field Retry: field ErrorEquals: unsupported ["States.Timeout"]; supported: ["States.ALL"] (a Task state)`},
		"a retrier's field": {task(`"Retry": [{"ErrorEquals": ["States.ALL"], "JitterStrategy": "FULL"}]`),
			`field Retry: unsupported field JitterStrategy; supported: BackoffRate, ErrorEquals, IntervalSeconds, MaxAttempts (a Task state)`},
		"two retriers": {task(`"Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["States.ALL"]}]`),
			`field Retry: 2 retriers are unsupported; supported: one`},
		"a place of an error": {task(`"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Z"}]`),
			`field Catch: field ResultPath: unsupported "$.e"; supported: null (a Task state)`},
		"an error as output": {task(`"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}]`),
			`field Catch: field ResultPath is missing; supported: null (a Task state)`},
		"two catchers": {task(`"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Z"}, {"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Z"}]`), `field Catch: 2 catchers are unsupported; supported: one`},
		"an integration": {one(`{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": true}`),
			`field Resource: unsupported integration "arn:aws:states:::sqs:sendMessage"; supported: functions`},
		"a payload template": {task(`"Parameters": {"a.$": "$"}`),
			`unsupported field Parameters; supported: Catch, End, Next, Resource, ResultPath, Retry, TimeoutSeconds, Type (a Task state)`},
		"a distributed map": {items(`"ProcessorConfig": {"Mode": "DISTRIBUTED"},`, `"T": {"Type": "Succeed"}`),
			`field ItemProcessor: field ProcessorConfig: unsupported Mode "DISTRIBUTED"; supported: INLINE (a Map state)`},
		"a processor's config": {items(`"ProcessorConfig": {"ExecutionType": "EXPRESS"},`, `"T": {"Type": "Succeed"}`),
			`field ItemProcessor: field ProcessorConfig: unsupported field ExecutionType; supported: Mode (a Map state)`},
		"inside a map": {items("", `"T": {"Type": "Pass", "Next": "Z"}`),
			`state "S": field ItemProcessor: state "T": field Next: there is no state "Z" beside it (a Map state)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := Parse([]byte(tc.definition), nil)
			if err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("got the error %v, want %s", err, tc.want)
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
			state: `{"Type": "Map", "ItemsPath": "$", "Next": "Z", "ItemProcessor": {"StartAt": "T", "States": {
				"T": {"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}],
					"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "U"}], "End": true},
				"U": {"Type": "Succeed"}}}}`,
			in: `[1, 2]`,
			want: []string{
				"0s S -1 entered", "0s T 0 entered", "0s T 1 entered", "0s T 0 exited", "0s T 1 retried E",
				"1s T 1 caught E", "1s U 1 entered", "1s U 1 exited", "1s S -1 exited", "1s Z -1 entered", "1s Z -1 exited",
			},
		},
		"a failure beside a wait": {
			state: `{"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor": {"StartAt": "C", "States": {
				"C": {"Type": "Choice", "Choices": [{"Variable": "$.wait", "BooleanEquals": true, "Next": "W"}], "Default": "T"},
				"W": {"Type": "Wait", "TimestampPath": "$.at", "End": true}, "T": {"Type": "Task", "Resource": "f", "End": true}}}}`,
			in: `[{"wait": true, "at": "2026-06-01T12:00:09Z"}, {"wait": false}]`,
			want: []string{
				"0s S -1 entered", "0s C 0 entered", "0s C 0 exited", "0s W 0 entered", "0s C 1 entered", "0s C 1 exited",
				"0s T 1 entered", "0s T 1 failed E", "0s W 0 aborted", "0s S -1 failed E",
			},
		},
		"no time left": {
			state: `{"Type": "Wait", "TimestampPath": "$", "End": true}`,
			in:    `"2026-06-01T12:05:01Z"`,
			want:  []string{"0s S -1 entered", "5m0s S -1 failed States.Timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := Parse([]byte(one(tc.state)), nil)
			if err != nil {
				t.Fatal(err)
			}

			var (
				mu  sync.Mutex
				got []string
			)

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
				if string(payload) == "2" || string(payload) == `{"wait":false}` {
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

	m, err := Parse([]byte(one(`{"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor": {"StartAt": "W", "States": {
		"W": {"Type": "Wait", "TimestampPath": "$", "Next": "T"},
		"T": {"Type": "Task", "Resource": "f", "TimeoutSeconds": 60, "ResultPath": null, "End": true}}}}`)), nil)
	if err != nil {
		t.Fatal(err)
	}

	synctest.Test(t, func(t *testing.T) {
		c := clock.New(start, 1000)
		defer c.Stop()
		defer c.Work()()

		const in = `["2026-06-01T12:00:03Z","2026-06-01T12:00:01Z","2026-06-01T12:00:02Z"]`

		out, err := m.Run(t.Context(), c, []byte(in), echo(c))
		if err != nil || string(out) != in {
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
	f.Add([]byte(one(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "BooleanEquals": true, "Next": "Z"}], "Default": "Z"}`)))
	f.Add([]byte(one(`{"Type": "Task", "Resource": "f", "Retry": [{"ErrorEquals": ["States.ALL"], "BackoffRate": 1}], "ResultPath": null, "Next": "Z"}`)))
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
