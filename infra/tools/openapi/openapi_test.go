package openapi

import (
	"encoding/json"
	"strings"
	"testing"
)

const match = `{"openapi":"3.1.0","info":{"title":"Matchday: cricket"},
	"paths":{"/matches/{id}":{"get":{"operationId":"get-match"}}},
	"components":{"schemas":{"Match":{"type":"object","maxProperties":1},"Error":{"type":"object"}}}}`

func TestParts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		part string
		want string // the error, or the document
	}{
		"another path and a shared component": {
			`{"paths":{"/teams":{"get":{}}},"components":{"schemas":{"Error":{"type":"object"},"Team":{}}}}`,
			`{"openapi":"3.1.0","info":{"title":"Matchday: cricket"},"paths":{"/matches/{id}":{"get":{"operationId":"get-match"}},"/teams":{"get":{}}},` +
				`"components":{"schemas":{"Error":{"type":"object"},"Match":{"maxProperties":1,"type":"object"},"Team":{}}}}`,
		},
		"another method of a path": {
			`{"paths":{"/matches/{id}":{"patch":{}}},"components":{"securitySchemes":{"jwt":{}}}}`,
			`{"openapi":"3.1.0","info":{"title":"Matchday: cricket"},"paths":{"/matches/{id}":{"get":{"operationId":"get-match"},"patch":{}}},` +
				`"components":{"schemas":{"Error":{"type":"object"},"Match":{"maxProperties":1,"type":"object"}},"securitySchemes":{"jwt":{}}}}`,
		},
		"a route twice":            {`{"paths":{"/matches/{id}":{"get":{}}}}`, "another function has the route get /matches/{id}"},
		"two types under one name": {`{"components":{"schemas":{"Match":{"type":"string"}}}}`, "another function has a different schemas called Match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var whole document
			var err error
			for _, text := range []string{match, tc.part} {
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
