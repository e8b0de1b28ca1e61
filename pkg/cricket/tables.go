package cricket

import (
	"time"

	"matchday/pkg/spec"
)

// The tables, named and keyed as the seed names them. Where it gives two names
// to one thing: lockKey (not lockId), holder (not owner, which is reserved),
// pushToken as the sort key of subscriptions, matchTeamKey and cacheKey where a
// composite stands under "matchId".
var (
	fixtures = spec.Table{
		Name: "cricket-fixtures", Key: spec.Key{Partition: "matchId"},
		Indexes: []spec.Index{
			{Name: "leagueCode-startTime-index", Key: spec.Key{Partition: "leagueCode", Sort: "startTime"}},
			{Name: "live-index", Key: spec.Key{Partition: "live", Sort: "startTime"}, KeysOnly: true},
		},
	}
	teams         = spec.Table{Name: "cricket-teams", Key: spec.Key{Partition: "teamId"}}
	teamSeasons   = spec.Table{Name: "cricket-team-seasons", Key: spec.Key{Partition: "seasonId", Sort: "teamId"}}
	leagues       = spec.Table{Name: "cricket-leagues", Key: spec.Key{Partition: "leagueId"}}
	devices       = spec.Table{Name: "cricket-devices", Key: spec.Key{Partition: "userId", Sort: "deviceToken"}, TTL: "expiresAt"}
	follows       = spec.Table{Name: "cricket-match-follows", Key: spec.Key{Partition: "matchId", Sort: "userId"}, TTL: "expiresAt"}
	subscriptions = spec.Table{Name: "cricket-activity-subscriptions", Key: spec.Key{Partition: "matchId", Sort: "pushToken"}, TTL: "expiresAt"}
	prematch      = spec.Table{Name: "cricket-prematch-notifications", Key: spec.Key{Partition: "matchId", Sort: "userId"}, TTL: "ttl"}
	locks         = spec.Table{Name: "cricket-locks", Key: spec.Key{Partition: "lockKey"}, TTL: "expiresAt"}
	stateHashes   = spec.Table{Name: "cricket-state-hashes", Key: spec.Key{Partition: "matchTeamKey"}}
	displays      = spec.Table{Name: "DisplayStateCache", Key: spec.Key{Partition: "cacheKey"}, TTL: "ttl"}
	fixtureCache  = spec.Table{
		Name: "cricket-fixture-cache", Key: spec.Key{Partition: "matchId"}, TTL: "ttl",
		Indexes: []spec.Index{{Name: "leagueId-startingAt-index", Key: spec.Key{Partition: "leagueId", Sort: "startingAt"}}},
	}
	processing = spec.Table{Name: "match-processing-state", Key: spec.Key{Partition: "matchId"}, TTL: "ttl"}
)

// How often the access patterns happen. A tick is due every 2.5 s.
var (
	perRequest   = spec.Rate{Driver: spec.Request}
	perTick      = spec.Rate{Driver: spec.Tick}
	perMatchTick = spec.Rate{Driver: spec.MatchTick}
	perChange    = spec.Rate{Driver: spec.StateChange}
	perSync      = spec.Rate{Driver: spec.Sync}
	perJob       = spec.Rate{Driver: spec.Job}
	perMatchEnd  = spec.Rate{Driver: spec.MatchEnd}
	onUserAction = spec.Rate{Driver: spec.UserAction}
	rarely       = spec.Rate{Driver: spec.AdminAction}
)

// The metrics that the functions emit.
var (
	slotsClaimed    = spec.Metric{Name: "SlotsClaimed", Unit: spec.Count}
	tickLag         = spec.Metric{Name: "TickLag", Unit: spec.Milliseconds} // from when a tick is due to when it begins
	tickTime        = spec.Metric{Name: "TickTime", Unit: spec.Milliseconds}
	matchesLive     = spec.Metric{Name: "MatchesLive", Unit: spec.Count}
	matchesChanged  = spec.Metric{Name: "MatchesChanged", Unit: spec.Count}
	matchesFailed   = spec.Metric{Name: "MatchesFailed", Unit: spec.Count}
	matchesArchived = spec.Metric{Name: "MatchesArchived", Unit: spec.Count}
	providerFaults  = spec.Metric{Name: "ProviderFaults", Unit: spec.Count}

	pushesDelivered  = spec.Metric{Name: "PushesDelivered", Unit: spec.Count}
	pushesGone       = spec.Metric{Name: "PushesGone", Unit: spec.Count}
	pushesRetried    = spec.Metric{Name: "PushesRetried", Unit: spec.Count}
	pushesUnreached  = spec.Metric{Name: "PushesUnreached", Unit: spec.Count}
	broadcasts       = spec.Metric{Name: "Broadcasts", Unit: spec.Count}
	broadcastsFailed = spec.Metric{Name: "BroadcastsFailed", Unit: spec.Count}
	appleFailures    = spec.Metric{Name: "AppleFailed", Unit: spec.Count} // messages whose pushes Apple took none of

	alertsDelivered  = spec.Metric{Name: "AlertsDelivered", Unit: spec.Count}
	alertsSuppressed = spec.Metric{Name: "AlertsSuppressed", Unit: spec.Count}
	alertsGone       = spec.Metric{Name: "AlertsGone", Unit: spec.Count}
	alertsRetried    = spec.Metric{Name: "AlertsRetried", Unit: spec.Count}
)

