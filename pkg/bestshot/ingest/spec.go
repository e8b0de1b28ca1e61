package ingest

import (
	"time"

	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// office is a function for administrators.
func office(name, does, down, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	return spec.Function{
		Name: "bestshot/" + name, Does: does, IfDown: down, On: spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL: []spec.SQLLogin{tables.Worker}, Sends: sends, Memory: 256, Timeout: 15 * time.Second, Reserved: 2,
	}
}

var (
	polls  = []spec.Queue{PollQueue}
	settle = []spec.Queue{settlement.Queue}
)

// The functions.
var (
	CreateTournamentFunction = office("create-tournament", "Creates a tournament of the provider.", "No tournament can be added.", "POST", "/tournaments", polls, 201)
	UpdateTournamentFunction = office("update-tournament", "Changes a tournament, or what a guess earns in it.", "No tournament can be changed.", "PATCH", "/tournaments/{tournamentId}", settle)
	DeleteTournamentFunction = office("delete-tournament", "Deletes a tournament.", "No tournament can be deleted.", "DELETE", "/tournaments/{tournamentId}", nil)
	UpdateRoundFunction      = office("update-round", "Changes what the points of a round are multiplied by.", "No round can be changed.", "PATCH", "/tournaments/{tournamentId}/rounds/{roundSlug}", settle)
	SyncTournamentFunction   = office("sync-tournament", "Asks the provider for the rounds, matches or standings of a tournament.", "A tournament waits for the next poll.", "POST", "/tournaments/{tournamentId}/{part}", polls, 202)
	ListExecutionsFunction   = office("list-executions", "Returns what administrators have asked the provider for.", "Administrators do not see whether a request has failed.", "GET", "/tournaments/{tournamentId}/executions", nil)
	SyncMatchFunction        = office("sync-match", "Asks the provider for a match.", "A match waits for the next poll.", "PATCH", "/matches/{matchId}/sync", polls, 202)

	PlanPollsFunction = spec.Function{
		Name:   "bestshot/plan-polls",
		Does:   "Every 5 minutes asks for the matches, rounds and standings that may have changed, and for images.",
		IfDown: "Results do not arrive.",
		On:     spec.Schedule("rate(5 minutes)"),
		SQL:    []spec.SQLLogin{tables.Worker}, Sends: []spec.Queue{PollQueue, AssetQueue, settlement.Queue},
		Memory: 256, Timeout: time.Minute, Reserved: 1,
	}
	PollProviderFunction = spec.Function{
		Name:   "bestshot/poll-provider",
		Does:   "Asks the provider for what is due, and hands it on.",
		IfDown: "Results do not arrive.",
		On:     PollQueue,
		Sends:  []spec.Queue{FeedQueue}, Emits: []spec.Metric{PollsFailed},
		Memory: 256, Timeout: 30 * time.Second,
	}
	SyncAssetsFunction = spec.Function{
		Name:    "bestshot/sync-assets",
		Does:    "Fetches badges of teams and logos of tournaments.",
		IfDown:  "New teams and tournaments have no image.",
		On:      AssetQueue,
		Objects: []spec.ObjectAccess{tables.Assets.On("", spec.PutObject)}, Sends: []spec.Queue{FeedQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}
	IngestFeedFunction = spec.Function{
		Name:   "bestshot/ingest-feed",
		Does:   "Stores what the provider has answered, and posts the matches that have ended.",
		IfDown: "Results wait in a queue.",
		On:     FeedQueue,
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: []spec.Queue{PollQueue, settlement.Queue}, Emits: []spec.Metric{Refused},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
