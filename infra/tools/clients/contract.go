package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
)

// contract is what the packages have of a room: the operations that an app calls, and their schemas.
type contract struct {
	Room       string
	Version    string // of the contract, such as 1
	Operations []operation
	Schemas    []schema
	Codes      []string // of the problems of all operations, sorted
}

// operation is an operation that answers with JSON or with nothing. Pages, files and forms are for browsers.
type operation struct {
	ID         string // create-league
	Method     string // POST
	Path       string
	Doc        string
	Parameters []parameter // those of the path first, then the required ones; without Idempotency-Key
	Body       *kind       // nil without a body
	BodyNeeded bool
	Answer     *kind    // nil without a body
	Keyed      bool     // takes an Idempotency-Key
	Next       []string // where the answer has the next cursor; nil for no list
	Tagged     bool     // what it returns is changed by a request that sends its ETag as If-Match
}

type parameter struct {
	Name   string
	In     string // path, query or header
	Doc    string
	Type   kind
	Needed bool
}

// schema is a named object.
type schema struct {
	Name   string
	Doc    string
	Fields []field
}

type field struct {
	Name   string
	Doc    string
	Type   kind
	Needed bool // never absent
}

// base is what a value is, apart from null.
type base int

const (
	text base = iota
	boolean
	int32s
	int64s
	double
	instant // RFC 3339
	word    // one of Words today
	named   // the schema Name
	list    // of Of
	dictionary
	anything // any JSON
)

// kind is the type of a value.
type kind struct {
	Base     base
	Name     string
	Words    []string
	Of       *kind
	Nullable bool
}

// document is an OpenAPI document, as far as the packages need it.
type document struct {
	Info  struct{ Version string }
	Paths map[string]map[string]struct {
		OperationID, Summary, Description string
		Parameters                        []struct {
			Name, In, Description string
			Required              bool
			Schema                *definition
		}
		RequestBody *struct {
			Required bool
			Content  map[string]media
		}
		Responses map[string]struct{ Content map[string]media }
	}
	Components struct{ Schemas map[string]*definition }
}

type media struct{ Schema *definition }

// definition is a JSON Schema.
type definition struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Format               string
	Description          string
	Properties           map[string]*definition
	Required             []string
	Items                *definition
	AdditionalProperties json.RawMessage
	Enum                 []any
	OneOf                []*definition
	Codes                []string `json:"x-extensible-enum"`
}

// types are the types of a schema: one, or a list.
type types []string

func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if err := json.Unmarshal(b, &one); err == nil {
		*t = types{one}
		return nil
	}

	return json.Unmarshal(b, (*[]string)(t))
}

// read returns the contract of a room. It returns an error for what no package can express.
func read(room, file string) (contract, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return contract{}, err
	}

	c, err := parse(room, b)
	if err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}

	return c, nil
}

