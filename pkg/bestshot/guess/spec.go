package guess

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// The functions.
var (
	PutGuessFunction = spec.Function{
		Name:   "bestshot/put-guess",
		Does:   "Stores the caller's guess of a match until its kick-off.",
		IfDown: "Nobody can guess.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/guess", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted}, SQL: []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 40,
	}
	ListGuessesFunction = spec.Function{
		Name:   "bestshot/list-guesses",
		Does:   "Returns the caller's guesses of a round, with what they have earned.",
		IfDown: "Members do not see their guesses.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/guess", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 20,
	}
	ListMatchGuessesFunction = spec.Function{
		Name:   "bestshot/list-match-guesses",
		Does:   "Returns the guesses of a match that has begun.",
		IfDown: "Members do not see the guesses of others.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/matches/{matchId}/guesses", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 12,
	}
	GetScoreFunction = spec.Function{
		Name:   "bestshot/get-score",
		Does:   "Returns the points of a member in a tournament.",
		IfDown: "Members do not see their points beside the leaderboard.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/score", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}
)
