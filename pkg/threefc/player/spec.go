package player

import (
	"time"

	"matchday/pkg/spec"
)

// Limits of players.
var (
	MaxPlayers = spec.Limit{Name: "players per league", Max: 1000, Code: "too_many_players"}
	// MaxGuesses is enough for a team behind one address that mistypes a code, and too
	// little to find one of 2⁴⁰.
	MaxGuesses = spec.Limit{Name: "wrong codes per address", Max: 30, Per: time.Hour, Code: "too_many_codes"}
	// MaxJoins lets several teams join a game on one day. It keeps a caller who has a code from
	// filling up the league, by joins without an account or by claims that are dropped again.
	MaxJoins = spec.Limit{Name: "new players who join a league by a code", Max: 100, Per: 24 * time.Hour, Code: "too_many_joins"}
	// MaxCallerJoins keeps one caller who has a code from using up MaxJoins, and the room of a game. All
	// players at a pitch may share one address of the network: three teams with substitutes.
	MaxCallerJoins = spec.Limit{
		Name: "new players of one caller who join a league by a code",
		Max:  40,
		Per:  24 * time.Hour,
		Code: "too_many_joins_of_caller",
	}
	// MaxRenames and MaxMerges bound how often the tables of all seasons of a league are computed
	// again. The user who has claimed a player, the scorekeepers and the administrators have MaxRenames
	// changes each, so that nobody leaves a name that administrators may not replace on that day.
	MaxRenames = spec.Limit{Name: "changes per player", Max: 10, Per: 24 * time.Hour, Code: "too_many_renames"}
	MaxMerges  = spec.Limit{Name: "merges per player", Max: 10, Per: 24 * time.Hour, Code: "too_many_merges"}
	// MaxClaims holds for claims and for joins, which claim the new player.
	MaxClaims = spec.Limit{Name: "claimed players per user", Max: 20, Code: "too_many_claims"}
	// MaxWrongClaims is enough for a user who mistypes a code, and too little to try ids of players.
	MaxWrongClaims = spec.Limit{Name: "refused claims per user", Max: 10, Per: time.Hour, Code: "too_many_wrong_claims"}
)
