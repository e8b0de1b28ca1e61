// Package mutation changes a request that an operation of an API accepts into requests that its
// OpenAPI document forbids or hardly allows, and tells which of them must be refused. It knows no
// room: a new operation gets its mutations without a line of its own.
package mutation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"pgregory.net/rapid"
)

// Mutation is one change of a request.
type Mutation struct {
	Kind  string // "string: over maxLength"
	Field string // that a refusal names: "body.teams[0].name"; "" for none
	apply func(*Request)
}

// Of returns a copy of a request with the change. The request must be of the operation for which
// the mutation was made, and may have changed since.
func (m Mutation) Of(r Request) Request {
	r = r.Clone()
	m.apply(&r)

	return r
}

// All returns the single changes of a request to an operation.
func All(o Operation, r Request) []Mutation {
	return slices.Concat(headers(o), OfTarget(o, r), OfHeaders(o, r), OfBody(o, r))
}

// OfTarget returns those that change the path or the query.
func OfTarget(o Operation, r Request) []Mutation {
	all := targets(o)
	for _, p := range o.Params {
		if p.In != "header" {
			all = append(all, parameters(p, r)...)
		}
	}

	return all
}

// OfHeaders returns those that change the parameters that are headers.
func OfHeaders(o Operation, r Request) (all []Mutation) {
	for _, p := range o.Params {
		if p.In == "header" {
			all = append(all, parameters(p, r)...)
		}
	}

	return all
}

// OfBody returns those that change the body, none if the operation has none.
func OfBody(o Operation, r Request) []Mutation {
	if o.Body == nil {
		return nil
	}

	return append(texts(), members(o.Body.node, r.body, nil, true)...)
}

// forms change the body and the type of a form.
func forms() (all []Mutation) {
	for _, body := range []string{
		"", "&&==&", "%", "%zz=%zz", "a=%00", "a=%ff", "=x", strings.Repeat("a=b&", 20_000), strings.Repeat("a", 70<<10), `{"a":"b"}`,
	} {
		all = append(all, Mutation{"form: another body", "", func(d *Request) { d.Raw = []byte(body) }})
	}

	for _, kind := range []string{
		"application/json", "multipart/form-data", "multipart/form-data; boundary=x", formType + "; charset=utf-16", "nonsense", "/",
	} {
		all = append(all, Mutation{"form: another type", "", func(d *Request) { d.Header.Set("Content-Type", kind) }})
	}

	return all
}

// headers change the method and the headers.
func headers(o Operation) (all []Mutation) {
	set := func(kind, name, value string, same bool) {
		all = append(all, Mutation{kind, "", func(d *Request) { d.Header.Set(name, value); d.Same = same }})
	}
	if o.Body != nil {
		set("content type: with a charset", "Content-Type", "application/json; charset=utf-8", true)

		for _, t := range []string{
			"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/cbor",
			"application/octet-stream", "application/json; charset=utf-16", "application/merge-patch+json", "nonsense", "/",
			"application/json, text/html",
		} {
			set("content type: another", "Content-Type", t, false)
		}

		all = append(all, Mutation{"content type: none", "", func(d *Request) { d.Header.Del("Content-Type") }})

		for _, c := range []string{"gzip", "br", "identity"} {
			set("content encoding", "Content-Encoding", c, false)
		}
	} else if o.Form {
		all = append(all, forms()...)
	} else {
		all = append(all, Mutation{"a body where there is none", "", func(d *Request) {
			d.Raw = []byte(`{"name":1}`)
			d.Header.Set("Content-Type", "application/json")
		}})
	}

	for _, a := range []string{"text/html", "application/cbor", "application/xml;q=0.9", "*/*;q=0", ";;;", strings.Repeat("a/b,", 500)} {
		set("accept", "Accept", a, false)
	}

	for _, t := range []string{"*", `"x"`, `W/"x", `, "\"" + strings.Repeat("x", 4000), ",,,,"} {
		set("if-none-match", "If-None-Match", t, false)
	}

	set("forwarded", "X-Forwarded-For", "127.0.0.1, <script>", false)
	set("forwarded host", "X-Forwarded-Host", "evil.example", false)
	set("method override", "X-HTTP-Method-Override", "DELETE", false)
	set("long header", "X-Long", strings.Repeat("x", 8000), false)
	set("cookie", "Cookie", "a=b; \"; =;;", false)

	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"} {
		if !slices.Contains(o.Methods, m) { // those are attacked themselves
			all = append(all, Mutation{"another method", "", func(d *Request) { d.Method = m }})
		}
	}

	return all
}

