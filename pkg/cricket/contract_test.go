package cricket_test

import (
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Routes()
	testkit.CheckContract(w.World, cricket.Room)
}
