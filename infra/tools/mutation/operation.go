package mutation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"matchday/pkg/spec"
)

// formType is the media type of a form.
const formType = "application/x-www-form-urlencoded"

// Operation is one operation of a room's OpenAPI document.
type Operation struct {
	Room, ID     string // "pickem", "put-result"
	Method, Path string // "/pickem/app/events/{eventId}": with the room's base path
	Auth         spec.Auth
	Methods      []string // that the path has
	Params       []Param
	Body         *Schema // nil without one
	BodyRequired bool
	Form         bool               // its body is a form of a page, which is Raw in requests
	AnyQuery     bool               // parameters of the query that the document does not name are allowed
	Answers      map[string]*Schema // by status; nil for an answer without content
	Media        map[string]string  // the media types of answers that are not JSON, by status
	Problems     map[string][]any   // the types of its problems, by status
}

// Name is the name of the operation's function: "pickem/put-result".
func (o Operation) Name() string { return o.Room + "/" + o.ID }

// Answer returns the schema of an answer with a status. documented is false if the
// document does not have the status.
func (o Operation) Answer(status int) (s *Schema, documented bool) {
	s, documented = o.Answers[strconv.Itoa(status)]
	return s, documented
}

// HasPages reports whether the operation answers with another media type than JSON: with a page, or, as a form
// that is carried out, with the address of one.
func (o Operation) HasPages() bool { return o.Media["200"] != "" || o.Media["303"] != "" }

// Changes reports whether the operation may change something.
func (o Operation) Changes() bool { return o.Method != http.MethodGet && o.Method != http.MethodHead }

// Param is a parameter of the path, the query or the headers.
type Param struct {
	In, Name string
	Required bool
	Schema   *Schema
}

// Schema is a part of a document that validates values.
type Schema struct {
	node
	valid *jsonschema.Schema
}

// Validate returns why a value is not valid, nil if it is. Its numbers are json.Number, and valid
// if what their readers get is. It may change v.
func (s *Schema) Validate(v any) error { return s.valid.Validate(doubles(v)) }

// Check is Validate for JSON text.
func (s *Schema) Check(text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}

	return s.Validate(v)
}

// ForgetUnknown removes the members of an object that the schema allows and does not describe.
func (s *Schema) ForgetUnknown(v any) {
	members, ok := v.(map[string]any)
	if !ok || s.node["additionalProperties"] != true {
		return
	}

	maps.DeleteFunc(members, func(name string, _ any) bool {
		_, known := s.property(name)
		return !known
	})
}

// node is a schema as the document has it; references are followed by resolve.
type node map[string]any

// document is a parsed OpenAPI 3.1 document.
type document struct {
	root     map[string]any
	compiler *jsonschema.Compiler
}

const documentURL = "openapi.json"

// Operations returns the operations of a room's OpenAPI document, in the order of their names:
// one for each route of the room. Formats are known to the schemas beside those of JSON Schema,
// int32 and int64.
func Operations(room spec.Room, text []byte, formats ...*jsonschema.Format) ([]Operation, error) {
	d, err := parseDocument(text, formats)
	if err != nil {
		return nil, err
	}

	routes := map[string]spec.Route{}

	for _, fn := range room.Functions {
		if on, ok := fn.On.(spec.Route); ok {
			routes[strings.TrimPrefix(fn.Name, room.Name+"/")] = on
		}
	}

	var all []Operation

	paths, _ := d.root["paths"].(map[string]any)
	for path, methods := range paths {
		for method, description := range methods.(map[string]any) {
			description, ok := description.(map[string]any)
			if !ok || description["operationId"] == nil {
				continue
			}

			o := Operation{
				Room: room.Name, ID: description["operationId"].(string),
				Method: strings.ToUpper(method), Path: "/" + room.Name + path,
				Answers: map[string]*Schema{}, Media: map[string]string{}, Problems: map[string][]any{},
			}

			on, ok := routes[o.ID]
			if !ok {
				return nil, fmt.Errorf("%s is no route of the room", o.Name())
			}

			o.Auth = on.Auth
			for m := range methods.(map[string]any) {
				o.Methods = append(o.Methods, strings.ToUpper(m))
			}

			o.Methods = append(o.Methods, on.Methods()...)
			if err := d.fill(&o, description, pointer("paths", path, method)); err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}

			all = append(all, o)
		}
	}

	if len(all) != len(routes) {
		return nil, fmt.Errorf("the document of %s has %d operations, and the room %d routes", room.Name, len(all), len(routes))
	}

	slices.SortFunc(all, func(a, b Operation) int { return cmp.Compare(a.ID, b.ID) })

	return all, nil
}

