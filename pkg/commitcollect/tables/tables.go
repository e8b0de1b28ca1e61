// Package tables is the room's four tables, with their indexes and every access pattern.
// The keys are listed in the description of package commitcollect.
package tables

import (
	"time"

	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// The tables.
var (
	// Main holds users, workouts, milestones and models.
	Main = spec.Table{
		Name: "CommitCollect", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "ttl",
		Indexes: []spec.Index{{Name: "GSI1", Key: spec.Key{Partition: "GSI1PK", Sort: "GSI1SK"}, KeysOnly: true}},
	}
	// Sessions holds sessions, and the states of sign-ins and of links to Strava.
	Sessions = spec.Table{
		Name: "CommitCollectSessions", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "expiresAtUtc",
		Indexes: []spec.Index{{Name: "GSI_UserSessions", Key: spec.Key{Partition: "GSI1PK", Sort: "GSI1SK"}, KeysOnly: true}},
	}
	// Audit holds what users and Strava did, for 90 days.
	Audit = spec.Table{
		Name: "CommitCollectAudit", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "ExpiresAt",
		Indexes: []spec.Index{
			{Name: "GSI1", Key: spec.Key{Partition: "GSI1PK", Sort: "GSI1SK"}},
			{Name: "GSI2", Key: spec.Key{Partition: "GSI2PK", Sort: "GSI2SK"}},
		},
	}
	// Idempotency holds the events of Strava that are or were handled.
	Idempotency = spec.Table{Name: "CommitCollectIdempotency", Key: spec.Key{Partition: "IdempotencyKey"}, TTL: "ttlEpoch"}
)

// How often the access patterns happen.
var (
	perRequest = spec.Rate{Driver: spec.Request}
	onUser     = spec.Rate{Driver: spec.UserAction}
	onSignIn   = spec.Rate{Driver: spec.UserAction, Note: "once in 30 days"}
	byAdmin    = spec.Rate{Driver: spec.AdminAction}
	perEvent   = spec.Rate{Driver: spec.Message, Note: "for each webhook of Strava"}
	perPage    = spec.Rate{Driver: spec.Message, Note: "for each page of a backfill"}
	perWorkout = spec.Rate{Driver: spec.Message, Note: "for each stored workout"}
	perPart    = spec.Rate{Driver: spec.Message, Note: "for each minted part"}
	rarely     = spec.Rate{Driver: spec.Message, Note: "of a deletion, an export or a revocation"}
	twiceADay  = spec.Every(12 * time.Hour)
)

// Sessions and sign-in.
var (
	ResolveSession = Sessions.On("Resolve session", "PK=SESSION#{id}, SK=META", perRequest, spec.GetItem)
	CreateSession  = Sessions.On("Create session", "PK=SESSION#{id}, SK=META", onSignIn, spec.PutItem)
	DropSession    = Sessions.On("Drop session", "PK=SESSION#{id}, SK=META", onSignIn, spec.DeleteItem)
	UserSessions   = Sessions.OnIndex("GSI_UserSessions", "Get a user's sessions", "GSI1PK=USER#{userId}", rarely, spec.Query)
	DropSessions   = Sessions.On("Drop a user's sessions", "PK=SESSION#{id}, SK=META (batches of 25)", rarely, spec.BatchWriteItem)
	PutState       = Sessions.On("Put state", "PK=STATE#{flow}#{state}, SK=META", onSignIn, spec.PutItem)
	TakeState      = Sessions.On("Take state", "PK=STATE#{flow}#{state}, SK=META, if it exists", onSignIn, spec.DeleteItem)
)

// Phones is where the phones that get notices are.
var Phones = device.In(Main, perPart)

// Profiles.
var (
	CreateProfile = Main.On("Create profile", "PK=USER#{userId}, SK=PROFILE, absent", onSignIn, spec.PutItem)
	GetProfile    = Main.On("Get profile", "PK=USER#{userId}, SK=PROFILE", perRequest, spec.GetItem)
	SaveProfile   = Main.On("Save profile", "PK=USER#{userId}, SK=PROFILE, if it exists", onUser, spec.UpdateItem)
)

// The link to Strava.
var (
	GetConnection = Main.On("Get connection", "PK=USER#{userId}, SK=STRAVA#CONNECTION", perRequest, spec.GetItem)
	LinkAthlete   = Main.On("Link athlete",
		"PK=STRAVA#ATHLETE#{athleteId}, SK=OWNER, absent or the user's; STRAVA#CONNECTION; PK=STRAVA#CONNECTED#{shard}, SK=USER#{userId}",
		onUser, spec.PutItem, spec.DeleteItem)
	UnlinkAthlete = Main.On("Unlink athlete", "what Link athlete wrote, if it is the user's", onUser, spec.DeleteItem)
	FindOwner     = Main.On("Find owner", "PK=STRAVA#ATHLETE#{athleteId}, SK=OWNER", perEvent, spec.GetItem)
	AthleteLookup = Main.OnIndex("GSI1", "Look up athlete",
		"GSI1PK=STRAVA#ATHLETE#{athleteId}, when it is connected already", onUser, spec.Query)
	LockRefresh = Main.On("Lock refresh",
		"PK=USER#{userId}, SK=STRAVA#CONNECTION, if nobody refreshes; then with the old refresh token; if it is broken, "+
			"PK=STRAVA#CONNECTED#{shard}, SK=USER#{userId}", perEvent, spec.UpdateItem)
	MarkSync     = Main.On("Mark sync", "PK=USER#{userId}, SK=STRAVA#CONNECTION, if the last was 15 minutes ago", onUser, spec.UpdateItem)
	AllConnected = Main.On("Get connected users", "PK=STRAVA#CONNECTED#{shard}", twiceADay, spec.Query)
	MarkFetch    = Main.On("Mark fetch", "PK=STRAVA#CONNECTED#{shard}, SK=USER#{userId}, if it exists", perPage, spec.UpdateItem)
	ReadBudget   = Main.On("Read budget", "PK=STRAVA#BUDGET, SK=META", perEvent, spec.GetItem)
	MarkNight    = Main.On("Mark night", "PK=STRAVA#BUDGET, SK=META, when users wait too long for a fetch, and when none does", twiceADay,
		spec.UpdateItem)
	TakeBudget = Main.On("Take budget", "PK=STRAVA#BUDGET, SK=META, if calls are left", perEvent, spec.UpdateItem)
	TakeCalls  = Main.On("Take a user's calls",
		"PK=USER#{userId}, SK=STRAVA#CALLS or STRAVA#EVENTS, if calls are left", perEvent, spec.UpdateItem)
	GetSubscription = Main.On("Get subscription", "PK=STRAVA#SUBSCRIPTION, SK=META", perEvent, spec.GetItem)
	PutSubscription = Main.On("Put subscription", "PK=STRAVA#SUBSCRIPTION, SK=META", byAdmin, spec.PutItem, spec.DeleteItem)
)

// Workouts. A ledger has what the rules need of the workouts of a month.
var (
	GetWorkout = Main.On("Get workout", "PK=USER#{userId}, SK=WORKOUT#STRAVA#{activityId} or PHONE#WORKOUT#{id}", perEvent,
		spec.GetItem)
	GetWorkouts = Main.On("Get workouts of a page",
		"PK=USER#{userId}, SK=WORKOUT#STRAVA#{activityId} or PHONE#WORKOUT#{id} (batches of 100)", perPage, spec.BatchGetItem)
	GetLedger     = Main.On("Get ledger", "PK=USER#{userId}, SK=LEDGER#{month} or PHONE#LEDGER#{month}", perEvent, spec.GetItem)
	StoreWorkouts = Main.On("Store workouts", "PK=USER#{userId}, SK=WORKOUT#STRAVA#{activityId}, unless newer; LEDGER#{month}, by its rev",
		perEvent, spec.PutItem, spec.UpdateItem)
	ListWorkouts = Main.On("List workouts",
		"PK=USER#{userId}, SK begins with WORKOUT#STRAVA# or PHONE#WORKOUT#, at most 3,000, some attributes", onUser, spec.Query)
	ReadLedgers   = Main.On("Read ledgers", "PK=USER#{userId}, SK from LEDGER#{month} or PHONE#LEDGER#{month}", perWorkout, spec.Query)
	LatestLedgers = Main.On("Read latest ledgers", "PK=USER#{userId}, SK begins with LEDGER# or PHONE#LEDGER#, newest first", perRequest,
		spec.Query)
	DropWorkouts = Main.On("Drop workouts",
		"PK=USER#{userId}, SK begins with WORKOUT#STRAVA#, and then with their ledgers as Store workouts", rarely, spec.Query,
		spec.DeleteItem, spec.PutItem)
)

// Uploads of phones.
var StoreUploads = Main.On("Store uploads",
	"PK=USER#{userId}, SK=PHONE#WORKOUT#{id}; PHONE#LEDGER#{month} and PHONE#UPLOADS, each by its rev", onUser,
	spec.GetItem, spec.PutItem, spec.DeleteItem)

// Models and milestones.
var (
	ListModels = Main.On("List models", "PK=MODEL#INDEX", perRequest, spec.Query)
	ReadModel  = Main.On("Get model", "PK=MODEL#{modelId}: META and PART#{n}", perRequest, spec.Query)
	SaveModel  = Main.On("Save model", "PK=MODEL#{modelId}, SK=META or PART#{n}, if META is unchanged; PK=MODEL#INDEX, SK=MODEL#{modelId}",
		byAdmin, spec.PutItem, spec.UpdateItem, spec.DeleteItem, spec.ConditionCheckItem)
	GetModel     = Main.On("Get model's description", "PK=MODEL#{modelId}, SK=META", onUser, spec.GetItem)
	PutMilestone = Main.On("Put milestone", "PK=USER#{userId}, SK=MILESTONE#{milestoneId}, absent; then once its message is sent", onUser,
		spec.GetItem, spec.PutItem, spec.UpdateItem)
	OpenMilestones = Main.On("Read open milestones",
		"PK=USER#{userId}, SK=LIST#MILESTONES, then SK=MILESTONE#{milestoneId} of each listed", perWorkout, spec.GetItem, spec.BatchGetItem)
	CloseMilestones = Main.On("Take closed milestones off the list", "PK=USER#{userId}, SK=LIST#MILESTONES, unchanged", perPart,
		spec.UpdateItem)
	DropMilestone = Main.On("Drop milestone", "PK=USER#{userId}, SK=MILESTONE#{milestoneId}, by its version, its awards and its share", onUser,
		spec.Query, spec.DeleteItem)
	ListMilestones = Main.On("List milestones", "PK=USER#{userId}, SK begins with MILESTONE#, only milestones", perRequest, spec.Query)
	GetMilestone   = Main.On("Get milestone", "PK=USER#{userId}, SK begins with MILESTONE#{milestoneId}", perRequest, spec.Query)
	GetAwards      = Main.On("Get awards", "PK=USER#{userId}, SK begins with MILESTONE#{milestoneId}#AWARD#", perRequest, spec.Query)
	ReadMilestone  = Main.On("Read milestone", "PK=USER#{userId}, SK=MILESTONE#{milestoneId}", perWorkout, spec.GetItem)
	SaveMilestone  = Main.On("Save milestone", "PK=USER#{userId}, SK=MILESTONE#{milestoneId}, by its version", perWorkout, spec.UpdateItem)
	MintParts      = Main.On("Mint parts", "Save milestone, and MILESTONE#{milestoneId}#AWARD#{n}, absent", perPart,
		spec.UpdateItem, spec.PutItem)
	MarkNoticed = Main.On("Mark noticed", "PK=USER#{userId}, SK=MILESTONE#{milestoneId}", perPart, spec.UpdateItem)
)

// Public pictures of milestones.
var (
	GetShare = Main.On("Get share", "PK=SHELF#{shareId}, SK=META", perRequest, spec.GetItem)
	PutShare = Main.On("Put share", "PK=SHELF#{shareId}, SK=META, absent; SK=MILESTONE#{milestoneId}, if it has none", onUser,
		spec.PutItem, spec.UpdateItem)
	EndShare = Main.On("End share", "PK=SHELF#{shareId}, SK=META; SK=MILESTONE#{milestoneId}, if it has this one", onUser,
		spec.DeleteItem, spec.UpdateItem)
	DropShares = Main.On("Drop a user's shares", "PK=SHELF#{shareId}, SK=META (batches of 25)", rarely, spec.BatchWriteItem)
)

// The audit trail, events of Strava, and what remains of a user.
var (
	WriteAudit  = Audit.On("Write audit", "PK=USER#{userId}, SK=AUDIT#{epoch}#{requestId}-{n}", onUser, spec.PutItem)
	ReadTrail   = Audit.On("Get a user's trail", "PK=USER#{userId}, newest first", perRequest, spec.Query)
	Correlation = Audit.OnIndex("GSI1", "Get a correlation", "GSI1PK=CORR#{correlationId}", byAdmin, spec.Query)
	EventsOf    = Audit.OnIndex("GSI2", "Get events of a type", "GSI2PK=EVENT#{type}#{yyyyMM}, newest first", byAdmin, spec.Query)
	CloseTrail  = Audit.On("Remove a user from the trail", "PK=USER#{userId} (batches of 25)", rarely, spec.Query, spec.BatchWriteItem)

	ClaimEvent  = Idempotency.On("Claim event", "IdempotencyKey, absent, RETRY, or its lease is over", perEvent, spec.UpdateItem)
	FinishEvent = Idempotency.On("Finish event", "IdempotencyKey, if the claim is the same", perEvent, spec.UpdateItem)
	RetryEvent  = Idempotency.On("Retry event", "IdempotencyKey, if it exists", byAdmin, spec.UpdateItem, spec.GetItem)

	Export = Main.On("Make export", "PK=USER#{userId}, SK=EXPORT, unless another request makes it", onUser,
		spec.GetItem, spec.PutItem, spec.UpdateItem)
	ReadUser = Main.On("Read all of a user", "PK=USER#{userId}", rarely, spec.Query)
	DropUser = Main.On("Drop all of a user", "PK=USER#{userId} (batches of 25)", rarely, spec.Query, spec.BatchWriteItem)
)
