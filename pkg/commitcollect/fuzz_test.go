package commitcollect_test

import (
	"testing"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
)

func FuzzBody(f *testing.F) {
	w := commitcollecttest.New(f, strava.Faults{})
	testkit.FuzzBodies(f, w.World, w.Routes, "../../events/commitcollect")
}

func FuzzQuery(f *testing.F) {
	w := commitcollecttest.New(f, strava.Faults{})
	testkit.FuzzQueries(f, w.World, w.Routes, "../../events/commitcollect")
}
