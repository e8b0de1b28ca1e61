package item

import (
	"strings"
)

const StandingType = "standings"

// Standing is the item of a member's points of a year, among all or in a league.
type Standing struct {
	Row
	BelongsTo string `dynamodbav:"belongsto"`
	Name      string `dynamodbav:"name"`
	Tally
}

func (s Standing) UserID() string { return strings.TrimPrefix(s.BelongsTo, "USER#") }

// Scope is whose points they are compared with: those of a year's events, among the
// members of a league, or of all for "".
func (s Standing) Scope() (year, leagueID string) {
	year, leagueID, _ = strings.Cut(strings.TrimPrefix(s.SK, StandingsRef("")), "#")
	return year, leagueID
}

// Tally is what a member's predictions of a year add up to.
type Tally struct {
	Points     int    `dynamodbav:"points"`
	Correct    int    `dynamodbav:"mcorrect"`
	Played     int    `dynamodbav:"eplayed"`
	LastEvent  string `dynamodbav:"lastEvent"`  // of those that were played
	LastPoints int    `dynamodbav:"lastPoints"` // what it brought
}
