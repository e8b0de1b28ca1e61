// Package bestshot is what Best Shot brings outside pkg: the provider's simulator in a local
// fleet, sample events, smoke steps, bench and cost.
package bestshot

import (
	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/bestshot/smoke"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/notice"
)

// Bundle is the bundle id of the Best Shot app.
const Bundle = "app.matchday.bestshot"

// Room plugs Best Shot in.
var Room = rooms.Room{
	Spec:  bestshot.Room,
	Local: newLocal,
	Smoke: smoke.Run,
}

// Host is Best Shot in one local fleet, with its provider.
type Host struct {
	fleet.Host
	Provider *football.Server // without seasons at first
}

// newLocal returns Best Shot in one local fleet.
func newLocal() rooms.Local {
	h := &Host{}
	return rooms.Local{
		Samples: h.samples(),
		Fleet:   fleet.Room{Spec: bestshot.Room, App: Bundle, Simulate: func(in fleet.Host) ([]string, error) { return h.simulate(in, 1) }},
		Panel:   console.Panel{Room: bestshot.Room.Name, Title: "Best Shot"},
	}
}

// simulate starts the provider of a seed, and returns the environment of the room's functions.
func (h *Host) simulate(in fleet.Host, seed uint64) ([]string, error) {
	h.Host = in
	h.Provider = football.New(in.Clock, seed)
	return []string{notice.APNSBundle + "=" + Bundle, ingest.ProviderURL + "=" + in.Serve("football", h.Provider) + "/api/v1"}, nil
}
