package alert

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// The functions of the alerts.
var (
	// SendAlertsFunction runs Alerter.SendAlert.
	SendAlertsFunction = spec.Function{
		Name:   "cricket/send-alerts",
		Does:   "Sends an alert about one event of a match to each follower once.",
		IfDown: "Users get no alerts and no reminders. Lock screens are updated.",
		On:     tables.AlertQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.AllLeagues, tables.GetCached, tables.GetDisplay, tables.GetAlert, tables.RecordAlert, tables.AcquireLock, tables.ExtendLock, tables.ReleaseLock,
			tables.AllFollowers, tables.BatchGetPreferences, tables.GetDevice, tables.DeleteDevice, tables.UpdatePushToStart, tables.MarkReminder, tables.ClaimReminders, tables.ClaimChannel, tables.RemoveChannel,
		},
		Sends: []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.APNSKey},
		Emits:  []spec.Metric{tables.AlertsDelivered, tables.AlertsSuppressed, tables.AlertsGone, tables.AlertsRetried, tables.AppleFailures, tables.PushDelay},
		Memory: 512, Timeout: 2 * time.Minute,
	}
	// DetectTossFunction runs TossDetector.DetectToss.
	DetectTossFunction = spec.Function{
		Name:   "cricket/detect-toss",
		Does:   "Requests the matches that start soon from the provider, and sends an alert for each new toss.",
		IfDown: "Users get the alert about a toss only after the match has started.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.ActiveLeagues, tables.StartingSoon, tables.UpdateFixture, tables.CountRequest},
		Sends:  []spec.Queue{tables.AlertQueue}, Secrets: []string{tables.SportMonksToken}, Budgets: []spec.Share{tables.TossShare},
		Memory: 256, Timeout: tables.JobTimeout,
	}
	// RemindPrematchFunction runs Reminder.RemindPrematch.
	RemindPrematchFunction = spec.Function{
		Name:   "cricket/remind-prematch",
		Does:   "Reminds the followers of a match 15 minutes before it starts.",
		IfDown: "Users get no reminder. If the function works again before the start, the reminder is late.",
		On:     spec.Schedule("rate(1 minute)"),
		Uses:   []spec.Access{tables.ActiveLeagues, tables.StartingSoon, tables.CheckReminder, tables.GetCached, tables.MarkReminder},
		Sends:  []spec.Queue{tables.AlertQueue},
		Memory: 128, Timeout: tables.JobTimeout,
	}
)