func parse(room string, b []byte) (contract, error) {
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return contract{}, err
	}

	r := reader{schemas: d.Components.Schemas, used: map[string]bool{}, codes: map[string]bool{}}
	c := contract{Room: room, Version: d.Info.Version}

	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			o := d.Paths[path][method]
			out := operation{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Doc: doc(o.Summary, o.Description)}

			answers := false

			for status, answer := range o.Responses {
				answers = answers || status[0] == '2' && (len(answer.Content) == 0 || answer.Content["application/json"].Schema != nil)
			}

			if !answers || o.RequestBody != nil && o.RequestBody.Content["application/json"].Schema == nil {
				continue
			}

			for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
				for _, content := range o.Responses[status].Content {
					r.note(content.Schema)
				}

				of := o.Responses[status].Content["application/json"].Schema
				if status[0] != '2' || of == nil {
					continue
				}

				k := r.kind(of, "")
				if out.Answer != nil && out.Answer.Name != k.Name {
					r.fail("%s has two answers, %s and %s", o.OperationID, out.Answer.Name, k.Name)
				}

				out.Answer = &k
			}

			if o.RequestBody != nil {
				k := r.kind(o.RequestBody.Content["application/json"].Schema, "")
				out.Body, out.BodyNeeded = &k, o.RequestBody.Required
			}

			for _, p := range o.Parameters {
				if p.In == "header" && p.Name == "Idempotency-Key" {
					out.Keyed = true
					continue
				}

				k := r.kind(p.Schema, "")

				switch {
				case p.In == "query" && k.Base == dictionary:
					continue // all that have no name here: the API ignores them
				case !sendable(p.In, k):
					r.fail("%s has the parameter %s in %s, which no package can send", o.OperationID, p.Name, p.In)
				}

				out.Parameters = append(out.Parameters, parameter{Name: p.Name, In: p.In, Doc: p.Description, Type: k, Needed: p.Required})

				if p.In == "query" && p.Name == "cursor" {
					out.Next = r.next(out.Answer)
				}
			}

			slices.SortStableFunc(out.Parameters, func(a, b parameter) int { return rank(a) - rank(b) })
			c.Operations = append(c.Operations, out)
		}
	}

	for i, o := range c.Operations {
		c.Operations[i].Tagged = o.Method == "GET" && o.Answer != nil && strings.HasSuffix(o.Path, "}") &&
			slices.ContainsFunc(c.Operations, func(change operation) bool {
				return strings.HasPrefix(change.Path+"/", o.Path+"/") &&
					slices.ContainsFunc(change.Parameters, func(p parameter) bool { return p.Name == "If-Match" })
			})
	}

	for _, name := range slices.Sorted(maps.Keys(r.used)) {
		s := schema{Name: name, Doc: d.Components.Schemas[name].Description}
		of := d.Components.Schemas[name]

		for _, property := range slices.Sorted(maps.Keys(of.Properties)) {
			p := of.Properties[property]
			s.Fields = append(s.Fields, field{
				Name:   property,
				Doc:    p.Description,
				Type:   r.kind(p, name+title(property)),
				Needed: slices.Contains(of.Required, property),
			})
		}

		c.Schemas = append(c.Schemas, s)
	}

	c.Codes = slices.Sorted(maps.Keys(r.codes))

	return c, r.err
}

// sendable reports whether all packages can send a parameter of the kind there.
func sendable(in string, k kind) bool {
	switch {
	case k.Nullable:
		return false
	case in == "header":
		return k.Base == text
	case in == "path":
		return slices.Contains([]base{text, boolean, int32s, int64s}, k.Base)
	case in == "query":
		return slices.Contains([]base{text, boolean, int32s, int64s, double, instant}, k.Base) || k.Base == list && k.Of.Base == text
	default:
		return false
	}
}

// rank orders parameters: path, required, optional.
func rank(p parameter) int {
	switch {
	case p.In == "path":
		return 0
	case p.Needed:
		return 1
	default:
		return 2
	}
}

