package fleet

import (
	"context"
	"net/http"

	"matchday/infra/sim/apns"
	"matchday/pkg/kit/app"
)

// Room configures a room of the fleet.
type Room struct {
	app.Room
	App string // bundle id of its iOS app; "" if it has none
	// Channels reports whether the app listens to broadcast channels. The simulated APNs
	// has channels of one app only.
	Channels bool
	// ContentState and Attributes return an error for what the app could not decode of a Live Activity. They
	// are nil if any app of the fleet decodes it.
	ContentState, Attributes func(json []byte) error
	// Simulate starts the simulators of services that only this room calls, and returns the
	// environment variables that its functions need. It may be nil.
	Simulate func(Host) (env []string, err error)
}

// Host is passed to a room that starts its simulators.
type Host struct {
	*Fleet // its API answers once Start has returned
	url    string
	mux    *http.ServeMux
}

// Serve serves a simulator and returns its URL, to which the handler's paths are
// relative. The name must be unique in the fleet.
func (h Host) Serve(name string, simulator http.Handler) (url string) {
	h.simulators[name] = simulator
	if h.Faults != nil {
		simulator = h.Faults.Watch(simulator)
	}

	h.mux.Handle("/"+name+"/", http.StripPrefix("/"+name, simulator))

	return h.url + "/" + name
}

// Simulator returns the simulator that a room serves under a name, nil if there is none.
func (f *Fleet) Simulator(name string) http.Handler { return f.simulators[name] }

// OnActivityStart calls do whenever a push has started a Live Activity. It must be
// called before Start returns.
func (h Host) OnActivityStart(do func(context.Context, apns.Start)) {
	h.started = append(h.started, do)
}

// apps returns the bundle ids of the rooms' apps: the one with channels, and the
// others.
func (f *Fleet) apps() (channels string, others []string) {
	for _, room := range f.Rooms {
		switch {
		case room.Channels:
			channels = room.App
		case room.App != "":
			others = append(others, room.App)
		}
	}

	return channels, others
}
