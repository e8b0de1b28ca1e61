package stepfunctions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// choice is one rule of a Choice state.
type choice struct {
	next string // "" in a rule inside another
	test test
}

type test func(data) (bool, error)

func (c *choice) UnmarshalJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := unmarshal(raw, &members); err != nil {
		return err
	}
	variable, compares := members["Variable"]
	known := map[string]json.RawMessage{}
	for _, name := range []string{"Comment", "Next", "Variable"} {
		if m, ok := members[name]; ok {
			known[name] = m
			delete(members, name)
		}
	}
	var v path
	if err := decode(known, map[string]any{"Comment": new(any), "Next": &c.next, "Variable": &v}); err != nil {
		return err
	}
	if len(members) != 1 {
		return fmt.Errorf("a choice rule needs exactly one comparison; it has %q", slices.Sorted(maps.Keys(members)))
	}
	for op, operand := range members {
		logic := op == "And" || op == "Or" || op == "Not"
		if logic == compares {
			return fmt.Errorf("%s: Variable (%s) is required with a comparison and not allowed otherwise", op, variable)
		}
		var err error
		if logic {
			c.test, err = compileLogic(op, operand)
		} else {
			c.test, err = compileComparison(op, v, operand)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	return nil
}

func compileLogic(op string, operand []byte) (test, error) {
	rules := make([]choice, 1)
	var err error
	if op == "Not" {
		err = unmarshal(operand, &rules[0])
	} else {
		err = unmarshal(operand, &rules)
	}
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		return nil, errors.New("it needs at least one rule")
	}
	for _, r := range rules {
		if r.test == nil || r.next != "" {
			return nil, errors.New("a nested rule needs a comparison and must not have Next")
		}
	}
	return func(d data) (bool, error) {
		for _, r := range rules {
			ok, err := r.test(d)
			switch {
			case err != nil:
				return false, err
			case op == "Not":
				return !ok, nil
			case ok == (op == "Or"): // one true decides Or, one false decides And
				return ok, nil
			}
		}
		return op == "And", nil
	}, nil
}

var (
	kindTest   = regexp.MustCompile(`^Is(Present|Null|String|Numeric|Boolean|Timestamp)$`)
	comparison = regexp.MustCompile(`^(String|Numeric|Boolean|Timestamp)(Equals|LessThan|LessThanEquals|GreaterThan|GreaterThanEquals)(Path)?$`)
)

func compileComparison(op string, variable path, operand []byte) (test, error) {
	var want any
	if err := unmarshal(operand, &want); err != nil {
		return nil, err
	}
	if m := kindTest.FindStringSubmatch(op); m != nil {
		yes, ok := want.(bool)
		if !ok {
			return nil, errors.New("it must be true or false")
		}
		return func(d data) (bool, error) {
			v, present := variable.get(d)
			if m[1] == "Present" {
				return present == yes, nil
			}
			if !present {
				return false, runtimeFailure("Variable: no value at %s", variable.text)
			}
			return is(m[1], v) == yes, nil
		}, nil
	}
	if op == "StringMatches" {
		return compileMatch(variable, want)
	}
	m := comparison.FindStringSubmatch(op)
	if m == nil || m[1] == "Boolean" && m[2] != "Equals" {
		return nil, errors.New("unsupported comparison")
	}
	kind, relation := m[1], m[2]
	other := func(data) (any, error) { return want, nil }
	if m[3] != "" {
		var p path
		if err := unmarshal(operand, &p); err != nil {
			return nil, err
		}
		other = func(d data) (any, error) { return p.getRequired(op, d) }
	} else if !is(kind, want) {
		return nil, fmt.Errorf("wrong type of operand: %s", operand)
	}
	return func(d data) (bool, error) {
		a, err := variable.getRequired("Variable", d)
		if err != nil {
			return false, err
		}
		b, err := other(d)
		if err != nil {
			return false, err
		}
		return is(kind, a) && is(kind, b) && holds(relation, order(kind, a, b)), nil
	}, nil
}

// is reports whether a value has the named type of the Amazon States Language.
func is(kind string, v any) (ok bool) {
	switch kind {
	case "Null":
		ok = v == nil
	case "String":
		_, ok = v.(string)
	case "Numeric":
		_, ok = v.(json.Number)
	case "Boolean":
		_, ok = v.(bool)
	case "Timestamp":
		_, ok = timestamp(v)
	}
	return ok
}

// order compares two values of one kind, as cmp.Compare does.
func order(kind string, a, b any) int {
	switch kind {
	case "String":
		return strings.Compare(a.(string), b.(string))
	case "Numeric":
		return compareNumbers(a.(json.Number), b.(json.Number))
	case "Timestamp":
		x, _ := timestamp(a)
		y, _ := timestamp(b)
		return x.Compare(y)
	}
	if a == b { // booleans have no order: they are equal or not
		return 0
	}
	return 1
}

func compareNumbers(a, b json.Number) int {
	i, err := a.Int64()
	j, err2 := b.Int64()
	if err == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	return cmp.Compare(x, y)
}

func holds(relation string, order int) bool {
	switch relation {
	case "LessThan":
		return order < 0
	case "LessThanEquals":
		return order <= 0
	case "GreaterThan":
		return order > 0
	case "GreaterThanEquals":
		return order >= 0
	}
	return order == 0
}

// compileMatch compiles the pattern of StringMatches: * matches any text, \* and \\
// match the characters * and \.
func compileMatch(variable path, want any) (test, error) {
	pattern, ok := want.(string)
	if !ok {
		return nil, errors.New("it must be a string")
	}
	var expr strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '*':
			expr.WriteString(".*")
		default:
			expr.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	if escaped {
		return nil, errors.New(`it ends with a single \`)
	}
	re, err := regexp.Compile(`(?s)^` + expr.String() + `$`)
	if err != nil {
		return nil, err
	}
	return func(d data) (bool, error) {
		v, err := variable.getRequired("Variable", d)
		s, ok := v.(string)
		return ok && re.MatchString(s), err
	}, nil
}

// timestamp parses the profile of RFC 3339 that the language requires.
func timestamp(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}
