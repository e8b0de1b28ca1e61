package cricket

import (
	"time"

	"matchday/pkg/spec"
)

// What users prefer, which the seed does not know.
var (
	preferenceTable = spec.Table{Name: "cricket-preferences", Key: spec.Key{Partition: "userId"}}

	getPreferences = preferenceTable.On("Get preferences", "PK=userId", spec.Rate{Driver: spec.Request, Note: "and for each alert"}, spec.GetItem)
	putPreferences = preferenceTable.On("Put preferences", "PK=userId", onUserAction, spec.PutItem)
)

// Leagues and teams.
var (
	ListTeamsFunction = spec.Function{
		Name:   "cricket/list-teams",
		Does:   "All teams.",
		IfDown: "The team list does not load.",
		On:     spec.Route{Method: "GET", Path: "/teams", Auth: spec.Public},
		Uses:   []spec.Access{allTeams},
		Memory: 256, Timeout: readTimeout,
	}
	GetTeamFunction = spec.Function{
		Name:   "cricket/get-team",
		Does:   "One team.",
		IfDown: "Team pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/teams/{id}", Auth: spec.Public},
		Uses:   []spec.Access{getTeam},
		Memory: 256, Timeout: readTimeout,
	}
	UpdateTeamFunction = spec.Function{
		Name:   "cricket/update-team",
		Does:   "Changes what an administrator may of a team: title, short name and color.",
		IfDown: "Administrators cannot change teams.",
		On:     spec.Route{Method: "PATCH", Path: "/teams/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{updateTeam, getTeam},
		Memory: 256, Timeout: readTimeout,
	}
	ListSeasonTeamsFunction = spec.Function{
		Name:   "cricket/list-season-teams",
		Does:   "The teams of a season.",
		IfDown: "Season pages show no teams.",
		On:     spec.Route{Method: "GET", Path: "/seasons/{id}/teams", Auth: spec.Public},
		Uses:   []spec.Access{teamsOfSeason},
		Memory: 256, Timeout: readTimeout,
	}
	ListLeaguesFunction = spec.Function{
		Name:   "cricket/list-leagues",
		Does:   "All leagues, the most important first.",
		IfDown: "The league list does not load.",
		On:     spec.Route{Method: "GET", Path: "/leagues", Auth: spec.Public},
		Uses:   []spec.Access{allLeagues},
		Memory: 256, Timeout: readTimeout,
	}
	GetLeagueFunction = spec.Function{
		Name:   "cricket/get-league",
		Does:   "One league.",
		IfDown: "League pages do not open.",
		On:     spec.Route{Method: "GET", Path: "/leagues/{id}", Auth: spec.Public},
		Uses:   []spec.Access{getLeague},
		Memory: 256, Timeout: readTimeout,
	}
	UpdateLeagueFunction = spec.Function{
		Name:   "cricket/update-league",
		Does:   "Changes what an administrator may of a league: whether it is active, title and priority.",
		IfDown: "Administrators cannot change leagues.",
		On:     spec.Route{Method: "PATCH", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{updateLeague, getLeague},
		Memory: 256, Timeout: readTimeout,
	}
	DeleteLeagueFunction = spec.Function{
		Name:   "cricket/delete-league",
		Does:   "Removes a league that the provider has no more.",
		IfDown: "Administrators cannot remove leagues.",
		On:     spec.Route{Method: "DELETE", Path: "/leagues/{id}", Auth: spec.Admin},
		Uses:   []spec.Access{deleteLeague},
		Memory: 256, Timeout: readTimeout,
	}
	ListLeagueMatchesFunction = spec.Function{
		Name:   "cricket/list-league-matches",
		Does:   "Every match of a league, found by reading the table through.",
		IfDown: "Administrators cannot look through a league's matches.",
		On:     spec.Route{Method: "GET", Path: "/admin/matches", Auth: spec.Admin},
		Uses:   []spec.Access{scanByLeague},
		Memory: 256, Timeout: 15 * time.Second,
	}
)

// What is a user's own.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "cricket/register-device",
		Does:   "Has the caller's alerts sent to a phone, in place of the one before.",
		IfDown: "New phones get no alerts; those registered go on.",
		On:     spec.Route{Method: "POST", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{registerDevice},
		Memory: 256, Timeout: readTimeout,
	}
	GetDeviceFunction = spec.Function{
		Name:   "cricket/get-device",
		Does:   "The caller's phone.",
		IfDown: "The settings do not show which phone gets alerts.",
		On:     spec.Route{Method: "GET", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{getDevice},
		Memory: 256, Timeout: readTimeout,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "cricket/delete-device",
		Does:   "Sends no more alerts to a phone of the caller.",
		IfDown: "A phone that was signed out goes on getting alerts.",
		On:     spec.Route{Method: "DELETE", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{deleteDevice},
		Memory: 256, Timeout: readTimeout,
	}
	UpdatePushToStartFunction = spec.Function{
		Name:   "cricket/update-push-to-start",
		Does:   "Has Live Activities started on a phone of the caller by a push.",
		IfDown: "Live Activities do not start by themselves on new phones.",
		On:     spec.Route{Method: "PUT", Path: "/user/device/push-to-start", Auth: spec.User},
		Uses:   []spec.Access{updatePushToStart},
		Memory: 256, Timeout: readTimeout,
	}
	FollowMatchFunction = spec.Function{
		Name:   "cricket/follow-match",
		Does:   "Has the caller follow a match.",
		IfDown: "Matches cannot be followed; those that are go on.",
		On:     spec.Route{Method: "POST", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{getFixture, getCached, followMatch},
		Memory: 256, Timeout: readTimeout,
	}
	GetFollowFunction = spec.Function{
		Name:   "cricket/get-follow",
		Does:   "Whether the caller follows a match, and as whose fan.",
		IfDown: "Match pages do not show that the match is followed.",
		On:     spec.Route{Method: "GET", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{checkFollow},
		Memory: 256, Timeout: readTimeout,
	}
	UpdateFollowFunction = spec.Function{
		Name:   "cricket/update-follow",
		Does:   "Changes whose fan the caller is in a match that is followed.",
		IfDown: "The team of a followed match cannot be changed.",
		On:     spec.Route{Method: "PATCH", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{getFixture, updateFollow},
		Memory: 256, Timeout: readTimeout,
	}
	UnfollowMatchFunction = spec.Function{
		Name:   "cricket/unfollow-match",
		Does:   "Ends the caller's following of a match, and the Live Activities of it.",
		IfDown: "Matches cannot be unfollowed: unwanted alerts go on until the match ends.",
		On:     spec.Route{Method: "DELETE", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{unfollowMatch, removeOfUser},
		Memory: 256, Timeout: 15 * time.Second, // it reads all activities of the match
	}
	GetPreferencesFunction = spec.Function{
		Name:   "cricket/get-preferences",
		Does:   "Which alerts the caller wants, and when.",
		IfDown: "The settings do not open; alerts go on as they are set.",
		On:     spec.Route{Method: "GET", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{getPreferences},
		Memory: 256, Timeout: readTimeout,
	}
	PutPreferencesFunction = spec.Function{
		Name:   "cricket/put-preferences",
		Does:   "Stores which alerts the caller wants, and when.",
		IfDown: "The settings cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{putPreferences},
		Memory: 256, Timeout: readTimeout,
	}
)
