package tables

import (
	"slices"

	"matchday/pkg/spec"
)

// summarized are the attributes of a summary that its indexes have, as far as they are not keys. They are not lastSlot, which
// each write changes. DynamoDB allows 20 in an index.
var summarized = []string{
	"leagueId", "leagueCode", "leagueName", "seasonId", "startTime", "round", "type", "venueName",
	"localTeamId", "visitorTeamId", "local", "visitor", "live", "score",
}

// Summaries of matches for lists. The seed does not have this table. A list is one query of an
// index, which costs half a read unit for 4 kB: about six matches. DynamoDB moves a match to its
// place in each list with the write of its row. The sort keys at and rank end with the id of the match,
// so that they are unique.
var (
	Summaries = spec.Table{
		Name: "cricket-summaries", Key: spec.Key{Partition: "matchId"},
		Indexes: []spec.Index{
			{Name: "live-rank-index", Key: spec.Key{Partition: "live", Sort: "rank"}, Include: summaryWithout("live")},
			{Name: "span-at-index", Key: spec.Key{Partition: "span", Sort: "at"}, Include: summarized},
			{
				Name: "leagueId-at-index", Key: spec.Key{Partition: "leagueId", Sort: "at"},
				Include: append(summaryWithout("leagueId"), "rank"), // the sync compares it
			},
			{
				Name: "localTeamId-at-index", Key: spec.Key{Partition: "localTeamId", Sort: "at"},
				Include: summaryWithout("localTeamId"),
			},
			{
				Name: "visitorTeamId-at-index", Key: spec.Key{Partition: "visitorTeamId", Sort: "at"},
				Include: summaryWithout("visitorTeamId"),
			},
		},
	}

	LiveSummaries = Summaries.OnIndex("live-rank-index", "Get matches in play", "live = 1 (up to 30), in the order of rank",
		perRequest, spec.Query)
	DaySummaries = Summaries.OnIndex("span-at-index", "Get matches of a day", "span = :span AND at BETWEEN :from AND :to (up to 30)",
		perRequest, spec.Query)
	LeagueSummaries = Summaries.OnIndex("leagueId-at-index", "Get matches of a league", "leagueId = :lid, from at on or back",
		perRequest, spec.Query)
	LocalSummaries = Summaries.OnIndex("localTeamId-at-index", "Get home matches of a team",
		"localTeamId = :team, from at on or back", perRequest, spec.Query)
	VisitorSummaries = Summaries.OnIndex("visitorTeamId-at-index", "Get away matches of a team",
		"visitorTeamId = :team, from at on or back", perRequest, spec.Query)

	SyncedSummaries = Summaries.OnIndex("leagueId-at-index", "Get synced matches of a league",
		"leagueId = :lid AND at >= :from", spec.Rate{Driver: spec.Sync, Note: "for each active league"}, spec.Query)
	BatchPutSummaries = Summaries.On("Batch write summaries", "PK=matchId (batches of 25)", perSync, spec.BatchWriteItem)
	SyncSummary       = Summaries.On("Update schedule of a summary", "PK=matchId, lastSlot <= :slot",
		spec.Rate{Driver: spec.Sync, Note: "for each match whose schedule, names or titles have changed"}, spec.UpdateItem)
	UpdateSummary = Summaries.On("Update score of a summary", "PK=matchId, lastSlot <= :slot",
		perChange, spec.UpdateItem)
	MarkSummary = Summaries.On("Mark summary as live or not", "PK=matchId, attribute_exists(matchId), lastSlot <= :slot",
		spec.Rate{Driver: spec.MatchEnd, Note: "when the match leaves the feed"}, spec.UpdateItem)
)

// What the home of a user reads.
var (
	UsersStarts       = Follows.On("Get starts of user's follows", "PK=#USER#{userId}, SK >= {startTime} (up to 32)", perRequest, spec.Query)
	BatchGetSummaries = Summaries.On("Batch get summaries", "PK=matchId (up to 5)", perRequest, spec.BatchGetItem)
	ActivityLists     = Subscriptions.On("Get user's lists of subscriptions", "PK=#USER#{userId}, matchId BETWEEN :from AND :to (up to 12)",
		perRequest, spec.Query)
)

// Words in the names of teams and leagues. The seed does not have this table.
var (
	Words = spec.Table{Name: "cricket-search", Key: spec.Key{Partition: "letter", Sort: "word"}}

	SearchWords = Words.On("Search words", "PK={kind}/{letter}, SK begins with a word (up to 20)", perRequest, spec.Query)
	SyncWords   = Words.On("Sync words", "PK=#, SK=#; full scan and batches of 25 when a name has changed", perSync,
		spec.GetItem, spec.Scan, spec.BatchWriteItem, spec.PutItem, spec.DeleteItem)
)

// summaryWithout returns the attributes of a summary without the keys of an index.
func summaryWithout(keys ...string) []string {
	return slices.DeleteFunc(slices.Clone(summarized), func(name string) bool { return slices.Contains(keys, name) })
}
