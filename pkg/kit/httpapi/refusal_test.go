package httpapi

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// TestProblemsAreDescribed: an operation lists the types of its problems, those of its limits, of
// what it uses and of this package, and the refusals of API Gateway beside them.
func TestProblemsAreDescribed(t *testing.T) {
	t.Parallel()

	fn := spec.Function{
		Name: "test/put-over", Does: "Makes an over.",
		On:     spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.Session},
		Limits: []spec.Limit{{Name: "overs", Max: 3, Code: "too_many_overs"}},
		SQL:    []spec.SQLLogin{{}},
	}

	text, err := OpenAPI(fn, func(context.Context, *struct {
		IfMatch
		ID string `path:"id"`
	}) (*over, error) {
		return nil, nil
	}, problem.New(problem.Conflict, "over_exists", "there is one"), problem.New(problem.Upstream, "umpire_away", "no umpire"))
	if err != nil {
		t.Fatal(err)
	}

	type schema struct {
		Ref        string `json:"$ref"`
		Properties struct {
			Type struct {
				Values []string `json:"x-extensible-enum"`
			}
		}
	}

	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema schema }
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}

	types, gateway := map[string][]string{}, map[string]string{}

	for status, r := range d.Paths["/overs/{id}"]["post"].Responses {
		for _, v := range r.Content["application/problem+json"].Schema.Properties.Type.Values {
			types[status] = append(types[status], v[len(problemType):])
		}

		if media, ok := r.Content[jsonType]; ok && status[0] > '3' {
			gateway[status] = media.Schema.Ref
		}
	}

	want := map[string][]string{
		"400": {"bad_request"},
		"401": {"invalid_session", "missing_session"},
		"403": {"not_through_cdn", "wrong_origin"},
		"404": {"not_found"},
		"409": {"over_exists", "stale", "too_many_overs"},
		"422": {"invalid"},
		"500": {"internal"},
		"502": {"umpire_away"},
		"503": {"database_unavailable", "unavailable"},
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("the types of problems differ (-want +got):\n%s", diff)
	}

	const refusal = "#/components/schemas/GatewayRefusal"
	if diff := cmp.Diff(map[string]string{"404": refusal, "429": refusal, "500": refusal, "503": refusal}, gateway); diff != "" {
		t.Errorf("the refusals of API Gateway differ (-want +got):\n%s", diff)
	}
}
