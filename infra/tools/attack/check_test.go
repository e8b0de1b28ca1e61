package attack

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/mutation"
	"matchday/pkg/spec"
)

// TestPagesAreChecked: HTML is right where the document has it, for refusals too, and wrong
// elsewhere.
func TestPagesAreChecked(t *testing.T) {
	t.Parallel()

	json := mutation.Operation{
		Method:  "GET",
		Path:    "/lab/things",
		Auth:    spec.Public,
		Answers: map[string]*mutation.Schema{"200": nil},
		Media:   map[string]string{},
	}
	page := json
	page.AnyQuery = true
	page.Media = map[string]string{"200": "text/html", "404": "text/html"}
	form := page
	form.Answers, form.Media = map[string]*mutation.Schema{"303": nil}, map[string]string{"303": "text/html", "404": "text/html"}
	image := json

	image.Media = map[string]string{"200": "image/*"}
	for name, c := range map[string]struct {
		o      mutation.Operation
		status int
		kind   string
		body   string
		want   []string
	}{
		"a page":                    {page, 200, "text/html; charset=utf-8", "<html>", nil},
		"a page of another type":    {page, 200, "image/png", "", []string{`an answer of the type "image/png"`}},
		"the page after a form":     {form, 303, "text/html", "<html>", nil},
		"a form that leads to JSON": {form, 303, "application/json", "{}", []string{`an answer of the type "application/json"`}},
		"a refusal that is a page":  {page, 404, "text/html", "<html>", nil},
		"a refusal that is none":    {page, 422, "application/problem+json", "{}", []string{"a refusal that is no page"}},
		"an image":                  {image, 200, "image/png", "", nil},
		"an image of another type":  {image, 200, "application/json", "", []string{`an answer of the type "application/json"`}},
		"a page where JSON must be": {json, 200, "text/html", "", []string{"HTML in the answer"}},
	} {
		d := mutation.Request{Method: "GET", Query: []mutation.Pair{{Name: "utm_source", Value: "x"}}}
		if !c.o.AnyQuery {
			d.Query = nil
		}

		got := check(c.o, d, "", true, answer{c.status, http.Header{"Content-Type": {c.kind}}, []byte(c.body)})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestInternalWords: what the inside of the system says is found, and like words are not.
func TestInternalWords(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                                  "",
		"the goal of Redistributed Dynamos": "Dynamo",
		"a redistribution":                  "",
		"no Redis today":                    "Redis",
		"go on, structure":                  "",
		"into Go struct field":              "Go struct",
		"cricket.StoreError":                "cricket.StoreError",
		"types.GetItemInput here":           "types.GetItemInput",
		"an input, an output, a body":       "",
		"ConditionalCheckFailedException":   "ConditionalCheckFailedException",
		"json: cannot unmarshal":            "json: ",
		"at time.Time of *time.Time":        "time.Time",
		"ERROR: … (SQLSTATE 23505)":         "SQLSTATE",
		"main.go:12":                        ".go:12",
		"it violates check x":               "violates check",
		"it violates the rules":             "",
		`the relation "guess"`:              `relation "`,
	} {
		if got := internalIn(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestAnswersForOneCallerAreNotKept: whatever depends on who asks says no-store, or that only the caller
// may keep it.
func TestAnswersForOneCallerAreNotKept(t *testing.T) {
	t.Parallel()

	const kept = `an answer for one caller that others may keep: Cache-Control is "public, max-age=5"`
	for auth, want := range map[spec.Auth][]string{
		spec.Public: nil, spec.Secret: nil, // the same for everybody, or for a machine
		spec.User: {kept}, spec.Admin: {kept}, spec.Session: {kept}, spec.Browser: {kept},
	} {
		o := mutation.Operation{Method: "GET", Path: "/lab/things", Auth: auth, Answers: map[string]*mutation.Schema{"204": nil}}
		for cache, want := range map[string][]string{"public, max-age=5": want, "no-store": nil, "private, no-store": nil} {
			got := check(o, mutation.Request{Method: "GET"}, "", true, answer{204, http.Header{"Cache-Control": {cache}}, nil})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", auth, cache, diff)
			}
		}

		for vary, want := range map[string]int{"Authorization": 0, "Origin": len(want)} { // without it another user of the machine gets it
			h := http.Header{"Cache-Control": {"private, max-age=60"}, "Vary": {vary}}
			if got := check(o, mutation.Request{Method: "GET"}, "", true, answer{204, h, nil}); len(got) != want {
				t.Errorf("%s, private with Vary: %s: %q, want %d", auth, vary, got, want)
			}
		}
	}
}
