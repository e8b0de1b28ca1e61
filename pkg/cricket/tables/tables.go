package tables

import (
	"time"

	"matchday/pkg/spec"
)

// Broadcast channels. The seed does not have this table.
var (
	Channels = spec.Table{Name: "cricket-channels", Key: spec.Key{Partition: "matchId", Sort: "view"}}

	ChannelsOfMatch = Channels.On("Get channels of match", "PK=matchId", perChange, spec.Query)
	ClaimChannel    = Channels.On("Claim channel", "PK=matchId, SK=view, absent or given up",
		spec.Rate{Driver: spec.UserAction, Note: "for an activity on a channel"}, spec.GetItem, spec.UpdateItem)
	RemoveChannel = Channels.On("Remove channel", "PK=matchId, SK=view, the same channel or claim", perMatchEnd, spec.DeleteItem)
	AllChannels   = Channels.On("Get all channels", "full scan (3 per match at most)", spec.Every(time.Hour), spec.Scan)
)

// TimeLayout is the layout of startTime and startingAt: UTC with a fixed width, so
// that they sort in order of time.
const TimeLayout = "2006-01-02T15:04:05Z"

// Progress of each alert through the followers. The seed does not have this table.
var (
	Alerts = spec.Table{Name: "cricket-alerts", Key: spec.Key{Partition: "matchId", Sort: "part"}, TTL: "ttl"}

	GetAlert = Alerts.On("Get alert", "PK=matchId, SK=part",
		spec.Rate{Driver: spec.Message, Note: "for each part of the followers"}, spec.GetItem)
	RecordAlert = Alerts.On("Record alert", "PK=matchId, SK=part, after <= :after, not done",
		spec.Rate{Driver: spec.Message, Note: "for each page of followers"}, spec.UpdateItem)

	BatchGetPreferences = Preferences.On("Batch get preferences", "PK=userId (up to 100)",
		spec.Rate{Driver: spec.Message, Note: "for each page of followers"}, spec.BatchGetItem)
)

// Preferences of users. The seed does not have this table.
var (
	Preferences = spec.Table{Name: "cricket-preferences", Key: spec.Key{Partition: "userId"}, Busy: true}

	GetPreferences = Preferences.On("Get preferences", "PK=userId", spec.Rate{Driver: spec.Request, Note: "and for each alert"}, spec.GetItem)
	PutPreferences = Preferences.On("Put preferences", "PK=userId", onUserAction, spec.PutItem)
)

// The tables, with the names and keys of the seed. Where the seed has two names for
// one attribute, these are used: lockKey (not lockId), holder (not owner, which
// DynamoDB reserves), pushToken as the sort key of subscriptions, and matchTeamKey
// and cacheKey where the seed stores a composite key as matchId.
var (
	Fixtures = spec.Table{
		Name: "cricket-fixtures", Key: spec.Key{Partition: "matchId"},
		Indexes: []spec.Index{
			// Without lastSlot, polls, bodySum, liveUpdatedAt and missingSince, which polls change.
			{Name: "leagueCode-startTime-index", Key: spec.Key{Partition: "leagueCode", Sort: "startTime"}, Include: []string{
				"leagueId", "seasonId", "round", "type", "status", "localTeamId", "visitorTeamId", "venueName", "live", "archivedAt",
				"endingAt", "leftAt", "tossKey",
				"localTitle", "localShort", "visitorTitle", "visitorShort",
			}},
			{Name: "live-index", Key: spec.Key{Partition: "live", Sort: "startTime"}, KeysOnly: true},
		},
	}
	Teams       = spec.Table{Name: "cricket-teams", Key: spec.Key{Partition: "teamId"}}
	TeamSeasons = spec.Table{Name: "cricket-team-seasons", Key: spec.Key{Partition: "seasonId", Sort: "teamId"}}
	Leagues     = spec.Table{Name: "cricket-leagues", Key: spec.Key{Partition: "leagueId"}}
	Devices     = spec.Table{
		Name: "cricket-devices",
		Key:  spec.Key{Partition: "userId", Sort: "deviceToken"},
		TTL:  "expiresAt",
		Busy: true,
	}
	Follows = spec.Table{
		Name: "cricket-match-follows",
		Key:  spec.Key{Partition: "matchId", Sort: "userId"},
		TTL:  "expiresAt",
	}
	Subscriptions = spec.Table{
		Name: "cricket-activity-subscriptions",
		Key:  spec.Key{Partition: "matchId", Sort: "pushToken"},
		TTL:  "expiresAt",
	}
	Prematch = spec.Table{
		Name: "cricket-prematch-notifications",
		Key:  spec.Key{Partition: "matchId", Sort: "userId"},
		TTL:  "ttl",
	}
	Locks        = spec.Table{Name: "cricket-locks", Key: spec.Key{Partition: "lockKey"}, TTL: "expiresAt"}
	StateHashes  = spec.Table{Name: "cricket-state-hashes", Key: spec.Key{Partition: "matchTeamKey"}}
	Displays     = spec.Table{Name: "DisplayStateCache", Key: spec.Key{Partition: "cacheKey"}, TTL: "ttl"}
	FixtureCache = spec.Table{
		Name: "cricket-fixture-cache", Key: spec.Key{Partition: "matchId"}, TTL: "ttl",
		Indexes: []spec.Index{{Name: "leagueId-startingAt-index", Key: spec.Key{Partition: "leagueId", Sort: "startingAt"}}},
	}
	Processing = spec.Table{Name: "match-processing-state", Key: spec.Key{Partition: "matchId"}, TTL: "ttl"}
)

