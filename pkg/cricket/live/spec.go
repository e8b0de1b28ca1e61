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
		Does:   "Says whether the next minute needs ticks, and which.",
		IfDown: "No tick runs in the next minute: scores stand still, then catch up.",
		On:     spec.Task{}, Uses: []spec.Access{tables.ScanLive, tables.ActiveLeagues, tables.StartingSoon},
		Memory: 128, Timeout: tables.ReadTimeout,
	}

	TickFunction = spec.Function{
		Name:   "cricket/tick",
		Does:   "Polls the provider once for all matches, stores what changed and has it pushed.",
		IfDown: "Scores stand still on every lock screen; the first tick after it is back catches up.",
		On:     spec.Task{},
		Uses: []spec.Access{
			tables.ClaimSlot, tables.AcquireLock, tables.ReleaseLock, tables.GetFixture, tables.UpdateFixture, tables.ScanLive, tables.ArchiveFixture, tables.DeleteReplay,
			tables.GetCached, tables.PutCached, tables.GetProcessed, tables.PutProcessed, tables.GetHash, tables.PutHash, tables.PutDisplay,
		},
		Sends: []spec.Queue{tables.ActivityQueue, tables.AlertQueue, tables.FinishQueue}, Secrets: []string{tables.SportMonksToken},
		Emits:  []spec.Metric{tables.SlotsClaimed, tables.TickLag, tables.TickTime, tables.MatchesLive, tables.MatchesChanged, tables.MatchesFailed, tables.MatchesArchived, tables.ProviderFaults},
		Memory: 512, Timeout: 8 * time.Second, Reserved: 10,
	}

	FinishMatchFunction = spec.Function{
		Name:   "cricket/finish-match",
		Does:   "Ends a match that has left the feed, once the provider's own page of it says that it is over.",
		IfDown: "Activities of finished matches stay on the lock screen until Apple removes them.",
		On:     tables.FinishQueue,
		Uses: []spec.Access{
			tables.GetFixture, tables.UpdateFixture, tables.ArchiveFixture, tables.AcquireLock, tables.ReleaseLock, tables.GetCached, tables.PutCached, tables.GetProcessed, tables.PutProcessed,
			tables.GetHash, tables.PutHash, tables.PutDisplay, tables.DeleteHash, tables.RemoveFollows,
		},
		Sends: []spec.Queue{tables.ActivityQueue, tables.AlertQueue, tables.FinishQueue}, Secrets: []string{tables.SportMonksToken},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
