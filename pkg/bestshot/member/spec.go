package member

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions.
var (
	CreateMemberFunction = spec.Function{
		Name:   "bestshot/create-member",
		Does:   "Registers the caller as a member.",
		IfDown: "Nobody can register.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/member", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{account.CheckDeleted}, SQL: []spec.SQLLogin{tables.Player}, Caches: []spec.CacheLogin{tables.CacheUser},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}
	GetMemberFunction = spec.Function{
		Name:   "bestshot/get-member",
		Does:   "Returns the caller's member.",
		IfDown: "Members do not see their nickname.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/member", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Player}, Caches: []spec.CacheLogin{tables.CacheUser},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 12,
	}
	UpdateMemberFunction = spec.Function{
		Name:   "bestshot/update-member",
		Does:   "Changes the caller's nickname, also in leaderboards.",
		IfDown: "Nobody can change the nickname.",
		On:     spec.Route{Method: "PATCH", Path: "/api/v2/member", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted}, SQL: []spec.SQLLogin{tables.Player}, Caches: []spec.CacheLogin{tables.CacheUser},
		Limits: []spec.Limit{maxRenames},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 4,
	}
)
