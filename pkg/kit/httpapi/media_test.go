package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/spec"
)

// sheet is an answer that people see in a browser, and picture one that they do not.
type (
	sheet struct {
		Body []byte `contentType:"text/html; charset=utf-8"`
	}
	picture struct {
		Body []byte `contentType:"image/png"`
	}
)

func (*sheet) Refusal(status int, _ string) (http.Header, []byte) {
	return http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Cache-Control": {NoStore}}, fmt.Append(nil, "<p>", status)
}

// TestPages: a route that people open answers with pages, whatever is wrong, and ignores
// what other sites add to its links.
func TestPages(t *testing.T) {
	t.Parallel()

	fn := getOver
	fn.On = spec.Route{Method: "GET", Path: "/overs/{id}", Auth: spec.Public, OthersCall: true}

	h := Handler(fn, func(_ context.Context, in *read) (*sheet, error) {
		switch in.ID {
		case "1":
			return nil, errNotThroughCDN
		case "2":
			panic("secret")
		}

		return &sheet{[]byte("<p>over " + in.ID)}, nil
	})
	for target, want := range map[string]string{
		"/overs/7":                   "200 <p>over 7",
		"/overs/7?fbclid=x&fbclid=y": "200 <p>over 7",
		"/overs/7?limit=99":          "422 <p>422",
		"/overs/7?limit=20&utm=%zz;": "200 <p>over 7",
		"/overs/7?limit=99&utm=%zz":  "422 <p>422",
		"/overs/x":                   "422 <p>422",
		"/overs/1":                   "403 <p>403",
		"/overs/2":                   "500 <p>500",
		"/overs//7":                  "404 <p>404",
		"/nothing":                   "404 <p>404",
	} {
		out := serve(t, h, request(t, "GET", target, ""))
		if got := fmt.Sprint(out.StatusCode, " ", out.Body); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}

		if kind := out.Headers["Content-Type"]; kind != "text/html; charset=utf-8" {
			t.Errorf("%s: the type is %q", target, kind)
		}
	}
}

// TestPictures: a refusal of what no person sees is a problem document.
func TestPictures(t *testing.T) {
	t.Parallel()

	h := Handler(getOver, func(_ context.Context, in *read) (*picture, error) {
		if in.ID == "1" {
			return nil, errNotThroughCDN
		}

		return &picture{[]byte("\x89PNG\r\n\xff")}, nil
	})

	out := serve(t, h, request(t, "GET", "/overs/7", ""))
	if kind := out.Headers["Content-Type"]; out.StatusCode != 200 || !out.IsBase64Encoded || kind != "image/png" {
		t.Errorf("got %d, base64 %v, of the type %q", out.StatusCode, out.IsBase64Encoded, kind)
	}

	problemIn(t, serve(t, h, request(t, "GET", "/overs/1", "")))
}

// TestMediaAreDescribed: the description has the media type of each answer.
func TestMediaAreDescribed(t *testing.T) {
	t.Parallel()

	html, err := OpenAPI(getOver, func(context.Context, *read) (*sheet, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}

	png, err := OpenAPI(getOver, func(context.Context, *read) (*picture, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}

	either, on := getOver, getOver.On.(spec.Route)
	on.Answers = []int{http.StatusOK, http.StatusSeeOther}
	either.On = on

	form, err := OpenAPI(either, func(context.Context, *read) (*sheet, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		text []byte
		want map[string]string
	}{
		"page or the next one": {form, map[string]string{
			"200": "text/html",
			"303": "text/html",
			"304": "",
			"400": "text/html",
			"403": "text/html",
			"404": "application/json text/html",
			"422": "text/html",
			"429": "application/json text/html",
			"500": "application/json text/html",
			"503": "application/json text/html",
		}},
		"page": {html, map[string]string{
			"200": "text/html",
			"304": "",
			"400": "text/html",
			"403": "text/html",
			"404": "application/json text/html",
			"422": "text/html",
			"429": "application/json text/html",
			"500": "application/json text/html",
			"503": "application/json text/html",
		}},
		"picture": {png, map[string]string{
			"200": "image/png",
			"304": "",
			"400": "application/problem+json",
			"403": "application/problem+json",
			"404": "application/json application/problem+json",
			"422": "application/problem+json",
			"429": "application/json",
			"500": "application/json application/problem+json",
			"503": "application/json application/problem+json",
		}},
	} {
		var d struct {
			Paths map[string]map[string]struct {
				Responses map[string]struct{ Content map[string]any }
			}
		}
		if err := json.Unmarshal(c.text, &d); err != nil {
			t.Fatal(err)
		}

		got := map[string]string{}

		for status, r := range d.Paths["/overs/{id}"]["get"].Responses {
			got[status] = strings.Join(slices.Sorted(maps.Keys(r.Content)), " ")
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: the media types differ (-want +got):\n%s", name, diff)
		}
	}
}
