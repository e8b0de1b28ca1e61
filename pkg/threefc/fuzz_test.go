package threefc_test

import (
	"testing"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
)

const samples = "../../events/threefc"

// newFuzzed returns a room with the leagues of the samples, and its routes as an administrator
// of them calls them.
func newFuzzed(f *testing.F) (*threefctest.World, map[string]testkit.Route) {
	w := threefctest.New(f)
	w.Accounts()

	return w, w.SignedIn("01JX0000000000000000000001", "01JX0000000000000000000002")
}

func FuzzBody(f *testing.F) {
	w, routes := newFuzzed(f)
	testkit.FuzzBodies(f, w.World, routes, samples)
}

func FuzzQuery(f *testing.F) {
	w, routes := newFuzzed(f)
	testkit.FuzzQueries(f, w.World, routes, samples)
}
