package activity

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions that push.
var (
	// PushActivitiesFunction runs Pusher.PushActivities.
	PushActivitiesFunction = spec.Function{
		Name:   "cricket/push-activities",
		Does:   "Pushes the current display of a match to its Live Activities, by channel and by token.",
		IfDown: "Lock screens are not updated. The API works.",
		On:     tables.ActivityQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.AllSubscriptions, tables.RemoveActivity, tables.RemoveActivities, tables.ChannelsOfMatch, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.ActivityQueue}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.PushesDelivered, tables.PushesGone, tables.PushesRetried, tables.PushesUnreached, tables.Broadcasts, tables.BroadcastsFailed, tables.AppleFailures, tables.PushDelay},
		Memory: 512, Timeout: 30 * time.Second,
	}

	// SweepChannelsFunction runs Pusher.SweepChannels.
	SweepChannelsFunction = spec.Function{
		Name:   "cricket/sweep-channels",
		Does:   "Deletes broadcast channels that no match uses.",
		IfDown: "Channels that a crash left accumulate. At Apple's limit of 10,000 channels, new activities need a push token.",
		On:     spec.Schedule("rate(1 hour)"),
		Uses:   []spec.Access{tables.AllChannels, tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.RemoveChannel}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.Broadcasts, tables.BroadcastsFailed},
		Memory: 256, Timeout: tables.JobTimeout,
	}
)

// The routes of users' Live Activities.
var (
	// StartActivityFunction runs Activities.StartActivity.
	StartActivityFunction = spec.Function{
		Name:   "cricket/start-activity",
		Does:   "Registers a Live Activity of the caller for updates, by its push token or by the channel of the match.",
		IfDown: "New activities are not updated. Running activities are.",
		On:     spec.Route{Method: "POST", Path: "/user/activity/{matchId}", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.GetDisplay, tables.RegisterActivity, tables.GetDevice, tables.ClaimChannel, tables.RemoveChannel, tables.UpdateFollow, account.CheckDeleted},
		Limits: []spec.Limit{maxActivities}, Secrets: []string{tables.APNSKey},
		Memory: 256, Timeout: 15 * time.Second, // a call that opens a channel waits for Apple
	}

	// EndActivityFunction runs Activities.EndActivity.
	EndActivityFunction = spec.Function{
		Name:   "cricket/end-activity",
		Does:   "Stops updating a Live Activity of the caller.",
		IfDown: "Dismissed activities still get pushes, which users do not see.",
		On:     spec.Route{Method: "DELETE", Path: "/user/activity/{matchId}/{activityId}", Auth: spec.User},
		Uses:   []spec.Access{tables.ListActivities, tables.RemoveActivity},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)
