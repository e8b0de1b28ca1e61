package testkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/aws/aws-lambda-go/events"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/unicode/norm"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// decoder decodes the requests of an operation.
type decoder struct {
	fn     app.Function
	route  app.Route
	seen   any                // what route has decoded last
	body   *jsonschema.Schema // nil without one
	params []parameter
	others bool // parameters of the query that are unknown are allowed
	sample events.APIGatewayV2HTTPRequest
}

// parameter is a parameter of the path or of the query string.
type parameter struct {
	Name, In string
	Required bool
	Schema   struct{ Type any }
	valid    *jsonschema.Schema
}

func newDecoder(t testing.TB, fn app.Function) *decoder {
	text, err := fn.OpenAPI()
	Must(t, err)
	d := &decoder{fn: fn}
	d.route = fn.Decoder(administrator{}, func(in any) { d.seen = in })
	compile := compiler(t, fn.Function, text)
	on := fn.On.(spec.Route)
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []parameter
			RequestBody map[string]any
		}
	}
	Must(t, json.Unmarshal(text, &document))
	operation := document.Paths[on.Path][strings.ToLower(on.Method)]
	if operation.RequestBody != nil {
		d.body = compile("/requestBody/content/application~1json/schema")
	}
	for i, p := range operation.Parameters {
		if p.In == "query" && p.Schema.Type == "object" { // it stands for all others
			d.others = true
			continue
		}
		p.valid = compile(fmt.Sprintf("/parameters/%d/schema", i))
		d.params = append(d.params, p)
	}
	return d
}

// decode returns the request that the use case would get, nil if it would be refused, and the
// status of that answer.
func (d *decoder) decode(ctx context.Context, e events.APIGatewayV2HTTPRequest) (in any, status int, err error) {
	d.seen = nil
	out, err := d.route(ctx, e)
	return d.seen, out.StatusCode, err
}

// administrator takes every caller of a session for the Administrator.
type administrator struct{}

func (administrator) Identify(context.Context, events.APIGatewayV2HTTPRequest) (string, error) {
	return Administrator, nil
}

// openDecoders opens the decoders of all routes, in the order of the room, those that delete
// last: one may delete the account of the caller. folder has the sample events of the room.
func (w *World) openDecoders(folder string) (all []*decoder) {
	for _, fn := range w.room.Functions {
		on, ok := fn.On.(spec.Route)
		if !ok {
			continue
		}
		d := newDecoder(w.T, fn)
		_, name, _ := strings.Cut(fn.Name, "/")
		text, err := os.ReadFile(filepath.Join(folder, name+".json"))
		Must(w.T, err)
		Must(w.T, json.Unmarshal(text, &d.sample))
		query := d.sample.RawQueryString
		d.sample = Request(on.Method, d.sample.RawPath, Administrator, d.sample.Body)
		d.sample.RawQueryString = query
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b *decoder) int { return cmp.Compare(a.deletes(), b.deletes()) })
	return all
}

// deletes is 1 for an operation that deletes.
func (d *decoder) deletes() int {
	if d.fn.On.(spec.Route).Method == http.MethodDelete {
		return 1
	}
	return 0
}

// checkSamples sends the sample of each operation, of one that deletes when the test ends. If a
// caller is refused, no request reaches the use case: the answers say nothing about it. What a
// page of the sign-in refuses is the token of its link.
func checkSamples(f *testing.F, w *World, all []*decoder, routes map[string]Route) {
	first := slices.IndexFunc(all, func(d *decoder) bool { return d.deletes() > 0 })
	if first < 0 {
		first = len(all)
	}
	checkAccess(f, all[:first], routes)
	f.Cleanup(func() {
		w.T = f
		checkAccess(f, all[first:], routes)
	})
}

func checkAccess(f *testing.F, all []*decoder, routes map[string]Route) {
	for _, d := range all {
		out := routes[d.fn.Name](d.sample)
		refused := out.StatusCode == http.StatusUnauthorized || out.StatusCode == http.StatusForbidden
		if refused && d.fn.On.(spec.Route).Auth != spec.Browser {
			f.Errorf("%s: its sample is answered with %d %s", d.fn.Name, out.StatusCode, out.Body)
		}
	}
}

