// Package commitcollect is what CommitCollect brings outside pkg: Strava's simulator and
// its environment in a local fleet, its tab on the console, sample events, smoke steps,
// bench and cost.
package commitcollect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms"
	"matchday/infra/rooms/commitcollect/bench"
	"matchday/infra/rooms/commitcollect/cost"
	"matchday/infra/rooms/commitcollect/smoke"
	"matchday/infra/sim/strava"
	"matchday/pkg/commitcollect"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/workout"
)

// Bundle is the bundle id of the CommitCollect app.
const Bundle = "app.matchday.commitcollect"

// Room plugs CommitCollect in.
var Room = rooms.Room{
	Room:   commitcollect.Room(),
	Local:  newLocal,
	Replay: func(ctx context.Context, cfg frame.Config) error { return Replay(ctx, cfg, athletes, weeks) },
	Smoke:  smoke.Run,
	Bench:  bench.Suite,
	Cost:   cost.Model,

	Retains: true,
}

// The application at the simulated Strava, and the secret of the webhook's address.
const (
	appID     = "4711"
	appSecret = "local-app"
	webhook   = "local-webhook"
)

// Host is CommitCollect in one local fleet, with its Strava.
type Host struct {
	fleet.Host
	Strava    *strava.Sim
	stravaURL string
}

// simulate starts Strava, and returns the environment of the room's functions.
func (h *Host) simulate(in fleet.Host, cfg strava.Config) ([]string, error) {
	h.Host = in
	cfg.Clock, cfg.ID, cfg.Secret = in.Clock, appID, appSecret
	h.Strava = strava.New(cfg)

	app, err := json.Marshal(map[string]string{"clientId": appID, "clientSecret": appSecret})
	if err != nil {
		return nil, err
	}

	h.stravaURL = in.Serve("strava", h.Strava)
	in.Handle("GET /app", http.RedirectHandler(console.Path(commitcollect.Room().Spec.Name), http.StatusFound)) // the app's page is the tab

	return []string{
		notice.APNSBundle + "=" + Bundle, link.StravaApp + "=" + string(app), link.StravaURL + "=" + h.stravaURL,
		workout.Webhook + "=" + webhook, link.TokenKeys + "=" + keyset(),
		milestone.SettlingMinutes + "=0", // a newcomer sees parts at once
	}, nil
}

// keyset returns the keys of the tokens in the table: the same in every run, because a
// fleet may keep its data.
func keyset() string {
	key := sha256.Sum256([]byte("CommitCollect on one machine"))
	return fmt.Sprintf(`{"primary":"local","keys":{"local":"%s"}}`, base64.StdEncoding.EncodeToString(key[:]))
}

// newLocal returns CommitCollect in one local fleet.
func newLocal() rooms.Local {
	h := &Host{}
	v := &visit{Host: h}

	return rooms.Local{
		Samples: h.samples(),
		Fleet: fleet.Room{Room: commitcollect.Room(), App: Bundle, Simulate: func(in fleet.Host) ([]string, error) {
			return h.simulate(in, strava.Config{})
		}},
		Panel: v.panel(),
		Demo:  v.demo,
	}
}