// Rates of the access patterns. A tick is due every 2.5 s.
var (
	perRequest   = spec.Rate{Driver: spec.Request}
	perTick      = spec.Rate{Driver: spec.Tick}
	perMatchTick = spec.Rate{Driver: spec.MatchTick}
	// seedsMatchTick is the seed's rate of what happens here for a change or a job at most.
	seedsMatchTick = spec.Rate{Driver: spec.MatchTick, Note: "in the seed"}
	perChange      = spec.Rate{Driver: spec.StateChange}
	perSync        = spec.Rate{Driver: spec.Sync}
	perJob         = spec.Rate{Driver: spec.Job}
	perMatchEnd    = spec.Rate{Driver: spec.MatchEnd}
	onUserAction   = spec.Rate{Driver: spec.UserAction}
	rarely         = spec.Rate{Driver: spec.AdminAction}
)

// The access patterns of the seed, one value for each row of its list.
var (
	GetFixture       = Fixtures.On("Get fixture by ID", "PK=matchId", perMatchTick, spec.GetItem)
	BatchGetFixtures = Fixtures.On("Batch get fixtures", "PK=matchId (up to 100)", perRequest, spec.BatchGetItem)
	FixturesByDate   = Fixtures.OnIndex("leagueCode-startTime-index", "Get matches by date range",
		"leagueCode = :code AND startTime BETWEEN :from AND :to", perRequest, spec.Query)
	StartingSoon = Fixtures.OnIndex("leagueCode-startTime-index", "Get starting-soon matches",
		"leagueCode = :code AND startTime BETWEEN :now AND :until, neither live nor archived",
		spec.Rate{Driver: spec.Period, Every: time.Minute, Note: "for each active league"}, spec.Query)
	ScanLive         = Fixtures.OnIndex("live-index", "Scan live fixtures", "live-index full scan", perTick, spec.Scan)
	BatchPutFixtures = Fixtures.On("Batch write fixtures", "PK=matchId (batches of 25)", perSync, spec.BatchWriteItem)
	UpdateFixture    = Fixtures.On("Update fixture fields", "PK=matchId, attribute_exists(matchId)", perMatchTick, spec.UpdateItem)
	ArchiveFixture   = Fixtures.On("Archive fixture", "PK=matchId, SET archivedAt, REMOVE liveUpdatedAt and live",
		spec.Rate{Driver: spec.MatchEnd, Note: "when the match leaves the feed"}, spec.UpdateItem)
	DeleteReplay = Fixtures.On("Delete replay fixture", "PK=matchId, replay and expired",
		spec.Rate{Driver: spec.MatchEnd, Note: "when a replay expires"}, spec.DeleteItem)
	ScanByLeague   = Fixtures.On("Get fixtures by league (admin)", "filter leagueId = :lid", rarely, spec.Scan)
	GetTeam        = Teams.On("Get team by ID", "PK=teamId", perRequest, spec.GetItem)
	AllTeams       = Teams.On("Get all teams", "full scan (< 100 items)", spec.Rate{Driver: spec.Request, Note: "cached"}, spec.Scan)
	BatchPutTeams  = Teams.On("Batch write teams", "PK=teamId (batches of 25)", perSync, spec.BatchWriteItem)
	UpdateTeam     = Teams.On("Update team fields", "PK=teamId, attribute_exists(teamId)", rarely, spec.UpdateItem)
	TeamsOfSeason  = TeamSeasons.On("Get teams for a season", "PK=seasonId", perRequest, spec.Query)
	PutSeasonTeams = TeamSeasons.On("Write season-team records", "PK=seasonId, SK=teamId (batches of 25)", perSync, spec.BatchWriteItem)
	GetLeague      = Leagues.On("Get league by ID", "PK=leagueId", perRequest, spec.GetItem)
	AllLeagues     = Leagues.On("Get all leagues", "full scan (< 30 items)", spec.Rate{Driver: spec.Request, Note: "cached"}, spec.Scan)
	ActiveLeagues  = Leagues.On("Get active leagues", "filter active = true", perJob, spec.Scan)
	PutLeague      = Leagues.On("Create/replace league", "PK=leagueId", perSync, spec.PutItem)
	UpdateLeague   = Leagues.On("Update league fields", "PK=leagueId, attribute_exists(leagueId)", rarely, spec.UpdateItem)
	DeleteLeague   = Leagues.On("Delete league", "PK=leagueId", rarely, spec.DeleteItem)
	GetDevice      = Devices.On("Get device for user", "PK=userId, limit 10", perRequest, spec.Query)
	RegisterDevice = Devices.On("Register device (upsert)",
		"PK=userId and PK=#TOKEN#{token}; delete those beyond ten and the token's former owner's, put this one",
		spec.Rate{Driver: spec.UserAction, Note: "on app launch"}, spec.Query, spec.DeleteItem, spec.UpdateItem)
	UpdatePushToStart = Devices.On("Update push-to-start token", "PK=userId, SK=deviceToken; PK=#TOKEN#{token}",
		spec.Rate{Driver: spec.UserAction, Note: "on token refresh"}, spec.GetItem, spec.UpdateItem)
	DeleteDevice = Devices.On("Delete device", "PK=userId, SK=deviceToken; PK=#TOKEN#{token}", onUserAction, spec.DeleteItem)
	CheckFollow  = Follows.On("Check if user follows match", "PK=matchId, SK=userId", perRequest, spec.GetItem)
	AllFollowers = Follows.On("Get all followers for match", "PK=matchId (paginated)",
		spec.Rate{Driver: spec.Message, Note: "for each alert of a match"}, spec.Query)
	FollowMatch = Follows.On("Follow a match",
		"PK=matchId, SK=userId; PK=#USER#{userId}, SK=#FOLLOWS; PK=#USER#{userId}, SK={startTime}/{matchId}",
		onUserAction, spec.GetItem, spec.BatchGetItem, spec.UpdateItem, spec.DeleteItem)
	UnfollowMatch = Follows.On("Unfollow a match", "PK=matchId, SK=userId; PK=#USER#{userId}, SK={startTime}/{matchId}",
		onUserAction, spec.GetItem, spec.DeleteItem)
	UpdateFollow  = Follows.On("Update follow team", "PK=matchId, SK=userId, attribute_exists(matchId)", onUserAction, spec.UpdateItem)
	RemoveFollows = Follows.On("Remove all follows for match", "PK=matchId, then batches of 25", perMatchEnd,
		spec.Query, spec.BatchWriteItem)
	AllSubscriptions = Subscriptions.On("Get all subscriptions for match", "PK=matchId (paginated)", perChange, spec.Query)
	RegisterActivity = Subscriptions.On("Register LA subscription", "PK=matchId, SK=pushToken; PK=#USER#{userId}, SK=matchId",
		spec.Rate{Driver: spec.UserAction, Note: "when iOS starts a Live Activity"}, spec.GetItem, spec.BatchGetItem, spec.UpdateItem)
	RemoveActivity = Subscriptions.On("Remove single subscription", "PK=matchId, SK=pushToken",
		spec.Rate{Driver: spec.UserAction, Note: "when iOS ends a Live Activity"}, spec.DeleteItem)
	RemoveOfUser = Subscriptions.On("Remove user's subscriptions for match",
		"PK=#USER#{userId}, SK=matchId; PK=matchId, SK=pushToken, userId = :userId", spec.Rate{Driver: spec.UserAction, Note: "on unfollow"},
		spec.GetItem, spec.DeleteItem)
	RemoveActivities = Subscriptions.On("Remove all subscriptions for match", "PK=matchId, then batches of 25", perMatchEnd,
		spec.Query, spec.BatchWriteItem)
	CheckReminder = Prematch.On("Check if notification sent", "PK=matchId, SK=userId", spec.Rate{Driver: spec.MatchStart}, spec.GetItem)
	MarkReminder  = Prematch.On("Mark notification sent",
		"PK=matchId, SK=userId, or PK={matchId}#{userId}, SK=#START#{userId}; with 48 h TTL",
		spec.Rate{Driver: spec.MatchStart, Note: "once for each user whose activity is started"}, spec.PutItem)
	ClaimReminders = Prematch.On("Claim reminders", "PK={matchId}#{userId}, SK=userId (batches of 100 and of 25)",
		spec.Rate{Driver: spec.MatchStart, Note: "for each page of followers"}, spec.BatchGetItem, spec.BatchWriteItem)
	AcquireLock = Locks.On("Acquire lock", "PK=lockKey, absent or expired", seedsMatchTick, spec.PutItem)
	ReleaseLock = Locks.On("Release lock", "PK=lockKey, holder = :holder", seedsMatchTick, spec.DeleteItem)
	ExtendLock  = Locks.On("Extend lock", "PK=lockKey, holder = :holder",
		spec.Rate{Driver: spec.Sync, Note: "while the work takes long"}, spec.UpdateItem)
	GetHash        = StateHashes.On("Get stored hash", "PK=matchTeamKey", seedsMatchTick, spec.BatchGetItem)
	PutHash        = StateHashes.On("Update stored hash", "PK=matchTeamKey", perChange, spec.PutItem)
	DeleteHash     = StateHashes.On("Delete hash", "PK=matchTeamKey", perMatchEnd, spec.DeleteItem)
	GetDisplay     = Displays.On("Get cached display state", "PK=cacheKey", perRequest, spec.GetItem)
	PutDisplay     = Displays.On("Set cached display state", "PK=cacheKey, with TTL", perChange, spec.PutItem)
	GetCached      = FixtureCache.On("Get cached fixture", "PK=matchId", perMatchTick, spec.GetItem)
	BatchGetCached = FixtureCache.On("Batch get cached fixtures", "PK=matchId (up to 100)", perRequest, spec.BatchGetItem)
	CachedByLeague = FixtureCache.OnIndex("leagueId-startingAt-index", "Get fixtures by league",
		"leagueId = :lid, filter ttl > :now", perRequest, spec.Query)
	AllCached      = FixtureCache.On("Get all cached fixtures", "full scan (30-50 items), attribute_exists(leagueId)", perSync, spec.Scan)
	PutCached      = FixtureCache.On("Put single fixture", "PK=matchId", perMatchTick, spec.PutItem)
	BatchPutCached = FixtureCache.On("Batch put fixtures", "PK=matchId (batches of 25)", perSync, spec.BatchWriteItem)
	EnrichCached   = FixtureCache.On("Update enrichment only", "PK={matchId}#names, attribute_exists(matchId)",
		spec.Rate{Driver: spec.Request, Note: "for a match page, at most every 10 minutes"}, spec.UpdateItem)
	GetProcessed = Processing.On("Get last processed ball ID", "PK=matchId", perRequest, spec.GetItem)
	PutProcessed = Processing.On("Set last processed ball ID", "PK=matchId, with TTL of 7 days, or of 50 years for a result",
		spec.Rate{Driver: spec.StateChange, Note: "for a new ball"}, spec.PutItem)
	Hydrate = Processing.On("Hydrate cache from DynamoDB", "PK=matchId per chunk",
		spec.Rate{Driver: spec.Request, Note: "for a timeline"}, spec.GetItem)
)

