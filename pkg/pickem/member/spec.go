package member

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// What members read.
var (
	GetMeFunction = spec.Function{
		Name:   "pickem/get-me",
		Does:   "Returns the caller's name, standings, leagues and predictions, with ranks.",
		IfDown: "Members cannot open their own profile.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.GetMember, tables.GetNames, tables.GetRanks},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetUserFunction = spec.Function{
		Name:   "pickem/get-user",
		Does:   "Returns a member's name, standings and scores.",
		IfDown: "Members cannot open the profiles of other members.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/users/{userId}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// What members write.
var (
	UpdateMeFunction = spec.Function{
		Name:   "pickem/update-me",
		Does:   "Sets the caller's name.",
		IfDown: "Members cannot change their name.",
		On:     spec.Route{Method: "PATCH", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.SaveMember, tables.GetMember, tables.FindMember, tables.RenameCopies, tables.AmendRanking, tables.GetNames, tables.GetRanks, account.CheckDeleted},
		Limits: []spec.Limit{maxRenames},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	InviteUserFunction = spec.Function{
		Name:   "pickem/invite-user",
		Does:   "Invites a person: makes a member, and an account, which Cognito mails a password to.",
		IfDown: "Administrators cannot invite members.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/users", Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.InviteMember, account.CheckDeleted}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListUsersFunction = spec.Function{
		Name:   "pickem/list-users",
		Does:   "Lists the members.",
		IfDown: "Administrators cannot list the members.",
		On:     spec.Route{Method: "GET", Auth: spec.Admin, Path: "/admin/users"},
		Uses:   []spec.Access{tables.ListMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteUserFunction = spec.Function{
		Name:   "pickem/delete-user",
		Does:   "Removes a member and the member's data. The account stays.",
		IfDown: "Administrators cannot remove members.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/users/{userId}"},
		Uses:   removes, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}
)

// removes are the access patterns of the removal of a member.
var removes = []spec.Access{tables.GetMember, tables.RemoveMember, tables.AmendRanking, tables.ReadLeague, tables.LeaveLeague, tables.EndLeague, tables.ListDevices, tables.MembersDevices, tables.DropDevice}

// What the room of the accounts asks for.
var (
	ForgetUserFunction = spec.Function{
		Name:   "pickem/forget-user",
		Does:   "Deletes what the room has of a user who has deleted the account.",
		IfDown: "Predictions, leagues and phones of deleted users stay.",
		On:     account.Queue(room, account.Forget),
		Uses:   removes, Sends: []spec.Queue{score.Queue, account.DoneQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}
	ExportUserFunction = spec.Function{
		Name:   "pickem/export-user",
		Does:   "Hands out what the room has of a user.",
		IfDown: "Exports of users do not end.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.GetMember, tables.MembersDevices}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: 30 * time.Second,
	}
)
