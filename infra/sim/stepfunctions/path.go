package stepfunctions

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// path is a JSONPath made of names and indexes: $.match.balls[0], or
// $$.Execution.StartTime for the context object. Filters, slices and wildcards are not
// supported.
type path struct {
	text    string
	context bool
	steps   []any // string: a member; int: an element
}

var step = regexp.MustCompile(`^(?:\.([\pL_][\pL\pN_-]*)|\[(\d{1,9})\]|\['([^'\\]+)'\])`)

func parsePath(text string) (path, error) {
	p := path{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return p, fmt.Errorf("%q is not a JSONPath: it must begin with $", text)
	}
	rest, p.context = strings.CutPrefix(rest, "$")
	for rest != "" {
		m := step.FindStringSubmatch(rest)
		switch {
		case m == nil:
			return p, fmt.Errorf("unsupported JSONPath %q; supported: names and indexes", text)
		case m[2] != "":
			i, _ := strconv.Atoi(m[2]) // at most nine digits
			p.steps = append(p.steps, i)
		default:
			p.steps = append(p.steps, m[1]+m[3])
		}
		rest = rest[len(m[0]):]
	}
	return p, nil
}

func (p *path) UnmarshalJSON(raw []byte) (err error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	*p, err = parsePath(text)
	return err
}

// get returns the value at p and whether there is one.
func (p path) get(d data) (any, bool) {
	at := d.in
	if p.context {
		at = d.context
	}
	for _, s := range p.steps {
		switch s := s.(type) {
		case string:
			object, _ := at.(map[string]any)
			v, ok := object[s]
			if !ok {
				return nil, false
			}
			at = v
		case int:
			array, _ := at.([]any)
			if s >= len(array) {
				return nil, false
			}
			at = array[s]
		}
	}
	return at, true
}

// getRequired returns the value at p. If there is none, it returns the failure of the
// state that has the field.
func (p path) getRequired(field string, d data) (any, error) {
	v, ok := p.get(d)
	if !ok {
		return nil, runtimeFailure("%s: no value at %s", field, p.text)
	}
	return v, nil
}

// put returns a copy of in with v at steps, which are all names. It does not change in,
// which other states share.
func put(in any, steps []any, v any) (any, bool) {
	if len(steps) == 0 {
		return v, true
	}
	object, ok := in.(map[string]any)
	if !ok && in != nil {
		return nil, false
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	name := steps[0].(string)
	object[name], ok = put(object[name], steps[1:], v)
	return object, ok
}

// filter is InputPath or OutputPath: absent, null or a path.
type filter struct {
	path *path
	null bool
}

func (f *filter) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		f.null = true
		return nil
	}
	f.path = new(path)
	return f.path.UnmarshalJSON(raw)
}

func (f filter) apply(field string, d data) (any, error) {
	switch {
	case f.null:
		return map[string]any{}, nil
	case f.path == nil:
		return d.in, nil
	}
	return f.path.getRequired(field, d)
}

// destination is ResultPath: where the result is put in the state's input.
type destination struct{ filter }

func (r *destination) UnmarshalJSON(raw []byte) error {
	if err := r.filter.UnmarshalJSON(raw); err != nil || r.null {
		return err
	}
	isIndex := func(s any) bool { _, ok := s.(int); return ok }
	if r.path.context || slices.ContainsFunc(r.path.steps, isIndex) {
		return fmt.Errorf("%q must be a path of names in the input", r.path.text)
	}
	return nil
}

func (r destination) apply(in, result any) (any, error) {
	switch {
	case r.null:
		return in, nil
	case r.path == nil:
		return result, nil
	}
	out, ok := put(in, r.path.steps, result)
	if !ok {
		return nil, &Failure{"States.ResultPathMatchFailure", fmt.Sprintf("the input has no object in which to put %s", r.path.text)}
	}
	return out, nil
}

// template is a payload template: JSON in which a member whose name ends in .$
// takes its value from a path.
type template struct {
	fill  func(field string, d data) (any, error)
	names []string // of its members, without .$
}

func (t *template) UnmarshalJSON(raw []byte) (err error) {
	var v any
	if err := unmarshal(raw, &v); err != nil {
		return err
	}
	if object, ok := v.(map[string]any); ok {
		for name := range object {
			t.names = append(t.names, strings.TrimSuffix(name, ".$"))
		}
	}
	t.fill, err = compile(v)
	return err
}

func (t template) apply(field string, d data) (any, error) {
	if t.fill == nil {
		return d.in, nil
	}
	return t.fill(field, d)
}

func compile(v any) (func(string, data) (any, error), error) {
	switch v := v.(type) {
	case map[string]any:
		return compileObject(v)
	case []any:
		elements := make([]func(string, data) (any, error), len(v))
		for i := range v {
			var err error
			if elements[i], err = compile(v[i]); err != nil {
				return nil, err
			}
		}
		return func(field string, d data) (any, error) {
			out := make([]any, len(elements))
			for i, fill := range elements {
				var err error
				if out[i], err = fill(field, d); err != nil {
					return nil, err
				}
			}
			return out, nil
		}, nil
	}
	return func(string, data) (any, error) { return v, nil }, nil
}

func compileObject(v map[string]any) (func(string, data) (any, error), error) {
	members := map[string]func(string, data) (any, error){}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		name, dynamic := strings.CutSuffix(key, ".$")
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("both %s and %s.$ are present", name, name)
		}
		var err error
		if dynamic {
			members[name], err = compilePath(v[key])
		} else {
			members[name], err = compile(v[key])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return func(field string, d data) (any, error) {
		out := make(map[string]any, len(members))
		for _, name := range slices.Sorted(maps.Keys(members)) {
			var err error
			if out[name], err = members[name](field, d); err != nil {
				return nil, err
			}
		}
		return out, nil
	}, nil
}

func compilePath(v any) (func(string, data) (any, error), error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("the value must be a JSONPath")
	}
	if strings.HasPrefix(text, "States.") {
		return nil, fmt.Errorf("intrinsic functions (%s) are not supported", text)
	}
	p, err := parsePath(text)
	return p.getRequired, err
}
