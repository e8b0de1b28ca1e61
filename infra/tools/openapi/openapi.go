// Package openapi merges the OpenAPI documents of a room's functions. Each function
// describes its own route, from the types that it decodes and encodes, so that the
// document cannot differ from the code.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Room returns one OpenAPI 3.1 document of a room's routes. It returns an error if two
// functions describe the same route, or different components of one name.
func Room(room app.Room) ([]byte, error) {
	whole := document{Servers: []map[string]string{{"url": "/" + room.Spec.Name}}}
	for _, fn := range room.Functions {
		text, err := fn.OpenAPI()
		if text == nil && err == nil {
			continue
		}

		var part document
		if err == nil {
			part, err = parse(text)
		}

		if err == nil {
			err = whole.add(part)
		}

		if err != nil {
			return nil, fmt.Errorf("the description of %s: %w", fn.Name, err)
		}
	}

	return json.Marshal(whole)
}

// document has the members that are merged; others are taken from the first part.
type document struct {
	OpenAPI    string                    `json:"openapi"`
	Info       map[string]any            `json:"info"`
	Servers    []map[string]string       `json:"servers,omitempty"`
	Tags       []map[string]any          `json:"tags,omitempty"`
	Paths      map[string]map[string]any `json:"paths"`
	Components map[string]map[string]any `json:"components"`
}

func parse(text []byte) (d document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // keep the digits

	return d, decoder.Decode(&d)
}

// add merges a part. Two parts may have the same component, and different methods of
// one path.
func (d *document) add(part document) error {
	if d.Paths == nil {
		part.Servers = d.Servers
		*d = part

		return nil
	}

	for path, methods := range part.Paths {
		if err := merge(d.Paths, path, methods); err != nil {
			return err
		}
	}

	for kind, components := range part.Components {
		for name, c := range components {
			if have, ok := d.Components[kind][name]; ok && !reflect.DeepEqual(have, c) {
				return fmt.Errorf("another function has a different %s called %s", kind, name)
			}
		}

		if d.Components[kind] == nil {
			d.Components[kind] = map[string]any{}
		}

		maps.Copy(d.Components[kind], components)
	}

	return nil
}

func merge(paths map[string]map[string]any, path string, methods map[string]any) error {
	if paths[path] == nil {
		paths[path] = methods
		return nil
	}

	for method, operation := range methods {
		if _, twice := paths[path][method]; twice {
			return fmt.Errorf("another function has the route %s %s", method, path)
		}

		paths[path][method] = operation
	}

	return nil
}

// Missing lists what an OpenAPI document does not describe: operations of the room,
// summaries and descriptions of operations, descriptions of parameters, properties,
// tags and security schemes, and examples of bodies. It also lists the query parameters
// that a CDN would drop: of public routes, those that are not the route's Queries, and
// those of requests other than GET.
func Missing(document []byte, room spec.Room) (missing []string, err error) {
	var d struct {
		Tags  []struct{ Name, Description string }
		Paths map[string]map[string]struct {
			OperationID, Summary, Description string
			Tags                              []string
			Parameters                        []struct {
				Name, In, Description string
				Schema                struct{ Type any }
			}
			RequestBody *struct {
				Content map[string]struct{ Example any }
			}
		}
		Components struct {
			Schemas         map[string]any
			SecuritySchemes map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}

	say := func(format string, args ...any) { missing = append(missing, fmt.Sprintf(format, args...)) }

	tags := map[string]bool{}
	for _, t := range d.Tags {
		tags[t.Name] = t.Description != ""
	}

	described := map[string]bool{}
	queries := map[string][]string{} // by route

	for path, methods := range d.Paths {
		for method, o := range methods {
			described[strings.ToUpper(method)+" "+path] = true

			if o.Summary == "" || o.Description == "" {
				say("%s: a summary or a description", o.OperationID)
			}

			for _, t := range o.Tags {
				if !tags[t] {
					say("%s: a description of the tag %s", o.OperationID, t)
				}
			}

			for _, p := range o.Parameters {
				if p.Description == "" {
					say("%s: a description of the parameter %s", o.OperationID, p.Name)
				}

				if route := strings.ToUpper(method) + " " + path; p.In == "query" && p.Schema.Type != "object" { // an object stands for all others
					queries[route] = append(queries[route], p.Name)
				}
			}

			if o.RequestBody != nil {
				for media, content := range o.RequestBody.Content {
					if content.Example == nil {
						say("%s: an example of %s", o.OperationID, media)
					}
				}
			}
		}
	}

	for _, fn := range room.Functions {
		on, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}

		route := on.Method + " " + on.Path
		if !described[route] {
			say("%s: the operation", fn.Name)
		}

		switch got := slices.Sorted(slices.Values(queries[route])); {
		case on.Auth == spec.Public && !slices.Equal(got, slices.Sorted(slices.Values(on.Queries))):
			say("%s: Queries of its route: %q, want %q", fn.Name, on.Queries, got)
		case on.Method != "GET" && len(got) > 0:
			say("%s: a body in place of the query parameters %q", fn.Name, got)
		}
	}

	for name, s := range d.Components.SecuritySchemes {
		if s.Description == "" {
			say("a description of the security scheme %s", name)
		}
	}

	for name, s := range d.Components.Schemas {
		undescribed(name, s, say)
	}

	slices.Sort(missing)

	return missing, nil
}

// undescribed says which properties in and below a schema have no description.
func undescribed(at string, schema any, say func(string, ...any)) {
	s, _ := schema.(map[string]any)

	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		if m, _ := p.(map[string]any); m["description"] == nil {
			say("a description of %s.%s", at, name)
		}

		undescribed(at+"."+name, p, say)
	}

	for _, below := range []string{"items", "additionalProperties"} {
		if s[below] != nil {
			undescribed(at+"[]", s[below], say)
		}
	}
}