// compiler returns a function that compiles the schema at a place of the operation in an
// OpenAPI document.
func compiler(t testing.TB, fn spec.Function, text []byte) func(place string) *jsonschema.Schema {
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
	return func(place string) *jsonschema.Schema {
		s, err := c.Compile("openapi.json#/paths/" + pointer + "/" + strings.ToLower(on.Method) + place)
		Must(t, err)
		return s
	}
}

// SignedIn returns the routes of a room as the browser of a user calls them who is signed in, in
// a page of the origin. signIn signs a user in, and returns the cookies. When a request for a
// session is refused, because one before has ended the session or deleted the account, another
// user signs in.
func SignedIn(room app.Room, routes map[string]Route, origin string, signIn func(user string) (cookies []string)) map[string]Route {
	var cookies []string
	users, all := 0, map[string]Route{}
	for _, f := range room.Functions {
		on, ok := f.On.(spec.Route)
		if !ok {
			continue
		}
		all[f.Name] = func(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2HTTPResponse {
			ask := func() events.APIGatewayV2HTTPResponse {
				e.Cookies, e.Headers = cookies, maps.Clone(e.Headers)
				e.Headers["origin"] = origin
				return routes[f.Name](e)
			}
			out := ask()
			if refused := out.StatusCode == http.StatusUnauthorized || out.StatusCode == http.StatusForbidden; refused && on.Auth == spec.Session {
				users++
				cookies = signIn(fmt.Sprint("user-", users))
				out = ask()
			}
			return out
		}
	}
	return all
}

// FuzzBodies sends bodies to every operation of the world that has one. The answer of its
// route, as an administrator or by a session of routes, is never a 5xx. Nothing is decoded that
// the schema forbids, or that is not in the body. folder has the sample events of the room.
func FuzzBodies(f *testing.F, w *World, routes map[string]Route, folder string) {
	all := slices.DeleteFunc(w.openDecoders(folder), func(d *decoder) bool { return d.body == nil })
	for n, d := range all {
		for _, body := range variants(d.sample.Body) {
			f.Add(uint8(n), body)
		}
	}
	checkSamples(f, w, all, routes)
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
	in, status, err := d.decode(t.Context(), e)
	Must(t, err)
	if in == nil {
		if status >= 500 {
			t.Errorf("%s %q: got %d", d.fn.Name, body, status)
		}
		return
	}
	if strings.TrimSpace(body) == "" {
		return // an optional body
	}
	text, err := json.Marshal(reflect.ValueOf(in).Elem().FieldByName("Body").Interface())
	Must(t, err)
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	Must(t, err)
	given, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Errorf("%s decodes %q, which is not JSON: %v", d.fn.Name, body, err)
		return
	}
	d.forgetUnknown(given)
	if decoded = contained(t, d.fn.Name, given, decoded); decoded == nil {
		return
	}
	if err := d.body.Validate(decoded); err != nil {
		t.Errorf("%s %q: decodes what its schema forbids: %v", d.fn.Name, body, err)
	}
}

