package commitcollect_test

import (
	"testing"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(commitcollecttest.New(t, strava.Faults{}).World, commitcollect.Room)
}
