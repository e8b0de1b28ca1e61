package cricket

import (
	"time"

	"matchday/pkg/spec"
)

// Room is the cricket room's part of the fleet.
var Room = spec.Room{
	Name: "cricket",
	Functions: []spec.Function{
		PlanTicksFunction, TickFunction, PushActivitiesFunction, FinishMatchFunction, SweepChannelsFunction,
		SendAlertsFunction, DetectTossFunction, RemindPrematchFunction,
		GetMatchFunction, ListMatchesFunction, GetDisplayFunction, ListBallsFunction,
		ListTeamsFunction, GetTeamFunction, UpdateTeamFunction, ListSeasonTeamsFunction,
		ListLeaguesFunction, GetLeagueFunction, UpdateLeagueFunction, DeleteLeagueFunction, ListLeagueMatchesFunction,
		RegisterDeviceFunction, GetDeviceFunction, DeleteDeviceFunction, UpdatePushToStartFunction,
		FollowMatchFunction, GetFollowFunction, UpdateFollowFunction, UnfollowMatchFunction,
		StartActivityFunction, EndActivityFunction,
		GetPreferencesFunction, PutPreferencesFunction,
		SyncLeaguesFunction, SyncTeamsFunction, SyncFixturesFunction,
	},
	Machines: []spec.Machine{{
		Name: "cricket-live-loop", Definition: "live-loop.asl.json", Every: "cron(* * * * ? *)", // a rate would fire at any second of the minute
		Calls:  map[string]string{"PlanTicksArn": PlanTicksFunction.Name, "TickArn": TickFunction.Name},
		IfDown: "Every score stands still; the first tick after it is back catches up.",
	}},
	Settings: settings,
	Alarms:   alarms,
}

// Secrets of the room, by name.
const (
	sportMonksToken = "SPORTMONKS_TOKEN" // the provider's api_token
	apnsKey         = "APNS_KEY"         // Apple's .p8 key, PEM
)

// The queues of the room. The messages of each belong to the function it wakes.
var (
	activityQueue = spec.Queue{Name: "cricket-push-activities", MaxReceiveCount: 5, Batch: 1, Concurrency: 50}
	finishQueue   = spec.Queue{Name: "cricket-finish-match", MaxReceiveCount: 10, Batch: 1, Concurrency: 2}
)

const (
	readTimeout = 5 * time.Second
	jobTimeout  = time.Minute
)

// The live loop.
var (
	PlanTicksFunction = spec.Function{
		Name:   "cricket/plan-ticks",
		Does:   "Says whether the next minute needs ticks, and which.",
		IfDown: "No tick runs in the next minute: scores stand still, then catch up.",
		On:     spec.Task{}, Uses: []spec.Access{scanLive, activeLeagues, startingSoon},
		Memory: 128, Timeout: readTimeout,
	}
	TickFunction = spec.Function{
		Name:   "cricket/tick",
		Does:   "Polls the provider once for all matches, stores what changed and has it pushed.",
		IfDown: "Scores stand still on every lock screen; the first tick after it is back catches up.",
		On:     spec.Task{},
		Uses: []spec.Access{
			claimSlot, acquireLock, releaseLock, getFixture, updateFixture, scanLive, archiveFixture, deleteReplay,
			getCached, putCached, getProcessed, putProcessed, getHash, putHash, putDisplay,
		},
		Sends: []spec.Queue{activityQueue, alertQueue, finishQueue}, Secrets: []string{sportMonksToken},
		Emits:  []spec.Metric{slotsClaimed, tickLag, tickTime, matchesLive, matchesChanged, matchesFailed, matchesArchived, providerFaults},
		Memory: 512, Timeout: 8 * time.Second, Reserved: 10,
	}
	PushActivitiesFunction = spec.Function{
		Name:   "cricket/push-activities",
		Does:   "Pushes what changed in one match to its Live Activities, by channel and by token.",
		IfDown: "Lock screens stand still; the API goes on.",
		On:     activityQueue,
		Uses: []spec.Access{
			getFixture, getDisplay, getCached, allSubscriptions, removeActivity, removeActivities, channelsOfMatch, removeChannel,
		},
		Sends: []spec.Queue{activityQueue}, Secrets: []string{apnsKey},
		Emits:  []spec.Metric{pushesDelivered, pushesGone, pushesRetried, pushesUnreached, broadcasts, broadcastsFailed, appleFailures},
		Memory: 512, Timeout: 30 * time.Second,
	}
	FinishMatchFunction = spec.Function{
		Name:   "cricket/finish-match",
		Does:   "Ends a match that has left the feed, once the provider's own page of it says that it is over.",
		IfDown: "Activities of finished matches stay on the lock screen until Apple removes them.",
		On:     finishQueue,
		Uses: []spec.Access{
			getFixture, updateFixture, archiveFixture, acquireLock, releaseLock, getCached, putCached, getProcessed, putProcessed,
			getHash, putHash, putDisplay, deleteHash, removeFollows,
		},
		Sends: []spec.Queue{activityQueue, alertQueue, finishQueue}, Secrets: []string{sportMonksToken},
		Memory: 256, Timeout: 30 * time.Second,
	}
	SweepChannelsFunction = spec.Function{
		Name:   "cricket/sweep-channels",
		Does:   "Deletes the broadcast channels that are no match's any more.",
		IfDown: "Channels that a crash left add up; at Apple's limit of 10,000 new activities need a token.",
		On:     spec.Schedule("rate(1 hour)"),
		Uses:   []spec.Access{allChannels, getFixture, getDisplay, getCached, removeChannel}, Secrets: []string{apnsKey},
		Emits:  []spec.Metric{broadcasts, broadcastsFailed},
		Memory: 256, Timeout: jobTimeout,
	}
)

