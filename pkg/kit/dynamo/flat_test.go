package dynamo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// delivery is a flat row of every kind.
type delivery struct {
	Match string `dynamodbav:"match"`
	Ball  string `dynamodbav:"ball,omitempty"`
	Wide  bool   `dynamodbav:"wide"`
	Runs  int8   `dynamodbav:"runs"`
	At    int64  `dynamodbav:"at"`
}

// answers is an HTTP client that answers each request with the next body, and then with the last
// one again.
type answers []string

func (a *answers) Do(*http.Request) (*http.Response, error) {
	body := (*a)[0]
	if len(*a) > 1 {
		*a = (*a)[1:]
	}

	read := io.Reader(strings.NewReader(body))
	if before, ok := strings.CutSuffix(body, "BROKEN"); ok {
		read = io.MultiReader(strings.NewReader(before), brokenReader{})
	}

	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(read), ContentLength: -1}, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, syscall.ECONNRESET }

// openAnswers returns tables that answer every call with the bodies.
func openAnswers(bodies ...string) dynamo.DB {
	client := answers(bodies)

	return dynamo.Open(aws.Config{
		Region: "eu-west-1", HTTPClient: &client, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		RetryMaxAttempts: len(bodies),
	}, "")
}

type page struct {
	Items []delivery
	Last  dynamo.Item
}

type reader func(context.Context, dynamo.DB, spec.Access, dynamo.Range) ([]delivery, dynamo.Item, error)

// read reads one page of a match with the reader. An empty page has no items.
func read(ctx context.Context, db dynamo.DB, query reader, limit int32) (page, error) {
	items, last, err := query(ctx, db, ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m"), Limit: limit})
	return page{append([]delivery(nil), items...), last}, err
}

// compare fails unless QueryFlat returns what Query does for an answer.
func compare(t interface {
	Fatalf(format string, args ...any)
}, answer string) {
	want, wantErr := read(context.Background(), openAnswers(answer), dynamo.Query, 0)
	got, err := read(context.Background(), openAnswers(answer), dynamo.QueryFlat, 0)

	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%s: QueryFlat returns %v, Query %v", answer, err, wantErr)
	}

	if diff := cmp.Diff(want, got, exportAll); err == nil && diff != "" {
		t.Fatalf("%s: QueryFlat differs from Query (-Query +QueryFlat):\n%s", answer, diff)
	}
}

// exportAll compares attribute values, which have an unexported field.
var exportAll = cmp.Exporter(func(reflect.Type) bool { return true })

// value is an attribute as DynamoDB writes it.
func value() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "ab12", `"`, `\`, `"Items":[`, "},{", "é", "]}"}))
	number := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.SampledFrom([]string{"0", "-128", "128", "1.5", "9223372036854775808", "", "x"}),
	)

	return rapid.OneOf(
		rapid.Map(text, func(s string) any { return map[string]any{"S": s} }),
		rapid.Map(number, func(n string) any { return map[string]any{"N": n} }),
		rapid.Map(rapid.Bool(), func(b bool) any { return map[string]any{"BOOL": b} }),
		rapid.SampledFrom([]any{
			map[string]any{"NULL": true}, map[string]any{"SS": []string{"a", "b"}}, map[string]any{"B": "AAE="},
			map[string]any{"L": []any{map[string]any{"S": "a"}}}, map[string]any{"M": map[string]any{"Items": map[string]any{"L": []any{}}}},
		}),
	)
}

// item is an item that has some attributes of a delivery, most of the right kind, and some others.
func item() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		out := map[string]any{"match": map[string]any{"S": "m"}}

		for _, name := range []string{"match", "ball", "wide", "runs", "at", "bowler", "Items", `"`} {
			switch rapid.IntRange(0, 9).Draw(t, name) {
			case 0:
				out[name] = value().Draw(t, name)
			case 1, 2, 3:
			default:
				out[name] = map[string]any{
					"match": map[string]any{"S": "m"},
					"ball":  map[string]any{"S": rapid.StringMatching(`[0-9a-f]{0,9}`).Draw(t, name)},
					"wide":  map[string]any{"BOOL": rapid.Bool().Draw(t, name)},
					"runs":  map[string]any{"N": strconv.Itoa(rapid.IntRange(0, 7).Draw(t, name))},
					"at":    map[string]any{"N": strconv.FormatInt(rapid.Int64().Draw(t, name), 10)},
				}[name]
				if out[name] == nil {
					out[name] = map[string]any{"S": "other"}
				}
			}
		}

		return out
	})
}

// TestFlatRowsAreThoseOfTheSDK reads generated answers by Query and by QueryFlat.
func TestFlatRowsAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		answer := map[string]any{"Count": 1, "ScannedCount": 1}
		if rapid.Bool().Draw(t, "has items") {
			answer["Items"] = rapid.SliceOfN(item(), 0, 5).Draw(t, "items")
		}

		if rapid.Bool().Draw(t, "has more") {
			answer["LastEvaluatedKey"] = map[string]any{"match": map[string]any{"S": "m"}, "ball": map[string]any{"S": `a,"Items":[`}}
		}

		var text bytes.Buffer

		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)

		if err := encoder.Encode(answer); err != nil {
			t.Fatal(err)
		}

		compare(t, text.String())
	})
}

