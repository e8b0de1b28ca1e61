package view

import (
	"context"

	"matchday/pkg/kit/pg"
)

// Standing is a team in the standings.
type Standing struct {
	_ struct{} `schema:"TeamStanding"`

	Position int     `json:"position" db:"order" doc:"In its group."`
	TeamID   string  `json:"teamId" db:"team_id" format:"uuid" doc:"The id of the team."`
	Team     string  `json:"team" db:"name" doc:"The name of the team."`
	Points   int     `json:"points" db:"points" doc:"Its points."`
	Played   int     `json:"played" db:"games" doc:"Its matches."`
	Wins     int     `json:"wins" db:"wins" doc:"Those that it won."`
	Draws    int     `json:"draws" db:"draws" doc:"Those without a winner."`
	Losses   int     `json:"losses" db:"losses" doc:"Those that it lost."`
	For      int     `json:"goalsFor" db:"gf" doc:"The goals that it scored."`
	Against  int     `json:"goalsAgainst" db:"ga" doc:"The goals against it."`
	Group    *string `json:"group" db:"group_name" doc:"Its group; null in a tournament with one table."`
}

// Standings returns the standings of a tournament, by group and position. Errors: ErrNoTournament.
func (v Views) Standings(ctx context.Context, tournamentID string) ([]Standing, error) {
	return decode[Standing](v.page(ctx, StandingsKey(tournamentID), firstPage, "", v.loadStandings(tournamentID)))
}

func (v Views) loadStandings(tournamentID string) load {
	return func(ctx context.Context) (projection, error) {
		version, ok, err := pg.Value[int64](ctx, v.DB, sql.GetStandingsVersion, tournamentID)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoTournament
		}

		rows, err := pg.All[Standing](ctx, v.DB, sql.ListStandings, tournamentID)
		if err != nil {
			return projection{}, err
		}

		return encode(version, rows)
	}
}
