// Package pooltest gives a test's world a user pool of its own.
package pooltest

import (
	"sync"

	"matchday/infra/sim/cognito"
	"matchday/infra/testkit"
)

// key signs the tokens of all pools. To make one takes longer than most tests.
var key = sync.OnceValues(cognito.NewKey)

// Attach gives the world an empty user pool, which is its Users.
func Attach(w *testkit.World, issuer, clientID string) *cognito.Pool {
	w.T.Helper()

	k, err := key()
	testkit.Must(w.T, err)
	pool, err := cognito.NewWithKey(w.Clock, issuer, clientID, k)
	testkit.Must(w.T, err)
	w.Users = pool

	return pool
}
