package httpapi

import (
	"context"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
)

// TestExamplesOfSchemas: the example that each kind of schema gets.
func TestExamplesOfSchemas(t *testing.T) {
	t.Parallel()

	object := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"name": {Type: huma.TypeString, Format: displayName}, "day": {Type: huma.TypeString, Format: "date"}, "left": {Type: huma.TypeBoolean},
	}}
	all := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	all.Map()["Player"] = object

	ann := map[string]any{"name": "Ann", "day": "2026-06-06", "left": true}
	for name, c := range map[string]struct {
		schema huma.Schema
		want   any
	}{
		"the first of its examples":     {huma.Schema{Type: huma.TypeString, Examples: []any{"a", "b"}, Default: "c", Enum: []any{"d"}}, "a"},
		"its only example":              {huma.Schema{Type: huma.TypeString, Examples: []any{"a"}, Default: "c"}, "a"},
		"its only value":                {huma.Schema{Type: huma.TypeString, Enum: []any{"won"}}, "won"},
		"that of its only alternative":  {huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean}}}, true},
		"its default":                   {huma.Schema{Type: huma.TypeInteger, Default: 6, Enum: []any{7}}, 6},
		"the first of its values":       {huma.Schema{Type: huma.TypeString, Enum: []any{"won", "lost"}, Format: email}, "won"},
		"that of its first alternative": {huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean}, {Type: huma.TypeInteger}}}, true},
		"a reference":                   {huma.Schema{Ref: "#/components/schemas/Player"}, ann},
		"an object":                     {*object, ann},
		"a map": {
			huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeInteger}},
			map[string]any{"5b0e9a52-7c43-4a6f-9d18-000000000001": 1},
		},
		"an object without others": {huma.Schema{Type: huma.TypeObject, AdditionalProperties: false}, map[string]any{}},
		"a list":                   {huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeBoolean}}, []any{true}},
		"a list that may be empty": {
			huma.Schema{Type: huma.TypeArray, MinItems: new(0), Items: &huma.Schema{Type: huma.TypeBoolean}},
			[]any{true},
		},
		"a list of at least two": {
			huma.Schema{Type: huma.TypeArray, MinItems: new(2), Items: &huma.Schema{Type: huma.TypeBoolean}},
			[]any{true, true},
		},
		"a boolean":                {huma.Schema{Type: huma.TypeBoolean}, true},
		"an integer":               {huma.Schema{Type: huma.TypeInteger}, 1},
		"an integer of at least 5": {huma.Schema{Type: huma.TypeInteger, Minimum: new(5.0)}, 5.0},
		"a number":                 {huma.Schema{Type: huma.TypeNumber}, 1},
		"an address":               {huma.Schema{Type: huma.TypeString, Format: email}, "ann@example.com"},
		"an id":                    {huma.Schema{Type: huma.TypeString, Format: "uuid"}, "5b0e9a52-7c43-4a6f-9d18-000000000001"},
		"a time":                   {huma.Schema{Type: huma.TypeString, Format: "date-time"}, "2026-06-06T15:45:00Z"},
		"a text of no format":      {huma.Schema{Type: huma.TypeString}, ""},
	} {
		if diff := cmp.Diff(c.want, example(all, &c.schema)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPatternsAreDescribed: what a pattern means is in the answers, and not in the
// description, which has no such member.
func TestPatternsAreDescribed(t *testing.T) {
	t.Parallel()

	type in struct {
		IfMatch
		ID   string `path:"id"`
		Body struct {
			Code string `json:"code" pattern:"^[A-Z]$" patternDescription:"one capital letter"`
		}
	}

	do := func(context.Context, *in) (*over, error) { return answered("") }

	text, err := OpenAPI(putOver, do)
	if err != nil || strings.Contains(string(text), "patternDescription") {
		t.Errorf("got %v, %s", err, text)
	}

	h := Handler(putOver, do)

	e := request(t, "POST", "/overs/7", `{"code":"x"}`)
	if out := serve(t, h, e); !strings.Contains(out.Body, "one capital letter") {
		t.Errorf("got %s", out.Body)
	}

	e = request(t, "POST", "/overs/7", `{"code":"X"}`)

	e.Headers["if-match"] = "7"
	if out := serve(t, h, e); !strings.Contains(out.Body, "a revision in quotes") {
		t.Errorf("got %s", out.Body)
	}
}

// TestEnumsOfNullableValues: the schema of a value that may be null lists null among the values.
func TestEnumsOfNullableValues(t *testing.T) {
	t.Parallel()

	type page struct {
		Body struct {
			Reason *string `json:"reason" enum:"result,void"`
			Status string  `json:"status" enum:"open,ended"`
		}
	}

	text, err := OpenAPI(getOver, func(context.Context, *read) (*page, error) { return &page{}, nil })
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{`"enum":["result","void",null]`, `"enum":["open","ended"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the document lacks %s: %s", want, text)
		}
	}
}
