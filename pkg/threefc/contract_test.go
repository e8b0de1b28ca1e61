package threefc_test

import (
	"testing"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(threefctest.New(t).World, threefc.Room)
}
