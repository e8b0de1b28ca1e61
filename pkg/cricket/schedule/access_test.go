package schedule

import (
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
)

// ScoreOf is the score of a match to come.
func ScoreOf(row match.Fixture, page sportmonks.Fixture, now time.Time) (match.ScoreRow, error) {
	return scheduledMatch{row, page, ""}.score(now)
}