// reader reads schemas, and collects which are used.
type reader struct {
	schemas map[string]*definition
	used    map[string]bool
	codes   map[string]bool
	err     error // the first
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

const urn = "urn:problem-type:matchday:"

// note collects the codes of a problem.
func (r *reader) note(s *definition) {
	if s == nil || s.Properties["type"] == nil {
		return
	}

	for _, code := range s.Properties["type"].Codes {
		r.codes[strings.TrimPrefix(code, urn)] = true
	}
}

// use marks a schema and those that it refers to.
func (r *reader) use(name string) {
	s := r.schemas[name]

	switch {
	case r.used[name]:
		return
	case s == nil:
		r.fail("there is no schema %s", name)
		return
	case !slices.Equal(s.Type, types{"object"}):
		r.fail("the schema %s is no object", name)
		return
	}

	r.used[name] = true
	for property, p := range s.Properties {
		r.kind(p, name+title(property))
	}
}

// kind returns the type of a schema. name is that of its words if it is an enumeration; "" leaves it a text.
func (r *reader) kind(s *definition, name string) kind {
	if s.Ref != "" {
		of := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		r.use(of)

		return kind{Base: named, Name: of}
	}

	k := kind{Nullable: slices.Contains(s.Type, "null")}

	rest := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	if len(rest) != 1 {
		k.Base = anything // a choice, or no schema at all
		for _, one := range s.OneOf {
			k.Nullable = k.Nullable || slices.Contains(one.Type, "null")
		}

		return k
	}

	switch rest[0] {
	case "string":
		k.Base = text

		if s.Format == "date-time" {
			k.Base = instant
		}

		if len(s.Enum) > 0 && name != "" {
			k.Base, k.Name = word, name
			if r.schemas[name] != nil { // MatchState, and the state of a Match
				k.Name += "Value"
			}

			for _, v := range s.Enum {
				if v, ok := v.(string); ok {
					k.Words = append(k.Words, v)
				}
			}
		}
	case "boolean":
		k.Base = boolean
	case "integer":
		k.Base = int64s
		if s.Format == "int32" {
			k.Base = int32s
		}
	case "number":
		k.Base = double
	case "array":
		of := r.kind(s.Items, name)
		k.Base, k.Of = list, &of
	case "object":
		var of definition
		if s.Properties != nil || json.Unmarshal(s.AdditionalProperties, &of) != nil {
			r.fail("%s is an object without a name", name)
			return k
		}

		inner := r.kind(&of, name)
		k.Base, k.Of = dictionary, &inner
	default:
		r.fail("%s has the type %s", name, rest[0])
	}

	return k
}

// next is where an answer has the cursor of the next page: next, or meta.next.
func (r *reader) next(answer *kind) []string {
	if answer == nil || answer.Base != named {
		return nil
	}

	top := r.schemas[answer.Name].Properties
	if top["next"] != nil {
		return []string{"next"}
	}

	if meta := top["meta"]; meta != nil && meta.Ref != "" {
		if r.schemas[meta.Ref[strings.LastIndex(meta.Ref, "/")+1:]].Properties["next"] != nil {
			return []string{"meta", "next"}
		}
	}

	return nil
}

// doc joins a summary and a description, which mostly begins with the summary.
func doc(summary, description string) string {
	if strings.HasPrefix(description, summary) {
		return strings.TrimSpace(description)
	}

	return strings.TrimSpace(summary + "\n\n" + description)
}

// title returns a name with its parts joined, each with an upper-case letter: create-league, CreateLeague.
func title(name string) string {
	var b strings.Builder

	upper := true

	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			upper = true
			continue
		case upper:
			c = unicode.ToUpper(c)
		}

		b.WriteRune(c)

		upper = false
	}

	return b.String()
}

// camel returns a name as that of a function or a variable: create-league, createLeague.
func camel(name string) string {
	t := []rune(title(name))
	if len(t) == 0 {
		return ""
	}

	t[0] = unicode.ToLower(t[0])

	return string(t)
}

// readName is the name of an operation that returns the ETag, too: get-game, readGame.
func readName(id string) string { return "read" + title(strings.TrimPrefix(id, "get-")) }

// constant returns a name as that of a constant: kick-off, KICK_OFF; noResult, NO_RESULT; EMPTY for no text.
func constant(name string) string {
	if name == "" {
		return "EMPTY"
	}

	var b strings.Builder

	previous := rune(0)

	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			c = '_'
		case unicode.IsUpper(c) && unicode.IsLower(previous):
			b.WriteRune('_')
		}

		b.WriteRune(unicode.ToUpper(c))

		previous = c
	}

	if s := b.String(); unicode.IsDigit(rune(s[0])) {
		return "_" + s
	}

	return b.String()
}

// collect adds the enumerations of a type.
func collect(words map[string]kind, k kind) {
	switch {
	case k.Base == word:
		words[k.Name] = k
	case k.Of != nil:
		collect(words, *k.Of)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
