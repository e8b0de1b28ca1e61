package member

import (
	"time"

	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	GetMeFunction = spec.Function{
		Name:   "pickem/get-me",
		Does:   "The caller's name, standings, leagues and predictions.",
		IfDown: "The own profile does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetUserFunction = spec.Function{
		Name:   "pickem/get-user",
		Does:   "Another member's name, standings and scores.",
		IfDown: "The profiles of others do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/users/{userId}"},
		Uses:   []spec.Access{tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What members write.
var (
	UpdateMeFunction = spec.Function{
		Name:   "pickem/update-me",
		Does:   "Names the caller, who is a member from then on.",
		IfDown: "Nobody can change a name.",
		On:     spec.Route{Method: "PATCH", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.SaveMember, tables.GetMember, tables.FindMember, tables.RenameCopies},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	InviteUserFunction = spec.Function{
		Name:   "pickem/invite-user",
		Does:   "Invites somebody: makes the account, which Cognito writes to, and the member.",
		IfDown: "Nobody can be invited.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/users"},
		Uses:   []spec.Access{tables.InviteMember}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteUserFunction = spec.Function{
		Name:   "pickem/delete-user",
		Does:   "Removes a member with all that is the member's, and the account.",
		IfDown: "Nobody can be removed.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/users/{userId}"},
		Uses:   []spec.Access{tables.GetMember, tables.RemoveMember, tables.FindLeague, tables.LeagueRoster, tables.LeaveLeague, tables.MembersDevices, tables.DropDevice}, Users: []spec.UserOp{spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
)

// The jobs.
var (
	OnUserConfirmedFunction = spec.Function{
		Name:   "pickem/on-user-confirmed",
		Does:   "Makes whoever has signed up a member.",
		IfDown: "Signing up shows an error; the account is there, and giving a name makes it a member.",
		On:     spec.UserConfirmed{},
		Uses:   []spec.Access{tables.InviteMember},
		Memory: 128, Timeout: 5 * time.Second, // Cognito waits for no longer
	}
)
