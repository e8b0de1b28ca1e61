package live

import (
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/dynamo"
)

// inPlay reports whether a match that is in phase by the payload is live afterwards.
func (p payload) inPlay(phase sportmonks.Phase) bool {
	return phase != sportmonks.Upcoming && !p.final && !p.away
}

// summaryWrite returns the write of the score into the summary of the match.
func (l leased) summaryWrite(p payload, s score.State) dynamo.Write {
	return match.SummaryWrite(l.Fixture, s, p.slot, p.inPlay(s.Phase))
}
