package schedule

import (
	"context"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// summariesOf reads the summaries of the matches in the range of the sync, by match.
func summariesOf(ctx context.Context, db dynamo.DB, active []catalog.LeagueRow, now time.Time) (map[string]match.SummaryRow, error) {
	all := map[string]match.SummaryRow{}

	for _, l := range active {
		from := now.Add(-syncBack).UTC().Format(tables.TimeLayout)

		rows, err := dynamo.QueryAll[match.SummaryRow](ctx, db, tables.SyncedSummaries,
			dynamo.Range{Key: dynamo.KeyAtLeast(tables.SyncedSummaries, l.LeagueID, from)})
		if err != nil {
			return nil, err
		}

		for _, r := range rows {
			all[r.MatchID] = r
		}
	}

	return all, nil
}

// summarize writes the summary of a match if it differs from the stored one. A summary that is not
// in stored is written too: its match has come into the range, or the index lags.
func (s *Syncer) summarize(ctx context.Context, stored map[string]match.SummaryRow, r match.SummaryRow) error {
	if was, ok := stored[r.MatchID]; ok && !r.Differs(was) {
		return nil
	}

	return r.Sync(ctx, s.db)
}

// asStored returns the match as the sync leaves it: the schedule of a match that is live or whose end
// is decided does not change.
func asStored(stored, scheduled match.Fixture) match.Fixture {
	if stored.Live != "" || stored.EndingAt != 0 {
		return stored
	}

	return scheduled
}
