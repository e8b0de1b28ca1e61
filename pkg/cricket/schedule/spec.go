package schedule

import (
	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

var (
	SyncFixturesFunction = spec.Function{
		Name:   "cricket/sync-fixtures",
		Does:   "Copies the provider's schedule of the active leagues, and has the end of what is over looked into.",
		IfDown: "New and moved matches are missing; those known go on.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses: []spec.Access{
			tables.AcquireLock, tables.ExtendLock, tables.ReleaseLock, tables.ActiveLeagues, tables.BatchGetFixtures, tables.BatchPutFixtures, tables.UpdateFixture,
			tables.AllCached, tables.BatchGetCached, tables.BatchPutCached, tables.PutCached,
		},
		Sends: []spec.Queue{tables.FinishQueue}, Secrets: []string{tables.SportMonksToken},
		Memory: 256, Timeout: tables.JobTimeout,
	}
)