func (d *document) fill(o *Operation, description map[string]any, at string) (err error) {
	params, _ := description["parameters"].([]any)
	for i, p := range params {
		p := p.(map[string]any)
		q := Param{In: p["in"].(string), Name: p["name"].(string)}

		q.Required, _ = p["required"].(bool)
		if q.Schema, err = d.schema(at + pointer("parameters", strconv.Itoa(i), "schema")); err != nil {
			return err
		}

		if q.In == "query" && q.Schema.kind() == "object" { // it stands for all others
			o.AnyQuery = true
			continue
		}

		if q.In == "path" || q.In == "query" || q.In == "header" {
			o.Params = append(o.Params, q)
		}
	}

	body, ok := description["requestBody"].(map[string]any)
	o.Form = ok && content(body, formType)

	if ok && content(body, "application/json") {
		o.BodyRequired, _ = body["required"].(bool)
		if o.Body, err = d.schema(at + pointer("requestBody", "content", "application/json", "schema")); err != nil {
			return err
		}
	}

	responses, _ := description["responses"].(map[string]any)
	for status, r := range responses {
		o.Answers[status] = nil

		o.Media[status] = otherMedia(r)
		o.Problems[status], _ = inside(r, "content", "application/problem+json", "schema", "properties", "type", "x-extensible-enum").([]any)

		if r, ok := r.(map[string]any); ok && content(r, "application/json") {
			if o.Answers[status], err = d.schema(at + pointer("responses", status, "content", "application/json", "schema")); err != nil {
				return err
			}
		}
	}

	return nil
}

// inside returns a member within an object, nil if it is not there.
func inside(of any, path ...string) any {
	for _, name := range path {
		object, _ := of.(map[string]any)
		of = object[name]
	}

	return of
}

// otherMedia returns the media type of an answer that is neither JSON nor a problem
// document, "" for one that is.
func otherMedia(answer any) string {
	r, _ := answer.(map[string]any)

	c, _ := r["content"].(map[string]any)
	for kind := range c {
		if kind != "application/json" && kind != "application/problem+json" {
			return kind
		}
	}

	return ""
}

func content(of map[string]any, kind string) bool {
	c, _ := of["content"].(map[string]any)
	media, _ := c[kind].(map[string]any)

	return media["schema"] != nil
}

func parseDocument(text []byte, formats []*jsonschema.Format) (*document, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}

	root, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an OpenAPI document is a JSON object")
	}

	d := &document{root, jsonschema.NewCompiler()}
	d.compiler.AssertFormat()

	own := []*jsonschema.Format{
		{Name: "int32", Validate: within(math.MinInt32, math.MaxInt32)},
		{Name: "int64", Validate: within(math.MinInt64, math.MaxInt64)},
	}
	for _, f := range append(own, formats...) {
		d.compiler.RegisterFormat(f)
	}

	return d, d.compiler.AddResource(documentURL, v)
}

// within is the validation of the formats of integers.
func within(least, most int64) func(any) error {
	return func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}

		if f, err := n.Float64(); err != nil || f < float64(least) || f > float64(most) {
			return fmt.Errorf("%s is not between %d and %d", n, least, most)
		}

		if i, err := n.Int64(); err == nil && (i < least || i > most) {
			return fmt.Errorf("%s is not between %d and %d", n, least, most)
		}

		return nil
	}
}