// targets change the path as a whole, and the query's names.
func targets(o Operation) (all []Mutation) {
	to := func(kind string, change func(path string) string) {
		all = append(all, Mutation{kind, "", func(d *Request) {
			d.Query = nil
			d.Path = change(d.Target(o))
		}})
	}
	to("path: slash at the end", func(p string) string { return p + "/" })
	to("path: two slashes", func(p string) string { return strings.Replace(p, "/"+o.Room+"/", "/"+o.Room+"//", 1) })
	to("path: dots", func(p string) string { return strings.Replace(p, "/"+o.Room+"/", "/"+o.Room+"/./x/%2e%2e/", 1) })
	to("path: capitals", func(p string) string { return "/" + o.Room + strings.ToUpper(p[len(o.Room)+1:]) })
	to("path: encoded letters", func(p string) string {
		if strings.Contains(p[max(0, len(p)-3):], "%") {
			return p // its end is encoded already
		}

		return p[:len(p)-1] + fmt.Sprintf("%%%02x", p[len(p)-1])
	})
	to("path: semicolon", func(p string) string { return p + ";a=b" })
	to("path: encoded question mark", func(p string) string { return p + "%3fx=y" })
	to("path: NUL", func(p string) string { return p + "%00" })
	to("path: base twice", func(p string) string { return "/" + o.Room + p })

	for _, tail := range []string{"//", "/..", "/x", "%23", "%25"} {
		to("another path", func(p string) string { return p + tail })
	}

	for _, q := range []string{"=", "&", "%", "\xff", "a=b;c=d", strings.Repeat("a", 5000)} {
		all = append(all, Mutation{"query: malformed", "", func(d *Request) { d.RawQuery = q }})
	}

	query := func(kind, field, name, value string) {
		all = append(all, Mutation{kind, field, func(d *Request) { d.Query = append(d.Query, Pair{name, value}) }})
	}
	query("query: unknown", "query.zz", "zz", "1")
	query("query: unknown, without a name", "", "", "")
	query("query: unknown, invalid UTF-8", "", "\xff", "\xff")
	query("query: unknown, long", "", strings.Repeat("q", 3000), "1")
	query("query: unknown, like a member", "", "__proto__[x]", "1")

	for _, p := range o.Params {
		if p.In == "query" {
			query("query: case twin", "query."+strings.ToUpper(p.Name), strings.ToUpper(p.Name), p.Schema.sample())
			query("query: brackets", "query."+p.Name+"[]", p.Name+"[]", p.Schema.sample())
		}
	}

	return all
}

