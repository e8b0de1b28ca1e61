package attack

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// lab is the document of an API with two operations.
var lab = strings.ReplaceAll(`{"openapi":"3.1.0","servers":[{"url":"/lab"}],"paths":{"/things/{id}":{
	"get":{"operationId":"get-thing","parameters":[
		{"in":"path","name":"id","required":true,"schema":{"type":"string","pattern":"^[a-z]{1,8}$"}},
		{"in":"query","name":"limit","schema":{"type":"integer","minimum":1,"maximum":9}}],
		"responses":{REFUSALS,"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}},
	"put":{"operationId":"put-thing","parameters":[{"in":"path","name":"id","required":true,"schema":{"type":"string","pattern":"^[a-z]{1,8}$"}},
		{"in":"header","name":"Idempotency-Key","schema":{"type":"string","maxLength":20,"pattern":"^[!-~]+$"}}],
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
		"responses":{REFUSALS,"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}}}},
	"components":{"schemas":{"Thing":{"type":"object","additionalProperties":false,"required":["name"],"properties":{
		"name":{"type":"string","minLength":1,"maxLength":10,"pattern":"^[ -~]*$"},"points":{"type":"integer","minimum":0,"maximum":9},
		"labels":{"type":"object","additionalProperties":{"type":"string","maxLength":10}}}}}}}`,
	"REFUSALS", refusals("400", "401", "422"))

// refusals describes answers with the only problem of the lab.
func refusals(statuses ...string) string {
	var all []string
	for _, status := range statuses {
		all = append(all, `"`+status+`":{"content":{"application/problem+json":{"schema":{"properties":{`+
			`"type":{"x-extensible-enum":["urn:problem-type:matchday:invalid"]}}}}}}`)
	}

	return strings.Join(all, ",")
}

var labRoom = spec.Room{Name: "lab", Functions: []spec.Function{
	{Name: "lab/get-thing", On: spec.Route{Method: "GET", Path: "/things/{id}", Auth: spec.User}},
	{Name: "lab/put-thing", On: spec.Route{Method: "PUT", Path: "/things/{id}", Auth: spec.User}},
}}

// thing is a handler of the lab. It checks requests by Forbids, except for its defect.
type thing struct {
	operations []mutation.Operation
	defect     string

	mu     sync.Mutex
	stored map[string]any
}

