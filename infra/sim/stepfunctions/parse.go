package stepfunctions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// branch is a set of states with a start state: the whole machine, or the part that a
// Map or Parallel state runs.
type branch struct {
	start  string
	states map[string]*state
}

type state struct {
	name string
	kind string

	next          string
	end           bool
	inputPath     filter
	outputPath    filter
	parameters    template
	resultPath    destination
	selectResult  template
	retry         []retrier
	catch         []catcher
	resource      string
	timeout       seconds
	seconds       *seconds
	timestamp     instant
	secondsPath   *path
	timestampPath *path
	choices       []choice
	fallback      string // of a Choice: its Default
	itemsPath     *path
	itemSelector  template
	processor     processor
	concurrency   int
	branches      []*branch
	result        literal
	failError     string
	failCause     string
	errorPath     *path
	causePath     *path
}

type retrier struct {
	names    []string
	interval seconds
	attempts int
	backoff  float64
	most     seconds
}

type catcher struct {
	names      []string
	next       string
	resultPath destination
}

// fieldsOf lists the fields that each kind of state has besides Type and Comment.
func fieldsOf(kind string) string {
	const work = "Next End InputPath OutputPath ResultSelector ResultPath Retry Catch "
	switch kind {
	case "Task":
		return work + "Parameters Resource TimeoutSeconds"
	case "Map":
		return work + "ItemsPath ItemSelector ItemProcessor MaxConcurrency"
	case "Parallel":
		return work + "Parameters Branches"
	case "Pass":
		return "Next End InputPath OutputPath ResultPath Parameters Result"
	case "Wait":
		return "Next End InputPath OutputPath Seconds Timestamp SecondsPath TimestampPath"
	case "Choice":
		return "InputPath OutputPath Choices Default"
	case "Succeed":
		return "InputPath OutputPath"
	case "Fail":
		return "Error Cause ErrorPath CausePath"
	}
	return ""
}

var placeholder = regexp.MustCompile(`\$\{([^{}"]+)\}`)

// Parse reads a definition in the Amazon States Language, in which ${name} stands for a
// substitution. It rejects a definition that it would not run as AWS does. The error
// names the state and the field.
func Parse(definition []byte, substitutions map[string]string) (*Machine, error) {
	m, err := parse(definition, substitutions)
	if err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}
	return m, nil
}

func parse(definition []byte, substitutions map[string]string) (*Machine, error) {
	var missing string
	definition = placeholder.ReplaceAllFunc(definition, func(found []byte) []byte {
		name := string(placeholder.FindSubmatch(found)[1])
		value, ok := substitutions[name]
		if !ok {
			missing = cmp.Or(missing, name)
		}
		quoted, _ := json.Marshal(value) // a string always has a form in JSON
		return quoted[1 : len(quoted)-1]
	})
	if missing != "" {
		return nil, fmt.Errorf("no value for the substitution ${%s}", missing)
	}
	var (
		m        = new(Machine)
		version  = "1.0"
		language = "JSONPath"
		timeout  seconds
	)
	members, err := m.branch.members(definition)
	if err != nil {
		return nil, err
	}
	if err := decode(members, map[string]any{
		"Comment": new(any), "Version": &version, "QueryLanguage": &language, "TimeoutSeconds": &timeout,
	}); err != nil {
		return nil, err
	}
	if version != "1.0" || language != "JSONPath" {
		return nil, fmt.Errorf("unsupported version %q with %q; supported: 1.0 with JSONPath", version, language)
	}
	m.timeout = expressLimit
	if timeout > 0 {
		m.timeout = min(m.timeout, timeout.duration())
	}
	return m, nil
}

// members decodes b from an object and returns its other members.
func (b *branch) members(raw []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return nil, err
	}
	own := map[string]json.RawMessage{}
	for _, name := range []string{"StartAt", "States"} {
		if _, ok := members[name]; !ok {
			return nil, fmt.Errorf("field %s is missing", name)
		}
		own[name] = members[name]
		delete(members, name)
	}
	var states map[string]json.RawMessage
	if err := decode(own, map[string]any{"StartAt": &b.start, "States": &states}); err != nil {
		return nil, err
	}
	b.states = make(map[string]*state, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s := &state{name: name}
		if err := s.decode(states[name]); err != nil {
			return nil, fmt.Errorf("state %q: %w", name, err)
		}
		b.states[name] = s
	}
	return members, b.check()
}

// check returns an error if a transition names a state that does not exist.
func (b *branch) check() error {
	if b.states[b.start] == nil {
		return fmt.Errorf("field StartAt: there is no state %q", b.start)
	}
	for _, name := range slices.Sorted(maps.Keys(b.states)) {
		s := b.states[name]
		for field, target := range s.targets() {
			if b.states[target] == nil {
				return fmt.Errorf("state %q: field %s: there is no state %q beside it", name, field, target)
			}
		}
	}
	return nil
}

