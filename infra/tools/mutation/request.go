package mutation

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is a request in parts, which mutations change.
type Request struct {
	Method   string
	Params   map[string]string // of the path, not escaped
	Path     string            // escaped, instead of Params, if not ""
	Query    []Pair
	RawQuery string // instead of Query, if not ""
	Header   http.Header
	Raw      []byte // instead of the body, if not nil
	Same     bool   // it is the same request in another spelling

	body value // nil without one
}

// Pair is a parameter of the query, not escaped.
type Pair struct{ Name, Value string }

// Request returns a request to the operation. The path is escaped, and the query is raw.
func (o Operation) Request(path, query string, header http.Header, body []byte) (r Request, err error) {
	r = Request{Method: o.Method, Params: map[string]string{}, Header: http.Header{}}
	maps.Copy(r.Header, header.Clone())

	have, want := strings.Split(path, "/"), strings.Split(o.Path, "/")
	if len(have) != len(want) {
		return r, fmt.Errorf("%s: the path %s is not of %s", o.Name(), path, o.Path)
	}

	for i, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			if r.Params[strings.TrimSuffix(name, "}")], err = url.PathUnescape(have[i]); err != nil {
				return r, err
			}
		}
	}

	values, err := url.ParseQuery(query)
	if err != nil {
		return r, err
	}

	for _, name := range slices.Sorted(maps.Keys(values)) {
		r.Query = append(r.Query, Pair{name, values.Get(name)})
	}

	if o.Form {
		r.Header.Set("Content-Type", formType)

		r.Raw = body
	}

	if o.Body != nil {
		r.Header.Set("Content-Type", "application/json")

		if r.body, err = parseValue(body); err != nil {
			return r, fmt.Errorf("%s: the body: %w", o.Name(), err)
		}
	}

	return r, nil
}

// Redirect returns the request with another path and query, as an event has them: the path is
// not escaped, and may begin with the name of the room. The error says why the path is not the
// operation's.
func (o Operation) Redirect(r Request, path, query string) (Request, error) {
	base := "/" + o.Room
	if !strings.HasPrefix(path, base+"/") {
		path = base + path
	}

	have, want := strings.Split(path, "/"), strings.Split(o.Path, "/")
	if len(have) != len(want) {
		return r, fmt.Errorf("the path is not %s", o.Path)
	}

	r = r.Clone()
	r.Params, r.Path, r.Query, r.RawQuery = map[string]string{}, "", nil, query

	for i, part := range want {
		name, ok := strings.CutPrefix(part, "{")
		switch {
		case !ok && have[i] != part, ok && have[i] == "":
			return r, fmt.Errorf("the path is not %s", o.Path)
		case ok:
			r.Params[strings.TrimSuffix(name, "}")] = have[i]
		}
	}

	return r, nil
}

// Clone returns a copy, which can be changed.
func (r Request) Clone() Request {
	r.Params, r.Query, r.Header = maps.Clone(r.Params), slices.Clone(r.Query), r.Header.Clone()
	return r
}

// Text is the body as it is sent.
func (r Request) Text() []byte {
	if r.Raw != nil {
		return r.Raw
	}

	if r.body == nil {
		return nil
	}

	return []byte(textOf(r.body))
}

// Target is the escaped path and the query.
func (r Request) Target(o Operation) string {
	to := r.Path
	if to == "" {
		for i, part := range strings.Split(o.Path, "/") {
			if i > 0 {
				to += "/"
			}

			if name, ok := strings.CutPrefix(part, "{"); ok {
				part = url.PathEscape(r.Params[strings.TrimSuffix(name, "}")])
			}

			to += part
		}
	}

	if query := r.query(); query != "" {
		to += "?" + query
	}

	return to
}

// query is the query as it is sent.
func (r Request) query() string {
	if r.RawQuery != "" {
		return r.RawQuery
	}

	var all []string
	for _, q := range r.Query {
		all = append(all, url.QueryEscape(q.Name)+"="+url.QueryEscape(q.Value))
	}

	return strings.Join(all, "&")
}
