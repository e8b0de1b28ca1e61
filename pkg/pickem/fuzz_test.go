package pickem_test

import (
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
)

func FuzzBody(f *testing.F) {
	w := pickemtest.New(f)
	w.WithUserPool()
	w.AddMembers(testkit.Administrator)
	w.CreateShow(2)
	testkit.FuzzBodies(f, w.World, w.Routes, "../../events/pickem")
}
