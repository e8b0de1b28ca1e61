package cricket

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/feed"
	"matchday/pkg/cricket/score"
	"matchday/pkg/kit/dynamo"
)

// The schedule is copied from two days back, for matches that were moved or
// missed, to a month ahead.
const (
	syncBack  = 2 * 24 * time.Hour
	syncAhead = 30 * 24 * time.Hour
)

// SyncFixtures copies the schedule of the active leagues. What the ticker owns
// of a match is never written: a live match is left alone, and of any other only
// the provider's fields are. Fixtures that cannot be read are its error, after
// the others are copied.
//
// A new match gets its score first: once its row is there, the score is the
// ticker's.
func (s *Syncer) SyncFixtures(ctx context.Context) error {
	now := s.now()
	found, unread := s.scheduled(ctx, now)
	keys := make([]dynamo.Item, len(found))
	for i, m := range found {
		keys[i] = dynamo.Key(batchGetFixtures, m.row.MatchID)
	}
	known, err := dynamo.GetAll[fixture](ctx, s.db, batchGetFixtures, keys)
	if err != nil {
		return errors.Join(unread, err)
	}
	scores, err := collect(func(after dynamo.Item) ([]cached, dynamo.Item, error) {
		return dynamo.Scan[cached](ctx, s.db, allCached, nil, after, 0)
	})
	if err != nil {
		return errors.Join(unread, err)
	}
	var fresh []fixture
	var unscored []cached
	for _, m := range found {
		score, err := m.score(now)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(known, func(k fixture) bool { return k.MatchID == m.row.MatchID })
		j := slices.IndexFunc(scores, func(c cached) bool { return c.MatchID == m.row.MatchID })
		same := j >= 0 && (scores[j].LastSlot != 0 || scores[j].StateJSON == score.StateJSON)
		switch {
		case i < 0:
			fresh = append(fresh, m.row)
			if !same {
				unscored = append(unscored, score)
			}
			continue
		case !same:
			err = s.rescore(ctx, score)
		}
		if err = errors.Join(err, s.move(ctx, known[i], m.row)); err != nil {
			return err
		}
	}
	if err := dynamo.PutAll(ctx, s.db, batchPutCached, unscored); err != nil {
		return err
	}
	if err := dynamo.PutAll(ctx, s.db, batchPutFixtures, fresh); err != nil {
		return err
	}
	slog.InfoContext(ctx, "fixtures synced", "fixtures", len(found), "new", len(fresh))
	return unread
}

// scheduledMatch is a match as the provider schedules it.
type scheduledMatch struct {
	row  fixture
	said feed.Fixture
}

// score is that of a match to come.
func (m scheduledMatch) score(now time.Time) (cached, error) {
	state, _ := score.Read(m.said, score.State{})
	return newCached(m.row, state, 0, now)
}

// scheduled lists the matches of the active leagues that can be read.
func (s *Syncer) scheduled(ctx context.Context, now time.Time) (found []scheduledMatch, unread error) {
	active, err := readActiveLeagues(ctx, s.db)
	if err != nil {
		return nil, err
	}
	codes := map[string]string{}
	for _, l := range active {
		codes[l.LeagueID] = l.Code
	}
	seen := map[string]bool{} // a match may move to another page while we read
	for f, err := range s.provider.Fixtures(ctx, now.Add(-syncBack), now.Add(syncAhead)) {
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		row := newFixture(f, "")
		code, ok := codes[row.LeagueID]
		if !ok || seen[row.MatchID] || f.Start.IsZero() {
			continue
		}
		seen[row.MatchID] = true
		row.LeagueCode = code
		found = append(found, scheduledMatch{row, f})
	}
	return found, unread
}

// rescore replaces a match's score, unless it was polled.
func (s *Syncer) rescore(ctx context.Context, c cached) error {
	err := dynamo.Put(ctx, s.db, putCached, c, notAfter(0))
	if dynamo.IsRefused(err) {
		return nil
	}
	return err
}

// move writes what the provider has changed about a match that is not live.
func (s *Syncer) move(ctx context.Context, was, is fixture) error {
	if was.Live != "" || was.EndingAt != 0 {
		return nil
	}
	same := was
	same.Live, same.LiveUpdatedAt, same.ArchivedAt, same.LastSlot, same.BodySum, same.Polls, same.MissingSince = "", 0, 0, 0, "", 0, 0
	if same == is {
		return nil
	}
	set := expression.Set(expression.Name("leagueCode"), expression.Value(is.LeagueCode)).
		Set(expression.Name("leagueId"), expression.Value(is.LeagueID)).
		Set(expression.Name("seasonId"), expression.Value(is.SeasonID)).
		Set(expression.Name("startTime"), expression.Value(is.StartTime)).
		Set(expression.Name("round"), expression.Value(is.Round)).
		Set(expression.Name("type"), expression.Value(is.Type)).
		Set(expression.Name("status"), expression.Value(is.Status)).
		Set(expression.Name("localTeamId"), expression.Value(is.LocalTeamID)).
		Set(expression.Name("visitorTeamId"), expression.Value(is.VisitorTeamID)).
		Set(expression.Name("venueName"), expression.Value(is.VenueName))
	idle := expression.AttributeNotExists(expression.Name("live")).And(notEnding())
	err := is.update(ctx, s.db, updateFixture, set, idle)
	if dynamo.IsRefused(err) { // it went live meanwhile
		return nil
	}
	return err
}
