package settlement

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// office is a function for administrators.
func office(name, does, down, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   down,
		On:       spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL:      []spec.SQLLogin{tables.Worker},
		Caches:   []spec.CacheLogin{tables.CacheUser},
		Sends:    sends,
		Memory:   512,
		Timeout:  28 * time.Second,
		Reserved: 2,
	}
}

var own = []spec.Queue{Queue}
