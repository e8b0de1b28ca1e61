package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"matchday/pkg/spec"
)

// TestTime: the context of a use case ends before the invocation does, and the caller
// gets an answer that a retry may succeed.
func TestTime(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name  string
		limit time.Duration // of the invocation
		took  time.Duration
	}{
		{"in time", 5 * time.Second, 4500 * time.Millisecond},
		{"too late already", 100 * time.Millisecond, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()

				var took time.Duration

				do := Lambda(getOver, nil, func(ctx context.Context, _ *read) (*over, error) {
					began := time.Now()

					<-ctx.Done()

					took = time.Since(began)

					return nil, fmt.Errorf("secret table: %w", ctx.Err())
				})

				out, err := do(ctx, request(t, "GET", "/overs/7", ""))
				if err != nil {
					t.Fatal(err)
				}

				if p := problemIn(t, out); out.StatusCode != http.StatusServiceUnavailable || strings.Contains(out.Body, "secret") || p.Detail == "" {
					t.Errorf("got %d %s", out.StatusCode, out.Body)
				}

				if took != c.took || ctx.Err() != nil {
					t.Errorf("it was given %v, and then %v is left of the invocation", took, ctx.Err())
				}
			})
		})
	}
}

// TestNoDeadline: where nothing limits the invocation, nothing limits the use case.
func TestNoDeadline(t *testing.T) {
	t.Parallel()

	do := Lambda(getOver, nil, func(ctx context.Context, in *read) (*over, error) {
		if _, limited := ctx.Deadline(); limited {
			t.Error("there is a deadline")
		}

		return reading(ctx, in)
	})
	if out, err := do(context.WithoutCancel(t.Context()), request(t, "GET", "/overs/7", "")); err != nil || out.StatusCode != 200 {
		t.Errorf("got %d, %v", out.StatusCode, err)
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		err    error
		status int
	}{
		{context.DeadlineExceeded, 503},
		{&types.ProvisionedThroughputExceededException{}, 503},
		{&types.RequestLimitExceeded{}, 503},
		{&smithy.GenericAPIError{Code: "ThrottlingException"}, 503},
		{&smithy.OperationError{ServiceID: "SQS", Err: &smithy.GenericAPIError{Code: "RequestThrottled"}}, 503},
		{&types.ResourceNotFoundException{}, 500},
		{&smithy.GenericAPIError{Code: "AccessDeniedException"}, 500},
		{context.Canceled, 500},
		{errors.New("a bug"), 500},
	} {
		h := Handler(getOver, func(context.Context, *read) (*over, error) { return nil, fmt.Errorf("get over: %w", c.err) })
		if out := serve(t, h, request(t, "GET", "/overs/7", "")); problemIn(t, out).Status != c.status {
			t.Errorf("%v: got %s, want %d", c.err, out.Body, c.status)
		}
	}
}

// TestHeadersAreWhole: a parameter that is a header is all of its text, commas included, and
// API Gateway joins two headers of a name by one.
func TestHeadersAreWhole(t *testing.T) {
	t.Parallel()

	type in struct {
		ID  int    `path:"id"`
		Key string `header:"Idempotency-Key" maxLength:"8" pattern:"^[!-~]+$"`
	}

	for given, want := range map[string]struct {
		key    string
		status int
	}{
		"":            {"", 422},
		"a":           {"a", 200},
		"a,b":         {"a,b", 200},
		",":           {",", 200},
		" a ":         {"a", 200},
		"a\u0085":     {"", 422},
		"a, b":        {"", 422},
		"a,123456789": {"", 422},
	} {
		got := ""
		do := Lambda(getOver, nil, func(_ context.Context, in *in) (*over, error) {
			got = in.Key
			return answered("")
		})
		e := request(t, "GET", "/overs/7", "")
		e.Headers["idempotency-key"] = given

		out, err := do(t.Context(), e)
		if err != nil || got != want.key || out.StatusCode != want.status {
			t.Errorf("%q: got %q with %d, %v, want %q with %d", given, got, out.StatusCode, err, want.key, want.status)
		}
	}
}

