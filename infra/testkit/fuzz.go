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
	"strings"
	"testing"
	"unicode"

	"github.com/aws/aws-lambda-go/events"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/unicode/norm"

	"matchday/infra/tools/mutation"
	"matchday/infra/tools/openapi"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// decoder decodes the requests of an operation.
type decoder struct {
	mutation.Operation
	route  app.Route
	seen   any // what route has decoded last
	sample events.APIGatewayV2HTTPRequest
	base   mutation.Request // the sample
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

func (administrator) CheckOrigin(events.APIGatewayV2HTTPRequest) error { return nil }

// openDecoders opens the decoders of all routes, in the order of the room, those that delete
// last: one may delete the account of the caller. folder has the sample events of the room.
func (w *World) openDecoders(folder string) (all []*decoder) {
	text, err := openapi.Room(w.room)
	Must(w.T, err)
	operations, err := mutation.Operations(w.room.Spec, text, displayName)
	Must(w.T, err)

	for _, fn := range w.room.Functions {
		i := slices.IndexFunc(operations, func(o mutation.Operation) bool { return o.Name() == fn.Name })
		if i < 0 {
			continue
		}

		d := &decoder{Operation: operations[i]}
		d.route = fn.Decoder(administrator{}, func(in any) { d.seen = in })

		text, err := os.ReadFile(filepath.Join(folder, d.ID+".json"))
		Must(w.T, err)
		Must(w.T, json.Unmarshal(text, &d.sample))
		path := (&url.URL{Path: "/" + d.Room + d.sample.RawPath}).EscapedPath()
		d.base, err = d.Request(path, d.sample.RawQueryString, nil, []byte(d.sample.Body))
		Must(w.T, err)

		query := d.sample.RawQueryString
		d.sample = admit(fn, Request(d.Method, d.sample.RawPath, Administrator, d.sample.Body))
		d.sample.RawQueryString = query
		all = append(all, d)
	}

	deletes := func(d *decoder) int { return map[string]int{http.MethodDelete: 1}[d.Method] }

	slices.SortStableFunc(all, func(a, b *decoder) int { return cmp.Compare(deletes(a), deletes(b)) })

	return all
}

// displayName is the format of a name as it is stored.
var displayName = &jsonschema.Format{Name: "display-name", Validate: func(v any) error {
	name, _ := v.(string)

	hidden := func(r rune) bool {
		return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point)
	}
	if !norm.NFC.IsNormalString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, hidden) {
		return fmt.Errorf("%+q is no name as it is stored", name)
	}

	return nil
}}

// checkSamples sends the sample of each operation, of one that deletes when the test ends. If a
// caller is refused, no request reaches the use case: the answers say nothing about it. What a
// page of the sign-in refuses is the token of its link.
func checkSamples(f *testing.F, w *World, all []*decoder, routes map[string]Route) {
	first := slices.IndexFunc(all, func(d *decoder) bool { return d.Method == http.MethodDelete })
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
		out := routes[d.Name()](d.sample)

		refused := out.StatusCode == http.StatusUnauthorized || out.StatusCode == http.StatusForbidden
		if refused && d.Auth != spec.Browser {
			f.Errorf("%s: its sample is answered with %d %s", d.Name(), out.StatusCode, out.Body)
		}
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
	all := slices.DeleteFunc(w.openDecoders(folder), func(d *decoder) bool { return d.Body == nil })
	for n, d := range all {
		seeds := map[string]bool{d.sample.Body: true}
		for _, m := range mutation.OfBody(d.Operation, d.base) {
			seeds[string(m.Of(d.base).Text())] = true
		}

		for _, body := range slices.Sorted(maps.Keys(seeds)) {
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
		if out := routes[d.Name()](e); out.StatusCode >= 500 {
			t.Errorf("%s %q: got %d %s", d.Name(), body, out.StatusCode, out.Body)
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
			t.Errorf("%s %q: got %d", d.Name(), body, status)
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
		t.Errorf("%s decodes %q, which is not JSON: %v", d.Name(), body, err)
		return
	}

	d.Body.ForgetUnknown(given)

	if decoded = contained(t, d.Name(), given, decoded); decoded == nil {
		return
	}

	if err := d.Body.Validate(decoded); err != nil {
		t.Errorf("%s %q: decodes what its schema forbids: %v", d.Name(), body, err)
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

// FuzzQueries sends paths, as API Gateway passes them, and query strings to every operation
// of the world. The answer of its route, as for FuzzBodies, is never a 5xx. No parameter
// is accepted that its schema forbids, that is unknown, or that is given twice. folder has
// the sample events of the room.
func FuzzQueries(f *testing.F, w *World, routes map[string]Route, folder string) {
	all := w.openDecoders(folder)
	for n, d := range all {
		type target struct{ path, query string }

		seeds := map[target]bool{{d.sample.RawPath, d.sample.RawQueryString}: true}
		for _, m := range mutation.OfTarget(d.Operation, d.base) {
			path, query, _ := strings.Cut(m.Of(d.base).Target(d.Operation), "?")
			path, err := url.PathUnescape(path)
			Must(f, err)

			seeds[target{strings.TrimPrefix(path, "/"+d.Room), query}] = true
		}

		for s := range seeds {
			f.Add(uint8(n), s.path, s.query)
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
		if out := routes[d.Name()](e); out.StatusCode >= 500 {
			t.Errorf("%s %q ? %q: got %d %s", d.Name(), path, query, out.StatusCode, out.Body)
		}

		in, status, err := d.decode(t.Context(), e)
		if err != nil || status >= 500 {
			t.Errorf("%s %q ? %q: got %d, %v", d.Name(), path, query, status, err)
		}

		if in == nil {
			return
		}

		r, err := d.Redirect(d.base, path, query)
		if err == nil {
			err = d.Forbids(r)
		}

		if err != nil {
			t.Errorf("%s accepts %q ? %q: %v", d.Name(), path, query, err)
		}
	})
}
