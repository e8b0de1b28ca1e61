// Package codable decodes JSON by the rules of Swift's Codable, from the source of the types that an app
// has. On a phone a payload that does not decode is dropped without a sign, so tests decode every payload
// that is pushed.
//
// It knows what our sources use: structs with stored properties of String, Int, Double, Bool, other
// structs, arrays and optionals, and CodingKeys. A property with another type is an error.
//
// The rules are those of JSONDecoder with its default strategies, which ActivityKit always uses:
// https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications
package codable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// Types are the structs of a source, by their names.
type Types map[string]Struct

// Struct is a struct that is Codable.
type Struct struct{ Properties []Property }

// Property is a stored property.
type Property struct {
	Name string // in the source
	Key  string // in the JSON
	Type string // as written: String, [Side]?
}

var (
	structs    = regexp.MustCompile(`^(?:public )?struct (\w+)\s*(?::[^{]*)?\{$`)
	keys       = regexp.MustCompile(`^(?:public |private )?enum CodingKeys\s*:\s*String,\s*CodingKey\s*\{$`)
	properties = regexp.MustCompile(`^(?:public )?(?:let|var) (\w+)\s*:\s*([\[\]\w?.]+)$`)
	cases      = regexp.MustCompile(`^case (.+)$`)
)

// Parse reads the structs of a Swift source. A line has one declaration; a function ends the properties of a
// struct.
func Parse(source string) (Types, error) {
	types := Types{}

	var open []string // names of the structs around a line; "" for another block

	for n, line := range strings.Split(source, "\n") {
		if at := strings.Index(line, "//"); at >= 0 {
			line = line[:at]
		}

		line = strings.TrimSpace(line)
		inside := ""

		if len(open) > 0 {
			inside = open[len(open)-1]
		}

		switch {
		case structs.MatchString(line):
			name := structs.FindStringSubmatch(line)[1]
			if _, twice := types[name]; twice {
				return nil, fmt.Errorf("line %d: a second struct %s", n+1, name)
			}

			types[name] = Struct{}
			open = append(open, name)
		case keys.MatchString(line):
			open = append(open, "CodingKeys of "+inside)
		case properties.MatchString(line) && inside != "" && !strings.Contains(inside, " "):
			m := properties.FindStringSubmatch(line)
			s := types[inside]
			s.Properties = append(s.Properties, Property{m[1], m[1], m[2]})
			types[inside] = s
		case cases.MatchString(line) && strings.HasPrefix(inside, "CodingKeys of "):
			if err := types.rename(strings.TrimPrefix(inside, "CodingKeys of "), cases.FindStringSubmatch(line)[1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		default:
			for range strings.Count(line, "{") - strings.Count(line, "}") {
				open = append(open, "")
			}

			for range strings.Count(line, "}") - strings.Count(line, "{") {
				if len(open) == 0 {
					return nil, fmt.Errorf("line %d: a } too many", n+1)
				}

				open = open[:len(open)-1]
			}
		}
	}

	if len(open) > 0 {
		return nil, errors.New("a } is missing")
	}

	return types, types.check()
}

// rename applies cases of CodingKeys: a, b = "c".
func (t Types) rename(name, list string) error {
	for _, c := range strings.Split(list, ",") {
		property, key, renamed := strings.Cut(c, "=")
		property, key = strings.TrimSpace(property), strings.Trim(strings.TrimSpace(key), `"`)

		found := false

		for i, p := range t[name].Properties {
			if p.Name == property {
				found = true

				if renamed {
					t[name].Properties[i].Key = key
				}
			}
		}

		if !found {
			return fmt.Errorf("CodingKeys of %s has the unknown property %s", name, property)
		}
	}

	return nil
}

// check returns an error for a property of an unknown type.
func (t Types) check() error {
	for name, s := range t {
		for _, p := range s.Properties {
			of := strings.Trim(p.Type, "[]?")
			if _, known := t[of]; !known && !scalar(of) {
				return fmt.Errorf("%s.%s has the type %s, which is unknown", name, p.Name, p.Type)
			}
		}
	}

	return nil
}

func scalar(name string) bool {
	return name == "String" || name == "Int" || name == "Double" || name == "Bool"
}

// Decode decodes a document as a struct. The error has the path of what the phone cannot decode, and
// Swift's name of the error: keyNotFound, valueNotFound or typeMismatch.
func (t Types) Decode(name string, document []byte) error {
	if _, ok := t[name]; !ok {
		return fmt.Errorf("there is no struct %s", name)
	}

	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()

	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return errors.New("dataCorrupted: not one JSON value")
	}

	return t.decode(name, "", v)
}

// decode decodes a value as a type.
func (t Types) decode(of, path string, v any) error {
	if inner, optional := strings.CutSuffix(of, "?"); optional {
		if v == nil {
			return nil
		}

		return t.decode(inner, path, v)
	}

	if v == nil {
		return fmt.Errorf("valueNotFound: %s is null and not optional", path)
	}

	mismatch := fmt.Errorf("typeMismatch: %s is no %s", path, of)

	if inner, array := strings.CutPrefix(of, "["); array {
		all, ok := v.([]any)
		if !ok {
			return mismatch
		}

		for i, e := range all {
			if err := t.decode(strings.TrimSuffix(inner, "]"), fmt.Sprintf("%s[%d]", path, i), e); err != nil {
				return err
			}
		}

		return nil
	}

	ok := false

	switch of {
	case "String":
		_, ok = v.(string)
	case "Bool":
		_, ok = v.(bool)
	case "Double":
		_, ok = v.(json.Number)
	case "Int":
		n, isNumber := v.(json.Number)
		if isNumber {
			f, err := n.Float64()
			ok = err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63
		}
	default:
		return t.decodeStruct(of, path, v)
	}

	if !ok {
		return mismatch
	}

	return nil
}

// decodeStruct decodes an object. Members that the struct does not have are ignored.
func (t Types) decodeStruct(of, path string, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("typeMismatch: %s is no %s", path, of)
	}

	for _, p := range t[of].Properties {
		at := strings.TrimPrefix(path+"."+p.Key, ".")

		member, has := object[p.Key]
		if !has {
			if strings.HasSuffix(p.Type, "?") {
				continue
			}

			return fmt.Errorf("keyNotFound: %s is missing and not optional", at)
		}

		if err := t.decode(p.Type, at, member); err != nil {
			return err
		}
	}

	return nil
}
