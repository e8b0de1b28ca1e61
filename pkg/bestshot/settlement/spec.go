package settlement

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// office is a function for administrators.
func office(name, does, down, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	return spec.Function{
		Name: "bestshot/" + name, Does: does, IfDown: down, On: spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL: []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: sends, Memory: 512, Timeout: 28 * time.Second, Reserved: 2,
	}
}

var own = []spec.Queue{Queue}

// The functions.
var (
	ListSettlementsFunction    = office("list-settlements", "Returns what was settled, or what is to be.", "Administrators do not see the backlog.", "GET", "/settlements", nil)
	CorrectMatchFunction       = office("correct-match", "Corrects the result of a match, or makes it void.", "A wrong result stays.", "POST", "/settlements/{matchId}/correct", own, 202)
	ListLettersFunction        = office("list-letters", "Returns the messages that could not be settled.", "Administrators do not see what has failed.", "GET", "/settlements/dlq", nil)
	ReplayLetterFunction       = office("replay-letter", "Sends a message that could not be settled again.", "What has failed stays failed.", "POST", "/settlements/dlq/{id}/replay", own, 202)
	HydrateScoreboardsFunction = office("hydrate-scoreboards", "Rebuilds the leaderboards of all active tournaments.", "Wrong leaderboards stay until the next settlement.", "POST", "/hydrate/scoreboard", nil)
	HydrateScoreboardFunction  = office("hydrate-scoreboard", "Rebuilds the leaderboard of a tournament.", "A wrong leaderboard stays until the next settlement.", "POST", "/hydrate/scoreboard/{tournamentId}", nil)

	SettleMatchesFunction = spec.Function{
		Name:   "bestshot/settle-matches",
		Does:   "Turns the results of matches into points, and writes the leaderboards.",
		IfDown: "Points do not arrive.",
		On:     Queue,
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Emits: []spec.Metric{Settled, Guesses},
		Memory: 512, Timeout: 30 * time.Second,
	}
	KeepLettersFunction = spec.Function{
		Name:   "bestshot/keep-letters",
		Does:   "Keeps the messages that could not be settled, for the administrators.",
		IfDown: "They wait in the dead-letter queue.",
		On:     spec.DeadLetters{Of: Queue},
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Emits: []spec.Metric{Kept},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
