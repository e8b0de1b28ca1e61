// Package bestshot has the parts of Best Shot that are not deployed: the simulated provider of a local
// fleet, the tab of the console, the rows for sample events, the replay, smoke steps, bench and cost.
package bestshot

import (
	"net/http"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/bestshot/bench"
	"matchday/infra/rooms/bestshot/cost"
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
	Room:   bestshot.Room(),
	Local:  newLocal,
	Replay: Replay,
	Smoke:  smoke.Run,
	Bench:  bench.Suite,
	Cost:   cost.Model,
}

// Host is Best Shot in one local fleet, with its provider.
type Host struct {
	fleet.Host
	Provider *football.Server // without seasons at first
	league   *league          // of the console; nil for none
}

// newLocal returns what Best Shot adds to a local fleet.
func newLocal() rooms.Local {
	h := &Host{}
	v := &visit{Host: h}

	return rooms.Local{
		Samples: h.samples(),
		Fleet: fleet.Room{Room: bestshot.Room(), App: Bundle, Simulate: func(in fleet.Host) ([]string, error) {
			h.league, v.ask = newLeague(in.Clock), in.Call

			return h.simulate(in, 1)
		}},
		Panel: v.panel(),
		Demo:  v.demo,
	}
}

// simulate starts the provider of a seed, and returns the environment of the room's functions.
func (h *Host) simulate(in fleet.Host, seed uint64) ([]string, error) {
	h.Host = in
	h.Provider = football.New(in.Clock, seed)

	return []string{notice.APNSBundle + "=" + Bundle,
		ingest.ProviderURL + "=" + in.Serve("football", http.HandlerFunc(h.serve)) + "/api/v1"}, nil
}

// serve answers requests to the provider.
func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	if h.league != nil && h.league.handles(r) {
		h.league.ServeHTTP(w, r)
		return
	}

	h.Provider.ServeHTTP(w, r)
}
