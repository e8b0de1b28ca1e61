package signin

import (
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions.
var (
	logout = []spec.Access{tables.ResolveSession, tables.DropSession, tables.WriteAudit, account.CheckDeleted}
)
