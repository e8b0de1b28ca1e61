package mutation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// value is JSON text as a tree that keeps what Go's values cannot: the order of
// members, duplicates, and text that is no JSON.
type value interface{ write(*bytes.Buffer) }

type (
	verbatim string // a scalar, or any text
	array    []value
	object   []member
	member   struct {
		name  string // with its quotes
		value value
	}
)

func (v verbatim) write(b *bytes.Buffer) { b.WriteString(string(v)) }

func (v array) write(b *bytes.Buffer) {
	b.WriteByte('[')

	for i, e := range v {
		if i > 0 {
			b.WriteByte(',')
		}

		e.write(b)
	}

	b.WriteByte(']')
}

func (v object) write(b *bytes.Buffer) {
	b.WriteByte('{')

	for i, m := range v {
		if i > 0 {
			b.WriteByte(',')
		}

		b.WriteString(m.name)
		b.WriteByte(':')
		m.value.write(b)
	}

	b.WriteByte('}')
}

func textOf(v value) string {
	var b bytes.Buffer
	v.write(&b)

	return b.String()
}

// parseValue parses JSON.
func parseValue(text []byte) (value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()

	v, err := next(d)
	if err != nil {
		return nil, err
	}

	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the JSON value")
	}

	return v, nil
}

func next(d *json.Decoder) (value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}

	switch t {
	case json.Delim('['):
		all := array{}

		for d.More() {
			v, err := next(d)
			if err != nil {
				return nil, err
			}

			all = append(all, v)
		}

		_, err := d.Token()

		return all, err
	case json.Delim('{'):
		all := object{}

		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}

			v, err := next(d)
			if err != nil {
				return nil, err
			}

			all = append(all, member{quoted(name.(string)), v})
		}

		_, err := d.Token()

		return all, err
	}

	text, err := json.Marshal(t)

	return verbatim(text), err
}

func quoted(s string) string {
	var b strings.Builder

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes

	return strings.TrimSuffix(b.String(), "\n")
}

// A path leads to a value in a tree: names of members, and indexes.
type path []any

// String is the path as a problem document names it: body.teams[0].name.
func (p path) String() string {
	var b strings.Builder
	b.WriteString("body")

	for _, s := range p {
		if name, ok := s.(string); ok {
			b.WriteString("." + name)
		} else {
			fmt.Fprintf(&b, "[%d]", s)
		}
	}

	return b.String()
}

func (p path) to(step any) path { return append(slices.Clone(p), step) }

// at returns the value at a path, nil if there is none.
func at(v value, p path) value {
	for _, s := range p {
		switch s := s.(type) {
		case string:
			o, _ := v.(object)

			i := o.index(s)
			if i < 0 {
				return nil
			}

			v = o[i].value
		case int:
			a, _ := v.(array)
			if s >= len(a) {
				return nil
			}

			v = a[s]
		}
	}

	return v
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == quoted(name) })
}

// replaced returns a copy of v with another value at a path. A member that is not
// there is added; nil removes it. v is returned as it is if the path leads nowhere.
func replaced(v value, p path, by value) value {
	if len(p) == 0 {
		return by
	}

	switch s := p[0].(type) {
	case string:
		o, ok := v.(object)
		if !ok {
			return v
		}

		o = slices.Clone(o)

		i := o.index(s)
		switch {
		case i < 0 && (len(p) > 1 || by == nil):
		case i < 0:
			o = append(o, member{quoted(s), by})
		case len(p) == 1 && by == nil:
			o = slices.Delete(o, i, i+1)
		default:
			o[i].value = replaced(o[i].value, p[1:], by)
		}

		return o
	case int:
		a, ok := v.(array)
		if !ok || s >= len(a) {
			return v
		}

		a = slices.Clone(a)
		a[s] = replaced(a[s], p[1:], by)

		return a
	}

	return v
}

// unquoted is the text of a JSON string, or the JSON text of anything else.
func unquoted(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil && strings.HasPrefix(text, `"`) {
		return s
	}

	return text
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}

	return string(text)
}