// The API.
var (
	GetMatchFunction = spec.Function{
		Name:   "cricket/get-match",
		Does:   "One match with its score in full.",
		IfDown: "Match pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}", Auth: spec.Public},
		Uses:   []spec.Access{getFixture, getCached, enrichCached, getTeam, getLeague, teamsOfSeason},
		Memory: 256, Timeout: readTimeout,
	}
	ListMatchesFunction = spec.Function{
		Name:   "cricket/list-matches",
		Does:   "Matches by id, or of a league, also between two dates.",
		IfDown: "The match list does not load.",
		On:     spec.Route{Method: "GET", Path: "/matches", Auth: spec.Public},
		Uses:   []spec.Access{batchGetFixtures, batchGetCached, fixturesByDate, cachedByLeague},
		Memory: 256, Timeout: readTimeout,
	}
	GetDisplayFunction = spec.Function{
		Name:   "cricket/get-display",
		Does:   "What a lock screen shows of a match, as a fan of a team or of neither.",
		IfDown: "A new activity shows no score until the next ball.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/display", Auth: spec.Public},
		Uses:   []spec.Access{getFixture, getDisplay, getCached, putDisplay},
		Memory: 256, Timeout: readTimeout,
	}
	ListBallsFunction = spec.Function{
		Name:   "cricket/list-balls",
		Does:   "The balls of a match in order, a page at a time.",
		IfDown: "The ball-by-ball page does not load.",
		On:     spec.Route{Method: "GET", Path: "/matches/{id}/balls", Auth: spec.Public},
		Uses:   []spec.Access{getFixture, getProcessed, hydrate},
		Memory: 256, Timeout: readTimeout,
	}
	StartActivityFunction = spec.Function{
		Name:   "cricket/start-activity",
		Does:   "Has a Live Activity on the caller's phone updated, by its token or by the match's channel.",
		IfDown: "New activities stand still; those already running go on.",
		On:     spec.Route{Method: "POST", Path: "/user/activity/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{getFixture, getCached, registerActivity, getDevice, claimChannel, removeChannel, updateFollow},
		Sends:  []spec.Queue{activityQueue}, Secrets: []string{apnsKey},
		Memory: 256, Timeout: 15 * time.Second, // one that opens a channel waits for Apple
	}
	EndActivityFunction = spec.Function{
		Name:   "cricket/end-activity",
		Does:   "Stops updating a Live Activity of the caller.",
		IfDown: "Dismissed activities are pushed to for a while; nobody sees it.",
		On:     spec.Route{Method: "DELETE", Path: "/user/activity/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{removeActivity},
		Memory: 256, Timeout: readTimeout,
	}
)

// The syncs.
var (
	SyncLeaguesFunction = spec.Function{
		Name:   "cricket/sync-leagues",
		Does:   "Copies the provider's leagues.",
		IfDown: "New leagues are missing.",
		On:     spec.Schedule("cron(10 3 * * ? *)"),
		Uses:   []spec.Access{allLeagues, putLeague, updateLeague}, Secrets: []string{sportMonksToken},
		Memory: 128, Timeout: jobTimeout,
	}
	SyncTeamsFunction = spec.Function{
		Name:   "cricket/sync-teams",
		Does:   "Copies the provider's teams, and who plays in each season.",
		IfDown: "New teams are missing from the team list.",
		On:     spec.Schedule("cron(20 3 * * ? *)"),
		Uses:   []spec.Access{allTeams, batchPutTeams, updateTeam, activeLeagues, fixturesByDate, teamsOfSeason, putSeasonTeams}, Secrets: []string{sportMonksToken},
		Memory: 128, Timeout: jobTimeout,
	}
	SyncFixturesFunction = spec.Function{
		Name:   "cricket/sync-fixtures",
		Does:   "Copies the provider's schedule of the active leagues, and has the end of what is over looked into.",
		IfDown: "New and moved matches are missing; those known go on.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{
			acquireLock, extendLock, releaseLock, activeLeagues, batchGetFixtures, batchPutFixtures, updateFixture,
			allCached, batchGetCached, batchPutCached, putCached,
		},
		Sends: []spec.Queue{finishQueue}, Secrets: []string{sportMonksToken},
		Memory: 256, Timeout: jobTimeout,
	}
)
