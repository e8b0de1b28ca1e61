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
	"matchday/infra/sim/apifootball"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
)

// Bundle is the bundle id of the Best Shot app.
const Bundle = "app.matchday.bestshot"

// Room plugs Best Shot in.
var Room = rooms.Room{
	Room:   bestshot.Room(),
	Local:  newLocal,
	Replay: Replay,
	// The replay plays a season as one of them has it.
	Providers: providerNames(),
	Smoke:     smoke.Run,
	Bench:     bench.Suite,
	Cost:      cost.Model,
}

// Host is Best Shot in one local fleet, with its provider.
type Host struct {
	fleet.Host
	Provider *football.Server // without seasons at first; both providers have its events
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

			return h.simulate(in, 1, plan)
		}},
		Panel: v.panel(),
		Demo:  v.demo,
	}
}

// providerNames returns the names of the providers that a replay can play.
func providerNames() (all []string) {
	for _, n := range provider.Names() {
		all = append(all, string(n))
	}

	return all
}

// key is the key of the simulated API-Football.
const key = "local-api-football-key"

// plan is the plan at the simulated API-Football, which a replay of many seasons would exceed.
var plan = apifootball.Plan{Minute: 300, Day: 7500}

// simulate starts the providers of a seed, and returns the environment of the room's functions.
func (h *Host) simulate(in fleet.Host, seed uint64, plan apifootball.Plan) ([]string, error) {
	h.Host = in
	h.Provider = football.New(in.Clock, seed)

	second := in.Serve("api-football", apifootball.New(in.Clock, h.Provider, key, plan))

	return []string{
		notice.APNSBundle + "=" + Bundle,
		provider.SofascoreURL + "=" + in.Serve("football", http.HandlerFunc(h.serve)) + "/api/v1",
		provider.APIFootballURL + "=" + second,
		provider.APIFootballMedia + "=" + second + "/football",
		provider.APIFootballKey + "=" + key,
	}, nil
}

// serve answers requests to the provider.
func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	if h.league != nil && h.league.handles(r) {
		h.league.ServeHTTP(w, r)
		return
	}

	h.Provider.ServeHTTP(w, r)
}
