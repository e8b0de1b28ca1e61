package stepfunctions_test

import (
	"context"
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/stepfunctions"
)

// A machine waits until a time in its input and calls a function.
func Example() {
	m, err := stepfunctions.Parse([]byte(`{
		"StartAt": "Wait",
		"States": {
			"Wait": {"Type": "Wait", "TimestampPath": "$.at", "Next": "Greet"},
			"Greet": {"Type": "Task", "Resource": "${greet}", "End": true}
		}
	}`), map[string]string{"greet": "greeter"})
	if err != nil {
		fmt.Println(err)
		return
	}

	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)
	defer c.Stop()
	defer c.Work()()

	out, err := m.Run(context.Background(), c, []byte(`{"at": "2026-06-01T12:01:00Z"}`),
		func(_ context.Context, function string, payload []byte) ([]byte, error) {
			fmt.Println(c.Now().Format(time.TimeOnly), function, string(payload))
			return []byte(`"Hello"`), nil
		})
	fmt.Println(string(out), err)
	// Output:
	// 12:01:00 greeter {"at":"2026-06-01T12:01:00Z"}
	// "Hello" <nil>
}
