package cricket_test

import (
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
)

func FuzzBody(f *testing.F) {
	w := crickettest.New(f)
	testkit.FuzzBodies(f, w.World, w.Routes(), "../../events/cricket")
}

func FuzzQuery(f *testing.F) {
	w := crickettest.NewWithMatches(f)
	testkit.FuzzQueries(f, w.World, w.Routes(), "../../events/cricket")
}
