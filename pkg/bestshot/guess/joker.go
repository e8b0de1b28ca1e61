package guess

import (
	"context"
	"time"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Errors of jokers.
var (
	errNoJokers = problem.New(problem.Conflict, "jokers_off", "the tournament has no jokers")
	errJoker    = problem.New(problem.Conflict, "joker_window_closed",
		"the match, or the one that has the joker, has begun, or it has no date, or its tournament is over")
)

// PutJoker is the request to set the caller's joker of a round.
type PutJoker struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Round        string `path:"roundSlug" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the round." example:"final"`
	Body         struct {
		MatchID string `json:"matchId" format:"uuid" doc:"The id of a match of the round." example:"58de2f1b-1374-4c92-bd53-23a81943de4b"`
	}
}

// Joker is the answer with the joker of a round.
type Joker struct {
	Body struct {
		MatchID string `json:"matchId" format:"uuid" doc:"The id of the match that has the joker."`
		Factor  int    `json:"factor" doc:"What its points count times."`
	}
}

// PutJokerFunction sets the caller's joker of a round.
func PutJokerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/put-joker",
		Does:   "Sets the caller's joker of a round.",
		IfDown: "Nobody can set or move a joker.",
		On:     spec.Route{Method: "PUT", Path: "/api/v2/tournaments/{tournamentId}/rounds/{roundSlug}/joker", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 4,
	}, Open, (*Guesses).PutJoker, errJoker, errNoJokers, errNoMatch, member.ErrNoMember)
}

// PutJoker gives the caller's joker of a round to a match, or moves it there. The match needs no guess
// yet. A second run stores the same. Its cost does not depend on the number of members. Errors:
// account_deleted, jokers_off, joker_window_closed from the kick-off of the match, or of the one that has
// the joker, on, match_not_found, member_not_found.
func (s *Guesses) PutJoker(ctx context.Context, in *PutJoker) (*Joker, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	r, ok, err := pg.One[struct {
		Factor int  `db:"factor"`
		Member bool `db:"member"`
		Stored bool `db:"stored"`
	}](ctx, s.DB, sql.PutJoker, in.TournamentID, in.Round, in.Body.MatchID, in.UserID)

	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errNoMatch.In("body.matchId")
	case !r.Member:
		return nil, member.ErrNoMember
	case r.Factor == 0:
		return nil, errNoJokers
	case !r.Stored:
		return nil, errJoker
	}

	out := &Joker{}
	out.Body.MatchID, out.Body.Factor = in.Body.MatchID, r.Factor

	return out, nil
}