// TestErrorsContainNoValue: a rejected value may be a token with a typing error.
func TestErrorsContainNoValue(t *testing.T) {
	t.Parallel()

	const secret = "5ec7e7"

	type in struct {
		ID    int       `path:"id"`
		Token string    `query:"token" pattern:"^[0-9]+$"`
		Kind  string    `query:"kind" enum:"a,b"`
		Many  []int     `query:"many"`
		At    time.Time `query:"at"`
		Trace int       `header:"X-Trace"`
		Body  *struct {
			Token string `json:"token,omitempty" maxLength:"4"`
			Other int    `json:"other,omitempty"`
		}
	}

	fn := spec.Function{Name: "test/put-over", On: spec.Route{Method: "POST", Path: "/overs/{id}", Auth: spec.Public}}
	h := Handler(fn, func(context.Context, *in) (*over, error) { return answered("taken") })

	for _, c := range []struct{ target, trace, body string }{
		{"/overs/" + secret, "", ""},
		{"/overs/1?token=" + secret, "", ""},
		{"/overs/1?kind=" + secret, "", ""},
		{"/overs/1?many=1," + secret, "", ""},
		{"/overs/1?at=" + secret, "", ""},
		{"/overs/1?token=1&token=" + secret, "", ""},
		{"/overs/1?other=" + secret, "", ""},
		{"/overs/1?%zz=" + secret, "", ""},
		{"/overs/1", secret, ""},
		{"/overs/1", "", `{"token":"` + secret + `"}`},
		{"/overs/1", "", `{"other":"` + secret + `"}`},
		{"/overs/1", "", `{"more":"` + secret + `"}`},
		{"/overs/1", "", `"` + secret + `"`},
		{"/overs/1", "", `{"token":"` + secret},
		{"/overs/1", "", secret},
	} {
		e := request(t, "POST", c.target, c.body)
		e.Headers["x-trace"] = c.trace

		out := serve(t, h, e)
		if p := problemIn(t, out); out.StatusCode < 400 || out.StatusCode >= 500 || len(p.Errors) == 0 {
			t.Errorf("%s %s: got %d %s", c.target, c.body, out.StatusCode, out.Body)
		}

		if strings.Contains(out.Body, secret) {
			t.Errorf("%s %s: the error contains the value: %s", c.target, c.body, out.Body)
		}
	}
}

// TestParametersComeOnce: of two values of a parameter neither is chosen.
func TestParametersComeOnce(t *testing.T) {
	t.Parallel()

	h := Handler(getOver, reading)
	for query, want := range map[string][]string{
		"limit=1&limit=1":                      {"query.limit"},
		"limit=1&limit=":                       {"query.limit"},
		"limit&limit=2":                        {"query.limit"},
		"limit=1&l%69mit=2":                    {"query.limit"},
		"teams=a&teams=b":                      {"query.teams"},
		"teams=a&limit=1&limit=2&teams=b":      {"query.limit", "query.teams"},
		"x=1&x=2":                              {"query.x"},
		"limit=%zz":                            {"query"},
		"limit=1&x=%!":                         {"query"}, // x would pass for none
		"limit=1;teams=a":                      {"query"},
		"teams=a,b&limit=3":                    nil,
		"":                                     nil,
		"limit=1&teams=" + "limit%3D2%26limit": nil,
	} {
		out := serve(t, h, request(t, "GET", "/overs/7?"+query, ""))
		if want == nil {
			if out.StatusCode != http.StatusOK {
				t.Errorf("%s: got %d %s", query, out.StatusCode, out.Body)
			}

			continue
		}

		var blamed []string
		for _, e := range problemIn(t, out).Errors {
			blamed = append(blamed, e.Location)
		}

		if out.StatusCode != http.StatusUnprocessableEntity || !slices.Equal(blamed, want) {
			t.Errorf("%s: got %d blaming %q, want %q", query, out.StatusCode, blamed, want)
		}
	}
}

// TestEmptyParameters: a parameter without a value is refused, unless an empty text is one.
func TestEmptyParameters(t *testing.T) {
	t.Parallel()

	type in struct {
		ID     string              `path:"id"`
		Cursor string              `query:"cursor" pattern:"^[0-9]{1,9}$"`
		Limit  int                 `query:"limit" default:"5"`
		Teams  []string            `query:"teams"`
		At     Optional[time.Time] `query:"at"`
		Order  string              `query:"order" enum:"up,down"`
		Text   string              `query:"text" maxLength:"9"`
		Match  string              `header:"If-Match" minLength:"3"`
	}

	h := Handler(getOver, func(_ context.Context, in *in) (*over, error) { return answered(in.Text) })

	for query, want := range map[string]int{
		"cursor=": 422, "cursor": 422, "cursor=7": 200, "limit=": 422, "teams=": 422, "at=": 422, "order=": 422,
		"text=": 200, "text": 200, "": 200,
	} {
		out := serve(t, h, request(t, "GET", "/overs/7?"+query, ""))
		name, _, _ := strings.Cut(query, "=")

		if out.StatusCode != want {
			t.Errorf("%s: got %d %s, want %d", query, out.StatusCode, out.Body, want)
		}

		if want != http.StatusOK && problemIn(t, out).Errors[0].Location != "query."+name {
			t.Errorf("%s: the error is not of %s: %s", query, name, out.Body)
		}
	}
}