// parameters change one parameter.
func parameters(p Param, d Request) (all []Mutation) {
	field := p.In + "." + p.Name

	current := p.Schema.sample()
	if v, ok := d.Params[p.Name]; ok && p.In == "path" {
		current = v
	}

	if v := d.Header.Get(p.Name); v != "" && p.In == "header" {
		current = v
	}

	for _, q := range d.Query {
		if q.Name == p.Name && p.In == "query" {
			current = q.Value
		}
	}

	prefix := "parameter: "
	if p.In == "header" {
		prefix = "header: "
	}

	set := func(kind, value string) {
		if p.In == "header" && !isHeader(value) {
			return
		}

		all = append(all, Mutation{prefix + kind, field, func(d *Request) {
			switch p.In {
			case "path":
				d.Params[p.Name] = value
				return
			case "header":
				d.Header.Set(p.Name, value)
				return
			}

			d.Query = slices.DeleteFunc(d.Query, func(q Pair) bool { return q.Name == p.Name })
			d.Query = append(d.Query, Pair{p.Name, value})
		}})
	}
	if p.In == "query" {
		set("valid", current)

		all = append(all,
			Mutation{"parameter: twice", field, func(d *Request) {
				d.Query = slices.DeleteFunc(d.Query, func(q Pair) bool { return q.Name == p.Name })
				d.Query = append(d.Query, Pair{p.Name, current}, Pair{p.Name, current})
			}},
			Mutation{"parameter: twice", field, func(d *Request) { d.Query = append(d.Query, Pair{p.Name, current}, Pair{p.Name, "7"}) }},
			Mutation{"parameter: alone", "", func(d *Request) { d.Query = []Pair{{p.Name, current}} }},
			Mutation{"parameter: absent", field, func(d *Request) {
				d.Query = slices.DeleteFunc(d.Query, func(q Pair) bool { return q.Name == p.Name })
			}})
	}

	if p.In == "header" {
		set("valid", current)

		for _, c := range []string{"\t", "\x80", "\xff", "\u0085"} { // those that HTTP allows
			set("control character", current+c+current)
		}

		set("list", current+", "+current)

		all = append(all,
			Mutation{"header: twice", field, func(d *Request) { d.Header[http.CanonicalHeaderKey(p.Name)] = []string{current, current} }},
			Mutation{"header: twice, the other huge", field, func(d *Request) {
				d.Header[http.CanonicalHeaderKey(p.Name)] = []string{current, strings.Repeat("a", 5_000)}
			}},
			Mutation{"header: absent", field, func(d *Request) { d.Header.Del(p.Name) }})
	}

	of := p.Schema.node
	if of.kind() == "array" {
		most, ok := of.number("maxItems")
		if ok {
			set("over maxItems", strings.TrimSuffix(strings.Repeat(current+",", int(most)+1), ","))
		}

		set("empty items", ",,,")
		set("many items", strings.Repeat("x,", 2000))

		of = of.items()
	}

	for _, s := range of.strings(current) {
		if !strings.HasPrefix(s.kind, "lone ") {
			set(s.kind, unquoted(s.text))
		}
	}

	for _, n := range of.numbers() {
		set(n.kind, n.text)
	}

	for _, v := range []string{
		"null", "true", "{}", "[]", "undefined", "*", "\\", "é", "a,b", "b,,a", ",", " ", "\x00", "\xff", "\u202e",
		"NaN", "0x1", "1e2", "1e3", "1.0", "+1", " 1", "1 ", "१", "-0", "'1'", "0", "1", "7", "-1",
		strings.Repeat("9", 20), strings.Repeat("9", 600),
		"%2e%2e", "..", ".", "../..", "/", "%00", "%zz", "a/b", "a%2fb",
		"2026-06-01", "2026-06-01T00:00:00Z", "2026-06-01t00:00:00z",
	} {
		set("odd text", v)
	}

	return all
}

// isHeader reports whether HTTP allows a header's value.
func isHeader(value string) bool {
	return !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// texts change the body as text.
func texts() (all []Mutation) {
	raw := func(kind string, change func(text string) string) {
		all = append(all, Mutation{"body: " + kind, "body", func(d *Request) { d.Raw = []byte(change(string(d.Text()))) }})
	}

	is := func(kind, text string) { raw(kind, func(string) string { return text }) }
	for _, v := range []string{"null", "true", "0", `""`, "[]", "[{}]", "{}"} {
		is("another value", v)
	}

	is("empty", "")
	is("not JSON", "{")
	is("not JSON", "<a/>")
	is("not JSON", "{'a':1}")
	is("not JSON", "{\"a\":1,}")
	is("not JSON", "/**/{}")
	is("not JSON", "NaN")
	is("not JSON", "\x00")
	is("form", "a=b&c=d")
	is("deep arrays", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000))
	is("deep objects", strings.Repeat(`{"a":`, 9_000)+"1"+strings.Repeat("}", 9_000))
	is("deep and open", strings.Repeat("[", 60_000))
	is("deep and open", strings.Repeat(`{"a":`, 9_000))
	is("huge", `{"a":"`+strings.Repeat("a", 70_000)+`"}`)
	is("many members", "{"+strings.Repeat(`"a":1,`, 8_000)+`"a":1}`)
	raw("text behind it", func(t string) string { return t + "x" })
	raw("twice", func(t string) string { return t + t })
	raw("invalid UTF-8 before it", func(t string) string { return "\xff" + t })
	raw("byte order mark", func(t string) string { return "\ufeff" + t })
	raw("UTF-16", func(t string) string {
		var b strings.Builder
		for _, c := range []byte(t) {
			b.WriteByte(c)
			b.WriteByte(0)
		}

		return b.String()
	})

	all = append(all, Mutation{"body: white space", "body",
		func(d *Request) { d.Raw, d.Same = []byte(" \r\n\t"+string(d.Text())+"\n "), true }})

	return all
}

