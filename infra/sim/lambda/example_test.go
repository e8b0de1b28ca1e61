package lambda_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
)

// A function whose binary does not start fails as it does in AWS.
func Example() {
	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)

	functions, err := lambda.New(c, lambda.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer functions.Close()

	functions.Add(lambda.Function{Name: "greet", Path: "/no/such/binary", Timeout: time.Second})

	defer c.Work()()

	for _, name := range []string{"greet", "unknown"} {
		_, err = functions.Invoke(context.Background(), name, []byte(`{}`))
		failure, _ := errors.AsType[*lambda.Error](err)
		fmt.Println(failure.Type)
	}
	// Output:
	// Runtime.InvalidEntrypoint
	// ResourceNotFoundException
}
