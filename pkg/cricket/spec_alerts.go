package cricket

import (
	"time"

	"matchday/pkg/spec"
)

// How far each alert was told, which the seed does not know.
var (
	alertTable = spec.Table{Name: "cricket-alerts", Key: spec.Key{Partition: "matchId", Sort: "part"}, TTL: "ttl"}

	getAlert    = alertTable.On("Get alert", "PK=matchId, SK=part", spec.Rate{Driver: spec.Message, Note: "for each part of the followers"}, spec.GetItem)
	recordAlert = alertTable.On("Record alert", "PK=matchId, SK=part, after <= :after", spec.Rate{Driver: spec.Message, Note: "for each page of followers"}, spec.UpdateItem)

	batchGetPreferences = preferenceTable.On("Batch get preferences", "PK=userId (up to 100)", spec.Rate{Driver: spec.Message, Note: "for each page of followers"}, spec.BatchGetItem)
)

// alertQueue gives an alert up after two hours: ten times the twelve minutes for
// which one that failed is invisible. What another worker has in hand has not
// failed, and is put back by its handler.
var alertQueue = spec.Queue{Name: "cricket-send-alerts", MaxReceiveCount: 10, Batch: 1, Concurrency: 20}

// The alerts.
var (
	SendAlertsFunction = spec.Function{
		Name:   "cricket/send-alerts",
		Does:   "Tells the followers of a match of one event, each once.",
		IfDown: "Nobody is told of wickets and results, nor reminded; lock screens go on.",
		On:     alertQueue,
		Uses: []spec.Access{
			getFixture, getCached, getDisplay, getAlert, recordAlert, acquireLock, extendLock, releaseLock,
			allFollowers, batchGetPreferences, getDevice, deleteDevice, updatePushToStart, markReminder, claimChannel, removeChannel,
		},
		Sends: []spec.Queue{alertQueue}, Secrets: []string{apnsKey},
		Emits:  []spec.Metric{alertsDelivered, alertsSuppressed, alertsGone, alertsRetried, appleFailures},
		Memory: 512, Timeout: 2 * time.Minute,
	}
	DetectTossFunction = spec.Function{
		Name:   "cricket/detect-toss",
		Does:   "Asks the provider for the toss of the matches that are about to start.",
		IfDown: "Nobody is told of the toss before the match has begun.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{activeLeagues, startingSoon, updateFixture},
		Sends:  []spec.Queue{alertQueue}, Secrets: []string{sportMonksToken},
		Memory: 256, Timeout: jobTimeout,
	}
	RemindPrematchFunction = spec.Function{
		Name:   "cricket/remind-prematch",
		Does:   "Has the followers of a match reminded a quarter of an hour before it starts.",
		IfDown: "Nobody is reminded of a match; if it is back before the start, late.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{activeLeagues, startingSoon, checkReminder, getCached, markReminder},
		Sends:  []spec.Queue{alertQueue},
		Memory: 128, Timeout: jobTimeout,
	}
)
