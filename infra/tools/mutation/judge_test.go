package mutation

import (
	"strings"
	"testing"

	"matchday/pkg/spec"
)

// lab is the document of an API with two operations.
const lab = `{"openapi":"3.1.0","paths":{"/things/{id}":{
	"get":{"operationId":"get-thing","parameters":[
		{"in":"path","name":"id","required":true,"schema":{"type":"string","pattern":"^[a-z]{1,8}$"}},
		{"in":"query","name":"limit","schema":{"type":"integer","minimum":1,"maximum":9}},
		{"in":"query","name":"ids","schema":{"type":"array","maxItems":2,"items":{"type":"string","pattern":"^[a-z]$"}}}],"responses":{}},
	"put":{"operationId":"put-thing","parameters":[
		{"in":"path","name":"id","required":true,"schema":{"type":"string","pattern":"^[a-z]{1,8}$"}},
		{"in":"header","name":"If-Match","required":true,"schema":{"type":"string","pattern":"^[0-9]$"}}],
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","additionalProperties":false,"required":["name"],
			"properties":{"name":{"type":"string","minLength":1},"points":{"type":"integer","format":"int32","maximum":9}}}}}},"responses":{}}}}}`

// operations returns those of the lab.
func operations(t *testing.T) (get, put Operation) {
	t.Helper()

	all, err := Operations(spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/get-thing", On: spec.Route{Method: "GET", Path: "/things/{id}", Auth: spec.User}},
		{Name: "lab/put-thing", On: spec.Route{Method: "PUT", Path: "/things/{id}", Auth: spec.User}},
	}}, []byte(lab))
	if err != nil {
		t.Fatal(err)
	}

	return all[0], all[1]
}

// TestForbiddenTargets: a path or a query that the document forbids is refused, however the numbers
// are spelt, and one that another route may have is not judged.
func TestForbiddenTargets(t *testing.T) {
	t.Parallel()

	get, _ := operations(t)
	for query, want := range map[string]string{
		"":                           "",
		"limit=1":                    "",
		"limit=%31":                  "",
		"limit=":                     "",
		"limit=%2B1":                 "",
		"ids=a":                      "",
		"ids=a,b":                    "",
		"&":                          "",
		"limit=0":                    "limit is not valid",
		"limit=10":                   "limit is not valid",
		"limit=x":                    "limit is not valid",
		"limit=1.0":                  "limit is not valid",
		"limit=+1":                   "limit is not valid",
		"limit=99999999999999999999": "limit is not valid",
		"limit=1&limit=1":            "limit is given 2 times",
		"Limit=1":                    `no parameter "Limit"`,
		"ids=":                       "",
		"ids=a,b,c":                  "ids is not valid",
		"ids=a,":                     "ids is not valid",
		"ids=7":                      "ids is not valid",
		"zz=1":                       `no parameter "zz"`,
		"=":                          `no parameter ""`,
		"%":                          "cannot be read",
		"a;b":                        "cannot be read",
	} {
		checkForbidden(t, get, Request{Method: "GET", Params: map[string]string{"id": "abc"}, RawQuery: query}, query, want)
	}

	for id, want := range map[string]string{
		"abc":       "",
		"":          "",
		"a/b":       "",
		"A":         "id is not valid",
		"abcdefghi": "id is not valid",
		"a\n":       "id is not valid",
	} {
		checkForbidden(t, get, Request{Method: "GET", Params: map[string]string{"id": id}}, id, want)
	}

	checkForbidden(t, get, Request{Method: "POST", Params: map[string]string{"id": "A"}}, "another method", "")
	checkForbidden(t, get, Request{Method: "GET", Path: "/lab/things/A"}, "another path", "")
}

// TestForbiddenBodies: a body that the schema forbids is refused, with null for an optional member
// as for none.
func TestForbiddenBodies(t *testing.T) {
	t.Parallel()
	_, put := operations(t)

	request := func(body, match, kind string) Request {
		r := Request{
			Method: "PUT",
			Params: map[string]string{"id": "abc"},
			Header: map[string][]string{"Content-Type": {kind}},
			Raw:    []byte(body),
		}
		if match != "" {
			r.Header["If-Match"] = []string{match}
		}

		return r
	}
	for body, want := range map[string]string{
		`{"name":"x"}`:                      "",
		` {"name":"x","points":9} `:         "",
		`{"name":"x","points":null}`:        "",
		`{"name":"x","points":9.0}`:         "",
		`{"name":"x","points":1e-400}`:      "",
		`{}`:                                "name",
		`{"name":null}`:                     "null",
		`{"name":""}`:                       "minLength",
		`{"name":"x","points":9.5}`:         "want integer",
		`{"name":"x","points":-3000000000}`: "-2147483648",
		`{"name":"x","zz":1}`:               "zz",
		`{"name":"x","name":"x"}`:           "a member twice",
		`{"name":"x"}x`:                     "not JSON",
		``:                                  "not JSON",
		"{\"name\":\"\xff\"}":               "not JSON",
		`{"name":"` + strings.Repeat("x", maxBody) + `"}`: "too large",
	} {
		checkForbidden(t, put, request(body, "1", "application/json"), body, want)
		checkForbidden(t, put, request(body, "1", "text/plain"), body+" as text", "")
	}

	checkForbidden(t, put, request(`{"name":"x"}`, "", "application/json"), "no header", "If-Match is required")
	checkForbidden(t, put, request(`{"name":"x"}`, "x", "application/json"), "another header", "If-Match is not valid")
}

// TestAnyQuery: an operation whose document has a parameter for all others may be given any.
func TestAnyQuery(t *testing.T) {
	t.Parallel()

	for parameters, want := range map[string]string{
		`[]`: `no parameter "zz"`,
		`[{"name":"others","in":"query","style":"form","explode":true,"schema":{"type":"object","additionalProperties":{"type":"string"}}}]`: "",
	} {
		document := `{"openapi":"3.1.0","paths":{"/back":{"get":{"operationId":"get-back","parameters":` + parameters + `,"responses":{}}}}}`

		all, err := Operations(spec.Room{
			Name:      "lab",
			Functions: []spec.Function{{Name: "lab/get-back", On: spec.Route{Method: "GET", Path: "/back"}}},
		}, []byte(document))
		if err != nil {
			t.Fatal(err)
		}

		checkForbidden(t, all[0], Request{Method: "GET", Query: []Pair{{"zz", "1"}}}, parameters, want)
	}
}

// checkForbidden compares why a request is forbidden with a part of it, "" if it is not.
func checkForbidden(t *testing.T, o Operation, r Request, what, want string) {
	t.Helper()

	err := o.Forbids(r)
	if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%.100s: got %v, want %q", what, err, want)
	}
}

// TestRedirect: a path of an event is the operation's, with or without the name of the room, or no
// request to it.
func TestRedirect(t *testing.T) {
	t.Parallel()

	get, _ := operations(t)
	for path, want := range map[string]string{
		"/things/abc":         "abc",
		"/lab/things/abc":     "abc",
		"/things/a b%":        "a b%",
		"/things/":            "",
		"/things":             "",
		"/things/abc/":        "",
		"/thing/abc":          "",
		"/lab/lab/things/abc": "",
		"":                    "",
	} {
		r, err := get.Redirect(Request{Method: "GET", Path: "/x"}, path, "limit=1")
		if want == "" {
			if err == nil {
				t.Errorf("%s is a path of the operation", path)
			}

			continue
		}

		if err != nil || r.Params["id"] != want || get.Forbids(r) == nil != (want == "abc") {
			t.Errorf("%s: got %+v, %v, want the id %s", path, r, err, want)
		}
	}
}
