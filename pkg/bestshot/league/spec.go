package league

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

var checked = []spec.Access{account.CheckDeleted}

// reserved is the reserved concurrency of each function for the caller's leagues.
const reserved = 6

// own returns a function for the caller's leagues.
func own(name, does, ifDown, method, path string, uses []spec.Access, limits []spec.Limit, answers ...int) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   ifDown,
		On:       spec.Route{Method: method, Path: "/api/v2/leagues" + path, Auth: spec.User, Answers: answers},
		Uses:     uses,
		Limits:   limits,
		SQL:      []spec.SQLLogin{tables.Player},
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: reserved,
	}
}

// read returns a function that only reads leagues.
func read(name, does, ifDown, path string) spec.Function {
	f := own(name, does, ifDown, "GET", path, nil, nil)
	f.SQL = []spec.SQLLogin{tables.Reader}

	return f
}