// members change the value at a path of the body, and those below it.
func members(n node, root value, p path, required bool) (all []Mutation) {
	set := func(kind string, v value) {
		all = append(all, Mutation{kind, p.String(), func(d *Request) { d.body = replaced(d.body, p, v) }})
	}
	current := at(root, p)
	kind := n.kind()

	if len(p) > 0 {
		types := []string{`"x"`, "0", "-1", "1.5", "true", "null", "[]", "{}", "[null]", "[[]]", `[{}]`, `{"a":{}}`}
		if current != nil {
			types = append(types, "["+textOf(current)+"]")
		}

		if kind != "string" {
			for _, v := range []string{"\"\xff\"", `"\ud800"`} { // the text as a whole is not JSON
				all = append(all, Mutation{kind + ": another type", "body", func(d *Request) { d.body = replaced(d.body, p, verbatim(v)) }})
			}

			types = append(types, `""`, `" "`, `"\u0000"`, `"\u202ex"`, `"`+strings.Repeat("x", 5000)+`"`)
		}

		if kind != "integer" && kind != "number" {
			types = append(types, "-0", "1.0", "1e0", "1e300", "1e400", "9007199254740993", "9223372036854775808", strings.Repeat("9", 5000))
		}

		for _, v := range types {
			set(kind+": another type", verbatim(v))
		}

		set(kind+": nested deeply", verbatim(strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000)))
	}

	switch kind {
	case "string":
		for _, s := range n.strings(unquoted(textOf(or(current, verbatim(`""`))))) {
			field := p.String()
			if strings.HasPrefix(s.kind, "lone ") {
				field = "body" // the text as a whole is not JSON
			}

			all = append(all, Mutation{"string: " + s.kind, field, func(d *Request) { d.body = replaced(d.body, p, verbatim(s.text)) }})
		}
	case "integer", "number":
		for _, v := range n.numbers() {
			field := p.String()
			if v.kind == "not a number" {
				field = "body"
			}

			all = append(all, Mutation{"number: " + v.kind, field, func(d *Request) { d.body = replaced(d.body, p, verbatim(v.text)) }})
		}

		if v, ok := current.(verbatim); ok {
			for _, spelling := range []string{string(v) + ".0", string(v) + "e0", string(v) + ".000E+00"} {
				all = append(all, Mutation{"number: another spelling", p.String(),
					func(d *Request) { d.body, d.Same = replaced(d.body, p, verbatim(spelling)), true }})
			}
		}
	case "array":
		all = append(all, elements(n, root, p)...)
	case "object":
		all = append(all, fields(n, root, p)...)
	}

	return all
}

// elements change an array and its first element.
func elements(n node, root value, p path) (all []Mutation) {
	set := func(kind string, v value) {
		all = append(all, Mutation{"array: " + kind, p.String(), func(d *Request) { d.body = replaced(d.body, p, v) }})
	}
	current, _ := at(root, p).(array)

	element := value(verbatim(n.items().sampleJSON()))
	if len(current) > 0 {
		element = current[0]
	}

	repeated := func(count int) array {
		return slices.Repeat(array{element}, count)
	}

	set("empty", array{})
	set("one", array{element})
	set("the same twice", array{element, element})
	set("many", repeated(min(3000, 60_000/(len(textOf(element))+1))))

	if most, ok := n.number("maxItems"); ok {
		set("over maxItems", repeated(int(most)+1))
		set("maxItems", repeated(int(most)))
	}

	if least, ok := n.number("minItems"); ok && least > 0 {
		set("under minItems", repeated(int(least)-1))
	}

	set("mixed", append(slices.Clone(current), verbatim("null"), verbatim("1"), verbatim(`"x"`), verbatim("[]"), verbatim("{}")))

	if len(current) == 0 { // change an element that is put there first
		with := replaced(root, p, array{element})
		for _, m := range members(n.items(), with, p.to(0), true) {
			all = append(all, Mutation{m.Kind, m.Field, func(d *Request) {
				d.body = replaced(d.body, p, array{element})
				m.apply(d)
			}})
		}

		return all
	}

	return append(all, members(n.items(), root, p.to(0), true)...)
}

