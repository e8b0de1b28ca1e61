package calls

import (
	"io"
	"reflect"
	"strings"
	"time"
)

// kind is how a Go type of the SDK holds a value of the service's model.
type kind int

const (
	structure kind = iota
	list
	table // a map
	text
	enum
	whole
	real
	truth
	blob
	stream
	moment
	union
)

// field is a member of a structure.
type field struct {
	name  string
	index int
	bare  bool // it cannot be nil: the SDK does not send a zero value, unless the member is required
}

// kindOf returns how a type holds values; pointers are followed.
func kindOf(t reflect.Type) kind {
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return moment
		}

		return structure
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return blob
		}

		return list
	case reflect.Map:
		return table
	case reflect.String:
		if strings.HasSuffix(t.PkgPath(), "/types") {
			return enum
		}

		return text
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return whole
	case reflect.Float32, reflect.Float64:
		return real
	case reflect.Bool:
		return truth
	case reflect.Interface:
		if t == reflect.TypeFor[io.Reader]() {
			return stream
		}

		return union
	}

	panic("calls: no input of the SDK has the type " + t.String())
}

// fieldsOf returns the members that a structure may have.
func fieldsOf(t reflect.Type) (all []field) {
	for f := range t.Fields() {
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}

		k := f.Type.Kind()
		bare := k != reflect.Pointer && k != reflect.Interface && k != reflect.Slice && k != reflect.Map

		all = append(all, field{f.Name, f.Index[0], bare && k != reflect.Struct})
	}

	return all
}

// present reports whether the SDK sends a member.
func (f field) present(v reflect.Value) bool {
	switch {
	case f.bare:
		return !v.IsZero()
	case v.Kind() == reflect.Struct:
		return true
	}

	return !v.IsNil()
}

// follow returns what a pointer points to.
func follow(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}

	return v
}

// memberOf returns the name and the value of the member that a union has set.
func memberOf(v reflect.Value) (name string, value reflect.Value) {
	v = follow(v.Elem())
	_, name, _ = strings.Cut(v.Type().Name(), "Member")

	return name, v.FieldByName("Value")
}

// sizeOf returns the bytes of a stream, -1 if they are unknown.
func sizeOf(v reflect.Value) int {
	if s, ok := v.Interface().(interface{ Len() int }); ok {
		return s.Len()
	}

	return -1
}

// plain returns a value as JSON can hold it. Structures have the members that the SDK sends. A
// number or a boolean that cannot be nil is {"$zero": 0} if it is zero: the SDK sends it only if the
// member is required. Of a blob and a stream it has the size, as {"$blob": 3}; a time is
// {"$time": "2026-01-02T15:04:05Z"}.
func plain(v reflect.Value) any {
	v = follow(v)

	switch kindOf(v.Type()) {
	case structure:
		out := map[string]any{}

		for _, f := range fieldsOf(v.Type()) {
			switch m := v.Field(f.index); {
			case f.present(m):
				out[f.name] = plain(m)
			case m.CanInt(), m.CanFloat(), m.Kind() == reflect.Bool:
				out[f.name] = map[string]any{"$zero": m.Interface()}
			}
		}

		return out
	case list:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}

		return out
	case table:
		out := map[string]any{}
		for key, value := range v.Seq2() {
			out[key.String()] = plain(value)
		}

		return out
	case blob:
		return map[string]any{"$blob": v.Len()}
	case stream:
		return map[string]any{"$blob": sizeOf(v)}
	case moment:
		return map[string]any{"$time": v.Interface()}
	case union:
		name, value := memberOf(v)
		return map[string]any{name: plain(value)}
	case enum, text:
		return v.String()
	case whole, real, truth:
	}

	return v.Interface()
}
