package view

import (
	"context"
	"time"

	"matchday/pkg/kit/pg"
)

// Status is the status of a match.
type Status string

// Match is a match of a round.
type Match struct {
	ID     string    `json:"id" format:"uuid" doc:"The id of the match."`
	Date   time.Time `json:"date" doc:"The kick-off."`
	Status Status    `json:"status" enum:"open,ended,not-defined" doc:"open: not over yet; it can be guessed before its date. ended: with its result. not-defined: postponed, interrupted or cancelled; it earns nothing unless it is played."`
	Home   Side      `json:"home" doc:"The home team."`
	Away   Side      `json:"away" doc:"The away team."`
	Live   *Live     `json:"live,omitempty" doc:"The match in play: absent before it, after it, and while its score is not known."`
}

// Side is a team in a match.
type Side struct {
	_ struct{} `schema:"MatchSide"`

	ID    string `json:"id" format:"uuid" doc:"The id of the team."`
	Name  string `json:"name" doc:"The name of the team."`
	Score *int   `json:"score" doc:"Its goals, also those of extra time, without penalties; null before the match."`
}

// MatchRow is a match as the database has it.
type MatchRow struct {
	ID        string    `db:"id"`
	Date      time.Time `db:"date"`
	Status    Status    `db:"status"`
	HomeID    string    `db:"home_id"`
	HomeName  string    `db:"home_name"`
	HomeScore *int      `db:"home_score"`
	AwayID    string    `db:"away_id"`
	AwayName  string    `db:"away_name"`
	AwayScore *int      `db:"away_score"`
	LiveRow
}

// Match returns the match as members see it.
func (r MatchRow) Match() Match {
	home := Side{ID: r.HomeID, Name: r.HomeName, Score: r.HomeScore}
	away := Side{ID: r.AwayID, Name: r.AwayName, Score: r.AwayScore}

	return Match{r.ID, r.Date.UTC(), r.Status, home, away, r.Live()}
}

// Matches returns the matches of a round by kick-off. Errors: ErrNoRound.
func (v Views) Matches(ctx context.Context, tournamentID, round string) ([]Match, error) {
	return decode[Match](v.page(ctx, MatchesKey(tournamentID, round), firstPage, "", v.loadMatches(tournamentID, round)))
}

// RefreshMatches writes the projection of a round.
func (v Views) RefreshMatches(ctx context.Context, tournamentID, round string) error {
	return v.refresh(ctx, MatchesKey(tournamentID, round), v.loadMatches(tournamentID, round))
}

func (v Views) loadMatches(tournamentID, round string) load {
	return func(ctx context.Context) (projection, error) {
		// The version is read first. If the matches change in between, the next version replaces the
		// projection.
		version, ok, err := pg.Value[int64](ctx, v.DB, sql.GetRoundVersion, tournamentID, round)
		if err != nil {
			return projection{}, err
		}

		if !ok {
			return projection{}, ErrNoRound
		}

		rows, err := pg.All[MatchRow](ctx, v.DB, sql.ListMatches, tournamentID, round)
		if err != nil {
			return projection{}, err
		}

		all := make([]Match, len(rows))
		for i, r := range rows {
			all[i] = r.Match()
		}

		return encode(version, all)
	}
}
