package ingest

import (
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// What the functions of administrators send to.
var (
	polls       = []spec.Queue{PollQueue}
	settlements = []spec.Queue{settlement.Queue}
)

// editor returns a function for administrators that enters matches, and makes stale what the cache has.
func editor(name, does, ifDown, method, path string, answers ...int) spec.Function {
	f := tables.AdminFunction(name, does, ifDown, method, path, nil, answers...)
	f.Caches, f.Limits = []spec.CacheLogin{tables.CacheUser}, []spec.Limit{maxEntered}

	return f
}
