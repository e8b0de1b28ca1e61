package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
)

// TestRetry: a change is made again while its write is refused, up to the limit and as long as
// the caller waits. Another error ends it at once.
func TestRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken, overtaken := errors.New("broken"), errors.New("overtaken")
		limit := dynamo.Attempts{Max: 8, Err: overtaken}
		ended, cancel := context.WithCancel(t.Context())
		cancel()

		for name, c := range map[string]struct {
			ctx     context.Context
			refused int // tries
			then    error
			tries   int
			want    error
		}{
			"at once":             {t.Context(), 0, nil, 1, nil},
			"overtaken once":      {t.Context(), 1, nil, 2, nil},
			"overtaken 7 times":   {t.Context(), 7, nil, 8, nil},
			"overtaken for ever":  {t.Context(), 8, nil, 8, overtaken},
			"another error":       {t.Context(), 0, broken, 1, broken},
			"the caller has left": {ended, 1, nil, 1, context.Canceled},
		} {
			tries := 0

			out, err := dynamo.RetryValue(c.ctx, limit, func() (*int, error) {
				if tries++; tries <= c.refused {
					return nil, &dynamo.Refused{}
				}

				if c.then != nil {
					return nil, c.then
				}

				return &tries, nil
			})
			if tries != c.tries || !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (err == nil) != (out == &tries) {
				t.Errorf("%s: %v after %d tries, want %v after %d", name, err, tries, c.want, c.tries)
			}

			tries = 0

			err = dynamo.Retry(c.ctx, limit, func() error {
				if tries++; tries <= c.refused {
					return fmt.Errorf("put: %w", &dynamo.Refused{})
				}

				return c.then
			})
			if tries != c.tries || !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s, without a result: %v after %d tries, want %v after %d", name, err, tries, c.want, c.tries)
			}
		}
	})
}

// TestRetryPauses: the pauses between the attempts are random and short, so that all of them
// end within the time of a request.
func TestRetryPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, last := time.Now(), time.Now()

		var longest []time.Duration

		err := dynamo.Retry(t.Context(), dynamo.DefaultAttempts, func() error {
			longest = append(longest, time.Since(last))
			last = time.Now()

			return &dynamo.Refused{}
		})
		if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.Unavailable || p.Code != "table_busy" {
			t.Errorf("got %v, want table_busy", err)
		}

		want := []time.Duration{0, 50, 100, 200, 400, 400, 400, 400, 400, 400, 400}
		for i, pause := range longest {
			if i >= len(want) || pause > want[i]*time.Millisecond {
				t.Fatalf("pauses of %v, want at most %d ms", longest, want)
			}
		}

		if len(longest) != len(want) || time.Since(began) == 0 {
			t.Errorf("pauses of %v, want at most %d ms", longest, want)
		}
	})
}
