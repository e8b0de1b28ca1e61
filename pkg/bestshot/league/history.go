package league

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

// maxHistory bounds the history of a league: more than most leagues live to see.
const maxHistory = 100

// ListHistory is the request for the tournaments that have ended in a league.
type ListHistory struct{ ByID }

// Finished is a tournament that ended while a league followed it.
type Finished struct {
	_ struct{} `schema:"FinishedTournament"`

	ID      string    `json:"tournamentId" db:"id" format:"uuid" doc:"The id of the tournament."`
	Slug    string    `json:"slug" db:"slug" doc:"Its name in addresses."`
	Label   string    `json:"label" db:"label" doc:"Its name."`
	Season  string    `json:"season" db:"season" doc:"The season, as the provider calls it."`
	EndedAt time.Time `json:"endedAt" db:"completed_at" doc:"When it ended: the final table has the members of that time."`
}

// History is the answer with tournaments that have ended.
type History struct {
	Body struct {
		_ struct{} `schema:"LeagueHistoryBody"`

		Data []Finished `json:"data" doc:"The latest first, at most 100."`
	}
}

// ListHistoryFunction returns the tournaments that have ended in a league.
func ListHistoryFunction() app.Function {
	return app.API(
		read("list-league-history", "Returns the tournaments that have ended in a league.", "Members do not find final tables.",
			"/{leagueId}/history"),
		OpenReader, (*Leagues).ListHistory, errNoLeague)
}

// ListHistory returns the tournaments that ended while a league followed them, of a league that the caller is
// in. GetScore with final has their tables. Errors: league_not_found.
func (s *Leagues) ListHistory(ctx context.Context, in *ListHistory) (*History, error) {
	if _, err := find(ctx, s.DB, in.UserID, in.LeagueID); err != nil {
		return nil, err
	}

	all, err := pg.All[Finished](ctx, s.DB, sql.ListHistory, in.LeagueID, "", maxHistory)
	if err != nil {
		return nil, err
	}

	out := &History{}

	out.Body.Data = make([]Finished, len(all))
	for i, f := range all {
		f.EndedAt = f.EndedAt.UTC()
		out.Body.Data[i] = f
	}

	return out, nil
}

// checkFinal returns a problem unless a request for a final table names a tournament in the history of the
// league, and nothing else. The table has the points of now: a correction after the end changes it. Members who
// have left since are in it, deleted users are not.
func (s *Tables) checkFinal(ctx context.Context, in *GetScore) error {
	switch {
	case in.TournamentID == "":
		return problem.In("query.tournament", "expected the tournament of the final table")
	case in.Round != "":
		return problem.In("query.round", "expected no round: the final table is that of the tournament")
	case in.Live:
		return problem.In("query.live", "expected a table that is not final: nothing is in play any more")
	}

	_, ended, err := pg.One[Finished](ctx, s.DB, sql.ListHistory, in.LeagueID, in.TournamentID, 1)
	if err == nil && !ended {
		err = problem.In("query.tournament", "expected a tournament in the history of the league")
	}

	return err
}
