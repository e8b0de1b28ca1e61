package pickem

import (
	"time"

	"matchday/pkg/spec"
)

// table holds all of the room. Its keys are in the package's description.
var table = spec.Table{
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
	listEvents   = table.On("Get events", "PK=EVENT, newest first", perScreen, spec.Query)
	getStandings = table.OnIndex("GSI", "Get standings", "GSI_PK=STANDINGS#{year}, highest first", perScreen, spec.Query)
	getCard      = table.OnIndex("GSI", "Get event listings and predictions", "GSI_PK=EVENT#{eventId}, filter attribute_not_exists(belongsto) OR belongsto = :me", perScreen, spec.Query)
	getResults   = table.OnIndex("GSI", "Get event listings, scores and all predictions", "GSI_PK=EVENT#{eventId}, highest first", perScreen, spec.Query)
	getMember    = table.On("Get a user's details", "PK=USER#{userId}, latest first", perScreen, spec.Query)
)

// What members write.
var (
	findEvent      = table.On("Find event", "PK=EVENT, SK=EVENT#{eventId}", onUser, spec.GetItem)
	readCard       = table.On("Read card", "PK=EVENT#{eventId}, SK begins with MATCH#", onUser, spec.Query)
	savePrediction = table.On("Save prediction", "PK=USER#{userId}, SK=EVENT#{eventId}, if the event is open, its card unchanged and the user a member", onUser, spec.PutItem, spec.ConditionCheckItem)
	dropPrediction = table.On("Drop prediction", "PK=USER#{userId}, SK=EVENT#{eventId}, if the event is open", onUser, spec.DeleteItem, spec.ConditionCheckItem)
	saveMember     = table.On("Save member", "PK=USER#{userId}, SK=USER, unless it was deleted", onUser, spec.UpdateItem)
	findMember     = table.On("Find member", "PK=USER#{userId}, SK=USER", onUser, spec.GetItem)
	renameCopies   = table.On("Rename copies", "PK=USER#{userId}, each item that shows the name", onUser, spec.UpdateItem)
	registerDevice = table.On("Register device", "PK=DEVICE#{token}, SK=DEVICE, if the user is a member", spec.Rate{Driver: spec.UserAction, Note: "on app launch"}, spec.PutItem, spec.ConditionCheckItem)
	dropDevice     = table.On("Drop device", "PK=DEVICE#{token}, SK=DEVICE, if it is the user's", onUser, spec.DeleteItem)
)

// What administrators write.
var (
	createEvent     = table.On("Create event", "PK=EVENT, SK=EVENT#{eventId}, absent", byAdmin, spec.PutItem)
	changeEvent     = table.On("Change event", "PK=EVENT, SK=EVENT#{eventId}, by its present state", byAdmin, spec.UpdateItem)
	changeCard      = table.On("Change card", "PK=EVENT#{eventId}, SK=MATCH#{matchId}, with the event's cardRev", byAdmin, spec.PutItem, spec.UpdateItem, spec.DeleteItem)
	setResult       = table.On("Set result", "PK=EVENT#{eventId}, SK=MATCH#{matchId}, with the event's resultsRev and a LOG# item", byAdmin, spec.PutItem, spec.UpdateItem)
	listCorrections = table.On("List corrections", "PK=EVENT#{eventId}, SK begins with LOG#", perScreen, spec.Query)
	removeEvent     = table.On("Remove event", "PK=EVENT#{eventId} and the predictions on it (batches of 25), the event last", byAdmin, spec.Query, spec.BatchWriteItem, spec.DeleteItem)
	inviteMember    = table.On("Invite member", "PK=USER#{userId}, SK=USER, absent", byAdmin, spec.PutItem)
	removeMember    = table.On("Remove member", "PK=USER#{userId}: deletedAt of USER, then all the others (batches of 25)", byAdmin, spec.UpdateItem, spec.BatchWriteItem)
	membersDevices  = table.OnIndex("GSI", "Get a member's devices", "GSI_PK=DEVICES#{userId}, the last seen first", spec.Rate{Driver: spec.Message, Note: "for each member of a notice"}, spec.Query)
)

