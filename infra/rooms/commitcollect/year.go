package commitcollect

import (
	"context"
	"errors"
	"slices"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/commitcollect/replay"
	"matchday/infra/sim/strava"
	"matchday/pkg/commitcollect"
	deployed "matchday/pkg/fleet"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The size of the world of a replay.
const (
	athletes = 20
	weeks    = 52
)

// Replay plays so many weeks of so many athletes. See package replay.
func Replay(ctx context.Context, cfg frame.Config, athletes, weeks int) error {
	if cfg.Folder != "" {
		return errors.New("CommitCollect plays a world of its own: leave out DIR, and give SEED for another world")
	}
	return replay.Run(ctx, replay.Config{
		Config: cfg, People: athletes, Weeks: weeks, Webhook: webhook, Room: fleet.Room{Spec: commitcollect.Room, App: Bundle},
		Others: others(),
		Simulate: func(in fleet.Host, cfg strava.Config) (*strava.Sim, []string, error) {
			h := &Host{}
			env, err := h.simulate(in, cfg)
			return h.Strava, env, err
		},
	})
}

// others returns of the other rooms what a deletion of an account needs: the accounts, and
// the functions that delete what rooms keep.
func others() (all []fleet.Room) {
	for _, room := range deployed.Rooms() {
		on := func(queue spec.Queue) func(spec.Function) bool {
			return func(fn spec.Function) bool { q, ok := fn.On.(spec.Queue); return ok && q.Name == queue.Name }
		}
		switch {
		case room.Name == commitcollect.Room.Name:
			continue
		case !slices.ContainsFunc(room.Functions, on(account.DeleteQueue)):
			forgets := slices.IndexFunc(room.Functions, on(account.Queue(room.Name, account.Forget)))
			room = spec.Room{Name: room.Name, Functions: room.Functions[forgets : forgets+1]}
		}
		all = append(all, fleet.Room{Spec: room})
	}
	return all
}
