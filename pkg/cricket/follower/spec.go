package follower

import (
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// What is a user's own.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "cricket/register-device",
		Does:   "Registers the caller's phone for alerts, and replaces the phone registered before.",
		IfDown: "New phones get no alerts. Registered phones do.",
		On:     spec.Route{Method: "POST", Path: "/user/device", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.RegisterDevice, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	GetDeviceFunction = spec.Function{
		Name:   "cricket/get-device",
		Does:   "Returns the caller's registered phone.",
		IfDown: "The settings do not show which phone gets alerts.",
		On:     spec.Route{Method: "GET", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "cricket/delete-device",
		Does:   "Deletes the registration of the caller's phone.",
		IfDown: "A phone on which the user has signed out still gets alerts.",
		On:     spec.Route{Method: "DELETE", Path: "/user/device/{deviceId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice, tables.DeleteDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UpdatePushToStartFunction = spec.Function{
		Name:   "cricket/update-push-to-start",
		Does:   "Stores the token with which a push starts Live Activities on the caller's phone.",
		IfDown: "New phones start no Live Activities by a push.",
		On:     spec.Route{Method: "PUT", Path: "/user/device/push-to-start", Auth: spec.User},
		Uses:   []spec.Access{tables.UpdatePushToStart, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	FollowMatchFunction = spec.Function{
		Name:   "cricket/follow-match",
		Does:   "Makes the caller a follower of a match.",
		IfDown: "Users cannot follow matches. Followed matches stay followed.",
		On:     spec.Route{Method: "POST", Path: "/user/follow/{matchId}", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.FollowMatch, tables.ListActivities, account.CheckDeleted},
		Limits: []spec.Limit{maxFollows},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	GetFollowFunction = spec.Function{
		Name:   "cricket/get-follow",
		Does:   "Returns the team that the caller supports in a followed match.",
		IfDown: "Match pages do not show whether the user follows the match.",
		On:     spec.Route{Method: "GET", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.CheckFollow},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UpdateFollowFunction = spec.Function{
		Name:   "cricket/update-follow",
		Does:   "Changes the team that the caller supports in a followed match.",
		IfDown: "Users cannot change the team of a followed match.",
		On:     spec.Route{Method: "PATCH", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetFixture, tables.UpdateFollow, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	UnfollowMatchFunction = spec.Function{
		Name:   "cricket/unfollow-match",
		Does:   "Ends the caller's following of a match, and the caller's Live Activities of it.",
		IfDown: "Users cannot unfollow matches, and get unwanted alerts until the match ends.",
		On:     spec.Route{Method: "DELETE", Path: "/user/follow/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.UnfollowMatch, tables.RemoveOfUser},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	GetPreferencesFunction = spec.Function{
		Name:   "cricket/get-preferences",
		Does:   "Returns the caller's preferences for alerts.",
		IfDown: "The settings do not open. Alerts are sent by the stored preferences.",
		On:     spec.Route{Method: "GET", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.GetPreferences},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
	PutPreferencesFunction = spec.Function{
		Name:   "cricket/put-preferences",
		Does:   "Replaces the caller's preferences for alerts.",
		IfDown: "Users cannot change their preferences for alerts.",
		On:     spec.Route{Method: "PUT", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.PutPreferences, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)
