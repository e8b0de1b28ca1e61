package stepfunctions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// branch is a set of states with a start state: the whole machine, or the part that a
// Map runs for each item.
type branch struct {
	start  string
	states map[string]*state
}

type state struct {
	name string
	kind string

	next          string
	end           bool
	resource      string
	timeout       seconds
	retry         []retrier
	catch         []catcher
	dropResult    null // the output is the input; else it is the result
	choices       []rule
	fallback      string // of a Choice: its Default
	timestampPath path
	itemsPath     path
	concurrency   uint
	processor     processor
}

// fields returns the fields that a state of this kind has besides Comment, nil for an
// unsupported kind.
func (s *state) fields() map[string]any {
	fields := map[string]any{"Type": &s.kind, "Next": &s.next, "End": &s.end}
	switch s.kind {
	case "Task":
		fields["Resource"], fields["TimeoutSeconds"], fields["ResultPath"] = &s.resource, &s.timeout, &s.dropResult
		fields["Retry"], fields["Catch"] = &s.retry, &s.catch
	case "Map":
		fields["ItemsPath"], fields["ItemProcessor"] = &s.itemsPath, &s.processor
		fields["MaxConcurrency"], fields["ResultPath"] = &s.concurrency, &s.dropResult
	case "Wait":
		fields["TimestampPath"] = &s.timestampPath
	case "Pass":
	case "Choice":
		return map[string]any{"Type": &s.kind, "Choices": &s.choices, "Default": &s.fallback}
	case "Succeed":
		return map[string]any{"Type": &s.kind}
	default:
		return nil
	}

	return fields
}

// optional are the fields that may be absent where they are supported.
var optional = []string{
	"BackoffRate", "Catch", "End", "IntervalSeconds", "MaxAttempts", "MaxConcurrency", "Next", "ProcessorConfig", "ResultPath", "Retry",
	"TimeoutSeconds",
}

var placeholder = regexp.MustCompile(`\$\{([^{}"]+)\}`)

// Parse reads a definition in the Amazon States Language, in which ${name} stands for a
// substitution. It rejects a definition that it would not run as AWS does. The error
// names the state and the field, and what is supported there.
func Parse(definition []byte, substitutions map[string]string) (*Machine, error) {
	definition, err := substitute(definition, substitutions)
	if err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}

	m := new(Machine)

	timeout := seconds(expressLimit / time.Second)
	if err := m.branch.decode(definition, map[string]any{"TimeoutSeconds": &timeout}); err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}

	m.timeout = min(expressLimit, timeout.duration())

	return m, nil
}

func substitute(definition []byte, substitutions map[string]string) ([]byte, error) {
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

	return definition, nil
}

// decode reads a branch from an object that may have other fields, too.
func (b *branch) decode(raw []byte, other map[string]any) error {
	var states map[string]json.RawMessage

	fields := map[string]any{"StartAt": &b.start, "States": &states}
	maps.Copy(fields, other)

	if err := decode(raw, fields); err != nil {
		return err
	}

	b.states = make(map[string]*state, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s := &state{name: name}
		if err := s.decode(states[name]); err != nil {
			return fmt.Errorf("state %q: %w", name, err)
		}

		b.states[name] = s
	}

	return b.check()
}

// check returns an error if a transition names a state that does not exist.
func (b *branch) check() error {
	if b.states[b.start] == nil {
		return fmt.Errorf("field StartAt: there is no state %q", b.start)
	}

	for _, name := range slices.Sorted(maps.Keys(b.states)) {
		s := b.states[name]

		targets := map[string]string{"Next": s.next, "Default": s.fallback}
		for i, r := range s.choices {
			targets[fmt.Sprintf("Choices[%d]", i)] = r.next
		}

		for _, c := range s.catch {
			targets["Catch"] = c.next
		}

		for _, field := range slices.Sorted(maps.Keys(targets)) {
			if target := targets[field]; target != "" && b.states[target] == nil {
				return fmt.Errorf("state %q: field %s: there is no state %q beside it", name, field, target)
			}
		}
	}

	return nil
}

func (s *state) decode(raw []byte) error {
	var typed struct{ Type string }
	if err := unmarshal(raw, &typed); err != nil {
		return err
	}

	s.kind = typed.Type

	fields := s.fields()
	if fields == nil {
		return fmt.Errorf("field Type: unsupported type %q; supported: Choice, Map, Pass, Succeed, Task, Wait", s.kind)
	}

	if err := decode(raw, fields); err != nil {
		return fmt.Errorf("%w (a %s state)", err, s.kind)
	}

	switch {
	case fields["Next"] != nil && (s.next != "") == s.end:
		return errors.New("fields Next and End: exactly one is required")
	case strings.Contains(s.resource, ":states:"):
		return fmt.Errorf("field Resource: unsupported integration %q; supported: functions", s.resource)
	case len(s.retry) > 1:
		return fmt.Errorf("field Retry: %d retriers are unsupported; supported: one", len(s.retry))
	case len(s.catch) > 1:
		return fmt.Errorf("field Catch: %d catchers are unsupported; supported: one", len(s.catch))
	}

	return nil
}

