package tables

import (
	"time"

	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// Pickem holds all of the room. Its keys are in the package's description.
var Pickem = spec.Table{
	Name:    "pickem",
	Key:     spec.Key{Partition: "PK", Sort: "SK"},
	Indexes: []spec.Index{{Name: "GSI", Key: spec.Key{Partition: "GSI_PK", Sort: "GSI_SK"}}},
	TTL:     "ttl",
}

// How often the access patterns happen.
var (
	perScreen  = spec.Rate{Driver: spec.Request}
	onUser     = spec.Rate{Driver: spec.UserAction}
	byAdmin    = spec.Rate{Driver: spec.AdminAction, Note: "a few times an event"}
	perMinute  = spec.Every(time.Minute)
	perScore   = spec.Rate{Driver: spec.Message, Note: "for each member of an event that is scored"}
	perQuarter = spec.Every(15 * time.Minute)
)

// The access patterns of the five screens.
var (
	ListEvents = Pickem.On("Get events", "PK=EVENT, newest first", perScreen, spec.Query)
	GetRanking = Pickem.On("Get ranking", "PK=RANKING#{scope}, SK=PAGE#{n} or PLACES#{n}", perScreen, spec.Query)
	GetNames   = Pickem.On("Get names of events",
		"PK=EVENT, SK=EVENT#{eventId}, of each prediction of a member (batches of 100)", perScreen, spec.BatchGetItem)
	GetRanks = Pickem.On("Get own ranks",
		"PK=RANKING#{year or eventId}, SK=HEAD, then PLACES#{n} (batches of 100)", perScreen, spec.BatchGetItem)
	GetCard = Pickem.OnIndex("GSI", "Get event listings",
		"GSI_PK=EVENT#{eventId}, GSI_SK < SCORE#: the event and its card", perScreen, spec.Query)
	GetPick  = Pickem.On("Get own prediction", "PK=USER#{userId}, SK=EVENT#{eventId}", perScreen, spec.GetItem)
	GetPicks = Pickem.On("Get own predictions",
		"PK=USER#{userId}, SK=EVENT#{eventId} of each open event on a page", perScreen, spec.BatchGetItem)
	FindAnswer  = Pickem.On("Find answer", "PK=USER#{userId}, SK=ANSWER#{id}", onUser, spec.GetItem)
	CheckMember = Pickem.On("Check member", "PK=USER#{userId}, SK=USER, of the caller", perScreen, spec.GetItem)
	GetMember   = Pickem.On("Get a user's details", "PK=USER#{userId}, latest first", perScreen, spec.Query)
)

// What members write.
var (
	FindEvent      = Pickem.On("Find event", "PK=EVENT, SK=EVENT#{eventId}", onUser, spec.GetItem)
	ReadCard       = Pickem.On("Read card", "PK=EVENT#{eventId}, SK begins with MATCH#", onUser, spec.Query)
	SavePrediction = Pickem.On("Save prediction",
		"PK=USER#{userId}, SK=EVENT#{eventId}, if the event is open, its card unchanged and the user a member", onUser,
		spec.PutItem, spec.ConditionCheckItem)
	DropPrediction = Pickem.On("Drop prediction", "PK=USER#{userId}, SK=EVENT#{eventId}, if the event is open", onUser,
		spec.DeleteItem, spec.ConditionCheckItem)
	SaveMember   = Pickem.On("Save member", "PK=USER#{userId}, SK=USER, if it exists", onUser, spec.UpdateItem)
	FindMember   = Pickem.On("Find member", "PK=USER#{userId}, SK=USER", onUser, spec.GetItem)
	RenameCopies = Pickem.On("Rename copies",
		"PK=LEAGUE#{leagueId}, SK=MEMBER#{userId}, of each league of the member", onUser, spec.UpdateItem)
	RegisterDevice = Pickem.On("Register device", "PK=DEVICE#{token}, SK=DEVICE, and PK=USER#{userId}, SK=DEVICES, if the user is a member",
		spec.Rate{Driver: spec.UserAction, Note: "on app launch"}, spec.GetItem, spec.BatchGetItem, spec.PutItem,
		spec.UpdateItem, spec.ConditionCheckItem)
	ListDevices = Pickem.On("List devices", "PK=USER#{userId}, SK=DEVICES, then PK=DEVICE#{token}, SK=DEVICE (a batch)",
		spec.Rate{Driver: spec.Message, Note: "for each member of a notice"}, spec.GetItem, spec.BatchGetItem)
	DropDevice = Pickem.On("Drop device", "PK=DEVICE#{token}, SK=DEVICE, if it is the user's", onUser, spec.DeleteItem)
)

// Phones is where the phones that get notices are.
var Phones = device.Table{Register: RegisterDevice, List: ListDevices, Drop: DropDevice}

// What administrators write.
var (
	CreateEvent = Pickem.On("Create event", "PK=EVENT, SK=EVENT#{eventId}, absent", byAdmin, spec.PutItem)
	ChangeEvent = Pickem.On("Change event", "PK=EVENT, SK=EVENT#{eventId}, by its present state", byAdmin, spec.UpdateItem)
	ChangeCard  = Pickem.On("Change card", "PK=EVENT#{eventId}, SK=MATCH#{matchId}, with the event's cardRev", byAdmin, spec.PutItem,
		spec.UpdateItem, spec.DeleteItem)
	SetResult = Pickem.On("Set result", "PK=EVENT#{eventId}, SK=MATCH#{matchId}, with the event's resultsRev and a LOG# item", byAdmin,
		spec.PutItem, spec.UpdateItem)
	ListCorrections = Pickem.On("List corrections", "PK=EVENT#{eventId}, SK begins with LOG#", perScreen, spec.Query)
	RemoveEvent     = Pickem.On("Remove event", "PK=EVENT#{eventId}, its ranking and the predictions on it (batches of 25), the event last",
		byAdmin, spec.Query, spec.BatchWriteItem, spec.DeleteItem)
	ListMembers  = Pickem.OnIndex("GSI", "List members", "GSI_PK=USER, by id", byAdmin, spec.Query)
	InviteMember = Pickem.On("Invite member", "PK=USER#{userId}, SK=USER, absent", byAdmin, spec.PutItem)
	RemoveMember = Pickem.On("Remove member", "PK=USER#{userId}: deletedAt of USER, then all the others (batches of 25), USER last",
		byAdmin, spec.UpdateItem, spec.BatchWriteItem)
	MembersDevices = Pickem.OnIndex("GSI", "Get a member's devices", "GSI_PK=DEVICES#{userId}: phones that were registered before kit/device",
		spec.Rate{Driver: spec.Message, Note: "of a deletion or an export"}, spec.Query)
)

// What jobs do.
var (
	FindOpenEvents = Pickem.On("Find open events", "PK=EVENT, SK >= 400 days ago", perMinute, spec.Query)
	AllMembers     = Pickem.OnIndex("GSI", "Get all members", "GSI_PK=USER",
		spec.Rate{Driver: spec.Job, Note: "for a reminder or a rebuilding"}, spec.Query)
	EntriesOf = Pickem.OnIndex("GSI", "Get entries", "GSI_PK=EVENT#{eventId}, GSI_SK begins with SCORE#",
		spec.Rate{Driver: spec.Job, Note: "for a scoring"}, spec.Query)
	NamesOf = Pickem.On("Get names of members", "PK=USER#{userId}, SK=USER, of each member in a ranking (batches of 100)",
		spec.Rate{Driver: spec.Job, Note: "for a ranking"}, spec.BatchGetItem)
	MembersOf = Pickem.On("Get members of a scoring",
		"PK=USER#{userId}, SK=USER, EVENT#{eventId} and STANDINGS#{year}, of each member of an event or a ranking (batches of 100)",
		perScore, spec.BatchGetItem)
	GetStandings = Pickem.OnIndex("GSI", "Get standings", "GSI_PK=STANDINGS#{year}, highest first",
		spec.Rate{Driver: spec.Job, Note: "for a ranking"}, spec.Query)
	WriteRanking = Pickem.On("Write ranking", "PK=RANKING#{scope}: HEAD, and PAGE#{n} and PLACES#{n} unless they are newer",
		spec.Rate{Driver: spec.Job, Note: "after a scoring: two items for 50 members"}, spec.UpdateItem,
		spec.PutItem, spec.Query, spec.DeleteItem)
	AmendRanking = Pickem.On("Amend ranking", "PK=RANKING#{scope}, SK=PAGE#{n} that shows a member, by its rev",
		spec.Rate{Driver: spec.UserAction, Note: "for each table of a member with a new name, or a deleted one"}, spec.Query,
		spec.UpdateItem, spec.PutItem)
	ScoreMember = Pickem.On("Score member", "PK=USER#{userId}: prediction, standings and USER, by its rev", perScore, spec.UpdateItem,
		spec.PutItem, spec.DeleteItem)
	PicksOf = Pickem.On("Get picks of members", "PK=USER#{userId}, SK=EVENT#{eventId}, of each member (batches of 100)",
		spec.Rate{Driver: spec.Job, Note: "for a reminder"}, spec.BatchGetItem)
	FindReminded = Pickem.On("Find reminded", "PK=NOTICE#{noticeId}, SK=DONE or REACHED", perQuarter, spec.GetItem)
	MarkReminded = Pickem.On("Mark reminded", "PK=NOTICE#{noticeId}, SK=DONE or REACHED", perQuarter, spec.PutItem)
	FindNotices  = Pickem.On("Find notices", "PK=USER#{userId}, SK=NOTICE#{noticeId}, of each member of a message (a batch of 100)",
		spec.Rate{Driver: spec.Message, Note: "for each notice"}, spec.BatchGetItem)
	MarkNotices = Pickem.On("Mark notices", "PK=USER#{userId}, SK=NOTICE#{noticeId}, of each member who got it, if the user is a member",
		spec.Rate{Driver: spec.Message, Note: "for each member of a notice"}, spec.PutItem, spec.ConditionCheckItem)
)

// The leagues of members.
var (
	CreateLeague = Pickem.On("Create league", "PK=LEAGUE#{leagueId}, its CODE#, and the owner as in Join league", onUser,
		spec.PutItem, spec.UpdateItem)
	FindLeague = Pickem.On("Find league", "PK=LEAGUE#{leagueId}, SK=LEAGUE; PK=CODE#{code}, SK=CODE", onUser, spec.GetItem)
	JoinLeague = Pickem.On("Join league",
		"PK=USER#{userId}, SK=LEAGUE#{leagueId}, by the member's rev; PK=LEAGUE#{leagueId}, SK=MEMBER#{userId} CHANGE#{userId}, if it has room",
		onUser, spec.PutItem, spec.UpdateItem)
	LeaveLeague = Pickem.On("Leave league",
		"both items of the membership; LEAGUE, by its owner; the code of a league whose owner removes a member; CHANGE#{userId}", onUser,
		spec.PutItem, spec.DeleteItem, spec.UpdateItem, spec.ConditionCheckItem)
	MyLeagues       = Pickem.On("Get my leagues", "PK=USER#{userId}, SK begins with LEAGUE#", perScreen, spec.Query)
	CheckMembership = Pickem.On("Check membership", "PK=USER#{userId}, SK=LEAGUE#{leagueId}", perScreen, spec.GetItem)
	ReadLeague      = Pickem.On("Get league", "PK=LEAGUE#{leagueId}: the league, its members and their changes", perScreen, spec.Query)
	LeaguePoints    = Pickem.On("Get points of a league",
		"PK=USER#{userId}, SK=STANDINGS#{year} or EVENT#{eventId}, of each member of a league (a batch of 100)", perScreen, spec.BatchGetItem)
	TryCode   = Pickem.On("Try code", "PK=USER#{userId}, SK=CODES, unchanged", onUser, spec.GetItem, spec.UpdateItem, spec.DeleteItem)
	RenewCode = Pickem.On("Renew code", "PK=CODE#{code}, SK=CODE, and LEAGUE, if the user owns it", onUser, spec.PutItem,
		spec.UpdateItem, spec.DeleteItem)
	EndLeague = Pickem.On("End league", "PK=LEAGUE#{leagueId}, SK=LEAGUE, and its CODE#, if the user owns it; then its memberships "+
		"and its tables, PK=RANKING#LEAGUE#{leagueId}#{year or eventId} of each in PK=EVENT (batches of 25)", onUser, spec.Query,
		spec.UpdateItem, spec.BatchWriteItem, spec.DeleteItem)
	LeaguesWithTables = Pickem.OnIndex("GSI", "Get leagues with tables",
		"GSI_PK=LEAGUES, GSI_SK begins with LEAGUE#, or with CHANGE#: changes that their tables do not show", perMinute, spec.Query)
	AddTables = Pickem.On("Add tables of a league", "PK=LEAGUE#{leagueId}, SK=LEAGUE and CHANGE#*, if it has none",
		spec.Rate{Driver: spec.Job, Note: "once for each league of before, by a rebuilding"}, spec.UpdateItem, spec.PutItem)
	EndChange = Pickem.On("End change", "PK=LEAGUE#{leagueId}, SK=CHANGE#{userId}, unchanged; LEAGUE, if all its tables are written",
		spec.Rate{Driver: spec.Message, Note: "for each change of the members of a league"}, spec.UpdateItem, spec.DeleteItem)
)
