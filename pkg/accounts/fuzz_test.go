package accounts_test

import (
	"testing"

	"matchday/infra/testkit"
)

func FuzzBody(f *testing.F) {
	w := newWorld(f)
	testkit.FuzzBodies(f, w.World, w.routes, "../../events/accounts")
}

func FuzzQuery(f *testing.F) {
	w := newWorld(f)
	testkit.FuzzQueries(f, w.World, w.routes, "../../events/accounts")
}
