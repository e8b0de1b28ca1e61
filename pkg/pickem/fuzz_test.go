package pickem_test

import (
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
)

// newFuzzed returns a room with an event on which an administrator who is a member can pick.
func newFuzzed(f *testing.F) *pickemtest.Room {
	w := pickemtest.New(f)
	w.WithUserPool()
	w.AddMembers(testkit.Administrator)
	w.CreateShow(2)
	return w
}

func FuzzBody(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzBodies(f, w.World, w.Routes, "../../events/pickem")
}

func FuzzQuery(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzQueries(f, w.World, w.Routes, "../../events/pickem")
}