// fields changes an object and its members.
func fields(n node, root value, p path) (all []Mutation) {
	current, _ := at(root, p).(object)
	change := func(kind, field string, by func(o object) object) {
		all = append(all, Mutation{"object: " + kind, field, func(d *Request) {
			o, ok := at(d.body, p).(object)
			if !ok {
				return
			}

			d.body = replaced(d.body, p, by(slices.Clone(o)))
		}})
	}
	add := func(kind, field, name string, v value) {
		change(kind, field, func(o object) object { return append(o, member{name, v}) })
	}

	extra := []string{"zz", "__proto__", "$ref", "PK", "userId", "id", "ttl", "", "a.b", "\u202e"}
	for _, name := range n.properties() {
		extra = append(extra, "x"+name, name+"ſ")
	}

	for _, name := range extra {
		if _, known := n.property(name); !known {
			add("extra member", p.to(name).String(), quoted(name), verbatim(`"x"`))
		}
	}

	add("member's name of invalid UTF-8", "body", "\"\xff\"", verbatim("1"))

	if len(current) > 1 {
		all = append(all, Mutation{"object: other order", "", func(d *Request) {
			if o, ok := at(d.body, p).(object); ok {
				o = slices.Clone(o)
				slices.Reverse(o)
				d.body, d.Same = replaced(d.body, p, o), true
			}
		}})
	}

	for _, name := range n.properties() {
		of, _ := n.property(name)
		here := p.to(name)
		field := here.String()
		v := at(root, here)

		sample := or(v, verbatim(of.sampleJSON()))
		if v != nil {
			all = append(all, Mutation{"object: member absent", field, func(d *Request) { d.body = replaced(d.body, here, nil) }})
		} else {
			all = append(all, Mutation{"object: optional member", field, func(d *Request) { d.body = replaced(d.body, here, sample) }})
		}

		for _, twin := range twins(name) {
			for _, bad := range []value{sample, verbatim(`"\u202e<script>` + strings.Repeat("x", 2000) + `"`), verbatim("-50"), verbatim(`[{}]`)} {
				add("case twin", p.to(twin).String(), quoted(twin), bad)
			}

			change("case twin alone", p.to(twin).String(), func(o object) object {
				return append(slices.DeleteFunc(o, func(m member) bool { return m.name == quoted(name) }), member{quoted(twin), sample})
			})
		}

		escaped := fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:])
		for _, spelling := range []string{quoted(name), escaped} {
			for _, bad := range []value{sample, verbatim("null"), verbatim(`[{"x":"` + strings.Repeat("x", 300) + `"}]`),
				verbatim(`"` + strings.Repeat("x", 3000) + `"`)} {
				change("member twice", field, func(o object) object {
					return append(replaced(o, path{name}, sample).(object), member{spelling, bad})
				})
				change("member twice, the other first", field, func(o object) object {
					return append(object{{spelling, bad}}, replaced(o, path{name}, sample).(object)...)
				})
			}
		}

		if v != nil {
			all = append(all, Mutation{"object: name spelt with an escape", field, func(d *Request) {
				if o, ok := at(d.body, p).(object); ok && o.index(name) >= 0 {
					o = slices.Clone(o)
					o[o.index(name)].name = escaped
					d.body, d.Same = replaced(d.body, p, o), true
				}
			}})
		}

		below := members(of, replaced(root, here, sample), here, n.requires(name))
		for _, m := range below {
			all = append(all, Mutation{m.Kind, m.Field, func(d *Request) {
				if at(d.body, here) == nil {
					d.body = replaced(d.body, here, sample)
				}

				m.apply(d)
			}})
		}
	}

	if of, ok := n.values(); ok {
		all = append(all, entries(n, of, root, p)...)
	}

	return all
}

// entries change a map, the name of a member of it, and the first of its values, which have
// the schema of.
func entries(n, of node, root value, p path) (all []Mutation) {
	current, _ := at(root, p).(object)
	current = slices.DeleteFunc(slices.Clone(current), func(m member) bool {
		_, known := n.property(unquoted(m.name))
		return known
	})

	name, sample := "x", value(verbatim(of.sampleJSON()))
	if len(current) > 0 {
		name, sample = unquoted(current[0].name), current[0].value
	}

	here := p.to(name)
	put := func(kind, field string, members ...member) {
		all = append(all, Mutation{"map: " + kind, field, func(d *Request) {
			if o, ok := at(d.body, p).(object); ok {
				d.body = replaced(d.body, p, append(slices.Clone(o), members...))
			}
		}})
	}
	put("empty name", p.String(), member{`""`, sample})
	put("huge name", p.String(), member{quoted(strings.Repeat("a", 50_000)), sample})

	for _, c := range []string{"\x00", "\x1b", "\r\n", "\x7f", "\u0085", "\u202e"} {
		put("control character in a name", p.String(), member{quoted(name + c), sample})
	}

	put("name twice", here.String(), member{quoted(name), sample}, member{quoted(name), sample})

	count := min(3000, 60_000/(len(textOf(sample))+9))
	if most, ok := n.number("maxProperties"); ok {
		count = int(most) + 1
	}

	many := make([]member, count)
	for i := range many {
		many[i] = member{fmt.Sprintf(`"m%d"`, i), sample}
	}

	put("many members", p.String(), many...)

	for _, m := range members(of, replaced(root, here, sample), here, false) {
		all = append(all, Mutation{m.Kind, m.Field, func(d *Request) {
			d.body = replaced(d.body, here, sample)
			m.apply(d)
		}})
	}

	return all
}

