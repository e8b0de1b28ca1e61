package httpapi

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

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
		"401": {"invalid_session", "invalid_token", "missing_session", "two_credentials"},
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

// TestEndingRoutes: the answers of a route that ends say when, and its description is deprecated.
func TestEndingRoutes(t *testing.T) {
	t.Parallel()

	fn := getOver
	fn.Ends = &spec.Ending{
		Deprecated: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
		Sunset:     time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Link:       "https://example.com/overs",
	}

	h := Handler(fn, reading)

	for _, target := range []string{"/overs/7", "/overs/7?limit=x"} {
		out := serve(t, h, request(t, "GET", target, ""))

		got := []string{out.Headers["Deprecation"], out.Headers["Sunset"], out.Headers["Link"]}
		want := []string{"@1780272000", "Tue, 01 Dec 2026 00:00:00 GMT", `<https://example.com/overs>; rel="deprecation"`}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the headers differ (-want +got):\n%s", target, diff)
		}
	}

	text, err := OpenAPI(fn, reading)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{`"deprecated":true`, `"x-sunset":"2026-12-01"`, `"Sunset":{`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the description has no %s: %s", want, text)
		}
	}
}

// TestRatesAreDescribedInHeaders: a refusal beyond a rate says which, and when it ends; one beyond a
// number of things does not.
func TestRatesAreDescribedInHeaders(t *testing.T) {
	t.Parallel()

	for per, want := range map[time.Duration][]string{
		time.Hour: {"90", `"too_many";q=3;w=3600`, `"too_many";r=0;t=90`},
		0:         {"90", "", ""},
	} {
		h := Handler(getOver, func(context.Context, *read) (*over, error) {
			return nil, problem.Beyond(spec.Limit{Max: 3, Per: per, Code: "too_many"}).WithRetryAfter(89500 * time.Millisecond)
		})
		out := serve(t, h, request(t, "GET", "/overs/7", ""))

		got := []string{out.Headers["Retry-After"], out.Headers["Ratelimit-Policy"], out.Headers["Ratelimit"]}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("per %v: the headers differ (-want +got):\n%s", per, diff)
		}
	}
}
