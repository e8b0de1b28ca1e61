// Package provider fetches football data from a provider, in the terms of the room.
//
// A tournament has one provider, by its Name. Rows of two providers never mix: a tournament keeps the
// provider that it was created with, and so do its matches and teams.
//
// Sofascore reads the format of the unofficial API of that name. That API has no licence for
// production and refuses requests of servers. APIFootball reads the format of API-Football v3, whose
// plans are licences. The local fleet simulates both. A stage has the second one only if its settings
// have it: see Settings.
//
// # What an adapter maps
//
//	Round       Slug is the number of a round of a league, or the name of a round of a cup, of the
//	            characters a to z, 0 to 9 and "-". It never changes. The rounds that all cups have are
//	            round-of-32, round-of-16, quarterfinals, semifinals, match-for-3rd-place and final.
//	            Path is what the adapter needs to ask for the round's matches. It is stored, and
//	            passed back.
//	Fixture.ID  an id that stays when the match is moved. A match without a date that gets another
//	            id is found by its teams.
//	Open        to be played, being played, at half time, in extra time, in a shoot-out
//	Ended       full time, after extra time, after penalties, with both scores
//	NotDefined  postponed, cancelled, abandoned, interrupted, awarded, walkover, or without a date
//	Unknown     any other status: it changes nothing, and is counted
//	Score       the goals after extra time; Penalties are those of the shoot-out alone
//	FinishedAt  the time of the final whistle, if the provider has it
//	Period      the part of the match that is played, while it is in play
//	Minute      the minute as the provider says it; MinuteAt counts it from the start of the period
//
// TestAdapters has the cases that every adapter passes against its simulator.
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

// Errors of a Provider beside those of the connection.
var (
	// ErrAbsent reports that the provider answers 404.
	ErrAbsent = errors.New("there is none")
	// ErrKey reports that the provider does not accept the key: the secret is missing or wrong.
	ErrKey = errors.New("the provider does not accept the key")
	// ErrPlan reports that the plan at the provider does not include what was asked for. It fails until
	// there is another plan.
	ErrPlan = errors.New("the plan at the provider does not include this")
)

// LimitedError reports that a budget of requests is used up. Until then requests fail, and may prolong
// the time.
type LimitedError struct{ Until time.Time }

func (e *LimitedError) Error() string {
	return "the provider takes no request until " + e.Until.UTC().Format(time.RFC3339)
}

// Round is a round at the provider.
type Round struct {
	Slug  string `json:"slug"` // "5", "round-of-16", "relegation-final"
	Label string `json:"label"`
	Order int    `json:"order"`
	Type  string `json:"type"` // "season" or "knockout"
	Path  string `json:"path"` // what the adapter asks for its matches with
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
	ProviderStatus string    `json:"providerStatus"` // "finished/110", "AET"
	Home           Side      `json:"home"`
	Away           Side      `json:"away"`
	// InPlay is whether it is in play: from the first whistle until its end, interruptions included.
	InPlay bool `json:"inPlay,omitempty"`
	// Over is whether the provider expects no more of it: it was played, or is decided without that. A
	// match that is over and has not Ended has no result that counts.
	Over bool `json:"over,omitempty"`
	// Minute is the minute of play, without added time; 0 if it is not known.
	Minute int `json:"minute,omitempty"`
	// Period is the part of the match that is played; "" if it is not in play, or the part is not known.
	Period Period `json:"period,omitempty"`
	// PeriodStart is when the period began, zero if the provider does not have the time.
	PeriodStart time.Time `json:"periodStart,omitzero"`
	// StartedAt is when the first half began, zero if the provider does not have the time.
	StartedAt time.Time `json:"startedAt,omitzero"`
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
