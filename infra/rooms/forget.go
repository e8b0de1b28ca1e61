package rooms

import (
	"slices"

	"matchday/infra/local/fleet"
	deployed "matchday/pkg/fleet"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// Forgetting returns, of the rooms beside one, what a deletion of an account needs: the
// accounts, and the functions that delete what rooms keep.
func Forgetting(beside string) (all []fleet.Room) {
	for _, room := range deployed.Rooms() {
		on := func(queue spec.Queue) func(spec.Function) bool {
			return func(fn spec.Function) bool { q, ok := fn.On.(spec.Queue); return ok && q.Name == queue.Name }
		}
		switch {
		case room.Name == beside:
			continue
		case !slices.ContainsFunc(room.Functions, on(account.DeleteQueue)):
			forgets := slices.IndexFunc(room.Functions, on(account.Queue(room.Name, account.Forget)))
			room = spec.Room{Name: room.Name, Functions: room.Functions[forgets : forgets+1]}
		}
		all = append(all, fleet.Room{Spec: room})
	}
	return all
}
