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
	deletions   = []spec.Queue{DeletionQueue}
)

// admin returns a function for administrators that also uses the cache.
func admin(name, does, ifDown, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	f := tables.AdminFunction(name, does, ifDown, method, path, sends, answers...)
	f.Caches = []spec.CacheLogin{tables.CacheUser}

	return f
}

// editor returns a function for administrators that enters matches.
func editor(name, does, ifDown, method, path string, answers ...int) spec.Function {
	f := admin(name, does, ifDown, method, path, nil, answers...)
	f.Limits = []spec.Limit{maxEntered}

	return f
}
