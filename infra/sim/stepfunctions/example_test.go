package stepfunctions_test

import (
	"context"
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/stepfunctions"
)

// A machine waits for a minute and calls a function.
func Example() {
	m, err := stepfunctions.Parse([]byte(`{
		"StartAt": "Wait",
		"States": {
			"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Greet"},
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
	out, err := m.Run(context.Background(), c, []byte(`{"name": "Una"}`), func(_ context.Context, function string, payload []byte) ([]byte, error) {
		fmt.Println(c.Now().Format(time.TimeOnly), function, string(payload))
		return []byte(`"Hello"`), nil
	})
	fmt.Println(string(out), err)
	// Output:
	// 12:01:00 greeter {"name":"Una"}
	// "Hello" <nil>
}