// FuzzFlatRows reads any answers: QueryFlat returns what Query does, or refuses an answer that
// DynamoDB does not send.
func FuzzFlatRows(f *testing.F) {
	const head, tail = `{"Count":1,"Items":[`, `],"ScannedCount":1}`

	for _, items := range []string{
		``, `{}`, `null`, `{"match":{"S":"m"},"ball":{"S":"1"},"wide":{"BOOL":true},"runs":{"N":"4"},"at":{"N":"-1"}}`,
		`{"runs":{"N":"128"}}`, `{"runs":{"S":"1"}}`, `{"RUNS":{"N":"1"}}`, `{"ball":{"S":"\u0061"}}`, `{"wide":{"NULL":true}}`,
		`{"ball":{"S":"a"},"ball":{"S":"b"}}`, `{"other":{"M":{"Items":{"L":[]}}}},{"ball":{"S":"1"}}`, ` { "ball" : { "S" : "1" } } `,
		`{"ball":{"S":"1"}},`, `{"ball":{"S":"1"}},{"ball":{"S":"2"`,
	} {
		f.Add(head + items + tail)
	}

	f.Add(`{"Other":{"Items":[{"ball":{"S":"1"}}]}}`)
	f.Add(`{"Items":[{"ball":{"S":"1"}}],"Items":[{"ball":{"S":"2"}}]}`)
	f.Fuzz(func(t *testing.T, answer string) {
		if _, err := read(t.Context(), openAnswers(answer), dynamo.QueryFlat, 0); !errors.Is(err, dynamo.ErrItems) {
			compare(t, answer)
		}
	})
}

// TestFlatPages reads the pages of a table by QueryFlat: with the attributes of the row only, the
// same key of the next page, and the same units as by Query.
func TestFlatPages(t *testing.T) {
	t.Parallel()

	cfg, prefix := dynamotest.CreateTables(t, []spec.Table{balls, clubs})

	var meter dynamodbsim.Meter

	db := dynamo.Open(meter.On(dynamotest.WithGuard(t, cfg, scorer)), prefix)
	must(t, dynamo.PutAll(t.Context(), db, putBalls, over("m", 7)))
	meter.Take()

	for _, limit := range []int32{0, 3, 7} {
		want, err := read(t.Context(), db, dynamo.Query, limit)
		must(t, err)

		units := meter.Take()

		got, err := read(t.Context(), db, dynamo.QueryFlat, limit)
		must(t, err)

		if diff := cmp.Diff(want, got, exportAll); diff != "" {
			t.Errorf("limit %d: QueryFlat differs from Query (-Query +QueryFlat):\n%s", limit, diff)
		}

		if diff := cmp.Diff(units, meter.Take()); diff != "" {
			t.Errorf("limit %d: the units differ (-Query +QueryFlat):\n%s", limit, diff)
		}
	}
}

// TestFlatAnswerIsReadAgain breaks the first answer after some items.
func TestFlatAnswerIsReadAgain(t *testing.T) {
	t.Parallel()

	const item = `{"match":{"S":"m"},"ball":{"S":"1"},"runs":{"N":"4"}}`

	whole := `{"Items":[` + item + `]}`

	for name, query := range map[string]reader{"Query": dynamo.Query[delivery], "QueryFlat": dynamo.QueryFlat[delivery]} {
		got, err := read(t.Context(), openAnswers(`{"Items":[`+item+`,`+item+`]BROKEN`, whole), query, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}

		want := page{Items: []delivery{{Match: "m", Ball: "1", Runs: 4}}}
		if diff := cmp.Diff(want, got, exportAll); diff != "" {
			t.Errorf("%s: the second answer (-want +got):\n%s", name, diff)
		}
	}
}

// TestFlatRowsCostNoAllocation reads a page of many rows as DynamoDB writes them.
func TestFlatRowsCostNoAllocation(t *testing.T) {
	allocs := func(rows int) float64 {
		items := make([]string, rows)
		for i := range items {
			items[i] = fmt.Sprintf(`{"match":{"S":"m"},"ball":{"S":"%064x"},"wide":{"BOOL":false},"runs":{"N":"4"},"at":{"N":"1780000000000"}}`, i)
		}

		db := openAnswers(`{"Count":1,"Items":[` + strings.Join(items, ",") + `],"ScannedCount":1}`)

		return testing.AllocsPerRun(5, func() {
			if got, err := read(t.Context(), db, dynamo.QueryFlat, int32(rows)); err != nil || len(got.Items) != rows {
				t.Fatalf("%d rows, %v", len(got.Items), err)
			}
		})
	}

	if few, many := allocs(10), allocs(2000); many > few+50 {
		t.Errorf("%v allocations for 2,000 rows, and %v for 10", many, few)
	}
}

// TestOnlyFlatRowsAreRead reads structs with an attribute that is no string, integer or bool.
func TestOnlyFlatRowsAreRead(t *testing.T) {
	t.Parallel()

	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `"over" of struct`) {
			t.Errorf("panics with %q, want the name of the attribute", got)
		}
	}()

	dynamo.QueryFlat[struct {
		Over []int `dynamodbav:"over"`
	}](t.Context(), openAnswers("{}"), ofMatch, dynamo.Range{Key: dynamo.KeyIs(ofMatch, "m")})
}
