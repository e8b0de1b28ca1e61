package pickem

import (
	"time"

	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// Room is the pick'em room's part of the fleet.
var Room = spec.Room{
	Name: "pickem",
	Functions: []spec.Function{
		ListEventsFunction, GetEventFunction, GetResultsFunction, GetStandingsFunction, ListCorrectionsFunction,
		GetMeFunction, GetUserFunction, UpdateMeFunction, PutPredictionsFunction, DeletePredictionsFunction,
		RegisterDeviceFunction, DeleteDeviceFunction,
		CreateLeagueFunction, ListLeaguesFunction, JoinLeagueFunction, GetLeagueFunction, GetLeagueStandingsFunction,
		LeaveLeagueFunction, RenewCodeFunction, DeleteLeagueFunction,
		InviteUserFunction, DeleteUserFunction, CreateEventFunction, UpdateEventFunction, DeleteEventFunction,
		AddMatchFunction, UpdateMatchFunction, DeleteMatchFunction, OrderCardFunction, PutResultFunction, RequestScoreFunction, ListEntriesFunction,
		GetHealthFunction,
		LockEventsFunction, ScoreEventFunction, RebuildStandingsFunction, RemindFunction, SendNoticesFunction, OnUserConfirmedFunction,
	},
	Settings: push.Settings(apnsKey, apnsBundle, "the bundle id of the pick'em app"),
	Alarms: []spec.Alarm{{
		Name: "scores-behind", Function: LockEventsFunction.Name, Metrics: []spec.Metric{scoresBehind}, Stat: "Sum", Bound: 0, Minutes: 3,
		Watches: "an event that was to be scored more than ten minutes ago, and is not",
		IfDown:  "An event has no scores, or its points are those of results that were corrected since.",
	}},
}

const (
	// apnsKey is the room's secret: Apple's .p8 key, PEM.
	apnsKey = "APNS_KEY"
	// apnsBundle is a setting of the room's own: an environment variable.
	apnsBundle = "PICKEM_BUNDLE"
)

// The queues of the room. The messages of each belong to the function it wakes.
var (
	scoreQueue  = spec.Queue{Name: "pickem-score-event.fifo", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}
	noticeQueue = spec.Queue{Name: "pickem-send-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 10}
)

const (
	readTimeout  = 5 * time.Second
	writeTimeout = 10 * time.Second
	adminTimeout = 28 * time.Second // the API gives up after 29
)

func member(method, path string) spec.Route {
	return spec.Route{Method: method, Path: "/app" + path, Auth: spec.User}
}

func admin(method, path string) spec.Route {
	return spec.Route{Method: method, Path: "/admin" + path, Auth: spec.Admin}
}

// What members read.
var (
	ListEventsFunction = spec.Function{
		Name:   "pickem/list-events",
		Does:   "Events, the newest first.",
		IfDown: "The list of events does not load.",
		On:     member("GET", "/events"),
		Uses:   []spec.Access{listEvents},
		Memory: 256, Timeout: readTimeout,
	}
	GetEventFunction = spec.Function{
		Name:   "pickem/get-event",
		Does:   "An event with its card and the caller's prediction.",
		IfDown: "Nobody sees a card, so nobody can pick.",
		On:     member("GET", "/events/{eventId}"),
		Uses:   []spec.Access{getCard},
		Memory: 512, Timeout: readTimeout,
	}
	GetResultsFunction = spec.Function{
		Name:   "pickem/get-results",
		Does:   "A scored event with its results and everybody's scores.",
		IfDown: "The results of past events do not open.",
		On:     member("GET", "/events/{eventId}/results"),
		Uses:   []spec.Access{getResults},
		Memory: 512, Timeout: writeTimeout,
	}
	GetStandingsFunction = spec.Function{
		Name:   "pickem/get-standings",
		Does:   "The standings of a year, the highest first.",
		IfDown: "The league table does not load.",
		On:     member("GET", "/standings/{year}"),
		Uses:   []spec.Access{getStandings},
		Memory: 512, Timeout: readTimeout,
	}
	ListCorrectionsFunction = spec.Function{
		Name:   "pickem/list-corrections",
		Does:   "Who changed which result of an event, and when.",
		IfDown: "The log of an event's results does not load.",
		On:     member("GET", "/events/{eventId}/corrections"),
		Uses:   []spec.Access{findEvent, listCorrections},
		Memory: 256, Timeout: readTimeout,
	}
	GetMeFunction = spec.Function{
		Name:   "pickem/get-me",
		Does:   "The caller's name, standings, leagues and predictions.",
		IfDown: "The own profile does not load.",
		On:     member("GET", "/me"),
		Uses:   []spec.Access{getMember},
		Memory: 256, Timeout: readTimeout,
	}
	GetUserFunction = spec.Function{
		Name:   "pickem/get-user",
		Does:   "Another member's name, standings and scores.",
		IfDown: "The profiles of others do not load.",
		On:     member("GET", "/users/{userId}"),
		Uses:   []spec.Access{getMember},
		Memory: 256, Timeout: readTimeout,
	}
)

// What members write.
var (
	UpdateMeFunction = spec.Function{
		Name:   "pickem/update-me",
		Does:   "Names the caller, who is a member from then on.",
		IfDown: "Nobody can change a name.",
		On:     member("PATCH", "/me"),
		Uses:   []spec.Access{saveMember, getMember, findMember, renameCopies},
		Memory: 256, Timeout: writeTimeout,
	}
	PutPredictionsFunction = spec.Function{
		Name:   "pickem/put-predictions",
		Does:   "Saves the caller's prediction, if the event is not locked.",
		IfDown: "Nobody can pick. If it is down at the lock, move the lock.",
		On:     member("PUT", "/events/{eventId}/predictions"),
		Uses:   []spec.Access{findEvent, readCard, savePrediction},
		Memory: 256, Timeout: writeTimeout,
	}
	DeletePredictionsFunction = spec.Function{
		Name:   "pickem/delete-predictions",
		Does:   "Withdraws the caller's prediction, if the event is not locked.",
		IfDown: "Nobody can withdraw a prediction.",
		On:     member("DELETE", "/events/{eventId}/predictions"),
		Uses:   []spec.Access{dropPrediction},
		Memory: 256, Timeout: writeTimeout,
	}
	RegisterDeviceFunction = spec.Function{
		Name:   "pickem/register-device",
		Does:   "Has the caller's phone reminded.",
		IfDown: "New phones get no reminders.",
		On:     member("PUT", "/devices/{deviceToken}"),
		Uses:   []spec.Access{registerDevice},
		Memory: 256, Timeout: readTimeout,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "pickem/delete-device",
		Does:   "Has the caller's phone not reminded any more.",
		IfDown: "Phones that signed out get reminders.",
		On:     member("DELETE", "/devices/{deviceToken}"),
		Uses:   []spec.Access{dropDevice},
		Memory: 256, Timeout: readTimeout,
	}
)

// The leagues of members.
var (
	CreateLeagueFunction = spec.Function{
		Name:   "pickem/create-league",
		Does:   "Makes a league of the caller's, with a code that invites to it.",
		IfDown: "Nobody can make a league.",
		On:     member("POST", "/leagues"),
		Uses:   []spec.Access{getMember, createLeague},
		Memory: 256, Timeout: writeTimeout,
	}
	ListLeaguesFunction = spec.Function{
		Name:   "pickem/list-leagues",
		Does:   "The leagues of the caller.",
		IfDown: "The list of leagues does not load.",
		On:     member("GET", "/leagues"),
		Uses:   []spec.Access{myLeagues},
		Memory: 256, Timeout: readTimeout,
	}
	JoinLeagueFunction = spec.Function{
		Name:   "pickem/join-league",
		Does:   "Makes the caller a member of the league that a code invites to.",
		IfDown: "Nobody can join a league.",
		On:     member("POST", "/leagues/join"),
		Uses:   []spec.Access{findLeague, getMember, joinLeague},
		Memory: 256, Timeout: writeTimeout,
	}
	GetLeagueFunction = spec.Function{
		Name:   "pickem/get-league",
		Does:   "A league of the caller's with its members.",
		IfDown: "The members of leagues do not load.",
		On:     member("GET", "/leagues/{leagueId}"),
		Uses:   []spec.Access{checkMembership, leagueMembers},
		Memory: 256, Timeout: readTimeout,
	}
	GetLeagueStandingsFunction = spec.Function{
		Name:   "pickem/get-league-standings",
		Does:   "The standings of a league of the caller's in a year.",
		IfDown: "The tables of leagues do not load.",
		On:     member("GET", "/leagues/{leagueId}/standings/{year}"),
		Uses:   []spec.Access{checkMembership, leagueStandings},
		Memory: 256, Timeout: readTimeout,
	}
	LeaveLeagueFunction = spec.Function{
		Name:   "pickem/leave-league",
		Does:   "Takes the caller, or another by its owner's will, out of a league.",
		IfDown: "Nobody can leave a league.",
		On:     member("DELETE", "/leagues/{leagueId}/members/{userId}"),
		Uses:   []spec.Access{findLeague, checkMembership, renewCode, leagueRoster, getMember, leaveLeague},
		Memory: 256, Timeout: writeTimeout,
	}
	RenewCodeFunction = spec.Function{
		Name:   "pickem/renew-code",
		Does:   "Gives a league of the caller's a new code; the old invites nobody any more.",
		IfDown: "A code that got about cannot be taken back.",
		On:     member("POST", "/leagues/{leagueId}/code"),
		Uses:   []spec.Access{findLeague, checkMembership, renewCode},
		Memory: 256, Timeout: writeTimeout,
	}
	DeleteLeagueFunction = spec.Function{
		Name:   "pickem/delete-league",
		Does:   "Ends a league of the caller's.",
		IfDown: "Nobody can end a league.",
		On:     member("DELETE", "/leagues/{leagueId}"),
		Uses:   []spec.Access{findLeague, checkMembership, endLeague, leagueRoster, getMember, leaveLeague},
		Memory: 256, Timeout: adminTimeout,
	}
)

// What administrators do.
var (
	InviteUserFunction = spec.Function{
		Name:   "pickem/invite-user",
		Does:   "Invites somebody: makes the account, which Cognito writes to, and the member.",
		IfDown: "Nobody can be invited.",
		On:     admin("POST", "/users"),
		Uses:   []spec.Access{inviteMember}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: writeTimeout,
	}
	DeleteUserFunction = spec.Function{
		Name:   "pickem/delete-user",
		Does:   "Removes a member with all that is the member's, and the account.",
		IfDown: "Nobody can be removed.",
		On:     admin("DELETE", "/users/{userId}"),
		Uses:   []spec.Access{getMember, removeMember, findLeague, leagueRoster, leaveLeague, membersDevices, dropDevice}, Users: []spec.UserOp{spec.AdminGetUser, spec.AdminDeleteUser},
		Memory: 256, Timeout: adminTimeout,
	}
	CreateEventFunction = spec.Function{
		Name:   "pickem/create-event",
		Does:   "Announces an event.",
		IfDown: "No event can be announced.",
		On:     admin("POST", "/events"),
		Uses:   []spec.Access{createEvent},
		Memory: 256, Timeout: writeTimeout,
	}
	UpdateEventFunction = spec.Function{
		Name:   "pickem/update-event",
		Does:   "Renames or moves an event, locks or opens it, or sets its bonus.",
		IfDown: "An event cannot be moved; it locks as it was said.",
		On:     admin("PATCH", "/events/{eventId}"),
		Uses:   []spec.Access{findEvent, readCard, changeEvent, setResult}, Sends: []spec.Queue{scoreQueue},
		Memory: 256, Timeout: writeTimeout,
	}
	DeleteEventFunction = spec.Function{
		Name:   "pickem/delete-event",
		Does:   "Calls an event off that is not scored, with all predictions on it.",
		IfDown: "An event cannot be called off.",
		On:     admin("DELETE", "/events/{eventId}"),
		Uses:   []spec.Access{changeEvent, entriesOf, removeEvent},
		Memory: 256, Timeout: adminTimeout,
	}
	AddMatchFunction = spec.Function{
		Name:   "pickem/add-match",
		Does:   "Adds a match to the end of a card.",
		IfDown: "The card of an event cannot be made.",
		On:     admin("POST", "/events/{eventId}/matches"),
		Uses:   []spec.Access{findEvent, readCard, changeCard},
		Memory: 256, Timeout: writeTimeout,
	}
	UpdateMatchFunction = spec.Function{
		Name:   "pickem/update-match",
		Does:   "Changes a match; if its teams change, picks on it are void and who made them is told.",
		IfDown: "A match that has changed is shown as it was.",
		On:     admin("PUT", "/events/{eventId}/matches/{matchId}"),
		Uses:   []spec.Access{findEvent, readCard, changeCard, entriesOf}, Sends: []spec.Queue{scoreQueue, noticeQueue},
		Memory: 256, Timeout: adminTimeout,
	}
	DeleteMatchFunction = spec.Function{
		Name:   "pickem/delete-match",
		Does:   "Takes a match off a card, and tells who picked it.",
		IfDown: "A match that is off stays on the card.",
		On:     admin("DELETE", "/events/{eventId}/matches/{matchId}"),
		Uses:   []spec.Access{findEvent, readCard, changeCard, entriesOf}, Sends: []spec.Queue{noticeQueue},
		Memory: 256, Timeout: adminTimeout,
	}
	OrderCardFunction = spec.Function{
		Name:   "pickem/order-card",
		Does:   "Puts the matches of a card into an order.",
		IfDown: "The order of a card cannot be changed.",
		On:     admin("PUT", "/events/{eventId}/card"),
		Uses:   []spec.Access{findEvent, readCard, changeCard},
		Memory: 256, Timeout: writeTimeout,
	}
	PutResultFunction = spec.Function{
		Name:   "pickem/put-result",
		Does:   "Says who won a match, or that it is void; points of a scored event follow.",
		IfDown: "Results cannot be entered, so the event is not scored.",
		On:     admin("PUT", "/events/{eventId}/matches/{matchId}/result"),
		Uses:   []spec.Access{findEvent, readCard, setResult}, Sends: []spec.Queue{scoreQueue},
		Memory: 256, Timeout: writeTimeout,
	}
	RequestScoreFunction = spec.Function{
		Name:   "pickem/request-score",
		Does:   "Has an event scored whose results are all in.",
		IfDown: "The event is not scored.",
		On:     admin("POST", "/events/{eventId}/score"),
		Uses:   []spec.Access{findEvent, readCard, changeEvent}, Sends: []spec.Queue{scoreQueue},
		Memory: 256, Timeout: writeTimeout,
	}
	ListEntriesFunction = spec.Function{
		Name:   "pickem/list-entries",
		Does:   "Who has predicted an event, without the picks.",
		IfDown: "Administrators do not see who takes part.",
		On:     admin("GET", "/events/{eventId}/entries"),
		Uses:   []spec.Access{findEvent, entriesOf},
		Memory: 512, Timeout: writeTimeout,
	}
	GetHealthFunction = spec.Function{
		Name:   "pickem/get-health",
		Does:   "Says that the API answers.",
		IfDown: "Whoever watches the API from outside takes it for down.",
		On:     spec.Route{Method: "GET", Path: "/health", Auth: spec.Public},
		Memory: 128, Timeout: readTimeout,
	}
)

// The jobs.
var (
	LockEventsFunction = spec.Function{
		Name:   "pickem/lock-events",
		Does:   "Locks the events whose time has come, and has those scored that wait for it too long.",
		IfDown: "Events say that they are open when they are locked; no late pick gets in.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{findOpenEvents, changeEvent, entriesOf}, Sends: []spec.Queue{scoreQueue},
		Emits:  []spec.Metric{scoresBehind},
		Memory: 256, Timeout: 30 * time.Second,
	}
	ScoreEventFunction = spec.Function{
		Name:   "pickem/score-event",
		Does:   "Scores everybody's prediction of an event, and brings the standings up to date.",
		IfDown: "Events are not scored; those that wait are when it is back.",
		On:     scoreQueue,
		Uses:   []spec.Access{findEvent, readCard, entriesOf, getMember, scoreMember, changeEvent},
		Memory: 1024, Timeout: time.Minute, // six of which a message of a run that failed is hidden, and its event's others behind it
	}
	RebuildStandingsFunction = spec.Function{
		Name:   "pickem/rebuild-standings",
		Does:   "Makes the standings of a year anew from the scores: an operator invokes it with {\"year\": 2026}.",
		IfDown: "Standings that are wrong stay so.",
		On:     spec.Task{},
		Uses:   []spec.Access{allMembers, getMember, scoreMember},
		Memory: 1024, Timeout: 15 * time.Minute,
	}
	RemindFunction = spec.Function{
		Name:   "pickem/remind",
		Does:   "Reminds members without a prediction a day, and two hours, before an event locks.",
		IfDown: "Members forget to pick.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses:   []spec.Access{findOpenEvents, findReminded, allMembers, entriesOf, markNotice}, Sends: []spec.Queue{noticeQueue},
		Memory: 512, Timeout: 2 * time.Minute,
	}
	SendNoticesFunction = spec.Function{
		Name:   "pickem/send-notices",
		Does:   "Sends a notification to the phones of up to a hundred members.",
		IfDown: "Reminders come late, or, after the lock, not at all.",
		On:     noticeQueue,
		Uses:   []spec.Access{membersDevices, markNotice, unmarkNotice, dropDevice}, Secrets: []string{apnsKey},
		Emits:  []spec.Metric{noticesDelivered, noticesGone, noticesRetried},
		Memory: 256, Timeout: 30 * time.Second,
	}
	OnUserConfirmedFunction = spec.Function{
		Name:   "pickem/on-user-confirmed",
		Does:   "Makes whoever has signed up a member.",
		IfDown: "Signing up shows an error; the account is there, and giving a name makes it a member.",
		On:     spec.UserConfirmed{},
		Uses:   []spec.Access{inviteMember},
		Memory: 128, Timeout: 5 * time.Second, // Cognito waits for no longer
	}
)
