package accounts_test

import (
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/accounts"
)

// TestContract: a limit, a bound, a timeout or an alarm changes only under review. The contract
// is that of a fleet with one other room.
func TestContract(t *testing.T) {
	t.Parallel()
	testkit.CheckContract(t, accounts.Room("cricket"))
}