// pointer is a JSON pointer.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(n))
	}

	return b.String()
}

func (d *document) schema(at string) (*Schema, error) {
	escaped := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(at)

	valid, err := d.compiler.Compile(documentURL + "#" + escaped)
	if err != nil {
		return nil, err
	}

	var v any = d.root

	for part := range strings.SplitSeq(at[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)

		switch of := v.(type) {
		case map[string]any:
			v = of[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil {
				return nil, err
			}

			v = of[i]
		}
	}

	return &Schema{d.resolve(v), valid}, nil
}

// resolve follows references, everywhere below v.
func (d *document) resolve(v any) node { return d.inline(v, nil) }

func (d *document) inline(v any, within []string) node {
	n, _ := v.(map[string]any)
	if ref, ok := n["$ref"].(string); ok {
		if slices.Contains(within, ref) {
			return node{} // a recursive type is attacked to its first level
		}

		var to any = d.root
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			to = to.(map[string]any)[part]
		}

		return d.inline(to, append(slices.Clone(within), ref))
	}

	out := node{}
	for k, v := range n {
		out[k] = v
	}

	if props, ok := n["properties"].(map[string]any); ok {
		all := map[string]any{}
		for name, p := range props {
			all[name] = map[string]any(d.inline(p, within))
		}

		out["properties"] = all
	}

	if items, ok := n["items"]; ok {
		out["items"] = map[string]any(d.inline(items, within))
	}

	if values, ok := n["additionalProperties"].(map[string]any); ok {
		out["additionalProperties"] = map[string]any(d.inline(values, within))
	}

	return out
}

// kind is the JSON type of the values of a schema; null beside another is left out.
func (n node) kind() string {
	switch t := n["type"].(type) {
	case string:
		return t
	case []any:
		for _, k := range t {
			if k != "null" {
				return k.(string)
			}
		}
	}

	return ""
}

func (n node) number(name string) (int64, bool) {
	v, ok := n[name].(json.Number)
	if !ok {
		return 0, false
	}

	i, err := v.Int64()

	return i, err == nil
}

func (n node) text(name string) string { s, _ := n[name].(string); return s }

func (n node) property(name string) (node, bool) {
	props, _ := n["properties"].(map[string]any)
	p, ok := props[name].(map[string]any)

	return p, ok
}

func (n node) properties() (names []string) {
	props, _ := n["properties"].(map[string]any)
	for name := range props {
		names = append(names, name)
	}

	slices.Sort(names)

	return names
}

func (n node) requires(name string) bool {
	all, _ := n["required"].([]any)
	return slices.Contains(all, any(name))
}

func (n node) items() node {
	items, _ := n["items"].(map[string]any)
	return items
}

// values is the schema of a map's values. ok is false if the objects of n are no maps.
func (n node) values() (values node, ok bool) {
	v, ok := n["additionalProperties"].(map[string]any)
	return v, ok
}

// withoutNulls removes optional members that are null: they stand for absent ones.
func (n node) withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}

		for name, m := range v {
			p, known := n.property(name)
			if m == nil && known && !n.requires(name) {
				continue
			}

			out[name] = p.withoutNulls(m)
		}

		return out
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = n.items().withoutNulls(m)
		}

		return out
	}

	return v
}

// doubles returns a JSON value with the numbers that its readers get: RFC 8259, 6, promises no
// more than the range and precision of binary64, in which 1e-400 is 0. Integers beyond its
// precision stay as they are.
func doubles(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && math.Abs(f) < 1<<53 {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	case []any:
		for i, m := range v {
			v[i] = doubles(m)
		}
	case map[string]any:
		for name, m := range v {
			v[name] = doubles(m)
		}
	}

	return v
}
