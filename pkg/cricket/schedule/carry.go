package schedule

import (
	"context"
	"slices"
	"strings"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// movedWithin is the longest time between the starts of a match and of the one that replaces it.
const movedWithin = 3 * 24 * time.Hour

// carryFollowers sends each stored match that was called off, and that a scheduled one replaces, to
// finish-match, which carries its followers. It sets carriedTo after the message, so that a crash in between
// sends the message again. found is already stored.
func (s *Syncer) carryFollowers(ctx context.Context, active []catalog.LeagueRow, found []scheduledMatch, now time.Time) error {
	for _, l := range active {
		stored, err := dynamo.QueryAll[match.Fixture](ctx, s.db, tables.FixturesByDate,
			dynamo.Range{Key: catalog.StartsBetween(l.Code, now.Add(-syncBack-movedWithin), now.Add(syncAhead))})
		if err != nil {
			return err
		}

		for _, old := range stored {
			if old.LeagueID != l.LeagueID || !calledOff(old) {
				continue
			}

			if to, ok := replacement(old, found); ok {
				if err := s.carry(ctx, old.MatchID, to); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// carry sends a match to finish-match that another replaces, once.
func (s *Syncer) carry(ctx context.Context, id string, to match.Fixture) error {
	old, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, id) // the index lacks carriedTo
	if err != nil || !ok || old.CarriedTo != "" {
		return err
	}

	if err := s.queue.Send(ctx, tables.FinishQueue, live.MatchLeft{MatchID: id, To: to.MatchID}, 0); err != nil {
		return err
	}

	set := dynamo.Set(match.Fixture{CarriedTo: to.MatchID}, "carriedTo")

	return dynamo.IgnoreRefused(old.Update(ctx, s.db, tables.UpdateFixture, set, dynamo.Exists[match.Fixture]("matchId")))
}

// calledOff reports whether the provider has postponed, cancelled or deleted a match: finish-match cancels
// a match that was deleted.
func calledOff(f match.Fixture) bool {
	status := strings.ToLower(strings.TrimSuffix(f.Status, "."))
	return status == "postp" || status == "cancl"
}

// replacement returns the scheduled match that replaces one that was called off: of the same league and
// teams, still to come, with a start within movedWithin of the old one, the nearest. Another round is another
// match of a series. Where the round of one is unknown, the day must be the same, in UTC.
func replacement(old match.Fixture, found []scheduledMatch) (next match.Fixture, ok bool) {
	away := func(f match.Fixture) time.Duration { return f.Start().Sub(old.Start()).Abs() }

	for _, m := range found {
		f := m.row
		teams := []string{f.LocalTeamID, f.VisitorTeamID}
		sameTeams := slices.Contains(teams, old.LocalTeamID) && slices.Contains(teams, old.VisitorTeamID)
		sameDay := f.StartTime[:len(time.DateOnly)] == old.StartTime[:len(time.DateOnly)]
		sameRound := f.Round == old.Round && f.Round != "" || sameDay && (f.Round == "" || old.Round == "")

		switch {
		case f.MatchID == old.MatchID, f.LeagueID != old.LeagueID, !sameTeams, !sameRound:
		case f.Phase() != sportmonks.Upcoming, calledOff(f), away(f) > movedWithin:
		case !ok || away(f) < away(next):
			next, ok = f, true
		}
	}

	return next, ok
}
