package item

import (
	"strings"
)

// Standing is the item of a member's points of a year, among all members or in a
// league.
type Standing struct {
	Row
	BelongsTo string `dynamodbav:"belongsto"`
	Name      string `dynamodbav:"name"`
	Tally
}

// UserID returns the id of the member.
func (s Standing) UserID() string { return strings.TrimPrefix(s.BelongsTo, "USER#") }

// Scope returns the year of the standing and its league, "" for all members.
func (s Standing) Scope() (year, leagueID string) {
	year, leagueID, _ = strings.Cut(strings.TrimPrefix(s.SK, StandingsRef("")), "#")
	return year, leagueID
}

// Tally is the sum of a member's scored predictions of a year.
type Tally struct {
	Points     int    `dynamodbav:"points"`
	Correct    int    `dynamodbav:"mcorrect"`
	Played     int    `dynamodbav:"eplayed"`
	LastEvent  string `dynamodbav:"lastEvent"`  // the latest event with a scored prediction
	LastPoints int    `dynamodbav:"lastPoints"` // the points of LastEvent
}
