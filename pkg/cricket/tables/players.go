package tables

import "matchday/pkg/spec"

// Players of the matches that were polled. The seed does not have this table.
var (
	Players = spec.Table{Name: "cricket-players", Key: spec.Key{Partition: "playerId", Sort: "at"}}

	GetPlayer       = Players.On("Get player", "PK=playerId, SK=#", perRequest, spec.GetItem)
	MatchesOfPlayer = Players.On("Get matches of a player", "PK=playerId, SK back from {startTime}/{matchId} (up to 20)",
		perRequest, spec.Query)
	SearchPlayers = Players.On("Search players", "PK=#{letter}, SK begins with a word (up to 8)", perRequest, spec.Query)
	SeePlayers    = Players.On("Put players of a lineup", "PK=playerId, SK=#",
		spec.Rate{Driver: spec.MatchStart, Note: "for each player, when a poll shows another lineup"}, spec.UpdateItem)
	PutPlayers = Players.On("Put players of a match", "PK=playerId, SK=#; PK=#{letter}, SK={word}/{playerId}",
		spec.Rate{Driver: spec.MatchStart, Note: "for each player whom the lineup shows otherwise"},
		spec.BatchGetItem, spec.BatchWriteItem)
	PutAppearances = Players.On("Put or remove appearances in a match", "PK=playerId, SK={startTime}/{matchId}, endingAt <= :endingAt",
		spec.Rate{Driver: spec.MatchEnd, Note: "for each player"}, spec.PutItem, spec.BatchWriteItem)
)
