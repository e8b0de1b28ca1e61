// Command hello is the smallest Lambda function: what the others are measured
// against.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() (string, error) { return "hello", nil })
}
