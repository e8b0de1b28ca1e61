package apigateway

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPrecedence(t *testing.T) {
	t.Parallel()

	var all []Route

	for _, key := range []string{
		"GET /pets/dog/1", "GET /pets/dog/{id}", "GET /pets/{proxy+}", "ANY /{proxy+}", "$default",
		"GET /{kind}/cat/{id}", "GET /pets/{id}/toys", "ANY /pets/dog/1", "POST /pets", "GET /{kind}/cat/food/{proxy+}",
	} {
		method, path, ok := strings.Cut(key, " ")
		if !ok {
			method, path = "", key
		}

		all = append(all, Route{method, path, "f", Public})
	}

	routes, err := parseRoutes(all)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		method, path, key string
		params            map[string]string
	}{
		{"GET", "/pets/dog/1", "GET /pets/dog/1", nil},
		{"PUT", "/pets/dog/1", "ANY /pets/dog/1", nil},
		{"GET", "/pets/dog/2", "GET /pets/dog/{id}", map[string]string{"id": "2"}},
		{"GET", "/pets/dog/toys", "GET /pets/dog/{id}", map[string]string{"id": "toys"}},
		{"GET", "/pets/cat/toys", "GET /pets/{id}/toys", map[string]string{"id": "cat"}},
		{"GET", "/pets/cat/1", "GET /{kind}/cat/{id}", map[string]string{"kind": "pets", "id": "1"}}, // whole before rest
		{"GET", "/pets/cow/1", "GET /pets/{proxy+}", map[string]string{"proxy": "cow/1"}},
		{"GET", "/pets/cat/food/1", "GET /pets/{proxy+}", map[string]string{"proxy": "cat/food/1"}},
		{"GET", "/wild/cat/food/1/2", "GET /{kind}/cat/food/{proxy+}", map[string]string{"kind": "wild", "proxy": "1/2"}},
		{"POST", "/pets/cow", "ANY /{proxy+}", map[string]string{"proxy": "pets/cow"}},
		{"POST", "/pets", "POST /pets", nil},
		{"GET", "/pets/", "ANY /{proxy+}", map[string]string{"proxy": "pets/"}},
		{"GET", "/", "$default", nil},
	} {
		r, params := find(routes, c.method, c.path)
		if r == nil || r.key != c.key || !maps.Equal(params, c.params) {
			t.Errorf("%s %s: %v %v, want %s %v", c.method, c.path, r, params, c.key, c.params)
		}
	}
}

func TestBadRoutes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		routes []Route
		want   string
	}{
		{[]Route{{Method: "GET", Path: "matches"}}, `route "GET matches": the path must begin with a slash`},
		{[]Route{{Method: "get", Path: "/"}}, `route "get /": the method must be in capitals`},
		{[]Route{{Path: "/"}}, `route " /": the method must be in capitals`},
		{[]Route{{Method: "GET", Path: "/{a}x"}}, `route "GET /{a}x": the segment "{a}x" must be a parameter as a whole`},
		{[]Route{{Method: "GET", Path: "/x{a}y"}}, `route "GET /x{a}y": the segment "x{a}y" must be a parameter as a whole`},
		{[]Route{{Method: "GET", Path: "/{}"}}, `route "GET /{}": the segment "{}" must be a parameter as a whole`},
		{[]Route{{Method: "GET", Path: "/{a+}/b"}}, `route "GET /{a+}/b": "{a+}" must come last`},
		{[]Route{{Method: "GET", Path: "/{a}/{a}"}}, `route "GET /{a}/{a}": two parameters are called "a"`},
		{
			[]Route{{Method: "GET", Path: "/a/{x}"}, {Method: "GET", Path: "/b"}, {Method: "GET", Path: "/a/{y}"}},
			`routes "GET /a/{x}" and "GET /a/{y}" take the same requests`,
		},
	} {
		if _, err := New(Config{Routes: c.routes}); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}

	if _, err := New(Config{Base: "cricket"}); err == nil {
		t.Error("a base path without a slash is taken")
	}
}

func TestRouting(t *testing.T) {
	t.Parallel()

	segments := []string{"a", "b", "{x}", "{y}"}

	rapid.Check(t, func(t *rapid.T) {
		var all []Route

		for _, path := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			parts := rapid.SliceOfNDistinct(rapid.SampledFrom(segments), 1, 3, rapid.ID).Draw(t, "parts")
			if rapid.Bool().Draw(t, "greedy") {
				parts = append(parts, "{rest+}")
			}

			return "/" + strings.Join(parts, "/")
		}), 1, 8).Draw(t, "paths") {
			r := Route{Method: rapid.SampledFrom([]string{"GET", "ANY"}).Draw(t, "method"), Path: path}
			if _, err := parseRoutes(append(slices.Clone(all), r)); err == nil {
				all = append(all, r)
			}
		}

		routes, err := parseRoutes(all)
		if err != nil {
			t.Fatal(err)
		}

		shuffled, err := parseRoutes(rapid.Permutation(all).Draw(t, "shuffled"))
		if err != nil {
			t.Fatal(err)
		}

		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 1, 4).Draw(t, "request"), "/")

		got, params := find(routes, "GET", path)
		if again, _ := find(shuffled, "GET", path); (got == nil) != (again == nil) || got != nil && got.key != again.key {
			t.Errorf("the order of routes decides about %s: %v or %v", path, got, again)
		}

		if got == nil {
			return
		}
		// Filling a route's parameters in gives the path back.
		filled := got.Path
		for name, v := range params {
			filled = strings.NewReplacer("{"+name+"}", v, "{"+name+"+}", v).Replace(filled)
		}

		if filled != path {
			t.Errorf("%s with %v is %s, not %s", got.Path, params, filled, path)
		}
		// A route of exactly this path wins over every other.
		if routes, err := parseRoutes(append(all, Route{Method: "GET", Path: path})); err == nil {
			if own, _ := find(routes, "GET", path); own.key != "GET "+path {
				t.Errorf("%s wins over GET %s", own.key, path)
			}
		}
	})
}
