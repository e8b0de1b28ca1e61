package commitcollect_test

import (
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(t, commitcollect.Room())
}
