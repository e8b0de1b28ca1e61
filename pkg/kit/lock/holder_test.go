package lock_test

import (
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"matchday/pkg/kit/lock"
)

// TestHolderIsTheInvocation: the function and the id of its invocation, which a retry of the
// same event shares.
func TestHolderIsTheInvocation(t *testing.T) {
	t.Parallel()

	if got := lock.Holder(t.Context(), "tick"); got != "tick" {
		t.Errorf("outside of Lambda: %q", got)
	}

	if got := lock.Holder(lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "r1"}), "tick"); got != "tick/r1" {
		t.Errorf("in Lambda: %q", got)
	}
}
