package tables

import "matchday/pkg/spec"

// Scorecards. The seed does not have this table.
var (
	Cards = spec.Table{Name: "cricket-cards", Key: spec.Key{Partition: "matchId", Sort: "part"}, TTL: "ttl"}

	GetCard = Cards.On("Get scorecard", "PK=matchId", perRequest, spec.Query)
	PutCard = Cards.On("Put changed parts of scorecard", "PK=matchId, SK=part", perChange, spec.PutItem)
)
