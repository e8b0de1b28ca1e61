package live

import (
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/spec"
)

// The functions of the package.
var (
	PlanTicksFunction = spec.Function{
		Name:   "cricket/plan-ticks",
		Does:   "Returns the ticks of the next minute, or none if no match needs polling.",
		IfDown: "No tick runs in the next minute. Scores are updated late.",
		On:     spec.Task{}, Uses: []spec.Access{tables.ScanLive, tables.ActiveLeagues, tables.StartingSoon},
		Memory: 128, Timeout: tables.ReadTimeout,
	}

	TickFunction = spec.Function{
		Name:   "cricket/tick",
		Does:   "Polls the provider once for all matches, stores the changes and queues their pushes.",
		IfDown: "No lock screen is updated. The first tick after the recovery catches up.",
		On:     spec.Task{},
		Uses: []spec.Access{
			tables.ClaimSlot, tables.AllLeagues, tables.GetFixture, tables.UpdateFixture, tables.ScanLive, tables.ArchiveFixture, tables.DeleteReplay,
			tables.BatchGetCached, tables.PutCached, tables.BatchGetProcessed, tables.PutProcessed, tables.GetHash, tables.PutHash, tables.PutDisplay,
		},
		Sends: []spec.Queue{tables.ActivityQueue, tables.AlertQueue, tables.FinishQueue}, Secrets: []string{tables.SportMonksToken},
		Emits:  []spec.Metric{tables.SlotsClaimed, tables.TickLag, tables.TickTime, tables.MatchesLive, tables.MatchesChanged, tables.MatchesFailed, tables.MatchesArchived, tables.ProviderFaults},
		Memory: 512, Timeout: 8 * time.Second, Reserved: 10,
	}

	FinishMatchFunction = spec.Function{
		Name:   "cricket/finish-match",
		Does:   "Ends a match that has left the live feed, if the provider's page of the match reports that it is over.",
		IfDown: "Activities of finished matches stay on the lock screen until Apple removes them.",
		On:     tables.FinishQueue,
		Uses: []spec.Access{
			tables.CountRequest, tables.GetFixture, tables.UpdateFixture, tables.ArchiveFixture, tables.BatchGetCached, tables.PutCached, tables.BatchGetProcessed, tables.PutProcessed,
			tables.GetHash, tables.PutHash, tables.PutDisplay, tables.DeleteHash, tables.RemoveFollows,
		},
		Sends: []spec.Queue{tables.ActivityQueue, tables.AlertQueue, tables.FinishQueue}, Secrets: []string{tables.SportMonksToken}, Budgets: []spec.Share{tables.FinishShare},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
