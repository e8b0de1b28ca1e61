package player

import (
	"net/http"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// Limits of players.
var (
	MaxPlayers = spec.Limit{Name: "players per league", Max: 1000, Code: "too_many_players"}
	// MaxGuesses is enough for a team behind one address that mistypes a code, and too
	// little to find one of 2⁴⁰.
	MaxGuesses = spec.Limit{Name: "wrong codes per address", Max: 30, Per: time.Hour, Code: "too_many_codes"}
	// MaxJoins lets several teams join a game on one day, and keeps who has a code from filling up
	// the league: by joins without an account, or by claims that are dropped again.
	MaxJoins = spec.Limit{Name: "new players who join a league by a code", Max: 100, Per: 24 * time.Hour, Code: "too_many_joins"}
	// MaxRenames and MaxMerges bound how often the tables of all seasons of a league are computed
	// again. Who has claimed a player and the scorekeepers change it up to MaxRenames each, so that
	// nobody can leave a name that scorekeepers may not replace on that day.
	MaxRenames = spec.Limit{Name: "changes per player", Max: 10, Per: 24 * time.Hour, Code: "too_many_renames"}
	MaxMerges  = spec.Limit{Name: "merges per player", Max: 10, Per: 24 * time.Hour, Code: "too_many_merges"}
	// MaxClaims holds for claims and for joins, which claim the new player.
	MaxClaims = spec.Limit{Name: "claimed players per user", Max: 20, Code: "too_many_claims"}
)

// The functions.
var (
	CreatePlayerFunction = spec.Function{
		Name:   "threefc/create-player",
		Does:   "Creates a player of a league.",
		IfDown: "No player can be added.",
		On:     spec.Route{Method: "POST", Path: "/v1/players", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetLeague, tables.CreatePlayer), Limits: []spec.Limit{MaxPlayers},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListPlayersFunction = spec.Function{
		Name:   "threefc/list-players",
		Does:   "Returns the players of a league.",
		IfDown: "Scorekeepers cannot choose players.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/players", Auth: spec.Session},
		Uses:   league.Reads(tables.ListPlayers),
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetPlayerFunction = spec.Function{
		Name:   "threefc/get-player",
		Does:   "Returns a player.",
		IfDown: "The app does not show a player.",
		On:     spec.Route{Method: "GET", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:   league.Reads(tables.GetPlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}
	UpdatePlayerFunction = spec.Function{
		Name:   "threefc/update-player",
		Does:   "Changes the nickname or the avatar of a player.",
		IfDown: "Players cannot be renamed.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.SavePlayer, tables.ListSeasons), Sends: []spec.Queue{game.AggregateQueue}, Limits: []spec.Limit{MaxRenames},
		Memory: 256, Timeout: 10 * time.Second,
	}
	DeletePlayerFunction = spec.Function{
		Name:   "threefc/delete-player",
		Does:   "Deletes a player who was never in a team of a game.",
		IfDown: "Players who joined by mistake, or to annoy, cannot be removed.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/players/{playerId}", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.GetLeague, tables.DropPlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}
	MergePlayerFunction = spec.Function{
		Name:   "threefc/merge-player",
		Does:   "Makes two players one, who are the same person.",
		IfDown: "Players cannot be merged.",
		On:     spec.Route{Method: "POST", Path: "/v1/players/{playerId}/merge", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.SavePlayer, tables.ListSeasons), Sends: []spec.Queue{game.AggregateQueue}, Limits: []spec.Limit{MaxMerges},
		Memory: 256, Timeout: 10 * time.Second,
	}
	ClaimPlayerFunction = spec.Function{
		Name:   "threefc/claim-player",
		Does:   "Says that the caller is a player.",
		IfDown: "Players cannot be claimed.",
		On:     spec.Route{Method: "POST", Path: "/v1/players/{playerId}/claim", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.SavePlayer, tables.MyPlayers, tables.CountClaims), Limits: []spec.Limit{MaxClaims},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DropClaimFunction = spec.Function{
		Name:   "threefc/drop-claim",
		Does:   "Gives a player free whom a user has claimed.",
		IfDown: "A wrong claim cannot be ended.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/players/{playerId}/claim", Auth: spec.Session},
		Uses:   league.Writes(tables.GetPlayer, tables.SavePlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}
	CreateCodeFunction = spec.Function{
		Name:   "threefc/create-join-code",
		Does:   "Makes a code by which players join a game.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/join-code", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetGame, tables.PutCode),
		Memory: 256, Timeout: 5 * time.Second,
	}
	RevokeCodesFunction = spec.Function{
		Name:   "threefc/revoke-join-codes",
		Does:   "Ends all codes by which players join a game.",
		IfDown: "A code that is in wrong hands stays valid for its day.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/join-code", Auth: spec.Session},
		Uses:   league.Writes(tables.GetGame, tables.RevokeCodes),
		Memory: 256, Timeout: 5 * time.Second,
	}
	JoinFunction = spec.Function{
		Name:   "threefc/join-game",
		Does:   "Puts who has a code into the pool of a game.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "POST", Path: "/v1/join/{code}", Auth: spec.Browser, Answers: []int{http.StatusCreated}},
		Uses:   []spec.Access{tables.ResolveSession, tables.FindCode, tables.CountGuess, tables.GetGame, tables.GetLeague, tables.MyPlayers, tables.CountClaims, tables.JoinPool, account.CheckDeleted}, Limits: []spec.Limit{game.MaxPlayers, MaxPlayers, MaxJoins, MaxGuesses, MaxClaims},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ShowCodeFunction = spec.Function{
		Name:   "threefc/show-join-code",
		Does:   "Shows the QR code of a code by which players join a game.",
		IfDown: "Players must type the code.",
		On:     spec.Route{Method: "GET", Path: "/v1/join/{code}/qr.png", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindCode, tables.CountGuess, tables.GetGame}, Limits: []spec.Limit{MaxGuesses},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListPoolFunction = spec.Function{
		Name:   "threefc/list-pool",
		Does:   "Returns who has joined a game.",
		IfDown: "Scorekeepers do not see who has joined.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/pool", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListPool),
		Memory: 256, Timeout: 5 * time.Second,
	}
)
