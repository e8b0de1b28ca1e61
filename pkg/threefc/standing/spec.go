package standing

import (
	"time"

	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/tables"
)

// The jobs.
var (
	AggregateSeasonFunction = spec.Function{
		Name:   "threefc/aggregate-season",
		Does:   "Computes the standings and the players' numbers of a season from its finished games.",
		IfDown: "The standings are old.",
		On:     game.AggregateQueue,
		Uses:   []spec.Access{tables.GetSeason, tables.ReadSeason, tables.ReadPlayers, tables.SaveTables, tables.TakeOutbox, tables.GetGame},
		Sends:  []spec.Queue{FinishQueue},
		Memory: 512, Timeout: time.Minute,
	}
	SweepOutboxFunction = spec.Function{
		Name:   "threefc/sweep-outbox",
		Does:   "Has the standings computed for finished games whose message was lost.",
		IfDown: "After a failure the standings stay old until the next game.",
		On:     spec.Schedule("rate(5 minutes)"),
		Uses:   []spec.Access{tables.ReadOutbox}, Sends: []spec.Queue{game.AggregateQueue},
		Memory: 128, Timeout: 30 * time.Second,
	}
)