// processor is a Map's ItemProcessor.
type processor struct{ branch }

func (p *processor) UnmarshalJSON(raw []byte) error {
	var config json.RawMessage
	if err := p.decode(raw, map[string]any{"ProcessorConfig": &config}); err != nil || config == nil {
		return err
	}

	mode := "INLINE"
	if err := decode(config, map[string]any{"Mode": &mode}); err != nil {
		return fmt.Errorf("field ProcessorConfig: %w", err)
	}

	if mode != "INLINE" {
		return fmt.Errorf("field ProcessorConfig: unsupported Mode %q; supported: INLINE", mode)
	}

	return nil
}

// rule is one of a Choice: the next state if the boolean at a path has a value.
type rule struct {
	variable path
	equals   bool
	next     string
}

func (r *rule) UnmarshalJSON(raw []byte) error {
	fields := map[string]any{"Variable": &r.variable, "BooleanEquals": &r.equals, "Next": &r.next}
	return decode(raw, fields)
}

// retrier retries a state after a failure.
type retrier struct {
	interval seconds
	attempts uint
	backoff  float64
}

func (r *retrier) UnmarshalJSON(raw []byte) error {
	*r = retrier{interval: 1, attempts: 3, backoff: 2} // the language's defaults
	fields := map[string]any{
		"ErrorEquals": new(allErrors), "IntervalSeconds": &r.interval, "MaxAttempts": &r.attempts, "BackoffRate": &r.backoff,
	}

	return decode(raw, fields)
}

// catcher names the state after a failure, which gets the input of the state that failed.
type catcher struct{ next string }

func (c *catcher) UnmarshalJSON(raw []byte) error {
	var dropError null

	fields := map[string]any{"ErrorEquals": new(allErrors), "ResultPath": &dropError, "Next": &c.next}
	if err := decode(raw, fields); err != nil {
		return err
	}

	if !dropError {
		return errors.New("field ResultPath is missing; supported: null")
	}

	return nil
}

// allErrors is an ErrorEquals of all errors.
type allErrors struct{}

func (allErrors) UnmarshalJSON(raw []byte) error {
	var names []string
	if err := unmarshal(raw, &names); err != nil {
		return err
	}

	if !slices.Equal(names, []string{"States.ALL"}) {
		return fmt.Errorf(`unsupported %q; supported: ["States.ALL"]`, names)
	}

	return nil
}

// null is a ResultPath: null, or absent.
type null bool

func (n *null) UnmarshalJSON(raw []byte) error {
	if *n = string(raw) == "null"; !*n {
		return fmt.Errorf("unsupported %s; supported: null", raw)
	}

	return nil
}

// seconds is a whole number of seconds; the largest of AWS is 99,999,999.
type seconds uint32

func (s seconds) duration() time.Duration { return time.Duration(s) * time.Second }

// path is a JSONPath made of the names of members, as in $.match.at.
type path struct {
	text  string
	names []string
}

var (
	member   = regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`)
	function = regexp.MustCompile(`^States\.\w+\(`)
)

func (p *path) UnmarshalJSON(raw []byte) error {
	if err := unmarshal(raw, &p.text); err != nil {
		return err
	}

	if function.MatchString(p.text) {
		return fmt.Errorf("unsupported intrinsic function %s; supported: JSONPaths such as $.a.b", p.text)
	}

	names := strings.Split(p.text, ".")

	p.names = names[1:]
	if names[0] != "$" || slices.ContainsFunc(p.names, func(name string) bool { return !member.MatchString(name) }) {
		return fmt.Errorf("unsupported JSONPath %q; supported: names of members, as in $.a.b", p.text)
	}

	return nil
}

// get returns the value at p. If there is none, it returns the failure of the state that
// has the field.
func (p path) get(field string, in any) (any, error) {
	for _, name := range p.names {
		object, _ := in.(map[string]any)

		v, ok := object[name]
		if !ok {
			return nil, runtimeFailure("%s: no value at %s", field, p.text)
		}

		in = v
	}

	return in, nil
}

// decode reads the members of an object into the targets of the same names. It returns an
// error for a member without a target, and for a target without a member that is not
// optional. Every object may have a Comment.
func decode(raw []byte, targets map[string]any) error {
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == "Comment" {
			continue
		}

		target, ok := targets[name]
		if !ok {
			return fmt.Errorf("unsupported field %s; supported: %s", name, strings.Join(slices.Sorted(maps.Keys(targets)), ", "))
		}

		if _, nullable := target.(*null); string(members[name]) == "null" && !nullable {
			return fmt.Errorf("field %s must not be null", name)
		}

		if err := unmarshal(members[name], target); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if _, ok := members[name]; !ok && !slices.Contains(optional, name) {
			return fmt.Errorf("field %s is missing", name)
		}
	}

	return nil
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
