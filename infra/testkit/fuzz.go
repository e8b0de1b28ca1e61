package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/unicode/norm"

	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// decoder answers a request of an operation with the body that the use case gets.
type decoder struct {
	fn     spec.Function
	handle http.Handler
	schema *jsonschema.Schema
	sample events.APIGatewayV2HTTPRequest
}

// echo is the answer of a decoder.
type echo struct{ Body any }

// newDecoder returns nil if the operation has no body.
func newDecoder[In any](t testing.TB, fn spec.Function) *decoder {
	field, ok := reflect.TypeFor[In]().FieldByName("Body")
	if !ok {
		return nil
	}
	do := func(_ context.Context, in *In) (*echo, error) {
		return &echo{reflect.ValueOf(in).Elem().FieldByIndex(field.Index).Interface()}, nil
	}
	text, err := httpapi.OpenAPI(fn, do)
	Must(t, err)
	return &decoder{fn: fn, handle: httpapi.Handler(fn, do), schema: bodySchema(t, fn, text)}
}

// bodySchema compiles the schema of the body in an OpenAPI document.
func bodySchema(t testing.TB, fn spec.Function, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	Must(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "display-name", Validate: func(v any) error {
		name, _ := v.(string)
		hidden := func(r rune) bool {
			return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point)
		}
		if !norm.NFC.IsNormalString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, hidden) {
			return fmt.Errorf("%+q is no name as it is stored", name)
		}
		return nil
	}})
	Must(t, c.AddResource("openapi.json", document))
	on := fn.On.(spec.Route)
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(on.Path)
	s, err := c.Compile("openapi.json#/paths/" + pointer + "/" + strings.ToLower(on.Method) + "/requestBody/content/application~1json/schema")
	Must(t, err)
	return s
}

// FuzzBodies sends bodies to every operation of the world that has one. The answer of
// its route, as an administrator, is never a 5xx. Nothing is decoded that the schema
// forbids, or that is not in the body. folder has the sample events of the room.
func FuzzBodies(f *testing.F, w *World, routes map[string]Route, folder string) {
	var all []*decoder
	for _, open := range w.decoders {
		d := open()
		if d == nil {
			continue
		}
		_, name, _ := strings.Cut(d.fn.Name, "/")
		text, err := os.ReadFile(filepath.Join(folder, name, "good.json"))
		Must(f, err)
		Must(f, json.Unmarshal(text, &d.sample))
		d.sample = Request(d.fn.On.(spec.Route).Method, d.sample.RawPath, Administrator, d.sample.Body)
		for _, body := range variants(d.sample.Body) {
			f.Add(uint8(len(all)), body)
		}
		all = append(all, d)
	}
	f.Fuzz(func(t *testing.T, n uint8, body string) {
		w.T = t
		d := all[int(n)%len(all)]
		d.check(t, body)
		e := d.sample
		e.Body = body
		if out := routes[d.fn.Name](e); out.StatusCode >= 500 {
			t.Errorf("%s %q: got %d %s", d.fn.Name, body, out.StatusCode, out.Body)
		}
	})
}

// check decodes a body and compares what was decoded with it and with the schema.
func (d *decoder) check(t *testing.T, body string) {
	t.Helper()
	e := d.sample
	e.Body = body
	w := httptest.NewRecorder()
	var events core.RequestAccessorV2
	r, err := events.EventToRequestWithContext(t.Context(), e)
	Must(t, err)
	d.handle.ServeHTTP(w, r)
	switch {
	case w.Code >= 500:
		t.Errorf("%s %q: got %d %s", d.fn.Name, body, w.Code, w.Body)
		return
	case w.Code >= 300:
		return
	}
	if strings.TrimSpace(body) == "" {
		return // an optional body
	}
	decoded, err := jsonschema.UnmarshalJSON(w.Body)
	Must(t, err)
	given, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Errorf("%s decodes %q, which is not JSON: %v", d.fn.Name, body, err)
		return
	}
	if decoded = contained(t, d.fn.Name, given, decoded); decoded == nil {
		return
	}
	if err := d.schema.Validate(decoded); err != nil {
		t.Errorf("%s %q: decodes what its schema forbids: %v", d.fn.Name, body, err)
	}
}

