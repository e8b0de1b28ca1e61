package cricket

import (
	"slices"
	"strconv"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// settings of the room, as a deployment chooses them.
var settings = slices.Concat(
	[]spec.Setting{{
		Name:   tables.SportMonksURL,
		Secret: tables.SportMonksToken,
		Does:   "the base URL of the provider's API, by default that of SportMonks",
		Like:   `https://[a-z0-9.-]+(/[a-z0-9./-]*)?`,
	}},
	push.Settings(tables.APNSKey, tables.APNSBundle, "the app's bundle id"),
	fcm.Settings(follower.RegisterDeviceFunction().Name, activity.StartActivityFunction().Name, live.TickFunction().Name,
		live.FinishMatchFunction().Name),
	[]spec.Setting{push.BroadcastSetting(tables.APNSKey),
		{
			Name:   tables.EveryBall,
			Secret: fcm.Key,
			Does: "how many Android phones the matches in play may have together for every ball to be sent to all; of more, only overs and " +
				"wickets are; by default " + strconv.Itoa(tables.MaxEveryBall),
			Like: `[0-9]{1,8}`,
		},
		{
			Name:   tables.APNSType,
			Secret: tables.APNSKey,
			Does:   "the name of the app's ActivityAttributes type, by default " + tables.AttributesType,
			Like:   `[A-Za-z_][A-Za-z0-9_]*`,
		}},
)

var alarms = []spec.Alarm{
	{
		Name:     "slots-missed",
		Function: live.TickFunction().Name,
		Metrics:  []spec.Metric{tables.SlotsClaimed},
		Stat:     "Sum",
		While:    tables.MatchesLive,
		Below:    true,
		Bound:    22,
		Minutes:  2, // of 24 slots; a slot whose poll fails at the provider is claimed, too
		Watches:  "fewer than 22 polls in a minute while a match is live",
		IfDown:   "Scores are updated late, or not at all.",
	},
	{
		Name: "ticks-late", Function: live.TickFunction().Name, Metrics: []spec.Metric{tables.TickLag}, Stat: "p99", Bound: 1000, Minutes: 3,
		Watches: "polls that begin more than 1 s after they are due",
		IfDown:  "Lock screens show the score late.",
	},
	{
		// Each message of push-activities about a change emits PushesDelivered once, also as 0. A
		// match changes about twice a minute, so a consumer that has stopped is noticed after three
		// minutes. A change at the end of a minute may be pushed in the next, so one minute is none.
		Name:     "pushes-stopped",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.PushesDelivered},
		Stat:     "SampleCount",
		When:     spec.Emitted{Function: live.TickFunction().Name, Metric: tables.ChangesQueued},
		Below:    true,
		Bound:    1,
		Minutes:  3,
		Watches:  "fewer than 1 change that was pushed in a minute in which matches changed",
		IfDown:   "Lock screens are not updated. Is the event source of push-activities enabled?",
	},
	{
		// At worst a tick begins 1 s late (ticks-late) and waits 4 s for the provider (the
		// limit of its client), and 3 s go to the writes, the queue, a cold start and the pushes
		// of 2,000 activities: 8 s. Normally all of it takes 2 s, so 10 s has room for one retry
		// (5 s). It is half the time between two balls of a quick over: a lock screen that is
		// later may show the score of the ball before.
		Name:     "pushes-late",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.PushDelay},
		Stat:     "p99",
		Bound:    10_000,
		Minutes:  3,
		Watches:  "more than 1 % of a minute's pushes that Apple accepted more than 10 s after the poll of their ball was due",
		IfDown:   "Lock screens and notifications are a ball behind.",
	},
	{
		Name:     "provider-failing",
		Function: live.TickFunction().Name,
		Metrics:  []spec.Metric{tables.ProviderFaults},
		Stat:     "Sum",
		Bound:    6,
		Minutes:  3,
		Watches:  "more than 6 of a minute's 24 polls that failed at the provider",
		IfDown:   "Scores are not updated until the provider answers again.",
	},
	{
		Name:     "matches-failing",
		Function: live.TickFunction().Name,
		Metrics:  []spec.Metric{tables.MatchesFailed},
		Stat:     "Sum",
		Bound:    12,
		Minutes:  3,
		Watches:  "more than 12 failures to process a match in a minute",
		IfDown:   "The scores of some matches are not updated.",
	},
	{
		Name:     "matches-stale",
		Function: live.TickFunction().Name,
		Metrics:  []spec.Metric{tables.MatchesStale},
		Stat:     "Sum",
		Bound:    0,
		Minutes:  3,
		Watches:  "matches in play about which the provider has answered the same for 10 minutes; breaks and rain do not count",
		IfDown:   "The score of such a match stands still. Compare it with another source, and ask the provider.",
	},
	{
		Name:     "pushes-unreached",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.PushesUnreached},
		Stat:     "Sum",
		Bound:    20,
		Minutes:  3,
		Watches:  "more than 20 pushes in a minute that Apple did not accept",
		IfDown:   "Some lock screens are not updated until the retry succeeds.",
	},
	{
		Name:     "broadcasts-failing",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.BroadcastsFailed},
		Stat:     "Sum",
		Bound:    5,
		Minutes:  3,
		Watches:  "more than 5 broadcasts in a minute that Apple did not accept",
		IfDown:   "Lock screens that listen to a broadcast channel are not updated.",
	},
	{
		Name:     "apple-failing",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.AppleFailures},
		Stat:     "Sum",
		Bound:    2,
		Minutes:  3,
		Watches:  "more than 2 changes of a match in a minute for which Apple accepted no push: Apple is unreachable, or rejects our key",
		IfDown:   "Lock screens are not updated.",
	},
	{
		Name:     "google-failing",
		Function: topic.PushTopicsFunction().Name,
		Metrics:  []spec.Metric{tables.GoogleFailures},
		Stat:     "Sum",
		Bound:    2,
		Minutes:  3,
		Watches:  "more than 2 changes a minute of which Google took none: Google is unreachable, its quota is used up, or it rejects our key",
		IfDown:   "The match is not updated on Android phones.",
	},
	{
		Name:     "android-alerts-failing",
		Function: alert.SendAlertsFunction().Name,
		Metrics:  []spec.Metric{tables.GoogleFailures},
		Stat:     "Sum",
		Bound:    0,
		Minutes:  3,
		Watches:  "alerts of which Google took none: Google is unreachable, its quota is used up, or it rejects our key",
		IfDown:   "Notifications arrive late on Android phones, or not at all.",
	},
	{
		Name:     "alerts-failing",
		Function: alert.SendAlertsFunction().Name,
		Metrics:  []spec.Metric{tables.AppleFailures},
		Stat:     "Sum",
		Bound:    0,
		Minutes:  3,
		Watches:  "alerts for which Apple accepted no push: Apple is unreachable, or rejects our key",
		IfDown:   "Notifications arrive late, or not at all.",
	},
	{
		Name:     "phones-refused",
		Function: activity.PushActivitiesFunction().Name,
		Metrics:  []spec.Metric{tables.PushesGone},
		Stat:     "Sum",
		Bound:    500,
		Minutes:  1,
		Watches:  "more than 500 activities in a minute whose token Apple reports as invalid: the bundle id or Apple's host may be wrong",
		IfDown:   "Phones with such a token get no updates until their app registers again.",
	},
}
