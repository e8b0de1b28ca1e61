package follower

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// What is a user's own.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "cricket/register-device",
		Does:   "Has the caller's alerts sent to a phone, in place of the one before.",
		IfDown: "New phones get no alerts; those registered go on.",
		On:     spec.Route{Method: "POST", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{tables.RegisterDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	GetDeviceFunction = spec.Function{
		Name:   "cricket/get-device",
		Does:   "The caller's phone.",
		IfDown: "The settings do not show which phone gets alerts.",
		On:     spec.Route{Method: "GET", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "cricket/delete-device",
		Does:   "Sends no more alerts to a phone of the caller.",
		IfDown: "A phone that was signed out goes on getting alerts.",
		On:     spec.Route{Method: "DELETE", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{tables.DeleteDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UpdatePushToStartFunction = spec.Function{
		Name:   "cricket/update-push-to-start",
		Does:   "Has Live Activities started on a phone of the caller by a push.",
		IfDown: "Live Activities do not start by themselves on new phones.",
		On:     spec.Route{Method: "PUT", Path: "/user/device/push-to-start", Auth: spec.User},
		Uses:   []spec.Access{tables.UpdatePushToStart},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	FollowMatchFunction = spec.Function{
		Name:   "cricket/follow-match",
		Does:   "Has the caller follow a match.",
		IfDown: "Matches cannot be followed; those that are go on.",
		On:     spec.Route{Method: "POST", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.FollowMatch},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	GetFollowFunction = spec.Function{
		Name:   "cricket/get-follow",
		Does:   "Whether the caller follows a match, and as whose fan.",
		IfDown: "Match pages do not show that the match is followed.",
		On:     spec.Route{Method: "GET", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.CheckFollow},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UpdateFollowFunction = spec.Function{
		Name:   "cricket/update-follow",
		Does:   "Changes whose fan the caller is in a match that is followed.",
		IfDown: "The team of a followed match cannot be changed.",
		On:     spec.Route{Method: "PATCH", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetFixture, tables.UpdateFollow},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UnfollowMatchFunction = spec.Function{
		Name:   "cricket/unfollow-match",
		Does:   "Ends the caller's following of a match, and the Live Activities of it.",
		IfDown: "Matches cannot be unfollowed: unwanted alerts go on until the match ends.",
		On:     spec.Route{Method: "DELETE", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.UnfollowMatch, tables.RemoveOfUser},
		Memory: 256, Timeout: 15 * time.Second, // it reads all activities of the match
	}
	GetPreferencesFunction = spec.Function{
		Name:   "cricket/get-preferences",
		Does:   "Which alerts the caller wants, and when.",
		IfDown: "The settings do not open; alerts go on as they are set.",
		On:     spec.Route{Method: "GET", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.GetPreferences},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	PutPreferencesFunction = spec.Function{
		Name:   "cricket/put-preferences",
		Does:   "Stores which alerts the caller wants, and when.",
		IfDown: "The settings cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.PutPreferences},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)
