package tournament

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// reader returns a function that members read with. At most so many requests of it run at once: each may hold two of
// the connections of the database.
func reader(name, does, ifDown, path string, reserved int) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   ifDown,
		On:       spec.Route{Method: "GET", Path: "/api/v2" + path, Auth: spec.User},
		SQL:      []spec.SQLLogin{tables.Reader},
		Caches:   []spec.CacheLogin{tables.CacheUser},
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: reserved,
	}
}
