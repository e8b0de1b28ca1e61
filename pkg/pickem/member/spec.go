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
		Does:   "Returns the caller's name, standings, leagues and predictions.",
		IfDown: "Members cannot open their own profile.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetUserFunction = spec.Function{
		Name:   "pickem/get-user",
		Does:   "Returns a member's name, standings and scores.",
		IfDown: "Members cannot open the profiles of other members.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/users/{userId}"},
		Uses:   []spec.Access{tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What members write.
var (
	UpdateMeFunction = spec.Function{
		Name:   "pickem/update-me",
		Does:   "Sets the caller's name, and makes the caller a member if needed.",
		IfDown: "Users cannot set their name.",
		On:     spec.Route{Method: "PATCH", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.SaveMember, tables.GetMember, tables.FindMember, tables.RenameCopies},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	InviteUserFunction = spec.Function{
		Name:   "pickem/invite-user",
		Does:   "Invites a person: creates an account, which Cognito mails a password to, and the member.",
		IfDown: "Administrators cannot invite members.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/users"},
		Uses:   []spec.Access{tables.InviteMember}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeleteUserFunction = spec.Function{
		Name:   "pickem/delete-user",
		Does:   "Deletes a member, the member's data and the account.",
		IfDown: "Administrators cannot delete members.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/users/{userId}"},
		Uses:   []spec.Access{tables.GetMember, tables.RemoveMember, tables.FindLeague, tables.LeagueRoster, tables.LeaveLeague, tables.MembersDevices, tables.DropDevice}, Users: []spec.UserOp{spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
)

// The jobs.
var (
	OnUserConfirmedFunction = spec.Function{
		Name:   "pickem/on-user-confirmed",
		Does:   "Makes a user who has confirmed the sign-up a member.",
		IfDown: "Sign-up shows an error. The account exists, and setting a name makes it a member.",
		On:     spec.UserConfirmed{},
		Uses:   []spec.Access{tables.InviteMember},
		Memory: 128, Timeout: 5 * time.Second, // Cognito waits for no longer
	}
)
