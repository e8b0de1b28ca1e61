package apigateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// route is a parsed Route.
type route struct {
	Route
	key      string // "GET /matches/{id}", or "$default"
	segments []segment
}

// segment is a segment of a path. The kinds are in order of precedence: static text,
// a parameter, a greedy parameter, $default.
type segment struct {
	kind kind
	name string
}

type kind int

const (
	static kind = iota
	param
	greedy
	fallback
)

func parseRoutes(all []Route) ([]route, error) {
	var routes []route

	for _, r := range all {
		rt := route{Route: r, key: r.Method + " " + r.Path}
		switch {
		case r.Path == "$default":
			rt.Method, rt.key = "ANY", r.Path
			rt.segments = []segment{{fallback, ""}}
		case r.Method == "" || r.Method != strings.ToUpper(r.Method):
			return nil, fmt.Errorf("route %q: the method must be in capitals", rt.key)
		case !strings.HasPrefix(r.Path, "/"):
			return nil, fmt.Errorf("route %q: the path must begin with a slash", rt.key)
		default:
			parts := strings.Split(r.Path[1:], "/")
			names := map[string]bool{}

			for i, part := range parts {
				s, err := parseSegment(part, i == len(parts)-1)
				if err != nil {
					return nil, fmt.Errorf("route %q: %w", rt.key, err)
				}

				if s.kind != static {
					if names[s.name] {
						return nil, fmt.Errorf("route %q: two parameters are called %q", rt.key, s.name)
					}

					names[s.name] = true
				}

				rt.segments = append(rt.segments, s)
			}
		}

		routes = append(routes, rt)
	}

	slices.SortStableFunc(routes, compare)

	for i := 1; i < len(routes); i++ {
		if compare(routes[i-1], routes[i]) == 0 {
			return nil, fmt.Errorf("routes %q and %q take the same requests", routes[i-1].key, routes[i].key)
		}
	}

	return routes, nil
}

func parseSegment(part string, last bool) (segment, error) {
	name, open := strings.CutPrefix(part, "{")

	name, closed := strings.CutSuffix(name, "}")
	if !open && !closed {
		if strings.ContainsAny(part, "{}") {
			return segment{}, fmt.Errorf("the segment %q must be a parameter as a whole", part)
		}

		return segment{static, part}, nil
	}

	name, rest := strings.CutSuffix(name, "+")
	if !open || !closed || name == "" || strings.ContainsAny(name, "{}+") {
		return segment{}, fmt.Errorf("the segment %q must be a parameter as a whole", part)
	}

	if rest && !last {
		return segment{}, fmt.Errorf("%q must come last", part)
	}

	if rest {
		return segment{greedy, name}, nil
	}

	return segment{param, name}, nil
}

// compare puts the more specific route first: paths that match as a whole come
// before those that take a rest, and those before $default; then, at the first
// segment where two differ, text comes before a parameter, and a parameter
// before a rest; of equal paths, the one with a method comes before ANY. Routes
// that take the same requests are equal.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
func compare(a, b route) int {
	method := func(r route) string { return strings.TrimPrefix(r.Method, "ANY") }

	return cmp.Or(
		cmp.Compare(max(param, a.last()), max(param, b.last())),
		slices.CompareFunc(a.segments, b.segments, func(a, b segment) int {
			if a.kind != static || b.kind != static {
				return cmp.Compare(a.kind, b.kind)
			}

			return strings.Compare(a.name, b.name)
		}),
		-strings.Compare(method(a), method(b)), // ANY is empty here, and last
	)
}

func (r route) last() kind { return r.segments[len(r.segments)-1].kind }

// find returns the route of a request and the path's parameters. It returns nil if no
// route matches.
func find(routes []route, method, path string) (*route, map[string]string) {
	for i, r := range routes {
		if r.Method != method && r.Method != "ANY" {
			continue
		}

		if params, ok := r.match(path); ok {
			return &routes[i], params
		}
	}

	return nil, nil
}

// match reports whether the route matches path, and returns the path's parameters. A
// parameter is never empty.
func (r route) match(path string) (params map[string]string, ok bool) {
	if r.last() == fallback {
		return nil, true
	}

	rest, more := path[1:], true
	for _, s := range r.segments {
		if !more {
			return nil, false
		}

		part := rest
		if s.kind != greedy {
			part, rest, more = strings.Cut(rest, "/")
		} else {
			more = false
		}

		switch {
		case s.kind == static && part != s.name, s.kind != static && part == "":
			return nil, false
		case s.kind != static:
			if params == nil {
				params = map[string]string{}
			}

			params[s.name] = part
		}
	}

	return params, !more
}
