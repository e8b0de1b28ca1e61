// Package provider fetches football data from a provider, in the terms of the room.
//
// Sofascore reads the format of the unofficial API of that name. That API has no licence for
// production and refuses requests of servers. The local fleet simulates it.
//
// # A licensed feed
//
// Production needs a contract with a feed such as Opta, Sportradar or API-Football, and another
// Provider, which ingest.OpenPoller opens. It makes one request for each round and maps the answer:
//
//	Round       Slug is the number of a round of a league, or the name of a round of a cup, of the
//	            characters a to z, 0 to 9 and "-". It never changes. Path is what the adapter needs
//	            to ask for the round's matches. It is stored, and passed back.
//	Fixture.ID  an id that stays when the match is moved. A match without a date that gets another
//	            id is found by its teams.
//	Open        to be played, being played, at half time, in extra time, in a shoot-out
//	Ended       full time, after extra time, after penalties, with both scores
//	NotDefined  postponed, cancelled, abandoned, interrupted, awarded, walkover
//	Unknown     any other status: it changes nothing, and is counted
//	Score       the goals after extra time; Penalties are those of the shoot-out alone
//	FinishedAt  the time of the final whistle, if the feed has it
//
// The key of the feed is one of the Secrets of poll-provider. Env.Secret reads it, and a header
// carries it.
//
// Name is in the rows of tournaments, teams and matches. Rows of two feeds never mix: a tournament
// keeps the feed that it was created with.
package provider

import (
	"context"
	"errors"
	"time"
)

// Provider fetches data. After an error nothing changes, and the next poll asks again. If one round
// or match of an answer is wrong, the method returns the others together with an error.
type Provider interface {
	// Rounds returns the rounds of a season, in the order in which they are played.
	Rounds(ctx context.Context, tournament, season string) ([]Round, error)
	// Matches returns the matches of a round, each once.
	Matches(ctx context.Context, tournament, season string, r Round) ([]Fixture, error)
	// Standings returns the standings, none for a cup.
	Standings(ctx context.Context, tournament, season string) ([]Standing, error)
	// Badge returns the image of a team, of at most MaxImage bytes in any format. Errors: ErrAbsent.
	Badge(ctx context.Context, team string) ([]byte, error)
	// Logo returns the image of a tournament, as Badge does.
	Logo(ctx context.Context, tournament string) ([]byte, error)
}

// MaxImage is the largest image that is read, in bytes.
const MaxImage = 256 << 10

// ErrAbsent reports that the provider answers 404.
var ErrAbsent = errors.New("there is none")

// Round is a round at the provider.
type Round struct {
	Slug  string `json:"slug"` // "5", "round-of-16", "relegation-final"
	Label string `json:"label"`
	Order int    `json:"order"`
	Type  string `json:"type"` // "season" or "knockout"
	Path  string `json:"path"` // of its matches, below the season
}

// Status is the status of a match.
type Status string

// The statuses. A match with the status Unknown keeps the status that is stored.
const (
	Open       Status = "open"
	Ended      Status = "ended"
	NotDefined Status = "not-defined" // postponed, interrupted, cancelled, or without a result
	Unknown    Status = "unknown"
)

// Team is a team at the provider.
type Team struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Fixture is a match at the provider.
type Fixture struct {
	ID             string    `json:"id"`
	KickOff        time.Time `json:"kickOff"`
	Status         Status    `json:"status"`
	ProviderStatus string    `json:"providerStatus"` // "finished/110"
	Home           Side      `json:"home"`
	Away           Side      `json:"away"`
	// FinishedAt is when it ended, zero if the provider does not have the time.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Side is a team in a match.
type Side struct {
	Team
	Score     *int `json:"score"` // after extra time, without penalties; nil before the match
	Penalties *int `json:"penalties,omitempty"`
}

// Standing is a team in the standings.
type Standing struct {
	Team     Team    `json:"team"`
	Group    *string `json:"group"` // nil in a tournament with one table
	Position int     `json:"position"`
	Points   int     `json:"points"`
	Games    int     `json:"games"`
	Wins     int     `json:"wins"`
	Draws    int     `json:"draws"`
	Losses   int     `json:"losses"`
	For      int     `json:"goalsFor"`
	Against  int     `json:"goalsAgainst"`
}
