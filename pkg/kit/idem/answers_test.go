package idem_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// TestRepeatedRequestIsNotDone: a request is looked up once, and done only if it is new.
func TestRepeatedRequestIsNotDone(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})

	var finds, done int

	find := s.store.Find
	s.store.Find = func(ctx context.Context, userID, id string) (idem.Record, bool, error) {
		finds++
		return find(ctx, userID, id)
	}

	in := &request{Key: idem.Key{IdempotencyKey: "K1"}, Item: "tea"}
	for n := 1; n <= 3; n++ {
		out, err := idem.Once(t.Context(), s.store, buy, "ann", in, func(ctx context.Context, commit idem.Commit[answer]) (*answer, error) {
			done++
			out := &answer{Status: 201}

			return out, commit(ctx, act, out, dynamo.PutWrite(effect{"tea", 1}))
		})
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(&answer{Status: 201}, out); diff != "" {
			t.Errorf("answer %d (-want +got):\n%s", n, diff)
		}

		if finds != n || done != 1 {
			t.Errorf("request %d: looked up %d times and done %d times, want %d and 1", n, finds, done, n)
		}
	}
}

// TestBrokenStore: an answer that cannot be read or decoded is an error, and so is one that
// cannot be stored: nothing is done then.
func TestBrokenStore(t *testing.T) {
	t.Parallel()

	s := newShop(t, &dynamotest.Process{})
	if _, err := s.do(call{buy, "ann", "K1", "tea", 1}); err != nil {
		t.Fatal(err)
	}

	torn, find := errors.New("the page is torn"), s.store.Find

	s.store.Find = func(context.Context, string, string) (idem.Record, bool, error) { return idem.Record{}, false, torn }
	if got, err := s.do(call{buy, "ann", "K2", "tea", 1}); !errors.Is(err, torn) {
		t.Errorf("got %d, %v, want the store's error", got, err)
	}

	s.store.Find = func(ctx context.Context, userID, id string) (idem.Record, bool, error) {
		r, ok, err := find(ctx, userID, id)
		r.Answer = json.RawMessage(`[]`)

		return r, ok, err
	}

	const want = "decode a stored answer: json: cannot unmarshal array into Go value of type idem_test.answer"
	if got, err := s.do(call{buy, "ann", "K1", "tea", 1}); err == nil || err.Error() != want {
		t.Errorf("got %d, %v, want %s", got, err, want)
	}

	s.store.Find = find
	in := &request{Key: idem.Key{IdempotencyKey: "K3"}, Item: "tea"}

	_, err := idem.Once(t.Context(), s.store, buy, "ann", in, func(ctx context.Context, commit idem.Commit[float64]) (*float64, error) {
		out := math.NaN()
		return &out, commit(ctx, act, &out, dynamo.PutWrite(effect{"tea", 9}))
	})
	if want := "encode the answer: json: unsupported value: NaN"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	if got := s.total("tea"); got != 1 {
		t.Errorf("the effect is %d, want that of the first request", got)
	}
}

// unclear is a request whose body is not of JSON.
type unclear struct {
	idem.Key
	Body float64
}

// TestBodyThatIsNotJSON: two bodies that JSON cannot distinguish must not have one hash.
func TestBodyThatIsNotJSON(t *testing.T) {
	t.Parallel()

	defer func() {
		if p := recover(); p == nil {
			t.Error("the request was made")
		}
	}()

	_, _ = idem.Once(t.Context(), newShop(t, &dynamotest.Process{}).store, buy, "ann",
		&unclear{Key: idem.Key{IdempotencyKey: "K1"}, Body: math.NaN()},
		func(context.Context, idem.Commit[answer]) (*answer, error) { return nil, nil })
}

// TestKeysOfRequests: a key is 1 to 128 visible ASCII characters.
func TestKeysOfRequests(t *testing.T) {
	t.Parallel()

	fn := spec.Function{Name: "shop/buy", Does: "Buys.", On: spec.Route{Method: "POST", Path: "/items/{item}", Auth: spec.Public}}
	h := httpapi.Handler(fn, func(context.Context, *request) (*struct{ Status int }, error) { return &struct{ Status int }{204}, nil })

	for key, status := range map[string]int{
		"":                       204,
		"x":                      204,
		"!~":                     204,
		strings.Repeat("x", 128): 204,
		strings.Repeat("x", 129): 422,
		"a b":                    422,
		"é":                      422,
	} {
		r, w := httptest.NewRequest("POST", "/items/tea", strings.NewReader(`{"count":1}`)), httptest.NewRecorder()
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}

		if h.ServeHTTP(w, r); w.Code != status {
			t.Errorf("a key of %d bytes: got %d %s, want %d", len(key), w.Code, w.Body, status)
		}
	}
}

// TestConflict is what an app reads of a key that was used for another body.
func TestConflict(t *testing.T) {
	t.Parallel()

	want := problem.Error{
		Kind:  problem.Conflict,
		Code:  "idempotency_conflict",
		Field: "header.Idempotency-Key",
		Text:  "this Idempotency-Key was used for another request",
	}
	if diff := cmp.Diff(want, *idem.ErrConflict); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	if idem.Lifetime.Hours() != 24 {
		t.Errorf("answers are kept for %v, want a day", idem.Lifetime)
	}
}
