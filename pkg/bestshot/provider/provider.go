// Package provider is what Best Shot asks of a provider of football data, and what it gets.
//
// Sofascore has an unofficial API without a licence for production, which refuses servers:
// it stands for the shape of the data, and the local fleet simulates it.
//
// # A licensed feed
//
// Production has a contract with a feed such as Opta, Sportradar or API-Football, and another
// Provider, which ingest.OpenPoller opens. It makes one request a round and maps the answer:
//
//	Round       Slug is the number of a round of a league, and the name of one of a cup, in
//	            letters of URLs; it never changes. Path is whatever the adapter needs to ask
//	            for the round's matches: it is stored, and given back.
//	Fixture.ID  one that lasts while the match is moved. A match that gets another id is found
//	            by its teams, if it had no date before.
//	Open        to be played, being played, at half time, in extra time, in a shoot-out
//	Ended       full time, after extra time, after penalties, with both scores
//	NotDefined  postponed, cancelled, abandoned, interrupted, awarded, walkover
//	Unknown     any other status: it changes nothing, and is counted
//	Score       the goals after extra time; Penalties are those of the shoot-out alone
//	FinishedAt  the time of the final whistle, if the feed has it
//
// Its key is one of the Secrets of poll-provider. Env.Secret reads it, and a header carries it.
//
// Name is in the rows of tournaments, teams and matches. Ids of two feeds never mix, and a
// tournament keeps the feed that it began with.
package provider

import (
	"context"
	"errors"
	"time"
)

// Provider fetches data. An error leaves everything as it is: it is asked again with the
// next poll. What is wrong with one round, match or row is an error beside the others, so that
// it holds up nothing else.
type Provider interface {
	// Rounds returns the rounds of a season, in the order in which they are played.
	Rounds(ctx context.Context, tournament, season string) ([]Round, error)
	// Matches returns the matches of a round, each once.
	Matches(ctx context.Context, tournament, season string, r Round) ([]Fixture, error)
	// Standings returns the standings.
	Standings(ctx context.Context, tournament, season string) ([]Standing, error)
	// Badge returns what the provider has as the image of a team, of at most MaxImage bytes.
	// Errors: ErrAbsent.
	Badge(ctx context.Context, team string) ([]byte, error)
	// Logo returns the same of a tournament.
	Logo(ctx context.Context, tournament string) ([]byte, error)
}

// MaxImage is the largest image that is read, in bytes.
const MaxImage = 256 << 10

// ErrAbsent reports what the provider does not have.
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

// The statuses. Unknown is one that the provider has not had before: the match keeps the
// status that it has.
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
	// FinishedAt is when it ended, zero if the provider does not say.
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
