package live

import (
	"context"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// inPlay reports whether a match that is in phase by the payload is live afterwards.
func (p payload) inPlay(phase sportmonks.Phase) bool {
	return phase != sportmonks.Upcoming && !p.final && !p.away
}

// summarize writes the score into the summary of the match.
func (i *ingester) summarize(ctx context.Context, l leased, p payload, s score.State) error {
	return match.UpdateSummary(ctx, i.db, l.Fixture, s, p.slot, p.inPlay(s.Phase))
}
