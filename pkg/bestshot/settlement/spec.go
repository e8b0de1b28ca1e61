package settlement

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// admin returns a function for administrators that also writes to the cache. It may read a whole
// leaderboard.
func admin(name, does, ifDown, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	f := tables.AdminFunction(name, does, ifDown, method, path, sends, answers...)
	f.Caches, f.Memory, f.Timeout = []spec.CacheLogin{tables.CacheUser}, 512, 28*time.Second

	return f
}

// ownQueue is what the functions of administrators send to.
var ownQueue = []spec.Queue{Queue}
