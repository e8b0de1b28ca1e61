package activity

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

var (
	PushActivitiesFunction = spec.Function{
		Name:   "cricket/push-activities",
		Does:   "Pushes what changed in one match to its Live Activities, by channel and by token.",
		IfDown: "Lock screens stand still; the API goes on.",
		On:     tables.ActivityQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.AllSubscriptions, tables.RemoveActivity, tables.RemoveActivities, tables.ChannelsOfMatch, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.ActivityQueue}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.PushesDelivered, tables.PushesGone, tables.PushesRetried, tables.PushesUnreached, tables.Broadcasts, tables.BroadcastsFailed, tables.AppleFailures},
		Memory: 512, Timeout: 30 * time.Second,
	}

	SweepChannelsFunction = spec.Function{
		Name:   "cricket/sweep-channels",
		Does:   "Deletes the broadcast channels that are no match's any more.",
		IfDown: "Channels that a crash left add up; at Apple's limit of 10,000 new activities need a token.",
		On:     spec.Schedule("rate(1 hour)"),
		Uses:   []spec.Access{tables.AllChannels, tables.GetFixture, tables.GetDisplay, tables.GetCached, tables.RemoveChannel}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.Broadcasts, tables.BroadcastsFailed},
		Memory: 256, Timeout: tables.JobTimeout,
	}
)

var (
	StartActivityFunction = spec.Function{
		Name:   "cricket/start-activity",
		Does:   "Has a Live Activity on the caller's phone updated, by its token or by the match's channel.",
		IfDown: "New activities stand still; those already running go on.",
		On:     spec.Route{Method: "POST", Path: "/user/activity/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetFixture, tables.GetCached, tables.RegisterActivity, tables.GetDevice, tables.ClaimChannel, tables.RemoveChannel, tables.UpdateFollow},
		Sends:  []spec.Queue{tables.ActivityQueue}, Secrets: []string{tables.APNSKey},
		Memory: 256, Timeout: 15 * time.Second, // one that opens a channel waits for Apple
	}

	EndActivityFunction = spec.Function{
		Name:   "cricket/end-activity",
		Does:   "Stops updating a Live Activity of the caller.",
		IfDown: "Dismissed activities are pushed to for a while; nobody sees it.",
		On:     spec.Route{Method: "DELETE", Path: "/user/activity/{matchId}", Auth: spec.User},
		Uses:   []spec.Access{tables.RemoveActivity},
		Memory: 256, Timeout: tables.ReadTimeout,
	}
)
