package threefc_test

import (
	"os"
	"testing"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
)

const samples = "../../events/threefc"

// sampled skips a test while a route has no sample.
func sampled(f *testing.F) {
	for name := range methods() {
		if _, err := os.Stat(samples + "/" + name + "/good.json"); err != nil {
			f.Skip(err)
		}
	}
}

func FuzzBody(f *testing.F) {
	sampled(f)
	w := threefctest.New(f)
	testkit.FuzzBodies(f, w.World, w.Routes, samples)
}

func FuzzQuery(f *testing.F) {
	sampled(f)
	w := threefctest.New(f)
	testkit.FuzzQueries(f, w.World, w.Routes, samples)
}
