package cricket

import (
	"time"

	"matchday/pkg/cricket/sportmonks"
)

// ScoreOf is the score of a match to come.
func ScoreOf(row fixture, page sportmonks.Fixture, now time.Time) (cached, error) {
	return scheduledMatch{row, page, ""}.score(now)
}
