package chess_test

import (
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/chess"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(t, chess.Room())
}