func (h *thing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	problem := func(status int, detail string) {
		kind := "urn:problem-type:matchday:invalid"
		if h.defect == "code" && r.Method == http.MethodPut {
			kind = "urn:problem-type:matchday:other"
		}

		doc := map[string]any{"type": kind, "title": http.StatusText(status), "status": status, "detail": detail}
		if h.defect != "no field" && status == http.StatusUnprocessableEntity {
			doc["errors"] = everyField(r, text)
		}

		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(doc)
	}

	if h.defect == "another spelling" && r.Header.Get("Authorization") == "" && strings.HasSuffix(r.URL.Path, "/") {
		fmt.Fprint(w, `{"name":"x"}`)
		return
	}

	id, inside := strings.CutPrefix(r.URL.Path, "/lab/things/")

	i := slices.IndexFunc(h.operations, func(o mutation.Operation) bool { return o.Method == r.Method })
	if !inside || i < 0 || strings.Contains(id, "/") || id == "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Not Found"}`)

		return
	}

	o := h.operations[i]
	if h.defect != "anybody" && r.Header.Get("Authorization") == "" {
		problem(http.StatusUnauthorized, "sign in first")
		return
	}

	d := mutation.Request{Method: r.Method, Params: map[string]string{"id": id}, Header: r.Header, Raw: text, RawQuery: r.URL.RawQuery}

	refused := o.Forbids(d)
	if o.Body != nil && refused == nil {
		refused = mutation.Strict(text)
	}

	why := fmt.Sprint(refused)
	body := map[string]any{}

	if h.badName(text) {
		problem(http.StatusInternalServerError, "sorry")
		return
	}

	if h.defect == "map" && strings.Contains(why, "/labels/") && strings.Contains(why, "maxLength") ||
		h.defect == "header" && strings.Contains(why, "Idempotency-Key") {
		refused = nil
	}

	loose := json.Unmarshal(text, &struct{ Name *string }{}) == nil // as Go folds names
	switch {
	case h.defect == "stores" && r.Method == http.MethodPut && loose && refused != nil && json.Unmarshal(text, &body) == nil &&
		body["name"] != nil:
		h.mu.Lock()
		h.stored = body
		h.mu.Unlock()
	case refused != nil:
		switch {
		case h.defect == "500" && strings.Contains(why, "minLength"):
			problem(http.StatusInternalServerError, "sorry")
		case h.defect == "Go type":
			problem(http.StatusUnprocessableEntity, "json: cannot unmarshal string into Go struct field Thing.name")
		case h.defect == "HTML":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `<html>no</html>`)
		case h.defect == "redirect" && strings.Contains(why, "id"):
			http.Redirect(w, r, "/lab/things/x", http.StatusTemporaryRedirect)
		default:
			problem(http.StatusUnprocessableEntity, "invalid")
		}

		return
	case r.Method == http.MethodPut:
		json.Unmarshal(text, &body)
		h.mu.Lock()
		if h.defect != "stores" {
			h.stored = map[string]any{"name": body["name"]}
		}
		h.mu.Unlock()
	}

	w.Header().Set("Content-Type", "application/json")

	if h.defect != "kept" {
		w.Header().Set("Cache-Control", "no-store")
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	json.NewEncoder(w).Encode(h.stored)
}

// badName reports whether a label of a body has a name that is the handler's defect.
func (h *thing) badName(text []byte) bool {
	var body struct{ Labels map[string]any }
	if json.Unmarshal(text, &body) != nil {
		return false
	}

	for name := range body.Labels {
		switch {
		case h.defect == "empty name" && name == "", h.defect == "control character in a name" && strings.Contains(name, "\x00"),
			h.defect == "huge name" && len(name) > 1000:
			return true
		}
	}

	return h.defect == "many members" && len(body.Labels) > 1000
}

// everyField blames every part of a request.
func everyField(r *http.Request, text []byte) (all []map[string]string) {
	all = append(all, map[string]string{"location": "path.id", "message": "wrong"},
		map[string]string{"location": "header.Idempotency-Key", "message": "wrong"})
	for name := range r.URL.Query() {
		all = append(all, map[string]string{"location": "query." + name, "message": "wrong"})
	}

	return append(all, map[string]string{"location": "body", "message": "one of these: name points " + string(text)})
}

// TestDefects: a handler without a defect is not blamed, and each defect is found.
func TestDefects(t *testing.T) {
	t.Parallel()

	for defect, want := range map[string]string{
		"":                 "",
		"stores":           "a 200 for a request that the schema forbids",
		"500":              "a 500",
		"Go type":          `the internal word "json: " in the answer`,
		"HTML":             "HTML in the answer",
		"redirect":         "a redirect",
		"no field":         "a refusal that does not name",
		"anybody":          "a 200 for a caller who may not",
		"another spelling": "a 200 for a caller who may not",
		"code":             "a 422 with the problem urn:problem-type:matchday:other, which the operation does not document",
		"kept":             "an answer for one caller that others may keep",
		"map":              "a 200 for a request that the schema forbids",
		"header":           "a 200 for a request that the schema forbids: the parameter Idempotency-Key",

		"empty name": "a 500", "control character in a name": "a 500", "huge name": "a 500", "many members": "a 500",
	} {
		t.Run("defect "+defect, func(t *testing.T) {
			t.Parallel()

			operations, err := mutation.Operations(labRoom, []byte(lab))
			if err != nil {
				t.Fatal(err)
			}

			server := httptest.NewServer(&thing{operations: operations, defect: defect, stored: map[string]any{"name": "x"}})
			defer server.Close()

			a := New(Config{URL: server.URL, Seed: 1, Token: func(who Actor, _ string) (string, error) { return string(who), nil }})

			for _, o := range operations {
				s := Sample{Actor: User, Path: "/lab/things/abc", Body: []byte(`{"name":"x","points":1,"labels":{"a":"b"}}`)}
				if err := a.Accepted(t.Context(), o, s); err != nil {
					t.Fatal(err)
				}

				if err := a.Operation(t.Context(), o, s); err != nil {
					t.Fatal(err)
				}
			}

			if err := a.Read(t.Context(), operations[0], Sample{Actor: User, Path: "/lab/things/abc"}, "the attack"); err != nil {
				t.Fatal(err)
			}

			all := a.Findings()
			if defect == "" {
				for _, f := range all {
					t.Error(f)
				}

				return
			}

			if !slices.ContainsFunc(all, func(f *Finding) bool { return strings.HasPrefix(f.Wrong, want) }) {
				t.Errorf("got %d findings, want one that begins with %q", len(all), want)
			}

			if defect == "stores" && !slices.ContainsFunc(all,
				func(f *Finding) bool { return strings.HasPrefix(f.Wrong, "an answer that its schema forbids") }) {
				t.Errorf("what is stored against the schema was not noticed when it was read: %v", all)
			}
		})
	}
}

// TestSameSeed: the same seed makes the same requests.
func TestSameSeed(t *testing.T) {
	t.Parallel()

	operations, err := mutation.Operations(labRoom, []byte(lab))
	if err != nil {
		t.Fatal(err)
	}

	var first []string

	for range 2 {
		var (
			mu  sync.Mutex
			all []string
		)

		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)

			mu.Lock()

			all = append(all, r.Method+r.RequestURI+string(text))
			mu.Unlock()
		}))

		a := New(Config{URL: server.URL, Seed: 7, Most: 50, Depth: 3, Token: func(Actor, string) (string, error) { return "", nil }})
		for _, o := range operations {
			if err := a.Operation(t.Context(), o, Sample{Path: "/lab/things/abc", Body: []byte(`{"name":"x"}`)}); err != nil {
				t.Fatal(err)
			}
		}

		server.Close()
		slices.Sort(all)

		if first == nil {
			first = all
		} else if !slices.Equal(first, all) {
			t.Error("the requests differ")
		}
	}
}
