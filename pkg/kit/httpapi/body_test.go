package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
)

// noted is a request with a member of each kind.
type noted struct {
	Body struct {
		Name   string          `json:"name" format:"display-name"`
		Title  string          `json:"title,omitempty" format:"display-name" minLength:"0" maxLength:"8"`
		Mail   string          `json:"mail,omitempty" format:"email"`
		Kinds  []string        `json:"kinds,omitempty" uniqueItems:"true" nullable:"false" enum:"a,b"`
		Runs   int             `json:"runs,omitempty" minimum:"-50"`
		Picks  map[string]even `json:"picks,omitempty"`
		Inside struct {
			Deep []struct {
				Text string `json:"text" maxLength:"3"`
			} `json:"deep" nullable:"false"`
		} `json:"inside,omitempty"`
		Open *struct {
			_    struct{} `additionalProperties:"true"`
			Text string   `json:"text"`
		} `json:"open,omitempty"`
	}
}

// even is a number whose schema allows more than it decodes.
type even int

func (e *even) UnmarshalJSON(text []byte) error {
	if _, err := fmt.Sscan(string(text), (*int)(e)); err != nil || *e%2 != 0 {
		return fmt.Errorf("secret type even: %s", text)
	}

	return nil
}

func (even) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeInteger} }

// stored is what the use case got.
type stored struct{ Body any }

func notes() http.Handler {
	return Handler(putOver, func(_ context.Context, in *noted) (*stored, error) { return &stored{in.Body}, nil })
}