// forgetUnknown removes the members of a body that its schema allows and does not describe:
// they are not decoded.
func (d *decoder) forgetUnknown(body any) {
	s := d.body
	for s.Ref != nil {
		s = s.Ref
	}
	if members, ok := body.(map[string]any); ok && s.AdditionalProperties == true {
		maps.DeleteFunc(members, func(name string, _ any) bool { return s.Properties[name] == nil })
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

// FuzzQueries sends paths, as API Gateway passes them, and query strings to every operation
// of the world. The answer of its route, as for FuzzBodies, is never a 5xx. No parameter
// is accepted that its schema forbids, that is unknown, or that is given twice. folder has
// the sample events of the room.
func FuzzQueries(f *testing.F, w *World, routes map[string]Route, folder string) {
	all := w.openDecoders(folder)
	for n, d := range all {
		f.Add(uint8(n), d.sample.RawPath, d.sample.RawQueryString)
		for _, query := range []string{"zz=1", "=", "&", "%", "\xff", "a=b;c=d", strings.Repeat("a", 5000)} {
			f.Add(uint8(n), d.sample.RawPath, query)
		}
		for _, tail := range []string{"/", "//", "/..", "/x", ";x", "?", "#", "%", "\x00"} {
			f.Add(uint8(n), d.sample.RawPath+tail, d.sample.RawQueryString)
		}
		for _, p := range d.params {
			for _, v := range []string{"", " ", ".", "..", "/", "\x00", "\xff", "%zz", "+1", "-1", "0", "1", "7", "1.0", "1e3", "99999999999999999999", "a,b", "b,,a", ",", "null", "true", "é", "\u202e", "2026-06-01T00:00:00Z", "2026-06-01t00:00:00z", "2026-06-01", "{}", strings.Repeat("9", 600)} {
				if p.In == "path" {
					f.Add(uint8(n), d.withParam(p.Name, v), d.sample.RawQueryString)
					continue
				}
				given := p.Name + "=" + url.QueryEscape(v)
				f.Add(uint8(n), d.sample.RawPath, given)
				f.Add(uint8(n), d.sample.RawPath, given+"&"+given)
				f.Add(uint8(n), d.sample.RawPath, strings.ToUpper(given))
				f.Add(uint8(n), d.sample.RawPath, d.sample.RawQueryString+"&"+given)
			}
		}
	}
	checkSamples(f, w, all, routes)
	f.Fuzz(func(t *testing.T, n uint8, path, query string) {
		if !strings.HasPrefix(path, "/") {
			t.Skip("no request has such a path")
		}
		w.T = t
		d := all[int(n)%len(all)]
		e := d.sample
		e.RawPath, e.RawQueryString = path, query
		if out := routes[d.fn.Name](e); out.StatusCode >= 500 {
			t.Errorf("%s %q ? %q: got %d %s", d.fn.Name, path, query, out.StatusCode, out.Body)
		}
		in, status, err := d.decode(t.Context(), e)
		if err != nil || status >= 500 {
			t.Errorf("%s %q ? %q: got %d, %v", d.fn.Name, path, query, status, err)
		}
		if in != nil {
			if err := d.allows(path, query); err != nil {
				t.Errorf("%s accepts %q ? %q: %v", d.fn.Name, path, query, err)
			}
		}
	})
}

// segments returns the segments of a path and those of the route's pattern.
func (d *decoder) segments(path string) (given, pattern []string) {
	room, _, _ := strings.Cut(d.fn.Name, "/")
	if rest, ok := strings.CutPrefix(path, "/"+room+"/"); ok {
		path = "/" + rest
	}
	return strings.Split(path, "/"), strings.Split(d.fn.On.(spec.Route).Path, "/")
}

// withParam returns the path of the sample with another value of a parameter.
func (d *decoder) withParam(name, value string) string {
	given, pattern := d.segments(d.sample.RawPath)
	for i, p := range pattern {
		if p == "{"+name+"}" {
			given[i] = value
		}
	}
	return strings.Join(given, "/")
}

// allows returns why the operation must refuse a request.
func (d *decoder) allows(path, query string) error {
	given, pattern := d.segments(path)
	if len(given) != len(pattern) {
		return fmt.Errorf("the path is not %s", d.fn.On.(spec.Route).Path)
	}
	values, err := url.ParseQuery(query)
	if err != nil && !d.others {
		return err
	}
	for _, p := range d.params {
		all := values[p.Name]
		delete(values, p.Name)
		if i := slices.Index(pattern, "{"+p.Name+"}"); p.In == "path" {
			all = given[i : i+1]
		}
		switch {
		case len(all) > 1:
			return fmt.Errorf("%s is given %d times", p.Name, len(all))
		case len(all) == 0 || all[0] == "" && !p.Required:
			if p.Required {
				return fmt.Errorf("%s is missing", p.Name)
			}
		default:
			v, err := p.value(all[0])
			if err == nil {
				err = p.valid.Validate(v)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	for name := range values {
		if !d.others {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}
	return nil
}

// value returns the value of a parameter as its schema reads it.
func (p parameter) value(text string) (any, error) {
	kind := fmt.Sprint(p.Schema.Type)
	switch {
	case kind == "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return json.Number(strconv.FormatInt(n, 10)), err
	case strings.Contains(kind, "array"):
		var all []any
		for _, part := range strings.Split(text, ",") {
			all = append(all, part)
		}
		return all, nil
	}
	return text, nil
}
