package sqs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/sqs"
)

// A queue delivers a delayed message to a function. The free clock jumps to the time
// of the delivery.
func Example() {
	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)
	defer c.Stop()

	done := c.Work() // the clock stands still until the message is sent

	queues := sqs.New(c, "http://localhost:9324")
	defer queues.Close()

	if err := queues.Create(sqs.Queue{Name: "orders"}); err != nil {
		fmt.Println(err)
		return
	}

	delivered := make(chan string)

	err := queues.Poll(sqs.Mapping{Queue: "orders"}, func(_ context.Context, event []byte) ([]byte, error) {
		var e events.SQSEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}

		delivered <- fmt.Sprintf("%s: %s", c.Now().Format(time.TimeOnly), e.Records[0].Body)

		return nil, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	if _, err := queues.Send("orders", sqs.Message{Body: "two teas", Delay: 10 * time.Minute}); err != nil {
		fmt.Println(err)
		return
	}

	done()
	fmt.Println(<-delivered)
	// Output: 12:10:00: two teas
}
