package openapi

import (
	"encoding/json"
	"strings"
	"testing"
)

const thing = `{"openapi":"3.1.0","info":{"title":"Matchday: lab"},
	"paths":{"/things/{id}":{"get":{"operationId":"get-thing"}}},
	"components":{"schemas":{"Thing":{"type":"object","maxProperties":1},"Error":{"type":"object"}}}}`

func TestParts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		part string
		want string // the error, or the document
	}{
		"another path and a shared component": {
			`{"paths":{"/zones":{"get":{}}},"components":{"schemas":{"Error":{"type":"object"},"Zone":{}}}}`,
			`{"openapi":"3.1.0","info":{"title":"Matchday: lab"},"paths":{"/things/{id}":{"get":{"operationId":"get-thing"}},"/zones":{"get":{}}},` +
				`"components":{"schemas":{"Error":{"type":"object"},"Thing":{"maxProperties":1,"type":"object"},"Zone":{}}}}`,
		},
		"another method of a path": {
			`{"paths":{"/things/{id}":{"patch":{}}},"components":{"securitySchemes":{"jwt":{}}}}`,
			`{"openapi":"3.1.0","info":{"title":"Matchday: lab"},"paths":{"/things/{id}":{"get":{"operationId":"get-thing"},"patch":{}}},` +
				`"components":{"schemas":{"Error":{"type":"object"},"Thing":{"maxProperties":1,"type":"object"}},"securitySchemes":{"jwt":{}}}}`,
		},
		"a route twice":            {`{"paths":{"/things/{id}":{"get":{}}}}`, "another function has the route get /things/{id}"},
		"two types under one name": {`{"components":{"schemas":{"Thing":{"type":"string"}}}}`, "another function has a different schemas called Thing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var whole document
			var err error
			for _, text := range []string{thing, tc.part} {
				part, e := parse([]byte(text))
				if e != nil {
					t.Fatal(e)
				}
				if err = whole.add(part); err != nil {
					break
				}
			}
			got, _ := json.Marshal(whole)
			if err != nil {
				got = []byte(err.Error())
			}
			if strings.TrimSpace(string(got)) != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
