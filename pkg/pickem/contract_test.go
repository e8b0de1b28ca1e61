package pickem_test

import (
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/pickem"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(t, pickem.Room())
}
