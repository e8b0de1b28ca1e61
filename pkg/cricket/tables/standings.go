package tables

import "matchday/pkg/spec"

// Tables of seasons. The seed does not have this table.
var (
	Standings = spec.Table{Name: "cricket-standings", Key: spec.Key{Partition: "seasonId"}}

	GetStandings = Standings.On("Get standings of a season", "PK=seasonId", perRequest, spec.GetItem)
	PutStandings = Standings.On("Put standings of a season", "PK=seasonId, readAt < :readAt",
		spec.Rate{Driver: spec.Job, Note: "for each active league whose standings have changed"}, spec.GetItem, spec.PutItem)
)