// Access patterns on tables of the seed that the seed does not have.
var (
	BatchGetProcessed = Processing.On("Get last processed ball ID with others", "PK=matchId",
		spec.Rate{Driver: spec.StateChange, Note: "unless it is in memory"}, spec.BatchGetItem)
	BatchGetDisplays = Displays.On("Batch get cached display states", "PK=cacheKey",
		spec.Rate{Driver: spec.StateChange, Note: "for each page of 1,000 activities"}, spec.BatchGetItem)
	CountRequest = Locks.On("Count request of the provider", "PK=budget:{name}, calls < :max or the period is over",
		spec.Rate{Driver: spec.Job, Note: "for each request for fixtures"}, spec.UpdateItem)
	CountPhones = Locks.On("Count Android phones of match", "PK=phones:{matchId}, ADD phones",
		spec.Rate{Driver: spec.UserAction, Note: "for one of 16 users"}, spec.UpdateItem)
	ReadPhones = Locks.On("Read Android phones of matches", "PK=phones:{matchId} (up to 100)",
		spec.Rate{Driver: spec.StateChange, Note: "every 30 s of a process"}, spec.BatchGetItem)
	ClaimSlot      = Locks.On("Claim slot", "PK=tick, slot < :slot", perTick, spec.UpdateItem)
	ListActivities = Subscriptions.On("Get user's subscriptions for match", "PK=#USER#{userId}, SK=matchId; PK=matchId, SK=pushToken",
		onUserAction, spec.GetItem, spec.BatchGetItem)
)

