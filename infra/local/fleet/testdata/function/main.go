// Command function is a Lambda function that logs its environment and event, and
// answers with the event.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"matchday/pkg/spec"
)

func main() {
	lambda.Start(func(_ context.Context, event json.RawMessage) (json.RawMessage, error) {
		fmt.Printf("pool=%s event=%s\n", os.Getenv(spec.EnvUserPool), event)
		return event, nil
	})
}
