package cricket

import (
	"slices"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// settings of the room, as a deployment chooses them.
var settings = slices.Concat(
	[]spec.Setting{{Name: tables.SportMonksURL, Secret: tables.SportMonksToken, Does: "the address of the provider's API, if not its own", Like: `https://[a-z0-9.-]+(/[a-z0-9./-]*)?`}},
	push.Settings(tables.APNSKey, tables.APNSBundle, "the app's bundle id"),
	[]spec.Setting{{Name: tables.APNSType, Secret: tables.APNSKey, Does: "the name of the app's ActivityAttributes, if not " + tables.AttributesType, Like: `[A-Za-z_][A-Za-z0-9_]*`}},
)

var alarms = []spec.Alarm{
	{
		Name: "slots-missed", Function: live.TickFunction.Name, Metrics: []spec.Metric{tables.SlotsClaimed}, Stat: "Sum", While: tables.MatchesLive,
		Below: true, Bound: 22, Minutes: 2, // of 24 slots; one that the provider fails is claimed all the same
		Watches: "fewer than 22 polls in a minute while a match is live",
		IfDown:  "Scores stand still between polls that did not come, or for good.",
	},
	{
		Name: "ticks-late", Function: live.TickFunction.Name, Metrics: []spec.Metric{tables.TickLag}, Stat: "p99", Bound: 1000, Minutes: 3,
		Watches: "polls that begin more than 1 s after they are due",
		IfDown:  "Lock screens are behind the match.",
	},
	{
		Name: "provider-failing", Function: live.TickFunction.Name, Metrics: []spec.Metric{tables.ProviderFaults}, Stat: "Sum", Bound: 6, Minutes: 3,
		Watches: "more than 6 polls of a minute's 24 that the provider failed",
		IfDown:  "Scores stand still until the provider answers again.",
	},
	{
		Name: "matches-failing", Function: live.TickFunction.Name, Metrics: []spec.Metric{tables.MatchesFailed}, Stat: "Sum", Bound: 12, Minutes: 3,
		Watches: "more than 12 matches in a minute's polls that could not be dealt with",
		IfDown:  "The score of some matches stands still.",
	},
	{
		Name: "pushes-unreached", Function: activity.PushActivitiesFunction.Name, Metrics: []spec.Metric{tables.PushesUnreached}, Stat: "Sum", Bound: 20, Minutes: 3,
		Watches: "more than 20 phones in a minute that Apple did not take a push for",
		IfDown:  "Lock screens of some phones stand still; they are tried again.",
	},
	{
		Name: "broadcasts-failing", Function: activity.PushActivitiesFunction.Name, Metrics: []spec.Metric{tables.BroadcastsFailed}, Stat: "Sum", Bound: 5, Minutes: 3,
		Watches: "more than 5 broadcasts in a minute that Apple did not take",
		IfDown:  "Lock screens of phones that listen to a channel stand still.",
	},
	{
		Name: "apple-failing", Function: activity.PushActivitiesFunction.Name, Metrics: []spec.Metric{tables.AppleFailures}, Stat: "Sum", Bound: 2, Minutes: 3,
		Watches: "more than 2 changes of a match in a minute that Apple took for no phone: it is away, or refuses our key",
		IfDown:  "Lock screens stand still.",
	},
	{
		Name: "alerts-failing", Function: alert.SendAlertsFunction.Name, Metrics: []spec.Metric{tables.AppleFailures}, Stat: "Sum", Bound: 0, Minutes: 3,
		Watches: "alerts that Apple took for no phone: it is away, or refuses our key",
		IfDown:  "Notifications come late, or not at all.",
	},
	{
		Name: "phones-refused", Function: activity.PushActivitiesFunction.Name, Metrics: []spec.Metric{tables.PushesGone}, Stat: "Sum", Bound: 500, Minutes: 1,
		Watches: "more than 500 activities in a minute that Apple calls gone: perhaps the bundle id or Apple's host is wrong",
		IfDown:  "Phones that Apple calls gone are pushed to no more until their app registers again.",
	},
}
