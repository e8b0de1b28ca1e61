package item

import (
	"strings"
)

// Standing is the item of a member's points of a year.
type Standing struct {
	Row
	BelongsTo string `dynamodbav:"belongsto"`
	Rev       int    `dynamodbav:"rev"` // the member's Rev with which it was written
	Tally
}

// UserID returns the id of the member.
func (s Standing) UserID() string { return strings.TrimPrefix(s.BelongsTo, "USER#") }

// Year returns the year of the standing.
func (s Standing) Year() string { return strings.TrimPrefix(s.SK, StandingsRef("")) }

// StandingKey returns the primary key of a member's standing of a year.
func StandingKey(userID, year string) Row { return Row{PK: UserRef(userID), SK: StandingsRef(year)} }

// Tally is the sum of a member's scored predictions of a year.
type Tally struct {
	Points      int    `dynamodbav:"points"`
	Correct     int    `dynamodbav:"mcorrect"`
	Played      int    `dynamodbav:"eplayed"`
	LastEvent   string `dynamodbav:"lastEvent"`   // the latest event with a scored prediction
	LastPoints  int    `dynamodbav:"lastPoints"`  // the points of LastEvent
	LastCorrect int    `dynamodbav:"lastCorrect"` // the correct picks of LastEvent

	SurvivorOut   string `dynamodbav:"survivorOut,omitempty"`   // the first event whose survivor pick was wrong
	SurvivorRight int    `dynamodbav:"survivorRight,omitempty"` // right survivor picks before SurvivorOut
}
