package guess

import (
	"context"
	"time"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// GetLiveScore is the request for the caller's provisional points.
type GetLiveScore struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// LiveScore is the answer with provisional points.
type LiveScore struct {
	Body struct {
		_ struct{} `schema:"ProvisionalScoreBody"`

		Provisional      bool         `json:"provisional" doc:"Always true: the points are computed from the scores of now, and may be lost again."`
		Points           int          `json:"points" doc:"The points in the tournament if the matches in play ended now."`
		Settled          int          `json:"settledPoints" doc:"The points without the matches in play, as the leaderboard has them."`
		Rank             *int         `json:"rank" doc:"The dense rank that the points would have in the leaderboard of now. In it nobody has points of the matches in play, and others gain them too: the rank after the matches may be lower. null for a caller who is not in it, and has not guessed a match in play."`
		UnderCalculation bool         `json:"underCalculation" doc:"Whether a match has ended and its points are not in yet, neither here nor in the leaderboard."`
		Matches          []LivePoints `json:"matches" doc:"The matches in play, in the order of their kick-offs; at most 100. An interrupted match earns nothing until it goes on."`
	}
}

// LivePoints is a match in play, with what the caller's guess of it would earn.
type LivePoints struct {
	_ struct{} `schema:"ProvisionalGuess"`

	MatchID string    `json:"matchId" format:"uuid" doc:"The id of the match."`
	Live    view.Live `json:"live" doc:"The score of now."`
	Home    *int      `json:"home" doc:"The goals of the home team in the guess that counts; null if none does."`
	Away    *int      `json:"away" doc:"The goals of the away team in the guess that counts; null if none does."`
	Points  int       `json:"points" doc:"What the guess would earn if the match ended now."`
}

// livePoints is a match in play as the database has it, with the caller's place.
type livePoints struct {
	Placed     bool    `db:"placed"` // whether the caller is in the leaderboard
	Settled    int     `db:"settled"`
	SettledTie int     `db:"settled_tie"`
	Backlog    bool    `db:"backlog"`
	MatchID    *string `db:"match_id"` // nil if no match is in play
	view.LiveRow
	Home   *int `db:"home"`
	Away   *int `db:"away"`
	Points int  `db:"points"`
	Tie    int  `db:"tie"`
}

// GetLiveScoreFunction returns the caller's provisional points in a tournament.
func GetLiveScoreFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-live-score",
		Does:   "Returns the caller's provisional points in a tournament, by the scores of the matches in play.",
		IfDown: "Members see their points of a match only after it has ended.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/score/live", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}, OpenReader, (*Guesses).GetLiveScore, member.ErrNoMember, view.ErrNoTournament)
}

// GetLiveScore returns the points that the caller would have if the matches in play ended now. They are
// computed from the scores of now, and stored nowhere. It reads the caller's guesses of these matches by their
// key, and the histogram of the scores, so its cost does not depend on the number of members. Errors:
// tournament_not_found, member_not_found.
func (s *Guesses) GetLiveScore(ctx context.Context, in *GetLiveScore) (*LiveScore, error) {
	id, err := member.ID(ctx, s.DB, in.UserID)
	if err != nil {
		return nil, err
	}

	rows, err := pg.All[livePoints](ctx, s.DB, sql.ListLivePoints, in.TournamentID, id)
	if err == nil && len(rows) == 0 {
		err = view.ErrNoTournament
	}

	if err != nil {
		return nil, err
	}

	total := score.Total{Points: rows[0].Settled, Tie: rows[0].SettledTie}
	ranked := rows[0].Placed

	out := &LiveScore{}
	out.Body.Provisional, out.Body.Settled, out.Body.UnderCalculation = true, total.Points, rows[0].Backlog
	out.Body.Matches = []LivePoints{}

	for _, r := range rows {
		if r.MatchID == nil {
			continue
		}

		total.Points += r.Points
		total.Tie += r.Tie
		ranked = ranked || r.Home != nil

		out.Body.Matches = append(out.Body.Matches, LivePoints{
			MatchID: *r.MatchID, Live: *r.Live(), Home: r.Home, Away: r.Away, Points: r.Points,
		})
	}

	out.Body.Points = total.Points

	if !ranked {
		return out, nil
	}

	rank, _, err := pg.Value[int](ctx, s.DB, sql.GetRankOfScore, in.TournamentID, view.ScoreOf(total))
	if err != nil {
		return nil, err
	}

	out.Body.Rank = &rank

	return out, nil
}
