package attack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"matchday/pkg/spec"
)

// Operation is one operation of a room's OpenAPI document.
type Operation struct {
	Room, ID     string // "pickem", "put-result"
	Method, Path string // "/pickem/app/events/{eventId}": with the room's base path
	Auth         spec.Auth
	methods      []string // that the path has
	params       []param
	body         *schema // nil without one
	bodyRequired bool
	anyQuery     bool               // parameters of the query that the document does not name are allowed
	answers      map[string]*schema // by status; nil for an answer without content
	media        map[string]string  // the media types of answers that are not JSON, by status
}

// Name is the name of the operation's function: "pickem/put-result".
func (o Operation) Name() string { return o.Room + "/" + o.ID }

type param struct {
	in, name string
	required bool
	schema   *schema
}

// schema is a part of a document that validates values.
type schema struct {
	node
	valid *jsonschema.Schema
}

// node is a schema as the document has it; references are followed by resolve.
type node map[string]any

// document is a parsed OpenAPI 3.1 document.
type document struct {
	root     map[string]any
	compiler *jsonschema.Compiler
}

const documentURL = "openapi.json"

// Operations returns the operations of a room's OpenAPI document, in the order of
// their names. auth is the authorization of each, by its id.
func Operations(room string, text []byte, auth map[string]spec.Auth) ([]Operation, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	base := ""
	if servers, ok := d.root["servers"].([]any); ok && len(servers) > 0 {
		base, _ = servers[0].(map[string]any)["url"].(string)
	}
	var all []Operation
	paths, _ := d.root["paths"].(map[string]any)
	for path, methods := range paths {
		for method, description := range methods.(map[string]any) {
			description, ok := description.(map[string]any)
			if !ok || description["operationId"] == nil {
				continue
			}
			o := Operation{Room: room, ID: description["operationId"].(string), Method: strings.ToUpper(method), Path: base + path, answers: map[string]*schema{}, media: map[string]string{}}
			o.Auth = auth[o.ID]
			for m := range methods.(map[string]any) {
				o.methods = append(o.methods, strings.ToUpper(m))
			}
			at := pointer("paths", path, method)
			if err := d.fill(&o, description, at); err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}
			o.methods = append(o.methods, spec.Route{Method: o.Method, Auth: o.Auth, OthersCall: o.anyQuery}.Methods()...)
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

func (d *document) fill(o *Operation, description map[string]any, at string) (err error) {
	params, _ := description["parameters"].([]any)
	for i, p := range params {
		p := p.(map[string]any)
		q := param{in: p["in"].(string), name: p["name"].(string)}
		q.required, _ = p["required"].(bool)
		if q.schema, err = d.schema(at + pointer("parameters", strconv.Itoa(i), "schema")); err != nil {
			return err
		}
		if q.in == "query" && q.schema.kind() == "object" { // it stands for all others
			o.anyQuery = true
			continue
		}
		if q.in == "path" || q.in == "query" || q.in == "header" {
			o.params = append(o.params, q)
		}
	}
	if body, ok := description["requestBody"].(map[string]any); ok && content(body, "application/json") {
		o.bodyRequired, _ = body["required"].(bool)
		if o.body, err = d.schema(at + pointer("requestBody", "content", "application/json", "schema")); err != nil {
			return err
		}
	}
	responses, _ := description["responses"].(map[string]any)
	for status, r := range responses {
		o.answers[status] = nil
		o.media[status] = otherMedia(r)
		if r, ok := r.(map[string]any); ok && content(r, "application/json") {
			if o.answers[status], err = d.schema(at + pointer("responses", status, "content", "application/json", "schema")); err != nil {
				return err
			}
		}
	}
	return nil
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

// pages reports whether the operation answers with another media type than JSON.
func (o Operation) pages() bool { return o.media["200"] != "" }

func content(of map[string]any, kind string) bool {
	c, _ := of["content"].(map[string]any)
	media, _ := c[kind].(map[string]any)
	return media["schema"] != nil
}

// answer returns the schema of an answer with a status. documented is false if the
// document does not have the status.
func (o Operation) answer(status int) (s *schema, documented bool) {
	s, documented = o.answers[strconv.Itoa(status)]
	return s, documented
}

func parseDocument(text []byte) (*document, error) {
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
	for _, f := range []*jsonschema.Format{
		{Name: "int32", Validate: within(math.MinInt32, math.MaxInt32)}, {Name: "int64", Validate: within(math.MinInt64, math.MaxInt64)},
	} {
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

func (d *document) schema(at string) (*schema, error) {
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
	return &schema{d.resolve(v), valid}, nil
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

// check returns why JSON text is not valid, nil if it is.
func (s *schema) check(text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.valid.Validate(v)
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

// valueOf is the JSON value of a parameter's text, as a schema reads it.
func (n node) valueOf(text string) any {
	switch n.kind() {
	case "integer", "number":
		if json.Valid([]byte(text)) && strings.TrimSpace(text) == text {
			return json.Number(text)
		}
	case "boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	case "array":
		all := []any{}
		for part := range strings.SplitSeq(text, ",") {
			all = append(all, n.items().valueOf(part))
		}
		return all
	}
	return text
}

// changes reports whether the operation may change something.
func (o Operation) changes() bool { return o.Method != http.MethodGet && o.Method != http.MethodHead }
