package schedule

import (
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

var (
	SyncFixturesFunction = spec.Function{
		Name:   "cricket/sync-fixtures",
		Does:   "Copies the schedule of the active leagues from the provider, and queues matches that are over or deleted but not finished.",
		IfDown: "New and rescheduled matches are missing. Known matches are updated.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{
			tables.CountRequest, tables.AcquireLock, tables.ExtendLock, tables.ReleaseLock, tables.ActiveLeagues, tables.StartingSoon, tables.BatchGetFixtures, tables.BatchPutFixtures, tables.UpdateFixture,
			tables.AllCached, tables.BatchGetCached, tables.BatchPutCached, tables.PutCached, tables.AllTeams, tables.GetDisplay, tables.PutDisplay,
		},
		Sends: []spec.Queue{tables.FinishQueue, tables.AlertQueue}, Secrets: []string{tables.SportMonksToken}, Budgets: []spec.Share{tables.SyncShare},
		Memory: 256, Timeout: tables.JobTimeout,
	}
)
