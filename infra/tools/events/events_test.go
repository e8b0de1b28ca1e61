package events_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/tools/events"
)

// TestChange: a change of an event is a JSON merge patch. That of its body may be one of the JSON
// in the body, which is text in the event.
func TestChange(t *testing.T) {
	t.Parallel()

	const (
		request = `{"rawPath":"/a","headers":{"x":"1","y":"2"},"cookies":["a","b"],"body":"{\"n\":10000000000000001,\"of\":{\"a\":1,\"b\":[1,2]}}"}`
		message = `{"Records":[{"messageId":"m","body":"{\"n\":1,\"of\":2}"}]}`
	)
	for name, c := range map[string]struct{ event, change, want string }{
		"nothing":            {request, `{}`, request},
		"no change":          {request, `null`, request},
		"a member":           {`{"a":1,"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		"a new member":       {`{"a":1}`, `{"b":{"c":2}}`, `{"a":1,"b":{"c":2}}`},
		"no member":          {`{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		"no such member":     {`{"a":1}`, `{"b":null,"c":{"d":null}}`, `{"a":1,"c":{}}`},
		"deep":               {`{"a":{"b":1,"c":{"d":2}}}`, `{"a":{"c":{"d":3,"e":4}}}`, `{"a":{"b":1,"c":{"d":3,"e":4}}}`},
		"an array":           {`{"a":[1,2,3]}`, `{"a":[4]}`, `{"a":[4]}`},
		"an object for text": {`{"a":"x"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"large numbers":      {`{"a":10000000000000001}`, `{"b":1780754280000}`, `{"a":10000000000000001,"b":1780754280000}`},

		"a member of the body": {`{"body":"{\"n\":10000000000000001,\"of\":{\"a\":1}}"}`, `{"body":{"of":{"a":2}}}`,
			`{"body":"{\"n\":10000000000000001,\"of\":{\"a\":2}}"}`},
		"another text":          {`{"body":"{}"}`, `{"body":"x"}`, `{"body":"x"}`},
		"no body":               {`{"a":1,"body":"{}"}`, `{"body":null}`, `{"a":1}`},
		"a first body":          {`{}`, `{"body":{"a":1}}`, `{"body":"{\"a\":1}"}`},
		"a member of a message": {message, `{"body":{"n":null,"of":3}}`, `{"Records":[{"body":"{\"of\":3}","messageId":"m"}]}`},
		"another message":       {message, `{"body":"x"}`, `{"Records":[{"body":"x","messageId":"m"}]}`},
		"a body and a member":   {`{"a":1,"body":"{}"}`, `{"a":2,"body":{"b":1}}`, `{"a":2,"body":"{\"b\":1}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k := events.Case{Room: "lab", Bad: "work"}
			if err := json.Unmarshal([]byte(c.change), &k.Change); err != nil {
				t.Fatal(err)
			}

			got, err := k.Event(fstest.MapFS{"lab/work.json": {Data: []byte(c.event)}})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(canonical(t, c.want), canonical(t, string(got))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// canonical is JSON with its members in the order of their names.
func canonical(t *testing.T, text string) string {
	t.Helper()

	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}

	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}

	return string(out)
}

// TestDocument: a problem is the document that answers it, with what else is expected of it.
func TestDocument(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		want events.Want
		body any
	}{
		"anything": {events.Want{Status: 200}, nil},
		"a body":   {events.Want{Status: 200, Body: "*"}, "*"},
		"a problem": {
			events.Want{Status: 404, Problem: "gone"},
			map[string]any{"status": 404.0, "type": "urn:problem-type:matchday:gone"},
		},
		"what it says, too": {
			events.Want{Status: 404, Problem: "gone", Body: map[string]any{"detail": "it is gone"}},
			map[string]any{"status": 404.0, "type": "urn:problem-type:matchday:gone", "detail": "it is gone"},
		},
	} {
		if diff := cmp.Diff(c.body, c.want.Document()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
