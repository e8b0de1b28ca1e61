package member

import (
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// removes are the access patterns of the removal of a member.
var removes = []spec.Access{tables.GetMember, tables.RemoveMember, tables.AmendRanking, tables.ReadLeague, tables.LeaveLeague,
	tables.EndLeague, tables.ListDevices, tables.MembersDevices, tables.DropDevice}