// The access patterns of the seed, one value for each of its rows.
var (
	getFixture        = fixtures.On("Get fixture by ID", "PK=matchId", perMatchTick, spec.GetItem)
	batchGetFixtures  = fixtures.On("Batch get fixtures", "PK=matchId (up to 100)", perRequest, spec.BatchGetItem)
	fixturesByDate    = fixtures.OnIndex("leagueCode-startTime-index", "Get matches by date range", "leagueCode = :code AND startTime BETWEEN :from AND :to", perRequest, spec.Query)
	startingSoon      = fixtures.OnIndex("leagueCode-startTime-index", "Get starting-soon matches", "leagueCode = :code AND startTime BETWEEN :now AND :until, neither live nor archived", spec.Rate{Driver: spec.Period, Every: time.Minute, Note: "for each active league"}, spec.Query)
	scanLive          = fixtures.OnIndex("live-index", "Scan live fixtures", "live-index full scan", perTick, spec.Scan)
	batchPutFixtures  = fixtures.On("Batch write fixtures", "PK=matchId (batches of 25)", perSync, spec.BatchWriteItem)
	updateFixture     = fixtures.On("Update fixture fields", "PK=matchId, attribute_exists(matchId)", perMatchTick, spec.UpdateItem)
	archiveFixture    = fixtures.On("Archive fixture", "PK=matchId, SET archivedAt, REMOVE liveUpdatedAt and live", spec.Rate{Driver: spec.MatchEnd, Note: "when the match leaves the feed"}, spec.UpdateItem)
	deleteReplay      = fixtures.On("Delete replay fixture", "PK=matchId, replay and expired", spec.Rate{Driver: spec.MatchEnd, Note: "when a replay expires"}, spec.DeleteItem)
	scanByLeague      = fixtures.On("Get fixtures by league (admin)", "filter leagueId = :lid", rarely, spec.Scan)
	getTeam           = teams.On("Get team by ID", "PK=teamId", perRequest, spec.GetItem)
	allTeams          = teams.On("Get all teams", "full scan (< 100 items)", spec.Rate{Driver: spec.Request, Note: "cached"}, spec.Scan)
	batchPutTeams     = teams.On("Batch write teams", "PK=teamId (batches of 25)", perSync, spec.BatchWriteItem)
	updateTeam        = teams.On("Update team fields", "PK=teamId, attribute_exists(teamId)", rarely, spec.UpdateItem)
	teamsOfSeason     = teamSeasons.On("Get teams for a season", "PK=seasonId", perRequest, spec.Query)
	putSeasonTeams    = teamSeasons.On("Write season-team records", "PK=seasonId, SK=teamId (batches of 25)", perSync, spec.BatchWriteItem)
	getLeague         = leagues.On("Get league by ID", "PK=leagueId", perRequest, spec.GetItem)
	allLeagues        = leagues.On("Get all leagues", "full scan (< 30 items)", spec.Rate{Driver: spec.Request, Note: "cached"}, spec.Scan)
	activeLeagues     = leagues.On("Get active leagues", "filter active = true", perJob, spec.Scan)
	putLeague         = leagues.On("Create/replace league", "PK=leagueId", perSync, spec.PutItem)
	updateLeague      = leagues.On("Update league fields", "PK=leagueId, attribute_exists(leagueId)", rarely, spec.UpdateItem)
	deleteLeague      = leagues.On("Delete league", "PK=leagueId", rarely, spec.DeleteItem)
	getDevice         = devices.On("Get device for user", "PK=userId, limit 1", perRequest, spec.Query)
	registerDevice    = devices.On("Register device (upsert)", "PK=userId and PK=#TOKEN#{token}; delete the others and the token's former owner's, put this one", spec.Rate{Driver: spec.UserAction, Note: "on app launch"}, spec.Query, spec.DeleteItem, spec.UpdateItem)
	updatePushToStart = devices.On("Update push-to-start token", "PK=userId, SK=deviceToken; PK=#TOKEN#{token}", spec.Rate{Driver: spec.UserAction, Note: "on token refresh"}, spec.GetItem, spec.UpdateItem)
	deleteDevice      = devices.On("Delete device", "PK=userId, SK=deviceToken; PK=#TOKEN#{token}", onUserAction, spec.DeleteItem)
	checkFollow       = follows.On("Check if user follows match", "PK=matchId, SK=userId", perRequest, spec.GetItem)
	allFollowers      = follows.On("Get all followers for match", "PK=matchId (paginated)", spec.Rate{Driver: spec.Message, Note: "for each alert of a match"}, spec.Query)
	followMatch       = follows.On("Follow a match", "PK=matchId, SK=userId", onUserAction, spec.UpdateItem)
	unfollowMatch     = follows.On("Unfollow a match", "PK=matchId, SK=userId, returning the old", onUserAction, spec.DeleteItem)
	updateFollow      = follows.On("Update follow team", "PK=matchId, SK=userId, attribute_exists(matchId)", onUserAction, spec.UpdateItem)
	removeFollows     = follows.On("Remove all follows for match", "PK=matchId, then batches of 25", perMatchEnd, spec.Query, spec.BatchWriteItem)
	allSubscriptions  = subscriptions.On("Get all subscriptions for match", "PK=matchId (paginated)", perChange, spec.Query)
	registerActivity  = subscriptions.On("Register LA subscription", "PK=matchId, SK=pushToken", spec.Rate{Driver: spec.UserAction, Note: "when iOS starts a Live Activity"}, spec.UpdateItem)
	removeActivity    = subscriptions.On("Remove single subscription", "PK=matchId, SK=pushToken", spec.Rate{Driver: spec.UserAction, Note: "when iOS ends a Live Activity"}, spec.DeleteItem)
	removeOfUser      = subscriptions.On("Remove user's subscriptions for match", "PK=matchId, filter userId = :userId", spec.Rate{Driver: spec.UserAction, Note: "on unfollow"}, spec.Query, spec.DeleteItem)
	removeActivities  = subscriptions.On("Remove all subscriptions for match", "PK=matchId, then batches of 25", perMatchEnd, spec.Query, spec.BatchWriteItem)
	checkReminder     = prematch.On("Check if notification sent", "PK=matchId, SK=userId", spec.Rate{Driver: spec.MatchStart}, spec.GetItem)
	markReminder      = prematch.On("Mark notification sent", "PK=matchId, SK=userId, with 48 h TTL", spec.Rate{Driver: spec.MatchStart, Note: "once for each user"}, spec.PutItem)
	acquireLock       = locks.On("Acquire lock", "PK=lockKey, absent or expired", perMatchTick, spec.PutItem)
	releaseLock       = locks.On("Release lock", "PK=lockKey, holder = :holder", perMatchTick, spec.DeleteItem)
	extendLock        = locks.On("Extend lock", "PK=lockKey, holder = :holder", spec.Rate{Driver: spec.Sync, Note: "while the work takes long"}, spec.UpdateItem)
	claimSlot         = locks.On("Claim slot", "PK=tick, slot < :slot", perTick, spec.UpdateItem)
	getHash           = stateHashes.On("Get stored hash", "PK=matchTeamKey", perMatchTick, spec.GetItem)
	putHash           = stateHashes.On("Update stored hash", "PK=matchTeamKey", perChange, spec.PutItem)
	deleteHash        = stateHashes.On("Delete hash", "PK=matchTeamKey", perMatchEnd, spec.DeleteItem)
	getDisplay        = displays.On("Get cached display state", "PK=cacheKey", perRequest, spec.GetItem)
	putDisplay        = displays.On("Set cached display state", "PK=cacheKey, with TTL", perChange, spec.PutItem)
	getCached         = fixtureCache.On("Get cached fixture", "PK=matchId", perMatchTick, spec.GetItem)
	batchGetCached    = fixtureCache.On("Batch get cached fixtures", "PK=matchId (up to 100)", perRequest, spec.BatchGetItem)
	cachedByLeague    = fixtureCache.OnIndex("leagueId-startingAt-index", "Get fixtures by league", "leagueId = :lid, filter ttl > :now", perRequest, spec.Query)
	allCached         = fixtureCache.On("Get all cached fixtures", "full scan (30-50 items), attribute_exists(leagueId)", perSync, spec.Scan)
	putCached         = fixtureCache.On("Put single fixture", "PK=matchId", perMatchTick, spec.PutItem)
	batchPutCached    = fixtureCache.On("Batch put fixtures", "PK=matchId (batches of 25)", perSync, spec.BatchWriteItem)
	enrichCached      = fixtureCache.On("Update enrichment only", "PK={matchId}#names, attribute_exists(matchId)", spec.Rate{Driver: spec.Request, Note: "for a match page, at most every 10 minutes"}, spec.UpdateItem)
	getProcessed      = processing.On("Get last processed ball ID", "PK=matchId", spec.Rate{Driver: spec.StateChange, Note: "unless it is in memory"}, spec.GetItem)
	putProcessed      = processing.On("Set last processed ball ID", "PK=matchId, with 7-day TTL", spec.Rate{Driver: spec.StateChange, Note: "for a new ball"}, spec.PutItem)
	hydrate           = processing.On("Hydrate cache from DynamoDB", "PK=matchId per chunk", spec.Rate{Driver: spec.Request, Note: "for a timeline"}, spec.GetItem)
)