// twins are names that Go's encoding/json folds with name.
func twins(name string) (all []string) {
	for _, t := range []string{
		string(unicode.ToUpper(rune(name[0]))) + name[1:], strings.ToUpper(name), strings.ToLower(name),
		strings.Replace(name, "s", "ſ", 1), strings.Replace(name, "k", "\u212a", 1),
	} {
		if t != name && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}

	return all
}

type spelt struct{ kind, text string }

// nameOfAddress is the kind of a name that programs for mail show as a link.
const nameOfAddress = "address in a name"

// AddressInName is the kind of the mutations that put the address of a page or a mailbox in a name. No
// schema forbids it, but it must be refused.
const AddressInName = "string: " + nameOfAddress

// strings are texts for a string, as JSON. current is a valid one.
func (n node) strings(current string) (all []spelt) {
	add := func(kind, s string) { all = append(all, spelt{kind, quoted(s)}) }
	add("empty", "")
	add("white space", " \t\n")
	add("space around it", " "+current+" ")
	add("line at the end", current+"\n")

	most, bounded := n.number("maxLength")
	if bounded {
		add("over maxLength", padded(current, int(most)+1))
		add("maxLength", padded(current, int(most)))
		add("over maxLength in wide characters", strings.Repeat("𝔘", int(most)+1))
		add("maxLength in wide characters", strings.Repeat("𝔘", int(most)))
	}

	if least, ok := n.number("minLength"); ok && least > 0 {
		add("under minLength", cut(current, int(least)-1))
	}

	add("huge", strings.Repeat("a", 50_000))

	for _, c := range []string{"\x00", "\x1b[2J", "\r\nSet-Cookie: a=b", "\x7f", "\u0085"} {
		add("control character", current+c)
	}

	add("control character", "\x00")
	add("bidi character", "\u202ex")

	for _, c := range []string{"\u202e", "\u2066", "\u200f"} {
		add("bidi character", c+current)
	}

	for _, c := range []string{"\u200b", "\ufeff", "\u2060", "\u00ad", "\u2028", "\U000e0041"} {
		add("zero-width character", current+c)
	}

	add("combining characters", "e"+strings.Repeat("\u0301", 30))
	add("decomposed", current+"e\u0301")
	add("private use", "\ue000\ufffe")

	for _, s := range []string{
		"<script>alert(1)</script>", "' OR 1=1 --", "x#y/../z", "../../etc/passwd", "%2e%2e", "USER#x", "${jndi:ldap://x}", "{{7*7}}", "%s%n%d",
		`"@"@x`, "a@b", "a@b.example\r\nBcc: c@d.example", "http://169.254.169.254/", "file:///etc/passwd",
		"javascript:alert(1)", "-1", "true", "null", "\\",
	} {
		add("hostile text", s)
	}

	if n["format"] == "display-name" && (!bounded || most <= 40) { // longer ones are of administrators
		for _, s := range []string{"Win at example.com", "http://evil.example", "ann@example.com"} {
			all = append(all, spelt{nameOfAddress, quoted(s)})
		}
	}

	if enum, ok := n["enum"].([]any); ok {
		for _, e := range enum {
			if s, ok := e.(string); ok {
				add("capitals of an enum", strings.ToUpper(s))
				add("part of an enum", cut(s, len(s)-1))
				add("enum", s)
			}
		}
	}

	switch n.text("format") {
	case "date-time":
		for _, t := range []string{
			"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
			"10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
			"2026-06-06T24:00:00Z", "2026-06-06T25:00:00Z", "2026-06-06T23:59:60Z", "2026-06-06T12:00:00",
			"2026-06-06 12:00:00Z", "2026-06-06T12:00:00+99:99",
			"2026-06-06T12:00:00.123456789123456789Z", "2026-06-06T12:00:00+14:00", "2026-06-06", "0",
		} {
			add("time", t)
		}
	case "date":
		for _, t := range []string{"0000-00-00", "0001-01-01", "9999-12-31", "2026-02-30", "2026-6-6", "2026-06-06T00:00:00Z", "20260606"} {
			add("date", t)
		}
	}

	return append(all,
		spelt{"lone invalid UTF-8", "\"\xff\""}, spelt{"lone invalid UTF-8", "\"\xff\xfe\""}, spelt{"lone invalid UTF-8", "\"\xc0\x80\""},
		spelt{"lone surrogate", `"\ud800"`}, spelt{"lone surrogate", `"\udc00\ud800"`},
		spelt{"lone control character", "\"a\x01b\""}, spelt{"lone invalid escape", `"\x41"`},
	)
}

