package httpapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// callers describes who may call a route.
var callers = map[spec.Auth]string{
	spec.Public:  "Anybody may call it.",
	spec.User:    "Signed-in users may call it.",
	spec.Admin:   "Administrators may call it.",
	spec.Session: "The bearer of a session cookie may call it, and a native app with a token.",
	spec.Browser: "A browser calls it, signed in or not.",
	spec.Secret:  "The bearer of the shared secret may call it.",
}

// common are descriptions that are the same in every room.
var common = map[string]string{
	"limit":                   "The largest number of items in the answer.",
	"cursor":                  "The page that next of the answer before names. Absent: the first page.",
	"next":                    "The cursor of the next page. Absent: this is the last one.",
	"Cache-Control":           "How long caches may keep the answer.",
	"Content-Security-Policy": "What the page may load.",
	"ETag":                    "The version of the answer, for If-None-Match.",
	"Retry-After":             "Seconds until a retry may succeed.",
	"RateLimit":               "The limit that is exceeded, and the seconds until it is none.",
	"RateLimit-Policy":        "The number of requests that the limit allows in a window of seconds.",
	"WWW-Authenticate":        "That a native app sends a bearer token, and why the token is refused.",
	"Deprecation":             "Since when the operation is deprecated.",
	"Sunset":                  "From when on the operation may be gone.",
	"Link":                    "The page that says what to use in its place.",
}

// schemaName returns the name of a type's schema: that of the tag schema of its blank field, or
// that of the type. A type has the tag if its name needs its package to be understood, because the
// schemas of a room have no packages.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t.Kind() == reflect.Struct {
		field, _ := t.FieldByName("_")
		if name := field.Tag.Get("schema"); name != "" && len(field.Index) == 1 { // not of an embedded type
			return name
		}
	}

	return huma.DefaultSchemaNamer(t, hint)
}

// operation describes the route of fn. codes are those of its problems, by status.
func operation(fn spec.Function, codes map[int][]string) huma.Operation {
	route := fn.On.(spec.Route)
	room, name, _ := strings.Cut(fn.Name, "/")

	op := huma.Operation{
		OperationID: name, Method: route.Method, Path: route.Path, Tags: []string{room},
		Metadata: map[string]any{auth.Room: room},
		Summary:  strings.TrimSuffix(fn.Does, "."), Description: fn.Does + " " + callers[route.Auth],
		SkipValidateBody: true, // see readBodies
		Errors:           slices.Sorted(maps.Keys(codes)),
		Security:         []map[string][]string{}, // explicitly none
	}
	if len(route.Answers) > 0 {
		op.DefaultStatus = route.Answers[0]
	}

	if route.Auth == spec.User || route.Auth == spec.Admin {
		op.Security = []map[string][]string{{"jwt": {}}}
	}

	if route.Auth == spec.Session {
		op.Security = []map[string][]string{{"session": {}}, {"bearer": {}}} // one of them
	}

	var limits []map[string]any

	for _, l := range fn.Limits {
		described := map[string]any{"code": l.Code, "max": l.Max, "name": l.Name}
		if l.Per > 0 {
			described["per"] = int(l.Per.Seconds())
		}

		limits = append(limits, described)
	}

	op.Extensions = map[string]any{}
	if limits != nil {
		op.Extensions["x-limits"] = limits
	}

	if e := fn.Ends; e != nil {
		op.Deprecated, op.Extensions["x-sunset"] = true, e.Sunset.UTC().Format(time.DateOnly)
	}

	return op
}

