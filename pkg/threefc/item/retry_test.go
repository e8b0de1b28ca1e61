package item_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/threefc/item"
)

// TestRetry: a change that others overtake is tried eight times, while the caller waits; what
// has another reason is not.
func TestRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, c := range map[string]struct {
			ctx       context.Context
			overtaken int // tries
			then      error
			tries     int
			want      error
		}{
			"at once":             {t.Context(), 0, nil, 1, nil},
			"overtaken once":      {t.Context(), 1, nil, 2, nil},
			"overtaken 7 times":   {t.Context(), 7, nil, 8, nil},
			"overtaken for ever":  {t.Context(), 8, nil, 8, httpapi.ErrStale},
			"another error":       {t.Context(), 0, broken, 1, broken},
			"the caller has left": {ended, 1, nil, 1, context.Canceled},
		} {
			tries := 0
			out, err := item.Retry(c.ctx, func() (*int, error) {
				if tries++; tries <= c.overtaken {
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
		}
	})
}
