// Package ios is the iPhone's half of a Live Activity of the cricket app: the Swift types of what is
// pushed, a JSON Schema of the content state, and payloads of all phases, in clients/ios. They are made
// from the Go types that are pushed, and a test fails if they differ.
//
// A payload that a phone cannot decode is dropped without a sign. So every content state that a test or a
// replay pushes is decoded by the types of now and by those of the last release, which phones may still
// have: Decodes.
package ios

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"matchday/infra/sim/codable"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
)

//go:embed released.swift
var released string

// types are the Swift types of now and of the last release.
var types = func() (all []codable.Types) {
	for _, source := range []string{Swift(), released} {
		t, err := codable.Parse(source)
		if err != nil {
			panic(err) // TestReleased shows it
		}

		all = append(all, t)
	}

	return all
}()

// Decodes returns an error if the app cannot decode a content state, by the types of now or of the last
// release.
func Decodes(state []byte) error { return decode("ContentState", state) }

// Starts returns an error if the app cannot decode the attributes of an activity.
func Starts(attributes []byte) error { return decode(tables.AttributesType, attributes) }

func decode(name string, document []byte) error {
	for i, t := range types {
		if err := t.Decode(name, document); err != nil {
			return fmt.Errorf("by the types of %s: %w", [...]string{"now", "the last release"}[i], err)
		}
	}

	return nil
}

// Swift returns the source of the types: an ActivityAttributes with its ContentState. What may be absent is
// optional, and codes are strings, so that an app of today decodes what is added later.
func Swift() string {
	var b strings.Builder

	b.WriteString(`// Generated from the types that the backend pushes. Add this file to the app and to its widget extension.
//
// Names and types are part of a contract: a push that does not decode is dropped without a sign. Properties
// are only added, and those are optional.

import ActivityKit

/// A match on the Lock Screen. What never changes: the match, its sides, and the side of the user.
public struct ` + tables.AttributesType + `: ActivityAttributes {
`)

	state := reflect.TypeFor[score.Display]()
	properties(&b, state, "ContentState", "    ", "What changes with each push.")

	for _, t := range nested(state) {
		properties(&b, t, t.Name(), "    ", "")
	}

	fields(&b, reflect.TypeFor[activity.Attributes](), "    ")
	b.WriteString("}\n")

	return b.String()
}

// properties writes a struct.
func properties(b *strings.Builder, t reflect.Type, name, indent, doc string) {
	if doc != "" {
		fmt.Fprintf(b, "%s/// %s\n", indent, doc)
	}

	fmt.Fprintf(b, "%spublic struct %s: Codable, Hashable {\n", indent, name)
	fields(b, t, indent+"    ")
	fmt.Fprintf(b, "%s}\n\n", indent)
}

// fields writes the stored properties of a struct.
func fields(b *strings.Builder, t reflect.Type, indent string) {
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" {
			continue
		}

		optional := ""
		if strings.Contains(options, "omit") {
			optional = "?"
		}

		fmt.Fprintf(b, "%s/// %s\n%spublic let %s: %s%s\n", indent, f.Tag.Get("doc"), indent, key, swiftOf(f.Type), optional)
	}
}

// swiftOf returns Swift's name of a type.
func swiftOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "String"
	case reflect.Int, reflect.Int64:
		return "Int"
	case reflect.Bool:
		return "Bool"
	case reflect.Float64:
		return "Double"
	case reflect.Slice:
		return "[" + swiftOf(t.Elem()) + "]"
	case reflect.Struct:
		return t.Name()
	}

	panic("a content state has no " + t.String())
}

// nested returns the structs that a struct has, each once.
func nested(t reflect.Type) (all []reflect.Type) {
	seen := map[reflect.Type]bool{}

	for _, f := range reflect.VisibleFields(t) {
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}

		if of.Kind() == reflect.Struct && f.Tag.Get("json") != "" && !seen[of] {
			seen[of] = true
			all = append(all, of)
		}
	}

	return all
}

// Schema returns the JSON Schema of the content state, of the draft 2020-12. Members that it does not
// name may come.
func Schema() ([]byte, error) {
	registry := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	root := registry.Schema(reflect.TypeFor[score.Display](), false, "ContentState")

	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}

	defs, err := json.Marshal(registry.Map())
	if err != nil {
		return nil, err
	}

	var schema, inside map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}

	if err := json.Unmarshal(defs, &inside); err != nil {
		return nil, err
	}

	for _, s := range inside {
		delete(s.(map[string]any), "additionalProperties")
	}

	delete(schema, "additionalProperties")

	schema["$schema"], schema["title"], schema["$defs"] = "https://json-schema.org/draft/2020-12/schema", "ContentState", inside

	return json.MarshalIndent(schema, "", "  ")
}
