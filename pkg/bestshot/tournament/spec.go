package tournament

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// reader returns a function that members read with.
func reader(name, does, ifDown, path string) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   ifDown,
		On:       spec.Route{Method: "GET", Path: "/api/v2" + path, Auth: spec.User},
		SQL:      []spec.SQLLogin{tables.Reader},
		Caches:   []spec.CacheLogin{tables.CacheUser},
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: 12,
	}
}