// targets yields the states that may follow, and the field that names each.
func (s *state) targets() iter.Seq2[string, string] {
	return func(yield func(field, target string) bool) {
		if s.next != "" && !yield("Next", s.next) {
			return
		}
		if s.fallback != "" && !yield("Default", s.fallback) {
			return
		}
		for _, c := range s.choices {
			if !yield("Choices", c.next) {
				return
			}
		}
		for _, c := range s.catch {
			if !yield("Catch", c.next) {
				return
			}
		}
	}
}

func (b *branch) UnmarshalJSON(raw []byte) error {
	members, err := b.members(raw)
	if err != nil {
		return err
	}
	return decode(members, map[string]any{"Comment": new(any)})
}

// processor is a Map's ItemProcessor.
type processor struct{ *branch }

func (p *processor) UnmarshalJSON(raw []byte) error {
	p.branch = new(branch)
	members, err := p.branch.members(raw)
	if err != nil {
		return err
	}
	config := map[string]string{}
	if err := decode(members, map[string]any{"Comment": new(any), "ProcessorConfig": &config}); err != nil {
		return err
	}
	for name, value := range config {
		if name != "Mode" || value != "INLINE" {
			return fmt.Errorf("field ProcessorConfig: unsupported %s %q; supported: Mode INLINE", name, value)
		}
	}
	return nil
}

func (s *state) decode(raw []byte) error {
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return err
	}
	if err := unmarshal(members["Type"], &s.kind); err != nil {
		return errors.New("field Type is missing or not a string")
	}
	fields := fieldsOf(s.kind)
	if fields == "" {
		return fmt.Errorf("field Type: unsupported type %q", s.kind)
	}
	targets := map[string]any{
		"Next": &s.next, "End": &s.end, "InputPath": &s.inputPath, "OutputPath": &s.outputPath,
		"Parameters": &s.parameters, "ResultPath": &s.resultPath, "ResultSelector": &s.selectResult,
		"Retry": &s.retry, "Catch": &s.catch, "Resource": &s.resource, "TimeoutSeconds": &s.timeout,
		"Seconds": &s.seconds, "Timestamp": &s.timestamp, "SecondsPath": &s.secondsPath, "TimestampPath": &s.timestampPath,
		"Choices": &s.choices, "Default": &s.fallback,
		"ItemsPath": &s.itemsPath, "ItemSelector": &s.itemSelector, "ItemProcessor": &s.processor,
		"MaxConcurrency": &s.concurrency, "Branches": &s.branches, "Result": &s.result,
		"Error": &s.failError, "Cause": &s.failCause, "ErrorPath": &s.errorPath, "CausePath": &s.causePath,
	}
	own := strings.Fields(fields)
	maps.DeleteFunc(targets, func(name string, _ any) bool { return !slices.Contains(own, name) })
	targets["Type"], targets["Comment"] = new(string), new(any)
	if err := decode(members, targets); err != nil {
		return fmt.Errorf("%w (a %s state)", err, s.kind)
	}
	if slices.Contains(own, "Next") && (s.next != "") == s.end {
		return errors.New("fields Next and End: exactly one is required")
	}
	return s.validate(members)
}

func (s *state) validate(members map[string]json.RawMessage) error {
	for i, r := range s.retry {
		if i < len(s.retry)-1 && r.names[0] == "States.ALL" {
			return errors.New("field Retry: States.ALL must come last")
		}
	}
	for i, c := range s.catch {
		if i < len(s.catch)-1 && c.names[0] == "States.ALL" {
			return errors.New("field Catch: States.ALL must come last")
		}
	}
	has := func(name string) bool { return members[name] != nil }
	switch s.kind {
	case "Task":
		return s.validateTask()
	case "Wait":
		n := 0
		for _, name := range []string{"Seconds", "Timestamp", "SecondsPath", "TimestampPath"} {
			if has(name) {
				n++
			}
		}
		if n != 1 {
			return errors.New("fields Seconds, Timestamp, SecondsPath and TimestampPath: exactly one is required")
		}
	case "Choice":
		if len(s.choices) == 0 {
			return errors.New("field Choices: at least one rule is required")
		}
		if slices.ContainsFunc(s.choices, func(c choice) bool { return c.next == "" }) {
			return errors.New("field Choices: a rule has no Next")
		}
	case "Map":
		if !has("ItemProcessor") {
			return errors.New("field ItemProcessor is missing")
		}
		if s.concurrency < 0 {
			return errors.New("field MaxConcurrency must not be negative")
		}
	case "Parallel":
		if len(s.branches) == 0 || slices.Contains(s.branches, nil) {
			return errors.New("field Branches: at least one branch is required")
		}
	case "Fail":
		if has("Error") && has("ErrorPath") || has("Cause") && has("CausePath") {
			return errors.New("fields Error and ErrorPath, or Cause and CausePath: only one of each pair is allowed")
		}
	}
	return nil
}

