package ingest

import (
	"context"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// standing is a row of the standings.
type standing struct {
	Team    string `db:"team_id"`
	Group   string `db:"group_name"`
	Order   int    `db:"order"`
	Points  int    `db:"points"`
	Games   int    `db:"games"`
	Wins    int    `db:"wins"`
	Draws   int    `db:"draws"`
	Losses  int    `db:"losses"`
	For     int    `db:"gf"`
	Against int    `db:"ga"`
}

// storeStandings replaces the standings if they have changed. If the provider no longer has a table,
// the stored one stays. An answer that is not newer than the last changes nothing: all projections of the
// tournament are invalidated, because the run that stored it may have crashed before it did so.
func storeStandings(ctx context.Context, tx pgx.Tx, f Feed, stale *staleKeys) error {
	last, _, err := pg.Value[*time.Time](ctx, tx, sql.GetStandingsCheckedAt, f.TournamentID)
	switch {
	case err != nil:
		return err
	case last != nil && !f.FetchedAt.After(*last):
		*stale, err = projectionsOf(ctx, tx, f.TournamentID)
		return err
	}

	teams := make([]provider.Team, len(f.Standings))
	for i, r := range f.Standings {
		teams[i] = r.Team
	}

	ids, err := storeTeams(ctx, tx, f.source(), teams, stale)
	if err != nil {
		return err
	}

	after := map[string]standing{}
	for _, r := range f.Standings {
		after[ids[r.Team.ID]] = newStanding(ids[r.Team.ID], r)
	}

	rows, err := pg.All[standing](ctx, tx, sql.ListStandings, f.TournamentID)
	if err != nil {
		return err
	}

	before := map[string]standing{}
	for _, r := range rows {
		before[r.Team] = r
	}

	same := len(after) == 0 || maps.Equal(before, after)
	if !same {
		if err := replaceStandings(ctx, tx, f.TournamentID, after); err != nil {
			return err
		}
	}

	version, _, err := pg.Value[int64](ctx, tx, sql.MarkStandingsChecked, f.TournamentID, f.FetchedAt, same)
	stale.add(view.StandingsKey(f.TournamentID), version)

	return err
}

// newStanding returns the row of a team.
func newStanding(teamID string, r provider.Standing) standing {
	out := standing{
		Team:    teamID,
		Order:   r.Position,
		Points:  r.Points,
		Games:   r.Games,
		Wins:    r.Wins,
		Draws:   r.Draws,
		Losses:  r.Losses,
		For:     r.For,
		Against: r.Against,
	}

	if r.Group != nil {
		out.Group = *r.Group
	}

	return out
}

// replaceStandings deletes the standings of a tournament, and adds rows.
func replaceStandings(ctx context.Context, tx pgx.Tx, tournamentID string, rows map[string]standing) error {
	var all pgx.Batch

	all.Queue(sql.DeleteStandings, tournamentID)

	for _, r := range rows {
		all.Queue(sql.AddStanding,
			tournamentID, r.Team, r.Group, r.Order, r.Points, r.Games, r.Wins, r.Draws, r.Losses, r.For, r.Against)
	}

	return tx.SendBatch(ctx, &all).Close()
}
