package commitcollect_test

import (
	"testing"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
)

// newFuzzed returns a room with the subscription of the samples.
func newFuzzed(f *testing.F) *commitcollecttest.World {
	w := commitcollecttest.New(f, strava.Faults{})
	testkit.PutRows(w.World, tables.Main, map[string]any{"PK": item.Subscription, "SK": item.Meta, "subscriptionId": 120475})

	return w
}

func FuzzBody(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzBodies(f, w.World, w.SignedIn(), "../../events/commitcollect")
}

func FuzzQuery(f *testing.F) {
	w := newFuzzed(f)
	testkit.FuzzQueries(f, w.World, w.SignedIn(), "../../events/commitcollect")
}