// lambdaInvoke is the service integration with Lambda. Its Parameters hold the function
// and the payload.
const lambdaInvoke = "arn:aws:states:::lambda:invoke"

func (s *state) validateTask() error {
	switch {
	case s.resource == "":
		return errors.New("field Resource is missing")
	case s.resource == lambdaInvoke:
		if s.parameters.fill == nil {
			return errors.New("field Parameters is missing; it must name the function to invoke")
		}
		for _, name := range s.parameters.names {
			if name != "FunctionName" && name != "Payload" {
				return fmt.Errorf("field Parameters: unsupported member %s; supported: FunctionName and Payload", name)
			}
		}
		if !slices.Contains(s.parameters.names, "FunctionName") {
			return errors.New("field Parameters: FunctionName is missing")
		}
	case strings.Contains(s.resource, ":states:"):
		return fmt.Errorf("field Resource: unsupported %q; supported: functions and %s", s.resource, lambdaInvoke)
	}
	return nil
}

func (r *retrier) UnmarshalJSON(raw []byte) error {
	*r = retrier{interval: 1, attempts: 3, backoff: 2} // the language's defaults
	jitter := "NONE"
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return err
	}
	if err := decode(members, map[string]any{
		"ErrorEquals": &r.names, "IntervalSeconds": &r.interval, "MaxAttempts": &r.attempts,
		"BackoffRate": &r.backoff, "MaxDelaySeconds": &r.most, "JitterStrategy": &jitter, "Comment": new(any),
	}); err != nil {
		return err
	}
	switch {
	case jitter != "NONE":
		return fmt.Errorf("field JitterStrategy: unsupported %q; supported: NONE", jitter)
	case r.attempts < 0:
		return errors.New("field MaxAttempts must not be negative")
	case r.backoff < 1:
		return errors.New("field BackoffRate must be at least 1")
	}
	return checkNames(r.names)
}

func (c *catcher) UnmarshalJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return err
	}
	if err := decode(members, map[string]any{
		"ErrorEquals": &c.names, "Next": &c.next, "ResultPath": &c.resultPath, "Comment": new(any),
	}); err != nil {
		return err
	}
	if c.next == "" {
		return errors.New("field Next is missing")
	}
	return checkNames(c.names)
}

func checkNames(names []string) error {
	if len(names) == 0 {
		return errors.New("field ErrorEquals: at least one error name is required")
	}
	if len(names) > 1 && slices.Contains(names, "States.ALL") {
		return errors.New("field ErrorEquals: States.ALL must be the only name")
	}
	return nil
}

// seconds is a whole number of seconds, at most 99,999,999 as in AWS.
type seconds int

func (s *seconds) UnmarshalJSON(raw []byte) error {
	var n int
	if err := unmarshal(raw, &n); err != nil {
		return err
	}
	if n < 0 || n > 99_999_999 {
		return fmt.Errorf("%d is not between 0 and 99999999", n)
	}
	*s = seconds(n)
	return nil
}

func (s seconds) duration() time.Duration { return time.Duration(s) * time.Second }

// literal is a JSON value. It distinguishes null from a missing value.
type literal struct {
	set   bool
	value any
}

func (l *literal) UnmarshalJSON(raw []byte) error {
	l.set = true
	return unmarshal(raw, &l.value)
}

type instant struct{ time.Time }

func (i *instant) UnmarshalJSON(raw []byte) error {
	var v any
	if err := unmarshal(raw, &v); err != nil {
		return err
	}
	t, ok := timestamp(v)
	if !ok {
		return fmt.Errorf("%s is not an RFC 3339 time", raw)
	}
	i.Time = t
	return nil
}

// decode fills targets from the members of an object. It returns an error for a member
// without a target.
func decode(members map[string]json.RawMessage, targets map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		target, ok := targets[name]
		if !ok {
			return fmt.Errorf("unsupported field %s", name)
		}
		if string(members[name]) == "null" && !nullable(name) {
			return fmt.Errorf("field %s must not be null", name)
		}
		if err := unmarshal(members[name], target); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	return nil
}

func nullable(field string) bool {
	return slices.Contains([]string{"InputPath", "OutputPath", "ResultPath", "Result", "Comment"}, field)
}

// unmarshal is json.Unmarshal, except that numbers keep their text.
func unmarshal(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("wrong type: a JSON %s", e.Value)
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is text after the JSON value")
	}
	return nil
}
