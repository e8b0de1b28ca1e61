package guess

import (
	"context"
	"fmt"
	"strings"
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

// maxGuesses is more than the matches of any round.
var maxGuesses = spec.Limit{Name: "guesses per request", Max: 50, Code: "too_many_guesses"}

// PutGuesses is the request to guess the matches of a round.
type PutGuesses struct {
	auth.User
	Body struct {
		Guesses []Made `json:"guesses" nullable:"false" minItems:"1" doc:"At most 50, of different matches."`
	}
}

// Outcome is what became of a guess in a request.
type Outcome string

// The outcomes.
const (
	Stored Outcome = "stored"
	Closed Outcome = "guess_window_closed"
	NoSuch Outcome = "match_not_found"
)

// Answer is what became of a guess in a request.
type Answer struct {
	_ struct{} `schema:"GuessAnswer"`

	MatchID string  `json:"matchId" format:"uuid" doc:"The id of the match, as in the request."`
	Outcome Outcome `json:"outcome" enum:"stored,guess_window_closed,match_not_found" doc:"stored: the guess counts, unless play has begun before. guess_window_closed: the match has begun, has no date, or its tournament is over; a guess of before is left as it was. match_not_found: there is no such match."`
	Guess   *Guess  `json:"guess,omitempty" doc:"The guess as it is stored; absent if it is not."`
}

// Answers is the answer to guesses.
type Answers struct {
	Body struct {
		_ struct{} `schema:"GuessAnswerListBody"`

		Data []Answer `json:"data" doc:"One for each guess, in the order of the request."`
	}
}

// PutGuessesFunction stores the caller's guesses of a round.
func PutGuessesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/put-guesses",
		Does:   "Stores the caller's guesses of a round, each until the kick-off of its match.",
		IfDown: "Nobody can guess a whole round at once.",
		On:     spec.Route{Method: "PUT", Path: "/api/v2/guesses", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Limits: []spec.Limit{maxGuesses},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}, Open, (*Guesses).PutGuesses, member.ErrNoMember)
}

// PutGuesses stores the caller's guesses, or replaces them, each as PutGuess does. A guess that is refused
// does not keep others from being stored: the answer has the outcome of each. A second run stores the same.
// Errors: account_deleted, too_many_guesses, member_not_found; a match that is named twice is invalid, and
// then nothing is stored.
func (s *Guesses) PutGuesses(ctx context.Context, in *PutGuesses) (*Answers, error) {
	if len(in.Body.Guesses) > maxGuesses.Max {
		return nil, problem.Beyond(maxGuesses).In("body.guesses")
	}

	seen := map[string]bool{}

	for i, g := range in.Body.Guesses {
		id := strings.ToLower(g.MatchID)
		if seen[id] {
			return nil, problem.In(fmt.Sprintf("body.guesses[%d].matchId", i), "expected each match once")
		}

		seen[id] = true
	}

	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	stored, err := s.put(ctx, in.UserID, in.Body.Guesses)
	if err != nil {
		return nil, err
	}

	out := &Answers{}

	out.Body.Data = make([]Answer, len(in.Body.Guesses))
	for i, g := range in.Body.Guesses {
		out.Body.Data[i] = answer(g, stored)
	}

	return out, nil
}

// answer returns what became of a guess.
func answer(g Made, stored map[string]row) Answer {
	r, ok := stored[strings.ToLower(g.MatchID)]

	switch {
	case !ok:
		return Answer{MatchID: g.MatchID, Outcome: NoSuch}
	case r.ID == nil:
		return Answer{MatchID: g.MatchID, Outcome: Closed}
	}

	shown := r.guess()

	return Answer{MatchID: g.MatchID, Outcome: Stored, Guess: &shown}
}

// put stores guesses of a user, and returns their matches by id, those that exist. The id of a guess that
// was not stored is nil. Errors: member_not_found.
func (s *Guesses) put(ctx context.Context, userID string, all []Made) (map[string]row, error) {
	matches, home, away := make([]string, len(all)), make([]int, len(all)), make([]int, len(all))
	for i, g := range all {
		matches[i], home[i], away[i] = g.MatchID, g.Home.Score, g.Away.Score
	}

	rows, err := pg.All[struct {
		MemberID *string `db:"member_id"`
		row
	}](ctx, s.DB, sql.PutGuess, matches, userID, home, away)
	if err != nil {
		return nil, err
	}

	stored := map[string]row{}

	for _, r := range rows {
		if r.MemberID == nil {
			return nil, member.ErrNoMember
		}

		stored[r.MatchID] = r.row
	}

	return stored, nil
}

// List returns the guesses of matches by members that a user may see: the user's own ones, and those of
// others while ListMatchGuesses shows them. In the order of the members' ids.
func List(ctx context.Context, s pg.Session, userID string, matches, members []string) ([]Other, error) {
	rows, err := pg.All[struct {
		MemberID string `db:"member_id"`
		NickName string `db:"nick_name"`
		row
	}](ctx, s, sql.ListGuessesOf, matches, members, userID)
	if err != nil {
		return nil, err
	}

	all := make([]Other, len(rows))
	for i, r := range rows {
		all[i] = Other{MemberID: r.MemberID, NickName: r.NickName, Guess: r.guess()}
	}

	return all, nil
}