// What the room keeps of a user, for the export and the deletion of an account.
var (
	ofAccount = spec.Rate{Driver: spec.Message, Note: "of a deletion or an export of an account"}

	UsersDevices     = Devices.On("Get user's devices", "PK=userId; PK=#TOKEN#{token}", ofAccount, spec.Query, spec.GetItem)
	UsersPreferences = Preferences.On("Get user's preferences", "PK=userId", ofAccount, spec.GetItem)
	UsersFollows     = Follows.On("Get user's follows", "PK=#USER#{userId}; PK=matchId, SK=userId", ofAccount, spec.Query, spec.GetItem)
	UsersReminders   = Prematch.On("Get user's reminders", "PK={matchId}#{userId}, SK=userId or #START#{userId}", ofAccount, spec.GetItem)
	UsersActivities  = Subscriptions.On("Get user's subscriptions", "PK=#USER#{userId}; PK=matchId, SK=pushToken",
		ofAccount, spec.Query, spec.GetItem)
	ForgetDevices     = Devices.On("Forget user's devices", "PK=userId; PK=#TOKEN#{token}, owner = :userId", ofAccount, spec.DeleteItem)
	ForgetPreferences = Preferences.On("Forget user's preferences", "PK=userId", ofAccount, spec.DeleteItem)
	ForgetFollows     = Follows.On("Forget user's follows",
		"PK=matchId, SK=userId; PK=#USER#{userId}", ofAccount, spec.DeleteItem)
	ForgetReminders = Prematch.On("Forget user's reminders",
		"PK={matchId}#{userId}, SK=userId or #START#{userId}", ofAccount, spec.DeleteItem)
	ForgetActivities = Subscriptions.On("Forget user's subscriptions",
		"PK=matchId, SK=pushToken, userId = :userId; PK=#USER#{userId}", ofAccount, spec.DeleteItem)
)