// contained reports differences between a body and what was decoded from it, other
// than the form of names and of numbers. It returns what was decoded, without the
// members that the body does not have.
func contained(t *testing.T, at string, given, decoded any) any {
	t.Helper()
	switch g := given.(type) {
	case map[string]any:
		d, ok := decoded.(map[string]any)
		if !ok {
			t.Errorf("%s: an object becomes %v", at, decoded)
			return nil
		}
		kept := map[string]any{}
		for name, v := range g {
			if there, ok := d[name]; ok {
				kept[name] = contained(t, at+"."+name, v, there)
			} else if kept[name] = v; !isZero(v) {
				t.Errorf("%s.%s: %v is not decoded", at, name, v)
			}
		}
		return kept
	case []any:
		d, ok := decoded.([]any)
		if !ok || len(d) != len(g) {
			t.Errorf("%s: %v becomes %v", at, given, decoded)
			return nil
		}
		for i := range g {
			d[i] = contained(t, fmt.Sprintf("%s[%d]", at, i), g[i], d[i])
		}
		return d
	case json.Number:
		d, _ := decoded.(json.Number)
		a, err := g.Float64()
		b, e := d.Float64()
		if err != nil || e != nil || a != b {
			t.Errorf("%s: %v becomes %v", at, given, decoded)
		}
	case string:
		if d, _ := decoded.(string); d != g && d != strings.TrimSpace(norm.NFC.String(g)) && !isTime(g) {
			t.Errorf("%s: %q becomes %v", at, given, decoded)
		}
	default:
		if given != nil && given != decoded {
			t.Errorf("%s: %v becomes %v", at, given, decoded)
		}
	}
	return decoded
}

// isTime reports whether text may be a time, which is encoded with other digits.
func isTime(text string) bool {
	return len(text) >= len("2006-01-02T15:04:05Z") && strings.ContainsAny(text, "tT") && strings.Count(text, ":") >= 2
}

// isZero reports whether a member with the value is left out of what is encoded.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return strings.TrimSpace(v) == ""
	case json.Number:
		n, err := v.Float64()
		return err == nil && n == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// variants are changes of a body in its syntax and in each of its members: case twins,
// duplicates, other types, bounds, absent and unknown members, null, deep nesting,
// invalid UTF-8 and huge numbers.
func variants(body string) (all []string) {
	all = []string{body, "", "null", "[]", "{}", `""`, "0", body + "x", body + body, body + " ", "\xff" + body, "\ufeff" + body, strings.Repeat("[", 20000), strings.Repeat(`{"a":`, 9000)}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &members) != nil {
		return all
	}
	with := func(name, value string) string { // a second member
		return strings.TrimSuffix(strings.TrimSpace(body), "}") + "," + name + ":" + value + "}"
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		for _, twin := range []string{strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], name, name + "\u017f", "x" + name} {
			all = append(all, with(fmt.Sprintf("%q", twin), string(value)), with(fmt.Sprintf("%q", twin), "{}"))
		}
		values := []string{"null", "true", "{}", "[]", "[{}]", "[null]", `""`, `" "`, `"\u0000"`, `"\u202ex"`, "\"\xff\"", `"\ud800"`, "0", "-0", "1.0", "1e0", "1.5", "-1", "1e400", "1e300", "9007199254740993", "9223372036854775808",
			strings.Repeat("9", 5000), `"` + strings.Repeat("x", 5000) + `"`, strings.Repeat("[", 500) + strings.Repeat("]", 500), "[" + string(value) + "]"}
		for _, v := range append(values, "") {
			changed := maps.Clone(members)
			if changed[name] = json.RawMessage(v); v == "" {
				delete(changed, name)
			}
			var text strings.Builder
			for _, n := range slices.Sorted(maps.Keys(changed)) {
				fmt.Fprintf(&text, ",%q:%s", n, changed[n])
			}
			all = append(all, "{"+strings.TrimPrefix(text.String(), ",")+"}")
		}
	}
	return all
}