// complete adds to a document what huma does not know: the other answers, an example of the
// body, the bounds of formats, and the descriptions of common.
func complete(fn spec.Function, codes map[int][]string) func(*huma.OpenAPI, *huma.Operation) {
	route := fn.On.(spec.Route)

	return func(doc *huma.OpenAPI, op *huma.Operation) {
		if route.OthersCall {
			op.Parameters = append(op.Parameters, &huma.Param{
				Name: "others", In: "query", Description: "Any other parameter is ignored.", Style: "form", Explode: new(true),
				Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}},
			})
		}

		for _, p := range op.Parameters {
			describe(&p.Description, p.Name)
			describe(&p.Schema.Description, p.Name)
			p.Schema.PatternDescription = "" // the messages have it already, and OpenAPI has no such member
		}

		schemas := doc.Components.Schemas
		for _, s := range schemas.Map() {
			for name, p := range s.Properties {
				describe(&p.Description, name)

				p.PatternDescription = ""
				if p.Nullable && len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
					p.Enum = append(slices.Clone(p.Enum), nil) // an enumeration allows null only if it lists it
				}

				bound(p)

				if p.Items != nil {
					bound(p.Items)
				}
			}
		}

		delete(schemas.Map()["ErrorDetail"].Properties, "value") // see sealed
		describeRefusals(doc, op, route, codes)

		first := op.Responses[strconv.Itoa(op.DefaultStatus)]
		if op.Method == http.MethodGet {
			first.Headers["ETag"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
			op.Responses["304"] = &huma.Response{Description: "The client has this version already."}
		}

		if first.Headers == nil {
			first.Headers = map[string]*huma.Param{}
		}

		if first.Headers["Cache-Control"] == nil {
			first.Headers["Cache-Control"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
		}

		for name := range ending(fn.Ends) {
			first.Headers[name] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeString}}
		}

		for name, h := range first.Headers {
			describe(&h.Description, name)
			describe(&h.Schema.Description, name)
		}

		for _, status := range route.Answers[min(1, len(route.Answers)):] {
			other := *first
			other.Description = http.StatusText(status)
			op.Responses[strconv.Itoa(status)] = &other
		}

		if route.Auth == spec.Session {
			op.Responses["401"].Headers = map[string]*huma.Param{
				"WWW-Authenticate": {Description: common["WWW-Authenticate"], Schema: &huma.Schema{Type: huma.TypeString}},
			}
		}

		if limited := op.Responses["429"]; limited != nil {
			limited.Headers = map[string]*huma.Param{
				"Retry-After": {Description: common["Retry-After"], Schema: &huma.Schema{Type: huma.TypeInteger}},
			}
			if codes[http.StatusTooManyRequests] != nil {
				for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
					limited.Headers[name] = &huma.Param{Description: common[name], Schema: &huma.Schema{Type: huma.TypeString}}
				}
			}
		}

		if op.RequestBody != nil {
			media := op.RequestBody.Content[bodyType(op.RequestBody)]
			media.Example = example(schemas, media.Schema)
		}
	}
}

func describe(text *string, name string) {
	if *text == "" {
		*text = common[name]
	}
}

// bound adds the bounds of a format to a schema that has none of its own.
func bound(s *huma.Schema) {
	set := func(bound **int, n int) {
		if *bound == nil {
			*bound = &n
		}
	}

	switch s.Format {
	case displayName:
		set(&s.MinLength, minDisplayName)
		set(&s.MaxLength, maxDisplayName)
	case email:
		set(&s.MaxLength, maxEmail)
	}
}

// samples are the examples of formats.
var samples = map[string]string{
	displayName: "Ann", email: "ann@example.com", uuid: "5b0e9a52-7c43-4a6f-9d18-000000000001",
	"date": "2026-06-06", "date-time": "2026-06-06T15:45:00Z",
}

// example returns a value of a schema: its first example, default or enumerated value,
// or one that its type, format and bounds allow. Strings with a pattern need an example
// of their own.
func example(all huma.Registry, s *huma.Schema) any {
	for s.Ref != "" {
		s = all.SchemaFromRef(s.Ref)
	}

	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		return example(all, s.OneOf[0])
	}

	switch s.Type {
	case huma.TypeObject:
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			object[name] = example(all, s.Properties[name])
		}

		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			object[samples[uuid]] = example(all, of)
		}

		return object
	case huma.TypeArray:
		n := 1
		if s.MinItems != nil {
			n = max(n, *s.MinItems)
		}

		return slices.Repeat([]any{example(all, s.Items)}, n)
	case huma.TypeBoolean:
		return true
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}

		return 1
	}

	return samples[s.Format]
}