// numbers are texts for a number.
func (n node) numbers() (all []spelt) {
	if k := n.kind(); k != "integer" && k != "number" {
		return nil
	}

	if least, ok := n.number("minimum"); ok {
		all = append(all, spelt{"under minimum", fmt.Sprint(least - 1)}, spelt{"minimum", fmt.Sprint(least)})
	}

	if most, ok := n.number("maximum"); ok {
		all = append(all, spelt{"over maximum", fmt.Sprint(most + 1)}, spelt{"maximum", fmt.Sprint(most)})
	}

	for _, t := range []string{"0", "-0", "-1", "1", "0.5", "1.0", "1e0", "1e300", "1e400", "1e18", "-1e18", "1e-400", "9007199254740993",
		"9223372036854775807", "9223372036854775808",
		"-9223372036854775809", "18446744073709551616", strings.Repeat("9", 5000), "1e999999999"} {
		all = append(all, spelt{"odd number", t})
	}

	for _, t := range []string{"01", "+1", "1.", ".5", "0x1", "NaN", "Infinity", "1_000", "--1"} {
		all = append(all, spelt{"not a number", t})
	}

	return all
}

// sample returns a text that the schema allows: an example, or one that is made up.
func (n node) sample() string { return unquoted(n.sampleJSON()) }

func (n node) sampleJSON() string {
	for _, name := range []string{"examples", "enum"} {
		if all, ok := n[name].([]any); ok && len(all) > 0 {
			return encoded(all[0])
		}
	}

	for _, name := range []string{"example", "default"} {
		if v, ok := n[name]; ok {
			return encoded(v)
		}
	}

	switch n.kind() {
	case "integer", "number":
		if least, ok := n.number("minimum"); ok {
			return fmt.Sprint(least)
		}

		return "1"
	case "boolean":
		return "true"
	case "array":
		least, _ := n.number("minItems")
		return "[" + strings.Join(slices.Repeat([]string{n.items().sampleJSON()}, max(1, int(least))), ",") + "]"
	case "object":
		var all []string

		for _, name := range n.properties() {
			if p, _ := n.property(name); n.requires(name) {
				all = append(all, quoted(name)+":"+p.sampleJSON())
			}
		}

		return "{" + strings.Join(all, ",") + "}"
	}

	if s, ok := samples[n.text("format")]; ok {
		return quoted(s)
	}

	least, _ := n.number("minLength")
	if pattern := n.text("pattern"); pattern != "" {
		for seed := range 1000 {
			if s := rapid.StringMatching(pattern).Example(seed); len(s) >= int(least) {
				return quoted(s)
			}
		}
	}

	return quoted(padded("x", max(1, int(least))))
}

// samples are texts of formats.
var samples = map[string]string{
	"date-time": "2026-06-06T12:00:00Z",
	"date":      "2026-06-06",
	"uuid":      "5b0e9a52-7c43-4a6f-9d18-0000000000ff",
	"email":     "una@example.com",
	"uri":       "https://example.com/",
}

func padded(s string, length int) string {
	if len(s) > 0 && len(s) < length {
		s = strings.Repeat(s, length/len(s)+1)
	}

	for len(s) < length {
		s += "x"
	}

	return cut(s, length)
}

func cut(s string, length int) string {
	r := []rune(s)
	return string(r[:max(0, min(length, len(r)))])
}

func or(v, other value) value {
	if v == nil {
		return other
	}

	return v
}
