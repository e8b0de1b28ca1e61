package lock

import (
	"context"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Holder returns the name of this invocation of a function, as the holder of a lock.
func Holder(ctx context.Context, function string) string {
	if c, ok := lambdacontext.FromContext(ctx); ok {
		return function + "/" + c.AwsRequestID
	}

	return function
}