// TestListsAreNeverNull: a list without items is empty, and its schema does not allow null.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()

	type answer struct {
		Body struct {
			Balls []string `json:"balls"`
		}
	}

	nothing := func(context.Context, *read) (*answer, error) { return &answer{}, nil }

	if out := serve(t, Handler(getOver, nothing), request(t, "GET", "/overs/7", "")); out.Body != "{\"balls\":[]}\n" {
		t.Errorf("got %s", out.Body)
	}

	text, err := OpenAPI(getOver, nothing)
	if err != nil || strings.Contains(string(text), `"null"`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestOptional: Set distinguishes a given zero from a missing parameter.
func TestOptional(t *testing.T) {
	t.Parallel()

	type in struct {
		ID string              `path:"id"`
		At Optional[time.Time] `query:"at" doc:"When."`
		N  Optional[int]       `query:"n" minimum:"0" maximum:"9"`
	}

	get := func(_ context.Context, in *in) (*over, error) {
		return answered(fmt.Sprint(in.At.Set, in.At.Value.UTC().Year(), in.N.Set, in.N.Value))
	}
	h := Handler(getOver, get)

	for query, want := range map[string]string{
		"":                        "false 1 false 0",
		"at=0001-01-01T00:00:00Z": "true 1 false 0",
		"at=2026-06-01T12:00:00Z": "true 2026 false 0",
		"n=0":                     "false 1 true 0",
		"n=9":                     "false 1 true 9",
	} {
		var body struct{ Text string }

		out := serve(t, h, request(t, "GET", "/overs/7?"+query, ""))
		if err := json.Unmarshal([]byte(out.Body), &body); err != nil || body.Text != want {
			t.Errorf("%s: got %d %s, want %s", query, out.StatusCode, out.Body, want)
		}
	}

	for query, want := range map[string]string{"at=yesterday": "query.at", "at=2026-06-01": "query.at", "n=10": "query.n", "n=x": "query.n"} {
		out := serve(t, h, request(t, "GET", "/overs/7?"+query, ""))
		if p := problemIn(t, out); out.StatusCode != 422 || len(p.Errors) != 1 || p.Errors[0].Location != want {
			t.Errorf("%s: got %d %s", query, out.StatusCode, out.Body)
		}
	}

	text, err := OpenAPI(getOver, get)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{`{"description":"When.","format":"date-time","type":"string"}`,
		`"format":"int64","maximum":9,"minimum":0,"type":"integer"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the description has no %s: %s", want, text)
		}
	}
}

// TestUUIDs: a UUID is read in both cases, and the use case gets it as keys and databases
// have it. Any other spelling is refused by name.
func TestUUIDs(t *testing.T) {
	t.Parallel()

	type ids struct {
		ID   string `path:"id" format:"uuid"`
		Of   string `query:"of" format:"uuid"`
		Body struct {
			All []string `json:"all" format:"uuid" uniqueItems:"true"`
		}
	}

	type saw struct{ Body []string }

	do := func(_ context.Context, in *ids) (*saw, error) {
		return &saw{append([]string{in.ID, in.Of}, in.Body.All...)}, nil
	}
	fn := spec.Function{Name: "lab/put-ids", On: spec.Route{Method: "PUT", Path: "/ids/{id}", Answers: []int{200}}}

	const a, b = "58de2f1b-1374-4c92-bd53-23a81943de4b", "5b0e9a52-7c43-4a6f-9d18-000000000001"

	ask := func(id, of, first, second string) (int, string) {
		query := ""
		if of != "" {
			query = "?of=" + of
		}

		out := serve(t, Handler(fn, do), request(t, "PUT", "/ids/"+id+query, fmt.Sprintf(`{"all":[%q,%q]}`, first, second)))

		return out.StatusCode, out.Body
	}
	if code, body := ask(strings.ToUpper(a), strings.ToUpper(b), strings.ToUpper(a), b); code != 200 ||
		strings.TrimSpace(body) != fmt.Sprintf("[%q,%q,%q,%q]", a, b, a, b) {
		t.Errorf("upper case: %d %s", code, body)
	}

	if code, body := ask(a, "", strings.ToUpper(a), a); code != 422 || !strings.Contains(body, "body.all") {
		t.Errorf("one id in both cases: %d %s", code, body)
	}

	for _, other := range []string{strings.ReplaceAll(a, "-", ""), "{" + a + "}", "urn:uuid:" + a, a + "0", "x"} {
		for field, in := range map[string][4]string{
			"path.id":     {url.PathEscape(other), b, a, b},
			"query.of":    {a, url.QueryEscape(other), a, b},
			"body.all[1]": {a, b, a, other},
		} {
			if code, body := ask(in[0], in[1], in[2], in[3]); code != 422 || !strings.Contains(body, field) {
				t.Errorf("%s as %s: %d %s", other, field, code, body)
			}
		}
	}
}