// What jobs do.
var (
	findOpenEvents = table.On("Find open events", "PK=EVENT, SK >= 400 days ago", perMinute, spec.Query)
	allMembers     = table.OnIndex("GSI", "Get all members", "GSI_PK=USER", spec.Rate{Driver: spec.Job, Note: "for a reminder or a rebuilding"}, spec.Query)
	entriesOf      = table.OnIndex("GSI", "Get entries", "GSI_PK=EVENT#{eventId}, GSI_SK begins with SCORE#", spec.Rate{Driver: spec.Job, Note: "for a reminder or a scoring"}, spec.Query)
	scoreMember    = table.On("Score member", "PK=USER#{userId}: prediction, standings and USER, by its rev", perScore, spec.UpdateItem, spec.PutItem, spec.DeleteItem)
	findReminded   = table.On("Find reminded", "PK=NOTICE#{noticeId}, SK=DONE", perQuarter, spec.GetItem)
	markNotice     = table.On("Mark notice", "PK=NOTICE#{noticeId}, SK=USER#{userId}, unless another run has; or DONE", spec.Rate{Driver: spec.Message, Note: "for each member of a notice"}, spec.PutItem)
	unmarkNotice   = table.On("Unmark notice", "PK=NOTICE#{noticeId}, SK=USER#{userId}, of this run", spec.Rate{Driver: spec.Message, Note: "when Apple cannot be reached"}, spec.DeleteItem)
)

// The leagues of members.
var (
	createLeague    = table.On("Create league", "PK=LEAGUE#{leagueId}, its CODE#, and the owner as in Join league", onUser, spec.PutItem, spec.UpdateItem)
	findLeague      = table.On("Find league", "PK=LEAGUE#{leagueId}, SK=LEAGUE; PK=CODE#{code}, SK=CODE", onUser, spec.GetItem)
	joinLeague      = table.On("Join league", "PK=USER#{userId}, SK=LEAGUE#{leagueId} and its standings, by the member's rev; PK=LEAGUE#{leagueId}, SK=MEMBER#{userId}, if it has room", onUser, spec.PutItem, spec.UpdateItem)
	leaveLeague     = table.On("Leave league", "what Join league wrote, by the member's rev; LEAGUE, by its owner", onUser, spec.DeleteItem, spec.UpdateItem, spec.ConditionCheckItem)
	leagueRoster    = table.On("Get roster", "PK=LEAGUE#{leagueId}, SK begins with MEMBER#", onUser, spec.Query)
	myLeagues       = table.On("Get my leagues", "PK=USER#{userId}, SK begins with LEAGUE#", perScreen, spec.Query)
	checkMembership = table.On("Check membership", "PK=USER#{userId}, SK=LEAGUE#{leagueId}", perScreen, spec.GetItem)
	leagueMembers   = table.OnIndex("GSI", "Get league", "GSI_PK=LEAGUE#{leagueId}", perScreen, spec.Query)
	leagueStandings = table.OnIndex("GSI", "Get league standings", "GSI_PK=STANDINGS#{leagueId}#{year}, highest first", perScreen, spec.Query)
	renewCode       = table.On("Renew code", "PK=CODE#{code}, SK=CODE, and LEAGUE, if the user owns it", onUser, spec.PutItem, spec.UpdateItem, spec.DeleteItem)
	endLeague       = table.On("End league", "PK=LEAGUE#{leagueId}, SK=LEAGUE, and its CODE#, if the user owns it", onUser, spec.UpdateItem, spec.DeleteItem)
)

// The metrics that the functions emit.
var (
	scoresBehind     = spec.Metric{Name: "ScoresBehind", Unit: spec.Count} // events that wait for their scores for too long
	noticesDelivered = spec.Metric{Name: "NoticesDelivered", Unit: spec.Count}
	noticesGone      = spec.Metric{Name: "NoticesGone", Unit: spec.Count}
	noticesRetried   = spec.Metric{Name: "NoticesRetried", Unit: spec.Count}
)
