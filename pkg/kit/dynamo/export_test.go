package dynamo

import "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

// BuilderOf gives the benchmark the expression of changes.
func BuilderOf(c Changes) expression.UpdateBuilder { return c.b }

// ErrItems is the error of QueryFlat for an answer that DynamoDB does not send.
var ErrItems = errItems
