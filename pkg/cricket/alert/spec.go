package alert

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// The alerts.
var (
	SendAlertsFunction = spec.Function{
		Name:   "cricket/send-alerts",
		Does:   "Tells the followers of a match of one event, each once.",
		IfDown: "Nobody is told of wickets and results, nor reminded; lock screens go on.",
		On:     tables.AlertQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.GetCached, tables.GetDisplay, tables.GetAlert, tables.RecordAlert, tables.AcquireLock, tables.ExtendLock, tables.ReleaseLock,
			tables.AllFollowers, tables.BatchGetPreferences, tables.GetDevice, tables.DeleteDevice, tables.UpdatePushToStart, tables.MarkReminder, tables.ClaimChannel, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.AlertsDelivered, tables.AlertsSuppressed, tables.AlertsGone, tables.AlertsRetried, tables.AppleFailures},
		Memory: 512, Timeout: 2 * time.Minute,
	}
	DetectTossFunction = spec.Function{
		Name:   "cricket/detect-toss",
		Does:   "Asks the provider for the toss of the matches that are about to start.",
		IfDown: "Nobody is told of the toss before the match has begun.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.ActiveLeagues, tables.StartingSoon, tables.UpdateFixture},
		Sends:  []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.SportMonksToken},
		Memory: 256, Timeout: tables.JobTimeout,
	}
	RemindPrematchFunction = spec.Function{
		Name:   "cricket/remind-prematch",
		Does:   "Has the followers of a match reminded a quarter of an hour before it starts.",
		IfDown: "Nobody is reminded of a match; if it is back before the start, late.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.ActiveLeagues, tables.StartingSoon, tables.CheckReminder, tables.GetCached, tables.MarkReminder},
		Sends:  []spec.Queue{tables.AlertQueue},
		Memory: 128, Timeout: tables.JobTimeout,
	}
)
