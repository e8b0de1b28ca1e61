package guess

import (
	"context"
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

var errNoLeague = problem.New(problem.NotFound, "league_not_found", "there is no such league, or you are not in it")

// ListLeagueGuesses is the request for the guesses of a match by the members of a league.
type ListLeagueGuesses struct {
	auth.User
	LeagueID string `path:"leagueId" format:"uuid" doc:"The id of the league."`
	MatchID  string `path:"matchId" format:"uuid" doc:"The id of the match."`
	Cursor   string `query:"cursor" format:"uuid" doc:"The next of the page before."`
}

// ListLeagueGuessesFunction returns the guesses of a match that has begun by the members of a league.
func ListLeagueGuessesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/list-league-guesses",
		Does:   "Returns the guesses of a match that has begun by the members of a league.",
		IfDown: "Members do not see the guesses of their leagues.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/leagues/{leagueId}/matches/{matchId}/guesses", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}, OpenReader, (*Guesses).ListLeagueGuesses, errNoLeague, errHidden, errNoMatch)
}

// ListLeagueGuesses returns the guesses of a match by the members of a league that the caller is in, once
// ListMatchGuesses shows them. Members without a guess are not in it. Its cost depends on the league, not on
// the number of guesses of the match: it looks up the guess of each member. Errors: league_not_found,
// guess_window_open, match_not_found.
func (s *Guesses) ListLeagueGuesses(ctx context.Context, in *ListLeagueGuesses) (*Others, error) {
	_, inside, err := pg.Value[bool](ctx, s.DB, sql.IsInLeague, in.UserID, in.LeagueID)
	if err == nil && !inside {
		err = errNoLeague
	}

	if err != nil {
		return nil, err
	}

	return s.listOthers(ctx, in.UserID, in.MatchID, in.Cursor, func(after string) ([]string, error) {
		return pg.Values[string](ctx, s.DB, sql.ListLeagueGuessers, in.LeagueID, in.MatchID, after, view.PageSize+1)
	})
}
