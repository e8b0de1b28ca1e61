package problem_test

import (
	"errors"
	"fmt"

	"matchday/pkg/kit/problem"
)

// A room's errors are package-level values. Their codes are part of its API.
var errLocked = problem.New(problem.Conflict, "event_locked", "the event is locked")

func Example() {
	pick := func() error {
		return fmt.Errorf("pick: %w", errLocked.With(map[string]any{"lockAt": "2026-06-01T12:00:00Z"}))
	}
	err := pick()
	fmt.Println(problem.Of(err) == problem.Conflict, errors.Is(err, errLocked))
	// Output: true true
}

func ExampleError_Because() {
	err := problem.New(problem.Unavailable, "apple_unavailable", "try again later").Because(errors.New("dial tcp: timeout"))
	fmt.Println("the user reads:", err.Text)
	fmt.Println("the log has:   ", err)
	// Output:
	// the user reads: try again later
	// the log has:    try again later: dial tcp: timeout
}
