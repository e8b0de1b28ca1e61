package accounts

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// requestQueues are the queues of the keepers for requests of the kinds.
func requestQueues(keepers []string, kinds ...account.Kind) (all []spec.Queue) {
	for _, k := range kinds {
		for _, room := range keepers {
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
	recordPart    = Accounts.On("Record part", "PK=userId, SK={job}#{room}, if the job is the same", rarely,
		spec.PutItem, spec.ConditionCheckItem)
	endJob    = Accounts.On("End job", "PK=userId, SK=export, if the job is the same", rarely, spec.UpdateItem)
	dropItems = Accounts.On("Drop items", "PK=userId (batches of 25), before the job", rarely, spec.BatchWriteItem)
	dropJob   = Accounts.On("Drop job", "PK=userId, SK=forget, with each forget#{room}", rarely, spec.DeleteItem)
	openJobs  = Accounts.OnIndex("open-index", "Get open jobs", "open = job, startedAt <= :time", spec.Every(15*time.Minute), spec.Query)

	expire = account.Deleted.On("Expire tombstone", "PK=userId", rarely, spec.UpdateItem)
)

// jobsBehind counts jobs that were started more than an hour ago.
var jobsBehind = spec.Metric{Name: "JobsBehind", Unit: spec.Count}

var finishes = []spec.Access{readJob, endJob, dropItems, dropJob, expire}

// The jobs.
var (
	files = []spec.ObjectAccess{account.Exports.On("parts/", spec.GetObject, spec.DeleteObject),
		account.Exports.On("exports/", spec.PutObject, spec.DeleteObject)}
)

const roomName = "accounts"

// Room is the room's part of a fleet in which the keepers are the rooms that keep data of users.
func Room(keepers ...string) app.Room {
	return app.NewRoom(spec.Room{
		Name: roomName,
		Data: data,
		Alarms: []spec.Alarm{{
			Name: "jobs-behind", Function: ResumeJobsFunction().Name, Metrics: []spec.Metric{jobsBehind}, Stat: "Sum", Bound: 0, Minutes: 1,
			Watches: "a deletion or an export that was requested more than an hour ago",
			IfDown:  "Data of a user who has deleted the account is still there, or an export is missing.",
		}},
	},
		GetAccountFunction(),
		DeleteAccountFunction(keepers...),
		GetExportFunction(keepers...),
		InviteAccountFunction(),
		ListAccountsFunction(),
		OnUserConfirmedFunction(),
		DeleteUserFunction(keepers...),
		FinishJobFunction(),
		ResumeJobsFunction(keepers...),
	)
}
