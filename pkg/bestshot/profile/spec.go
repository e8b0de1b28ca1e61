package profile

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions.
var (
	GetHealthFunction = spec.Function{
		Name:   "bestshot/get-health",
		Does:   "Answers a monitor.",
		IfDown: "Monitors raise an alarm.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/health", Auth: spec.Public},
		Memory: 128, Timeout: 5 * time.Second,
	}
	ForgetUserFunction = spec.Function{
		Name:   "bestshot/forget-user",
		Does:   "Deletes what is kept of a user who has deleted the account.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: []spec.Queue{account.DoneQueue},
		Memory: 256, Timeout: time.Minute,
	}
	ExportUserFunction = spec.Function{
		Name:   "bestshot/export-user",
		Does:   "Hands out all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.Phones.List},
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}
)