func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()

	h := notes()

	deep := strings.Repeat("[", 30000) + strings.Repeat("]", 30000)
	for _, c := range []struct {
		name, body string
		status     int
		field      string
	}{
		{"case twin", `{"name":"Ann","Name":"\u0000"}`, 422, "body.Name"},
		{"another case", `{"Name":"Ann"}`, 422, ""},
		{"case twin within", `{"name":"Ann","inside":{"deep":[{"text":"a","Text":"too long"}]}}`, 422, "body.inside.deep[0].Text"},
		{"duplicate", `{"name":"Ann","name":"Bob"}`, 400, "body.name"},
		{"duplicate within", `{"name":"Ann","inside":{"deep":[{"text":"a"}],"deep":[]}}`, 400, "body.inside.deep"},
		{"duplicate by escape", `{"name":"Ann","n\u0061me":"Bob"}`, 400, "body.name"},
		{"unknown", `{"name":"Ann","x":1}`, 422, "body.x"},
		{"unknown and twice where it is allowed", `{"name":"Ann","open":{"text":"a","x":1,"x":2}}`, 400, "body.open.x"},
		{"trailing", `{"name":"Ann"}x`, 400, "body"},
		{"two", `{"name":"Ann"}{"name":"Ann"}`, 400, "body"},
		{"invalid UTF-8", "{\"name\":\"A\xffnn\"}", 400, "body"},
		{"half a surrogate", `{"name":"\ud800"}`, 400, "body"},
		{"byte order mark", "\ufeff" + `{"name":"Ann"}`, 400, "body"},
		{"comment", `{"name":"Ann"/*x*/}`, 400, "body"},
		{"trailing comma", `{"name":"Ann",}`, 400, "body"},
		{"NaN", `{"name":"Ann","runs":NaN}`, 400, "body"},
		{"leading zero", `{"name":"Ann","runs":01}`, 400, "body"},
		{"deep", deep, 400, "body"},
		{"deep within", `{"name":"Ann","inside":` + deep + `}`, 400, "body"},
		{"shallow enough to read", `{"name":"Ann","inside":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, 422, "body.inside"},
		{"beyond the integers", `{"name":"Ann","runs":9007199254740992}`, 422, "body.runs"},
		{"far beyond", `{"name":"Ann","runs":1e300}`, 422, "body.runs"},
		{"beyond the numbers", `{"name":"Ann","runs":1e400}`, 400, "body.runs"},
		{"fraction", `{"name":"Ann","runs":1.5}`, 422, "body.runs"},
		{"out of bounds", `{"name":"Ann","runs":-51}`, 422, "body.runs"},
		{"text for a number", `{"name":"Ann","runs":"1"}`, 422, "body.runs"},
		{"null", `{"name":null}`, 422, "body.name"},
		{"null for what may be absent", `{"name":"Ann","mail":null}`, 422, "body.mail"},
		{"null for an object", `{"name":"Ann","inside":null}`, 422, "body.inside"},
		{"object among single values", `{"name":"Ann","kinds":[{}]}`, 422, "body.kinds[0]"},
		{"array among single values", `{"name":"Ann","kinds":["a",["b"]]}`, 422, "body.kinds[1]"},
		{"twice among unique", `{"name":"Ann","kinds":["a","a"]}`, 422, "body.kinds"},
		{"refused by its decoder", `{"name":"Ann","picks":{"m1":2,"m2":3}}`, 422, "body.picks.m2"},
		{"name", `{"name":"A\u202Enn"}`, 422, "body.name"},
		{"long title", `{"name":"Ann","title":"123456789"}`, 422, "body.title"},
		{"mail", `{"name":"Ann","mail":"\"@\"@x"}`, 422, "body.mail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := serve(t, h, request(t, "POST", "/overs/7", c.body))

			p := problemIn(t, out)
			if out.StatusCode != c.status || len(p.Errors) == 0 {
				t.Fatalf("got %d %s, want %d", out.StatusCode, out.Body, c.status)
			}

			if c.field != "" && p.Errors[0].Location != c.field {
				t.Errorf("got an error in %q, want %q", p.Errors[0].Location, c.field)
			}

			for _, leak := range []string{"secret", "even", "httpapi", "struct", "Go "} {
				if strings.Contains(out.Body, leak) {
					t.Errorf("the answer names %q: %s", leak, out.Body)
				}
			}
		})
	}
}

// TestBodiesAreDecodedAsValidated: integers are integers in any notation, and names
// are stored in one form.
func TestBodiesAreDecodedAsValidated(t *testing.T) {
	t.Parallel()

	h := notes()
	for body, want := range map[string]string{
		`{"name":"Ann"}`:                                                      `{"name":"Ann"}`,
		`{"name":"Ann","runs":1.0}`:                                           `{"name":"Ann","runs":1}`,
		`{"name":"Ann","runs":1e0}`:                                           `{"name":"Ann","runs":1}`,
		`{"name":"Ann","runs":-0.5e2}`:                                        `{"name":"Ann","runs":-50}`,
		`{"name":"Ann","runs":9007199254740991}`:                              `{"name":"Ann","runs":9007199254740991}`,
		`{"name":"Ann","picks":{"m1":-0}}`:                                    `{"name":"Ann","picks":{"m1":0}}`,
		`{"name":"Ann","picks":{"m1":4.0}}`:                                   `{"name":"Ann","picks":{"m1":4}}`,
		`{"name":" Zoe\u0308\t","title":""}`:                                  `{"name":"Zoë"}`,
		`{"name":"Ann","mail":"ann+1@mail.example"}`:                          `{"name":"Ann","mail":"ann+1@mail.example"}`,
		`{"name":"Ann","open":{"text":"a","new":[{"x":null}],"Text":"b"}}`:    `{"name":"Ann","open":{"text":"a"}}`,
		" \r\n{\"name\" : \"Ann\"}\n":                                         `{"name":"Ann"}`,
		`{"name":"Ann","inside":{"deep":[{"text":"ü€😀"}]},"kinds":["b","a"]}`: `{"name":"Ann","kinds":["b","a"],"inside":{"deep":[{"text":"ü€😀"}]}}`,
	} {
		out := serve(t, h, request(t, "POST", "/overs/7", body))

		var got, wanted map[string]any
		if err := json.Unmarshal([]byte(out.Body), &got); err != nil || out.StatusCode != 200 {
			t.Errorf("%s: got %d %s", body, out.StatusCode, out.Body)
			continue
		}

		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}

		if inside, _ := got["inside"].(map[string]any); cmp.Equal(inside["deep"], []any{}) {
			delete(got, "inside")
		}

		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: the value differs (-want +got):\n%s", body, diff)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()

	h := notes()

	for given, status := range map[string]int{
		"":                                  200,
		"application/json":                  200,
		"application/json; charset=utf-8":   200,
		"Application/JSON":                  200,
		"text/plain":                        415,
		"application/xml":                   415,
		"application/problem+json":          415,
		"multipart/form-data; boundary=x":   415,
		"json":                              415,
		"/;":                                415,
		"application/x-www-form-urlencoded": 415,
		"application/json; =":               415,
	} {
		e := request(t, "POST", "/overs/7", `{"name":"Ann"}`)
		if given != "" {
			e.Headers["content-type"] = given
		}

		out := serve(t, h, e)
		if out.StatusCode != status {
			t.Errorf("%q: got %d %s, want %d", given, out.StatusCode, out.Body, status)
		}

		if status != 200 {
			problemIn(t, out)
		}
	}
}

// caller is a request that only callers with the header may make.
type caller struct{}

func (caller) Resolve(ctx huma.Context) []error {
	switch ctx.Header("X-Who") {
	case "":
		return []error{huma.Error401Unauthorized("sign in first")}
	case "user":
		return []error{huma.Error403Forbidden("this is for administrators")}
	}

	return nil
}

// TestRefusedCallersLearnNothing: whatever else is wrong, 401 and 403 come first and
// without details.
func TestRefusedCallersLearnNothing(t *testing.T) {
	t.Parallel()

	type in struct {
		caller
		noted
		ID int `path:"id"`
	}

	h := Handler(putOver, func(_ context.Context, in *in) (*stored, error) { return &stored{in.Body}, nil })

	for _, target := range []string{"/overs/7", "/overs/x", "/overs/7?a=1&a=2", "/overs/7?a=%zz", "/overs/7?unknown=1"} {
		for _, body := range []string{"", "{", "null", "[]", `{}`, `{"name":7}`, `{"name":"a","name":"b"}`, `{"name":"Ann"}`,
			strings.Repeat("x", MaxBody+1)} {
			for who, status := range map[string]int{"": 401, "user": 403} {
				for _, media := range []string{"application/json", "text/html"} {
					e := request(t, "POST", target, body)
					e.Headers["x-who"], e.Headers["content-type"] = who, media

					out := serve(t, h, e)
					if p := problemIn(t, out); out.StatusCode != status || len(p.Errors) > 0 || p.Detail == "" {
						t.Errorf("%s with %.20q as %q: got %d %s, want %d without details", target, body, who, out.StatusCode, out.Body, status)
					}
				}
			}
		}
	}
}

// TestEveryAnswerIsAProblem: unknown paths and methods, and paths that net/http would
// redirect.
func TestEveryAnswerIsAProblem(t *testing.T) {
	t.Parallel()

	do := Lambda(getOver, nil, reading)

	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/overs/7", 200},
		{"GET", "/test/overs/7", 200},
		{"GET", "/overs", 404},
		{"GET", "/overs/", 404},
		{"GET", "/overs/7/", 404},
		{"GET", "//overs/7", 404},
		{"GET", "/overs//7", 404},
		{"GET", "/overs/./7", 404},
		{"GET", "/overs/..", 404},
		{"GET", "/overs/../overs/7", 404},
		{"GET", "/overs/%2e%2e/7", 404},
		{"GET", "/../../etc/passwd", 404},
		{"GET", "/overs/" + strings.Repeat("7", 512), 422},
		{"GET", "/overs/" + strings.Repeat("7", 513), 404},
		{"GET", "/overs/7\xff", 404},
		{"GET", "/elsewhere", 404},
		{"GET", "/", 404},
		{"POST", "/overs/7", 405},
		{"DELETE", "/overs/7", 405},
		{"OPTIONS", "/overs/7", 405},
		{"CONNECT", "/overs/7", 405},
		{"BREW", "/overs/7", 405},
		{"POST", "/elsewhere", 404},
	} {
		e := request(t, "GET", "/overs/7", "")
		e.RawPath, e.RequestContext.HTTP.Path, e.RequestContext.HTTP.Method = c.path, c.path, c.method

		out, err := do(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}

		if out.StatusCode != c.status || out.Headers["Location"] != "" {
			t.Errorf("%s %q: got %d %v %s, want %d", c.method, c.path, out.StatusCode, out.Headers, out.Body, c.status)
			continue
		}

		if out.StatusCode != 200 {
			problemIn(t, out)
		}

		if allow := out.Headers["Allow"]; (out.StatusCode == 405) != (allow == "GET") {
			t.Errorf("%s %q: the header Allow is %q", c.method, c.path, allow)
		}
	}
}

// TestPanic: a panic is a problem document, and the process goes on. The log says
// where, without the value.
func TestPanic(t *testing.T) {
	log := logged(t)

	h := Handler(getOver, func(context.Context, *read) (*over, error) { panic("secret") })
	for range 2 {
		out := serve(t, h, request(t, "GET", "/overs/7", ""))
		if p := problemIn(t, out); out.StatusCode != 500 || p.Type != problemType+"internal" || out.Headers["Etag"] != "" {
			t.Errorf("got %d %v %s", out.StatusCode, out.Headers, out.Body)
		}
	}

	half := Handler(getOver, func(context.Context, *read) (*stored, error) {
		return &stored{marshaler(func() ([]byte, error) { var text []byte; return text[1:], nil })}, nil
	})
	if out := serve(t, half, request(t, "GET", "/overs/7", "")); out.StatusCode != 500 || problemIn(t, out).Detail == "" {
		t.Errorf("while it encodes: got %d %s", out.StatusCode, out.Body)
	}

	text := log.String()
	if strings.Contains(text, "secret") || !strings.Contains(text, "httpapi.TestPanic.func1") ||
		!strings.Contains(text, "slice bounds out of range") {
		t.Errorf("the log is %s", text)
	}
}

type marshaler func() ([]byte, error)

func (m marshaler) MarshalJSON() ([]byte, error) { return m() }

// TestPanicOfTheLambda: the answer of a panic is counted as that of any defect.
func TestPanicOfTheLambda(t *testing.T) {
	logged(t)

	do := Lambda(getOver, nil, func(context.Context, *read) (*over, error) { panic("x") })

	out, err := do(t.Context(), request(t, "GET", "/overs/7", ""))
	if err != nil || out.StatusCode != http.StatusInternalServerError {
		t.Errorf("got %d, %v", out.StatusCode, err)
	}
}

// TestManyErrors: the answer to a body full of errors is short.
func TestManyErrors(t *testing.T) {
	t.Parallel()

	var body strings.Builder
	body.WriteString(`{"name":"Ann"`)

	for i := range 3000 {
		fmt.Fprintf(&body, `,"x%d":1`, i)
	}

	fmt.Fprintf(&body, `,%q:1}`, strings.Repeat("y", 20000))

	out := serve(t, notes(), request(t, "POST", "/overs/7", body.String()))
	if p := problemIn(t, out); out.StatusCode != 422 || len(p.Errors) == 0 || len(out.Body) > 8<<10 {
		t.Errorf("got %d with %d errors in %d bytes", out.StatusCode, len(p.Errors), len(out.Body))
	}
}
