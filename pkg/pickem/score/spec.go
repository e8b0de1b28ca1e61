package score

import (
	"time"

	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Queue delivers the messages of this package's function.
var Queue = spec.Queue{Name: "pickem-score-event.fifo", MaxReceiveCount: 5, Batch: 1, Concurrency: 5}

// The jobs.
var (
	ScoreEventFunction = spec.Function{
		Name:   "pickem/score-event",
		Does:   "Scores all predictions of an event, and writes the standings and the rankings.",
		IfDown: "Events are not scored. Queued scorings run after the recovery.",
		On:     Queue,
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.EntriesOf, tables.NamesOf, tables.GetMember, tables.ScoreMember, tables.GetStandings, tables.WriteRanking, tables.ChangeEvent},
		Memory: 1024, Timeout: time.Minute, // the visibility timeout is six times as long: after a failed run, the messages of the event wait for it
	}
	RebuildStandingsFunction = spec.Function{
		Name:   "pickem/rebuild-standings",
		Does:   "Rebuilds the standings of a year from the scores. An operator invokes it with {\"year\": 2026}.",
		IfDown: "Wrong standings cannot be repaired.",
		On:     spec.Task{},
		Uses:   []spec.Access{tables.AllMembers, tables.NamesOf, tables.GetMember, tables.ScoreMember, tables.GetStandings, tables.WriteRanking},
		Memory: 1024, Timeout: 15 * time.Minute,
	}
)
