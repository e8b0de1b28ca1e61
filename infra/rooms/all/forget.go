package all

import (
	"slices"

	"matchday/infra/local/fleet"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// Forgetting returns, of the rooms beside one, what a deletion of an account needs: the
// accounts, and the functions that delete what rooms keep.
func Forgetting(beside string) (all []fleet.Room) {
	on := func(queue spec.Queue) func(spec.Function) bool {
		return func(fn spec.Function) bool { q, ok := fn.On.(spec.Queue); return ok && q.Name == queue.Name }
	}

	for _, room := range Fleet() {
		s := room.Spec
		if s.Name == beside {
			continue
		}

		if !slices.ContainsFunc(s.Functions, on(account.DeleteQueue)) {
			s.Functions = s.Functions[slices.IndexFunc(s.Functions, on(account.Queue(s.Name, account.Forget))):][:1]
			s.Machines = nil
		}

		room.Spec = s
		all = append(all, room)
	}

	return all
}
