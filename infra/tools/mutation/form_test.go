package mutation

import (
	"net/http"
	"testing"

	"matchday/pkg/spec"
)

// TestForms: the sample of a form is sent as it is, and its changes are of forms.
func TestForms(t *testing.T) {
	t.Parallel()

	const document = `{"openapi":"3.1.0","servers":[{"url":"/lab"}],"paths":{"/forms/{id}":{"post":{"operationId":"send-form","parameters":[
		{"in":"path","name":"id","required":true,"schema":{"type":"string"}}],
		"requestBody":{"required":true,"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object"}}}},"responses":{}}}}}`

	all, err := Operations(spec.Room{Name: "lab", Functions: []spec.Function{
		{Name: "lab/send-form", On: spec.Route{Method: "POST", Path: "/forms/{id}", Auth: spec.Browser}},
	}}, []byte(document))
	if err != nil {
		t.Fatal(err)
	}

	o := all[0]

	r, err := o.Request("/lab/forms/7", "", http.Header{}, []byte("name=Foxy"))
	if err != nil || string(r.Text()) != "name=Foxy" || r.Header.Get("Content-Type") != formType {
		t.Fatalf("the sample is %q with %v, %v", r.Text(), r.Header, err)
	}

	seen := map[string]int{}

	for _, m := range All(o, r) {
		d := m.Of(r)
		seen["body"] += min(1, len(d.Text())) - 1
		if string(d.Text()) != "name=Foxy" {
			seen["other body"]++
		}

		if d.Header.Get("Content-Type") != formType {
			seen["other type"]++
		}

		if err := o.Forbids(d); err != nil && string(d.Text()) != "name=Foxy" {
			t.Errorf("%q is judged: %v", d.Text(), err)
		}
	}

	if seen["other body"] < 5 || seen["other type"] < 5 || seen["body"] >= 0 {
		t.Errorf("the changes are %v, want other bodies, none, and other types", seen)
	}

	if string(r.Text()) != "name=Foxy" {
		t.Errorf("the sample became %q", r.Text())
	}
}
