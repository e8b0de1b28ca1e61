package schedule

import (
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
)

// ScoreOf returns the row of the score of a match as a sync writes it.
func ScoreOf(row match.Fixture, provided sportmonks.Fixture, now time.Time) (match.ScoreRow, error) {
	return scheduledMatch{row, provided, catalog.LeagueRow{}}.score(match.Titles{}, now)
}
