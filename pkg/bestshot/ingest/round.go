package ingest

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
)

// storeRounds updates the rounds that are stored, and asks for the matches of the others. A round is
// stored with its first match.
func (s *Ingester) storeRounds(ctx context.Context, tx pgx.Tx, f Feed) error {
	known, err := pg.Values[string](ctx, tx, sql.ListRoundSlugs, f.TournamentID)
	if err != nil {
		return err
	}

	var (
		polls   []Poll
		updates pgx.Batch
	)

	for _, r := range f.Rounds {
		if slices.Contains(known, r.Slug) {
			updates.Queue(sql.UpdateRound, f.TournamentID, r.Slug, r.Order, r.Label, r.Path)
			continue
		}

		p := f.Poll
		p.Kind, p.Round, p.Execution = Matches, r, ""
		polls = append(polls, p)
	}

	if err := tx.SendBatch(ctx, &updates).Close(); err != nil {
		return err
	}

	if _, err := pg.Do(ctx, tx, sql.MarkRoundsChecked, f.TournamentID, f.FetchedAt); err != nil {
		return err
	}

	return queue.SendAll(ctx, s.queue, PollQueue, polls)
}

// storeTeams stores teams of a provider, and returns their ids by the provider's ids. If a team has another name,
// the projections that show it are stale, in every tournament. If the run crashes before it
// invalidates them, those of other tournaments show the old name until they expire.
func storeTeams(
	ctx context.Context, tx pgx.Tx, from provider.Name, all []provider.Team, stale *staleKeys,
) (ids map[string]string, err error) {
	byID := map[string]string{}
	for _, t := range all {
		byID[t.ID] = t.Name
	}

	// All transactions lock teams in the same order, so that none waits for another in a circle.
	externalIDs := slices.Sorted(maps.Keys(byID))

	names := make([]string, len(externalIDs))
	for i, id := range externalIDs {
		names[i] = byID[id]
	}

	rows, err := pg.All[struct {
		ExternalID string `db:"external_id"`
		ID         string `db:"id"`
		Renamed    bool   `db:"renamed"`
	}](ctx, tx, sql.PutTeams, from, externalIDs, names)
	if err != nil {
		return nil, err
	}

	ids = map[string]string{}

	var renamed []string

	for _, r := range rows {
		ids[r.ExternalID] = r.ID

		if r.Renamed {
			renamed = append(renamed, r.ID)
		}
	}

	if len(renamed) == 0 {
		return ids, nil
	}

	return ids, raiseProjections(ctx, tx, renamed, stale)
}

// raiseProjections raises the versions of the projections that show one of the teams.
func raiseProjections(ctx context.Context, tx pgx.Tx, teamIDs []string, stale *staleKeys) error {
	rows, err := pg.All[struct {
		Tournament string  `db:"tournament_id"`
		Round      *string `db:"slug"` // nil for standings
		Version    int64   `db:"version"`
	}](ctx, tx, sql.RaiseProjectionsOfTeams, teamIDs)

	for _, r := range rows {
		if r.Round == nil {
			stale.add(view.StandingsKey(r.Tournament), r.Version)
		} else {
			stale.add(view.MatchesKey(r.Tournament, *r.Round), r.Version)
		}
	}

	return err
}
