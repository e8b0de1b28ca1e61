package cricket

import (
	"slices"

	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// settings of the room, as a deployment chooses them.
var settings = slices.Concat(
	[]spec.Setting{{Name: sportMonksURL, Secret: sportMonksToken, Does: "the address of the provider's API, if not its own", Like: `https://[a-z0-9.-]+(/[a-z0-9./-]*)?`}},
	push.Settings(apnsKey, apnsBundle, "the app's bundle id"),
	[]spec.Setting{{Name: apnsType, Secret: apnsKey, Does: "the name of the app's ActivityAttributes, if not " + attributesType, Like: `[A-Za-z_][A-Za-z0-9_]*`}},
)

var alarms = []spec.Alarm{
	{
		Name: "slots-missed", Function: TickFunction.Name, Metrics: []spec.Metric{slotsClaimed}, Stat: "Sum", While: matchesLive,
		Below: true, Bound: 22, Minutes: 2, // of 24 slots; one that the provider fails is claimed all the same
		Watches: "fewer than 22 polls in a minute while a match is live",
		IfDown:  "Scores stand still between polls that did not come, or for good.",
	},
	{
		Name: "ticks-late", Function: TickFunction.Name, Metrics: []spec.Metric{tickLag}, Stat: "p99", Bound: 1000, Minutes: 3,
		Watches: "polls that begin more than 1 s after they are due",
		IfDown:  "Lock screens are behind the match.",
	},
	{
		Name: "provider-failing", Function: TickFunction.Name, Metrics: []spec.Metric{providerFaults}, Stat: "Sum", Bound: 6, Minutes: 3,
		Watches: "more than 6 polls of a minute's 24 that the provider failed",
		IfDown:  "Scores stand still until the provider answers again.",
	},
	{
		Name: "matches-failing", Function: TickFunction.Name, Metrics: []spec.Metric{matchesFailed}, Stat: "Sum", Bound: 12, Minutes: 3,
		Watches: "more than 12 matches in a minute's polls that could not be dealt with",
		IfDown:  "The score of some matches stands still.",
	},
	{
		Name: "pushes-unreached", Function: PushActivitiesFunction.Name, Metrics: []spec.Metric{pushesUnreached}, Stat: "Sum", Bound: 20, Minutes: 3,
		Watches: "more than 20 phones in a minute that Apple did not take a push for",
		IfDown:  "Lock screens of some phones stand still; they are tried again.",
	},
	{
		Name: "broadcasts-failing", Function: PushActivitiesFunction.Name, Metrics: []spec.Metric{broadcastsFailed}, Stat: "Sum", Bound: 5, Minutes: 3,
		Watches: "more than 5 broadcasts in a minute that Apple did not take",
		IfDown:  "Lock screens of phones that listen to a channel stand still.",
	},
	{
		Name: "apple-failing", Function: PushActivitiesFunction.Name, Metrics: []spec.Metric{appleFailures}, Stat: "Sum", Bound: 2, Minutes: 3,
		Watches: "more than 2 changes of a match in a minute that Apple took for no phone: it is away, or refuses our key",
		IfDown:  "Lock screens stand still.",
	},
	{
		Name: "alerts-failing", Function: SendAlertsFunction.Name, Metrics: []spec.Metric{appleFailures}, Stat: "Sum", Bound: 0, Minutes: 3,
		Watches: "alerts that Apple took for no phone: it is away, or refuses our key",
		IfDown:  "Notifications come late, or not at all.",
	},
	{
		Name: "phones-refused", Function: PushActivitiesFunction.Name, Metrics: []spec.Metric{pushesGone}, Stat: "Sum", Bound: 500, Minutes: 1,
		Watches: "more than 500 activities in a minute that Apple calls gone: perhaps the bundle id or Apple's host is wrong",
		IfDown:  "Phones that Apple calls gone are pushed to no more until their app registers again.",
	},
}
