package scheduler_test

import (
	"fmt"
	"time"

	"matchday/infra/sim/scheduler"
)

func ExampleParse() {
	s, err := scheduler.Parse("cron(0 8 ? * MON-FRI *)", "Europe/London")
	if err != nil {
		fmt.Println(err)
		return
	}

	friday := time.Date(2026, 6, 5, 12, 0, 0, 0, time.UTC)
	fmt.Println(s.Next(friday).UTC().Format(time.RFC1123))

	_, err = scheduler.Parse("every(day)", "")
	fmt.Println(err)
	// Output:
	// Mon, 08 Jun 2026 07:00:00 UTC
	// schedule "every(day)": must be rate(…), cron(…) or at(…)
}
