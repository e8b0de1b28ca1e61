package dynamo

import "context"

// Attempts bounds how often Retry makes a change.
type Attempts struct {
	Max int
	Err error // if concurrent writes refuse all of them
}

// DefaultAttempts are as many as those of a call that the table throttles, with the same
// error: table_busy, which callers may retry.
var DefaultAttempts = Attempts{Max: maxRepeats + 1, Err: ErrBusy}

// Retry calls change until its write is not refused, at most limit.Max times. The change
// reads rows, and writes on the condition that they are as it has read them. It returns
// *Refused if a concurrent write came first, and then reads again. Before another attempt
// Retry waits at random up to 50 ms, doubled for each attempt up to 400 ms.
//
// Errors: limit.Err after limit.Max refused attempts, the error of ctx if it ends while
// Retry waits, and any other error of change, at once.
func Retry(ctx context.Context, limit Attempts, change func() error) error {
	_, err := RetryValue(ctx, limit, func() (struct{}, error) { return struct{}{}, change() })
	return err
}

// RetryValue is Retry for a change with a result.
func RetryValue[T any](ctx context.Context, limit Attempts, change func() (T, error)) (none T, err error) {
	for try := range limit.Max {
		if err := BackOff(ctx, min(try, longestPause)); err != nil {
			return none, err
		}

		if out, err := change(); !IsRefused(err) {
			return out, err
		}
	}

	return none, limit.Err
}

// longestPause is the try before which BackOff waits up to 400 ms.
const longestPause = 4
