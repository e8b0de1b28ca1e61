package accounts

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// rooms are those that keep something of users.
var rooms = account.Apps

// requestQueues are the queues of the rooms for requests of the kinds.
func requestQueues(kinds ...account.Kind) (all []spec.Queue) {
	for _, k := range kinds {
		for _, room := range rooms {
			all = append(all, account.Queue(room, k))
		}
	}
	return all
}

// Accounts holds all of the room. Its items are in the package's description.
var Accounts = spec.Table{
	Name: "accounts", Key: spec.Key{Partition: "userId", Sort: "item"}, TTL: "ttl",
	Indexes: []spec.Index{{Name: "open-index", Key: spec.Key{Partition: "open", Sort: "startedAt"}}},
}

var (
	onUser  = spec.Rate{Driver: spec.UserAction}
	rarely  = spec.Rate{Driver: spec.Message, Note: "of a deletion or an export"}
	perRead = spec.Rate{Driver: spec.Request}
)

// The access patterns.
var (
	createProfile = Accounts.On("Create profile", "PK=userId, SK=profile, absent", onUser, spec.PutItem)
	readAccount   = Accounts.On("Read account", "PK=userId", perRead, spec.Query)
	startJob      = Accounts.On("Start job", "PK=userId, SK=forget or export, absent or the last has ended", onUser, spec.PutItem)
	readJob       = Accounts.On("Read job", "PK=userId", rarely, spec.Query)
	recordPart    = Accounts.On("Record part", "PK=userId, SK={job}#{room}, if the job is the same", rarely, spec.PutItem, spec.ConditionCheckItem)
	endJob        = Accounts.On("End job", "PK=userId, SK=export, if the job is the same", rarely, spec.UpdateItem)
	dropItems     = Accounts.On("Drop items", "PK=userId (batches of 25), the job last", rarely, spec.BatchWriteItem)
	openJobs      = Accounts.OnIndex("open-index", "Get open jobs", "open = job, startedAt <= :time", spec.Every(15*time.Minute), spec.Query)

	bury   = account.Deleted.On("Bury user", "PK=userId", onUser, spec.PutItem)
	expire = account.Deleted.On("Expire tombstone", "PK=userId", rarely, spec.UpdateItem)
)

// jobsBehind counts jobs that were started more than an hour ago.
var jobsBehind = spec.Metric{Name: "JobsBehind", Unit: spec.Count}

// What users do.
var (
	OnUserConfirmedFunction = spec.Function{
		Name:   "accounts/on-user-confirmed",
		Does:   "Creates the profile of a user who has confirmed the sign-up.",
		IfDown: "Sign-up shows an error. The account exists, without a name.",
		On:     spec.UserConfirmed{},
		Uses:   []spec.Access{createProfile},
		Memory: 128, Timeout: 5 * time.Second, // Cognito waits for no longer
	}
	GetAccountFunction = spec.Function{
		Name:   "accounts/get-account",
		Does:   "Returns the caller's account.",
		IfDown: "Users cannot open their account.",
		On:     spec.Route{Method: "GET", Path: "/account", Auth: spec.User},
		Uses:   []spec.Access{readAccount},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteAccountFunction = spec.Function{
		Name:   "accounts/delete-account",
		Does:   "Deletes the caller's account, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts.",
		On:     spec.Route{Method: "DELETE", Path: "/account", Auth: spec.User, Answers: []int{202}},
		Uses:   []spec.Access{startJob, readAccount, bury}, Sends: requestQueues(account.Forget),
		Memory: 256, Timeout: 10 * time.Second,
	}
	GetExportFunction = spec.Function{
		Name:   "accounts/get-export",
		Does:   "Returns a link to all that is kept of the caller in all rooms, or begins to collect it.",
		IfDown: "Users cannot export their data.",
		On:     spec.Route{Method: "GET", Path: "/account/export", Auth: spec.User, Answers: []int{200, 202}},
		Uses:   []spec.Access{startJob, readAccount, account.CheckDeleted}, Sends: requestQueues(account.Export),
		Objects: []spec.ObjectAccess{account.Exports.On("exports/", spec.GetObject)},
		Memory:  256, Timeout: 10 * time.Second,
	}
)

// What administrators do.
var (
	InviteAccountFunction = spec.Function{
		Name:   "accounts/invite-account",
		Does:   "Invites a person: creates an account, which Cognito mails a password to.",
		IfDown: "Administrators cannot invite users.",
		On:     spec.Route{Method: "POST", Path: "/admin/accounts", Auth: spec.Admin},
		Uses:   []spec.Access{createProfile, readAccount}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListAccountsFunction = spec.Function{
		Name:   "accounts/list-accounts",
		Does:   "Returns the accounts, page by page.",
		IfDown: "Administrators cannot list the users.",
		On:     spec.Route{Method: "GET", Path: "/admin/accounts", Auth: spec.Admin},
		Users:  []spec.UserOp{spec.ListUsers},
		Memory: 256, Timeout: 10 * time.Second,
	}
)

var finishes = []spec.Access{readJob, endJob, dropItems, expire}

// The jobs.
var (
	DeleteUserFunction = spec.Function{
		Name:   "accounts/delete-user",
		Does:   "Deletes the account of a user who has asked for it in a room with sessions.",
		IfDown: "A deletion that was requested in such a room does not begin.",
		On:     account.DeleteQueue,
		Uses:   []spec.Access{startJob, readAccount, bury}, Sends: requestQueues(account.Forget),
		Memory: 256, Timeout: 10 * time.Second,
	}
	FinishJobFunction = spec.Function{
		Name:   "accounts/finish-job",
		Does:   "Records that a room has deleted or handed out a user's data, and ends the job when all have.",
		IfDown: "Deletions and exports do not end.",
		On:     account.DoneQueue,
		Uses:   append([]spec.Access{recordPart}, finishes...), Users: []spec.UserOp{spec.AdminDeleteUser, spec.AdminGetUser}, Objects: files,
		Memory: 512, Timeout: 30 * time.Second,
	}
	ResumeJobsFunction = spec.Function{
		Name:   "accounts/resume-jobs",
		Does:   "Sends the requests of deletions and exports again that were not done in time.",
		IfDown: "A deletion or an export that was interrupted does not end.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses:   append([]spec.Access{openJobs}, finishes...), Users: []spec.UserOp{spec.AdminDeleteUser, spec.AdminGetUser}, Objects: files,
		Sends: requestQueues(account.Forget, account.Export), Emits: []spec.Metric{jobsBehind},
		Memory: 512, Timeout: time.Minute,
	}

	files = []spec.ObjectAccess{account.Exports.On("parts/", spec.GetObject, spec.DeleteObject), account.Exports.On("exports/", spec.PutObject, spec.DeleteObject)}
)

// Room is the room's part of the fleet.
var Room = spec.Room{
	Name: "accounts",
	Functions: []spec.Function{
		GetAccountFunction, DeleteAccountFunction, GetExportFunction, InviteAccountFunction, ListAccountsFunction,
		OnUserConfirmedFunction, DeleteUserFunction, FinishJobFunction, ResumeJobsFunction,
	},
	Alarms: []spec.Alarm{{
		Name: "jobs-behind", Function: ResumeJobsFunction.Name, Metrics: []spec.Metric{jobsBehind}, Stat: "Sum", Bound: 0, Minutes: 1,
		Watches: "a deletion or an export that was requested more than an hour ago",
		IfDown:  "Data of a user who has deleted the account is still there, or an export is missing.",
	}},
}
